// The longest edge between any two cities along a spanning tree. Host code only.
//
// Kruskal's algorithm joins components by ever longer edges. Write the cities of a component next to each other, and
// the edge's length between the two parts when they are joined: the longest edge on the path between two cities is then
// the largest number between their places (a range maximum), and the cities of each component are a range.
#pragma once
#include <algorithm>
#include <climits>
#include <cstdint>
#include <numeric>
#include <vector>

#include "bound/spanning_tree.h"
#include "common/disjoint_sets.h"
#include "common/radix_sort.h"

namespace warptsp::bound {

class PathMaxima {
 public:
  // False if the token stopped it, or if the edges are not those of a tree.
  bool build(std::vector<TreeEdge> edges, int n, int threads, const StopToken &token) {
    {
      std::vector<TreeEdge> spare(edges.size());
      const auto length_of = [](const TreeEdge &edge) { return (uint64_t)((int64_t)edge.length - INT_MIN); };
      if (!radix_sort(edges.data(), spare.data(), (int64_t)edges.size(), 32, length_of, threads, token)) return false;
    }
    if (!lay_out(edges, n)) return false;
    edges = std::vector<TreeEdge>();
    index(n);
    return !token.stopped();
  }

  int size() const { return (int)place_.size(); }
  int place(int city) const { return place_[city]; }
  // The length between places p and p + 1.
  int step(int p) const { return step_[p]; }
  // The longest edge between the cities at two places, a < b, or of any two between them.
  int between(int a, int b) const {
    const int last = b - 1, first_block = a / block, last_block = last / block;
    if (first_block == last_block) return *std::max_element(step_.begin() + a, step_.begin() + b);
    int longest = std::max(to_end_[a], from_begin_[last]);
    const int blocks = last_block - first_block - 1;
    if (blocks > 0) {
      const int level = level_of(blocks);
      const std::vector<int> &row = table_[level];
      longest = std::max({longest, row[first_block + 1], row[last_block - (1 << level)]});
    }
    return longest;
  }
  int between_cities(int a, int b) const {
    return between(std::min(place_[a], place_[b]), std::max(place_[a], place_[b]));
  }

 private:
  static constexpr int block = 16;

  static int level_of(int blocks) {
    int level = 0;
    while (blocks >> (level + 1) > 0) ++level;
    return level;
  }

  bool lay_out(const std::vector<TreeEdge> &edges, int n) {
    std::vector<int> parent(n), last(n), next(n, -1), behind(n, 0);
    std::iota(parent.begin(), parent.end(), 0);
    std::iota(last.begin(), last.end(), 0);
    // A component's root is its first city.
    for (const TreeEdge &edge : edges) {
      int a = root_of(parent, edge.low), b = root_of(parent, edge.high);
      if (a == b) return false;
      next[last[a]] = b;
      behind[last[a]] = edge.length;
      last[a] = last[b];
      parent[b] = a;
    }
    place_.resize(n);
    step_.resize(n);
    int at = 0;
    for (int v = root_of(parent, 0); v >= 0; v = next[v], ++at) {
      place_[v] = at;
      step_[at] = behind[v];
    }
    return true;
  }

  void index(int n) {
    const int blocks = (n + block - 1) / block;
    from_begin_.assign(step_.begin(), step_.end());
    to_end_.assign(step_.begin(), step_.end());
    for (int p = 1; p < n; ++p)
      if (p % block != 0) from_begin_[p] = std::max(from_begin_[p], from_begin_[p - 1]);
    for (int p = n - 2; p >= 0; --p)
      if (p % block != block - 1) to_end_[p] = std::max(to_end_[p], to_end_[p + 1]);
    table_.assign(1, std::vector<int>(blocks));
    for (int b = 0; b < blocks; ++b) table_[0][b] = to_end_[(size_t)b * block];
    for (int width = 2; width <= blocks; width *= 2) {
      const std::vector<int> &below = table_.back();
      std::vector<int> row(blocks - width + 1);
      for (size_t b = 0; b < row.size(); ++b) row[b] = std::max(below[b], below[b + width / 2]);
      table_.push_back(std::move(row));
    }
  }

  std::vector<int> place_, step_, from_begin_, to_end_;
  std::vector<std::vector<int>> table_;
};

}  // namespace warptsp::bound
