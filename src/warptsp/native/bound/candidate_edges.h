// The edges with which an ascent begins. Host code only.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#include "bound/schedule.h"
#include "bound/sparse_graph.h"
#include "bound/whole_distances.h"
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

inline void sort_and_unite(std::vector<uint64_t> &keys) {
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
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
  // Neighbours have near numbers: few edges of a chunk's cities begin in an earlier chunk, and are to be put there.
  const int chunks = chunk_count(n);
  std::vector<std::vector<uint64_t>> own(chunks), earlier(chunks);
  for_chunks(team, n, [&](int c, int begin, int end) {
    std::vector<uint64_t> &keys = own[c];
    keys.reserve((size_t)(end - begin) * (count + 1));
    for (int v = begin; v < end; ++v) {
      const int *const row = lists + (int64_t)v * count;
      double sum = 0.0;
      int near = 0;
      for (; near < std::min(count, schedule::nearest_edges) && row[near] >= 0; ++near)
        sum += distances.real(v, row[near]);
      found.spacing[v] = near ? sum / near : 0.0;
      for (int k = 0; k < count && row[k] >= 0; ++k)
        if (k < near || first_of_quadrant(distances, v, row, k)) keys.push_back(edge_key(v, row[k]));
      keys.push_back(edge_key(v, successor[v]));
    }
    sort_and_unite(keys);
    const auto first = std::lower_bound(keys.begin(), keys.end(), directed_key(begin, 0));
    earlier[c].assign(keys.begin(), first);
    keys.erase(keys.begin(), first);
  });
  std::vector<uint64_t> handed_on;
  for (std::vector<uint64_t> &keys : earlier) {
    handed_on.insert(handed_on.end(), keys.begin(), keys.end());
    keys = std::vector<uint64_t>();
  }
  sort_and_unite(handed_on);
  std::vector<size_t> first((size_t)chunks + 1, 0);
  for_chunks(team, n, [&](int c, int begin, int end) {
    const auto place = [&](int city) {
      return std::lower_bound(handed_on.begin(), handed_on.end(), directed_key(city, 0));
    };
    std::vector<uint64_t> both;
    std::set_union(own[c].begin(), own[c].end(), place(begin), place(end), std::back_inserter(both));
    own[c] = std::move(both);
    first[(size_t)c + 1] = own[c].size();
  });
  for (int c = 0; c < chunks; ++c) first[(size_t)c + 1] += first[c];
  found.keys.resize(first[chunks]);
  for_chunks(team, n, [&](int c, int, int) {
    std::copy(own[c].begin(), own[c].end(), found.keys.begin() + (ptrdiff_t)first[c]);
    own[c] = std::vector<uint64_t>();
  });
  double mean = 0.0;
  for (const double spacing : found.spacing) mean += spacing / n;
  for (double &spacing : found.spacing) spacing = std::max(spacing, schedule::min_spacing * mean);
  return found;
}

}  // namespace warptsp::bound
