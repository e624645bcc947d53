// Many small, plain instances of equally many cities, for Python: warptsp.many drives them.
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>

#include <algorithm>
#include <cmath>
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

// Many instances of the same number of cities, one after another: the batch of warptsp.many.
typedef DistancesIn<3> Batch;

double longest_distance_in(const Batch &batch) {
  const size_t n = batch.size(), columns = batch.points->shape(2);
  double longest = 0;
  for (size_t i = 0; i < batch.extent(0); i++)
    longest = larger(longest_distance((int)batch.kind, batch.points->data() + i * n * columns, n, columns), longest);
  return longest;
}

Batch of_points(int metric, const Array<const double, 3> &points) {
  const Batch batch = Batch::of_points(metric, points);
  require(!on_sphere(batch.kind), "metric is out of range");
  require(std::isfinite(longest_distance_in(batch)), "the points are not finite");
  return batch;
}

template <class V>
Batch of_matrices(const Array<const V, 3> &matrices) {
  const Batch batch = Batch::of_matrix(matrices);
  require(are_symmetric(matrices), "a matrix is not symmetric, or a distance is negative or no number");
  if constexpr (std::is_same_v<V, int>) check_small_entries(matrices.data(), matrices.size());
  return batch;
}

void check(const Batch &batch, const BatchSearchPlan &plan) {
  const size_t n = batch.size();
  require(n >= 8 && n <= brief_cities, std::to_string(n) + " cities; 8 to 1000 are possible");
  require(plan.candidates >= 1 && (size_t)plan.candidates < n && plan.per_quadrant >= 0 &&
              (!batch.points || plan.per_quadrant <= plan.candidates / 4),
          "candidates or per_quadrant is out of range");
  require(plan.trees >= 0 && (plan.trees == 0 || n <= small::OneTreeSearch::most), "too many cities for a proof");
  const PopulationPlan *const population = std::get_if<PopulationPlan>(&plan.search);
  require(population == nullptr || population->members > 0, "a population without members");
  if (batch.points && plan.small_integers) check_small_points(longest_distance_in(batch));
}

auto search_batch(const Batch &batch, const Array<const double, 1> &tolerances,
                  const Array<const unsigned long long, 1> &seeds, bool small_integers, int candidates,
                  int per_quadrant, const LkParams &params, long long trees,
                  const std::variant<PopulationPlan, AnnealingPlan> &of_one, const StopToken &token) {
  const size_t count = batch.extent(0), n = batch.size();
  const BatchSearchPlan plan{small_integers, candidates, per_quadrant, params, trees, of_one};
  check(batch, plan);
  require(tolerances.shape(0) == count && seeds.shape(0) == count, "tolerances and seeds are not those of all");
  require(std::all_of(tolerances.data(), tolerances.data() + count, [](double t) { return t > 0 && t <= 1e300; }),
          "a tolerance is not positive");
  std::vector<int> tours(count * n, -1), ends(count, (int)BatchEnd::none);
  std::vector<long long> kicks(count, 0);
  std::vector<double> seconds(count, 0.0);
  {
    const WithoutGil unlocked;
    BatchSearch search(batch.given(), (int)n, plan, &make_tour_search, token);
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
      .def_static("of_points", &of_points, "metric"_a, "points"_a)
      .def_static("of_matrices", &of_matrices<int>, "matrices"_a)
      .def_static("of_matrices", &of_matrices<double>, "matrices"_a)
      .def("search", &search_batch, nb::kw_only(), "tolerances"_a, "seeds"_a, "small_integers"_a, "candidates"_a,
           "per_quadrant"_a, "params"_a, "trees"_a, "plan"_a, "token"_a,
           "Tours, kicks, seconds and how each ended. An annealing ends with its kicks; populations by themselves, and "
           "before them a proof that may take so many 1-trees.");
}
