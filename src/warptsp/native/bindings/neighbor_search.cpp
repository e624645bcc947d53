// Local search along neighbour lists, for Python: warptsp.papers.neighbor_lists drives it.
#include "papers/neighbor_lists/neighbor_search.h"

#include <nanobind/stl/unique_ptr.h>

#include "distances.h"

using namespace warptsp;
using namespace warptsp::neighbor;

namespace {

constexpr int longest_segment = 1 << 29;  // three of them are added up

std::unique_ptr<NeighborSearch> create(const Distances &distances, Array<const int, 2> neighbors,
                                       Array<const int, 1> tour, Array<const int, 2> fixed_edges, double tolerance,
                                       bool three, bool next_only, bool best, bool many, StopToken &token) {
  const int n = (int)tour.shape(0), width = (int)neighbors.shape(1);
  if (n < 4) throw nb::value_error("a search needs 4 cities or more");
  if ((int)neighbors.shape(0) != n) throw nb::value_error("neighbors and tour differ in length");
  distances.check_size(n);
  check_lists(neighbors, n, "a neighbour list");
  std::vector<int> start = checked_tour(tour, n), lists = copied(neighbors), fixed = fixed_partners(fixed_edges, n);
  const LocalSearch how{next_only, best, many};
  std::unique_ptr<NeighborSearch> search;
  const auto make = [&](const auto &metric) {
    typedef std::decay_t<decltype(metric)> Metric;
    const auto with = [&](auto is_three) {
      search = std::make_unique<NeighborSearchOf<Metric, is_three.value>>(
          metric, std::move(lists), width, std::move(fixed), tolerance, how, std::move(start), token);
    };
    three ? with(std::true_type()) : with(std::false_type());
  };
  const auto make_of_points = [&](Points rows) {
    if (distances.kind == MetricKind::euc_2d)
      make(CoordinatesOf<MetricKind::euc_2d>{rows});
    else if (distances.kind == MetricKind::ceil_2d)
      make(CoordinatesOf<MetricKind::ceil_2d>{rows});
    else if (distances.kind == MetricKind::exact_2d)
      make(CoordinatesOf<MetricKind::exact_2d>{rows});
    else
      make(AnyCoordinates<double>{rows, distances.kind});
  };
  interruptible(token, [&] { distances.use(make_of_points, make); });
  return search;
}

Counts counters(const NeighborSearch &search) {
  const DescentCounts c = search.counts();
  return counts_of({{"passes", c.passes},
                    {"evaluations", c.evaluations},
                    {"moves", c.moves},
                    {"kicks", c.kicks},
                    {"kicks_accepted", c.accepted}});
}

}  // namespace

void bind_neighbor_search(nb::module_ &m) {
  nb::class_<NeighborSearch>(m, "NeighborSearch", "Tours and the local search along neighbour lists.")
      .def_static("create", &create, nb::kw_only(), "distances"_a, "neighbors"_a, "tour"_a, "fixed_edges"_a,
                  "tolerance"_a, "three"_a, "next_only"_a, "best"_a, "many"_a, "token"_a, nb::keep_alive<0, 1>())
      .def(
          "descend",
          [](NeighborSearch &search, long long passes, int threads, double seconds, StopToken &token) {
            check_threads(threads);
            return interruptible(token, [&] { return search.descend(passes, threads, seconds, token); });
          },
          nb::kw_only(), "passes"_a, "threads"_a, "seconds"_a, "token"_a,
          "Moves for so many seconds; True at a local optimum, or after so many passes.")
      .def(
          "iterate",
          [](NeighborSearch &search, int chains, long long count, bool always, double temperature, long long cold,
             int segment, unsigned long long seed, int threads, double seconds, bool everywhere, StopToken &token) {
            check_threads(threads);
            require(chains >= 1 && segment >= 0 && segment <= longest_segment, "chains or segment is out of range");
            const ChainsPlan plan{chains, count, always, temperature, cold, segment, seed, threads, everywhere};
            return interruptible(token, [&] { return search.iterate(plan, seconds, token); });
          },
          nb::kw_only(), "chains"_a, "count"_a, "always"_a, "temperature"_a, "cold"_a, "segment"_a, "seed"_a,
          "threads"_a, "seconds"_a, "everywhere"_a, "token"_a,
          "Kicks in every chain for so many seconds; True when each has made `count` in all.")
      .def("return_to_best", &NeighborSearch::return_to_best,
           "Let the next descent begin with the best tour of all chains.")
      .def_prop_ro("best_length", &NeighborSearch::best_length)
      .def("best", [](const NeighborSearch &search) { return to_numpy(search.best()); })
      .def(
          "neighbors",
          [](const NeighborSearch &search) {
            std::vector<int> lists = search.neighbors();
            const size_t n = search.best().size(), width = lists.size() / n;
            return to_numpy(std::move(lists), {n, width});
          },
          "The lists, sorted by distance.")
      .def("counters", &counters);
}
