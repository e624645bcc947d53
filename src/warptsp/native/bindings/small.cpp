// Optimal tours of a few cities: warptsp.methods.exact and warptsp.many; and warptsp.claims, which checks them.
#include <nanobind/stl/optional.h>

#include <string>

#include "arrays.h"
#include "small/optimal_tour.h"
#include "small/shorter_tour.h"

using namespace warptsp;
using namespace warptsp::small;

namespace {

// Cities up to which one instance takes less than a millisecond.
constexpr size_t instant_cities = 12;

// Of a search for a shorter tour: some tenths of a second.
constexpr int most_steps = 10'000'000;

// Sums over a tour must neither overflow nor be no number.
constexpr double longest_real = 1e300;
constexpr long long longest_integer = 1ll << 57;

bool is_measured(double d) { return d >= 0 && d <= longest_real; }
bool is_measured(long long d) { return d >= 0 && d <= longest_integer; }

typedef std::optional<Array<const int, 2>> Pairs;

// Checks the arguments of both functions; the instance has the first of the matrices.
template <class V>
FewCities<V> first_of(const Array<const V, 3> &distances, bool open, int start, int end, const Pairs &fixed_edges,
                      bool directed) {
  const size_t n = distances.shape(1);
  require(distances.shape(2) == n, "a matrix of distances is not square");
  require(n >= 1 && n <= most_in_subsets,
          std::to_string(n) + " cities; 1 to " + std::to_string(most_in_subsets) + " are possible");
  require(start >= -1 && start < (int)n && end >= -1 && end < (int)n && (open || (start < 0 && end < 0)),
          "the start or the end is not a city, or of no path");
  require(std::all_of(distances.data(), distances.data() + distances.size(), [](V d) { return is_measured(d); }),
          "a distance is negative, not finite, or too long");
  FewCities<V> cities{distances.data(), (int)n, open, start, end, nullptr, 0, directed};
  if (!fixed_edges || fixed_edges->shape(0) == 0) return cities;
  require(fixed_edges->shape(1) == 2 && std::all_of(fixed_edges->data(), fixed_edges->data() + fixed_edges->size(),
                                                    [&](int c) { return c >= 0 && c < (int)n; }),
          "fixed edges are not pairs of cities");
  cities.fixed = fixed_edges->data();
  cities.fixed_edges = (int)fixed_edges->shape(0);
  return cities;
}

template <class V>
FilledArray bind_optimal_tours(const Array<const V, 3> &distances, StopToken &token, bool open, int start, int end,
                               const Pairs &fixed_edges, bool directed) {
  FewCities<V> cities = first_of(distances, open, start, end, fixed_edges, directed);
  const size_t count = distances.shape(0), n = distances.shape(1);
  std::vector<int> tours(count * n);
  bool complete = true;
  interruptible(
      token,
      [&] {
        OptimalTours<V> optimal;
        for (size_t i = 0; i < count && complete; i++, cities.distances += n * n)
          complete = optimal.solve(cities, token, tours.data() + i * n);
      },
      n <= instant_cities);
  if (!complete) return std::nullopt;
  require(std::find(tours.begin(), tours.end(), -1) == tours.end(), "no tour has these ends and fixed edges");
  return to_numpy(std::move(tours), {count, n});
}

template <class V>
NumpyArray<int> bind_shorter_tours(const Array<const V, 3> &distances, const Array<const V, 1> &lengths, int steps,
                                   bool open, int start, int end, const Pairs &fixed_edges, bool directed) {
  FewCities<V> cities = first_of(distances, open, start, end, fixed_edges, directed);
  const size_t count = distances.shape(0), n = distances.shape(1);
  require(lengths.shape(0) == count, "lengths and matrices differ in number");
  require(steps >= 0 && steps <= most_steps, "steps are negative or too many");
  std::vector<int> found(count);  // 0 or 1
  ShorterTour<V> shorter;
  for (size_t i = 0; i < count; i++, cities.distances += n * n)
    found[i] = shorter.find(cities, lengths.data()[i], steps);
  return to_numpy(std::move(found));
}

template <class V>
void bind_small_of(nb::module_ &m) {
  using nb::arg;
  m.def("optimal_tours", bind_optimal_tours<V>, arg("distances"), arg("token"), nb::kw_only(), arg("open") = false,
        arg("start") = -1, arg("end") = -1, arg("fixed_edges") = nb::none(), arg("directed") = false,
        "An optimal tour of each matrix, closed ones from city 0 on; None if stopped.");
  m.def("shorter_tours", bind_shorter_tours<V>, arg("distances"), arg("lengths"), arg("steps"), nb::kw_only(),
        arg("open") = false, arg("start") = -1, arg("end") = -1, arg("fixed_edges") = nb::none(),
        arg("directed") = false,
        "Whether a tour of each matrix is shorter than its length, by so many steps, or else dynamic programming.");
}

}  // namespace

void bind_small(nb::module_ &m) {
  bind_small_of<long long>(m);
  bind_small_of<double>(m);
}
