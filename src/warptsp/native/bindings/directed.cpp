// The search of directed tours, for Python: warptsp.methods.lk.directed drives it.
#include "directed/search.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/unique_ptr.h>

#include <cmath>
#include <optional>

#include "arrays.h"

using namespace warptsp;
using namespace warptsp::directed;
using warptsp::directed::Search;

namespace {

constexpr int least_cities = 3;
constexpr double largest_sum = 1152921504606846976.0;  // 2^60, of n distances

template <class Entry>
std::unique_ptr<Search> make_search(const Array<const Entry, 2> &matrix, double scale, std::optional<double> wall,
                                    unsigned long long seed, int threads) {
  check_threads(threads);
  const size_t n = matrix.shape(0);
  check_square(n, matrix.shape(1));
  require(n >= least_cities, "a search needs 3 cities or more");
  require(n <= (size_t)std::numeric_limits<int>::max() / 64, "too many cities");
  require(std::isfinite(scale) && scale > 0, "scale is not a positive number");
  double largest = 0;
  bool negative = false;
  for (size_t k = 0; k < matrix.size(); k++) {
    const auto entry = (double)matrix.data()[k];
    negative |= !(entry >= 0);  // NaN, too
    largest = std::max(largest, entry);
  }
  require(!negative, "a distance is negative, or no number");
  const double unit = std::is_integral_v<Entry> ? 1.0 : scale;
  require(largest * unit * (double)n <= largest_sum, "distances are too long");
  require(!wall || (*wall > 0 && *wall * unit <= largest_sum), "wall is too long");
  // As an entry that is so long: of reals, `scale` and rounding are those of any other.
  const directed::Matrix<Entry> plain(matrix.data(), (int)n, scale);
  const Cost cost = !wall ? no_cost : std::is_integral_v<Entry> ? (Cost)*wall : plain.cost((Entry)*wall);
  return std::make_unique<SearchOf<Entry>>(directed::Matrix<Entry>(matrix.data(), (int)n, scale, cost), seed, threads);
}

Counts counters(const Search &search) {
  const LkCounters c = search.counters();
  return counts_of({{"kicks", c.kicks},
                    {"kicks_accepted", c.accepted},
                    {"kicks_improving", c.improved},
                    {"city_evaluations", c.evaluations},
                    {"exchanges", c.moves},
                    {"cells_written", c.cells},
                    {"nodes", search.nodes()}});
}

}  // namespace

void bind_directed(nb::module_ &m) {
  nb::class_<Search, lk::TourPopulation>(m, "DirectedSearch", "A directed tour, and the search that shortens it.")
      .def_static("create", &make_search<int>, "matrix"_a.noconvert(), nb::kw_only(), "scale"_a, "wall"_a = nb::none(),
                  "seed"_a, "threads"_a, nb::keep_alive<0, 1>())
      .def_static("create", &make_search<double>, "matrix"_a.noconvert(), nb::kw_only(), "scale"_a,
                  "wall"_a = nb::none(), "seed"_a, "threads"_a, nb::keep_alive<0, 1>())
      .def("assign", Interruptible<double>::call(&Search::assign), "seconds"_a, "token"_a,
           "Solves the assignment problem; False if it took too long.")
      .def("prepare", Interruptible<>::call(&Search::prepare), "token"_a,
           "Finds the arcs that are considered; False if the token stopped it.")
      .def(
          "patch",
          [](Search &search, StopToken &token) {
            return to_numpy(interruptible(token, [&] { return search.patch(); }));
          },
          "token"_a, "The tour that the solution of the assignment problem is patched to.")
      .def(
          "set_tour",
          [](Search &search, const Array<const int, 1> &tour) {
            const std::vector<int> cities = checked_tour(tour, (size_t)search.size());
            const WithoutGil unlocked;
            search.set_tour(cities);
          },
          "tour"_a, "Goes on from this tour; the best one stays if it is shorter.")
      .def("optimize", Interruptible<double>::call(&Search::optimize), "seconds"_a, "token"_a,
           "Local search, for so long at a time; True when it is complete or the token said stop.")
      .def("kicks", Interruptible<long long>::call(&Search::kicks), "count"_a, "token"_a,
           "So many kicks; fewer only when the token says so.")
      .def("open_arcs", Interruptible<>::call(&Search::open_arcs), "token"_a,
           "How many arcs can be in a shorter tour than the best one.")
      .def(
          "begin_branching",
          [](Search &search, int arcs, StopToken &token) {
            require(arcs >= 0, "arcs is negative");
            interruptible(token, [&] { search.begin_branching(arcs, token); });
          },
          "arcs"_a, "token"_a, "Begins branch and bound on so many arcs of each city, 0 for all.")
      .def("branch", Interruptible<long long, int, double>::call(&Search::branch), nb::kw_only(), "nodes"_a, "leaves"_a,
           "seconds"_a, "token"_a, "Goes on with branch and bound; True when nothing is left to do.")
      .def("end_branching", &Search::end_branching, "Gives its memory back, and goes on from the best tour.")
      .def_prop_ro("proved", &Search::proved)
      .def_prop_ro("impossible", &Search::impossible)
      .def_prop_ro("bound", &Search::bound)
      .def_prop_ro("length", &Search::length)
      .def_prop_ro("best_length", &Search::best_length)
      .def("best", [](const Search &search) { return to_numpy(search.best()); })
      .def("counters", &counters);
}
