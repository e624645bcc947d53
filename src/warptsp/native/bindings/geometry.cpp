#include <nanobind/stl/string.h>

#include <stdexcept>
#include <string>

#include "candidates.h"
#include "common.h"
#include "curve.h"
#include "greedy.h"

using namespace warptsp;

namespace {

typedef Array<const double, 2> Rows;
typedef Array<const int, 2> Edges;

void require(bool holds, const std::string &message) {
  if (!holds) throw std::invalid_argument(message);
}

void check_rows(const Rows &points) {
  require(points.shape(1) == 2 || points.shape(1) == 3,
          "points have " + std::to_string(points.shape(1)) + " columns; 2 or 3 are possible");
  require(points.shape(0) < 0x7fffffff, "too many points: " + std::to_string(points.shape(0)));
}

template <class V>
void check_square(const Array<const V, 2> &matrix) {
  require(matrix.shape(0) == matrix.shape(1), "the matrix is not square: " + std::to_string(matrix.shape(0)) + " x " +
                                                  std::to_string(matrix.shape(1)));
}

void check_candidates(const Edges &candidates, size_t n) {
  require(candidates.shape(0) == n, "candidates have " + std::to_string(candidates.shape(0)) + " rows for " +
                                        std::to_string(n) + " cities");
  require(n * candidates.shape(1) <= 0xffffffffu, "more than 2^32 candidates");
  const int *const first = candidates.data();
  for (size_t i = 0; i < n * candidates.shape(1); ++i)
    require(first[i] >= -1 && first[i] < (int)n, "candidate " + std::to_string(first[i]) + " is not a city");
}

void check_fixed_edges(const Edges &edges, size_t n) {
  require(edges.shape(1) == 2, "fixed edges have " + std::to_string(edges.shape(1)) + " columns; 2 are needed");
  for (size_t i = 0; i < 2 * edges.shape(0); ++i)
    require(edges.data()[i] >= 0 && edges.data()[i] < (int)n,
            "fixed edge to " + std::to_string(edges.data()[i]) + ", which is not a city");
}

// A NumPy array that owns the memory; no copy.
template <class T>
nb::object to_numpy(Buffer<T> &&values, std::initializer_list<size_t> shape) {
  T *const data = values.release();
  nb::capsule owner(data, [](void *p) noexcept { delete[] static_cast<T *>(p); });
  return nb::cast(nb::ndarray<nb::numpy, T>(data, shape, owner));
}

// Runs `fill(result)` so that signals are served; the array, or None if the token stopped it.
template <class Fill>
nb::object fill_array(size_t rows, size_t columns, StopToken &token, const Fill &fill) {
  Buffer<int> result(rows * columns);
  bool complete = false;
  interruptible(token, [&] { complete = fill(result.data()); });
  if (!complete) return nb::none();
  if (columns == 1) return to_numpy(std::move(result), {rows});
  return to_numpy(std::move(result), {rows, columns});
}

nb::object bind_candidate_lists(const Rows &points, int count, int per_quadrant, int norm, bool sphere, int threads,
                                StopToken &token) {
  check_rows(points);
  require(count >= 1, "count is " + std::to_string(count) + "; at least 1 is needed");
  require(per_quadrant >= 0 && 4 * per_quadrant <= count,
          "per_quadrant is " + std::to_string(per_quadrant) + "; 0 to a quarter of count are possible");
  require(norm >= 0 && norm <= 2, "norm is " + std::to_string(norm) + "; 2, 1 or 0 (maximum) are possible");
  require(!sphere || (points.shape(1) == 3 && norm == 2), "points on the sphere have 3 columns and norm 2");
  Buffer<int> result(points.shape(0) * count);
  bool complete = false;
  interruptible(token, [&] {
    complete = candidate_lists(points.data(), (int)points.shape(0), (int)points.shape(1), count, per_quadrant, norm,
                               sphere, threads, token, result.data());
  });
  if (!complete) return nb::none();
  return to_numpy(std::move(result), {points.shape(0), (size_t)count});
}

template <class V>
nb::object bind_candidate_lists_matrix(const Array<const V, 2> &matrix, int count, int threads, StopToken &token) {
  check_square(matrix);
  require(count >= 1, "count is " + std::to_string(count) + "; at least 1 is needed");
  const int n = (int)matrix.shape(0);
  const Matrix<V> distance{matrix.data(), n};
  Buffer<int> result((size_t)n * count);
  bool complete = false;
  interruptible(token,
                [&] { complete = nearest_by_distance(n, distance, count, threads, token, result.data()); });
  if (!complete) return nb::none();
  return to_numpy(std::move(result), {(size_t)n, (size_t)count});
}

nb::object bind_space_filling_curve(const Rows &points, const std::string &kind, StopToken &token) {
  check_rows(points);
  require(kind == "hilbert" || kind == "sierpinski",
          "unknown curve '" + kind + "'; 'hilbert' and 'sierpinski' are possible");
  require(kind == "hilbert" || points.shape(1) == 2, "the Sierpinski curve needs points in the plane");
  const Curve curve = kind == "hilbert" ? Curve::hilbert : Curve::sierpinski;
  return fill_array(points.shape(0), 1, token, [&](int *tour) {
    return space_filling_curve(points.data(), (int)points.shape(0), (int)points.shape(1), curve, token, tour);
  });
}

nb::object bind_greedy_edge(const Rows &points, const Edges &candidates, int metric, int norm,
                            const Edges &fixed_edges, int threads, StopToken &token) {
  check_rows(points);
  const size_t n = points.shape(0);
  require(metric >= 0 && metric < (int)MetricKind::matrix, "unknown metric " + std::to_string(metric));
  check_candidates(candidates, n);
  check_fixed_edges(fixed_edges, n);
  return fill_array(n, 1, token, [&](int *tour) {
    return greedy_edge_points(points.data(), (int)n, (int)points.shape(1), (MetricKind)metric, norm,
                              candidates.data(), (int)candidates.shape(1), fixed_edges.data(), fixed_edges.shape(0),
                              threads, token, tour);
  });
}

template <class V>
nb::object bind_greedy_edge_matrix(const Array<const V, 2> &matrix, const Edges &candidates, const Edges &fixed_edges,
                                   int threads, StopToken &token) {
  check_square(matrix);
  const size_t n = matrix.shape(0);
  check_candidates(candidates, n);
  check_fixed_edges(fixed_edges, n);
  return fill_array(n, 1, token, [&](int *tour) {
    return greedy_edge_matrix(matrix.data(), (int)n, candidates.data(), (int)candidates.shape(1), fixed_edges.data(),
                              fixed_edges.shape(0), threads, token, tour);
  });
}

}  // namespace

void bind_geometry(nb::module_ &m) {
  using nb::arg;
  m.def("candidate_lists", bind_candidate_lists, arg("points"), arg("count"), arg("per_quadrant"), arg("norm"),
        arg("sphere"), arg("threads"), arg("token"),
        "Rows of the nearest cities, per_quadrant of them from each quadrant; None if stopped.");
  m.def("candidate_lists_matrix", bind_candidate_lists_matrix<int>, arg("matrix"), arg("count"), arg("threads"),
        arg("token"), "Rows of the nearest cities of a distance matrix; None if stopped.");
  m.def("candidate_lists_matrix", bind_candidate_lists_matrix<double>, arg("matrix"), arg("count"), arg("threads"),
        arg("token"));
  m.def("space_filling_curve", bind_space_filling_curve, arg("points"), arg("kind"), arg("token"),
        "The cities in the order of a space-filling curve; None if stopped.");
  m.def("greedy_edge", bind_greedy_edge, arg("points"), arg("candidates"), arg("metric"), arg("norm"),
        arg("fixed_edges"), arg("threads"), arg("token"), "The greedy edge tour; None if stopped.");
  m.def("greedy_edge_matrix", bind_greedy_edge_matrix<int>, arg("matrix"), arg("candidates"), arg("fixed_edges"),
        arg("threads"), arg("token"), "The greedy edge tour of a distance matrix; None if stopped.");
  m.def("greedy_edge_matrix", bind_greedy_edge_matrix<double>, arg("matrix"), arg("candidates"), arg("fixed_edges"),
        arg("threads"), arg("token"));
}
