// Hill climbers on CPU threads, for Python: warptsp.papers.hill_climbing.climbing drives them.
#include "papers/hill_climbing/hill_climbing.h"

#include <nanobind/stl/optional.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "distances.h"

using namespace warptsp;
using namespace warptsp::exhaustive;

namespace {

struct BoundClimbers {
  int n = 0;
  bool rounded = false;
  double tolerance = 0, scale = 1;
  Distances distances;
  Array<const float, 2> near;  // of the plane's points; empty for other metrics
  ClimbCounters counters;
  std::vector<ClimbedLine> lines;  // of climbers from perturbed optima

  template <class Use>
  Climbed with_descent(Use &&use) const {
    if (distances.int_matrix)
      return use.template of<CityDescent<Matrix<int>>>(
          [this] { return CityDescent<Matrix<int>>({distances.integers(), n}, n, 0); });
    if (distances.real_matrix)
      return use.template of<CityDescent<Matrix<double>>>(
          [this] { return CityDescent<Matrix<double>>({distances.reals(), n}, n, tolerance); });
    if (near.shape(0) > 0) return with_plane(use);
    return use.template of<CityDescent<AnyCoordinates<double>>>(
        [this] { return CityDescent<AnyCoordinates<double>>({distances.rows(), distances.kind}, n, tolerance); });
  }

  template <class Use>
  Climbed with_plane(Use &&use) const {
    return with_euclidean(distances.kind, [&](auto kind) {
      constexpr MetricKind exact = decltype(kind)::value;
      return rounded ? with_kinds<exact, exact>(use) : with_kinds<exact, MetricKind::exact_2d>(use);
    });
  }
  template <MetricKind exact, MetricKind fast, class Use>
  Climbed with_kinds(Use &&use) const {
    return use.template of<PlaneDescent<exact, fast>>(
        [this] { return PlaneDescent<exact, fast>(distances.rows().rows, near.data(), n, tolerance); });
  }
};

// Whether no sum overflows: those of distances in 32 bits, and of a tour, times `scale`, in 64.
bool climb_in_bounds(int n, double scale, const Distances &distances, const Array<const float, 2> &near) {
  const auto &[kind, points, int_matrix, real_matrix] = distances;
  const auto within = [](const auto &values, double bound) {
    return std::all_of(values.data(), values.data() + values.size(),
                       [=](auto v) { return std::abs((double)v) <= bound; });
  };
  double longest = 0.0;
  if (points) longest = longest_distance((int)kind, *points);
  if (int_matrix) longest = 1 << 28;  // four are added up
  if (real_matrix) longest = *std::max_element(real_matrix->data(), real_matrix->data() + real_matrix->size());
  return scale > 0.0 && n * longest * scale < 0x1p63 &&
         (near.shape(0) == 0 || (longest < 1e150 && within(near, 1e18))) &&
         (!int_matrix || within(*int_matrix, longest)) && (!real_matrix || within(*real_matrix, longest));
}

struct Climb {
  u64 seed;
  long long first;
  int count, threads;
  const int *given;
  double scale;
  std::vector<ClimbedLine> *lines;
  const StopToken &token;
  ClimbCounters &counters;
  template <class Descent, class Make>
  Climbed of(Make &&make) {
    return climb<Descent>(seed, first, count, threads, given, scale, lines, token, counters, make);
  }
};

}  // namespace

void bind_hill_climbing(nb::module_ &m) {
  nb::class_<BoundClimbers>(m, "HillClimbers",
                            "Random-restart 2-opt on CPU threads; see native/papers/hill_climbing/hill_climbing.h.")
      .def(
          "__init__",
          [](BoundClimbers *self, const Distances &distances, bool rounded, double tolerance, double scale,
             Array<const float, 2> near) {
            const int n = (int)distances.size();
            if (n < 4) throw nb::value_error("a climb needs 4 cities or more");
            if (near.shape(0) > 0 && ((int)near.shape(0) != n || near.shape(1) != 2 || distances.rows().stride != 2))
              throw nb::value_error("near are not the points of the plane");
            require(climb_in_bounds(n, scale, distances, near), "distances are too long, or not finite");
            new (self) BoundClimbers();
            self->n = n;
            self->rounded = rounded;
            self->tolerance = tolerance;
            self->scale = scale;
            self->distances = distances;
            self->near = near;
          },
          nb::kw_only(), nb::arg("distances"), nb::arg("rounded"), nb::arg("tolerance"), nb::arg("scale"),
          nb::arg("near"))
      .def(
          "climb",
          [](BoundClimbers &self, unsigned long long seed, long long first, int count, int threads,
             std::optional<Array<const int, 1>> given, bool perturbed, StopToken &token) {
            check_threads(threads);
            require(count >= 0, "count is " + std::to_string(count));
            require(first >= 0, "first is " + std::to_string(first));
            if (perturbed) self.lines.resize(perturbed_lines);
            if (given) check_tour(given->data(), given->shape(0), self.n);
            Climbed climbed;
            interruptible(token, [&] {
              climbed = self.with_descent(Climb{seed, first, count, threads, given ? given->data() : nullptr,
                                                self.scale, perturbed ? &self.lines : nullptr, token, self.counters});
            });
            return std::make_tuple(to_numpy(std::move(climbed.lengths)), climbed.best,
                                   to_numpy(std::move(climbed.tour)));
          },
          nb::kw_only(), nb::arg("seed"), nb::arg("first"), nb::arg("count"), nb::arg("threads"),
          nb::arg("given").none(), nb::arg("perturbed"), nb::arg("token"))
      .def_prop_ro("climbers", [](const BoundClimbers &self) { return self.counters.climbers.load(); })
      .def_prop_ro("passes", [](const BoundClimbers &self) { return self.counters.passes.load(); })
      .def_prop_ro("moves", [](const BoundClimbers &self) { return self.counters.moves.load(); });
}
