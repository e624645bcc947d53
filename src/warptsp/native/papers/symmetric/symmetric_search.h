// Symmetrical 2-opt descents and annealing of one tour, on CPU threads, and what descents of 3-opt share with them. Host
// code only; see symmetric.h.
#pragma once
#include <algorithm>
#include <vector>

#include "common/parallel.h"
#include "common/stop_token.h"
#include "papers/symmetric/symmetric.h"

namespace warptsp::symmetric {

struct SymmetricCounters {
  long long steps = 0;        // axes
  long long evaluations = 0;  // rungs
  long long moves = 0;        // rungs accepted
};

// The first of `count` numbers from `begin` on for which `found` is true, asked by threads of which each has shares; the
// number behind them if there is none.
template <class Found>
long long first_of(long long begin, long long count, int threads, int shares, const Found &found) {
  std::atomic<long long> first{begin + count};
  for_each_task(threads, shares, [&](int share) {
    const long long end = begin + count * (share + 1) / shares;
    for (long long s = begin + count * share / shares; s < end && s < first.load(std::memory_order_relaxed); s++) {
      if (!found(s)) continue;
      long long known = first.load();
      while (s < known && !first.compare_exchange_weak(known, s)) {
      }
      return;
    }
  });
  return first;
}

class CircleSearch {
 public:
  virtual ~CircleSearch() = default;
  // Descends until no move shortens the tour, or for as long as moves at random have to fail: true. Or until the slice of
  // time ends: false.
  virtual bool descend(int threads, const StopToken &slice) = 0;
  // Makes so many steps of annealing, or those that the slice of time leaves.
  virtual void anneal(Cooling cooling, long long steps, const StopToken &slice) = 0;

  const std::vector<int> &cities() const { return city_; }
  const SymmetricCounters &counters() const { return counters_; }
  long long quiet() const { return quiet_; }
  double length() const {
    double sum = 0;
    for (int p = 0; p < n_; p++) sum += instance_.distance(city_[p], city_[p + 1 == n_ ? 0 : p + 1]);
    return sum;
  }

 protected:
  CircleSearch(const SymmetricInstance &instance, std::vector<int> circle)
      : instance_(instance), n_((int)circle.size()), city_(std::move(circle)) {}

  const SymmetricInstance instance_;
  const int n_;
  std::vector<int> city_;  // by position
  long long quiet_ = 0;    // steps since the last move
  SymmetricCounters counters_;
};

class SymmetricTour : public CircleSearch {
 public:
  SymmetricTour(const SymmetricInstance &instance, std::vector<int> circle, unsigned long long seed,
                unsigned long long chain)
      : CircleSearch(instance, std::move(circle)), seed_(seed), chain_(chain) {
    x_.resize(2 * (size_t)n_);
    y_.resize(2 * (size_t)n_);
    edge_.resize(2 * (size_t)n_);
    accepted_.resize(n_ / 2 + 2);
    for (int p = 0; p < n_; p++) {
      const int city = city_[p];
      if (instance_.planar) put(p, instance_.plane_x(city), instance_.plane_y(city));
      put_edge(p, instance_.edge(city, city_[p + 1 == n_ ? 0 : p + 1]));
    }
  }

  bool descend(int threads, const StopToken &slice) override {
    const Acceptance acceptance{0.0, seed_, chain_};
    const long long all = quiet_enough(instance_);
    while (quiet_ < all) {
      // Ahead of a long quiet stretch, threads examine the axes to come, each at its share.
      if (threads > 1 && quiet_ >= n_ / 16 && n_ >= min_shared) {
        if (look_ahead(acceptance, threads, all, slice)) return false;
        continue;
      }
      count_quiet(step(acceptance));
      if (counters_.steps % 16 == 0 && slice.stopped()) break;
    }
    return quiet_ >= all;
  }

  void anneal(Cooling cooling, long long steps, const StopToken &slice) override {
    Acceptance acceptance{cooling.temperature, seed_, chain_};
    for (long long made = 0; made < steps; made++) {
      count_quiet(step(acceptance));
      cooling.advance();
      acceptance.temperature = cooling.temperature;
      if (counters_.steps % 16 == 0 && slice.stopped()) break;
    }
    quiet_ = 0;  // what is refused at a temperature says nothing about a descent
  }

 private:
  static constexpr int strip = 256;        // rungs that the filter takes at a time
  static constexpr int min_shared = 2000;  // cities from which a share of the axes is worth a thread

  // Decides the rungs of the next axis and applies those accepted; returns how many.
  int step(const Acceptance &acceptance) {
    const long long number = counters_.steps;
    const Axis axis = axis_of(number);
    // Rungs above the last accepted one change nothing.
    int last = 0, count = 0;
    for_each_accepted(axis, number, acceptance, [&](int rung) {
      for (int k = last + 1; k < rung; k++) accepted_[k] = 0;
      accepted_[rung] = 1;
      last = rung;
      count++;
      return true;
    });
    if (count > 0) apply(axis, last);
    counters_.moves += count;
    counters_.evaluations += evaluations_of(axis);
    counters_.steps++;
    return count;
  }

  void count_quiet(int moves) { quiet_ = quiet_after(instance_, quiet_, counters_.steps, moves > 0); }

  Axis axis_of(long long step) const {
    if (instance_.random) return random_axis(instance_, seed_, chain_, step);
    return axis_at(instance_, (int)(step % axes_of(instance_)));
  }
  static int evaluations_of(const Axis &axis) { return axis.rungs - axis.first + 1; }

  // Calls taken(rung) for the accepted rungs of an axis, innermost first, until it returns false.
  template <class Taken>
  void for_each_accepted(const Axis &axis, long long number, const Acceptance &acceptance, const Taken &taken) const {
    const u64 key = acceptance.key(number);
    if (!instance_.planar) {
      for (int k = axis.first; k <= axis.rungs; k++)
        if (accepts(axis, k, acceptance.threshold(instance_, acceptance.draw(key, k))) && !taken(k)) return;
      return;
    }
    const float limit = acceptance.most(instance_);
    // Positions are stored twice in a row, so that neither side of the axis wraps around.
    const float *lx = x_.data() + axis.left + n_, *ly = y_.data() + axis.left + n_, *ll = edge_.data() + axis.left + n_;
    const float *rx = x_.data() + axis.right, *ry = y_.data() + axis.right, *rl = edge_.data() + axis.right;
    for (int from = axis.first; from <= axis.rungs; from += strip) {
      const int to = std::min(from + strip, axis.rungs + 1);
      int some = 0;
      for (int k = from; k < to; k++) some |= !(margin(lx, ly, ll, rx, ry, rl, k) > limit);
      if (!some) continue;
      for (int k = from; k < to; k++) {
        const float about = margin(lx, ly, ll, rx, ry, rl, k);
        if (about > limit) continue;
        // Most losses that some number would accept are refused by the number that comes up.
        const float draw = acceptance.draw(key, k);
        if (about > acceptance.filter(instance_, draw)) continue;
        if (accepts(axis, k, acceptance.threshold(instance_, draw)) && !taken(k)) return;
      }
    }
  }

  // About how much rung k makes the tour longer, rounded down. NaN, of the dummy city, passes the filter.
  static float margin(const float *lx, const float *ly, const float *ll, const float *rx, const float *ry,
                      const float *rl, int k) {
    const float ux = lx[-k - 1] - rx[k], uy = ly[-k - 1] - ry[k], vx = lx[-k] - rx[k + 1], vy = ly[-k] - ry[k + 1];
    return (std::sqrt(ux * ux + uy * uy) + std::sqrt(vx * vx + vy * vy)) * less - (ll[-k - 1] + rl[k]) * more;
  }

  bool accepts(const Axis &axis, int k, double threshold) const {
    const int outer = left_of(axis, k + 1, n_), right = right_of(axis, k, n_);
    const int a = city_[outer], b = city_[left_of(axis, k, n_)], c = city_[right], d = city_[right_of(axis, k + 1, n_)];
    if (instance_.kept(a, b) || instance_.kept(c, d)) return false;
    double ac, bd;
    return instance_.growth(a, b, c, d, edge_[outer], edge_[right], ac, bd) < threshold;
  }

  // Exchanges the cities of the levels that an odd number of accepted rungs from 1 to `last` reverse.
  void apply(const Axis &axis, int last) {
    bool crossed = false;
    for (int k = last; k >= 1; k--) {
      const int outer = left_of(axis, k + 1, n_), left = left_of(axis, k, n_), right = right_of(axis, k, n_);
      const bool beyond = crossed;
      crossed ^= accepted_[k] != 0;
      if (crossed) exchange(left, right);
      if (accepted_[k]) {
        put_edge(outer, instance_.edge(city_[outer], city_[left]));
        put_edge(right, instance_.edge(city_[right], city_[right_of(axis, k + 1, n_)]));
      } else if (beyond) {
        exchange_edges(outer, right);
      }
    }
    // Around a city in the centre there are two more edges.
    if (crossed && axis.left == axis.right) exchange_edges(left_of(axis, 1, n_), axis.left);
  }

  void exchange(int p, int q) {
    std::swap(city_[p], city_[q]);
    if (!instance_.planar) return;
    const float x = x_[p], y = y_[p];
    put(p, x_[q], y_[q]);
    put(q, x, y);
  }

  void exchange_edges(int p, int q) {
    const float edge = edge_[p];
    put_edge(p, edge_[q]);
    put_edge(q, edge);
  }

  void put(int p, float x, float y) {
    x_[p] = x_[p + n_] = x;
    y_[p] = y_[p + n_] = y;
  }
  void put_edge(int p, float length) { edge_[p] = edge_[p + n_] = length; }

  // Examines the next axes on several threads, and goes on to the first at which a rung is accepted. Returns true if
  // the slice has ended.
  bool look_ahead(const Acceptance &acceptance, int threads, long long all, const StopToken &slice) {
    // No more than were quiet so far, so that little is examined for nothing, and than take some milliseconds.
    const int rungs = evaluations_of(axis_of(0));
    const long long begin = counters_.steps, most = (instance_.planar ? 1LL << 24 : 1LL << 20) / rungs + 1;
    const long long count = std::min({all - quiet_, quiet_, most});
    const int shares = (int)std::min<long long>(count, 4LL * threads);
    const long long first = first_of(begin, count, threads, shares, [&](long long s) {
      bool found = false;
      for_each_accepted(axis_of(s), s, acceptance, [&](int) {
        found = true;
        return false;
      });
      return found;
    });
    const long long skipped = first - begin;
    for (long long s = begin; s < first; s++)
      counters_.evaluations += instance_.random ? 1 : evaluations_of(axis_of(s));
    skip(instance_, skipped, counters_.steps, quiet_);
    if (skipped < count) count_quiet(step(acceptance));
    return slice.stopped();
  }

  std::vector<float> x_, y_;             // by position, twice in a row
  std::vector<float> edge_;              // to the next position, the same
  std::vector<unsigned char> accepted_;  // by rung
  const unsigned long long seed_, chain_;
};

}  // namespace warptsp::symmetric
