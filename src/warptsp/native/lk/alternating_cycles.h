// The difference of two tours: cycles that take edges of one and of the other in turn, and what exchanging some of them
// makes of the first tour. Host code only.
#pragma once
#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "common/parallel.h"
#include "common/random.h"

namespace warptsp::lk {

// The neighbours of a city on a tour.
struct TourLinks {
  int to[2];
};

// A link of a city that changed: which of the two, from which neighbour and to which.
struct EdgeChange {
  int city, slot, from, to;
};

// A closed tour, and where each city is on it.
struct LinkedTour {
  std::vector<int> order;
  PageVector<int> position;
  PageVector<TourLinks> links;

  LinkedTour() = default;
  explicit LinkedTour(std::vector<int> tour) : order(std::move(tour)), position(order.size()), links(order.size()) {
    const int n = (int)order.size();
    for (int i = 0; i < n; i++) {
      position[order[i]] = i;
      links[order[i]] = TourLinks{{order[i > 0 ? i - 1 : n - 1], order[i + 1 < n ? i + 1 : 0]}};
    }
  }
  // The order and the places that `links` make, from the first city on.
  void follow_links() {
    for (int i = 0, n = (int)order.size(), before = -1, city = order[0]; i < n; i++) {
      order[i] = city;
      position[city] = i;
      const TourLinks &two = links[city];
      const int next = two.to[0] == before ? two.to[1] : two.to[0];
      before = city;
      city = next;
    }
  }
};

// Takes changes into a tour. The pieces that the tour falls into are copied whole: to follow a million links takes several
// times as long, and late generations leave most of them where they are.
class TourChanger {
 public:
  // The changes, made one after the other, make one tour.
  void change(LinkedTour &tour, const std::vector<EdgeChange> &changes) {
    for (const EdgeChange &change : changes) tour.links[change.city].to[change.slot] = change.to;
    find_cuts(tour, changes);
    arrange(tour);
    copied_.clear();
    for (const Piece &piece : pieces_) {
      if (piece.stays()) continue;
      const auto begin = tour.order.begin() + piece.from, end = begin + piece.size;
      if (piece.up)
        copied_.insert(copied_.end(), begin, end);
      else
        copied_.insert(copied_.end(), std::make_reverse_iterator(end), std::make_reverse_iterator(begin));
    }
    const int *next = copied_.data();
    for (const Piece &piece : pieces_) {
      if (piece.stays()) continue;
      for (int p = piece.to; p < piece.to + piece.size; p++) {
        tour.order[p] = *next;
        tour.position[*next++] = p;
      }
    }
  }

 private:
  struct Piece {
    int from, size, to;
    bool up;

    bool stays() const { return up && from == to; }
  };

  std::vector<int> cuts_, copied_;  // positions of the last cities of pieces, ascending
  std::vector<Piece> pieces_;       // in their new order

  void find_cuts(const LinkedTour &tour, const std::vector<EdgeChange> &changes) {
    const int n = (int)tour.order.size();
    cuts_.assign(1, n - 1);
    for (const EdgeChange &change : changes) {
      const TourLinks &two = tour.links[change.city];
      if (two.to[0] == change.from || two.to[1] == change.from) continue;  // there again
      // Of an edge that has come and gone the cities are no neighbours.
      const int p = tour.position[change.city], q = tour.position[change.from];
      if (p + 1 == q) cuts_.push_back(p);
      if (q + 1 == p) cuts_.push_back(q);
    }
    std::sort(cuts_.begin(), cuts_.end());
    cuts_.erase(std::unique(cuts_.begin(), cuts_.end()), cuts_.end());
  }

  // The first piece stays.
  void arrange(const LinkedTour &tour) {
    pieces_.clear();
    const int n = (int)tour.order.size();
    for (int to = 0, at = 0, before = -1; to < n;) {
      const auto cut = std::lower_bound(cuts_.begin(), cuts_.end(), at);
      const int first = cut == cuts_.begin() ? 0 : cut[-1] + 1, size = *cut + 1 - first;
      const bool up = at == first;
      pieces_.push_back({first, size, to, up});
      to += size;
      const int last = up ? *cut : first, city = tour.order[last];
      if (size > 1) before = tour.order[up ? last - 1 : last + 1];
      const TourLinks &two = tour.links[city];
      at = tour.position[two.to[0] == before ? two.to[1] : two.to[0]];
      before = city;
    }
  }
};

// An edge of A from its first city, one of B from its second, ...; an even number of cities, some of them twice.
struct AlternatingCycle {
  const int *cities;
  int length;

  int operator[](int k) const { return cities[k]; }
  int after(int k) const { return cities[k + 1 < length ? k + 1 : 0]; }
  int before(int k) const { return cities[k > 0 ? k - 1 : length - 1]; }
};

// The edges in which two tours differ, split into cycles at random.
class AlternatingCycles {
 public:
  explicit AlternatingCycles(int size)
      : size_(size), of_a_(size), of_b_(size), seen_{PageVector<int>(size, -1), PageVector<int>(size, -1)} {}

  int count() const { return (int)starts_.size() - 1; }
  AlternatingCycle operator[](int k) const { return {cycles_.data() + starts_[k], starts_[k + 1] - starts_[k]}; }
  int size() const { return size_; }
  int next_position(int p) const { return p + 1 < size_ ? p + 1 : 0; }
  // Of an edge of A: the position behind which A is cut without it.
  int cut(int c, int d) const {
    const int p = position(c), q = position(d);
    return next_position(p) == q ? p : q;
  }
  // In A, until find() is called again.
  int position(int city) const { return a_->position[city]; }

  // Both tours stay where they are until find() is called again.
  void find(const LinkedTour &a, const LinkedTour &b, Random &random) {
    a_ = &a;
    cities_.clear();
    // In the order of cities, which is that of memory: late generations differ in few.
    for (int c = 0; c < size_; c++) {
      const auto [a0, a1] = a.links[c].to;
      const auto [b0, b1] = b.links[c].to;
      if ((a0 == b0 && a1 == b1) || (a0 == b1 && a1 == b0)) continue;
      Open &own = of_a_[c], &other = of_b_[c];
      own.count = other.count = 0;
      for (int d : {b0, b1})
        if (d != a0 && d != a1) other.to[other.count++] = d;
      for (int d : {a0, a1})
        if (d != b0 && d != b1) own.to[own.count++] = d;
      cities_.push_back(c);
    }
    cycles_.clear();
    starts_.assign(1, 0);
    path_.clear();
    while (true) {
      if (path_.empty()) {
        const int c = city_with_open_edges(random);
        if (c < 0) return;
        path_.push_back(c);
        seen_[0][c] = 0;
      }
      const int i = (int)path_.size() - 1, c = path_[i];
      PageVector<Open> &open = i % 2 == 0 ? of_a_ : of_b_;
      const int next = open[c].to[open[c].count == 2 ? random.below(2) : 0];
      drop(open[c], next);
      drop(open[next], c);
      path_.push_back(next);
      int &seen = seen_[(i + 1) % 2][next];
      if (seen < 0)
        seen = i + 1;
      else
        take_cycle(seen);
    }
  }

 private:
  struct Open {  // edges of one tour that the other does not have, and that are in no cycle yet
    int to[2], count;
  };

  int size_;
  const LinkedTour *a_ = nullptr;
  PageVector<Open> of_a_, of_b_;  // of cities in which the tours differ
  PageVector<int> seen_[2];       // where a city is on path_, at an even and at an odd place
  std::vector<int> path_, cities_, cycles_, starts_;

  int city_with_open_edges(Random &random) {
    while (!cities_.empty()) {
      const int k = random.below((int)cities_.size());
      if (of_a_[cities_[k]].count > 0) return cities_[k];
      cities_[k] = cities_.back();
      cities_.pop_back();
    }
    return -1;
  }
  static void drop(Open &open, int other) {
    if (open.to[0] == other) open.to[0] = open.to[1];
    open.count--;
  }
  // The path from place `begin` on ends where it began, with an edge of the other tour.
  void take_cycle(int begin) {
    const int length = (int)path_.size() - 1 - begin;
    for (int k = 0; k < length; k++) cycles_.push_back(path_[begin + (begin % 2 + k) % length]);
    starts_.push_back((int)cycles_.size());
    for (int k = begin + 1; k < begin + length; k++) seen_[k % 2][path_[k]] = -1;
    path_.resize(begin + 1);
    const int c = path_[begin];
    if (begin == 0 && of_a_[c].count == 0) {
      seen_[0][c] = -1;
      path_.clear();
    }
  }
};

// The closed tours that exchanging some of the cycles leaves, in time that depends on the cycles alone. A is cut behind the
// positions `cuts`; segment r begins behind cut r. Joining all of them takes time in proportion to their segments, but for a
// logarithm: a million cities have ten thousand, and to look through them for each joint took most of crossover.
class Subtours {
 public:
  std::vector<int> cuts;   // ascending
  std::vector<int> sizes;  // cities of a subtour, with those of the subtours that have been joined to it

  void find(const AlternatingCycles &cycles, const int *chosen, int count) {
    size_ = cycles.size();
    cut_of_.clear();
    for (int j = 0; j < count; j++) {
      const AlternatingCycle cycle = cycles[chosen[j]];
      for (int k = 0; k < cycle.length; k += 2) cut_of_.push_back(cycles.cut(cycle[k], cycle.after(k)));
    }
    cuts = cut_of_;
    std::sort(cuts.begin(), cuts.end());
    // The city before cut r is end 2 r of a segment, the one behind it end 2 r + 1; new edges join partners.
    const int segments = (int)cuts.size();
    ends_.resize(2 * (size_t)segments);
    partner_.resize(2 * (size_t)segments);
    for (int j = 0, first = 0; j < count; j++) {
      const AlternatingCycle cycle = cycles[chosen[j]];
      const int edges = cycle.length / 2;
      for (int k = 0, q = first; k < edges; k++, q++) {
        const int r = (int)(std::lower_bound(cuts.begin(), cuts.end(), cut_of_[q]) - cuts.begin());
        const bool behind = cycles.position(cycle[2 * k]) != cut_of_[q];
        ends_[2 * q] = 2 * r + behind;
        ends_[2 * q + 1] = 2 * r + !behind;
      }
      for (int k = 0; k < edges; k++) {
        const int x = ends_[2 * (first + k) + 1], y = ends_[2 * (first + (k + 1 < edges ? k + 1 : 0))];
        partner_[x] = y;
        partner_[y] = x;
      }
      first += edges;
    }
    of_segment_.assign(segments, -1);
    sizes.clear();
    for (int r = 0; r < segments; r++) {
      if (of_segment_[r] >= 0) continue;
      int cities = 0, segment = r;
      bool up = true;
      do {
        of_segment_[segment] = (int)sizes.size();
        cities += segment_size(segment);
        const int leave = up ? 2 * (segment + 1 < segments ? segment + 1 : 0) : 2 * segment + 1;
        const int enter = partner_[leave];
        up = enter % 2 == 1;
        segment = up ? enter / 2 : enter > 0 ? enter / 2 - 1 : segments - 1;
      } while (segment != r);
      sizes.push_back(cities);
    }
  }
  int segment_size(int r) const {
    const int cities = cuts[r + 1 < (int)cuts.size() ? r + 1 : 0] - cuts[r];
    return cities > 0 ? cities : cities + size_;
  }
  // As they were found.
  int of_segment(int r) const { return of_segment_[r]; }

  // What follows takes joints into account, once begin_joining() has been called.
  void begin_joining() {
    const int count = (int)sizes.size();
    joined_to_.resize(count);
    std::iota(joined_to_.begin(), joined_to_.end(), 0);
    first_.assign(count, -1);
    last_.resize(count);
    next_.resize(cuts.size());
    for (int r = (int)cuts.size() - 1; r >= 0; r--) {
      int &first = first_[of_segment_[r]];
      if (first < 0) last_[of_segment_[r]] = r;
      next_[r] = first;
      first = r;
    }
    by_size_.clear();
    for (int s = 0; s < count; s++) by_size_.push_back({sizes[s], s});
    std::make_heap(by_size_.begin(), by_size_.end(), std::greater<>());
  }
  int smallest() {
    while (true) {
      const auto [size, s] = by_size_.front();
      if (joined_to_[s] == s && sizes[s] == size) return s;
      std::pop_heap(by_size_.begin(), by_size_.end(), std::greater<>());
      by_size_.pop_back();
    }
  }
  // The subtour of the city at a position of A.
  int at(int position) {
    const int r = (int)(std::lower_bound(cuts.begin(), cuts.end(), position) - cuts.begin()) - 1;
    int s = of_segment_[r >= 0 ? r : (int)cuts.size() - 1];
    while (joined_to_[s] != s) s = joined_to_[s] = joined_to_[joined_to_[s]];
    return s;
  }
  // Calls `visit` with the segments of a subtour.
  template <class Visit>
  void each_segment(int s, Visit &&visit) const {
    for (int r = first_[s]; r >= 0; r = next_[r]) visit(r);
  }
  void join(int s, int target) {
    joined_to_[s] = target;
    sizes[target] += sizes[s];
    next_[last_[target]] = first_[s];
    last_[target] = last_[s];
    by_size_.push_back({sizes[target], target});
    std::push_heap(by_size_.begin(), by_size_.end(), std::greater<>());
  }

 private:
  int size_ = 0;
  std::vector<int> cut_of_, ends_, partner_;
  std::vector<int> of_segment_, next_;         // of a segment: its subtour, and the next one of that
  std::vector<int> joined_to_, first_, last_;  // of a subtour: another one, itself if none; its segments
  std::vector<std::pair<int, int>> by_size_;   // a heap of sizes and subtours, some of them out of date
};

}  // namespace warptsp::lk
