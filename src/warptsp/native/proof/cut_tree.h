// A tree whose edges are minimum cuts between all pairs of nodes of a graph (Gomory and Hu, 1961). Host code only.
//
// The graphs here are sparse, and most nodes have one or two edges. A node of one edge hangs on its neighbour. A chain of
// nodes of two edges is one edge of its least weight; the nodes on each side of that hang on the chain's end (EXP-573).
// What is left, the core, takes one maximum flow for each node, in the graph as it is (Gusfield, 1990). Flows end where
// they reach a limit: their cuts are of no interest, and no lighter cut separates their ends.
#pragma once
#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "proof/support.h"

namespace warptsp::proof {

class CutTree {
 public:
  typedef Support::Edge Arc;

  // The arcs of node v are [begin[v], begin[v + 1]); each edge has two of the same value.
  CutTree(const std::vector<int> &begin, const std::vector<Arc> &arcs)
      : n_((int)begin.size() - 1), part_(n_, core), parent_(n_, -1), weight_(n_, 0.0), children_(n_), edges_(n_),
        from_(n_, unreached) {
    const Graph graph{begin, arcs};
    const std::vector<int> degree = hang_leaves(graph);
    for (int v = 0; v < n_; ++v)
      if (part_[v] == core && degree[v] == 2) part_[v] = chain;
    for (int v = 0; v < n_; ++v)
      if (part_[v] == core) follow_chains(graph, v);
    for (int v = 0; v < n_; ++v) {
      if (part_[v] != chain || parent_[v] >= 0) continue;
      part_[v] = core;  // of a cycle that nothing else meets
      follow_chains(graph, v);
    }
  }

  // Visits one side of each cut of the tree that weighs less; first whole components, which weigh nothing.
  template <class Visit>
  void for_cuts_below(double limit, const Visit &visit) {
    for (int root = 0; root < n_; ++root)
      if (part_[root] == core && parent_[root] < 0) {
        build(root, limit);
        visit(side_of(root));
      }
    for (int v = 0; v < n_; ++v)
      if (part_[v] != chain && parent_[v] >= 0 && weight_[v] < limit) visit(side_of(v));
    for (const Chain &chain : chains_) visit_cuts_of(chain, limit, visit);
  }

 private:
  struct Graph {
    const std::vector<int> &begin;
    const std::vector<Arc> &arcs;
    const Arc *first(int v) const { return arcs.data() + begin[v]; }
    const Arc *last(int v) const { return arcs.data() + begin[v + 1]; }
  };
  struct Chain {
    int ends[2];
    double least;  // of its edges
    std::vector<int> inner;
  };
  struct CoreEdge {
    int to, reverse;  // edges_[to][reverse]: the same edge
    double weight, open;
  };
  enum Part : char { core, leaf, chain };

  // Returns how many edges of each node lead to nodes that are no leaves.
  std::vector<int> hang_leaves(const Graph &graph) {
    std::vector<int> degree(n_), leaves;
    const auto look_at = [&](int v) {
      if (degree[v] == 1) leaves.push_back(v);
    };
    for (int v = 0; v < n_; ++v) {
      degree[v] = (int)(graph.last(v) - graph.first(v));
      look_at(v);
    }
    for (size_t i = 0; i < leaves.size(); ++i) {
      const int v = leaves[i];
      if (degree[v] == 0) continue;  // the last of a tree
      const Arc *arc = graph.first(v);
      while (part_[arc->to] == leaf) ++arc;
      part_[v] = leaf;
      hang(v, arc->to, arc->value);
      --degree[arc->to];
      look_at(arc->to);
    }
    return degree;
  }

  void hang(int v, int parent, double weight) {
    parent_[v] = parent;
    weight_[v] = weight;
    children_[parent].push_back(v);
  }

  // Joins a node of the core with those where the chains from it end; each chain once.
  void follow_chains(const Graph &graph, int start) {
    for (const Arc *arc = graph.first(start); arc < graph.last(start); ++arc) {
      if (part_[arc->to] == leaf || parent_[arc->to] >= 0) continue;
      if (part_[arc->to] == core) {
        if (start < arc->to) join(start, arc->to, arc->value);
        continue;
      }
      std::vector<int> path{start, arc->to};
      std::vector<double> weights{arc->value};
      while (part_[path.back()] == chain) {
        const int before = path[path.size() - 2];
        const Arc *next = graph.first(path.back());
        while (part_[next->to] == leaf || next->to == before) ++next;
        path.push_back(next->to);
        weights.push_back(next->value);
      }
      const int count = (int)weights.size();
      const int cheapest = (int)(std::min_element(weights.begin(), weights.end()) - weights.begin());
      const double least = weights[cheapest];
      for (int i = 0; i < cheapest; ++i) hang(path[i + 1], path[i], weights[i] + least);
      for (int i = count - 1; i > cheapest; --i) hang(path[i], path[i + 1], weights[i] + least);
      if (start != path.back()) join(start, path.back(), least);
      chains_.push_back({{start, path.back()}, least, {path.begin() + 1, path.end() - 1}});
    }
  }

  void join(int u, int v, double weight) {
    edges_[u].push_back({v, (int)edges_[v].size(), weight, weight});
    edges_[v].push_back({u, (int)edges_[u].size() - 1, weight, weight});
  }

  // Makes the tree of a component of the core.
  void build(int root, double limit) {
    reach(root, -1, 0.0);
    const std::vector<int> nodes = reached_;
    forget_reached();
    for (size_t i = 1; i < nodes.size(); ++i) parent_[nodes[i]] = root;
    for (size_t i = 1; i < nodes.size(); ++i) {
      const int s = nodes[i], t = parent_[s];
      weight_[s] = flow(s, t, limit);
      if (weight_[s] < limit) {
        // reached_: the side of s
        for (const int v : reached_)
          if (v != s && parent_[v] == t) parent_[v] = s;
        if (parent_[t] >= 0 && is_reached(parent_[t])) {
          parent_[s] = parent_[t];
          parent_[t] = s;
          std::swap(weight_[s], weight_[t]);
        }
      }
      undo();
    }
    for (const int v : nodes)
      if (v != root) children_[parent_[v]].push_back(v);
  }

  // An edge of a chain is cut with the lightest one of the chain, or with what else parts the chain's ends.
  template <class Visit>
  void visit_cuts_of(const Chain &chain, double limit, const Visit &visit) {
    const int below = lightest_between(chain.ends[0], chain.ends[1]);
    const double saved = below >= 0 && weight_[below] < limit ? 2.0 * chain.least - weight_[below] : 0.0;
    for (const int v : chain.inner) {
      if (weight_[v] - std::max(saved, 0.0) >= limit) continue;
      std::vector<int> side = side_of(v);
      if (saved > 0.0) side = either(side_of(below), side);
      visit(side);
    }
  }

  // The lower node of the lightest edge of the tree between two nodes of the core; -1 if they are the same.
  int lightest_between(int u, int v) const {
    int lightest = -1;
    for (int of_u = depth(u), of_v = depth(v); u != v;) {
      int &lower = of_u > of_v ? u : v;
      --(of_u > of_v ? of_u : of_v);
      if (lightest < 0 || weight_[lower] < weight_[lightest]) lightest = lower;
      lower = parent_[lower];
    }
    return lightest;
  }

  int depth(int v) const {
    int steps = 0;
    for (; parent_[v] >= 0; v = parent_[v]) ++steps;
    return steps;
  }

  // What hangs on a node, and the node.
  std::vector<int> side_of(int v) const {
    std::vector<int> side{v};
    for (size_t i = 0; i < side.size(); ++i)
      side.insert(side.end(), children_[side[i]].begin(), children_[side[i]].end());
    return side;
  }

  // What is in one of two sets, not in both.
  static std::vector<int> either(std::vector<int> a, std::vector<int> b) {
    std::vector<int> both;
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    std::set_symmetric_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
    return both;
  }

  // The maximum flow from s to t, or the limit where that is reached; what s still reaches is its side of a least cut.
  double flow(int s, int t, double limit) {
    constexpr double least_step = 1e-9;
    double sum = 0.0;
    for (double step = 0.3; sum < limit;) {
      forget_reached();
      reach(s, t, step);
      if (!is_reached(t)) {
        if (step <= least_step) return sum;
        step = step > 1e-3 ? 0.1 * step : least_step;
        continue;
      }
      double most = limit - sum;
      for (int v = t; v != s;) {
        const CoreEdge &back = edges_[v][from_[v]];
        most = std::min(most, edges_[back.to][back.reverse].open);
        v = back.to;
      }
      for (int v = t; v != s;) {
        CoreEdge &back = edges_[v][from_[v]];
        back.open += most;
        edges_[back.to][back.reverse].open -= most;
        changed_.push_back({v, from_[v]});
        v = back.to;
      }
      sum += most;
    }
    return limit;
  }

  // Looks, in breadth, at what s reaches by edges that take more, until that is t.
  void reach(int s, int t, double least) {
    reached_.push_back(s);
    from_[s] = none;
    for (size_t i = 0; i < reached_.size(); ++i)
      for (const CoreEdge &edge : edges_[reached_[i]])
        if (from_[edge.to] == unreached && edge.open > least) {
          from_[edge.to] = edge.reverse;
          reached_.push_back(edge.to);
          if (edge.to == t) return;
        }
  }

  bool is_reached(int v) const { return from_[v] != unreached; }
  void forget_reached() {
    for (const int v : reached_) from_[v] = unreached;
    reached_.clear();
  }
  void undo() {
    for (const auto &[v, e] : changed_) {
      CoreEdge &edge = edges_[v][e], &other = edges_[edge.to][edge.reverse];
      edge.open = other.open = edge.weight;
    }
    changed_.clear();
    forget_reached();
  }

  static constexpr int unreached = -1, none = -2;

  const int n_;
  std::vector<Part> part_;
  std::vector<int> parent_;
  std::vector<double>
      weight_;  // of the cut between a node and its parent, for a node of a chain with its lightest edge
  std::vector<std::vector<int>> children_;
  std::vector<Chain> chains_;
  std::vector<std::vector<CoreEdge>> edges_;  // of the core
  std::vector<int> from_;                     // of each node: its edge to the node that reached it
  std::vector<int> reached_;
  std::vector<std::pair<int, int>> changed_;  // nodes and their edges
};

}  // namespace warptsp::proof
