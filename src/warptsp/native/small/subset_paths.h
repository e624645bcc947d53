// The shortest tour of a few cities, by dynamic programming over sets of cities. Host code only.
//
// M. Held and R. M. Karp, "A dynamic programming approach to sequencing problems", J. SIAM 10 (1962) 196-210: best[S, j]
// is the shortest path from the first city through the set S to j, the last of it.
#pragma once
#include <algorithm>
#include <limits>
#include <vector>

#include "common/stop_token.h"

namespace warptsp::small {

constexpr int most_in_subsets = 20;  // cities: 80 MB

template <class V>
class SubsetPaths {
 public:
  // Fills `tour` with a shortest one from `start` on; the way back leads to `end`, the same city or one that stands for
  // it. `distances` [n, n] by row. Of equally short paths the one with the lowest city is taken at each place from the
  // last one on. False if the token stopped it.
  bool solve(const V *distances, int n, int start, int end, const StopToken &token, int *tour) {
    n_ = n;
    const int m = others_ = n - 1;
    width_ = (m + 3) / 4 * 4;
    tour[0] = start;
    if (m == 0) return true;
    city_.clear();
    for (int c = 0; c < n; c++)
      if (c != start) city_.push_back(c);
    inner_.assign((size_t)m * width_, V(0));
    for (int j = 0; j < m; j++)
      for (int k = 0; k < m; k++) inner_[(size_t)k * width_ + j] = distances[(size_t)city_[k] * n + city_[j]];
    best_.resize((size_t)m << m);
    for (int j = 0; j < m; j++) best(1 << j, j) = distances[(size_t)start * n + city_[j]];
    if (!extend_all(token)) return false;
    trace(distances, end, tour);
    return true;
  }

 private:
  V &best(int set, int last) { return best_[(size_t)set * others_ + last]; }

  // From each set, whose paths are known by then, to all that have one city more.
  bool extend_all(const StopToken &token) {
    const int m = others_, all = (1 << m) - 1;
    V next[most_in_subsets + 4];
    for (int set = 1; set < all; set++) {
      if (set % 4096 == 0 && token.stopped()) return false;
      std::fill_n(next, width_, std::numeric_limits<V>::max());
      for (int k = 0; k < m; k++) {
        if (!(set >> k & 1)) continue;
        const V path = best(set, k);
        const V *const row = inner_.data() + (size_t)k * width_;
        for (int j = 0; j < width_; j++) {
          const V longer = path + row[j];
          next[j] = longer < next[j] ? longer : next[j];
        }
      }
      for (int j = 0; j < m; j++)
        if (!(set >> j & 1)) best(set | 1 << j, j) = next[j];
    }
    return true;
  }

  void trace(const V *distances, int end, int *tour) {
    const int m = others_;
    int set = (1 << m) - 1, last = 0;
    for (int j = 1; j < m; j++)
      if (best(set, j) + distances[(size_t)city_[j] * n_ + end] <
          best(set, last) + distances[(size_t)city_[last] * n_ + end])
        last = j;
    for (int place = m; place >= 1; place--) {
      tour[place] = city_[last];
      const int before = set ^ 1 << last;
      if (before == 0) return;
      int k = 0;
      while (!(before >> k & 1) || best(before, k) + inner_[(size_t)k * width_ + last] != best(set, last)) k++;
      set = before;
      last = k;
    }
  }

  int n_ = 0, others_ = 0, width_ = 0;
  std::vector<int> city_;        // all but the start
  std::vector<V> inner_, best_;  // [from, to], rows of `width_`; [set, last]
};

}  // namespace warptsp::small
