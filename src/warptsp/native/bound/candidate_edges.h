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
  // Neighbours have near numbers: few edges of a chunk's cities begin in an earlier chunk, and are to be put there.
  struct Keys {
    uint64_t *begin, *end;
  };
  const int chunks = chunk_count(n);
  Buffer<uint64_t> keys((size_t)n * (count + 1));
  std::vector<Keys> own(chunks);
  std::vector<std::vector<uint64_t>> earlier(chunks);
  for_chunks(team, n, [&](int c, int begin, int end) {
    uint64_t *const first = keys.data() + (size_t)begin * (count + 1), *out = first;
    for (int v = begin; v < end; ++v) {
      const int *const row = lists + (int64_t)v * count;
      double sum = 0.0;
      int near = 0;
      for (; near < std::min(count, schedule::nearest_edges) && row[near] >= 0; ++near)
        sum += distances.real(v, row[near]);
      found.spacing[v] = near ? sum / near : 0.0;
      for (int k = 0; k < count && row[k] >= 0; ++k)
        if (k < near || first_of_quadrant(distances, v, row, k)) *out++ = edge_key(v, row[k]);
      *out++ = edge_key(v, successor[v]);
    }
    std::sort(first, out);
    out = std::unique(first, out);
    own[c] = {std::lower_bound(first, out, directed_key(begin, 0)), out};
    earlier[c].assign(first, own[c].begin);
  });
  std::vector<uint64_t> handed_on;
  for (const std::vector<uint64_t> &some : earlier) handed_on.insert(handed_on.end(), some.begin(), some.end());
  std::sort(handed_on.begin(), handed_on.end());
  handed_on.erase(std::unique(handed_on.begin(), handed_on.end()), handed_on.end());
  const auto handed_to = [&](int city) {
    return std::lower_bound(handed_on.begin(), handed_on.end(), directed_key(city, 0));
  };
  std::vector<int64_t> first((size_t)chunks + 1, 0);
  for_chunks(team, n, [&](int c, int begin, int end) {
    int64_t size = own[c].end - own[c].begin;
    for (auto key = handed_to(begin), last = handed_to(end); key != last; ++key)
      size += !std::binary_search(own[c].begin, own[c].end, *key);
    first[(size_t)c + 1] = size;
  });
  for (int c = 0; c < chunks; ++c) first[(size_t)c + 1] += first[c];
  found.keys.resize((size_t)first[chunks]);
  for_chunks(team, n, [&](int c, int begin, int end) {
    std::set_union(own[c].begin, own[c].end, handed_to(begin), handed_to(end), found.keys.begin() + first[c]);
  });
  double mean = 0.0;
  for (const double spacing : found.spacing) mean += spacing / n;
  for (double &spacing : found.spacing) spacing = std::max(spacing, schedule::min_spacing * mean);
  return found;
}

}  // namespace warptsp::bound
