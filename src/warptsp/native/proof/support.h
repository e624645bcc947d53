// The edges that a solution of the linear program takes, wholly or in part, and how graphs of them are contracted.
// Host code only.
#pragma once
#include <cstddef>
#include <utility>
#include <vector>

#include "common/disjoint_sets.h"
#include "common/random.h"
#include "common/shuffle.h"

namespace warptsp::proof {

class Support {
 public:
  struct Edge {
    int to;
    double value;
  };
  struct Edges {
    const Edge *first, *last;
    const Edge *begin() const { return first; }
    const Edge *end() const { return last; }
  };

  // Edge e joins ends[2 e] and ends[2 e + 1] with the weight values[e].
  void build(int n, const std::vector<int> &ends, const double *values) {
    constexpr double least = 1e-7;
    begin_.assign((size_t)n + 1, 0);
    const size_t count = ends.size() / 2;
    for (size_t e = 0; e < count; ++e)
      if (values[e] > least) {
        ++begin_[ends[2 * e] + 1];
        ++begin_[ends[2 * e + 1] + 1];
      }
    for (int v = 0; v < n; ++v) begin_[v + 1] += begin_[v];
    edges_.resize(begin_[n]);
    std::vector<int> next(begin_.begin(), begin_.end() - 1);
    for (size_t e = 0; e < count; ++e)
      if (values[e] > least) {
        const int u = ends[2 * e], v = ends[2 * e + 1];
        edges_[next[u]++] = {v, values[e]};
        edges_[next[v]++] = {u, values[e]};
      }
  }

  int size() const { return (int)begin_.size() - 1; }
  Edges around(int v) const { return {edges_.data() + begin_[v], edges_.data() + begin_[v + 1]}; }

 private:
  std::vector<int> begin_;
  std::vector<Edge> edges_;
};

// What the edges whose weight `joins` connect; sets of one city, too.
template <class Joins>
std::vector<std::vector<int>> components(const Support &support, const Joins &joins) {
  std::vector<char> seen(support.size(), 0);
  std::vector<std::vector<int>> found;
  for (int s = 0; s < support.size(); ++s) {
    if (seen[s] != 0) continue;
    std::vector<int> component{s};
    seen[s] = 1;
    for (size_t i = 0; i < component.size(); ++i)
      for (const Support::Edge &edge : support.around(component[i]))
        if (joins(edge.value) && seen[edge.to] == 0) {
          seen[edge.to] = 1;
          component.push_back(edge.to);
        }
    found.push_back(std::move(component));
  }
  return found;
}

// A graph whose nodes are merged step by step: parallel edges add up, loops vanish.
class Contraction {
 public:
  explicit Contraction(const Support &support) : around_(support.size()), into_(support.size()) {
    for (int v = 0; v < support.size(); ++v) {
      const Support::Edges edges = support.around(v);
      around_[v].assign(edges.begin(), edges.end());
      into_[v] = v;
    }
  }

  int size() const { return (int)into_.size(); }
  bool is_node(int v) const { return into_[v] == v; }
  std::vector<int> nodes() const {
    std::vector<int> found;
    for (int v = 0; v < size(); ++v)
      if (is_node(v)) found.push_back(v);
    return found;
  }
  const std::vector<Support::Edge> &around(int v) const { return around_[v]; }

  // The node that this one is a part of by now.
  int node_of(int v) { return root_of(into_, v); }

  double degree(int v) const {
    double sum = 0.0;
    for (const Support::Edge &edge : around_[v]) sum += edge.value;
    return sum;
  }

  double between(int u, int v) const {
    for (const Support::Edge &edge : around_[u])
      if (edge.to == v) return edge.value;
    return 0.0;
  }

  // Merges the node b into the node a.
  void merge(int a, int b) {
    remove(a, b);
    for (const Support::Edge &edge : around_[b]) {
      if (edge.to == a) continue;
      remove(edge.to, b);
      add(a, edge.to, edge.value);
      add(edge.to, a, edge.value);
    }
    around_[b].clear();
    into_[b] = a;
  }

  // Merges each node, in an order of chance, with a neighbour where fewer than so many edges leave both together, those
  // that fewest leave; a node once at most. Whether any was merged.
  bool merge_pairs(double most_leaving, Random &random) {
    std::vector<int> nodes = this->nodes();
    shuffle(nodes, random);
    std::vector<char> is_new(size(), 0);
    bool any = false;
    for (const int v : nodes) {
      if (!is_node(v) || is_new[v] != 0) continue;
      const double here = degree(v);
      int best = -1;
      double least = most_leaving;
      for (const Support::Edge &edge : around(v)) {
        if (is_new[edge.to] != 0) continue;
        const double leaving = here + degree(edge.to) - 2.0 * edge.value + 0.02 * random.unit();
        if (leaving < least) {
          least = leaving;
          best = edge.to;
        }
      }
      if (best < 0) continue;
      merge(v, best);
      is_new[v] = 1;
      any = true;
    }
    return any;
  }

 private:
  void remove(int from, int to) {
    std::vector<Support::Edge> &edges = around_[from];
    for (Support::Edge &edge : edges)
      if (edge.to == to) {
        edge = edges.back();
        edges.pop_back();
        return;
      }
  }
  void add(int from, int to, double value) {
    for (Support::Edge &edge : around_[from])
      if (edge.to == to) {
        edge.value += value;
        return;
      }
    around_[from].push_back({to, value});
  }

  std::vector<std::vector<Support::Edge>> around_;
  std::vector<int> into_;
};

}  // namespace warptsp::proof
