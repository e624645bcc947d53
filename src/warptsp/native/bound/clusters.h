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
    place_.resize(n);
    for (int v = 0; v < n; ++v) place_[v] = maxima.place(v);
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
    std::sort(members_.begin(), members_.end(), [](const Range &a, const Range &b) {
      return a.begin < b.begin || (a.begin == b.begin && a.end > b.end);
    });
  }

  // Each cluster's step: its gain times its surplus of edges.
  void find_steps(const std::vector<int> &surplus, Team &team) {
    constexpr int max_surplus = schedule::max_cluster_surplus;
    const int n = (int)place_.size();
    sum_.resize((size_t)n + 1);
    change_.resize((size_t)n + 1);
    for_chunks(team, n, [&](int, int begin, int end) {
      for (int v = begin; v < end; ++v) sum_[(size_t)place_[v] + 1] = surplus[v];
    });
    sum_[0] = 0;
    for (int p = 0; p < n; ++p) {
      sum_[(size_t)p + 1] += sum_[p];
      change_[p] = 0;
    }
    change_[n] = 0;
    for (const Range &range : members_) {
      const int excess = std::max(-max_surplus, std::min(max_surplus, sum_[range.end] - sum_[range.begin]));
      const int64_t step = (int64_t)(schedule::cluster_weight * range.gain * excess);
      change_[range.begin] += step;
      change_[range.end] -= step;
    }
    for (int p = 1; p < n; ++p) change_[p] += change_[(size_t)p - 1];
  }
  // What they add to the direction of a city.
  int64_t step_of(int city) const { return change_[place_[city]]; }
  // Gives back the memory of the steps.
  void forget_steps() {
    sum_ = std::vector<int>();
    change_ = std::vector<int64_t>();
  }

  const std::vector<Range> &members() const { return members_; }
  const std::vector<int> &places() const { return place_; }

 private:
  std::vector<Range> members_;
  std::vector<int> place_, sum_;
  std::vector<int64_t> change_;
};

}  // namespace warptsp::bound
