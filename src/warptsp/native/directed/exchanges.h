// Local search of a directed tour: exchanges of three and five arcs, chained in the manner of Lin and Kernighan.
//
// An alternating exchange takes an arc out of the tour, goes on to a candidate, takes the arc into that out, and so on;
// the last tail is joined to the first head. Without reversals only odd numbers of arcs can leave one tour (P. C.
// Kanellakis and C. H. Papadimitriou, "Local search for the asymmetric traveling salesman problem",
// Operations Research 28 (1980) 1086-1099). An exchange that gains nothing may be followed by another that takes out the
// arc which closed it. Two arcs leave two cycles, which a second exchange of two arcs may join: a double bridge.
#pragma once
#include <algorithm>
#include <vector>

#include "common/stop_token.h"
#include "directed/candidates.h"
#include "directed/tour.h"
#include "lk/counters.h"

namespace warptsp::directed {

using lk::LkCounters;

template <class Entry>
class LocalSearch {
 public:
  LocalSearch(const ReducedCosts<Entry> &costs, const Candidates &candidates)
      : costs_(costs), candidates_(candidates), queued_((size_t)costs.size(), 0) {}

  Tour &tour() { return tour_; }
  const Tour &tour() const { return tour_; }
  LkCounters &counters() { return counters_; }
  const LkCounters &counters() const { return counters_; }

  void set(const std::vector<int> &cities) {
    tour_.set(cities, costs_);
    clear();
  }
  void set(const std::vector<int> &next, const std::vector<Cost> &out, Cost length) {
    tour_.set(next, out, length);
    clear();
  }
  // Goes on from the tour of another one.
  void set(const Tour &tour) {
    tour_ = tour;
    tour_.forget();
    clear();
  }
  void enqueue(int city) {
    if (queued_[city] != 0) return;
    queued_[city] = 1;
    queue_.push_back(city);
  }
  void enqueue_all() {
    for (const int city : tour_.cities()) enqueue(city);
  }
  // What an exchange takes out and puts in.
  void enqueue(const Exchange &e) {
    for (int a = 0; a < e.arcs; a++) {
      enqueue(e.tail[a]);
      enqueue(e.head[a]);
    }
  }

  // From every city in the queue. False if the token stopped it, and then the queue keeps the rest. A tour of the length
  // `before` is taken for the one before a kick, which needs no search.
  bool run(const StopToken &token, Cost before = -1) {
    for (int steps = 0; begin_ < queue_.size(); steps++) {
      if (steps % 256 == 255 && token.stopped()) return false;
      const int city = queue_[begin_++];
      queued_[city] = 0;
      while (improve(city)) {
        if (tour_.length() == before) {
          clear();
          return true;
        }
      }
      counters_.evaluations++;
    }
    clear();
    return true;
  }

  // Forgets what is in the queue.
  void clear() {
    for (size_t k = begin_; k < queue_.size(); k++) queued_[queue_[k]] = 0;
    queue_.clear();
    begin_ = 0;
  }

  // A double bridge of short segments nearby: A B C D becomes A D C B. (A C B D is an exchange of three arcs, which
  // local search would undo.) It begins at this place. False if there are too few cities.
  template <class Numbers>
  bool kick(int place, Numbers &random, int longest) {
    const int n = tour_.size();
    if (n < 8) return false;
    const int limit = std::min(longest, (n - 2) / 3);
    Exchange e;
    e.arcs = 4;
    for (int a = 0; a < 4; a++) {
      e.tail[a] = tour_.at(place);
      e.head[a] = tour_.next(e.tail[a]);
      e.to[a] = (a + 2) % 4;
      place += 1 + random.below(limit);
      if (place >= n) place -= n;
    }
    for (int a = 0; a < 4; a++) e.cost[a] = costs_(e.tail[a], e.head[e.to[a]]);
    make(e);
    enqueue(e);
    return true;
  }

 private:
  static constexpr int depth = 5, chained = 3;  // arcs of an exchange, and further exchanges in a chain
  // Cities of the shorter of two cycles that are to be joined. Streets of 3162 cities, 5 CPU s of kicks: up to 50 1489637,
  // 200 1485923, 500 1484101, 5000 1485275.
  static constexpr int shorter_cycle = 500;
  static constexpr int breadth[depth] = {0, 8, 6, 5, 4};  // candidates of each step

  const ReducedCosts<Entry> &costs_;
  const Candidates &candidates_;
  Tour tour_;
  std::vector<int> queue_;
  size_t begin_ = 0;
  std::vector<char> queued_;
  LkCounters counters_;
  // The exchange that is tried, the places of its tails, the best one that gains only if another follows, and tails that
  // are not to be changed.
  Exchange now_, open_;
  int place_[most_arcs];
  Cost best_open_ = 0;
  int first_head_ = 0;
  std::vector<int> kept_;

  void make(const Exchange &e) {
    const long long before = tour_.cells();
    tour_.make(e);
    counters_.moves++;
    counters_.cells += tour_.cells() - before;
  }
  bool is_kept(int tail) const { return std::find(kept_.begin(), kept_.end(), tail) != kept_.end(); }

  // The cost of an arc if that is less than `limit`, otherwise no_cost. The first arcs of a list are the best ones of all
  // out of their city, so that the matrix, a miss of every cache, is seldom read.
  Cost if_less(int tail, int head, Cost limit) const {
    const int *const heads = candidates_.heads(tail);
    const Cost *const costs = candidates_.costs(tail);
    for (int a = 0; a < candidates_.best_out && heads[a] >= 0; a++) {
      if (costs[a] >= limit) return no_cost;
      if (heads[a] == head) return costs[a];
    }
    const Cost cost = costs_(tail, head);
    return cost < limit ? cost : no_cost;
  }

  bool improve(int city) {
    Cost gain = tour_.cost_out(city);
    if (gain <= 0) return false;
    first_head_ = tour_.next(city);
    const size_t made = tour_.made();
    kept_.clear();
    for (int c = 0, tail = city;; c++) {
      choose(0, tour_.place(tail), first_head_);
      best_open_ = 0;
      open_.arcs = 0;
      if (extend<1>(gain)) return true;
      if (c >= chained || open_.arcs == 0) break;
      const int last = open_.arcs - 1;
      for (int a = 0; a < last; a++) kept_.push_back(open_.tail[a]);
      open_.cost[last] = costs_(open_.tail[last], first_head_);
      make(open_);
      tail = open_.tail[last];  // the arc that closed the exchange goes out again
      gain = best_open_;
    }
    tour_.undo(made);
    return false;
  }

  // The arc from this place to `head` goes out as the k-th.
  void choose(int k, int place, int head) {
    now_.tail[k] = tour_.at(place);
    now_.head[k] = head;
    place_[k] = place;
  }

  // With `k` tails chosen, and what their arcs cost less the new ones: makes an exchange that gains.
  template <int k>
  bool extend(Cost gain) {
    static_assert(k < depth && depth <= most_arcs && depth == CycleTable::arcs + 1);
    const int tail = now_.tail[k - 1], width = candidates_.width;
    const int *const heads = candidates_.heads(tail);
    const Cost *const costs = candidates_.costs(tail);
    [[maybe_unused]] const int key = k < 3 ? 0 : CycleTable::key_of_three(place_);
    [[maybe_unused]] const unsigned on_cycle = k < 4 ? 0 : cycle_table[CycleTable::key(place_)];
    for (int a = 0, left = breadth[k]; a < width && left > 0; a++) {
      if (costs[a] >= gain) break;
      const int head = heads[a];
      if (head == now_.head[k - 1]) continue;
      const int behind = tour_.place(head), place = behind != 0 ? behind - 1 : tour_.size() - 1;
      bool used = false;
      for (int b = 0; b < k; b++) used |= place_[b] == place;
      if (used || (!kept_.empty() && is_kept(tour_.at(place)))) continue;
      left--;
      if constexpr (k == 3)
        if (cycle_table[key | CycleTable::key_of_last(place_, place)] == 0) continue;
      if constexpr (k == 4)
        if ((on_cycle >> CycleTable::segment(place_, place) & 1) == 0) continue;
      choose(k, place, head);
      now_.cost[k - 1] = costs[a];
      const Cost total = gain - costs[a] + tour_.cost_out(now_.tail[k]);
      if constexpr (k == 1) {
        const Cost closing = if_less(now_.tail[k], first_head_, total);
        if (closing != no_cost && join_cycles(total - closing, closing)) return true;
      }
      // Two arcs that are out leave a cycle from head[1] to tail[0].
      if constexpr (k == 2)
        if ((place_[1] < place) + (place < place_[0]) + (place_[0] < place_[1]) == 2 && close(k, total)) return true;
      if constexpr (k == 4)
        if (close(k, total)) return true;
      if constexpr (k + 1 < depth)
        if (extend<k + 1>(total)) return true;
    }
    return false;
  }

  bool close(int k, Cost total) {
    const Cost closing = if_less(now_.tail[k], first_head_, total);
    if (closing == no_cost && total <= best_open_) return false;
    now_.arcs = k + 1;
    for (int a = 0; a < k; a++) now_.to[a] = a + 1;
    now_.to[k] = 0;
    if (closing != no_cost) {
      now_.cost[k] = closing;
      make(now_);
      enqueue(now_);
      return true;
    }
    best_open_ = total;
    open_ = now_;
    return false;
  }

  // The first two arcs leave two cycles and gain: looks for two more, one in each cycle, that join them.
  bool join_cycles(Cost gain, Cost closing) {
    const int n = tour_.size();
    int begin = tour_.place(now_.head[1]), count = tour_.count(now_.head[1], now_.tail[0]);
    if (count > n - count) {
      begin = tour_.place(now_.head[0]);
      count = n - count;
    }
    if (count > shorter_cycle) return false;
    const int width = candidates_.width;
    for (int p = begin; p < begin + count; p++) {
      const int tail = tour_.at(p);
      if (tail == now_.tail[0] || tail == now_.tail[1]) continue;
      const int *const heads = candidates_.heads(tail);
      const Cost *const costs = candidates_.costs(tail);
      const Cost sum = gain + tour_.cost_out(tail);
      for (int a = 0; a < width && costs[a] < sum; a++) {
        const int head = heads[a];
        int offset = tour_.place(head) - begin;
        if (offset < 0) offset += n;
        if (offset < count) continue;
        const int other = tour_.before(head);
        if (other == now_.tail[0] || other == now_.tail[1]) continue;
        const int next = tour_.next(tail);
        const Cost last = if_less(other, next, sum - costs[a] + tour_.cost_out(other));
        if (last == no_cost) continue;
        Exchange four = now_;
        four.arcs = 4;
        four.tail[2] = tail;
        four.head[2] = next;
        four.tail[3] = other;
        four.head[3] = head;
        for (int b = 0; b < 4; b++) four.to[b] = b ^ 1;
        four.cost[1] = closing;
        four.cost[2] = costs[a];
        four.cost[3] = last;
        if (!tour_.is_one_tour(four)) continue;
        make(four);
        enqueue(four);
        return true;
      }
    }
    return false;
  }
};

}  // namespace warptsp::directed
