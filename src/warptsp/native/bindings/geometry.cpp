#include <nanobind/stl/string.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "arrays.h"
#include "space/candidates.h"
#include "common.h"
#include "space/curve.h"
#include "space/spread_candidates.h"
#include "space/tight_groups.h"
#include "tours/fragments.h"
#include "tours/greedy.h"
#include "tours/nearest_neighbor.h"
#include "tours/random_tour.h"

using namespace warptsp;
using namespace warptsp::space;
using namespace warptsp::tours;

namespace {

typedef Array<const double, 2> Rows;

void check_rows(const Rows &points) {
  require(points.shape(1) == 2 || points.shape(1) == 3,
          "points have " + std::to_string(points.shape(1)) + " columns; 2 or 3 are possible");
  require(points.shape(0) < 0x7fffffff, "too many points: " + std::to_string(points.shape(0)));
}

void check_norm(int norm) {
  require(norm >= 0 && norm <= 2, "norm is " + std::to_string(norm) + "; 2, 1 or 0 (maximum) are possible");
}

void check_count(int count) {
  require(count >= 1 && count < 1 << 15, "count is " + std::to_string(count) + "; 1 to 32767 are possible");
}

FilledArray bind_candidate_lists(const Rows &points, int count, int per_quadrant, int norm, bool sphere, int threads,
                                 StopToken &token) {
  check_threads(threads);
  check_rows(points);
  check_count(count);
  require(per_quadrant >= 0 && per_quadrant <= count / 4,
          "per_quadrant is " + std::to_string(per_quadrant) + "; 0 to a quarter of count are possible");
  check_norm(norm);
  require(!sphere || (points.shape(1) == 3 && norm == 2), "points on the sphere have 3 columns and norm 2");
  return fill_array({points.shape(0), (size_t)count}, token, [&](int *rows) {
    return candidate_lists(points.data(), (int)points.shape(0), (int)points.shape(1), count, per_quadrant, norm, sphere,
                           threads, token, rows);
  });
}

template <class V>
FilledArray bind_candidate_lists_matrix(const Array<const V, 2> &matrix, int count, int covers, int threads,
                                        StopToken &token) {
  check_threads(threads);
  check_square(matrix.shape(0), matrix.shape(1));
  check_count(count);
  require(covers >= 0, "covers is " + std::to_string(covers) + "; 0 and more are possible");
  const int n = (int)matrix.shape(0);
  const Matrix<V> distance{matrix.data(), n};
  return fill_array({matrix.shape(0), (size_t)count}, token, [&](int *rows) {
    return candidates_by_distance(n, distance, count, covers, threads, token, rows);
  });
}

FilledArray bind_space_filling_curve(const Rows &points, const std::string &kind, StopToken &token, bool sphere,
                                     int threads) {
  check_threads(threads);
  check_rows(points);
  require(kind == "hilbert" || kind == "sierpinski",
          "unknown curve '" + kind + "'; 'hilbert' and 'sierpinski' are possible");
  const Curve curve = kind == "hilbert" ? Curve::hilbert : Curve::sierpinski;
  const int n = (int)points.shape(0), dimensions = (int)points.shape(1);
  require(!sphere || dimensions == 3, "points on the sphere have 3 columns");
  require(curve == Curve::hilbert || dimensions == 2 || sphere, "the Sierpinski curve lies in the plane");
  return fill_array({points.shape(0)}, token, [&](int *tour) {
    if (!sphere) return space_filling_curve(points.data(), n, dimensions, curve, threads, token, tour);
    Buffer<double> chart(2 * (size_t)n);
    return chart_sphere(points.data(), n, token, chart.data()) &&
           space_filling_curve(chart.data(), n, 2, curve, threads, token, tour);
  });
}

FilledArray bind_greedy_edge(const Rows &points, int metric, const Edges &fixed_edges, int threads, StopToken &token,
                             int tiles) {
  check_threads(threads);
  check_rows(points);
  const size_t n = points.shape(0);
  check_metric(metric, points.shape(1));
  check_fixed_edges(fixed_edges, n);
  require(tiles >= 1 && (size_t)tiles <= n / 2 + 1,
          std::to_string(tiles) + " tiles of " + std::to_string(n) + " cities; 1 to half their number are possible");
  return fill_array({n}, token, [&](int *tour) {
    if (tiles > 1)
      return greedy_tiles_points(points.data(), (int)n, (int)points.shape(1), (MetricKind)metric, fixed_edges.data(),
                                 fixed_edges.shape(0), tiles, threads, token, tour);
    return greedy_edge_points(points.data(), (int)n, (int)points.shape(1), (MetricKind)metric, fixed_edges.data(),
                              fixed_edges.shape(0), threads, token, tour);
  });
}

template <class V>
FilledArray bind_greedy_edge_matrix(const Array<const V, 2> &matrix, const Edges &fixed_edges, int threads,
                                    StopToken &token) {
  check_threads(threads);
  check_square(matrix.shape(0), matrix.shape(1));
  const size_t n = matrix.shape(0);
  check_fixed_edges(fixed_edges, n);
  return fill_array({n}, token, [&](int *tour) {
    return greedy_edge_matrix(matrix.data(), (int)n, fixed_edges.data(), fixed_edges.shape(0), threads, token, tour);
  });
}

void check_start(int start, size_t n) {
  require(start >= 0 && (size_t)start < n, "start city " + std::to_string(start) + " is not a city");
}

FilledArray bind_nearest_neighbor(const Rows &points, int start, int norm, const Edges &fixed_edges, int threads,
                                  StopToken &token) {
  check_threads(threads);
  check_rows(points);
  const size_t n = points.shape(0);
  check_start(start, n);
  check_norm(norm);
  // Nothing is near to what is not a number.
  require(longest_distance((int)MetricKind::exact_2d, points) < 1e154, "the points are not finite, or too far apart");
  check_fixed_edges(fixed_edges, n);
  return fill_array({n}, token, [&](int *tour) {
    return nearest_neighbor_points(points.data(), (int)n, (int)points.shape(1), norm, start, fixed_edges.data(),
                                   fixed_edges.shape(0), threads, token, tour);
  });
}

template <class V>
FilledArray bind_nearest_neighbor_matrix(const Array<const V, 2> &matrix, int start, const Edges &fixed_edges,
                                         StopToken &token) {
  check_square(matrix.shape(0), matrix.shape(1));
  const size_t n = matrix.shape(0);
  check_start(start, n);
  check_fixed_edges(fixed_edges, n);
  return fill_array({n}, token, [&](int *tour) {
    UnvisitedRows<V> unvisited(matrix.data(), (int)n);
    return nearest_neighbor_tour((int)n, start, fixed_edges.data(), fixed_edges.shape(0), unvisited, token, tour);
  });
}

FilledArray bind_random_tour(int n, uint64_t seed, StopToken &token) {
  require(n >= 0, "n is " + std::to_string(n));
  return fill_array({(size_t)n}, token, [&](int *tour) { return random_tour(n, seed, token, tour); });
}

FilledArray bind_keep_fixed_edges(const Array<const int, 1> &order, const Edges &fixed_edges, StopToken &token) {
  const size_t n = order.shape(0);
  check_tour(order.data(), n, n);
  check_fixed_edges(fixed_edges, n);
  return fill_array({n}, token, [&](int *tour) {
    return keep_fixed_edges(order.data(), (int)n, fixed_edges.data(), fixed_edges.shape(0), token, tour);
  });
}

std::optional<std::tuple<NumpyArray<int>, NumpyArray<int>>> bind_tight_groups(const Array<const int, 2> &lists,
                                                                              const Array<const double, 2> &lengths,
                                                                              double ratio, StopToken &token) {
  const size_t n = lists.shape(0), count = lists.shape(1);
  require(n < 0x7fffffff, "too many lists: " + std::to_string(n));
  require(lengths.shape(0) == n && lengths.shape(1) == count, "lists and lengths differ in shape");
  check_cities(lists.data(), lists.size(), -1, n, "a list");
  require(std::all_of(lengths.data(), lengths.data() + lengths.size(), [](double x) { return std::isfinite(x); }),
          "a length is not finite");
  TightGroups found;
  const auto find = [&] { return tight_groups(lists.data(), lengths.data(), (int)n, (int)count, ratio, token, found); };
  if (!interruptible(token, find)) return std::nullopt;
  return std::make_tuple(to_numpy(std::move(found.order)), to_numpy(std::move(found.first)));
}

}  // namespace

void bind_geometry(nb::module_ &m) {
  m.def("candidate_lists", bind_candidate_lists, "points"_a, "count"_a, "per_quadrant"_a, "norm"_a, "sphere"_a,
        "threads"_a, "token"_a,
        "Rows of the nearest cities, per_quadrant of them from each quadrant; None if stopped.");
  m.def("candidate_lists_matrix", bind_candidate_lists_matrix<int>, "matrix"_a, "count"_a, "covers"_a, "threads"_a,
        "token"_a,
        "Rows of the cities to all sides of a distance matrix, where `covers` cities hide those behind them (0: the "
        "nearest cities); None if stopped.");
  m.def("candidate_lists_matrix", bind_candidate_lists_matrix<double>, "matrix"_a, "count"_a, "covers"_a, "threads"_a,
        "token"_a);
  m.def("space_filling_curve", bind_space_filling_curve, "points"_a, "kind"_a, "token"_a, "sphere"_a = false,
        "threads"_a = 1, "The cities in the order of a space-filling curve; None if stopped.");
  m.def("tight_groups", bind_tight_groups, "lists"_a, "lengths"_a, "ratio"_a, "token"_a,
        "The cities, those of each group beside one another, and where each group begins; None if stopped.");
  m.def("greedy_edge", bind_greedy_edge, "points"_a, "metric"_a, "fixed_edges"_a, "threads"_a, "token"_a, "tiles"_a = 1,
        "The greedy edge tour, or one of greedy paths in consecutive tiles; None if stopped.");
  m.def("greedy_edge_matrix", bind_greedy_edge_matrix<int>, "matrix"_a, "fixed_edges"_a, "threads"_a, "token"_a,
        "The greedy edge tour of a distance matrix; None if stopped.");
  m.def("greedy_edge_matrix", bind_greedy_edge_matrix<double>, "matrix"_a, "fixed_edges"_a, "threads"_a, "token"_a);
  m.def("nearest_neighbor", bind_nearest_neighbor, "points"_a, "start"_a, "norm"_a, "fixed_edges"_a, "threads"_a,
        "token"_a, "The nearest neighbour tour; None if stopped.");
  m.def("nearest_neighbor_matrix", bind_nearest_neighbor_matrix<int>, "matrix"_a, "start"_a, "fixed_edges"_a, "token"_a,
        "The nearest neighbour tour of a distance matrix; None if stopped.");
  m.def("nearest_neighbor_matrix", bind_nearest_neighbor_matrix<double>, "matrix"_a, "start"_a, "fixed_edges"_a,
        "token"_a);
  m.def("random_tour", bind_random_tour, "n"_a, "seed"_a, "token"_a, "A random order; None if stopped.");
  m.def("keep_fixed_edges", bind_keep_fixed_edges, "order"_a, "fixed_edges"_a, "token"_a,
        "The order, with the paths of fixed edges as a whole where their first city comes; None if stopped.");
}
