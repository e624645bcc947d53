// The edges with which an ascent begins. Host code only.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bound/chunks.h"
#include "bound/schedule.h"
#include "bound/sparse_graph.h"
#include "bound/whole_distances.h"
#include "common/radix_sort.h"
#include "space/candidates.h"

namespace warptsp::bound {

struct CandidateEdges {
  std::vector<uint64_t> keys;   // ascending
  std::vector<double> spacing;  // of each city
};

// Whether no city before the k-th of a list lies in the same quadrant.
inline bool first_of_quadrant(const PointDistances<2> &distances, int city, const int *list, int k) {
  const auto quadrant_of = [&](int other) {
    const double delta[2] = {distances.at(other)[0] - distances.at(city)[0],
                             distances.at(other)[1] - distances.at(city)[1]};
    return space::Quadrants().of(delta);
  };
  return std::none_of(list, list + k, [&](int other) { return quadrant_of(other) == quadrant_of(list[k]); });
}
template <class Distances>
bool first_of_quadrant(const Distances &, int, const int *, int) {
  return true;
}

// `lists`: rows of `count` cities, -1 behind the last. Their first few are taken, of the others those that are there for
// a quadrant's sake, however far away, and the edges of the tour.
template <class Distances>
CandidateEdges candidate_edges(const Distances &distances, int n, const int *lists, int count,
                               const std::vector<int> &tour, Team &team) {
  CandidateEdges found;
  found.spacing.resize(n);
  std::vector<int> successor(n);
  for (int p = 0; p < n; ++p) successor[tour[p]] = tour[p + 1 < n ? p + 1 : 0];
  const int64_t most = (int64_t)n * (count + 1);
  Buffer<uint64_t> keys((size_t)most), spare((size_t)most);
  for_chunks(team, n, [&](int, int begin, int end) {
    for (int v = begin; v < end; ++v) {
      const int *const row = lists + (int64_t)v * count;
      double sum = 0.0;
      int near = 0;
      for (; near < std::min(count, schedule::nearest_edges) && row[near] >= 0; ++near)
        sum += distances.real(v, row[near]);
      found.spacing[v] = near ? sum / near : 0.0;
      uint64_t *const own = keys.data() + (int64_t)v * (count + 1);
      std::fill_n(own, count + 1, edge_key(v, successor[v]));
      for (int k = 0; k < count && row[k] >= 0; ++k)
        if (k < near || first_of_quadrant(distances, v, row, k)) own[k] = edge_key(v, row[k]);
    }
  });
  const auto key_of = [](uint64_t key) { return key; };
  radix_sort(keys.data(), spare.data(), most, 64, key_of, team.threads(), StopToken());
  found.keys.assign(keys.data(), std::unique(keys.data(), keys.data() + most));
  double mean = 0.0;
  for (const double spacing : found.spacing) mean += spacing / n;
  for (double &spacing : found.spacing) spacing = std::max(spacing, schedule::min_spacing * mean);
  return found;
}

}  // namespace warptsp::bound
