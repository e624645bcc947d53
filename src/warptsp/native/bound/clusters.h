// Clusters of cities, whose potentials an ascent moves as one. Host code only.
//
// A tree that enters a cluster by one edge, where a tour needs two, says so in the degree of one of its cities only,
// and small steps of that city's potential take hundreds of rounds to lift the whole cluster. Its cities are moved
// together instead: by the difference between the edge that joins the cluster to others and the longest edge inside.
#pragma once
#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdint>
#include <vector>

#include "bound/chunks.h"
#include "bound/path_maxima.h"
#include "bound/schedule.h"

namespace warptsp::bound {

class Clusters {
 public:
  // Places [begin, end), and how much longer the way out is than the longest edge inside.
  struct Range {
    int begin, end, gain;
  };

  // Those components of Kruskal's algorithm whose way out is longer than their longest edge by a twentieth.
  void find(const PathMaxima &maxima) {
    constexpr double ratio = 1.05;
    const int n = maxima.size();
    order_.resize(n);
    for (int v = 0; v < n; ++v) order_[maxima.place(v)] = v;
    // Steps that wait for a longer one behind them, each shorter than the one before it.
    struct Waiting {
      int first, longest;
    };
    std::vector<Waiting> waiting;
    for (int p = 0; p < n; ++p) {
      const int step = p + 1 < n ? maxima.step(p) : INT_MAX;
      int first = p;
      while (!waiting.empty() && waiting.back().longest < step) {
        const Waiting inside = waiting.back();
        waiting.pop_back();
        const int way_out = std::min(step, waiting.empty() ? INT_MAX : waiting.back().longest);
        const int longest = std::max(0, inside.longest);  // fixed edges are far below 0
        if (way_out != INT_MAX && way_out > longest && way_out >= ratio * longest)
          members_.push_back({inside.first, p + 1, way_out - longest});
        first = inside.first;
      }
      waiting.push_back({first, step});
    }
    members_.shrink_to_fit();
    std::sort(members_.begin(), members_.end(), [](const Range &a, const Range &b) {
      return a.begin < b.begin || (a.begin == b.begin && a.end > b.end);
    });
    step_.resize(members_.size());
    around_.resize(members_.size());
    inside_.resize(n);
    size_t next = 0;
    for (int p = 0, inside = -1; p < n; ++p) {
      while (inside >= 0 && members_[inside].end <= p) inside = around_[inside];
      for (; next < members_.size() && members_[next].begin == p; ++next) {
        around_[next] = inside;
        inside = (int)next;
      }
      inside_[order_[p]] = inside;
    }
  }

  // Each cluster's step: its gain times its surplus of edges; and those of all clusters around it.
  void find_steps(const std::vector<int> &surplus, Team &team) {
    constexpr int max_surplus = schedule::max_cluster_surplus;
    const int n = (int)order_.size();
    // The surplus before each place, from the beginning of its chunk.
    sum_.resize((size_t)n + 1);
    chunk_sum_.assign((size_t)chunk_count((int64_t)n + 1) + 1, 0);
    for_chunks(team, (int64_t)n + 1, [&](int c, int begin, int end) {
      int sum = 0;
      for (int p = begin; p < end; ++p) {
        sum_[p] = sum;
        if (p < n) sum += surplus[order_[p]];
      }
      chunk_sum_[(size_t)c + 1] = sum;
    });
    for (size_t c = 1; c < chunk_sum_.size(); ++c) chunk_sum_[c] += chunk_sum_[c - 1];
    const auto before = [&](int p) { return sum_[p] + chunk_sum_[p / chunk_size]; };
    for_chunks(team, (int64_t)members_.size(), [&](int, int begin, int end) {
      for (int k = begin; k < end; ++k) {
        const Range &range = members_[k];
        const int excess = std::max(-max_surplus, std::min(max_surplus, before(range.end) - before(range.begin)));
        step_[k] = (int64_t)(schedule::cluster_weight * range.gain * excess);
      }
    });
    for (size_t k = 0; k < members_.size(); ++k)
      if (around_[k] >= 0) step_[k] += step_[around_[k]];
  }
  // What they add to the direction of a city.
  int64_t step_of(int city) const { return inside_[city] < 0 ? 0 : step_[inside_[city]]; }
  // Gives back the memory of the sums.
  void forget_steps() { sum_ = std::vector<int>(); }

  // Ascending by their beginnings, those around others before them.
  const std::vector<Range> &members() const { return members_; }
  // The city at each place.
  const std::vector<int> &order() const { return order_; }

 private:
  std::vector<Range> members_;
  std::vector<int> order_, sum_, chunk_sum_;
  std::vector<int> inside_, around_;  // the smallest cluster of each city, and around each cluster; or -1
  std::vector<int64_t> step_;         // of each cluster
};

}  // namespace warptsp::bound
