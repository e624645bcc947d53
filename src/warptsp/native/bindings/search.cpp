// The main solver's search, for Python: warptsp.methods.lk drives it.
#include "search.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <optional>

#include "lk/population_run.h"
#include "population.h"

using namespace warptsp;
using namespace warptsp::lk;
using namespace warptsp::tours;

namespace {

template <class Source>
std::unique_ptr<TourSearch> make(const Source &source, Instance &&instance, std::vector<int> &&tour, double tolerance) {
  typedef typename Source::Metric::Value Value;
  return std::make_unique<TourSearchOf<Source>>(source, std::move(instance), std::move(tour), (Value)tolerance);
}

}  // namespace

std::unique_ptr<TourSearch> warptsp::make_tour_search(const Given &given, bool small_integers, bool dummy,
                                                      Instance &&instance, std::vector<int> &&start, double tolerance) {
  const MetricKind kind = given.kind;
  const int n = instance.size;
  if (given.points.rows != nullptr) {
    const Points rows = given.points;
    // The two specialised metrics know no dummy city.
    if (kind == MetricKind::euc_2d && small_integers && !dummy)
      return make(PointSource<EuclideanRounded>{rows, kind}, std::move(instance), std::move(start), 0);
    if (kind == MetricKind::exact_2d && !dummy)
      return make(PointSource<EuclideanExact>{rows, kind}, std::move(instance), std::move(start), tolerance);
    if (is_integral(kind) && small_integers)
      return make(PointSource<AnyCoordinates<int>>{rows, kind}, std::move(instance), std::move(start), 0);
    return make(PointSource<AnyCoordinates<double>>{rows, kind}, std::move(instance), std::move(start), tolerance);
  }
  if (given.integers != nullptr)
    return make(MatrixSource<int>{given.integers, n}, std::move(instance), std::move(start), 0);
  return make(MatrixSource<double>{given.reals, n}, std::move(instance), std::move(start), tolerance);
}

namespace {

// Keeps the arrays that a search refers to alive with it.
struct BoundSearch final : BoundPopulation {
  std::unique_ptr<TourSearch> search;
  Distances distances;

  TourPopulation &population() override { return *search; }
  bool is_brief() const override { return distances.size() <= brief_cities; }
};

// Keeps the search alive that it goes on with.
struct BoundPopulationRun {
  nb::object search;
  BoundPopulation *of;
  std::unique_ptr<PopulationRun> run;
};

std::vector<int> copied(const int *values, size_t count) { return std::vector<int>(values, values + count); }

bool are_small(const Array<const int, 2> &matrix) {
  return std::all_of(matrix.data(), matrix.data() + matrix.size(), is_small_entry);
}

// The bound by coordinates is a rough one; that of ATT is more than three times as long.
void check_small(const Distances &distances, bool small_integers, bool dummy) {
  require(
      (!distances.points || !small_integers || distances.longest_of_points(dummy) <= 4.0 * largest_small_distance) &&
          (!distances.int_matrix || are_small(*distances.int_matrix)),
      "distances are too long for small integers");
}

BoundSearch make_search(const Distances &distances, bool small_integers, bool dummy, Array<const int, 2> candidates,
                        Array<const int, 1> tour, std::optional<Array<const int, 2>> fixed_edges, double tolerance,
                        const LkParams &params) {
  Instance instance;
  const int n = (int)tour.shape(0);
  if (n < 8) throw nb::value_error("a search needs 8 cities or more");
  if ((int)candidates.shape(0) != n) throw nb::value_error("candidates and tour differ in length");
  distances.check_size(n);
  check_tour(tour.data(), n, n);
  check_small(distances, small_integers, dummy);
  check_lists(candidates, n, "a candidate list");
  instance.size = n;
  instance.kind = distances.kind;
  instance.points = distances.rows();
  instance.dimensions = instance.points.stride;
  instance.candidates = copied(candidates.data(), candidates.size());
  instance.params = params;
  instance.params.candidates = (int)candidates.shape(1);
  if (fixed_edges) instance.fixed = fixed_partners(*fixed_edges, n);
  BoundSearch bound;
  bound.distances = distances;
  bound.search =
      make_tour_search({distances.kind, distances.rows(), distances.integers(), distances.reals()}, small_integers,
                       dummy, std::move(instance), copied(tour.data(), tour.size()), tolerance);
  return bound;
}

Counts counters(const BoundSearch &bound) {
  const LkCounters &c = bound.search->counters();
  Counts d;
  d["kicks"] = c.kicks;
  d["kicks_accepted"] = c.accepted;
  d["kicks_improving"] = c.improved;
  d["kicks_restored"] = c.restored;
  d["kicks_refused"] = c.refused;
  d["city_evaluations"] = c.evaluations;
  d["steps"] = c.steps;
  d["moves"] = c.moves;
  d["cells_written"] = c.cells;
  return d;
}

// That take a few milliseconds.
constexpr long long brief_kicks = 1000;

void check_parts(BoundSearch &b, int parts, bool boxes) {
  const size_t n = b.search->best().size();
  require(parts >= 1 && (size_t)parts <= n, std::to_string(parts) + " parts of " + std::to_string(n) + " cities");
  require(!boxes || b.distances.points, "boxes in space need points");
}

void check_tour_of(BoundSearch &b, const int *tour, int n) { check_tour(tour, n, b.search->best().size()); }

}  // namespace

void bind_search(nb::module_ &m) {
  m.def(
      "random_fragments",
      [](Array<const int, 2> candidates, int first, int count, unsigned long long seed, unsigned long long round,
         int threads, const StopToken &token) {
        const int n = (int)candidates.shape(0);
        check_threads(threads);
        require(first >= 0 && count >= 0 && count <= std::numeric_limits<int>::max() - first,
                std::to_string(count) + " tours from number " + std::to_string(first) + " on");
        check_lists(candidates, n, "a candidate list");
        std::vector<int> tours;
        std::atomic<bool> all{true};
        {
          const WithoutGil unlocked;
          tours.resize((size_t)count * n);
          for_each_task(threads, count, [&](int t) {
            if (token.stopped()) {
              all.store(false, std::memory_order_relaxed);
              return;
            }
            Random random(seed, round, (unsigned long long)first + t);
            const std::vector<int> tour =
                random_fragments(n, candidates.data(), (int)candidates.shape(1), nullptr, random);
            std::copy(tour.begin(), tour.end(), tours.begin() + (size_t)t * n);
          });
        }
        if (!all) count = 0, tours = {};
        return to_numpy(std::move(tours), {(size_t)count, (size_t)n});
      },
      nb::kw_only(), nb::arg("candidates"), nb::arg("first"), nb::arg("count"), nb::arg("seed"), nb::arg("round"),
      nb::arg("threads"), nb::arg("token"),
      "So many tours of random fragments, from the number `first` on, a row each; no rows if stopped "
      "(native/tours/random_fragments.h).");
  nb::class_<BoundPopulation>(m, "TourPopulation", "A search with a population of tours (native/lk/tour_population.h).")
      .def(
          "grow",
          [](BoundPopulation &b, int count, double kicks_per_city, double temperature, int steps,
             unsigned long long seed, unsigned long long round, int threads, StopToken &token) {
            check_threads(threads);
            require(count >= 0, "count is " + std::to_string(count));
            require(kicks_per_city >= 0 && kicks_per_city <= 1e9, "kicks_per_city is out of range");
            require(steps >= 0, "steps is " + std::to_string(steps));
            interruptible(token, [&] {
              b.population().grow({count, kicks_per_city, temperature, seed, round, threads, steps}, token);
            });
          },
          nb::kw_only(), nb::arg("count"), nb::arg("kicks_per_city"), nb::arg("temperature"), nb::arg("steps"),
          nb::arg("seed"), nb::arg("round"), nb::arg("threads"), nb::arg("token"), "Adds new tours to the population.")
      .def(
          "generation",
          [](BoundPopulation &b, int selection, bool blocks, unsigned long long seed, unsigned long long round,
             int threads, StopToken &token) {
            check_threads(threads);
            require(selection >= 1, "selection is " + std::to_string(selection) + "; at least 1 is needed");
            interruptible(token, [&] { b.population().generation(selection, blocks, seed, round, threads, token); });
          },
          nb::kw_only(), nb::arg("selection"), nb::arg("blocks"), nb::arg("seed"), nb::arg("round"), nb::arg("threads"),
          nb::arg("token"), "One generation of edge assembly crossover.")
      .def(
          "keep", [](BoundPopulation &b) { b.population().keep(); }, "Adds the best tour to the population.")
      .def(
          "forget", [](BoundPopulation &b) { b.population().forget(); }, "Empties the population.")
      .def(
          "return_to_best", [](BoundPopulation &b) { b.population().return_to_best(); }, "Goes on from the best tour.")
      .def_prop_ro("members", [](BoundPopulation &b) { return b.population().members(); })
      .def_prop_ro("mean_length", [](BoundPopulation &b) { return b.population().mean_length(); });
  nb::class_<BoundSearch, BoundPopulation>(m, "TourSearch", "One tour and the Lin-Kernighan search that shortens it.")
      .def_static("create", make_search, nb::kw_only(), nb::arg("distances"), nb::arg("small_integers"),
                  nb::arg("dummy"), nb::arg("candidates"), nb::arg("tour"), nb::arg("fixed_edges").none(),
                  nb::arg("tolerance"), nb::arg("params"))
      .def(
          "optimize",
          [](BoundSearch &b, double seconds, StopToken &token) {
            bool complete = false;
            interruptible(token, [&] { complete = b.search->optimize(seconds, token); }, b.is_brief());
            return complete;
          },
          nb::arg("seconds"), nb::arg("token"),
          "Local search from every city, for so long at a time; True when it is complete or the token said stop.")
      .def(
          "kicks",
          [](BoundSearch &b, long long count, double temperature, unsigned long long seed, unsigned long long round,
             StopToken &token) {
            interruptible(
                token, [&] { b.search->kicks({count, temperature, seed, round, 0}, token); },
                b.is_brief() && count <= brief_kicks);
          },
          nb::arg("count"), nb::arg("temperature"), nb::arg("seed"), nb::arg("round"), nb::arg("token"),
          "Kicks on the whole tour; stops early only when the token says so.")
      .def(
          "prove",
          [](BoundSearch &b, long long trees, StopToken &token) {
            require(b.search->best().size() <= small::OneTreeSearch::most,
                    std::to_string(b.search->best().size()) + " cities; at most " +
                        std::to_string(small::OneTreeSearch::most) + " are possible");
            const WithoutGil unlocked;
            return b.search->prove(trees, token);
          },
          nb::arg("trees"), nb::arg("token"),
          "Makes the best tour optimal; False if that takes more 1-trees, or the token said stop.")
      .def(
          "begin_round",
          [](BoundSearch &b, int parts, bool boxes, bool optimize, long long kicks, double temperature,
             double last_temperature, unsigned long long seed, unsigned long long round, int threads, bool repeatable,
             StopToken &token) {
            check_threads(threads);
            check_parts(b, parts, boxes);
            interruptible(token, [&] {
              b.search->begin_round(
                  {parts, boxes, optimize, kicks, temperature, last_temperature, seed, round, threads, repeatable});
            });
          },
          nb::kw_only(), nb::arg("parts"), nb::arg("boxes"), nb::arg("optimize"), nb::arg("kicks"),
          nb::arg("temperature"), nb::arg("last_temperature"), nb::arg("seed"), nb::arg("round"), nb::arg("threads"),
          nb::arg("repeatable"), nb::arg("token"), "Cuts the tour into parts.")
      .def(
          "proceed",
          [](BoundSearch &b, double seconds, StopToken &token) {
            bool complete = false;
            interruptible(token, [&] { complete = b.search->proceed(seconds, token); });
            return complete;
          },
          nb::arg("seconds"), nb::arg("token"),
          "Improves the parts, for so long at a time; True when the round is complete or the token said stop.")
      .def(
          "add",
          [](BoundSearch &b, Array<const int, 2> tours, int threads) {
            check_threads(threads);
            const int count = (int)tours.shape(0), n = (int)tours.shape(1);
            for (int t = 0; t < count; t++) check_tour_of(b, tours.data() + (size_t)t * n, n);
            const WithoutGil unlocked;
            b.search->add(tours.data(), count, threads);
          },
          nb::arg("tours"), nb::arg("threads"), "Adds tours to the population, a row each.")
      .def(
          "keep_members", [](BoundSearch &b, int count) { b.search->keep_members(std::max(0, count)); },
          nb::arg("count"), "Leaves the shortest members, so many of them.")
      .def(
          "end_round", [](BoundSearch &b) { b.search->end_round(); }, "Ends the round as it stands.")
      .def(
          "go_on_from",
          [](BoundSearch &b, Array<const int, 1> tour) {
            check_tour_of(b, tour.data(), (int)tour.size());
            std::vector<int> own = copied(tour.data(), tour.size());
            const WithoutGil unlocked;
            b.search->go_on_from(std::move(own));
          },
          nb::arg("tour"), "Goes on from another tour, which becomes the best one if it is shorter.")
      .def_prop_ro("length", [](const BoundSearch &b) { return b.search->length(); })
      .def_prop_ro("best_length", [](const BoundSearch &b) { return b.search->best_length(); })
      .def("best",
           [](BoundSearch &b) {
             std::vector<int> tour = b.search->best();
             const size_t n = tour.size();
             return to_numpy(std::move(tour), {n});
           })
      .def("counters", &counters);
  nb::class_<BoundPopulationRun>(m, "PopulationRun",
                                 "Populations from the first member to the end (native/lk/population_run.h).")
      .def_static(
          "create",
          [](nb::typed<nb::object, BoundPopulation> search, const PopulationPlan &plan) {
            BoundPopulation &of = nb::cast<BoundPopulation &>(search);
            return BoundPopulationRun{search, &of, std::make_unique<PopulationRun>(of.population(), plan)};
          },
          nb::arg("search"), nb::arg("plan"))
      .def(
          "proceed",
          [](BoundPopulationRun &b, double seconds, unsigned long long seed, unsigned long long round, int threads,
             StopToken &token) {
            check_threads(threads);
            bool ended = false;
            int rounds = 0;
            interruptible(
                token,
                [&] {
                  const StopToken slice(token, seconds);
                  do ended = b.run->proceed(seed, round + (unsigned long long)rounds++, threads, token);
                  while (!ended && !slice.stopped());
                },
                b.of->is_brief());
            return std::make_tuple(ended, rounds);
          },
          nb::arg("seconds"), nb::arg("seed"), nb::arg("round"), nb::arg("threads"), nb::arg("token"),
          "Some new members, or a generation, and more of them for so long; whether the last population has come to "
          "its "
          "end, and how many rounds this took.");
}
