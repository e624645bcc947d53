// A directed tour in an array, and exchanges of arcs that reverse no part of it and can be undone.
#pragma once
#include <algorithm>
#include <cstring>
#include <vector>

#include "directed/costs.h"

namespace warptsp::directed {

constexpr int most_arcs = 5;  // of one exchange

// Arcs out of `tail[a]` into `head[a]`, its successor, are replaced by arcs from `tail[a]` to `head[to[a]]`.
struct Exchange {
  int arcs = 0;
  int tail[most_arcs], head[most_arcs], to[most_arcs];
  Cost cost[most_arcs];  // of the new arc out of tail[a]
};

// Four arcs that are out, of which all but the last have been replaced (to[a] is a + 1), leave a path from head[0] to the
// last tail, and cycles. One more arc out can leave one tour if there is exactly one cycle, and it is on that. Which of the
// four segments are on that cycle, as bits, depends on the order of the four tails alone: that they come out as 0, if there
// is no such cycle, and their order as one bit for each pair, make a table.
class CycleTable {
 public:
  static constexpr int arcs = 4;

  constexpr CycleTable() : on_cycle_() {
    for (int code = 0; code < 256; code++) {
      const int rank[arcs] = {code & 3, code >> 2 & 3, code >> 4 & 3, code >> 6};
      bool distinct = true;
      for (int b = 0; b < arcs; b++)
        for (int a = 0; a < b; a++) distinct = distinct && rank[a] != rank[b];
      if (distinct) on_cycle_[key(rank)] = segments(rank);
    }
  }
  // Of the places of tails, which are not the same.
  static constexpr int key(const int *place) { return key_of_three(place) | key_of_last(place, place[3]); }
  static constexpr int key_of_three(const int *place) {
    return (place[0] < place[1] ? 1 : 0) | (place[0] < place[2] ? 2 : 0) | (place[1] < place[2] ? 4 : 0);
  }
  static constexpr int key_of_last(const int *place, int last) {
    return (place[0] < last ? 8 : 0) | (place[1] < last ? 16 : 0) | (place[2] < last ? 32 : 0);
  }
  // Segment r ends with the r-th tail along the tour; a place that none of the tails has is in it.
  unsigned operator[](int key) const { return on_cycle_[key]; }
  static int segment(const int *place, int p) {
    const int before =
        (place[0] < p ? 1 : 0) + (place[1] < p ? 1 : 0) + (place[2] < p ? 1 : 0) + (place[3] < p ? 1 : 0);
    return before % arcs;
  }

 private:
  unsigned char on_cycle_[64];

  // Of the ranks of tails: head[a] begins the segment that ends with the next tail along the tour.
  static constexpr unsigned char segments(const int *rank) {
    int arc[arcs] = {};
    for (int a = 0; a < arcs; a++) arc[rank[a]] = a;
    unsigned seen = 0;
    int count = 0;
    for (int a = 0;; a++, count++) {  // the path
      const int r = (rank[a] + 1) % arcs;
      seen |= 1u << r;
      a = arc[r];
      if (a == arcs - 1) break;
    }
    count++;
    if (count == arcs) return 0;
    int first = 0;
    while ((seen >> first & 1) != 0) first++;
    unsigned on_cycle = 0;
    int r = first;
    do {
      on_cycle |= 1u << r;
      count++;
      r = (rank[arc[r] + 1] + 1) % arcs;
    } while (r != first);
    return count == arcs ? (unsigned char)on_cycle : (unsigned char)0;
  }
};
constexpr CycleTable cycle_table;

class Tour {
 public:
  // `costs` of arcs that are not negative.
  template <class Costs>
  void set(const std::vector<int> &cities, const Costs &costs) {
    n_ = (int)cities.size();
    cities_ = cities;
    place_.resize(n_);
    out_.resize(n_);
    length_ = 0;
    for (int p = 0; p < n_; p++) place_[cities_[p]] = p;
    for (const int city : cities_) length_ += out_[city] = costs(city, next(city));
    forget();
  }

  // The tour of this length that goes from each city to `next`, where the arcs cost `out`.
  void set(const std::vector<int> &next, const std::vector<Cost> &out, Cost length) {
    n_ = (int)next.size();
    cities_.resize(n_);
    place_.resize(n_);
    for (int p = 0, city = 0; p < n_; p++, city = next[city]) {
      cities_[p] = city;
      place_[city] = p;
    }
    out_ = out;
    length_ = length;
    forget();
  }

  int size() const { return n_; }
  const std::vector<int> &cities() const { return cities_; }
  Cost length() const { return length_; }
  int at(int place) const { return cities_[place < n_ ? place : place - n_]; }
  int place(int city) const { return place_[city]; }
  int next(int city) const {
    const int p = place_[city] + 1;
    return cities_[p == n_ ? 0 : p];
  }
  int before(int city) const {
    const int p = place_[city];
    return cities_[p != 0 ? p - 1 : n_ - 1];
  }
  Cost cost_out(int city) const { return out_[city]; }
  const std::vector<Cost> &costs_out() const { return out_; }
  // Cities from one to another, both included.
  int count(int from, int to) const {
    const int d = place_[to] - place_[from] + 1;
    return d > 0 ? d : d + n_;
  }

  // Whether an exchange leaves one tour.
  bool is_one_tour(const Exchange &e) {
    sort(e);
    int count = 0, a = 0;
    do {
      const int r = rank_[e.to[a]] + 1;
      a = order_[r == e.arcs ? 0 : r];
      count++;
    } while (a != 0);
    return count == e.arcs;
  }

  // Makes an exchange that leaves one tour. The longest of the segments stays where it is.
  void make(const Exchange &e) {
    sort(e);
    const int k = e.arcs;
    int length[most_arcs] = {}, longest = 0;
    for (int r = 0; r < k; r++) {
      const int begin = place_[e.tail[order_[r]]] + 1, end = place_[e.tail[order_[r + 1 == k ? 0 : r + 1]]];
      length[r] = r + 1 == k ? end + 1 + n_ - begin : end - begin + 1;
      if (length[r] > length[longest]) longest = r;
    }
    const int first = order_[longest + 1 == k ? 0 : longest + 1];  // its tail ends the longest segment
    const int moved = n_ - length[longest];
    int begin = place_[e.tail[first]] + 1;
    if (begin >= n_) begin -= n_;
    Done done{begin, moved, (int)old_cities_.size(), k, {}, {}};
    for (int a = 0; a < k; a++) {
      done.tail[a] = e.tail[a];
      done.cost[a] = out_[e.tail[a]];
    }
    if ((int)segments_.size() < moved) segments_.resize((size_t)moved + 1024);
    int filled = 0;
    for (int a = first;;) {
      const int r = rank_[e.to[a]];
      if (r == longest) break;
      int from = place_[e.tail[order_[r]]] + 1;
      if (from >= n_) from -= n_;
      const int straight = std::min(length[r], n_ - from);
      memcpy(&segments_[filled], &cities_[from], sizeof(int) * straight);
      if (length[r] > straight)
        memcpy(&segments_[filled + straight], cities_.data(), sizeof(int) * (length[r] - straight));
      filled += length[r];
      a = order_[r + 1 == k ? 0 : r + 1];
    }
    old_cities_.resize((size_t)done.offset + moved);
    for (int m = 0, p = begin; m < moved; m++) {
      old_cities_[done.offset + m] = cities_[p];
      cities_[p] = segments_[m];
      place_[segments_[m]] = p;
      if (++p == n_) p = 0;
    }
    for (int a = 0; a < k; a++) {
      length_ += e.cost[a] - out_[e.tail[a]];
      out_[e.tail[a]] = e.cost[a];
    }
    done_.push_back(done);
    cells_ += moved;
  }

  // Exchanges since the last `forget`.
  size_t made() const { return done_.size(); }
  void forget() {
    done_.clear();
    old_cities_.clear();
  }
  void undo(size_t made) {
    for (; done_.size() > made; done_.pop_back()) {
      const Done &done = done_.back();
      for (int m = 0, p = done.begin; m < done.moved; m++) {
        const int city = old_cities_[done.offset + m];
        cities_[p] = city;
        place_[city] = p;
        if (++p == n_) p = 0;
      }
      for (int a = 0; a < done.arcs; a++) {
        length_ -= out_[done.tail[a]] - done.cost[a];
        out_[done.tail[a]] = done.cost[a];
      }
      old_cities_.resize((size_t)done.offset);
    }
  }

  long long cells() const { return cells_; }

 private:
  struct Done {
    int begin, moved, offset, arcs;
    int tail[most_arcs];
    Cost cost[most_arcs];
  };

  int n_ = 0;
  std::vector<int> cities_, place_;
  std::vector<Cost> out_;  // of the arc out of each city
  Cost length_ = 0;
  std::vector<Done> done_;
  std::vector<int> old_cities_, segments_;
  int order_[most_arcs], rank_[most_arcs];  // of an exchange's arcs along the tour
  long long cells_ = 0;

  void sort(const Exchange &e) {
    for (int a = 0; a < e.arcs; a++) {
      int r = a;
      for (const int p = place_[e.tail[a]]; r > 0 && place_[e.tail[order_[r - 1]]] > p; r--) order_[r] = order_[r - 1];
      order_[r] = a;
    }
    for (int r = 0; r < e.arcs; r++) rank_[order_[r]] = r;
  }
};

}  // namespace warptsp::directed
