// The main solver's search, for Python: warptsp.methods.lk drives it.
#include "search.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>

using namespace warptsp;
using namespace warptsp::lk;
using namespace warptsp::tours;

namespace {

template <class Value>
Value least_gain(double tolerance) {
  return std::is_integral_v<Value> ? 0 : (Value)tolerance;
}

// Calls `use` with the source of distances between points.
template <class Use>
auto with_points(MetricKind kind, Points rows, bool small_integers, bool dummy, Use &&use) {
  // The two specialised metrics know no dummy city.
  if (kind == MetricKind::euc_2d && small_integers && !dummy) return use(PointSource<EuclideanRounded>{rows, kind});
  if (kind == MetricKind::exact_2d && !dummy) return use(PointSource<EuclideanExact>{rows, kind});
  if (is_integral(kind) && small_integers) return use(PointSource<AnyCoordinates<int>>{rows, kind});
  return use(PointSource<AnyCoordinates<double>>{rows, kind});
}

}  // namespace

std::unique_ptr<TourSearch> warptsp::make_tour_search(const GivenDistances &given, bool small_integers, bool dummy,
                                                      Instance &&instance, std::vector<int> &&start, double tolerance) {
  const auto search_of = [&](auto source) -> std::unique_ptr<TourSearch> {
    typedef decltype(source) Source;
    const auto least = least_gain<typename Source::Metric::Value>(tolerance);
    return std::make_unique<TourSearchOf<Source>>(source, std::move(instance), std::move(start), least);
  };
  if (given.integers != nullptr) return search_of(MatrixSource<int>{given.integers, instance.size});
  if (given.reals != nullptr) return search_of(MatrixSource<double>{given.reals, instance.size});
  return with_points(given.kind, given.points, small_integers, dummy, search_of);
}

namespace {

std::unique_ptr<TourSearch> make_search(const Distances &distances, bool small_integers, bool dummy,
                                        const Array<const int, 2> &candidates, const Array<const int, 1> &tour,
                                        const std::optional<Array<const int, 2>> &fixed_edges, double tolerance,
                                        const LkParams &params, const std::optional<Array<const int, 1>> &along) {
  Instance instance;
  const int n = (int)tour.shape(0);
  require(n >= 8, "a search needs 8 cities or more");
  require((int)candidates.shape(0) == n, "candidates and tour differ in length");
  distances.check_size(n);
  std::vector<int> start = checked_tour(tour, n);
  if (distances.points && small_integers)
    check_small_points(longest_distance((int)distances.kind, *distances.points, dummy));
  if (distances.int_matrix) check_small_entries(distances.integers(), distances.int_matrix->size());
  check_lists(candidates, n, "a candidate list");
  instance.size = n;
  instance.points = distances.rows();
  instance.candidates = copied(candidates);
  instance.params = params;
  instance.params.candidates = (int)candidates.shape(1);
  if (fixed_edges) instance.fixed = fixed_partners(*fixed_edges, n);
  if (along) instance.along = checked_tour(*along, n);
  return make_tour_search(distances.given(), small_integers, dummy, std::move(instance), std::move(start), tolerance);
}

Counts counters(const TourSearch &search) {
  const LkCounters &c = search.counters();
  return counts_of({{"kicks", c.kicks},
                    {"kicks_accepted", c.accepted},
                    {"kicks_improving", c.improved},
                    {"kicks_restored", c.restored},
                    {"kicks_refused", c.refused},
                    {"city_evaluations", c.evaluations},
                    {"steps", c.steps},
                    {"moves", c.moves},
                    {"cells_written", c.cells}});
}

// That take a few milliseconds.
constexpr long long brief_kicks = 1000;

NumpyArray<int> improved_long_links(const Distances &distances, bool small_integers, const Array<const int, 1> &tour,
                                    double tolerance, const LkParams &params, int candidates, int per_quadrant,
                                    long long kicks, unsigned long long seed, double seconds, StopToken &token) {
  const size_t n = tour.shape(0);
  require(n >= 20, "a search among long links needs 20 cities or more");
  require(distances.points.has_value(), "a search among long links needs points");
  distances.check_size(n);
  std::vector<int> better = checked_tour(tour, n);
  require(candidates >= 1 && per_quadrant >= 0 && per_quadrant <= candidates / 4,
          std::to_string(per_quadrant) + " of " + std::to_string(candidates) + " candidates a quadrant");
  require(kicks >= 0, "kicks is " + std::to_string(kicks));
  const LongLinks plan{kicks, seed, candidates, per_quadrant};
  if (small_integers) check_small_points(longest_distance((int)distances.kind, *distances.points, false));
  interruptible(token, [&] {
    const StopToken slice(token, seconds);
    with_points(distances.kind, distances.rows(), small_integers, false, [&](const auto &source) {
      typedef typename std::decay_t<decltype(source)>::Metric::Value Value;
      improve_long_links(source, params, least_gain<Value>(tolerance), plan, better, slice);
    });
  });
  return to_numpy(std::move(better), {n});
}

// With a token they are searched among their long links.
void add_members(TourSearch &search, const Array<const int, 2> &tours, int threads, StopToken *long_links) {
  check_threads(threads);
  const size_t count = tours.shape(0), n = tours.shape(1);
  for (size_t t = 0; t < count; t++) check_tour(tours.data() + t * n, n, search.best().size());
  StopToken own;
  StopToken &token = long_links ? *long_links : own;
  interruptible(
      token, [&] { search.add(tours.data(), (int)count, threads, long_links != nullptr, token); }, !long_links);
}

// No rows if stopped.
NumpyArray<int> make_random_fragments(const Array<const int, 2> &candidates, int first, int count,
                                      unsigned long long seed, unsigned long long round, int threads,
                                      const StopToken &token) {
  const size_t n = candidates.shape(0);
  check_threads(threads);
  require(first >= 0 && count >= 0 && count <= std::numeric_limits<int>::max() - first,
          std::to_string(count) + " tours from number " + std::to_string(first) + " on");
  check_lists(candidates, n, "a candidate list");
  std::vector<int> tours;
  {
    const WithoutGil unlocked;
    tours.resize(count * n);
    for_each_task(threads, count, [&](int t) {
      if (token.stopped()) return;
      Random random(seed, round, (unsigned long long)first + t);
      const std::vector<int> tour =
          random_fragments((int)n, candidates.data(), (int)candidates.shape(1), nullptr, {}, random);
      std::copy(tour.begin(), tour.end(), tours.begin() + t * n);
    });
  }
  if (token.stopped()) count = 0, tours = {};
  return to_numpy(std::move(tours), {(size_t)count, n});
}

}  // namespace

void bind_search(nb::module_ &m) {
  m.def("long_links_of", &long_links_of, "links"_a, "How many of a tour's links count as long.");
  m.def("improve_long_links", &improved_long_links, nb::kw_only(), "distances"_a, "small_integers"_a, "tour"_a,
        "tolerance"_a, "params"_a, "candidates"_a, "per_quadrant"_a, "kicks"_a, "seed"_a, "seconds"_a, "token"_a,
        "The closed tour after a search among its longest links (native/lk/long_links.h).");
  m.def("random_fragments", &make_random_fragments, nb::kw_only(), "candidates"_a, "first"_a, "count"_a, "seed"_a,
        "round"_a, "threads"_a, "token"_a,
        "So many tours of random fragments, from the number `first` on, a row each; no rows if stopped "
        "(native/tours/random_fragments.h).");
  nb::class_<TourPopulation>(m, "TourPopulation", "A search with a population of tours (native/lk/tour_population.h).")
      .def(
          "grow",
          [](TourPopulation &search, int count, double kicks_per_city, double temperature, int steps, bool long_links,
             unsigned long long seed, unsigned long long round, int threads, StopToken &token) {
            check_threads(threads);
            require(count >= 0, "count is " + std::to_string(count));
            require(kicks_per_city >= 0 && kicks_per_city <= 1e9, "kicks_per_city is out of range");
            require(steps >= 0, "steps is " + std::to_string(steps));
            const Growth growth{count, kicks_per_city, temperature, seed, round, threads, steps, long_links};
            interruptible(token, [&] { search.grow(growth, token); });
          },
          nb::kw_only(), "count"_a, "kicks_per_city"_a, "temperature"_a, "steps"_a, "long_links"_a, "seed"_a, "round"_a,
          "threads"_a, "token"_a, "Adds new tours to the population.")
      .def("keep", &TourPopulation::keep, "Adds the best tour to the population.")
      .def("forget", &TourPopulation::forget, "Empties the population.")
      .def("return_to_best", &TourPopulation::return_to_best, "Goes on from the best tour.")
      .def_prop_ro("members", &TourPopulation::members)
      .def_prop_ro("mean_length", &TourPopulation::mean_length)
      .def_prop_ro("least_length", &TourPopulation::least_length);
  nb::class_<TourSearch, TourPopulation>(m, "TourSearch", "One tour and the Lin-Kernighan search that shortens it.")
      .def_static(
          "create", &make_search, nb::kw_only(), "distances"_a, "small_integers"_a, "dummy"_a, "candidates"_a, "tour"_a,
          "fixed_edges"_a.none(), "tolerance"_a, "params"_a, "along"_a = nb::none(), nb::keep_alive<0, 1>(),
          "`along`: a tour along which members' fragments follow each other; None: cities are numbered along one.")
      .def(
          "optimize",
          [](TourSearch &search, double seconds, StopToken &token) {
            return interruptible(token, [&] { return search.optimize(seconds, token); }, search.is_brief());
          },
          "seconds"_a, "token"_a,
          "Local search from every city, for so long at a time; True when it is complete or the token said stop.")
      .def(
          "kicks",
          [](TourSearch &search, long long count, double temperature, unsigned long long seed, unsigned long long round,
             StopToken &token) {
            interruptible(
                token, [&] { search.kicks({count, temperature, seed, round, 0}, token); },
                search.is_brief() && count <= brief_kicks);
          },
          "count"_a, "temperature"_a, "seed"_a, "round"_a, "token"_a,
          "Kicks on the whole tour; stops early only when the token says so.")
      .def(
          "prove",
          [](TourSearch &search, long long trees, StopToken &token,
             const std::optional<Array<const double, 2>> &exact) {
            const size_t n = search.best().size(), most = small::OneTreeSearch::most;
            require(n <= most, std::to_string(n) + " cities; at most " + std::to_string(most) + " are possible");
            if (exact) {
              require(exact->shape(0) == n && exact->shape(1) == n, "distances are not those of all pairs");
              require(std::all_of(exact->data(), exact->data() + exact->size(),
                                  [](double d) { return d >= 0 && d < 1e300; }),
                      "a distance is negative, not finite, or too long");
            }
            const WithoutGil unlocked;
            return search.prove(trees, token, exact ? exact->data() : nullptr);
          },
          "trees"_a, "token"_a, "exact"_a = nb::none(),
          "Makes the best tour optimal, by these distances where the search has them rounded otherwise; False if that "
          "takes more 1-trees, or the token said stop.")
      .def(
          "begin_round",
          [](TourSearch &search, int parts, bool boxes, bool optimize, long long kicks, double temperature,
             double last_temperature, unsigned long long seed, unsigned long long round, int threads, bool repeatable,
             StopToken &token) {
            check_threads(threads);
            const size_t n = search.best().size();
            require(parts >= 1 && (size_t)parts <= n,
                    std::to_string(parts) + " parts of " + std::to_string(n) + " cities");
            require(!boxes || search.has_points(), "boxes in space need points");
            interruptible(token, [&] {
              search.begin_round(
                  {parts, boxes, optimize, kicks, temperature, last_temperature, seed, round, threads, repeatable});
            });
          },
          nb::kw_only(), "parts"_a, "boxes"_a, "optimize"_a, "kicks"_a, "temperature"_a, "last_temperature"_a, "seed"_a,
          "round"_a, "threads"_a, "repeatable"_a, "token"_a, "Cuts the tour into parts.")
      .def("proceed", Interruptible<double>::call(&TourSearch::proceed), "seconds"_a, "token"_a,
           "Improves the parts, for so long at a time; True when the round is complete or the token said stop.")
      .def(
          "add",
          [](TourSearch &search, const Array<const int, 2> &tours, int threads) {
            add_members(search, tours, threads, nullptr);
          },
          "tours"_a, "threads"_a, "Adds tours to the population, a row each.")
      .def(
          "add_with_better_long_links",
          [](TourSearch &search, const Array<const int, 2> &tours, int threads, StopToken &token) {
            add_members(search, tours, threads, &token);
          },
          "tours"_a, "threads"_a, "token"_a,
          "Adds tours to the population, a row each, after a search among their long links (native/lk/long_links.h).")
      .def("keep_members", &TourSearch::keep_members, "count"_a, "Leaves the shortest members, so many of them.")
      .def(
          "member_tours",
          [](TourSearch &search) {
            std::vector<int> tours = without_gil([&] { return search.member_tours(); });
            return to_numpy(std::move(tours), {(size_t)search.members(), search.best().size()});
          },
          "The population's tours, a row each.")
      .def(
          "gather",
          [](TourSearch &search, unsigned long long seed, unsigned long long round, int threads, StopToken &token) {
            check_threads(threads);
            return interruptible(token, [&] { return search.gather(seed, round, threads, token); });
          },
          nb::kw_only(), "seed"_a, "round"_a, "threads"_a, "token"_a,
          "The best member takes over what the others have better; how much shorter it is then.")
      .def("end_round", &TourSearch::end_round, "Ends the round as it stands.")
      .def(
          "go_on_from",
          [](TourSearch &search, const Array<const int, 1> &tour) {
            std::vector<int> own = checked_tour(tour, search.best().size());
            const WithoutGil unlocked;
            search.go_on_from(std::move(own));
          },
          "tour"_a, "Goes on from another tour, which becomes the best one if it is shorter.")
      .def_prop_ro("length", &TourSearch::length)
      .def_prop_ro("best_length", &TourSearch::best_length)
      .def("best", [](TourSearch &search) { return to_numpy(search.best()); })
      .def("counters", &counters);
  nb::class_<PopulationRun>(m, "PopulationRun",
                            "Populations from the first member to the end (native/lk/tour_population.h).")
      .def_static(
          "create",
          [](TourPopulation &search, const PopulationPlan &plan) {
            return std::make_unique<PopulationRun>(search, plan);
          },
          "search"_a, "plan"_a, nb::keep_alive<0, 1>())
      .def(
          "proceed",
          [](PopulationRun &run, double seconds, unsigned long long seed, unsigned long long round, int threads,
             StopToken &token) {
            check_threads(threads);
            int rounds = 0;
            const auto proceed = [&] {
              const StopToken slice(token, seconds);
              bool ended = false;
              do ended = run.proceed(seed, round + (unsigned long long)rounds++, threads, token);
              while (!ended && !slice.stopped());
              return ended;
            };
            const bool ended = interruptible(token, proceed, run.is_brief());
            return std::make_tuple(ended, rounds);
          },
          "seconds"_a, "seed"_a, "round"_a, "threads"_a, "token"_a,
          "Some new members, or a generation, and more of them for so long; whether the last population has come to "
          "its end, and how many rounds this took.");
}
