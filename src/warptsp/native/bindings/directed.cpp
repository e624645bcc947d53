// The search of directed tours, for Python: warptsp.methods.lk.directed drives it.
#include "directed/search.h"

#include <nanobind/stl/optional.h>

#include <cmath>
#include <optional>

#include "arrays.h"
#include "population.h"

using namespace warptsp;
using namespace warptsp::directed;

namespace {

typedef warptsp::directed::Search Search;

// Keeps the matrix that the search refers to alive with it.
struct BoundDirectedSearch final : BoundPopulation {
  std::unique_ptr<Search> search;
  nb::object matrix;
  int n = 0;
  bool has_costs = false, has_tour = false;  // what its functions need

  void need_costs() const { require(has_costs, "prepare() comes first"); }
  void need_tour() const { require(has_tour, "set_tour() comes first"); }
  lk::TourPopulation &population() override {
    need_tour();
    return *search;
  }
  bool is_brief() const override { return false; }
};

constexpr int least_cities = 3;
constexpr double largest_sum = 1152921504606846976.0;  // 2^60, of n distances

template <class Entry>
BoundDirectedSearch make_search(const Array<const Entry, 2> &matrix, double scale, std::optional<double> wall,
                                unsigned long long seed, int threads) {
  check_threads(threads);
  const size_t n = matrix.shape(0);
  require(matrix.shape(1) == n, "the matrix is not square");
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
  require(largest * (std::is_integral_v<Entry> ? 1.0 : scale) * (double)n <= largest_sum, "distances are too long");
  BoundDirectedSearch bound;
  bound.n = (int)n;
  bound.matrix = nb::cast(matrix);
  // As an entry that is so long: of reals, `scale` and rounding are those of any other.
  const directed::Matrix<Entry> plain(matrix.data(), (int)n, scale);
  require(!wall || (*wall > 0 && *wall * (std::is_integral_v<Entry> ? 1.0 : scale) <= largest_sum), "wall is too long");
  const Cost cost = !wall ? no_cost : std::is_integral_v<Entry> ? (Cost)*wall : plain.cost((Entry)*wall);
  bound.search =
      std::make_unique<SearchOf<Entry>>(directed::Matrix<Entry>(matrix.data(), (int)n, scale, cost), seed, threads);
  return bound;
}

NumpyArray<int> numpy_of(std::vector<int> tour) { return to_numpy(std::move(tour)); }

Counts counters(const BoundDirectedSearch &b) {
  const SearchCounters c = b.search->counters();
  return counts_of({{"kicks", c.kicks},
                    {"kicks_accepted", c.accepted},
                    {"kicks_improving", c.improved},
                    {"city_evaluations", c.evaluations},
                    {"exchanges", c.exchanges},
                    {"cells_written", c.cells},
                    {"nodes", b.search->nodes()}});
}

}  // namespace

void bind_directed(nb::module_ &m) {
  nb::class_<BoundDirectedSearch, BoundPopulation>(m, "DirectedSearch",
                                                   "A directed tour, and the search that shortens it.")
      .def_static("create", make_search<int>, nb::arg("matrix").noconvert(), nb::kw_only(), nb::arg("scale"),
                  nb::arg("wall") = nb::none(), nb::arg("seed"), nb::arg("threads"))
      .def_static("create", make_search<double>, nb::arg("matrix").noconvert(), nb::kw_only(), nb::arg("scale"),
                  nb::arg("wall") = nb::none(), nb::arg("seed"), nb::arg("threads"))
      .def(
          "assign",
          [](BoundDirectedSearch &b, double seconds, StopToken &token) {
            bool solved = false;
            interruptible(token, [&] { solved = b.search->assign(seconds, token); });
            b.has_costs = b.has_tour = false;
            return solved;
          },
          nb::arg("seconds"), nb::arg("token"), "Solves the assignment problem; False if it took too long.")
      .def(
          "prepare",
          [](BoundDirectedSearch &b, StopToken &token) {
            bool complete = false;
            interruptible(token, [&] { complete = b.search->prepare(token); });
            b.has_costs = complete;
            return complete;
          },
          nb::arg("token"), "Finds the arcs that are considered; False if the token stopped it.")
      .def(
          "patch",
          [](BoundDirectedSearch &b, StopToken &token) {
            b.need_costs();
            std::vector<int> tour;
            interruptible(token, [&] { tour = b.search->patch(); });
            return numpy_of(std::move(tour));
          },
          nb::arg("token"), "The tour that the solution of the assignment problem is patched to.")
      .def(
          "set_tour",
          [](BoundDirectedSearch &b, Array<const int, 1> tour) {
            b.need_costs();
            check_tour(tour.data(), tour.size(), (size_t)b.n);
            const std::vector<int> cities(tour.data(), tour.data() + tour.size());
            const WithoutGil unlocked;
            b.search->set_tour(cities);
            b.has_tour = true;
          },
          nb::arg("tour"), "Goes on from this tour; the best one stays if it is shorter.")
      .def(
          "optimize",
          [](BoundDirectedSearch &b, double seconds, StopToken &token) {
            b.need_tour();
            bool complete = false;
            interruptible(token, [&] { complete = b.search->optimize(seconds, token); });
            return complete;
          },
          nb::arg("seconds"), nb::arg("token"),
          "Local search, for so long at a time; True when it is complete or the token said stop.")
      .def(
          "kicks",
          [](BoundDirectedSearch &b, long long count, StopToken &token) {
            b.need_tour();
            interruptible(token, [&] { b.search->kicks(count, token); });
          },
          nb::arg("count"), nb::arg("token"), "So many kicks; fewer only when the token says so.")
      .def(
          "open_arcs",
          [](BoundDirectedSearch &b, StopToken &token) {
            b.need_tour();
            long long count = 0;
            interruptible(token, [&] { count = b.search->open_arcs(token); });
            return count;
          },
          nb::arg("token"), "How many arcs can be in a shorter tour than the best one.")
      .def(
          "begin_branching",
          [](BoundDirectedSearch &b, int arcs, StopToken &token) {
            b.need_tour();
            require(arcs >= 0, "arcs is negative");
            interruptible(token, [&] { b.search->begin_branching(arcs, token); });
          },
          nb::arg("arcs"), nb::arg("token"), "Begins branch and bound on so many arcs of each city, 0 for all.")
      .def(
          "branch",
          [](BoundDirectedSearch &b, long long nodes, int leaves, double seconds, StopToken &token) {
            b.need_tour();
            bool done = false;
            interruptible(token, [&] { done = b.search->branch(nodes, leaves, seconds, token); });
            return done;
          },
          nb::kw_only(), nb::arg("nodes"), nb::arg("leaves"), nb::arg("seconds"), nb::arg("token"),
          "Goes on with branch and bound; True when nothing is left to do.")
      .def(
          "end_branching", [](BoundDirectedSearch &b) { b.search->end_branching(); },
          "Gives its memory back, and goes on from the best tour.")
      .def_prop_ro("proved", [](const BoundDirectedSearch &b) { return b.has_tour && b.search->proved(); })
      .def_prop_ro("impossible", [](const BoundDirectedSearch &b) { return b.search->impossible(); })
      .def_prop_ro("bound", [](const BoundDirectedSearch &b) { return b.search->bound(); })
      .def_prop_ro("length",
                   [](const BoundDirectedSearch &b) {
                     b.need_tour();
                     return b.search->length();
                   })
      .def_prop_ro("best_length",
                   [](const BoundDirectedSearch &b) {
                     b.need_tour();
                     return b.search->best_length();
                   })
      .def("best",
           [](const BoundDirectedSearch &b) {
             b.need_tour();
             return numpy_of(b.search->best());
           })
      .def("counters", &counters);
}
