// Proves a tour of a few cities optimal, or finds one that is: branch and bound on 1-trees. Host code only.
//
// A 1-tree is a spanning tree of all cities but one, and two edges of that one; every tour is one, so no tour is shorter
// than the shortest 1-tree, whatever potentials are added to all edges of a city. M. Held and R. M. Karp, "The
// traveling-salesman problem and minimum spanning trees: part II", Mathematical Programming 1 (1971) 6-25; steps with
// momentum and branches at a city of the 1-tree with three edges or more as in T. Volgenant and R. Jonker, "A branch and
// bound algorithm for the symmetric traveling salesman problem based on the 1-tree relaxation", EJOR 9 (1982) 83-89.
//
// All sums are those of doubles, and a branch is given up only if its bound, less all that rounding may have added to it,
// leaves no shorter tour.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "common/stop_token.h"

namespace warptsp::small {

// A proof excludes tours that are shorter by more than this share of the length, where lengths are reals: with the
// rounding of lengths themselves, 1e-12.
constexpr double real_share = 0.9e-12;

class OneTreeSearch {
 public:
  // Cities of one search; rows of its arrays are so long.
  static constexpr int most = 32;

  // `distances` [n, n], symmetric, not negative; `kept` [n, 2]: the other ends of edges that each tour has, -1 for none, or
  // null. A tour is shorter if it is so by 1 where distances are `whole`, or else by more than `real_share`.
  OneTreeSearch(const double *distances, int n, const int *kept, bool whole) : n_(n), whole_(whole) {
    double longest = 0;
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) longest = std::max(longest, distance_[i][j] = distances[(size_t)i * n + j]);
    wall_ = 4.0 * (n + 1) * (longest + 1.0);
    levels_.resize(1);
    Node &root = levels_[0];
    for (int i = 0; i < n; i++) {
      std::copy_n(distance_[i], n, root.cost[i]);
      root.cost[i][i] = wall_;
      root.potential[i] = 0;
      root.fixed[i] = 0;
    }
    for (int i = 0; kept != nullptr && i < n; i++)
      for (int s = 0; s < 2; s++)
        if (const int j = kept[2 * i + s]; j > i) require(root, i, j);
  }

  // Begins with a tour and its length. True if the best one is optimal then; false after so many 1-trees, or if the token
  // said stop.
  bool run(std::vector<int> &tour, double &length, long long trees, const StopToken &token) {
    best_ = &tour;
    length_ = length;
    trees_ = trees;
    token_ = &token;
    const bool complete = n_ < 4 || search(0, root_steps);
    length = length_;
    return complete && !doubtful_;
  }

  long long trees_left() const { return trees_; }

 private:
  static constexpr int root_steps = 60, steps = 12;

  struct Node {
    double cost[most][most];  // the distance, less a wall where the edge is required, and a wall where it is forbidden
    double potential[most];
    int fixed[most];  // required edges of a city
  };

  bool is_required(const Node &node, int i, int j) const { return node.cost[i][j] < 0; }
  bool is_forbidden(const Node &node, int i, int j) const { return node.cost[i][j] >= wall_; }
  void require(Node &node, int i, int j) const {
    if (is_required(node, i, j)) return;
    node.cost[i][j] = node.cost[j][i] = distance_[i][j] - wall_;
    node.fixed[i]++;
    node.fixed[j]++;
  }
  void forbid(Node &node, int i, int j) const { node.cost[i][j] = node.cost[j][i] = wall_; }
  // Of a city with both its edges, the others.
  void forbid_others(Node &node, int i) const {
    for (int j = 0; j < n_; j++)
      if (j != i && !is_required(node, i, j)) forbid(node, i, j);
  }

  // Whether no tour of this bound is shorter.
  bool excludes(double bound) const {
    const double proved = bound - rounding_;
    return whole_ ? proved > length_ - 1.0 : proved >= length_ * (1.0 - real_share);
  }

  // The shortest 1-tree: its edges, degrees, and its length with potentials, which bounds that of a tour.
  double one_tree(const Node &node) {
    const int n = n_;
    const double *const pi = node.potential;
    double key[most];
    int from[most];
    std::fill_n(degree_, n, 0);
    for (int j = 1; j < n; j++) {
      key[j] = node.cost[1][j] + pi[1] + pi[j];
      from[j] = 1;
    }
    int left[most], count = 0;
    for (int j = 2; j < n; j++) left[count++] = j;
    double sum = 0;
    int edges = 0;
    const auto take = [&](int i, int j) {
      edge_[edges][0] = i;
      edge_[edges++][1] = j;
      degree_[i]++;
      degree_[j]++;
      sum += is_forbidden(node, i, j) ? wall_ : distance_[i][j];
    };
    while (count > 0) {
      int at = 0;
      for (int k = 1; k < count; k++)
        if (key[left[k]] < key[left[at]]) at = k;
      const int c = left[at];
      left[at] = left[--count];
      take(from[c], c);
      const double *const row = node.cost[c];
      for (int k = 0; k < count; k++) {
        const int j = left[k];
        const double d = row[j] + pi[c] + pi[j];
        if (d < key[j]) {
          key[j] = d;
          from[j] = c;
        }
      }
    }
    int first = -1, second = -1;
    for (int j = 1; j < n; j++) {
      const double d = node.cost[0][j] + pi[j];
      if (first < 0 || d < node.cost[0][first] + pi[first]) {
        second = first;
        first = j;
      } else if (second < 0 || d < node.cost[0][second] + pi[second]) {
        second = j;
      }
    }
    take(0, first);
    take(0, second);
    // What is rounded: this sum, and the comparisons by which these edges are the shortest, and not those of a tour.
    double size = sum + length_;
    for (int i = 0; i < n; i++) {
      sum += (degree_[i] - 2) * pi[i];
      size += (degree_[i] + 2) * std::abs(pi[i]);
    }
    rounding_ = (n + 4) * std::numeric_limits<double>::epsilon() * size;
    return sum;
  }

  // Potentials that lengthen the 1-tree. False if it is then too long for a shorter tour, or is a tour itself.
  bool ascend(Node &node, int steps) {
    double before[most] = {};
    double best = -std::numeric_limits<double>::infinity(), best_potential[most];
    double scale = steps == root_steps ? 1.5 : 1.0;
    for (int step = 0;; step++) {
      trees_--;
      const double bound = one_tree(node);
      if (excludes(bound)) return false;
      int squares = 0;
      for (int i = 0; i < n_; i++) squares += (degree_[i] - 2) * (degree_[i] - 2);
      if (squares == 0) {
        take_tour();
        // Potentials so large that rounding hides a shorter tour: nothing is proved.
        if (!excludes(std::min(bound, length_))) doubtful_ = true;
        return false;
      }
      if (bound > best) {
        best = bound;
        std::copy_n(node.potential, n_, best_potential);
      }
      if (step >= steps) break;
      const double t = scale * (length_ - bound) / squares;
      scale *= steps == root_steps ? 0.96 : 0.9;
      for (int i = 0; i < n_; i++) {
        const double now = degree_[i] - 2;
        node.potential[i] += t * (step == 0 ? now : 0.7 * now + 0.3 * before[i]);
        before[i] = now;
      }
    }
    std::copy_n(best_potential, n_, node.potential);
    trees_--;
    one_tree(node);
    return true;
  }

  // Keeps the 1-tree, which is a tour, if it is shorter.
  void take_tour() {
    int neighbor[most][2], count[most] = {};
    double sum = 0;
    for (int e = 0; e < n_; e++) {
      const int i = edge_[e][0], j = edge_[e][1];
      neighbor[i][count[i]++] = j;
      neighbor[j][count[j]++] = i;
    }
    int before = -1, city = 0;
    std::vector<int> tour(n_);
    for (int p = 0; p < n_; p++) {
      tour[p] = city;
      const int next = neighbor[city][0] != before ? neighbor[city][0] : neighbor[city][1];
      sum += distance_[city][next];
      before = city;
      city = next;
    }
    if (sum >= length_) return;
    length_ = sum;
    *best_ = std::move(tour);
  }

  // False if there were too many 1-trees.
  bool search(int level, int steps) {
    if (trees_ <= 0 || doubtful_ || token_->stopped()) return false;
    if (!ascend(levels_[level], steps)) return true;
    // The city with the most required edges, and of those the one with the most edges of the 1-tree.
    int at = -1;
    for (int i = 0; i < n_; i++) {
      if (degree_[i] <= 2) continue;
      if (at < 0 || levels_[level].fixed[i] > levels_[level].fixed[at] ||
          (levels_[level].fixed[i] == levels_[level].fixed[at] && degree_[i] > degree_[at]))
        at = i;
    }
    // Its two shortest edges that are not required.
    int ends[2] = {-1, -1};
    for (int e = 0; e < n_; e++) {
      if (edge_[e][0] != at && edge_[e][1] != at) continue;
      int other = edge_[e][0] == at ? edge_[e][1] : edge_[e][0];
      if (is_required(levels_[level], at, other)) continue;
      const auto length = [&](int c) { return distance_[at][c] + levels_[level].potential[c]; };
      for (int &end : ends)
        if (end < 0 || length(other) < length(end)) std::swap(end, other);
    }
    if (ends[0] < 0) return true;  // three required edges: no tour
    if ((int)levels_.size() < level + 2) levels_.resize(level + 2);
    const auto child = [&]() -> Node & { return levels_[level + 1] = levels_[level]; };
    const bool one_left = levels_[level].fixed[at] == 1 || ends[1] < 0;
    {
      Node &with = child();
      require(with, at, ends[0]);
      if (!one_left) require(with, at, ends[1]);
      if (finish(with) && !search(level + 1, OneTreeSearch::steps)) return false;
    }
    if (!one_left) {
      Node &between = child();
      require(between, at, ends[0]);
      forbid(between, at, ends[1]);
      if (finish(between) && !search(level + 1, OneTreeSearch::steps)) return false;
    }
    Node &without = child();
    forbid(without, at, ends[0]);
    return !finish(without) || search(level + 1, OneTreeSearch::steps);
  }

  // Forbids what required edges leave no room for; false if a city has three of them.
  bool finish(Node &node) const {
    for (int i = 0; i < n_; i++) {
      if (node.fixed[i] > 2) return false;
      if (node.fixed[i] == 2) forbid_others(node, i);
    }
    return true;
  }

  int n_;
  bool whole_, doubtful_ = false;
  double wall_, rounding_ = 0;
  double distance_[most][most];
  std::vector<Node> levels_;
  int edge_[most][2], degree_[most];
  std::vector<int> *best_ = nullptr;
  double length_ = 0;
  long long trees_ = 0;
  const StopToken *token_ = nullptr;
};

// Makes a tour optimal, as OneTreeSearch::run does; `distances` [n, n] are changed.
inline bool make_optimal(std::vector<double> &distances, int n, const int *kept, std::vector<int> &tour,
                         long long trees, const StopToken &token) {
  // Of whole numbers, what rounding may add to a bound is less than 1 up to here.
  constexpr double longest_whole = 0x1p44;
  const auto d = [&](int i, int j) -> double & { return distances[(size_t)i * n + j]; };
  // What is in every tour is no part of what they differ in.
  for (int i = 0; kept != nullptr && i < n; i++)
    for (int s = 0; s < 2; s++)
      if (const int j = kept[2 * i + s]; j >= 0) d(i, j) = d(j, i) = 0;
  double length = 0;
  for (int p = 0; p < n; p++) length += d(tour[p], tour[p + 1 < n ? p + 1 : 0]);
  while (length > 0) {  // no distance is negative
    // No better tour has a longer edge, and what is much longer hides what tours differ in.
    for (double &entry : distances) entry = std::min(entry, 2.0 * length);
    const bool whole = std::all_of(distances.begin(), distances.end(), [](double x) { return x == std::floor(x); });
    const double before = length;
    const bool in_doubt = whole && length > longest_whole;
    OneTreeSearch search(distances.data(), n, kept, whole && !in_doubt);
    if (!search.run(tour, length, trees, token)) return false;
    if (length >= 0.5 * before && !in_doubt) return true;
    if (length >= 0.5 * before && length > longest_whole) return false;
    trees = search.trees_left();
  }
  return true;
}

}  // namespace warptsp::small
