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
  int n;
  double tolerance, scale;
  Distances distances;
  ClimbCounters counters;
  std::vector<ClimbedLine> lines;  // of climbers from perturbed optima

  Climbed climb(u64 seed, long long first, int count, int threads, const int *given, bool perturbed,
                const StopToken &token) {
    const GivenDistances source = distances.given();
    if (perturbed) lines.resize(perturbed_lines);
    const auto with = [&](const auto &make) {
      auto *const own_lines = perturbed ? &lines : nullptr;
      return exhaustive::climb(seed, first, count, threads, given, scale, own_lines, token, counters, make);
    };
    const auto of_metric = [&](const auto &metric, double least) {
      return with([&, metric, least] { return Climber(source, CityRows(metric, n), least); });
    };
    if (source.integers) return of_metric(Matrix<int>{source.integers, n}, 0.0);
    if (source.reals) return of_metric(Matrix<double>{source.reals, n}, tolerance);
    if (!PlaneRows<double>::suits(source))
      return of_metric(AnyCoordinates<double>{source.points, source.kind}, tolerance);
    return with([&] { return Climber(source, PlaneRows<double>(source, MoveOrder::ring), tolerance); });
  }
};

// Whether no sum overflows: those of distances in 32 bits, and of a tour, times `scale`, in 64.
bool climb_in_bounds(int n, double scale, const Distances &distances) {
  const auto &[kind, points, int_matrix, real_matrix] = distances;
  const auto within = [](const auto &values, double bound) {
    return std::all_of(values.data(), values.data() + values.size(),
                       [=](auto v) { return std::abs((double)v) <= bound; });
  };
  double longest = 0.0;
  if (points) longest = longest_distance((int)kind, *points);
  if (int_matrix) longest = 1 << 28;  // four are added up
  if (real_matrix) longest = *std::max_element(real_matrix->data(), real_matrix->data() + real_matrix->size());
  return scale > 0.0 && n * longest * scale < 0x1p63 && (!int_matrix || within(*int_matrix, longest)) &&
         (!real_matrix || within(*real_matrix, longest));
}

}  // namespace

void bind_hill_climbing(nb::module_ &m) {
  nb::class_<BoundClimbers>(m, "HillClimbers",
                            "Random-restart 2-opt on CPU threads; see native/papers/hill_climbing/hill_climbing.h.")
      .def(
          "__init__",
          [](BoundClimbers *self, const Distances &distances, double tolerance, double scale) {
            const int n = (int)distances.size();
            if (n < 4) throw nb::value_error("a climb needs 4 cities or more");
            require(climb_in_bounds(n, scale, distances), "distances are too long, or not finite");
            new (self) BoundClimbers{n, tolerance, scale, distances, {}, {}};
          },
          nb::kw_only(), nb::arg("distances"), nb::arg("tolerance"), nb::arg("scale"))
      .def(
          "climb",
          [](BoundClimbers &self, unsigned long long seed, long long first, int count, int threads,
             std::optional<Array<const int, 1>> given, bool perturbed, StopToken &token) {
            check_threads(threads);
            require(count >= 0, "count is " + std::to_string(count));
            require(first >= 0, "first is " + std::to_string(first));
            if (given) check_tour(given->data(), given->shape(0), self.n);
            const int *const start = given ? given->data() : nullptr;
            Climbed climbed =
                interruptible(token, [&] { return self.climb(seed, first, count, threads, start, perturbed, token); });
            return std::make_tuple(to_numpy(std::move(climbed.lengths)), climbed.best,
                                   to_numpy(std::move(climbed.tour)));
          },
          nb::kw_only(), nb::arg("seed"), nb::arg("first"), nb::arg("count"), nb::arg("threads"),
          nb::arg("given").none(), nb::arg("perturbed"), nb::arg("token"))
      .def_prop_ro("climbers", [](const BoundClimbers &self) { return self.counters.climbers.load(); })
      .def_prop_ro("passes", [](const BoundClimbers &self) { return self.counters.passes.load(); })
      .def_prop_ro("moves", [](const BoundClimbers &self) { return self.counters.moves.load(); });
}
