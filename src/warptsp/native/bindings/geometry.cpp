#include <nanobind/stl/string.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "distances.h"
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

void check_count(int count) {
  require(count >= 1 && count < 1 << 15, "count is " + std::to_string(count) + "; 1 to 32767 are possible");
}

FilledArray bind_candidate_lists(const Distances &distances, int count, int per_quadrant, int threads,
                                 StopToken &token) {
  check_threads(threads);
  if (distances.points) check_rows(*distances.points);
  check_count(count);
  require(per_quadrant >= 0 && (!distances.points || per_quadrant <= count / 4),
          "per_quadrant is " + std::to_string(per_quadrant) + "; 0 to a quarter of count are possible");
  const int n = (int)distances.size(), norm = (int)facts_of(distances.kind).norm;
  return fill_array({(size_t)n, (size_t)count}, token, [&](int *rows) {
    return distances.use(
        [&](Points points) {
          return candidate_lists(points.rows, n, points.stride, count, per_quadrant, norm, on_sphere(distances.kind),
                                 threads, token, rows);
        },
        [&](const auto &matrix) {
          return candidates_by_distance(n, matrix, count, per_quadrant, threads, token, rows);
        });
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

FilledArray bind_greedy_edge(const Distances &distances, const Edges &fixed_edges, int threads, StopToken &token,
                             int tiles) {
  check_threads(threads);
  if (distances.points) check_rows(*distances.points);
  const size_t n = distances.size();
  check_fixed_edges(fixed_edges, n);
  require(tiles >= 1 && (size_t)tiles <= (distances.points ? n / 2 + 1 : 1),
          std::to_string(tiles) + " tiles of " + std::to_string(n) +
              " cities; 1 to half their number are possible, and of a matrix 1");
  const int *const fixed = fixed_edges.data();
  const int64_t count = fixed_edges.shape(0);
  return fill_array({n}, token, [&](int *tour) {
    return distances.use(
        [&](Points points) {
          if (tiles > 1)
            return greedy_tiles_points(points.rows, (int)n, points.stride, distances.kind, fixed, count, tiles, threads,
                                       token, tour);
          return greedy_edge_points(points.rows, (int)n, points.stride, distances.kind, fixed, count, threads, token,
                                    tour);
        },
        [&](const auto &matrix) {
          return greedy_edge_matrix(matrix.entries, (int)n, fixed, count, threads, token, tour);
        });
  });
}

FilledArray bind_nearest_neighbor(const Distances &distances, int start, const Edges &fixed_edges, int threads,
                                  StopToken &token) {
  check_threads(threads);
  const size_t n = distances.size();
  require(start >= 0 && (size_t)start < n, "start city " + std::to_string(start) + " is not a city");
  if (distances.points) {
    check_rows(*distances.points);
    // Nothing is near to what is not a number.
    require(longest_distance((int)MetricKind::exact_2d, *distances.points) < 1e154,
            "the points are not finite, or too far apart");
  }
  check_fixed_edges(fixed_edges, n);
  const int *const fixed = fixed_edges.data();
  const int64_t count = fixed_edges.shape(0);
  return fill_array({n}, token, [&](int *tour) {
    return distances.use(
        [&](Points points) {
          return nearest_neighbor_points(points.rows, (int)n, points.stride, (int)facts_of(distances.kind).norm, start,
                                         fixed, count, threads, token, tour);
        },
        [&](const auto &matrix) {
          UnvisitedRows unvisited(matrix.entries, (int)n);
          return nearest_neighbor_tour((int)n, start, fixed, count, unvisited, token, tour);
        });
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
  m.def("candidate_lists", bind_candidate_lists, "distances"_a, "count"_a, "per_quadrant"_a, "threads"_a, "token"_a,
        "Rows of the nearest cities, per_quadrant of them from each quadrant; of a matrix, of the cities to all sides, "
        "where so many cities hide those behind them (0: the nearest cities). None if stopped.");
  m.def("space_filling_curve", bind_space_filling_curve, "points"_a, "kind"_a, "token"_a, "sphere"_a = false,
        "threads"_a = 1, "The cities in the order of a space-filling curve; None if stopped.");
  m.def("tight_groups", bind_tight_groups, "lists"_a, "lengths"_a, "ratio"_a, "token"_a,
        "The cities, those of each group beside one another, and where each group begins; None if stopped.");
  m.def("greedy_edge", bind_greedy_edge, "distances"_a, "fixed_edges"_a, "threads"_a, "token"_a, "tiles"_a = 1,
        "The greedy edge tour, or, of points, one of greedy paths in consecutive tiles; None if stopped.");
  m.def("nearest_neighbor", bind_nearest_neighbor, "distances"_a, "start"_a, "fixed_edges"_a, "threads"_a, "token"_a,
        "The nearest neighbour tour; None if stopped.");
  m.def("random_tour", bind_random_tour, "n"_a, "seed"_a, "token"_a, "A random order; None if stopped.");
  m.def("keep_fixed_edges", bind_keep_fixed_edges, "order"_a, "fixed_edges"_a, "token"_a,
        "The order, with the paths of fixed edges as a whole where their first city comes; None if stopped.");
}
