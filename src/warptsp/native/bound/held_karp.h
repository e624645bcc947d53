// The Held-Karp lower bound for the length of every tour, or of every path. Host code only.
//
// M. Held and R. M. Karp, "The traveling-salesman problem and minimum spanning trees" (1970, 1971). Add a potential p_i
// to all edges at city i: a tour grows by 2 sum p. A spanning tree and one edge more cannot be longer than the tour, so
//   shortest tree + second shortest edge at one of its leaves - 2 sum p
// bounds every tour from below, whatever p is. For a path from s to t the tree alone does, and its ends count once:
//   shortest tree - 2 sum p + p_s + p_t, with the smallest p where an end is free.
// Potentials climb along the degrees of trees in a sparse graph; now and then, and at the end, all pairs are looked at
// (pricing.h), and only a bound that holds for all of them is ever handed out. All lengths are whole numbers.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "bound/clusters.h"
#include "bound/pricing.h"
#include "bound/schedule.h"
#include "bound/sparse_graph.h"
#include "bound/spanning_tree.h"
#include "common/stop_token.h"

namespace warptsp::bound {

// What every tour respects. Ends of a path that are free are -1.
struct TourShape {
  bool open = false;
  int start = -1, end = -1;
  std::vector<int> fixed;    // the other ends of each city's fixed edges, two a city, -1 for none; or empty
  std::vector<int> further;  // how many more cities stand where each one does, with no fixed edges or ends; or empty

  int fixed_at(int city, int k) const { return fixed.empty() ? -1 : fixed[2 * (size_t)city + k]; }
  bool is_fixed(int a, int b) const { return fixed_at(a, 0) == b || fixed_at(a, 1) == b; }
};

struct CertifiedBound {
  int64_t value = 0;           // whole numbers of 2^-exponent
  std::vector<int> potential;  // of each city
  int root = 0;                // the leaf with one edge more; of closed tours only
  int rounds = 0;              // of the ascent when it was found
  bool certified = false;      // false: nothing was, and the value is 0
};

template <class Pricing>
class HeldKarp {
 public:
  // `keys`: the edges to begin with, ascending; the tour's are among them. They are gone afterwards. `spacing`: how far
  // each city's neighbours are, in whole numbers.
  HeldKarp(Pricing &pricing, std::vector<uint64_t> &&keys, std::vector<int> &&tour, TourShape shape,
           std::vector<int> &&spacing, Team &team)
      : pricing_(pricing), shape_(std::move(shape)), spacing_(std::move(spacing)), n_((int)tour.size()), team_(team) {
    successor_.assign(n_, -1);
    for (int p = 0; p < n_; ++p) {
      const int from = tour[p], to = tour[p + 1 < n_ ? p + 1 : 0];
      if (shape_.open && p + 1 == n_) break;
      successor_[from] = to;
      tour_length_ += pricing_.distances()(from, to);
    }
    for (const int other : shape_.fixed) fixed_edges_ += other >= 0;
    fixed_edges_ /= 2;
    tour = std::vector<int>();
    potential_.assign(n_, 0);
    surplus_.resize(n_);
    best_.potential.assign(n_, 0);  // 0 is a bound: no distance is negative
    graph_.build(n_, keys, [&](int a, int b) { return cost(a, b); }, team_);
    keys = std::vector<uint64_t>();
  }

  // At most so many rounds, in the token's time. The best bound that was certified is kept, whenever it ends.
  const CertifiedBound &ascend(int rounds, const StopToken &token) {
    if (!begin(token)) return best_;
    const double began = monotonic_seconds();
    std::vector<int> best_here;
    int64_t best_value = INT64_MIN;
    int wait = schedule::first_wait, next = wait;
    bool priced_near_end = false;
    int round = 0;
    for (; round < rounds; ++round) {
      if (token.stopped()) return best_;
      // The steps cool by rounds or by time, whichever runs out first.
      double progress = (double)round / rounds;
      const double left = token.deadline() - schedule::pricing_share * pricing_seconds_ - began;
      if (std::isfinite(left)) progress = std::max(progress, left > 0.0 ? (monotonic_seconds() - began) / left : 1.0);
      if (progress >= 1.0) break;
      value_ = evaluate(round);
      const bool near_end = progress >= schedule::near_end;
      if (round == next || (near_end && !priced_near_end)) {
        priced_near_end = near_end;
        const int64_t before = value_;
        certify(round, false, token);
        best_value = INT64_MIN;  // of another graph
        const bool much_lower = (double)(before - value_) > schedule::large_drop * std::fabs((double)before);
        wait = much_lower ? std::max(schedule::first_wait, wait / 2) : 2 * wait;
        next = round + wait;
      }
      if (value_ > best_value) {
        best_value = value_;
        best_here = potential_;
      }
      step(progress, round == 0);
    }
    if (best_here.empty()) return best_;
    potential_ = best_here;
    exact_ = velocity_ = std::vector<double>();  // no step follows
    value_ = evaluate(round);
    while (!certify(round, true, token) && !token.stopped()) {
    }
    return best_;
  }

 private:
  static constexpr int fixed_bonus = 1 << 30;  // more than lengths of two edges differ by

  int64_t cost(int a, int b) const { return pricing_.distances()(a, b) - (shape_.is_fixed(a, b) ? fixed_bonus : 0); }

  // The clusters, and the first potentials: cities far from others get less.
  bool begin(const StopToken &token) {
    const double began = monotonic_seconds();
    tree_.make(graph_, potential_.data(), team_);
    PathMaxima maxima;
    if (!maxima.build(tree_.release(), n_, team_.threads(), token)) return false;
    pricing_seconds_ = 2.0 * (monotonic_seconds() - began);  // until one has been timed
    clusters_.find(maxima);
    exact_.resize(n_);
    velocity_.assign(n_, 0.0);
    for (int v = 0; v < n_; ++v) {
      exact_[v] = schedule::first_potential * spacing_[v];
      potential_[v] = rounded(exact_[v]);
    }
    return true;
  }

  // The bound of the graph, for the present potentials.
  int64_t evaluate(int round) {
    tree_.make(graph_, potential_.data(), team_, surplus_.data());
    int64_t value = (int64_t)fixed_bonus * fixed_edges_ + tree_.length();
    value -= 2 * sum_chunks<int64_t>(team_, n_, [&](int begin, int end) {
               int64_t sum = 0;
               for (int v = begin; v < end; ++v) sum += potential_[v];
               return sum;
             });
    tree_value_ = value;
    return value + (shape_.open ? add_ends() : add_edge(round));
  }

  int64_t add_ends() {
    int ends[2] = {shape_.start, shape_.end};
    if (ends[0] < 0) std::swap(ends[0], ends[1]);
    for (int &end : ends)
      if (end < 0)
        for (int v = 0; v < n_; ++v)
          if (v != ends[0] && v != ends[1] && (end < 0 || potential_[v] < potential_[end])) end = v;
    ++surplus_[ends[0]];
    ++surplus_[ends[1]];
    return (int64_t)potential_[ends[0]] + potential_[ends[1]];
  }

  // The leaf whose second edge is longest, among some thousands of cities, other ones in each round.
  int64_t add_edge(int round) {
    int64_t longest = INT64_MIN;
    int leaf = -1, other = -1;
    leaves_.clear();
    for (int k = 0, v = (int)((int64_t)round * 7919 % n_); k < n_ && (k < schedule::leaves || leaf < 0);
         ++k, v = v + 1 < n_ ? v + 1 : 0) {
      if (surplus_[v] != -1) continue;
      int to = -1;
      const int64_t length = second_edge(v, &to);
      leaves_.push_back({length, v});
      if (length > longest) {
        longest = length;
        leaf = v;
        other = to;
      }
    }
    ++surplus_[leaf];
    ++surplus_[other];
    return longest;
  }

  int64_t second_edge(int v, int *other) const {
    TwoShortest found;
    for (const Arc *arc = graph_.begin(v); arc < graph_.end(v); ++arc)
      found.add((int64_t)arc->cost + potential_[v] + potential_[arc->to], arc->to);
    *other = found.second_to;
    return found.second;
  }

  // The exact bound for the present potentials, over all pairs, and a graph with all edges that it needs. False if it
  // could not be found, as the token stopped it or as there were too many pairs; the graph has some of them then.
  bool certify(int round, bool last, const StopToken &token) {
    const double began = monotonic_seconds();
    clusters_.forget_steps();
    PathMaxima maxima;
    if (!maxima.build(tree_.release(), n_, team_.threads(), token)) return false;
    const Violated violated = pricing_.price(potential_.data(), maxima, 8 * (int64_t)n_, team_.threads(), token);
    if (token.stopped()) return false;
    if (last) {
      maxima = PathMaxima();
      if (!violated.pairs.empty()) add_edges(violated.pairs);
    } else {
      renew_graph(maxima, violated.pairs);
    }
    if (!violated.pairs.empty() || !shape_.further.empty()) value_ = evaluate(round);
    if (!violated.complete) return false;
    int root = 0;
    const int64_t further = further_cities();
    if (!shape_.open) {
      std::vector<uint64_t> missing;
      const int64_t certified = tree_value_ + further + exact_second_edge(&root, &missing);
      if (!missing.empty()) {
        tree_.release();
        add_edges(missing);
        value_ = evaluate(round);
      }
      keep(certified, root, round);
    } else {
      keep(value_ + further + second_free_end(), root, round);
    }
    pricing_seconds_ = monotonic_seconds() - began;
    return true;
  }

  // What cities at places of others, with the same potentials, add to the bound. In the shortest tree of all cities each
  // hangs at its own place, or, as the others' own would, at the nearest one: every tree that has it in another way
  // becomes a tree of the others, and no longer, if it is taken for the city at its place and an edge of the cycle, the
  // one at it, is left out. A city's shortest edge is in every shortest tree.
  int64_t further_cities() {
    if (shape_.further.empty()) return 0;
    shortest_edge_.assign(n_, INT64_MAX);
    degree_.assign(n_, 0);
    for (const TreeEdge &edge : tree_.edges())
      for (const int v : {edge.low, edge.high}) {
        shortest_edge_[v] = std::min<int64_t>(shortest_edge_[v], edge.length);
        ++degree_[v];
      }
    int64_t sum = 0;
    for (int v = 0; v < n_; ++v)
      sum += shape_.further[v] * std::min<int64_t>(0, shortest_edge_[v] - 2 * (int64_t)potential_[v]);
    return sum;
  }

  // Whether the cities of a place that is a leaf of the tree may have a higher potential, up to where the way to one
  // another is as long as the one to the nearest place: the tree is the same, and as much longer as is subtracted.
  bool can_rise(int v) const {
    const int64_t risen = shortest_edge_[v] - potential_[v];
    return degree_[v] == 1 && risen >= potential_[v] && risen <= max_potential;
  }

  int further_at(int v) const { return shape_.further.empty() ? 0 : shape_.further[v]; }

  // Both free ends of a path may be at one place: what that takes from add_ends().
  int64_t second_free_end() const {
    if (shape_.further.empty() || shape_.start >= 0 || shape_.end >= 0) return 0;
    int least = 0, second = -1;
    for (int v = 1; v < n_; ++v)
      if (potential_[v] < potential_[least]) least = v;
    if (shape_.further[least] == 0) return 0;
    for (int v = 0; v < n_; ++v)
      if (v != least && (second < 0 || potential_[v] < potential_[second])) second = v;
    return (int64_t)potential_[least] - potential_[second];
  }

  void keep(int64_t certified, int root, int round) {
    best_.certified = true;
    if (certified <= best_.value) return;
    best_.value = certified;
    best_.potential = potential_;
    if (!shape_.open && further_at(root) > 1 && can_rise(root))
      best_.potential[root] = (int)shortest_edge_[root] - potential_[root];
    best_.root = root;
    best_.rounds = round;
  }

  // The longest second edge in the complete graph of the leaves that were looked at. Those that the graph lacks are
  // `missing`: without them potentials would climb along an edge that is far too long.
  int64_t exact_second_edge(int *root, std::vector<uint64_t> *missing) {
    std::sort(leaves_.begin(), leaves_.end(), [](const Leaf &a, const Leaf &b) {
      return a.second > b.second || (a.second == b.second && a.city < b.city);
    });
    int64_t longest = INT64_MIN;
    // Of several cities at one place some are leaves, whose second edge leads to another of them, or, if there are only
    // two, to the nearest place.
    for (int v = 0; v < n_ && !shape_.further.empty(); ++v) {
      if (shape_.further[v] == 0) continue;
      int64_t second = shortest_edge_[v];
      if (shape_.further[v] > 1 && !can_rise(v)) second = std::min(second, 2 * (int64_t)potential_[v]);
      if (second > longest) {
        longest = second;
        *root = v;
      }
    }
    for (const Leaf &leaf : leaves_) {
      if (leaf.second <= longest) break;
      if (further_at(leaf.city) > 0) continue;
      const int v = leaf.city, fixed = shape_.fixed_at(v, 0);
      TwoShortest found = pricing_.shortest(v, fixed);
      if (fixed >= 0) {  // which is the first one
        found.second = found.first;
        found.second_to = found.first_to;
      }
      if (shape_.fixed_at(v, 1) >= 0) found.second = leaf.second;  // as all edges of the tour are fixed
      const bool twice = further_at(found.first_to) > 0;           // there are two cities as near
      if (twice) found.second = found.first;
      if (found.second < leaf.second && !twice) missing->push_back(edge_key(v, found.second_to));
      if (found.second > longest) {
        longest = found.second;
        *root = v;
      }
    }
    std::sort(missing->begin(), missing->end());
    missing->erase(std::unique(missing->begin(), missing->end()), missing->end());
    return longest;
  }

  // Adds violated pairs and leaves out edges that are longer than the tree's path by so much that hardly any of them will
  // be in a tree again; pricing brings back those that should be. The tour's edges stay: the graph is connected, and its
  // bound below the tour's length. So do the two shortest edges of each city, for one of them is a leaf's second edge.
  void renew_graph(const PathMaxima &maxima, const std::vector<uint64_t> &violated) {
    const auto length_of = [&](int v, const Arc &arc) { return arc.cost + potential_[v] + potential_[arc.to]; };
    std::vector<int> second(n_);
    for_chunks(team_, n_, [&](int, int begin, int end) {
      int ignored;
      for (int v = begin; v < end; ++v) second[v] = (int)std::min<int64_t>(INT_MAX, second_edge(v, &ignored));
    });
    const double far_share = graph_.edges() <= (int64_t)schedule::max_edges * n_ ? 1.0 : 0.0;
    const auto stays = [&](int v, const Arc &arc) {
      if (successor_[v] == arc.to || successor_[arc.to] == v) return true;
      const int length = length_of(v, arc), spacing = std::min(spacing_[v], spacing_[arc.to]);
      return length <= second[v] || length <= second[arc.to] ||
             length - (int64_t)maxima.between_cities(v, arc.to) <=
                 std::max(schedule::reach * spacing, far_share * (arc.cost - schedule::near_spacings * spacing));
    };
    graph_.renew(violated, stays, [&](int a, int b) { return cost(a, b); }, team_);
  }

  void add_edges(const std::vector<uint64_t> &added) {
    const auto stays = [](int, const Arc &) { return true; };
    graph_.renew(added, stays, [&](int a, int b) { return cost(a, b); }, team_);
  }

  // Along the surplus of edges, of cities and of clusters, with momentum and steps that cool.
  void step(double progress, bool first) {
    constexpr double momentum = schedule::momentum;
    clusters_.find_steps(surplus_, team_);
    const auto direction = [&](int v) { return (int64_t)spacing_[v] * surplus_[v] + clusters_.step_of(v); };
    const int64_t slope = sum_chunks<int64_t>(team_, n_, [&](int begin, int end) {
      int64_t sum = 0;
      for (int v = begin; v < end; ++v) sum += surplus_[v] * direction(v);
      return sum;
    });
    // No longer than what would reach the tour's length if the bound rose in a straight line.
    double length = schedule::first_length * (1.0 - progress) * (1.0 - progress);
    if (slope > 0) length = std::min(length, std::max((double)(tour_length_ - value_), 1e-4 * tour_length_) / slope);
    for_chunks(team_, n_, [&](int, int begin, int end) {
      for (int v = begin; v < end; ++v) {
        const double along = (double)direction(v);
        velocity_[v] = first ? along : momentum * velocity_[v] + (1.0 - momentum) * along;
        exact_[v] += length * velocity_[v];
        potential_[v] = rounded(exact_[v]);
      }
    });
  }

  static int rounded(double exact) {
    return (int)std::lrint(std::max(-(double)max_potential, std::min((double)max_potential, exact)));
  }

  struct Leaf {
    int64_t second;
    int city;
  };

  Pricing &pricing_;
  const TourShape shape_;
  const std::vector<int> spacing_;
  const int n_;
  Team &team_;
  int64_t fixed_edges_ = 0, tour_length_ = 0, tree_value_ = 0, value_ = 0;
  double pricing_seconds_ = 0.0;
  std::vector<int> successor_, potential_, surplus_;
  std::vector<int64_t> shortest_edge_;  // of the tree, at each city
  std::vector<int> degree_;
  std::vector<double> exact_, velocity_;
  std::vector<Leaf> leaves_;
  SparseGraph graph_;
  SpanningTree tree_;
  Clusters clusters_;
  CertifiedBound best_;
};

}  // namespace warptsp::bound
