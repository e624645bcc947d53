// Optimal tours of a few cities: warptsp.methods.exact and warptsp.many.
#include <nanobind/stl/optional.h>

#include <string>

#include "arrays.h"
#include "small/optimal_tour.h"

using namespace warptsp;
using namespace warptsp::small;

namespace {

// Cities up to which one instance takes less than a millisecond.
constexpr size_t instant_cities = 12;

// Sums over a tour must neither overflow nor be no number.
constexpr double longest_real = 1e300;
constexpr long long longest_integer = 1ll << 57;

bool is_measured(double d) { return d >= -longest_real && d <= longest_real; }
bool is_measured(long long d) { return d >= -longest_integer && d <= longest_integer; }

template <class V>
nb::object bind_optimal_tours(const Array<const V, 3> &distances, int start, int end, StopToken &token) {
  const size_t count = distances.shape(0), n = distances.shape(1);
  require(distances.shape(2) == n, "a matrix of distances is not square");
  require(n >= 1 && n <= most_in_subsets,
          std::to_string(n) + " cities; 1 to " + std::to_string(most_in_subsets) + " are possible");
  require(start >= 0 && (size_t)start < n && end >= 0 && (size_t)end < n, "the start or the end is not a city");
  require(std::all_of(distances.data(), distances.data() + distances.size(), [](V d) { return is_measured(d); }),
          "a distance is not finite, or too long");
  std::vector<int> tours(count * n);
  bool complete = true;
  interruptible(
      token,
      [&] {
        OptimalTours<V> optimal;
        for (size_t i = 0; i < count && complete; i++)
          complete = optimal.solve(distances.data() + i * n * n, (int)n, start, end, token, tours.data() + i * n);
      },
      n <= instant_cities);
  if (!complete) return nb::none();
  return nb::cast(to_numpy(std::move(tours), {count, n}));
}

}  // namespace

void bind_small(nb::module_ &m) {
  using nb::arg;
  m.def("optimal_tours", bind_optimal_tours<long long>, arg("distances"), arg("start"), arg("end"), arg("token"),
        "An optimal tour of each matrix from `start` on, which returns to `end`; None if stopped.");
  m.def("optimal_tours", bind_optimal_tours<double>, arg("distances"), arg("start"), arg("end"), arg("token"));
}
