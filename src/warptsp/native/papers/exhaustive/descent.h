// Best-improvement descent on the CPU: pass over a neighbourhood, apply its best move, until none shortens the tour. Of
// several neighbourhoods the next is passed over where there is no move in one, and after a move the first again:
// variable neighbourhood descent.
//
// In the plane 2-opt, swaps and relocations are sought in single precision first. One is applied only if its delta in double precision is
// an improvement; if it is not, a pass in double precision decides.
#pragma once
#include <algorithm>
#include <memory>
#include <stdexcept>
#include <utility>

#include "papers/exhaustive/exhaustive_passes.h"
#include "papers/exhaustive/fast_passes.h"
#include "papers/exhaustive/pruned_passes.h"

namespace warptsp::exhaustive {

enum class Neighborhood : int { two_opt = 0, three_opt = 1, swap = 2, relocate = 3 };

struct DescentCounters {
  long long passes = 0, evaluations = 0, moves = 0;  // evaluations: without what is skipped
};

class Descent {
 public:
  // `order`: the neighbourhoods, the first of which comes first. `fixed`: two neighbours in fixed edges for each city, -1
  // for none; empty if there are no fixed edges.
  Descent(const DistanceSource &source, std::vector<Neighborhood> order, const std::vector<int> &tour,
          std::vector<int> fixed, double tolerance, int threads)
      : rows_(source, tour), order_(std::move(order)), fixed_(std::move(fixed)), tolerance_(tolerance),
        threads_(threads), edges_(tour.size() + 1) {
    for (int i = 0; i < rows_.size(); ++i) length_ += rows_(i, i + 1);
    measure_edges(0, rows_.size());
    // A fixed edge would need a length that single precision cannot tell from infinity.
    const bool fast = std::any_of(order_.begin(), order_.end(), has_fast_pass);
    if (fast && fixed_.empty()) fast_ = FastPasses::create(source);
    if (fast_) fast_->update(rows_, 0, rows_.size());
  }

  // Swaps: cities that keep their place, and pairs (a, b) of which a stays before b.
  void constrain(std::vector<int> kept, std::vector<std::pair<int, int>> before) {
    kept_ = std::move(kept);
    before_ = std::move(before);
    set_limits();
  }

  // 2-opt in the plane: stretches of the tour between which no move gains are skipped.
  void prune() {
    if (order_ != std::vector<Neighborhood>{Neighborhood::two_opt} || !rows_.planar() || !fixed_.empty())
      throw std::invalid_argument("pruning is for 2-opt in the plane");
    pruned_ = true;
    fast_.reset();
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
  static bool has_fast_pass(Neighborhood neighborhood) { return neighborhood != Neighborhood::three_opt; }

  // False if the token stopped it: the tour is then as it was.
  bool pass(const StopToken &token) {
    PassResult result(tolerance_);
    const PassView view{rows_, edges_, threads_, token};
    const int n = rows_.size();
    const Neighborhood neighborhood = order_[current_];
    if (fast_ && has_fast_pass(neighborhood)) {
      BestMove best;
      bool made = false;
      switch (neighborhood) {
        case Neighborhood::swap:
          if (!fast_->swap(limits_, threads_, token, best)) return false;
          made = apply_if_shorter<Swap>(best, n);
          break;
        case Neighborhood::relocate:
          if (!fast_->relocate(threads_, token, best)) return false;
          made = apply_if_shorter<Relocate>(best, n);
          break;
        default:
          if (!fast_->two_opt(threads_, token, best)) return false;
          made = apply_if_shorter<TwoOpt>(best, n);
      }
      if (made) return true;
    }
    const auto fill = [&](int from, int begin, int end, double *out) { rows_.fill(from, begin, end, out); };
    switch (neighborhood) {
      case Neighborhood::two_opt:
        if (pruned_) {
          // Bounds are wrong by a few units of the last place, the tolerance is more than that.
          const PruningRule<double> rule = pruning_rule(rows_.kind(), tolerance_);
          return pass_two_opt_pruned(view, rule, result, counters_.evaluations) && apply<TwoOpt>(result.best(), n);
        }
        return pass_two_opt(view, result) && apply<TwoOpt>(result.best(), n);
      case Neighborhood::three_opt: return pass_three_opt(view, result) && apply<ThreeOpt>(result.best(), n);
      case Neighborhood::swap:
        return pass_swap<double>(n, edges_.data(), fill, limits_, threads_, token, result) &&
               apply<Swap>(result.best(), n);
      case Neighborhood::relocate:
        return pass_relocate<double>(n, edges_.data(), fill, threads_, token, result) &&
               apply<Relocate>(result.best(), n);
    }
    return false;
  }

  // What single precision found, if it is an improvement in double precision.
  template <class Move>
  bool apply_if_shorter(BestMove best, int n) {
    if (best.number == ~0ull) return false;
    best.delta = Move::of(best.number, n).delta(rows_, edges_);
    return best.delta < -tolerance_ && apply<Move>(best, n);
  }

  template <class Move>
  bool apply(const BestMove &best, int n) {
    ++counters_.passes;
    if (!pruned_) counters_.evaluations += (long long)Move::moves(n);
    if (best.number == ~0ull || !(best.delta < -tolerance_)) {
      complete_ = ++current_ == order_.size();
      return true;
    }
    current_ = 0;
    const Move move = Move::of(best.number, n);
    rows_.rearrange(move.begin(), move.end(), [&](int k) { return move.source(k); });
    measure_edges(move.begin() - 1, move.end());
    if (fast_) fast_->update(rows_, move.begin(), move.end());
    length_ += best.delta;
    ++counters_.moves;
    if (!limits_.later.empty()) set_limits();
    return true;
  }

  void measure_edges(int begin, int end) {
    for (int i = begin; i < end; ++i) {
      edges_[i] = rows_(i, i + 1);
      if (fixed_.empty()) continue;
      const int *const others = &fixed_[2 * (size_t)rows_.city(i)];
      const int next = rows_.city(i + 1);
      if (others[0] == next || others[1] == next) edges_[i] = -1e300;
    }
    edges_[rows_.size()] = edges_[0];
  }

  void set_limits() {
    const int n = rows_.size();
    if (kept_.empty() && before_.empty()) return;
    limits_.earlier.assign(n + 1, 0);
    limits_.later.assign(n + 1, n);
    std::vector<int> position(n);
    for (int i = 0; i < n; ++i) position[rows_.city(i)] = i;
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
  std::vector<int> fixed_;
  double tolerance_;
  int threads_;
  std::vector<double> edges_;
  double length_ = 0.0;
  bool complete_ = false, pruned_ = false;
  DescentCounters counters_;
  std::vector<int> kept_;
  std::vector<std::pair<int, int>> before_;
  SwapLimits limits_;
  std::unique_ptr<FastPasses> fast_;
};

}  // namespace warptsp::exhaustive
