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

template <class T>
struct Type {
  typedef T type;
};

constexpr int longest_segment = 1 << 29;  // three of them are added up

BoundNeighborSearch create(const Distances &distances, Array<const int, 2> neighbors, Array<const int, 1> tour,
                           Array<const int, 2> fixed_edges, double tolerance, bool three, bool next_only, bool best,
                           bool many, StopToken &token) {
  const int n = (int)tour.shape(0), width = (int)neighbors.shape(1);
  if (n < 4) throw nb::value_error("a search needs 4 cities or more");
  if ((int)neighbors.shape(0) != n) throw nb::value_error("neighbors and tour differ in length");
  distances.check_size(n);
  check_lists(neighbors, n, "a neighbour list");
  check_tour(tour.data(), n, n);
  std::vector<int> lists(neighbors.data(), neighbors.data() + neighbors.size());
  std::vector<int> start(tour.data(), tour.data() + n), fixed = fixed_partners(fixed_edges, n);
  const LocalSearch how{next_only, best, many};
  BoundNeighborSearch bound;
  bound.distances = distances;
  const auto make = [&](const auto &metric) {
    typedef std::decay_t<decltype(metric)> Metric;
    const auto search = [&](auto of) {
      bound.search = std::make_unique<typename decltype(of)::type>(metric, std::move(lists), width, std::move(fixed),
                                                                   tolerance, how, std::move(start), token);
    };
    if (three)
      search(Type<NeighborSearchOf<Metric, true>>());
    else
      search(Type<NeighborSearchOf<Metric, false>>());
  };
  interruptible(token, [&] {
    const Points rows = distances.rows();
    if (distances.int_matrix)
      make(Matrix<int>{distances.integers(), n});
    else if (!distances.points)
      make(Matrix<double>{distances.reals(), n});
    else if (distances.kind == MetricKind::euc_2d)
      make(CoordinatesOf<MetricKind::euc_2d>{rows});
    else if (distances.kind == MetricKind::ceil_2d)
      make(CoordinatesOf<MetricKind::ceil_2d>{rows});
    else if (distances.kind == MetricKind::exact_2d)
      make(CoordinatesOf<MetricKind::exact_2d>{rows});
    else
      make(AnyCoordinates<double>{rows, distances.kind});
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
                  nb::arg("fixed_edges"), nb::arg("tolerance"), nb::arg("three"), nb::arg("next_only"), nb::arg("best"),
                  nb::arg("many"), nb::arg("token"))
      .def(
          "descend",
          [](BoundNeighborSearch &b, long long passes, int threads, double seconds, StopToken &token) {
            check_threads(threads);
            bool complete = false;
            interruptible(token, [&] { complete = b.search->descend(passes, threads, seconds, token); });
            return complete;
          },
          nb::kw_only(), nb::arg("passes"), nb::arg("threads"), nb::arg("seconds"), nb::arg("token"),
          "Moves for so many seconds; True at a local optimum, or after so many passes.")
      .def(
          "iterate",
          [](BoundNeighborSearch &b, int chains, long long count, bool always, double temperature, long long cold,
             int segment, unsigned long long seed, int threads, double seconds, bool everywhere, StopToken &token) {
            check_threads(threads);
            require(chains >= 1 && segment >= 0 && segment <= longest_segment, "chains or segment is out of range");
            bool complete = false;
            interruptible(token, [&] {
              complete = b.search->iterate(
                  {chains, count, always, temperature, cold, segment, seed, threads, everywhere}, seconds, token);
            });
            return complete;
          },
          nb::kw_only(), nb::arg("chains"), nb::arg("count"), nb::arg("always"), nb::arg("temperature"),
          nb::arg("cold"), nb::arg("segment"), nb::arg("seed"), nb::arg("threads"), nb::arg("seconds"),
          nb::arg("everywhere"), nb::arg("token"),
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
            const size_t n = b.search->best().size(), width = lists.size() / n;
            return to_numpy(std::move(lists), {n, width});
          },
          "The lists, sorted by distance.")
      .def("counters", &counters);
}
