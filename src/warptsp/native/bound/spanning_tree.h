// The shortest spanning tree of a sparse graph by Boruvka's algorithm. Host code only.
//
// Each component names its shortest edge to another one, and all of them are taken at once. An edge's length is its
// cost plus the potentials of its two cities; of equally long edges the one with the smaller cities is the shorter one,
// so that there is one tree only, whatever the threads do.
#pragma once
#include <atomic>
#include <climits>
#include <cstdint>
#include <utility>
#include <vector>

#include "bound/sparse_graph.h"

namespace warptsp::bound {

struct TreeEdge {
  int low, high, length;
};

class SpanningTree {
 public:
  // False if the graph is not connected.
  bool make(const SparseGraph &graph, const int *potential, Team &team) {
    n_ = graph.size();
    team_ = &team;
    edges_.clear();
    label_.resize(n_);
    if (parent_.size() < (size_t)n_) parent_ = std::vector<std::atomic<int>>(n_);
    // Not needed before the first merge is over: it has the edges that cities choose until then.
    const size_t waiting = (size_t)std::max<int64_t>(n_, graph.edges());
    if (waiting_.size() < waiting) waiting_ = Buffer<TreeEdge>(waiting);
    for_chunks(team, n_, [&](int, int begin, int end) {
      for (int v = begin; v < end; ++v) {
        // Neighbours ascend, so that of equally long edges the first is the one in the order of all edges.
        int64_t shortest = INT64_MAX;
        for (const Arc *arc = graph.begin(v); arc < graph.end(v); ++arc)
          shortest = std::min(shortest, (int64_t)(arc->cost + potential[arc->to]) * ((int64_t)1 << 32) + arc->to);
        const int nearest = (int)(shortest & 0xffffffff);
        label_[v] = v;
        parent_[v].store(graph.begin(v) < graph.end(v) ? nearest : -1, std::memory_order_relaxed);
        waiting_[v] = {std::min(v, nearest), std::max(v, nearest), (int)(shortest >> 32) + potential[v]};
      }
    });
    int components = merge(n_, waiting_.data());
    chosen_.resize(components);
    if (components > 1) collect(graph, potential, components);
    while (components > 1) {
      for_chunks(team, components, [&](int, int begin, int end) {
        for (int c = begin; c < end; ++c) {
          const uint64_t best = best_[c].load(std::memory_order_relaxed);
          int other = -1;
          if (best != none) {
            const TreeEdge &edge = chosen_[c] = waiting_[(uint32_t)best];
            other = label_[edge.low] == c ? label_[edge.high] : label_[edge.low];
          }
          parent_[c].store(other, std::memory_order_relaxed);
        }
      });
      const int fewer = merge(components, chosen_.data());
      if (fewer == components) return false;
      components = fewer;
      if (components > 1) filter(components);
    }
    return true;
  }

  const std::vector<TreeEdge> &edges() const { return edges_; }
  // Hands over the edges, and gives back all memory until the next tree.
  std::vector<TreeEdge> release() {
    std::vector<TreeEdge> edges = std::move(edges_);
    *this = SpanningTree();
    return edges;
  }

 private:
  static constexpr uint64_t none = ~(uint64_t)0;

  // Takes the edges that components name (parent_: the component at its other end, -1 for none), and numbers what they
  // join into. The number of components.
  int merge(int components, const TreeEdge *chosen) {
    // Two that name each other name the same edge, as no two edges are equal; there is no other cycle.
    const auto parent = [&](int c) { return parent_[c].load(std::memory_order_relaxed); };
    const auto named_twice = [&](int c) { return parent(parent(c)) == c; };
    const auto names_first = [&](int c) { return parent(c) >= 0 && !(named_twice(c) && parent(c) < c); };
    const auto is_root = [&](int c) { return parent(c) < 0 || (named_twice(c) && c < parent(c)); };
    std::vector<int> taken(chunk_count(components)), roots(chunk_count(components));
    for_chunks(*team_, components, [&](int chunk, int begin, int end) {
      for (int c = begin; c < end; ++c) {
        taken[chunk] += names_first(c);
        roots[chunk] += is_root(c);
      }
    });
    int edges = (int)edges_.size(), numbers = 0;
    for (size_t chunk = 0; chunk < taken.size(); ++chunk) {
      edges += std::exchange(taken[chunk], edges);
      numbers += std::exchange(roots[chunk], numbers);
    }
    edges_.resize(edges);
    number_.resize(components);
    into_.resize(components);
    for_chunks(*team_, components, [&](int chunk, int begin, int end) {
      int edge = taken[chunk], number = roots[chunk];
      for (int c = begin; c < end; ++c) {
        if (names_first(c)) edges_[edge++] = chosen[c];
        number_[c] = is_root(c) ? number++ : -1;
      }
    });
    // Paths to roots are halved on the way, whoever is first: they have n steps where gaps shrink along a line.
    for_chunks(*team_, components, [&](int, int begin, int end) {
      for (int c = begin; c < end; ++c) {
        int at = c;
        while (number_[at] < 0) {
          const int above = parent(at);
          if (number_[above] < 0) parent_[at].store(parent(above), std::memory_order_relaxed);
          at = parent(at);
        }
        into_[c] = number_[at];
      }
    });
    for_chunks(*team_, n_, [&](int, int begin, int end) {
      for (int v = begin; v < end; ++v) label_[v] = into_[label_[v]];
    });
    return numbers;
  }

  // The edges that join two components, and each component's shortest of them.
  void collect(const SparseGraph &graph, const int *potential, int components) {
    left_.resize(chunk_count(n_));
    start_.resize(chunk_count(n_));
    clear(components);
    for_chunks(*team_, n_, [&](int c, int begin, int end) {
      start_[c] = graph.edges_before(c);
      int64_t at = start_[c];
      for (int v = begin; v < end; ++v)
        for (const Arc *arc = graph.upward(v); arc < graph.end(v); ++arc) {
          waiting_[at] = {v, arc->to, arc->cost + potential[v] + potential[arc->to]};
          at += label_[arc->to] != label_[v];  // no branch: it would be guessed wrong half the time
        }
      left_[c] = at - start_[c];
      offer_all(c);
    });
  }

  void filter(int components) {
    clear(components);
    for_chunks(*team_, n_, [&](int c, int, int) {
      int64_t at = start_[c];
      for (int64_t e = start_[c], end = at + left_[c]; e < end; ++e) {
        const TreeEdge edge = waiting_[e];
        waiting_[at] = edge;
        at += label_[edge.low] != label_[edge.high];
      }
      left_[c] = at - start_[c];
      offer_all(c);
    });
  }

  void clear(int components) {
    if (best_.size() < (size_t)components) best_ = std::vector<std::atomic<uint64_t>>(components);
    for_chunks(*team_, components, [&](int, int begin, int end) {
      for (int c = begin; c < end; ++c) best_[c].store(none, std::memory_order_relaxed);
    });
  }

  void offer_all(int chunk) {
    for (int64_t e = start_[chunk], end = e + left_[chunk]; e < end; ++e) {
      const uint64_t key = (uint64_t)((int64_t)waiting_[e].length - INT_MIN) << 32 | (uint32_t)e;
      offer(best_[label_[waiting_[e].low]], key);
      offer(best_[label_[waiting_[e].high]], key);
    }
  }

  void offer(std::atomic<uint64_t> &best, uint64_t key) {
    uint64_t before = best.load(std::memory_order_relaxed);
    if (team_->threads() == 1) return best.store(std::min(before, key), std::memory_order_relaxed);
    while (key < before && !best.compare_exchange_weak(before, key, std::memory_order_relaxed)) {
    }
  }

  int n_ = 0;
  Team *team_ = nullptr;
  std::vector<TreeEdge> edges_, chosen_;
  Buffer<TreeEdge> waiting_;
  std::vector<int> label_, number_, into_;
  std::vector<std::atomic<int>> parent_;
  std::vector<int64_t> start_, left_;
  std::vector<std::atomic<uint64_t>> best_;
};

}  // namespace warptsp::bound
