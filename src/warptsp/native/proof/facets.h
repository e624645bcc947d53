// Facets of the graphical travelling-salesman polyhedron of a small graph that a point violates. Host code only.
//
// Naddef and Rinaldi (1991) describe the polyhedron; Applegate, Bixby, Chvatal and Cook (2001) separate from it by a
// linear programme over tours. Here: pack closed walks through all nodes into the edges' weights. If less than one
// walk fits, the prices of the edges, for which every walk costs 1 at least, are the coefficients of a violated facet.
// Columns are priced by the dynamic programme of least_walk.h; of larger graphs by local search first, and as most
// prices are 0, what is left where nodes at the distance 0 are merged is mostly small enough for the programme. The
// prices are turned into whole numbers, and the right side is computed from these, so that nothing depends on rounding.
#pragma once
#include <algorithm>
#include <climits>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "common/random.h"
#include "common/shuffle.h"
#include "proof/found_walks.h"
#include "proof/least_walk.h"

namespace warptsp::proof {

struct SmallGraph {
  int nodes = 0;
  std::vector<int> from, to;
  std::vector<double> weight;
};

class Facets {
 public:
  static constexpr int most_nodes_priced = 13;  // by the dynamic programme alone

  // Fills the class of each node, without empty ones, and whole distances [classes, classes], a metric, that cost every
  // closed walk `bound` at least, and the graph less.
  bool separate(const SmallGraph &graph, double least_violation, Random &random, std::vector<int> &class_of,
                std::vector<int> &length, int &bound) {
    graph_ = &graph;
    nodes_ = graph.nodes;
    edges_ = (int)graph.from.size();
    if (!pack(1.0 - least_violation, random)) return false;
    const int scale = common_denominator();
    std::vector<int> of_nodes;
    if (scale == 0 || !make_whole(scale, of_nodes)) return false;
    const std::vector<std::vector<int>> classes = classes_within(of_nodes, 0);
    const int c = (int)classes.size();
    if (c < 3 || c > LeastWalks::max_nodes) return false;
    class_of.resize(nodes_);
    for (int i = 0; i < c; ++i)
      for (const int v : classes[i]) class_of[v] = i;
    length = between(classes, of_nodes);
    bound = walks_.least(c, length);
    double value = 0.0;
    joined_.assign((size_t)c * c, 0);
    for (int e = 0; e < edges_; ++e) {
      const int i = class_of[graph.from[e]], j = class_of[graph.to[e]];
      value += length[(size_t)i * c + j] * graph.weight[e];
      joined_[(size_t)i * c + j] = joined_[(size_t)j * c + i] = 1;
    }
    if (value > bound * (1.0 - least_violation)) return false;
    lift(c, length, bound);
    return true;
  }

 private:
  int at(int i, int j) const { return i * nodes_ + j; }

  // The primal simplex method with an explicit inverse: rows are edges, columns walks and slacks. True if the packing
  // is largest, and below `most`.
  bool pack(double most, Random &random) {
    const int iterations = is_wide() ? 8000 : 400;
    const int m = edges_;
    inverse_.assign((size_t)m * m, 0.0);
    used_.resize(m);
    basis_.resize(m);
    price_.assign(m, 0.0);
    columns_.clear();
    candidates_.clear();
    last_walk_.clear();
    edge_of_.assign((size_t)nodes_ * nodes_, -1);
    for (int e = 0; e < m; ++e) {
      inverse_[(size_t)e * m + e] = 1.0;
      used_[e] = graph_->weight[e] + 1e-6 * (1.0 + 10.0 * random.unit());  // against degenerate steps
      basis_[e] = -1 - e;
      edge_of_[at(graph_->from[e], graph_->to[e])] = edge_of_[at(graph_->to[e], graph_->from[e])] = e;
    }
    for (int iteration = 0; iteration < iterations; ++iteration) {
      double packed = 0.0;
      std::fill(price_.begin(), price_.end(), 0.0);
      for (int i = 0; i < m; ++i) {
        if (basis_[i] < 0) continue;
        packed += used_[i];
        const double *const row = &inverse_[(size_t)i * m];
        for (int j = 0; j < m; ++j) price_[j] += row[j];
      }
      if (packed > most) return false;
      int entering = entering_column();
      if (entering == INT_MAX) {
        if (!price_walks(random, entering)) return false;
        if (entering == INT_MAX) return true;
      }
      if (!pivot(entering)) return false;
    }
    return false;
  }

  // A slack, -1 - e, or a known walk, that improves the packing; INT_MAX for none. Most walks cost more than 1 for long:
  // those are looked at again when all others do, too.
  int entering_column() {
    int entering = INT_MAX;
    double least = -1e-8;
    for (int e = 0; e < edges_; ++e)
      if (price_[e] < least) {
        least = price_[e];
        entering = -1 - e;
      }
    if (entering != INT_MAX) return entering;
    entering = cheapest_candidate();
    if (entering != INT_MAX) return entering;
    candidates_.resize(columns_.size());
    std::iota(candidates_.begin(), candidates_.end(), 0);
    return cheapest_candidate();
  }

  // Of the walks that are looked at, which from here on are those that cost less than 1; INT_MAX for none.
  int cheapest_candidate() {
    int cheapest = INT_MAX;
    double least = 1.0 - 1e-5;
    size_t kept = 0;
    for (const int c : candidates_) {
      double cost = 0.0;
      for (const int e : columns_[c]) cost += price_[e];
      if (cost >= 1.0 - 1e-5) continue;
      candidates_[kept++] = c;
      if (cost >= least) continue;
      least = cost;
      cheapest = c;
    }
    candidates_.resize(kept);
    return cheapest;
  }

  // Adds cheap walks; the cheapest one is `entering` if it costs less than 1. False if the graph is not connected, or if
  // it is not known whether a walk costs less.
  bool price_walks(Random &random, int &entering) {
    const int k = nodes_;
    const double least_step = is_wide() ? 1e-5 : 1e-7;  // where walks are found by local search, they are to be short
    // Among walks that cost the same, those for which much is left of their edges bring most (EXP-576).
    left_.assign(edges_, 0.0);
    for (int i = 0; i < edges_; ++i)
      if (basis_[i] < 0) left_[-1 - basis_[i]] = used_[i];
    constexpr double far = 1e6;
    distance_.assign((size_t)k * k, far);
    via_.assign((size_t)k * k, -1);
    for (int i = 0; i < k; ++i) distance_[at(i, i)] = 0.0;
    for (int e = 0; e < edges_; ++e) {
      const int i = graph_->from[e], j = graph_->to[e];
      const double cost = std::max(0.0, price_[e]) + least_step * (0.6 / (0.6 + left_[e]) + 0.2 * random.unit());
      distance_[at(i, j)] = distance_[at(j, i)] = cost;
    }
    // Shortest paths between all nodes (Floyd, 1962).
    for (int z = 0; z < k; ++z)
      for (int i = 0; i < k; ++i) {
        const double *const onward = &distance_[at(z, 0)], first = distance_[at(i, z)];
        double *const distance = &distance_[at(i, 0)];
        int *const via = &via_[at(i, 0)];
        if (first >= far || i == z) continue;
        for (int j = 0; j < k; ++j) {
          const double longer = first + onward[j];
          if (longer >= distance[j] - 1e-15) continue;
          distance[j] = longer;
          via[j] = z;
        }
      }
    for (int j = 1; j < k; ++j)
      if (distance_[j] > 0.1 * far) return false;
    least_ = 1.0 - 1e-5;
    entering_ = INT_MAX;
    if (!is_wide()) {
      const std::vector<std::vector<int>> least = walks_.find(k, distance_.data(), 0.98);
      for (size_t w = 0; w < least.size(); ++w) add_column(least[w], w == 0);
    } else if (!price_wide(random)) {
      return false;
    }
    entering = entering_;
    return true;
  }

  bool is_wide() const { return nodes_ > most_nodes_priced; }

  void add_column(const std::vector<int> &walk, bool always) {
    std::vector<int> column = edges_along(walk);
    double cost = 0.0;
    for (const int e : column) cost += price_[e];
    if (!always && cost >= 0.99) return;
    if (cost < least_) {
      least_ = cost;
      entering_ = (int)columns_.size();
    }
    columns_.push_back(std::move(column));
  }

  // The same for more nodes: by local search, and where that finds none, by the dynamic programme for classes of nodes
  // between which ways cost nothing. False where these are too many.
  bool price_wide(Random &random) {
    constexpr int few_classes = 12;  // for which the dynamic programme takes less time than a local search
    constexpr int kicks = 40;
    constexpr size_t enough = 2;
    constexpr double nothing = 2e-4;
    const std::vector<std::vector<int>> classes = classes_within(distance_, nothing);
    const int c = (int)classes.size();
    if (c > few_classes || c < 3) {
      if (last_walk_.empty()) {
        last_walk_.resize(nodes_);
        std::iota(last_walk_.begin(), last_walk_.end(), 0);
        shuffle(last_walk_, random);
      }
      const auto found = found_.find(nodes_, distance_.data(), last_walk_, 0.97, kicks, enough, random);
      if (!found.empty()) last_walk_ = found[0].nodes;
      for (const FoundWalks::Walk &walk : found) add_column(walk.nodes, false);
      if (entering_ != INT_MAX) return true;
    }
    if (c > LeastWalks::max_nodes || c < 3) return false;
    const std::vector<std::vector<int>> least = walks_.find(c, between(classes, distance_).data(), 0.98);
    for (size_t w = 0; w < least.size(); ++w) {
      std::vector<int> whole;
      for (const int i : least[w]) whole.insert(whole.end(), classes[i].begin(), classes[i].end());
      found_.improve(nodes_, distance_.data(), whole);
      add_column(whole, w == 0);
    }
    return true;
  }

  // The nodes, in sets of those that are no farther from the first of a set than this.
  template <class Number>
  std::vector<std::vector<int>> classes_within(const std::vector<Number> &distance, Number most) const {
    std::vector<std::vector<int>> classes;
    for (int v = 0; v < nodes_; ++v) {
      const auto same = std::find_if(classes.begin(), classes.end(),
                                     [&](const std::vector<int> &set) { return distance[at(set[0], v)] <= most; });
      if (same == classes.end())
        classes.push_back({v});
      else
        same->push_back(v);
    }
    return classes;
  }

  template <class Number>
  std::vector<Number> between(const std::vector<std::vector<int>> &classes, const std::vector<Number> &distance) const {
    std::vector<Number> found;
    for (const std::vector<int> &from : classes)
      for (const std::vector<int> &to : classes) found.push_back(distance[at(from[0], to[0])]);
    return found;
  }

  // The edges of a walk along shortest paths, once or twice each: of any more, two may go.
  std::vector<int> edges_along(const std::vector<int> &walk) const {
    std::vector<int> times(edges_, 0), edges;
    std::vector<std::pair<int, int>> steps;
    for (size_t i = 0; i < walk.size(); ++i) {
      steps.emplace_back(walk[i], walk[(i + 1) % walk.size()]);
      while (!steps.empty()) {
        const auto [a, b] = steps.back();
        steps.pop_back();
        if (a == b) continue;
        const int z = via_[at(a, b)];
        if (z < 0) {
          ++times[edge_of_[at(a, b)]];
        } else {
          steps.emplace_back(a, z);
          steps.emplace_back(z, b);
        }
      }
    }
    for (int e = 0; e < edges_; ++e)
      for (int t = times[e] > 2 ? 2 - times[e] % 2 : times[e]; t > 0; --t) edges.push_back(e);
    return edges;
  }

  bool pivot(int entering) {
    const int m = edges_;
    direction_.assign(m, 0.0);
    for (int i = 0; i < m; ++i) {
      const double *const row = &inverse_[(size_t)i * m];
      if (entering < 0)
        direction_[i] = row[-1 - entering];
      else
        for (const int e : columns_[entering]) direction_[i] += row[e];
    }
    int leaving = -1;
    double step = 1e18;
    for (int i = 0; i < m; ++i) {
      if (direction_[i] <= 1e-9) continue;
      const double ratio = used_[i] / direction_[i];
      if (ratio < step - 1e-13 || (ratio < step + 1e-13 && leaving >= 0 && direction_[i] > direction_[leaving])) {
        step = ratio;
        leaving = i;
      }
    }
    if (leaving < 0) return false;
    double *const pivot_row = &inverse_[(size_t)leaving * m];
    const double pivot = direction_[leaving];
    for (int j = 0; j < m; ++j) pivot_row[j] /= pivot;
    used_[leaving] /= pivot;
    for (int i = 0; i < m; ++i) {
      const double factor = direction_[i];
      if (i == leaving || std::fabs(factor) < 1e-12) continue;
      double *const row = &inverse_[(size_t)i * m];
      for (int j = 0; j < m; ++j) row[j] -= factor * pivot_row[j];
      used_[i] = std::max(0.0, used_[i] - factor * used_[leaving]);
    }
    basis_[leaving] = entering;
    return true;
  }

  // The least number that makes all prices whole; 0 for none up to 100.
  int common_denominator() const {
    for (int scale = 1; scale <= 100; ++scale) {
      const bool fits = std::all_of(price_.begin(), price_.end(), [&](double price) {
        const double scaled = std::max(0.0, price) * scale;
        return std::fabs(scaled - std::round(scaled)) <= 2e-5 * scale;
      });
      if (fits) return scale;
    }
    return 0;
  }

  bool make_whole(int scale, std::vector<int> &length) const {
    const int k = nodes_;
    constexpr int far = 1 << 20, longest = 100000;  // sums of 16 stay below 2^24
    length.assign((size_t)k * k, far);
    for (int i = 0; i < k; ++i) length[at(i, i)] = 0;
    for (int e = 0; e < edges_; ++e)
      length[at(graph_->from[e], graph_->to[e])] = length[at(graph_->to[e], graph_->from[e])] =
          (int)std::lround(std::min((double)far, std::max(0.0, price_[e]) * scale));
    for (int z = 0; z < k; ++z)
      for (int i = 0; i < k; ++i)
        for (int j = 0; j < k; ++j) length[at(i, j)] = std::min(length[at(i, j)], length[at(i, z)] + length[at(z, j)]);
    return *std::max_element(length.begin(), length.end()) <= longest;
  }

  // Shortens distances between nodes that no edge joins, as far as the least walk stays as long.
  void lift(int k, std::vector<int> &length, int bound) {
    const auto at = [k](int i, int j) { return i * k + j; };
    int trials = k <= 10 ? 300 : k <= 13 ? 120 : 40;
    std::vector<std::pair<int, int>> pairs;
    for (int i = 0; i < k; ++i)
      for (int j = i + 1; j < k; ++j)
        if (joined_[at(i, j)] == 0 && length[at(i, j)] > 0) pairs.emplace_back(-length[at(i, j)], at(i, j));
    std::sort(pairs.begin(), pairs.end());
    std::vector<int> shorter;
    for (const auto &[key, pair] : pairs) {
      const int i = pair / k, j = pair % k;
      for (int step = std::max(1, length[pair] / 2); step >= 1 && trials > 0;) {
        const int wanted = length[pair] - step;
        if (wanted < 0) {
          step /= 2;
          continue;
        }
        shorter = length;
        for (int p = 0; p < k; ++p)
          for (int q = 0; q < k; ++q)
            shorter[at(p, q)] = std::min({length[at(p, q)], length[at(p, i)] + wanted + length[at(j, q)],
                                          length[at(p, j)] + wanted + length[at(i, q)]});
        --trials;
        if (walks_.least(k, shorter) >= bound)
          length = shorter;
        else
          step /= 2;
      }
    }
  }

  const SmallGraph *graph_ = nullptr;
  int nodes_ = 0, edges_ = 0;
  LeastWalks walks_;
  FoundWalks found_;
  std::vector<int> last_walk_;
  std::vector<char> joined_;
  double least_ = 0.0;
  int entering_ = INT_MAX;
  std::vector<double> inverse_, used_, price_, direction_, distance_, left_;  // left_: what walks leave of weights
  std::vector<int> basis_, edge_of_, via_, candidates_;                       // via_: a node between two, -1 for none
  std::vector<std::vector<int>> columns_;
};

}  // namespace warptsp::proof
