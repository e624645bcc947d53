// Local cuts: facets of small graphs that are left when all but a piece of the support is contracted. Host code only.
//
// Applegate, Bixby, Chvatal and Cook, "TSP cuts which do not conform to the template paradigm" (2001).
#pragma once
#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "common/random.h"
#include "common/shuffle.h"
#include "common/stop_token.h"
#include "proof/facets.h"
#include "proof/found_cuts.h"

namespace warptsp::proof {

class LocalCuts {
 public:
  static constexpr int ways_to_shrink = 10;
  static constexpr int far_ways = 8;  // after those, for large pieces
  // Solutions and their means are full of edges that are off 0 or 1 by this and less: these are not worth nodes (EXP-577).
  static constexpr double little = 0.01;

  explicit LocalCuts(FoundCuts &found) : found_(found) {}

  // Cuts of up to `classes` classes. `way`: odd ones contract all edges of about the weight 1, even ones only those whose
  // contraction loses hardly a violated cut; 2 and 3: half of the tight sets are contracted first; from 4 on neighbours
  // that up to 2, 2.5 or 3 edges leave together are merged in pairs afterwards, one to three times; from 10 on that up to
  // 2.3 or 2.5 leave, two or three times. No piece grows from a city that `rests`.
  void find(int classes, int way, const std::vector<std::vector<int>> &tight, size_t enough, Random &random,
            const StopToken &token, const std::vector<char> &rests = {}) {
    constexpr int most_times = 3;
    Contraction graph(found_.support());
    if (way == 2 || way == 3) contract_sets(graph, tight, random);
    contract_edges(graph, way % 2 == 1);
    if (way >= 4) {
      const bool is_far = way >= ways_to_shrink;
      const double most_leaving = is_far ? (way / 4 % 2 == 0 ? 2.3 : 2.52) : 2.02 + 0.5 * (way / 2 - 2);
      for (int left = is_far ? 2 + way / 2 % 2 : 1 + random.below(3); left > 0; --left)
        graph.merge_pairs(most_leaving, random);
    }
    const int n = graph.size();
    std::vector<int> nodes = graph.nodes();
    if ((int)nodes.size() < 5) return;
    shuffle(nodes, random);
    number_.assign(n, -1);
    key_.assign(n, 0.0);
    std::vector<int> covered(n, 0);
    std::set<std::vector<int>> seen;
    const size_t before = found_.size();
    for (const int seed : nodes) {
      if (found_.size() - before >= enough || token.stopped()) return;
      if (covered[seed] >= most_times || (!rests.empty() && rests[seed] != 0) || !is_fractional(graph, seed)) continue;
      const bool is_whole = grow(graph, seed, classes - 1, random);
      std::vector<int> sorted = piece_;
      std::sort(sorted.begin(), sorted.end());
      const int k = (int)piece_.size() + (is_whole ? 0 : 1);
      tried_.push_back(seed);
      if (k >= 6 && seen.insert(sorted).second && separate(graph, k, random))
        for (const int v : piece_) {
          ++covered[v];
          useful_.push_back(v);
        }
      for (const int v : piece_) number_[v] = -1;
    }
  }

  // From where pieces grew, and cities of those that gave a cut.
  const std::vector<int> &tried() const { return tried_; }
  const std::vector<int> &useful() const { return useful_; }

 private:
  static bool is_fractional(const Contraction &graph, int v) {
    return std::any_of(graph.around(v).begin(), graph.around(v).end(),
                       [](const Support::Edge &edge) { return edge.value > little && edge.value < 1.0 - little; });
  }

  static void contract_sets(Contraction &graph, const std::vector<std::vector<int>> &sets, Random &random) {
    std::vector<int> order(sets.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = (int)i;
    shuffle(order, random);
    for (const int i : order) {
      const std::vector<int> &set = sets[i];
      if ((int)set.size() >= graph.size() / 2 || random.below(2) == 0) continue;
      if (!std::all_of(set.begin(), set.end(), [&](int v) { return graph.is_node(v); })) continue;
      for (size_t k = 1; k < set.size(); ++k) graph.merge(set[0], set[k]);
    }
  }

  // An edge of weight 1 whose ends are joined to a third node with 1 together may go (Padberg and Rinaldi, 1990).
  static bool may_go(const Contraction &graph, int u, int v) {
    for (const Support::Edge &edge : graph.around(u))
      if (edge.to != v && edge.value + graph.between(v, edge.to) >= 1.0 - little) return true;
    return std::any_of(graph.around(v).begin(), graph.around(v).end(),
                       [&](const Support::Edge &edge) { return edge.to != u && edge.value >= 1.0 - little; });
  }

  static void contract_edges(Contraction &graph, bool all) {
    std::vector<int> queue = graph.nodes();
    while (!queue.empty()) {
      const int v = queue.back();
      queue.pop_back();
      if (!graph.is_node(v)) continue;
      int gone = -1;
      for (const Support::Edge &edge : graph.around(v))
        if (edge.value >= 1.0 - little && (all || may_go(graph, v, edge.to))) {
          gone = edge.to;
          break;
        }
      if (gone < 0) continue;
      graph.merge(v, gone);
      queue.push_back(v);
      for (const Support::Edge &edge : graph.around(v)) queue.push_back(edge.to);
    }
  }

  // Fills `piece_` with up to so many nodes around a seed, those with the heaviest edges first. Whether that is all.
  bool grow(const Contraction &graph, int seed, int most, Random &random) {
    piece_ = {seed};
    number_[seed] = 0;
    std::vector<int> reached;
    const auto reach = [&](int v) {
      for (const Support::Edge &edge : graph.around(v)) {
        if (number_[edge.to] >= 0) continue;
        if (key_[edge.to] == 0.0) reached.push_back(edge.to);
        key_[edge.to] += edge.value * (0.7 + 0.6 * random.unit());
      }
    };
    reach(seed);
    while ((int)piece_.size() < most && !reached.empty()) {
      size_t best = 0;
      for (size_t i = 1; i < reached.size(); ++i)
        if (key_[reached[i]] > key_[reached[best]]) best = i;
      const int v = reached[best];
      reached[best] = reached.back();
      reached.pop_back();
      key_[v] = 0.0;
      number_[v] = (int)piece_.size();
      piece_.push_back(v);
      reach(v);
    }
    for (const int v : reached) key_[v] = 0.0;
    return reached.empty();
  }

  bool separate(Contraction &graph, int k, Random &random) {
    const double least_violation = k <= Facets::most_nodes_priced ? 0.004 : 0.002;  // of the right side
    SmallGraph small;
    small.nodes = k;
    weights_.assign((size_t)k * k, 0.0);
    for (const int v : piece_)
      for (const Support::Edge &edge : graph.around(v)) {
        const int i = number_[v], j = number_[edge.to] < 0 ? k - 1 : number_[edge.to];
        if (number_[edge.to] < 0 || i < j) weights_[(size_t)std::min(i, j) * k + std::max(i, j)] += edge.value;
      }
    for (int i = 0; i < k; ++i)
      for (int j = i + 1; j < k; ++j)
        if (weights_[(size_t)i * k + j] > 1e-6) {
          small.from.push_back(i);
          small.to.push_back(j);
          small.weight.push_back(weights_[(size_t)i * k + j]);
        }
    Cut cut;
    std::vector<int> class_of;
    if (!facets_.separate(small, least_violation, random, class_of, cut.length, cut.bound)) return false;
    cut.classes = 1 + *std::max_element(class_of.begin(), class_of.end());
    const int n = graph.size();
    cut.class_of.resize(n);
    for (int v = 0; v < n; ++v) {
      const int number = number_[graph.node_of(v)];
      cut.class_of[v] = (uint8_t)class_of[number < 0 ? k - 1 : number];
    }
    make_canonical(cut);
    if (!found_.add(std::move(cut), least_violation * cut.bound)) return false;
    Cut &added = found_.cuts().back();
    added.violation *= 8.0 / added.bound;  // comparable with subtour constraints
    return true;
  }

  FoundCuts &found_;
  Facets facets_;
  std::vector<int> piece_, number_, tried_, useful_;
  std::vector<double> key_, weights_;
};

// From which cities pieces are worth growing: most lie where none is of use. Where they grew in vain, a city rests for a
// round, and then for 3 (EXP-517).
class PieceSeeds {
 public:
  void clear() { of_city_.clear(); }

  // Begins a round of a graph of n cities; returns which of them rest.
  std::vector<char> resting(int n) {
    of_city_.resize(n);
    tried_.assign(n, untried);
    std::vector<char> rests(n);
    for (int v = 0; v < n; ++v) rests[v] = (char)!of_city_[v].is_over();
    return rests;
  }

  void took(const LocalCuts &local) {
    for (const int v : local.tried()) tried_[v] = vain;
    for (const int v : local.useful()) tried_[v] = of_use;
  }

  void end_round() {
    for (size_t v = 0; v < tried_.size(); ++v)
      if (tried_[v] != untried) of_city_[v].took(tried_[v] == of_use, 2);
  }

 private:
  enum Outcome : char { untried, vain, of_use };
  std::vector<Rest> of_city_;
  std::vector<Outcome> tried_;
};

}  // namespace warptsp::proof
