// The edges among which the ascent looks for its spanning trees. Host code only.
#pragma once
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "bound/chunks.h"
#include "common/parallel.h"

namespace warptsp::bound {

struct Arc {
  int to, cost;
};

// An edge as one number, from one city to the other, and with its smaller city first. Edges are ordered by it.
inline uint64_t directed_key(int from, int to) { return (uint64_t)(uint32_t)from << 32 | (uint32_t)to; }
inline uint64_t edge_key(int a, int b) { return a < b ? directed_key(a, b) : directed_key(b, a); }
inline int low_city(uint64_t key) { return (int)(key >> 32); }
inline int high_city(uint64_t key) { return (int)(uint32_t)key; }

// Each city's neighbours in ascending order, with the costs of the edges.
class SparseGraph {
 public:
  // `keys` are ascending and without repetition; cost(smaller city, larger city).
  template <class Cost>
  void build(int n, const std::vector<uint64_t> &keys, const Cost &cost, Team &team) {
    n_ = n;
    rows_.assign((size_t)n + 1, {0, 0});
    for (const uint64_t key : keys) {
      ++rows_[low_city(key)].first;  // for now the number of neighbours
      ++rows_[high_city(key)].first;
      ++rows_[high_city(key)].smaller;
    }
    add_up(team);
    // Ascending keys fill the larger neighbours of a city in order, and the smaller ones of each city, too.
    std::vector<int> filled(n, 0);
    for (const uint64_t key : keys) arcs_[index(high_city(key)) + filled[high_city(key)]++].to = low_city(key);
    for (const uint64_t key : keys) arcs_[index(low_city(key)) + filled[low_city(key)]++].to = high_city(key);
    for_chunks(team, n, [&](int, int begin, int end) {
      for (int v = begin; v < end; ++v)
        for (int64_t a = index(v); a < index(v + 1); ++a)
          arcs_[a].cost = (int)cost(std::min(v, arcs_[a].to), std::max(v, arcs_[a].to));
    });
  }

  // Keeps the arcs that stay, stays(city, arc), which must say the same of both directions of an edge, and adds edges,
  // ascending and without repetition; some may be there already.
  template <class Stays, class Cost>
  void renew(const std::vector<uint64_t> &added, const Stays &stays, const Cost &cost, Team &team) {
    std::vector<uint64_t> directed;  // both ways
    directed.reserve(2 * added.size());
    for (const uint64_t key : added)
      directed.insert(directed.end(), {key, directed_key(high_city(key), low_city(key))});
    std::sort(directed.begin(), directed.end());
    const auto added_from = [&](int v) {
      return std::lower_bound(directed.begin(), directed.end(), directed_key(v, 0));
    };
    // What stays of a row is moved to its beginning.
    std::vector<int> kept(n_);
    std::vector<Row> rows((size_t)n_ + 1, {0, 0});
    for_chunks(team, n_, [&](int, int begin, int end) {
      auto next = added_from(begin);
      for (int v = begin; v < end; ++v) {
        Arc *const row = arcs_.data() + index(v), *const row_end = arcs_.data() + index(v + 1), *out = row;
        Row &counted = rows[v];
        for (const Arc *arc = row; arc < row_end; ++arc) {
          for (; next != directed.end() && *next < directed_key(v, arc->to); ++next) counted.add(v, high_city(*next));
          const bool again = next != directed.end() && *next == directed_key(v, arc->to);
          if (again) ++next;
          if (!again && !stays(v, *arc)) continue;
          counted.add(v, arc->to);
          *out++ = *arc;
        }
        for (; next != directed.end() && low_city(*next) == v; ++next) counted.add(v, high_city(*next));
        kept[v] = (int)(out - row);
      }
    });
    const SparseGraph before = std::move(*this);
    n_ = before.n_;
    rows_ = std::move(rows);
    add_up(team);
    for_chunks(team, n_, [&](int, int begin, int end) {
      auto next = added_from(begin);
      for (int v = begin; v < end; ++v) {
        const Arc *arc = before.begin(v), *const arc_end = arc + kept[v];
        for (Arc *out = arcs_.data() + index(v), *const row_end = arcs_.data() + index(v + 1); out < row_end; ++out) {
          const bool is_added = next != directed.end() && low_city(*next) == v;
          if (arc < arc_end && (!is_added || arc->to <= high_city(*next))) {
            if (is_added && arc->to == high_city(*next)) ++next;
            *out = *arc++;
          } else {
            const int to = high_city(*next++);
            *out = {to, (int)cost(std::min(v, to), std::max(v, to))};
          }
        }
      }
    });
  }

  int size() const { return n_; }
  int64_t edges() const { return (int64_t)arcs_.size() / 2; }
  const Arc *begin(int v) const { return arcs_.data() + index(v); }
  // The first one to a larger city.
  const Arc *upward(int v) const { return begin(v) + rows_[v].smaller; }
  const Arc *end(int v) const { return begin(v + 1); }

 private:
  // In a chunk, whose cities have fewer arcs than 2^32.
  struct Row {
    uint32_t first, smaller;  // arcs of the cities before it, and its own arcs to smaller cities
    void add(int v, int to) {
      ++first;
      smaller += to < v;
    }
  };

  int64_t index(int v) const { return before_[v / chunk_size] + rows_[v].first; }

  // From numbers of arcs to places.
  void add_up(Team &team) {
    before_.assign((size_t)n_ / chunk_size + 2, 0);
    for_chunks(team, (int64_t)n_ + 1, [&](int c, int begin, int end) {
      uint32_t sum = 0;
      for (int v = begin; v < end; ++v) sum += std::exchange(rows_[v].first, sum);
      before_[(size_t)c + 1] = sum;
    });
    for (size_t c = 1; c < before_.size(); ++c) before_[c] += before_[c - 1];
    arcs_ = Buffer<Arc>((size_t)before_.back());
  }

  int n_ = 0;
  std::vector<Row> rows_;
  std::vector<int64_t> before_;  // arcs before each chunk
  Buffer<Arc> arcs_;
};

}  // namespace warptsp::bound
