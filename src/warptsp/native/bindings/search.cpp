// The main solver's search, for Python: warptsp.methods.lk drives it.
#include "lk/tour_search.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <numeric>
#include <optional>

#include "distances.h"
#include "lk/annealing.h"
#include "lk/population_run.h"
#include "space/candidates.h"
#include "space/curve.h"
#include "space/spread_candidates.h"
#include "tours/greedy.h"

using namespace warptsp;
using namespace warptsp::lk;
using namespace warptsp::tours;

namespace {

// Keeps the arrays that a search refers to alive with it.
struct BoundSearch {
  std::unique_ptr<TourSearch> search;
  Distances distances;
};

// Keeps the search alive that it goes on with.
struct BoundPopulationRun {
  nb::object search;
  std::unique_ptr<PopulationRun> run;
};

template <class Source>
std::unique_ptr<TourSearch> make(const Source &source, Instance &&instance, std::vector<int> &&tour, double tolerance) {
  typedef typename Source::Metric::Value Value;
  return std::make_unique<TourSearchOf<Source>>(source, std::move(instance), std::move(tour), (Value)tolerance);
}

std::vector<int> copied(const int *values, size_t count) { return std::vector<int>(values, values + count); }

// Sums of lengths, and of lengths that no gain can pay for, fit into 32 bits (backends/instance.py).
constexpr int largest_small_distance = 1 << 24;

bool is_small_entry(int d) { return d >= -largest_small_distance && d <= largest_small_distance; }

bool are_small(const Array<const int, 2> &matrix) {
  return std::all_of(matrix.data(), matrix.data() + matrix.size(), is_small_entry);
}

bool is_spherical(MetricKind kind) { return kind == MetricKind::geo || kind == MetricKind::great_circle; }

// Whether no search gets lost in these matrices: they are symmetric, and hold numbers, none of them negative.
template <class V>
bool are_symmetric(const Array<const V, 3> &matrices) {
  const size_t n = matrices.shape(1);
  for (size_t m = 0; m < matrices.shape(0); m++)
    for (size_t i = 0; i < n; i++)
      for (size_t j = 0; j < i; j++)
        if (!(matrices(m, i, j) == matrices(m, j, i) && matrices(m, i, j) >= 0 && matrices(m, i, j) <= 1e300))
          return false;
  return true;
}

// At least the longest distance between two points of one instance; NaN or infinity if a coordinate is.
double longest_coordinate_sum(const Array<const double, 3> &points) {
  double longest = 0;
  const size_t size = points.shape(1) * points.shape(2);
  for (size_t i = 0; i < points.shape(0); i++) {
    const double *const first = points.data() + i * size;
    double reach = 0;
    for (size_t k = 0; k < size; k++) reach = larger(std::abs(first[k] - first[k % points.shape(2)]), reach);
    longest = larger(2.0 * (double)points.shape(2) * reach, longest);
  }
  return longest;
}

// Where distances come from, as native code takes it: points, or one of the two kinds of matrix.
struct Given {
  MetricKind kind;
  Points points;
  const int *integers;
  const double *reals;
};

std::unique_ptr<TourSearch> make(const Given &given, bool small_integers, bool dummy, Instance &&instance,
                                 std::vector<int> &&start, double tolerance) {
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

// How a search goes, whatever the instance.
LkParams params_of(int candidates, int depth, const std::vector<int> &breadth, int segment, double walks, int walk,
                   double long_links) {
  if (depth < 1 || depth > lk_max_depth || segment < 1 || breadth.empty() || breadth.size() > lk_wide_levels)
    throw nb::value_error("depth, segment or breadth is out of range");
  LkParams params;
  params.candidates = candidates;
  params.depth = depth;
  params.segment = segment;
  params.walks = (float)walks;
  params.walk = walk;
  params.long_links = (float)long_links;
  for (int level = 0; level < lk_wide_levels; level++) {
    const int b = level < (int)breadth.size() ? breadth[level] : 1;
    if (b < 1 || b > lk_max_breadth) throw nb::value_error("a breadth is out of range");
    params.breadth[level] = b;
  }
  return params;
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
                        int depth, const std::vector<int> &breadth, int segment, double walks, int walk,
                        double long_links) {
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
  instance.params = params_of((int)candidates.shape(1), depth, breadth, segment, walks, walk, long_links);
  if (fixed_edges) instance.fixed = fixed_partners(*fixed_edges, n);
  BoundSearch bound;
  bound.distances = distances;
  bound.search = make({distances.kind, distances.rows(), distances.integers(), distances.reals()}, small_integers,
                      dummy, std::move(instance), copied(tour.data(), tour.size()), tolerance);
  return bound;
}

nb::dict counters(const BoundSearch &bound) {
  const LkCounters &c = bound.search->counters();
  nb::dict d;
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

void check_plan(const PopulationPlan &plan) {
  require(plan.members >= 0 && plan.at_once >= 1 && plan.at_once <= 1000 && plan.selection >= 1 && plan.idle >= 1,
          "members, at_once, selection or idle is out of range");
  require(plan.agreeing >= 1 && plan.most >= 1 && (plan.members > 0 || plan.most == 1),
          "agreeing or most is out of range");
}

// That take a few milliseconds.
constexpr long long brief_kicks = 1000;

bool is_small(const BoundSearch &b) { return b.distances.size() <= brief_cities; }

void check_parts(BoundSearch &b, int parts, bool boxes) {
  const size_t n = b.search->best().size();
  require(parts >= 1 && (size_t)parts <= n, std::to_string(parts) + " parts of " + std::to_string(n) + " cities");
  require(!boxes || b.distances.points, "boxes in space need points");
}

void check_tour_of(BoundSearch &b, const int *tour, int n) { check_tour(tour, n, b.search->best().size()); }

// Many instances of the same number of cities, one after another: the batch of warptsp.many.
struct Batch {
  MetricKind kind = MetricKind::matrix;
  std::optional<Array<const double, 3>> points;
  std::optional<Array<const int, 3>> int_matrices;
  std::optional<Array<const double, 3>> real_matrices;
  bool small_integers;
  int norm, per_quadrant;
  LkParams params;
  long long trees;            // that a proof may take; 0: there is none
  PopulationPlan population;  // after which the search ends; with no members, it ends after an annealing
  AnnealingPlan annealing;

  size_t count() const {
    return points ? points->shape(0) : int_matrices ? int_matrices->shape(0) : real_matrices->shape(0);
  }
  int cities() const {
    return (int)(points ? points->shape(1) : int_matrices ? int_matrices->shape(1) : real_matrices->shape(1));
  }
};

// How the search of an instance ended; the numbers are those of warptsp.many.batch. What is unsettled is for solve().
enum class End : int { none, proved, crossed, all_kicks, unsettled, stopped };

class BatchSearch {
 public:
  BatchSearch(const Batch &batch, const StopToken &token)
      : batch_(batch), token_(token), n_(batch.cities()), order_(n_), start_(n_) {}

  // The tour of one instance, from its first city on.
  End run(size_t number, double tolerance, unsigned long long seed, int *tour, long long &kicks) {
    Instance instance;
    instance.size = n_;
    instance.kind = batch_.kind;
    instance.params = batch_.params;
    Given given{};
    if (!set_up(number, instance, given)) return End::none;
    const std::unique_ptr<TourSearch> search =
        make(given, batch_.small_integers, false, std::move(instance), std::vector<int>(start_), tolerance);
    const End end = improve(*search, seed);
    kicks = search->counters().kicks + search->counters().refused;
    const std::vector<int> &best = search->best();
    const auto first = std::find_if(best.begin(), best.end(), [&](int c) { return order_[c] == 0; });
    const size_t before = (size_t)(first - best.begin());
    for (int p = 0; p < n_; p++) tour[p] = order_[best[(before + p) % n_]];
    return end;
  }

 private:
  // Numbering, candidate lists and start tour, as warptsp.backends.instance makes them.
  bool set_up(size_t number, Instance &instance, Given &given) {
    const int count = batch_.params.candidates;
    instance.candidates.resize((size_t)n_ * count);
    int *const lists = instance.candidates.data();
    given.kind = batch_.kind;
    if (batch_.points) {
      const int stride = (int)batch_.points->shape(2);
      const double *const points = batch_.points->data() + number * n_ * stride;
      const space::Curve curve = stride == 2 ? space::Curve::sierpinski : space::Curve::hilbert;
      if (!space::space_filling_curve(points, n_, stride, curve, 1, token_, order_.data())) return false;
      rows_.resize((size_t)n_ * stride);
      for (int c = 0; c < n_; c++)
        std::copy_n(points + (size_t)order_[c] * stride, stride, rows_.data() + (size_t)c * stride);
      instance.points = given.points = {rows_.data(), stride};
      instance.dimensions = stride;
      return space::candidate_lists(rows_.data(), n_, stride, count, batch_.per_quadrant, batch_.norm, false, 1, token_,
                                    lists) &&
             greedy_edge_points(rows_.data(), n_, stride, batch_.kind, batch_.norm, nullptr, 0, 1, token_,
                                start_.data());
    }
    std::iota(order_.begin(), order_.end(), 0);
    instance.points = given.points = {nullptr, 0};
    instance.dimensions = 0;
    const auto lists_and_start = [&](const auto *matrix) {
      const Matrix<std::decay_t<decltype(*matrix)>> distance{matrix, n_};
      return space::nearest_by_distance(n_, distance, count, 1, token_, lists) &&
             (batch_.per_quadrant == 0 ||
              space::spread_by_distance(n_, distance, count, batch_.per_quadrant, 1, token_, lists)) &&
             greedy_edge_matrix(matrix, n_, nullptr, 0, 1, token_, start_.data());
    };
    const size_t begin = number * n_ * n_;
    if (batch_.int_matrices) return lists_and_start(given.integers = batch_.int_matrices->data() + begin);
    return lists_and_start(given.reals = batch_.real_matrices->data() + begin);
  }

  // As warptsp.methods.lk.cpu does.
  End improve(TourSearch &search, unsigned long long seed) {
    const bool may_end = batch_.population.members > 0;
    const auto is_zero = [&] { return may_end && search.best_length() == 0; };
    if (is_zero()) return End::unsettled;
    search.optimize(std::numeric_limits<double>::infinity(), token_);
    if (is_zero()) return End::unsettled;
    if (batch_.trees > 0 && !token_.stopped() && search.prove(batch_.trees, token_)) return End::proved;
    const auto until_end = [&](End end, auto &&proceed) {
      for (unsigned long long round = 1;; round++) {
        const bool ended = !token_.stopped() && proceed(round);
        if (token_.stopped()) return End::stopped;
        if (is_zero()) return End::unsettled;
        if (ended) return end;
      }
    };
    if (may_end) {
      PopulationRun run(search, batch_.population);
      return until_end(End::crossed, [&](unsigned long long round) { return run.proceed(seed, round, 1, token_); });
    }
    Annealing annealing(search, n_, batch_.annealing);
    return until_end(End::all_kicks, [&](unsigned long long round) { return annealing.proceed(seed, round, token_); });
  }

  const Batch &batch_;
  const StopToken &token_;
  int n_;
  std::vector<int> order_, start_;  // the instance's city for each of the search's; a tour of these
  std::vector<double> rows_;
};

nb::tuple search_batch(const Batch &batch, const Array<const double, 1> &tolerances,
                       const Array<const unsigned long long, 1> &seeds, const StopToken &token) {
  const size_t count = batch.count(), n = (size_t)batch.cities();
  std::vector<int> tours(count * n, -1), ends(count, (int)End::none);
  std::vector<long long> kicks(count, 0);
  std::vector<double> seconds(count, 0.0);
  {
    const WithoutGil unlocked;
    BatchSearch search(batch, token);
    for (size_t i = 0; i < count && !token.stopped(); i++) {
      const double begun = monotonic_seconds();
      ends[i] = (int)search.run(i, tolerances(i), seeds(i), tours.data() + i * n, kicks[i]);
      seconds[i] = monotonic_seconds() - begun;
    }
  }
  return nb::make_tuple(to_numpy(std::move(tours), {count, n}), to_numpy(std::move(kicks), {count}),
                        to_numpy(std::move(seconds), {count}), to_numpy(std::move(ends), {count}));
}

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
  nb::class_<BoundSearch>(m, "TourSearch", "One tour and the Lin-Kernighan search that shortens it.")
      .def_static("create", make_search, nb::kw_only(), nb::arg("distances"), nb::arg("small_integers"),
                  nb::arg("dummy"), nb::arg("candidates"), nb::arg("tour"), nb::arg("fixed_edges").none(),
                  nb::arg("tolerance"), nb::arg("depth"), nb::arg("breadth"), nb::arg("segment"), nb::arg("walks"),
                  nb::arg("walk"), nb::arg("long_links"))
      .def(
          "optimize",
          [](BoundSearch &b, double seconds, StopToken &token) {
            bool complete = false;
            interruptible(token, [&] { complete = b.search->optimize(seconds, token); }, is_small(b));
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
                is_small(b) && count <= brief_kicks);
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
          "grow",
          [](BoundSearch &b, int count, double kicks_per_city, double temperature, int steps, unsigned long long seed,
             unsigned long long round, int threads, StopToken &token) {
            check_threads(threads);
            require(count >= 0, "count is " + std::to_string(count));
            require(kicks_per_city >= 0 && kicks_per_city <= 1e9, "kicks_per_city is out of range");
            require(steps >= 0, "steps is " + std::to_string(steps));
            interruptible(token, [&] {
              b.search->grow({count, kicks_per_city, temperature, seed, round, threads, steps}, token);
            });
          },
          nb::kw_only(), nb::arg("count"), nb::arg("kicks_per_city"), nb::arg("temperature"), nb::arg("steps"),
          nb::arg("seed"), nb::arg("round"), nb::arg("threads"), nb::arg("token"), "Adds new tours to the population.")
      .def(
          "generation",
          [](BoundSearch &b, int selection, bool blocks, unsigned long long seed, unsigned long long round, int threads,
             StopToken &token) {
            check_threads(threads);
            require(selection >= 1, "selection is " + std::to_string(selection) + "; at least 1 is needed");
            interruptible(token, [&] { b.search->generation(selection, blocks, seed, round, threads, token); });
          },
          nb::kw_only(), nb::arg("selection"), nb::arg("blocks"), nb::arg("seed"), nb::arg("round"), nb::arg("threads"),
          nb::arg("token"), "One generation of edge assembly crossover.")
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
          "keep", [](BoundSearch &b) { b.search->keep(); }, "Adds the best tour to the population.")
      .def(
          "keep_members", [](BoundSearch &b, int count) { b.search->keep_members(std::max(0, count)); },
          nb::arg("count"), "Leaves the shortest members, so many of them.")
      .def(
          "forget", [](BoundSearch &b) { b.search->forget(); }, "Empties the population.")
      .def_prop_ro("members", [](const BoundSearch &b) { return b.search->members(); })
      .def_prop_ro("mean_length", [](const BoundSearch &b) { return b.search->mean_length(); })
      .def(
          "end_round", [](BoundSearch &b) { b.search->end_round(); }, "Ends the round as it stands.")
      .def("return_to_best", [](BoundSearch &b) { b.search->return_to_best(); })
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
          [](nb::object search, int members, int at_once, int selection, int idle, int agreeing, int most) {
            const BoundSearch &b = nb::cast<const BoundSearch &>(search);
            const PopulationPlan plan{members, at_once, selection, idle, agreeing, most};
            check_plan(plan);
            return BoundPopulationRun{search, std::make_unique<PopulationRun>(*b.search, plan)};
          },
          nb::kw_only(), nb::arg("search"), nb::arg("members"), nb::arg("at_once"), nb::arg("selection"),
          nb::arg("idle"), nb::arg("agreeing"), nb::arg("most"))
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
                is_small(nb::cast<const BoundSearch &>(b.search)));
            return nb::make_tuple(ended, rounds);
          },
          nb::arg("seconds"), nb::arg("seed"), nb::arg("round"), nb::arg("threads"), nb::arg("token"),
          "Some new members, or a generation, and more of them for so long; whether the last population has come to "
          "its "
          "end, and how many rounds this took.");
  m.def(
      "search_batch",
      [](std::optional<Array<const double, 3>> points, std::optional<Array<const int, 3>> int_matrices,
         std::optional<Array<const double, 3>> real_matrices, int metric, int norm, bool small_integers,
         const Array<const double, 1> &tolerances, const Array<const unsigned long long, 1> &seeds, int candidates,
         int per_quadrant, int depth, const std::vector<int> &breadth, int segment, double walks, int walk,
         double long_links, long long trees, int members, int at_once, int selection, int idle, int agreeing, int most,
         long long kicks, long long step, double start, double cold, StopToken &token) {
        require((int)points.has_value() + (int)int_matrices.has_value() + (int)real_matrices.has_value() == 1,
                "points or matrices are needed, of one kind");
        require(kicks >= 0 && step >= 1 && cold >= 0 && cold < 1 && trees >= 0,
                "trees, kicks, step or cold is out of range");
        const PopulationPlan population{members, at_once, selection, idle, agreeing, most};
        check_plan(population);
        Batch batch{points ? (MetricKind)metric : MetricKind::matrix,
                    points,
                    int_matrices,
                    real_matrices,
                    small_integers,
                    norm,
                    per_quadrant,
                    params_of(candidates, depth, breadth, segment, walks, walk, long_links),
                    trees,
                    population,
                    {kicks, step, start, cold}};
        const size_t count = batch.count(), n = (size_t)batch.cities();
        require(n >= 8 && n <= brief_cities, std::to_string(n) + " cities; 8 to 1000 are possible");
        require(candidates >= 1 && (size_t)candidates < n && per_quadrant >= 0, "candidates are out of range");
        require(tolerances.shape(0) == count && seeds.shape(0) == count, "tolerances and seeds are not those of all");
        require(std::all_of(tolerances.data(), tolerances.data() + count, [](double t) { return t > 0 && t <= 1e300; }),
                "a tolerance is not positive");
        require(trees == 0 || n <= small::OneTreeSearch::most, "too many cities for a proof");
        if (points) {
          check_metric(metric, points->shape(2));
          require(norm >= 0 && norm <= 2 && per_quadrant <= candidates / 4 && !is_spherical(batch.kind),
                  "norm, per_quadrant or metric is out of range");
          const double longest = longest_coordinate_sum(*points);
          require(std::isfinite(longest) && (!small_integers || longest <= 4.0 * largest_small_distance),
                  "the points are not finite, or distances are too long for small integers");
        } else {
          require(int_matrices ? int_matrices->shape(2) == n : real_matrices->shape(2) == n, "a matrix is not square");
          require(int_matrices ? are_symmetric(*int_matrices) : are_symmetric(*real_matrices),
                  "a matrix is not symmetric, or a distance is negative or no number");
          require(!int_matrices ||
                      std::all_of(int_matrices->data(), int_matrices->data() + int_matrices->size(), is_small_entry),
                  "distances are too long for small integers");
        }
        return search_batch(batch, tolerances, seeds, token);
      },
      nb::kw_only(), nb::arg("points").none(), nb::arg("int_matrices").none(), nb::arg("real_matrices").none(),
      nb::arg("metric"), nb::arg("norm"), nb::arg("small_integers"), nb::arg("tolerances"), nb::arg("seeds"),
      nb::arg("candidates"), nb::arg("per_quadrant"), nb::arg("depth"), nb::arg("breadth"), nb::arg("segment"),
      nb::arg("walks"), nb::arg("walk"), nb::arg("long_links"), nb::arg("trees"), nb::arg("members"),
      nb::arg("at_once"), nb::arg("selection"), nb::arg("idle"), nb::arg("agreeing"), nb::arg("most"), nb::arg("kicks"),
      nb::arg("step"), nb::arg("start"), nb::arg("cold"), nb::arg("token"),
      "Tours of many instances of equally many cities, one after another: tours, kicks, seconds and how each ended.");
}
