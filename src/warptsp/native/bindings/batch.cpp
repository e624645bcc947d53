// Many small, plain instances of equally many cities, for Python: warptsp.many drives them.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>

#include <algorithm>
#include <optional>
#include <variant>

#include "lk/batch_search.h"
#include "search.h"

using namespace warptsp;
using namespace warptsp::lk;

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
  Given given() const {
    return {kind, points ? Points{points->data(), (int)points->shape(2)} : Points{nullptr, 0},
            int_matrices ? int_matrices->data() : nullptr, real_matrices ? real_matrices->data() : nullptr};
  }
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

void check(const Batch &batch, const BatchSearchPlan &plan) {
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
                  const Array<const unsigned long long, 1> &seeds, const BatchSearchPlan &plan,
                  const StopToken &token) {
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
    BatchSearch search(batch.given(), batch.cities(), plan, &make_tour_search, token);
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
