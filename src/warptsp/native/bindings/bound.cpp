// The Held-Karp lower bound, for Python: warptsp.bound calls it.
#include "bound/lower_bound.h"

#include <nanobind/stl/optional.h>

#include <optional>

#include "distances.h"

using namespace warptsp;
using namespace warptsp::bound;
using namespace warptsp::space;

namespace {

// As Python has it, from here or from a GPU.
struct HeldKarpBound {
  int64_t value;
  int exponent, root, rounds;
  bool certified;
  NumpyArray<int> potentials;
};

struct AscentSchedule {};

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

std::optional<HeldKarpBound> bind_held_karp(const Distances &distances, const Array<const int, 1> &tour,
                                            const Edges &fixed_edges, bool open, int start, int end,
                                            const std::optional<Array<const int, 1>> &further, int rounds, int threads,
                                            StopToken &token) {
  const size_t n = tour.shape(0);
  check_threads(threads);
  distances.check_size(n);
  require(n >= 3 && n < 0x7fffffff, std::to_string(n) + " cities; 3 to 2^31 - 2 are possible");
  require(rounds >= 1, "rounds is " + std::to_string(rounds) + "; at least 1 is needed");
  check_tour(tour.data(), n, n);
  check_fixed_edges(fixed_edges, n);
  const int ends[2] = {start, end};
  check_cities(ends, 2, -1, n, "an end of the path");
  require(open ? start < 0 || start != end : start < 0 && end < 0, "only a path has ends, and they differ");
  // Lengths of tours are integers of 63 bits, or doubles whose sums are finite.
  if (distances.points)
    require(longest_distance((int)distances.kind, *distances.points) < (is_integral(distances.kind) ? 0x1p62 : 1e300),
            "the points are not finite, or too far apart");
  TourShape shape;
  shape.open = open;
  shape.start = start;
  shape.end = end;
  if (fixed_edges.shape(0) > 0) {
    std::vector<int> degree(n, 0);
    for (size_t e = 0; e < 2 * fixed_edges.shape(0); ++e)
      require(++degree[fixed_edges.data()[e]] <= 2, "more than two fixed edges meet in a city");
  }
  shape.fixed = fixed_partners(fixed_edges, (int)n);
  check_fixed_in_tour(shape.fixed, tour.data(), n, open);
  if (further) {
    require(further->shape(0) == n, "further has another length than the tour");
    shape.further.assign(further->data(), further->data() + n);
    for (size_t v = 0; v < n; ++v) {
      const bool constrained = (int)v == start || (int)v == end || shape.fixed_at((int)v, 0) >= 0;
      require(shape.further[v] >= 0 && (shape.further[v] == 0 || !constrained),
              "further cities: a number is negative, or their place is an end or has a fixed edge");
    }
  }

  const auto of_points = [&](Points points) {
    const auto bound = points.stride == 2 ? &lower_bound_points<2> : &lower_bound_points<3>;
    return bound(points.rows, (int)n, distances.kind, tour.data(), shape, rounds, threads, token);
  };
  const auto of_matrix = [&](const auto &matrix) {
    return lower_bound_matrix(matrix.entries, (int)n, tour.data(), shape, rounds, threads, token);
  };
  std::optional<LowerBound> found = interruptible(token, [&] { return distances.use(of_points, of_matrix); });
  if (!found) return std::nullopt;
  CertifiedBound &bound = found->bound;
  return HeldKarpBound{bound.value,  found->exponent, bound.root,
                       bound.rounds, bound.certified, to_numpy(std::move(bound.potential))};
}

// For an ascent elsewhere: the clusters of a spanning tree, given by its edges and their lengths.
std::optional<std::tuple<NumpyArray<int>, NumpyArray<int>>> bind_tree_clusters(const Array<const int, 1> &from,
                                                                               const Array<const int, 1> &to,
                                                                               const Array<const int, 1> &length,
                                                                               int threads, StopToken &token) {
  const size_t n = from.shape(0) + 1;
  check_threads(threads);
  require(n < 0x7fffffff && to.shape(0) + 1 == n && length.shape(0) + 1 == n,
          "the three arrays of a tree's edges differ in length, or are too long");
  check_cities(from.data(), n - 1, 0, n, "an end of an edge");
  check_cities(to.data(), n - 1, 0, n, "an end of an edge");
  std::vector<TreeEdge> edges(n - 1);
  for (size_t e = 0; e + 1 < n; ++e)
    edges[e] = {std::min(from.data()[e], to.data()[e]), std::max(from.data()[e], to.data()[e]), length.data()[e]};
  Clusters clusters;
  const bool done = interruptible(token, [&] {
    PathMaxima maxima;
    if (!maxima.build(std::move(edges), (int)n, threads, token)) return false;
    clusters.find(maxima);
    return true;
  });
  if (!done && !token.stopped()) throw std::invalid_argument("the edges are not those of a spanning tree");
  if (!done) return std::nullopt;
  std::vector<int> ranges;
  for (const Clusters::Range &range : clusters.members())
    ranges.insert(ranges.end(), {range.begin, range.end, range.gain});
  const size_t count = ranges.size() / 3;
  return std::make_tuple(to_numpy(std::vector<int>(clusters.order())), to_numpy(std::move(ranges), {count, 3}));
}

}  // namespace

void bind_bound(nb::module_ &m) {
  using nb::arg;
  nb::class_<HeldKarpBound>(m, "HeldKarpBound",
                            "A bound in whole numbers of 2^-exponent, and the potentials that prove it.")
      .def(nb::init<int64_t, int, int, int, bool, NumpyArray<int>>(), nb::kw_only(), arg("value"), arg("exponent"),
           arg("root"), arg("rounds"), arg("certified"), arg("potentials"))
      .def_ro("value", &HeldKarpBound::value)
      .def_ro("exponent", &HeldKarpBound::exponent)
      .def_ro("root", &HeldKarpBound::root)
      .def_ro("rounds", &HeldKarpBound::rounds)
      .def_ro("certified", &HeldKarpBound::certified)
      .def_ro("potentials", &HeldKarpBound::potentials, nb::rv_policy::automatic);
  m.def(
      "held_karp", bind_held_karp, arg("distances"), arg("tour"), arg("fixed_edges"), arg("open"), arg("start"),
      arg("end"), arg("further").none(), arg("rounds"), arg("threads"), arg("token"),
      "A bound below every tour, in whole numbers of 2^-exponent, with the potentials that prove it; None if the token "
      "stopped it before there was one. `further`: how many more cities stand where each one does, all of them with "
      "its potential.");
  m.def("tree_clusters", bind_tree_clusters, arg("from_"), arg("to"), arg("length"), arg("threads"), arg("token"),
        "The clusters of a spanning tree: the city at each place, and rows (first place, place behind the last, gain) "
        "of clusters; None if the token stopped it.");
  nb::class_<AscentSchedule> constants(m, "AscentSchedule",
                                       "The constants of bound/schedule.h, for an ascent elsewhere.");
  constants.attr("nearest_edges") = schedule::nearest_edges;
  constants.attr("min_spacing") = schedule::min_spacing;
  constants.attr("first_potential") = schedule::first_potential;
  constants.attr("max_potential") = max_potential;
  constants.attr("first_length") = schedule::first_length;
  constants.attr("momentum") = schedule::momentum;
  constants.attr("cluster_weight") = schedule::cluster_weight;
  constants.attr("max_cluster_surplus") = schedule::max_cluster_surplus;
  constants.attr("leaves") = schedule::leaves;
  constants.attr("first_wait") = schedule::first_wait;
  constants.attr("large_drop") = schedule::large_drop;
  constants.attr("near_end") = schedule::near_end;
  constants.attr("pricing_share") = schedule::pricing_share;
  constants.attr("reach") = schedule::reach;
  constants.attr("near_spacings") = schedule::near_spacings;
  constants.attr("max_edges") = schedule::max_edges;
  m.def(
      "whole_exponent",
      [](double longest, bool integral) {
        require(std::isfinite(longest) && longest >= 0.0, "the longest distance is not finite, or negative");
        return whole_exponent(longest, integral);
      },
      arg("longest"), arg("integral"), "The exponent of whole distances up to the longest one.");
}
