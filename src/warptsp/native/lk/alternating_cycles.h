// The difference of two tours: cycles that take edges of one and of the other in turn, and what exchanging some of them
// makes of the first tour. Host code only.
#pragma once
#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "common/disjoint_sets.h"
#include "common/parallel.h"
#include "common/random.h"

namespace warptsp::lk {

// The neighbours of a city on a tour.
struct TourLinks {
  int to[2];

  bool has(int city) const { return to[0] == city || to[1] == city; }
};

// A link of a city that changed: which of the two, from which neighbour and to which.
struct EdgeChange {
  int city, slot, from, to;
};

// A closed tour, and where each city is on it.
struct LinkedTour {
  std::vector<int> order;
  Buffer<int> position;
  Buffer<TourLinks> links;

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

// Puts a tour in the order of its links, which have changed. The pieces that the tour falls into are copied whole: to follow
// a million links takes several times as long, and late generations leave most of them where they are.
class TourChanger {
 public:
  // The changes, made one after the other, have made one tour.
  void follow(LinkedTour &tour, const std::vector<EdgeChange> &changes) {
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
      if (tour.links[change.city].has(change.from)) continue;  // there again
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

// The edges in which two tours differ, split into cycles.
class AlternatingCycles {
 public:
  // Both tours stay where they are.
  void begin(const LinkedTour &a) {
    a_ = &a;
    cycles_.clear();
    starts_.assign(1, 0);
  }
  void add_city(int c) { cycles_.push_back(c); }
  void end_cycle() { starts_.push_back((int)cycles_.size()); }

  int count() const { return (int)starts_.size() - 1; }
  AlternatingCycle operator[](int k) const { return {cycles_.data() + starts_[k], starts_[k + 1] - starts_[k]}; }
  int size() const { return (int)a_->order.size(); }
  int next_position(int p) const { return p + 1 < size() ? p + 1 : 0; }
  // Of an edge of A: the position behind which A is cut without it.
  int cut(int c, int d) const {
    const int p = position(c), q = position(d);
    return next_position(p) == q ? p : q;
  }
  int position(int city) const { return a_->position[city]; }

 private:
  const LinkedTour *a_ = nullptr;
  std::vector<int> cycles_, starts_;
};

// Finds them, at random.
class CycleFinder {
 public:
  explicit CycleFinder(int size) : cities_(size) {}

  void find(const LinkedTour &a, const LinkedTour &b, Random &random, AlternatingCycles &cycles) {
    open_edges(a, b);
    cycles.begin(a);
    path_.clear();
    while (true) {
      if (path_.empty()) {
        const int c = city_with_open_edges(random);
        if (c < 0) return;
        path_.push_back(c);
        cities_[c].seen[0] = 0;
      }
      const int i = (int)path_.size() - 1, c = path_[i];
      Open &open = cities_[c].open[i % 2];
      const int next = open.to[open.count == 2 ? random.below(2) : 0];
      drop(open, next);
      City &there = cities_[next];
      drop(there.open[i % 2], c);
      path_.push_back(next);
      int &seen = there.seen[(i + 1) % 2];
      if (seen < 0)
        seen = i + 1;
      else
        take_cycle(seen, cycles);
    }
  }

 private:
  struct Open {  // edges of one tour that the other does not have, and that are in no cycle yet
    int to[2], count;
  };
  // Half a line of a cache: whoever comes to a city needs all of it.
  struct alignas(32) City {
    Open open[2];            // of A and of B, if they differ there
    int seen[2] = {-1, -1};  // where it is on path_, at an even and at an odd place
  };
  // Cities, those that come next in memory, of which any may be where a cycle begins: of all of them most would be out of
  // the caches, and always the next one makes more generations (EXP-399).
  static constexpr size_t around = 300;

  Buffer<City> cities_;
  std::vector<int> path_, begin_;  // cities that may have open edges, in the order of memory

  void open_edges(const LinkedTour &a, const LinkedTour &b) {
    begin_.clear();
    const int size = (int)cities_.size();
    // Most links are the same: to look at some at a time, without branches, takes a third of the time.
    typedef unsigned long long Word;
    constexpr int some = 64;
    static_assert(sizeof(TourLinks) == sizeof(Word), "two links are a word");
    for (int first = 0; first < size; first += some) {
      Word differ = 0;
      for (int i = 0, end = std::min(some, size - first); i < end; i++) {
        Word x, y;
        std::memcpy(&x, &a.links[first + i], sizeof x);
        std::memcpy(&y, &b.links[first + i], sizeof y);
        differ |= (Word)((x != y) & (x != (y << 32 | y >> 32))) << i;
      }
      for (int c = first; differ != 0; differ >>= 1, c++)
        if (differ & 1) open_edges_at(c, a.links[c], b.links[c]);
    }
  }
  void open_edges_at(int c, const TourLinks &a, const TourLinks &b) {
    const auto open = [](Open &own, const TourLinks &links, const TourLinks &others) {
      own.count = 0;
      for (const int d : links.to)
        if (!others.has(d)) own.to[own.count++] = d;
    };
    open(cities_[c].open[0], a, b);
    open(cities_[c].open[1], b, a);
    begin_.push_back(c);
  }

  int city_with_open_edges(Random &random) {
    while (!begin_.empty()) {
      const size_t left = begin_.size(), k = left - 1 - (size_t)random.below((int)std::min(around, left));
      if (cities_[begin_[k]].open[0].count > 0) return begin_[k];
      begin_[k] = begin_.back();
      begin_.pop_back();
      if (left > 2 * around) prefetch(&cities_[begin_[left - 2 * around]]);
    }
    return -1;
  }
  static void drop(Open &open, int other) {
    if (open.to[0] == other) open.to[0] = open.to[1];
    open.count--;
  }
  // The path from place `begin` on ends where it began, with an edge of the other tour.
  void take_cycle(int begin, AlternatingCycles &cycles) {
    const int length = (int)path_.size() - 1 - begin;
    for (int k = 0; k < length; k++) cycles.add_city(path_[begin + (begin % 2 + k) % length]);
    cycles.end_cycle();
    for (int k = begin + 1; k < begin + length; k++) cities_[path_[k]].seen[k % 2] = -1;
    path_.resize(begin + 1);
    City &city = cities_[path_[begin]];
    if (begin == 0 && city.open[0].count == 0) {
      city.seen[0] = -1;
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
  int begin_of_segment(int r) const { return cuts[r] + 1 < size_ ? cuts[r] + 1 : 0; }
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
    return root_of(joined_to_, of_segment_[r >= 0 ? r : (int)cuts.size() - 1]);
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
