// The shortest tour of a few cities, by dynamic programming over sets of cities. Host code only.
//
// M. Held and R. M. Karp, "A dynamic programming approach to sequencing problems", J. SIAM 10 (1962) 196-210: best[S, j]
// is the shortest path through the set S to j, the last of it. Lengths are only ever added up, so that of reals, none of
// which is negative, each sum has all but the last of its digits, however different they are.
#pragma once
#include <algorithm>
#include <limits>
#include <type_traits>
#include <vector>

#include "common/stop_token.h"
#include "small/few_cities.h"

namespace warptsp::small {

constexpr int most_in_subsets = 20;  // cities of a set: 160 MB

template <class V>
class SubsetPaths {
 public:
  // Fills `tour` with a shortest one; a closed one begins with city 0. Of equally short ones the one with the lowest city
  // is taken at each place from the last one on. False if the token stopped it.
  bool solve(const FewCities<V> &cities, const StopToken &token, int *tour) {
    const int n = cities.n, from = cities.open ? 0 : 1;
    const int m = others_ = n - from;
    if (!cities.open) tour[0] = 0;
    if (m == 0) return true;
    width_ = (m + 3) / 4 * 4;
    inner_.assign((size_t)m * width_, V(0));
    first_.assign(m, V(0));
    last_.assign(m, V(0));
    partners_.assign(m, 0);
    for (int j = 0; j < m; j++) {
      for (int k = 0; k < m; k++) inner_[(size_t)k * width_ + j] = cities.distance(k + from, j + from);
      if (!cities.open) {
        first_[j] = cities.distance(0, j + 1);
        last_[j] = cities.distance(j + 1, 0);
      }
    }
    if (cities.start >= 0) leave(first_, cities.start);
    if (cities.end >= 0) leave(last_, cities.end);
    has_partners_ = false;
    bool enters_first = false;
    for (int e = 0; e < cities.fixed_edges; e++) {
      const int a = cities.fixed[2 * e] - from, b = cities.fixed[2 * e + 1] - from;
      if (cities.directed) {
        require_arc(a, b);
      } else if (a >= 0 && b >= 0) {
        partners_[a] |= 1 << b;
        partners_[b] |= 1 << a;
        has_partners_ = true;
      } else {  // of city 0: a closed tour may be turned round, so that the first edge is the first one
        leave(enters_first ? last_ : first_, std::max(a, b));
        enters_first = true;
      }
    }
    best_.resize((size_t)m << m);
    for (int j = 0; j < m; j++) best(1 << j, j) = first_[j];
    if (!extend_all(token)) return false;
    trace(from, tour);
    return true;
  }

 private:
  // What no sum reaches, twice of which is no overflow.
  static constexpr V none =
      std::is_integral_v<V> ? V(std::numeric_limits<V>::max() / 2) : std::numeric_limits<V>::infinity();

  V &best(int set, int last) { return best_[(size_t)set * others_ + last]; }

  static void leave(std::vector<V> &ends, int only) {
    for (int j = 0; j < (int)ends.size(); j++)
      if (j != only) ends[j] = none;
  }

  // From a follows b; one of them is -1 if it is city 0 of a closed tour.
  void require_arc(int a, int b) {
    const int m = others_;
    if (a < 0) return leave(first_, b);
    if (b < 0) return leave(last_, a);
    for (int j = 0; j < m; j++) {
      if (j != b) inner_[(size_t)a * width_ + j] = none;
      if (j != a) inner_[(size_t)j * width_ + b] = none;
    }
    first_[b] = last_[a] = none;
  }

  // Where a path through the set to k must go on: a fixed edge of k whose other end was there before has been taken
  // then, as it had to be. -1: anywhere; -2: nowhere.
  int next_of(int set, int k) const {
    const int due = partners_[k] & ~set;
    if (due == 0) return -1;
    if (due & (due - 1)) return -2;
    int j = 0;
    while (!(due >> j & 1)) j++;
    return j;
  }

  // From each set, whose paths are known by then, to all that have one city more.
  bool extend_all(const StopToken &token) {
    const int m = others_, all = (1 << m) - 1;
    V next[most_in_subsets + 4];
    for (int set = 1; set < all; set++) {
      if (set % 4096 == 0 && token.stopped()) return false;
      std::fill_n(next, width_, none);
      for (int k = 0; k < m; k++) {
        if (!(set >> k & 1)) continue;
        const V path = best(set, k);
        const V *const row = inner_.data() + (size_t)k * width_;
        if (const int only = has_partners_ ? next_of(set, k) : -1; only != -1) {
          if (only >= 0) next[only] = std::min<V>(next[only], path + row[only]);
          continue;
        }
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

  void trace(int from, int *tour) {
    const int m = others_;
    int set = (1 << m) - 1, last = 0;
    for (int j = 1; j < m; j++)
      if (best(set, j) + last_[j] < best(set, last) + last_[last]) last = j;
    if (!(best(set, last) + last_[last] < none)) {
      tour[from] = -1;
      return;
    }
    for (int place = m - 1; place >= 0; place--) {
      tour[place + from] = last + from;
      const int before = set ^ 1 << last;
      if (before == 0) return;
      int k = 0;
      while (!leads(before, k, last, best(set, last))) k++;
      set = before;
      last = k;
    }
  }
  bool leads(int before, int k, int last, V length) {
    if (!(before >> k & 1) || best(before, k) + inner_[(size_t)k * width_ + last] != length) return false;
    const int only = next_of(before, k);
    return only == -1 || only == last;
  }

  int others_ = 0, width_ = 0;
  bool has_partners_ = false;
  std::vector<V> inner_;         // [from, to], rows of `width_`
  std::vector<V> first_, last_;  // from the start to the first city; from the last one to the end
  std::vector<int> partners_;    // sets of the other ends of fixed edges
  std::vector<V> best_;          // [set, last]
};

}  // namespace warptsp::small
