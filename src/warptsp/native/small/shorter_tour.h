// Whether any tour of a few cities is shorter than a length, by other means than OptimalTours finds one: dynamic
// programming where that takes 1-trees, or else all tours, depth first, as far as so many steps go. Host code only.
#pragma once
#include <algorithm>
#include <limits>
#include <vector>

#include "common/stop_token.h"
#include "small/few_cities.h"
#include "small/subset_paths.h"

namespace warptsp::small {

template <class V>
class ShorterTour {
 public:
  bool find(const FewCities<V> &cities, V length, int steps) {
    if (cities.is_plain()) return is_shortest_below(cities, length);
    if (const bool found = go_through(cities, length, steps); found || steps_ >= 0) return found;
    return is_shortest_below(cities, length);
  }

 private:
  bool is_shortest_below(const FewCities<V> &cities, V length) {
    order_.assign(cities.n, 0);
    subsets_.solve(cities, StopToken(), order_.data());
    if (std::find(order_.begin(), order_.end(), -1) != order_.end()) return false;
    V sum = 0;
    for (int p = 0; p + (cities.open ? 1 : 0) < cities.n; p++)
      if (cities.n > 1) sum += cities.distance(order_[p], order_[(p + 1) % cities.n]);
    return sum < length;
  }

  // All tours, as far as the steps go, which are negative then.
  bool go_through(const FewCities<V> &cities, V length, int steps) {
    cities_ = &cities;
    length_ = length;
    steps_ = steps;
    n_ = cities.n;
    order_.assign(n_, 0);
    visited_.assign(n_, 0);
    least_.assign(n_, std::numeric_limits<V>::max());
    for (int i = 0; i < n_; i++)
      for (int j = 0; j < n_; j++)
        if (i != j) least_[j] = std::min(least_[j], cities.distance(i, j));
    if (n_ == 1) least_[0] = 0;
    const int from = cities.open ? cities.start : 0;
    bool found = false;
    for (int c = 0; c < n_ && !found; c++)
      if (from < 0 || c == from) found = step(0, c, V(0));
    return found;
  }

  // Goes on with city c, after a path of this length.
  bool step(int place, int c, V path) {
    visited_[c] = 1;
    // Each city that is left has to be entered; of a closed tour, the first one, too.
    V least = path + (cities_->open ? V(0) : least_[order_[0]]);
    for (int to = 0; to < n_; to++)
      if (!visited_[to]) least += least_[to];
    bool found = false;
    if (least < length_ && --steps_ >= 0) {
      order_[place] = c;
      if (place + 1 == n_) found = closes(path);
      for (int to = 0; to < n_ && !found; to++)
        if (!visited_[to] && may_follow(place, c, to)) found = step(place + 1, to, path + cities_->distance(c, to));
    }
    visited_[c] = 0;
    return found;
  }

  bool may_follow(int place, int c, int to) const {
    for (int e = 0; e < cities_->fixed_edges; e++) {
      const int a = cities_->fixed[2 * e], b = cities_->fixed[2 * e + 1];
      if (cities_->directed) {
        if ((a == c) != (b == to)) return false;
      } else if (place > 0 && (a == c || b == c)) {
        // Behind its other end a fixed edge has been taken, or, if that is the first city, is the last one.
        const int other = a == c ? b : a;
        if (other != to && !visited_[other]) return false;
      }
    }
    return true;
  }

  bool closes(V path) const {
    const int first = order_[0], last = order_[n_ - 1];
    if (!cities_->open) path += n_ > 1 ? cities_->distance(last, first) : V(0);
    if (cities_->open && cities_->end >= 0 && last != cities_->end) return false;
    for (int e = 0; e < cities_->fixed_edges; e++)
      if (!has(cities_->fixed[2 * e], cities_->fixed[2 * e + 1])) return false;
    return path < length_;
  }
  bool has(int a, int b) const {
    for (int place = 0; place < n_ - (cities_->open ? 1 : 0); place++) {
      const int c = order_[place], to = order_[(place + 1) % n_];
      if ((c == a && to == b) || (!cities_->directed && c == b && to == a)) return true;
    }
    return false;
  }

  SubsetPaths<V> subsets_;
  const FewCities<V> *cities_ = nullptr;
  int n_ = 0, steps_ = 0;
  V length_ = 0;
  std::vector<int> order_;
  std::vector<char> visited_;
  std::vector<V> least_;  // of the ways into each city
};

}  // namespace warptsp::small
