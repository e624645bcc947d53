// A tree whose edges are minimum cuts between all pairs of nodes of a graph (Gomory and Hu, 1961). Host code only.
//
// It is built by one maximum flow for each node, in the graph as it is (Gusfield, 1990). Flows end where they reach a
// limit: their cuts are of no interest, and no lighter cut separates their ends.
#pragma once
#include <algorithm>
#include <utility>
#include <vector>

#include "proof/support.h"

namespace warptsp::proof {

class CutTree {
 public:
  typedef Support::Edge Arc;

  // The arcs of node v are [begin[v], begin[v + 1]); each edge has two of the same value.
  CutTree(const std::vector<int> &begin, std::vector<Arc> arcs)
      : n_((int)begin.size() - 1), begin_(begin), arcs_(std::move(arcs)), reverse_(arcs_.size()),
        flow_(arcs_.size(), 0.0), from_(n_, -1), parent_(n_, -1), weight_(n_, 0.0), component_(n_, -1), children_(n_) {
    for (int v = 0; v < n_; ++v)
      for (int a = begin_[v]; a < begin_[v + 1]; ++a) {
        const int to = arcs_[a].to;
        if (to < v) continue;
        int b = begin_[to];
        while (arcs_[b].to != v) ++b;
        reverse_[a] = b;
        reverse_[b] = a;
      }
  }

  // Visits one side of each cut of the tree that weighs less; first whole components, which weigh nothing.
  template <class Visit>
  void for_cuts_below(double limit, const Visit &visit) {
    for (int root = 0; root < n_; ++root) {
      if (component_[root] >= 0) continue;
      const std::vector<int> nodes = component_of(root);
      visit(nodes);
      if (nodes.size() >= 3) build(nodes, limit, visit);
    }
  }

 private:
  std::vector<int> component_of(int root) {
    std::vector<int> nodes{root};
    component_[root] = root;
    for (size_t i = 0; i < nodes.size(); ++i)
      for (int a = begin_[nodes[i]]; a < begin_[nodes[i] + 1]; ++a)
        if (component_[arcs_[a].to] < 0) {
          component_[arcs_[a].to] = root;
          nodes.push_back(arcs_[a].to);
        }
    return nodes;
  }

  template <class Visit>
  void build(const std::vector<int> &nodes, double limit, const Visit &visit) {
    for (const int v : nodes) parent_[v] = nodes[0];
    for (size_t i = 1; i < nodes.size(); ++i) {
      const int s = nodes[i], t = parent_[s];
      weight_[s] = flow(s, t, limit);
      if (weight_[s] < limit) {
        // reached_: the side of s
        for (const int v : nodes)
          if (v != s && is_reached(v) && parent_[v] == t) parent_[v] = s;
        if (is_reached(parent_[t])) {
          parent_[s] = parent_[t];
          parent_[t] = s;
          std::swap(weight_[s], weight_[t]);
        }
      }
      undo();
    }
    for (const int v : nodes)
      if (v != nodes[0]) children_[parent_[v]].push_back(v);
    for (const int v : nodes) {
      if (v == nodes[0] || weight_[v] >= limit) continue;
      std::vector<int> side{v};
      for (size_t i = 0; i < side.size(); ++i)
        side.insert(side.end(), children_[side[i]].begin(), children_[side[i]].end());
      visit(side);
    }
  }

  // The maximum flow from s to t, or the limit where that is reached; what s still reaches is its side of a least cut.
  double flow(int s, int t, double limit) {
    constexpr double least = 1e-9;
    double sum = 0.0;
    while (sum < limit) {
      forget_reached();
      reached_.push_back(s);
      from_[s] = none;
      for (size_t i = 0; i < reached_.size() && from_[t] == unreached; ++i) {
        const int v = reached_[i];
        for (int a = begin_[v]; a < begin_[v + 1]; ++a)
          if (from_[arcs_[a].to] == unreached && arcs_[a].value - flow_[a] > least) {
            from_[arcs_[a].to] = a;
            reached_.push_back(arcs_[a].to);
          }
      }
      if (from_[t] == unreached) return sum;
      double most = limit - sum;
      for (int v = t; v != s; v = arcs_[reverse_[from_[v]]].to)
        most = std::min(most, arcs_[from_[v]].value - flow_[from_[v]]);
      for (int v = t; v != s; v = arcs_[reverse_[from_[v]]].to) {
        const int a = from_[v];
        flow_[a] += most;
        flow_[reverse_[a]] -= most;
        changed_.push_back(a);
      }
      sum += most;
    }
    return limit;
  }

  bool is_reached(int v) const { return from_[v] != unreached; }
  void forget_reached() {
    for (const int v : reached_) from_[v] = unreached;
    reached_.clear();
  }
  void undo() {
    for (const int a : changed_) flow_[a] = flow_[reverse_[a]] = 0.0;
    changed_.clear();
    forget_reached();
  }

  static constexpr int unreached = -1, none = -2;

  const int n_;
  const std::vector<int> begin_;
  const std::vector<Arc> arcs_;
  std::vector<int> reverse_;
  std::vector<double> flow_;
  std::vector<int> from_;  // of each node: the arc by which it was reached
  std::vector<int> parent_;
  std::vector<double> weight_;  // of the cut between a node and its parent
  std::vector<int> component_, reached_, changed_;
  std::vector<std::vector<int>> children_;
};

}  // namespace warptsp::proof
