// The Held-Karp lower bound, for Python: warptsp.bound calls it.
#include "bound/lower_bound.h"

#include <nanobind/stl/optional.h>

#include <optional>

#include "arrays.h"

using namespace warptsp;
using namespace warptsp::bound;
using namespace warptsp::space;

namespace {

// Whether a path or closed tour takes every fixed edge.
void check_fixed_in_tour(const std::vector<int> &fixed, const int *tour, size_t n, bool open) {
  std::vector<int> place(n);
  for (size_t p = 0; p < n; ++p) place[tour[p]] = (int)p;
  for (size_t k = 0; k < fixed.size(); ++k) {
    if (fixed[k] < 0) continue;
    const int apart = std::abs(place[k / 2] - place[fixed[k]]);
    require(apart == 1 || (!open && apart == (int)n - 1), "the tour does not take every fixed edge");
  }
}

nb::object bind_held_karp(int kind, const std::optional<Array<const double, 2>> &points,
                          const std::optional<Array<const int, 2>> &int_matrix,
                          const std::optional<Array<const double, 2>> &real_matrix, int norm,
                          const Array<const int, 1> &tour, const Edges &fixed_edges, bool open, int start, int end,
                          int rounds, int threads, StopToken &token) {
  const size_t n = tour.shape(0);
  check_threads(threads);
  check_distances(kind, points, int_matrix, real_matrix, n);
  require(n >= 3 && n < 0x7fffffff, std::to_string(n) + " cities; 3 to 2^31 - 2 are possible");
  require(norm >= 0 && norm <= 2, "norm is " + std::to_string(norm) + "; 2, 1 or 0 (maximum) are possible");
  require(rounds >= 1, "rounds is " + std::to_string(rounds) + "; at least 1 is needed");
  check_tour(tour.data(), n, n);
  check_fixed_edges(fixed_edges, n);
  const int ends[2] = {start, end};
  check_cities(ends, 2, -1, n, "an end of the path");
  require(open ? start < 0 || start != end : start < 0 && end < 0, "only a path has ends, and they differ");
  // Lengths of tours are integers of 63 bits, or doubles whose sums are finite.
  if (points)
    require(longest_distance(kind, *points) < (is_integral((MetricKind)kind) ? 0x1p62 : 1e300),
            "the points are not finite, or too far apart");
  TourShape shape;
  shape.open = open;
  shape.start = start;
  shape.end = end;
  std::vector<int> degree(n, 0);
  for (size_t e = 0; e < 2 * fixed_edges.shape(0); ++e)
    require(++degree[fixed_edges.data()[e]] <= 2, "more than two fixed edges meet in a city");
  shape.fixed = fixed_partners(fixed_edges, (int)n);
  check_fixed_in_tour(shape.fixed, tour.data(), n, open);

  std::optional<LowerBound> found;
  interruptible(token, [&] {
    if (int_matrix)
      found = lower_bound_matrix(int_matrix->data(), (int)n, tour.data(), shape, rounds, threads, token);
    else if (real_matrix)
      found = lower_bound_matrix(real_matrix->data(), (int)n, tour.data(), shape, rounds, threads, token);
    else if (points->shape(1) == 2)
      found = lower_bound_points<2>(points->data(), (int)n, (MetricKind)kind, norm, tour.data(), shape, rounds, threads,
                                    token);
    else
      found = lower_bound_points<3>(points->data(), (int)n, (MetricKind)kind, norm, tour.data(), shape, rounds, threads,
                                    token);
  });
  if (!found) return nb::none();
  nb::dict answer;
  answer["value"] = found->bound.value;
  answer["exponent"] = found->exponent;
  answer["root"] = found->bound.root;
  answer["rounds"] = found->bound.rounds;
  answer["certified"] = found->bound.certified;
  answer["edges"] = found->edges;
  answer["potentials"] = to_numpy(std::move(found->bound.potential), {n});
  return answer;
}

}  // namespace

void bind_bound(nb::module_ &m) {
  using nb::arg;
  m.def(
      "held_karp", bind_held_karp, arg("kind"), arg("points").none(), arg("int_matrix").none(),
      arg("real_matrix").none(), arg("norm"), arg("tour"), arg("fixed_edges"), arg("open"), arg("start"), arg("end"),
      arg("rounds"), arg("threads"), arg("token"),
      "A bound below every tour, in whole numbers of 2^-exponent, with the potentials that prove it; None if the token "
      "stopped it before there was one.");
}
