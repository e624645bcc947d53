// Dijkstra's algorithm from a tail over alternating ways, an arc there and the arc of a solution back, and what a shortest
// one changes: heads, tails and potentials.
#pragma once
#include <algorithm>
#include <vector>

#include "directed/costs.h"

namespace warptsp::directed {

class ShortestPaths {
 public:
  explicit ShortestPaths(int n) : distance_(n), before_(n), reached_(n, 0), settled_(n, 0) {}

  void begin() {
    stamp_++;
    heap_.clear();
    order_.clear();
  }
  bool is_settled(int head) const { return settled_[head] == stamp_; }
  // A way of this length to a head that is not settled, by an arc from `tail`.
  void offer(int tail, int head, Cost length) {
    if (reached_[head] == stamp_ && length >= distance_[head]) return;
    reached_[head] = stamp_;
    distance_[head] = length;
    before_[head] = tail;
    heap_.push_back({length, head});
    std::push_heap(heap_.begin(), heap_.end(), is_later);
  }
  // The nearest head that is not settled, which it is then; -1 if none is reached.
  int settle() {
    while (!heap_.empty()) {
      const Arc top = heap_.front();
      std::pop_heap(heap_.begin(), heap_.end(), is_later);
      heap_.pop_back();
      if (is_settled(top.city) || top.cost != distance_[top.city]) continue;
      settled_[top.city] = stamp_;
      order_.push_back(top.city);
      return top.city;
    }
    return -1;
  }
  Cost distance(int head) const { return distance_[head]; }

  // Makes the way from tail `start` to the head that was settled last part of the solution.
  void take(int start, std::vector<int> &heads, std::vector<int> &tails, std::vector<Cost> &leaving,
            std::vector<Cost> &entering) const {
    const int end = order_.back();
    const Cost length = distance_[end];
    leaving[start] += length;
    for (const int head : order_) {
      if (head == end) continue;
      entering[head] -= length - distance_[head];
      leaving[tails[head]] += length - distance_[head];
    }
    for (int head = end;;) {
      const int tail = before_[head], next = heads[tail];
      heads[tail] = head;
      tails[head] = tail;
      if (tail == start) return;
      head = next;
    }
  }

 private:
  std::vector<Cost> distance_;
  std::vector<int> before_, reached_, settled_, order_;
  std::vector<Arc> heap_;
  int stamp_ = 0;

  static bool is_later(const Arc &a, const Arc &b) { return b < a; }
};

}  // namespace warptsp::directed
