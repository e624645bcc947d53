// Sets of cities that too few edges leave (Dantzig, Fulkerson and Johnson, 1954). Host code only.
#pragma once
#include <algorithm>
#include <queue>
#include <utility>
#include <vector>

#include "proof/found_cuts.h"

namespace warptsp::proof {

// Adds the components of the support; their number.
inline int find_components(FoundCuts &found) {
  const std::vector<std::vector<int>> sets = components(found.support(), [](double value) { return value > 1e-5; });
  if (sets.size() > 1)
    for (const std::vector<int> &set : sets) found.add_subtour(set);
  return (int)sets.size();
}

// Segments of a tour, for each first city the one that is left least; at most 150 times the scale.
inline void find_segments(FoundCuts &found, const std::vector<int> &tour, size_t scale) {
  const size_t most = 150 * scale;
  struct Segment {
    double leaving;
    int first, last;
  };
  const Support &support = found.support();
  const int n = support.size();
  std::vector<int> place(n);
  for (int p = 0; p < n; ++p) place[tour[p]] = p;
  std::vector<Segment> segments;
  for (int first = 0; first < n; ++first) {
    double leaving = 0.0, least = 1.95;
    int best = -1;
    for (int last = first; last < n && last - first < n / 2 + 1; ++last) {
      for (const Support::Edge &edge : support.around(tour[last])) {
        const bool is_inside = place[edge.to] >= first && place[edge.to] < last;
        leaving += is_inside ? -edge.value : edge.value;
      }
      if (last > first && leaving < least) {
        least = leaving;
        best = last;
      }
    }
    if (best >= 0) segments.push_back({least, first, best});
  }
  std::stable_sort(segments.begin(), segments.end(),
                   [](const Segment &a, const Segment &b) { return a.leaving < b.leaving; });
  if (segments.size() > most) segments.resize(most);
  for (const Segment &segment : segments)
    found.add_subtour(std::vector<int>(tour.begin() + segment.first, tour.begin() + segment.last + 1));
}

// Minimum cuts by maximum adjacency orders (Stoer and Wagner, 1997), of the support with its edges of weight 1
// contracted: every cut of a phase with a weight below 2 is added, and sets that exactly 2 leave go into `tight`.
class MinimumCuts {
 public:
  MinimumCuts(FoundCuts &found, std::vector<std::vector<int>> &tight)
      : found_(found), tight_(tight), graph_(found.support()), set_(graph_.size()) {
    for (int v = 0; v < graph_.size(); ++v) set_[v] = {v};
  }

  void find(size_t scale) {
    const size_t enough = 200 * scale;
    contract_from(graph_.nodes(), 1.0);
    std::vector<int> nodes = graph_.nodes();
    while (nodes.size() > 1 && found_.size() <= enough) {
      const Phase phase = maximum_adjacency(nodes);
      if (phase.last < 0 || phase.before < 0) break;
      add(phase.last, phase.weight);
      merge_connected();
      if (graph_.is_node(phase.last) && graph_.is_node(phase.before)) merge(phase.before, phase.last);
      contract_from({graph_.node_of(phase.before)}, 2.0);
      nodes.erase(std::remove_if(nodes.begin(), nodes.end(), [&](int v) { return !graph_.is_node(v); }), nodes.end());
    }
  }

 private:
  struct Phase {
    int before = -1, last = -1;
    double weight = 0.0;
  };

  void add(int node, double weight) {
    if (weight < 2.0 - 0.02)
      found_.add_subtour(set_[node]);
    else if (weight < 2.0 + 1e-6 && set_[node].size() > 1)
      tight_.push_back(set_[node]);
  }

  void merge(int a, int b) {
    graph_.merge(a, b);
    set_[a].insert(set_[a].end(), set_[b].begin(), set_[b].end());
    set_[b].clear();
  }

  // No minimum cut below 2 is lost where an edge of this weight is contracted, if the sets on the way are looked at.
  void contract_from(std::vector<int> queue, double weight) {
    while (!queue.empty()) {
      const int v = queue.back();
      queue.pop_back();
      if (!graph_.is_node(v)) continue;
      for (const Support::Edge &edge : graph_.around(v)) {
        if (edge.value < weight - 1e-7) continue;
        add(v, graph_.degree(v));
        merge(v, edge.to);
        queue.push_back(v);
        break;
      }
    }
  }

  // Where paths of weight 2 join the ends of edges, no cut below 2 parts them (Nagamochi and Ibaraki, 1992).
  void merge_connected() {
    for (const auto &[u, v] : connected_) {
      const int a = graph_.node_of(u), b = graph_.node_of(v);
      if (a == b) continue;
      merge(a, b);
      add(a, graph_.degree(a));
    }
  }

  Phase maximum_adjacency(const std::vector<int> &nodes) {
    key_.assign(graph_.size(), 0.0);
    taken_.assign(graph_.size(), 0);
    connected_.clear();
    std::priority_queue<std::pair<double, int>> queue;
    for (const int v : nodes) queue.push({0.0, v});
    Phase phase;
    while (!queue.empty()) {
      const auto [key, v] = queue.top();
      queue.pop();
      if (taken_[v] != 0 || key < key_[v] - 1e-12) continue;
      taken_[v] = 1;
      phase.before = phase.last;
      phase.last = v;
      phase.weight = key_[v];
      for (const Support::Edge &edge : graph_.around(v))
        if (taken_[edge.to] == 0) {
          key_[edge.to] += edge.value;
          queue.push({key_[edge.to], edge.to});
          if (key_[edge.to] > 2.0 - 1e-7) connected_.emplace_back(v, edge.to);
        }
    }
    return phase;
  }

  FoundCuts &found_;
  std::vector<std::vector<int>> &tight_;
  Contraction graph_;
  std::vector<std::vector<int>> set_;
  std::vector<double> key_;
  std::vector<char> taken_;
  std::vector<std::pair<int, int>> connected_;
};

}  // namespace warptsp::proof
