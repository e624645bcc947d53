// Many small, plain instances of equally many cities, for Python: warptsp.many drives them.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <variant>

#include "lk/annealing.h"
#include "lk/batch_end.h"
#include "lk/population_run.h"
#include "search.h"
#include "space/candidates.h"
#include "space/curve.h"
#include "space/spread_candidates.h"
#include "tours/greedy.h"

using namespace warptsp;
using namespace warptsp::lk;
using namespace warptsp::tours;

namespace {

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

// Many instances of the same number of cities, one after another: the batch of warptsp.many.
struct Batch {
  MetricKind kind = MetricKind::matrix;
  std::optional<Array<const double, 3>> points;
  std::optional<Array<const int, 3>> int_matrices;
  std::optional<Array<const double, 3>> real_matrices;

  size_t extent(size_t axis) const {
    return points ? points->shape(axis) : int_matrices ? int_matrices->shape(axis) : real_matrices->shape(axis);
  }
  size_t count() const { return extent(0); }
  int cities() const { return (int)extent(1); }
};

// How each of them is searched. A population ends by itself, an annealing after its kicks.
struct BatchPlan {
  bool small_integers;
  int candidates, per_quadrant;
  LkParams params;
  long long trees;  // that a proof may take; 0: there is none
  std::variant<PopulationPlan, AnnealingPlan> search;
};

class BatchSearch {
 public:
  BatchSearch(const Batch &batch, const BatchPlan &plan, const StopToken &token)
      : batch_(batch), plan_(plan), token_(token), n_(batch.cities()), order_(n_), start_(n_) {}

  // The tour of one instance, from its first city on.
  BatchEnd run(size_t number, double tolerance, unsigned long long seed, int *tour, long long &kicks) {
    Instance instance;
    instance.size = n_;
    instance.kind = batch_.kind;
    instance.params = plan_.params;
    instance.params.candidates = plan_.candidates;
    Given given{};
    if (!set_up(number, instance, given)) return BatchEnd::none;
    const std::unique_ptr<TourSearch> search =
        make_tour_search(given, plan_.small_integers, false, std::move(instance), std::vector<int>(start_), tolerance);
    const BatchEnd end = improve(*search, seed);
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
    const int count = plan_.candidates;
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
      return space::candidate_lists(rows_.data(), n_, stride, count, plan_.per_quadrant,
                                    (int)facts_of(batch_.kind).norm, false, 1, token_, lists) &&
             greedy_edge_points(rows_.data(), n_, stride, batch_.kind, nullptr, 0, 1, token_, start_.data());
    }
    std::iota(order_.begin(), order_.end(), 0);
    instance.points = given.points = {nullptr, 0};
    instance.dimensions = 0;
    const auto lists_and_start = [&](const auto *matrix) {
      const Matrix<std::decay_t<decltype(*matrix)>> distance{matrix, n_};
      return space::nearest_by_distance(n_, distance, count, 1, token_, lists) &&
             (plan_.per_quadrant == 0 ||
              space::spread_by_distance(n_, distance, count, plan_.per_quadrant, 1, token_, lists)) &&
             greedy_edge_matrix(matrix, n_, nullptr, 0, 1, token_, start_.data());
    };
    const size_t begin = number * n_ * n_;
    if (batch_.int_matrices) return lists_and_start(given.integers = batch_.int_matrices->data() + begin);
    return lists_and_start(given.reals = batch_.real_matrices->data() + begin);
  }

  // As warptsp.methods.lk.cpu does.
  BatchEnd improve(TourSearch &search, unsigned long long seed) {
    const PopulationPlan *const population = std::get_if<PopulationPlan>(&plan_.search);
    const auto is_zero = [&] { return population && search.best_length() == 0; };
    if (is_zero()) return BatchEnd::unsettled;
    search.optimize(std::numeric_limits<double>::infinity(), token_);
    if (is_zero()) return BatchEnd::unsettled;
    if (plan_.trees > 0 && !token_.stopped() && search.prove(plan_.trees, token_)) return BatchEnd::proved;
    const auto until_end = [&](BatchEnd end, auto &&proceed) {
      for (unsigned long long round = 1;; round++) {
        const bool ended = !token_.stopped() && proceed(round);
        if (token_.stopped()) return BatchEnd::stopped;
        if (is_zero()) return BatchEnd::unsettled;
        if (ended) return end;
      }
    };
    if (population) {
      PopulationRun run(search, *population);
      return until_end(BatchEnd::settled,
                       [&](unsigned long long round) { return run.proceed(seed, round, 1, token_); });
    }
    Annealing annealing(search, n_, std::get<AnnealingPlan>(plan_.search));
    return until_end(BatchEnd::all_kicks,
                     [&](unsigned long long round) { return annealing.proceed(seed, round, token_); });
  }

  const Batch &batch_;
  const BatchPlan &plan_;
  const StopToken &token_;
  int n_;
  std::vector<int> order_, start_;  // the instance's city for each of the search's; a tour of these
  std::vector<double> rows_;
};

Batch of_points(int metric, Array<const double, 3> points) {
  check_metric(metric, points.shape(2));
  require(!on_sphere((MetricKind)metric), "metric is out of range");
  require(std::isfinite(longest_coordinate_sum(points)), "the points are not finite");
  return {(MetricKind)metric, points, {}, {}};
}

template <class V>
Batch of_matrices(Array<const V, 3> matrices) {
  require(matrices.shape(1) == matrices.shape(2), "a matrix is not square");
  require(are_symmetric(matrices), "a matrix is not symmetric, or a distance is negative or no number");
  Batch batch;
  if constexpr (std::is_same_v<V, int>) {
    require(std::all_of(matrices.data(), matrices.data() + matrices.size(), is_small_entry),
            "distances are too long for small integers");
    batch.int_matrices = matrices;
  } else {
    batch.real_matrices = matrices;
  }
  return batch;
}

void check(const Batch &batch, const BatchPlan &plan) {
  const size_t n = (size_t)batch.cities();
  require(n >= 8 && n <= brief_cities, std::to_string(n) + " cities; 8 to 1000 are possible");
  require(plan.candidates >= 1 && (size_t)plan.candidates < n && plan.per_quadrant >= 0 &&
              (!batch.points || plan.per_quadrant <= plan.candidates / 4),
          "candidates or per_quadrant is out of range");
  require(plan.trees >= 0 && (plan.trees == 0 || n <= small::OneTreeSearch::most), "too many cities for a proof");
  const PopulationPlan *const population = std::get_if<PopulationPlan>(&plan.search);
  require(population == nullptr || population->members > 0, "a population without members");
  require(
      !batch.points || !plan.small_integers || longest_coordinate_sum(*batch.points) <= 4.0 * largest_small_distance,
      "distances are too long for small integers");
}

auto search_batch(const Batch &batch, const Array<const double, 1> &tolerances,
                  const Array<const unsigned long long, 1> &seeds, const BatchPlan &plan, const StopToken &token) {
  const size_t count = batch.count(), n = (size_t)batch.cities();
  check(batch, plan);
  require(tolerances.shape(0) == count && seeds.shape(0) == count, "tolerances and seeds are not those of all");
  require(std::all_of(tolerances.data(), tolerances.data() + count, [](double t) { return t > 0 && t <= 1e300; }),
          "a tolerance is not positive");
  std::vector<int> tours(count * n, -1), ends(count, (int)BatchEnd::none);
  std::vector<long long> kicks(count, 0);
  std::vector<double> seconds(count, 0.0);
  {
    const WithoutGil unlocked;
    BatchSearch search(batch, plan, token);
    for (size_t i = 0; i < count && !token.stopped(); i++) {
      const double begun = monotonic_seconds();
      ends[i] = (int)search.run(i, tolerances(i), seeds(i), tours.data() + i * n, kicks[i]);
      seconds[i] = monotonic_seconds() - begun;
    }
  }
  return std::make_tuple(to_numpy(std::move(tours), {count, n}), to_numpy(std::move(kicks)),
                         to_numpy(std::move(seconds)), to_numpy(std::move(ends)));
}

}  // namespace

void bind_batch(nb::module_ &m) {
  nb::enum_<BatchEnd>(m, "BatchEnd", nb::is_arithmetic(), "How the search of one of many instances ended.")
      .value("NONE", BatchEnd::none, "It was not begun.")
      .value("PROVED", BatchEnd::proved, "No tour is shorter.")
      .value("SETTLED", BatchEnd::settled, "Several searches ended with one length.")
      .value("ALL_KICKS", BatchEnd::all_kicks, "As many as were asked for.")
      .value("UNSETTLED", BatchEnd::unsettled, "No search agreed with another one, or it is a matter for `solve`.")
      .value("STOPPED", BatchEnd::stopped, "By the token.");
  nb::class_<Batch>(m, "Batch", "Many instances of equally many cities, which are searched one after another.")
      .def_static("of_points", &of_points, nb::arg("metric"), nb::arg("points"))
      .def_static("of_matrices", &of_matrices<int>, nb::arg("matrices"))
      .def_static("of_matrices", &of_matrices<double>, nb::arg("matrices"))
      .def(
          "search",
          [](const Batch &batch, const Array<const double, 1> &tolerances,
             const Array<const unsigned long long, 1> &seeds, bool small_integers, int candidates, int per_quadrant,
             const LkParams &params, long long trees, const std::variant<PopulationPlan, AnnealingPlan> &plan,
             const StopToken &token) {
            return search_batch(batch, tolerances, seeds,
                                {small_integers, candidates, per_quadrant, params, trees, plan}, token);
          },
          nb::kw_only(), nb::arg("tolerances"), nb::arg("seeds"), nb::arg("small_integers"), nb::arg("candidates"),
          nb::arg("per_quadrant"), nb::arg("params"), nb::arg("trees"), nb::arg("plan"), nb::arg("token"),
          "Tours, kicks, seconds and how each ended. An annealing ends with its kicks; populations by themselves, and "
          "before them a proof that may take so many 1-trees.");
}
