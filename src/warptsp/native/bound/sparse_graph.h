// The edges among which the ascent looks for its spanning trees. Host code only.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "bound/chunks.h"

namespace warptsp::bound {

struct Arc {
  int to, cost;
};

// An edge as one number: its smaller city first. Edges are ordered by it.
inline uint64_t edge_key(int a, int b) {
  return a < b ? (uint64_t)(uint32_t)a << 32 | (uint32_t)b : (uint64_t)(uint32_t)b << 32 | (uint32_t)a;
}
inline int low_city(uint64_t key) { return (int)(key >> 32); }
inline int high_city(uint64_t key) { return (int)(uint32_t)key; }

// Each city's neighbours in ascending order, with the costs of the edges.
class SparseGraph {
 public:
  // `keys` are ascending and without repetition; cost(a, b) is asked once for each edge.
  template <class Cost>
  void build(int n, const std::vector<uint64_t> &keys, const Cost &cost, int threads) {
    n_ = n;
    first_.assign((size_t)n + 1, 0);
    upward_.assign((size_t)chunk_count(n) + 1, 0);
    for (const uint64_t key : keys) {
      ++first_[(size_t)low_city(key) + 1];
      ++first_[(size_t)high_city(key) + 1];
      ++upward_[(size_t)low_city(key) / chunk_size + 1];
    }
    for (int v = 0; v < n; ++v) first_[(size_t)v + 1] += first_[v];
    for (size_t c = 1; c < upward_.size(); ++c) upward_[c] += upward_[c - 1];
    arcs_.resize(2 * keys.size());
    // A city's smaller neighbours come first, in ascending order of keys, and its larger ones behind them.
    std::vector<int64_t> next(first_.begin(), first_.end() - 1);
    for (const uint64_t key : keys) arcs_[next[high_city(key)]++].to = low_city(key);
    middle_ = next;
    for (const uint64_t key : keys) arcs_[next[low_city(key)]++].to = high_city(key);
    for_chunks(threads, n, [&](int, int begin, int end) {
      for (int v = begin; v < end; ++v)
        for (int64_t a = first_[v]; a < first_[(size_t)v + 1]; ++a)
          arcs_[a].cost = (int)cost(std::min(v, arcs_[a].to), std::max(v, arcs_[a].to));
    });
  }

  int size() const { return n_; }
  int64_t edges() const { return (int64_t)arcs_.size() / 2; }
  const Arc *begin(int v) const { return arcs_.data() + first_[v]; }
  // The first one to a larger city.
  const Arc *upward(int v) const { return arcs_.data() + middle_[v]; }
  const Arc *end(int v) const { return arcs_.data() + first_[(size_t)v + 1]; }
  // Edges whose smaller city lies in an earlier chunk.
  int64_t edges_before(int chunk) const { return upward_[chunk]; }

 private:
  int n_ = 0;
  std::vector<int64_t> first_, middle_, upward_;
  std::vector<Arc> arcs_;
};

}  // namespace warptsp::bound
