// Best-improvement descent on the CPU: pass over a neighbourhood, apply its best move, until none shortens the tour. Of
// several neighbourhoods the next is passed over where there is no move in one, and after a move the first again:
// variable neighbourhood descent.
//
// In the plane 2-opt, swaps and relocations are sought in single precision first. One is applied only if its delta in double precision is
// an improvement; if it is not, a pass in double precision decides.
#pragma once
#include <algorithm>
#include <memory>
#include <utility>

#include "papers/exhaustive/exhaustive_passes.h"

namespace warptsp::exhaustive {

enum class Neighborhood : int { two_opt = 0, three_opt = 1, swap = 2, relocate = 3 };

struct DescentCounters {
  long long passes = 0, evaluations = 0, moves = 0;
};

class Descent {
 public:
  // `order`: the neighbourhoods, the first of which comes first. `fixed`: two neighbours in fixed edges for each city, -1
  // for none; empty if there are no fixed edges.
  Descent(const GivenDistances &source, std::vector<Neighborhood> order, const std::vector<int> &tour,
          const std::vector<int> &fixed, double tolerance, int threads)
      : rows_(source, tour, fixed), order_(std::move(order)), tolerance_(tolerance), threads_(threads) {
    for (int i = 0; i < rows_.size(); ++i) length_ += rows_(i, i + 1);
    // A fixed edge would need a length that single precision cannot tell from infinity.
    if (order_ == std::vector<Neighborhood>{Neighborhood::three_opt} || !fixed.empty() || !rows_.plane()) return;
    fast_ = std::make_unique<PlaneRows<float>>(source, MoveOrder::triangle);
    fast_->place(rows_.city(), 0, rows_.size());
  }

  // Swaps: cities that keep their place, and pairs (a, b) of which a stays before b.
  void constrain(std::vector<int> kept, std::vector<std::pair<int, int>> before) {
    kept_ = std::move(kept);
    before_ = std::move(before);
    set_limits();
  }

  // Passes until the time is over, so many are done (< 0: any number), or the token says stop; true when no move of any
  // neighbourhood shortens the tour.
  bool proceed(double seconds, long long passes, const StopToken &token) {
    const StopToken slice(token, seconds);
    while (passes != 0 && !complete_ && !slice.stopped()) {
      if (!pass(token)) break;
      if (passes > 0) --passes;
    }
    return complete_;
  }

  double length() const { return length_; }
  std::vector<int> tour() const { return rows_.tour(); }
  const DescentCounters &counters() const { return counters_; }

 private:
  // False if the token stopped it: the tour is then as it was.
  bool pass(const StopToken &token) {
    const Neighborhood neighborhood = order_[current_];
    if (fast_ && neighborhood != Neighborhood::three_opt) {
      // What single precision finds, if it is an improvement in double precision.
      PassResult likely(0.0);
      if (!find(*fast_, token, likely)) return false;
      BestMove best = likely.best();
      with_move([&](auto move) {
        typedef decltype(move) Move;
        if (best.number != ~0ull) best.delta = Move::of(best.number, rows_.size()).delta(rows_, rows_.edges());
      });
      if (best.delta < -tolerance_) return apply(best);
    }
    PassResult sure(tolerance_);
    return find(rows_, token, sure) && apply(sure.best());
  }

  template <class Rows>
  bool find(const Rows &rows, const StopToken &token, PassResult &result) const {
    switch (order_[current_]) {
      case Neighborhood::two_opt: return pass_two_opt(rows, threads_, token, result);
      case Neighborhood::swap: return pass_swap(rows, limits_, threads_, token, result);
      case Neighborhood::relocate: return pass_relocate(rows, threads_, token, result);
      default: return pass_three_opt(rows_, threads_, token, result);
    }
  }

  // use(Move{}), of the neighbourhood that is passed over.
  template <class Use>
  void with_move(const Use &use) const {
    switch (order_[current_]) {
      case Neighborhood::two_opt: return use(TwoOpt{});
      case Neighborhood::swap: return use(Swap{});
      case Neighborhood::relocate: return use(Relocate{});
      default: return use(ThreeOpt{});
    }
  }

  bool apply(const BestMove &best) {
    ++counters_.passes;
    const bool shorter = best.number != ~0ull && best.delta < -tolerance_;
    with_move([&](auto kind) {
      typedef decltype(kind) Move;
      const int n = rows_.size();
      counters_.evaluations += (long long)Move::moves(n);
      if (!shorter) return;
      const Move move = Move::of(best.number, n);
      rows_.rearrange(move.begin(), move.end(), [&](int k) { return move.source(k); });
      if (fast_) fast_->place(rows_.city(), move.begin(), move.end());
    });
    if (!shorter) {
      complete_ = ++current_ == order_.size();
      return true;
    }
    current_ = 0;
    length_ += best.delta;
    ++counters_.moves;
    if (!limits_.later.empty()) set_limits();
    return true;
  }

  void set_limits() {
    const int n = rows_.size();
    if (kept_.empty() && before_.empty()) return;
    limits_.earlier.assign(n + 1, 0);
    limits_.later.assign(n + 1, n);
    std::vector<int> position(n);
    for (int i = 0; i < n; ++i) position[rows_.city()[i]] = i;
    for (const auto &[a, b] : before_) {
      int &later = limits_.later[position[a]], &earlier = limits_.earlier[position[b]];
      later = std::min(later, position[b]);
      earlier = std::max(earlier, position[a]);
    }
    for (const int city : kept_) {
      limits_.later[position[city]] = 0;
      limits_.earlier[position[city]] = n;
    }
  }

  DistanceRows rows_;
  std::vector<Neighborhood> order_;
  size_t current_ = 0;  // which of them is passed over next
  double tolerance_;
  int threads_;
  double length_ = 0.0;
  bool complete_ = false;
  DescentCounters counters_;
  std::vector<int> kept_;
  std::vector<std::pair<int, int>> before_;
  SwapLimits limits_;
  std::unique_ptr<PlaneRows<float>> fast_;  // null where single precision does not do
};

}  // namespace warptsp::exhaustive
