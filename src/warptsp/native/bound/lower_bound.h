// The Held-Karp bound of an instance: points of any metric, or a matrix. Host code only.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "bound/candidate_edges.h"
#include "bound/held_karp.h"
#include "space/candidates.h"
#include "space/kd_tree.h"

namespace warptsp::bound {

struct LowerBound {
  CertifiedBound bound;
  int exponent = 0;
};

namespace bound_detail {

// `number`: the ascent's number of each city.
inline TourShape renumbered(TourShape shape, const std::vector<int> &number) {
  if (shape.start >= 0) shape.start = number[shape.start];
  if (shape.end >= 0) shape.end = number[shape.end];
  if (!shape.fixed.empty()) {
    std::vector<int> fixed(shape.fixed.size(), -1);
    for (size_t k = 0; k < fixed.size(); ++k)
      if (shape.fixed[k] >= 0) fixed[2 * (size_t)number[k / 2] + k % 2] = number[shape.fixed[k]];
    shape.fixed = std::move(fixed);
  }
  if (!shape.further.empty()) {
    std::vector<int> further(shape.further.size());
    for (size_t v = 0; v < further.size(); ++v) further[number[v]] = shape.further[v];
    shape.further = std::move(further);
  }
  return shape;
}

template <class Pricing, class Distances>
LowerBound ascend(Distances distances, bool integral, int n, std::vector<int> &&lists, int count,
                  std::vector<int> &&tour, TourShape &&shape, int rounds, Team &team, const StopToken &token) {
  CandidateEdges edges = candidate_edges(distances, n, lists.data(), count, tour, team);
  lists = std::vector<int>();  // 32 bytes a city
  double longest = 0.0;
  for (const uint64_t key : edges.keys) longest = std::max(longest, distances.real(low_city(key), high_city(key)));
  LowerBound found;
  found.exponent = whole_exponent(longest, integral);
  distances.scale = std::ldexp(1.0, found.exponent);
  std::vector<int> spacing(n);
  for (int v = 0; v < n; ++v) spacing[v] = (int)std::ceil(edges.spacing[v] * distances.scale);
  edges.spacing = std::vector<double>();
  Pricing pricing(distances, n);
  HeldKarp<Pricing> held_karp(pricing, std::move(edges.keys), std::move(tour), std::move(shape), std::move(spacing),
                              team);
  found.bound = held_karp.ascend(rounds, token);
  return found;
}

}  // namespace bound_detail

// Points as the search has them (unit vectors on the sphere). Nothing if the token stopped it before there was any bound.
template <int D>
std::optional<LowerBound> lower_bound_points(const double *points, int n, MetricKind kind, const int *tour,
                                             const TourShape &shape, int rounds, int threads, const StopToken &token) {
  constexpr int count = 8;
  Team team(threads);
  space::KdTree<D> tree;
  if (!tree.build(points, n, threads, token)) return {};
  std::vector<int> city(n), number(n), numbered_tour(n);
  std::vector<double> rows((size_t)n * D);
  for_chunks(team, n, [&](int, int begin, int end) {
    for (int k = begin; k < end; ++k) {
      city[k] = tree.points()[k].city;
      number[city[k]] = k;
      for (int d = 0; d < D; ++d) rows[(size_t)k * D + d] = points[(size_t)city[k] * D + d];
    }
  });
  tree = space::KdTree<D>();
  for (int p = 0; p < n; ++p) numbered_tour[p] = number[tour[p]];
  TourShape numbered_shape = bound_detail::renumbered(shape, number);
  number = std::vector<int>();
  std::vector<int> lists((size_t)n * count);
  if (!space::candidate_lists(rows.data(), n, D, count, 1, (int)facts_of(kind).norm, on_sphere(kind), threads, token,
                              lists.data()))
    return {};
  LowerBound found = bound_detail::ascend<PointPricing<D>>(PointDistances<D>{rows.data(), kind, 1.0}, is_integral(kind),
                                                           n, std::move(lists), count, std::move(numbered_tour),
                                                           std::move(numbered_shape), rounds, team, token);
  std::vector<int> potential(n);
  for (int k = 0; k < n; ++k) potential[city[k]] = found.bound.potential[k];
  found.bound.potential = std::move(potential);
  found.bound.root = city[found.bound.root];
  return found;
}

template <class V>
std::optional<LowerBound> lower_bound_matrix(const V *entries, int n, const int *tour, TourShape shape, int rounds,
                                             int threads, const StopToken &token) {
  constexpr int count = 10;
  Team team(threads);
  std::vector<int> lists((size_t)n * count);
  const MatrixDistances<V> distances{entries, n, 1.0};
  if (!space::nearest_by_distance(n, Matrix<V>{entries, n}, count, threads, token, lists.data())) return {};
  return bound_detail::ascend<MatrixPricing<V>>(distances, std::is_integral_v<V>, n, std::move(lists), count,
                                                std::vector<int>(tour, tour + n), std::move(shape), rounds, team,
                                                token);
}

}  // namespace warptsp::bound
