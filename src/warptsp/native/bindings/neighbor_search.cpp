// Local search along neighbour lists, for Python: backends.neighbor drives it.
#include "papers/neighbor_lists/neighbor_search.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "distances.h"

using namespace warptsp;
using namespace warptsp::neighbor;

namespace {

// Keeps the arrays that a search refers to alive with it.
struct BoundNeighborSearch {
  std::unique_ptr<NeighborSearch> search;
  Distances distances;
};

constexpr int longest_segment = 1 << 29;  // three of them are added up

struct Given {
  std::vector<int> neighbors, fixed, tour;
  int width;
  double tolerance;
  bool three, next_only;
  const StopToken *token;
};

template <class Metric>
std::unique_ptr<NeighborSearch> make(const Metric &metric, Given &&g) {
  if (g.three)
    return std::make_unique<NeighborSearchOf<Metric, true>>(metric, std::move(g.neighbors), g.width, std::move(g.fixed),
                                                            g.tolerance, g.next_only, std::move(g.tour), *g.token);
  return std::make_unique<NeighborSearchOf<Metric, false>>(metric, std::move(g.neighbors), g.width, std::move(g.fixed),
                                                           g.tolerance, g.next_only, std::move(g.tour), *g.token);
}

BoundNeighborSearch create(const Distances &distances, Array<const int, 2> neighbors, Array<const int, 1> tour,
                           Array<const int, 2> fixed_edges, double tolerance, bool three, bool next_only,
                           StopToken &token) {
  const int n = (int)tour.shape(0);
  if (n < 4) throw nb::value_error("a search needs 4 cities or more");
  if ((int)neighbors.shape(0) != n) throw nb::value_error("neighbors and tour differ in length");
  distances.check_size(n);
  check_lists(neighbors, n, "a neighbour list");
  check_tour(tour.data(), n, n);
  Given g;
  g.neighbors.assign(neighbors.data(), neighbors.data() + neighbors.size());
  g.tour.assign(tour.data(), tour.data() + n);
  g.width = (int)neighbors.shape(1);
  g.tolerance = tolerance;
  g.three = three;
  g.next_only = next_only;
  g.token = &token;
  g.fixed = fixed_partners(fixed_edges, n);
  BoundNeighborSearch bound;
  bound.distances = distances;
  interruptible(token, [&] {
    if (distances.points) {
      const Points rows = distances.rows();
      switch (distances.kind) {
        case MetricKind::euc_2d: bound.search = make(CoordinatesOf<MetricKind::euc_2d>{rows}, std::move(g)); break;
        case MetricKind::ceil_2d: bound.search = make(CoordinatesOf<MetricKind::ceil_2d>{rows}, std::move(g)); break;
        case MetricKind::exact_2d: bound.search = make(CoordinatesOf<MetricKind::exact_2d>{rows}, std::move(g)); break;
        default: bound.search = make(AnyCoordinates<double>{rows, distances.kind}, std::move(g));
      }
    } else if (distances.int_matrix) {
      bound.search = make(Matrix<int>{distances.integers(), n}, std::move(g));
    } else {
      bound.search = make(Matrix<double>{distances.reals(), n}, std::move(g));
    }
  });
  return bound;
}

Counts counters(const BoundNeighborSearch &bound) {
  const DescentCounts c = bound.search->counts();
  return counts_of({{"passes", c.passes},
                    {"evaluations", c.evaluations},
                    {"moves", c.moves},
                    {"kicks", c.kicks},
                    {"kicks_accepted", c.accepted}});
}

}  // namespace

void bind_neighbor_search(nb::module_ &m) {
  nb::class_<BoundNeighborSearch>(m, "NeighborSearch", "Tours and the local search along neighbour lists.")
      .def_static("create", &create, nb::kw_only(), nb::arg("distances"), nb::arg("neighbors"), nb::arg("tour"),
                  nb::arg("fixed_edges"), nb::arg("tolerance"), nb::arg("three"), nb::arg("next_only"),
                  nb::arg("token"))
      .def(
          "descend",
          [](BoundNeighborSearch &b, bool best, bool many, long long passes, int threads, double seconds,
             StopToken &token) {
            check_threads(threads);
            bool complete = false;
            interruptible(token, [&] { complete = b.search->descend({best, many, passes, threads}, seconds, token); });
            return complete;
          },
          nb::kw_only(), nb::arg("best"), nb::arg("many"), nb::arg("passes"), nb::arg("threads"), nb::arg("seconds"),
          nb::arg("token"), "Moves for so many seconds; True at a local optimum, or after so many passes.")
      .def(
          "iterate",
          [](BoundNeighborSearch &b, int chains, long long count, bool always, double temperature, long long cold,
             int segment, unsigned long long seed, int threads, double seconds, bool best, bool whole,
             StopToken &token) {
            check_threads(threads);
            require(chains >= 1 && segment >= 0 && segment <= longest_segment, "chains or segment is out of range");
            bool complete = false;
            interruptible(token, [&] {
              complete = b.search->iterate(
                  {chains, count, always, temperature, cold, segment, seed, threads, best, whole}, seconds, token);
            });
            return complete;
          },
          nb::kw_only(), nb::arg("chains"), nb::arg("count"), nb::arg("always"), nb::arg("temperature"),
          nb::arg("cold"), nb::arg("segment"), nb::arg("seed"), nb::arg("threads"), nb::arg("seconds"), nb::arg("best"),
          nb::arg("whole"), nb::arg("token"),
          "Kicks in every chain for so many seconds; True when each has made `count` in all.")
      .def(
          "return_to_best", [](BoundNeighborSearch &b) { b.search->return_to_best(); },
          "Let the next descent begin with the best tour of all chains.")
      .def_prop_ro("best_length", [](const BoundNeighborSearch &b) { return b.search->best_length(); })
      .def("best", [](const BoundNeighborSearch &b) { return to_numpy(b.search->best()); })
      .def(
          "neighbors",
          [](const BoundNeighborSearch &b) {
            std::vector<int> lists = b.search->neighbors();
            const size_t width = (size_t)b.search->width(), n = lists.size() / width;
            return to_numpy(std::move(lists), {n, width});
          },
          "The lists, sorted by distance.")
      .def("counters", &counters);
}
