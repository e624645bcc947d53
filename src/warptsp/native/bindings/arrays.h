// Checks and results of the bindings that fill an array of cities or take one.
#pragma once
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "common.h"
#include "common/metric.h"
#include "common/parallel.h"

namespace warptsp {

typedef Array<const int, 2> Edges;

inline void require(bool holds, const std::string &message) {
  if (!holds) throw std::invalid_argument(message);
}

inline void check_square(size_t rows, size_t columns) {
  require(rows == columns, "the matrix is not square: " + std::to_string(rows) + " x " + std::to_string(columns));
}

inline void check_threads(int threads) {
  require(threads >= 1, "threads is " + std::to_string(threads) + "; at least 1 is needed");
}

// `lowest` is 0, or -1 where that stands for none.
inline void check_cities(const int *cities, size_t count, int lowest, size_t n, const char *what) {
  const int *const end = cities + count;
  const int *const wrong = std::find_if(cities, end, [&](int c) { return c < lowest || (c >= 0 && (size_t)c >= n); });
  if (wrong != end)
    throw std::invalid_argument(std::string(what) + " names " + std::to_string(*wrong) + ", which is not a city");
}

// Rows of cities, -1 behind the last one.
inline void check_lists(const Array<const int, 2> &lists, size_t n, const char *what) {
  const size_t columns = lists.shape(1);
  require(columns >= 1, std::string(what) + " needs a column at least");
  check_cities(lists.data(), lists.size(), -1, n, what);
  for (size_t i = 1; i < lists.size(); ++i)
    if (i % columns != 0 && lists.data()[i - 1] < 0 && lists.data()[i] >= 0)
      throw std::invalid_argument(std::string(what) + " names a city behind its end");
}

inline void check_fixed_edges(const Edges &edges, size_t n) {
  require(edges.shape(1) == 2, "fixed edges have " + std::to_string(edges.shape(1)) + " columns; 2 are needed");
  check_cities(edges.data(), 2 * edges.shape(0), 0, n, "a fixed edge");
}

// The other ends of a city's fixed edges, [n, 2], -1 for none; empty without any.
inline std::vector<int> fixed_partners(const Edges &edges, size_t n) {
  std::vector<int> partners;
  if (edges.shape(0) == 0) return partners;
  check_fixed_edges(edges, n);
  partners.assign(2 * n, -1);
  for (size_t e = 0; e < edges.shape(0); ++e)
    for (int s = 0; s < 2; ++s) {
      const size_t slot = 2 * (size_t)edges(e, s);
      partners[slot + (partners[slot] >= 0)] = edges(e, 1 - s);
    }
  return partners;
}

template <class Ints>
std::vector<int> copied(const Ints &values) {
  return std::vector<int>(values.data(), values.data() + values.size());
}

// Every city once.
inline void check_tour(const int *tour, size_t count, size_t n) {
  require(count == n, "a tour of " + std::to_string(count) + " cities, not of " + std::to_string(n));
  check_cities(tour, count, 0, n, "the tour");
  std::vector<bool> seen(n);
  for (size_t p = 0; p < n; ++p) {
    if (seen[tour[p]]) throw std::invalid_argument("the tour names " + std::to_string(tour[p]) + " twice");
    seen[tour[p]] = true;
  }
}

inline std::vector<int> checked_tour(const Array<const int, 1> &tour, size_t n) {
  check_tour(tour.data(), tour.size(), n);
  return copied(tour);
}

inline void check_metric(int kind, size_t columns) {
  require(has_coordinates((MetricKind)kind), "unknown metric " + std::to_string(kind));
  const size_t needed = columns_of((MetricKind)kind);
  require(columns == needed,
          "points have " + std::to_string(columns) + " columns; the metric needs " + std::to_string(needed));
}

// None where the token stopped what fills it.
typedef std::optional<NumpyArray<int>> FilledArray;

// Runs `fill(result)` so that signals are served; the array of that shape, with a row for each city, or None if the token
// stopped it.
template <class Fill>
FilledArray fill_array(std::initializer_list<size_t> shape, StopToken &token, const Fill &fill) {
  size_t size = 1;
  for (const size_t extent : shape) size *= extent;
  Buffer<int> result(size);
  const bool brief = *shape.begin() <= brief_cities && size <= 16 * brief_cities;
  if (!interruptible(token, [&] { return (bool)fill(result.data()); }, brief)) return std::nullopt;
  return to_numpy(std::move(result), shape);
}

// No distance of these points is longer. NaN or infinity if a coordinate is.
inline double longest_distance(int kind, const double *points, size_t rows, size_t columns) {
  if (rows == 0) return 0.0;
  if (on_sphere((MetricKind)kind)) return 4.0 * earth_radius_m;
  double all = 0.0;                                        // a NaN gets lost in extremes, but not in a sum
  double sum = is_integral((MetricKind)kind) ? 1.0 : 0.0;  // rounded up
  for (size_t d = 0; d < columns; ++d) {
    double low = points[d], high = low;
    for (size_t i = 0; i < rows; ++i) {
      const double x = points[i * columns + d];
      low = std::min(low, x);
      high = std::max(high, x);
      all += 0.0 * x;
    }
    sum += high - low;
  }
  const bool degrees = facts_of((MetricKind)kind).space == Space::angles;
  return (degrees ? 100.0 : 1.0) * sum + all;
}
// The last row may be a dummy city.
inline double longest_distance(int kind, const Array<const double, 2> &points, bool dummy = false) {
  return longest_distance(kind, points.data(), points.shape(0) - dummy, points.shape(1));
}

}  // namespace warptsp
