// Iterated local search with 2-opt or 3-opt along neighbour lists (O. Martin, S. W. Otto and E. W. Felten, 1991): a double
// bridge, local search from its eight ends, and the new tour to go on from: always, if it is not longer, or by Metropolis'
// rule at a temperature that falls.
//
// One source for a CPU thread and a thread block. What differs is how cities are examined and cells written, which
// `Lanes` knows:
//   at_once()                     cities to examine together
//   each(count, f)                f(k) for every k below count, with all writes visible before and behind it
//   once(f)                       f() by one of them, likewise
//   kicked()                      says that moves are likely
//   examine<Three>(lists, tour, queue, count, move, evaluations)
//                                 of the first `count` queued cities the index of the first that has an improving move;
//                                 its best one among the nearest `neighbors_at_once` that
//                                 have any; `count` if none has
// Everything outside these is the same on all lanes. The queue is worked off city by city, so the tour does not depend
// on `at_once()`: those examined in advance are examined again if a move came before them.
#pragma once
#include "papers/neighbor_lists/neighbor_moves.h"
#include "common/random.h"

namespace warptsp::neighbor {

constexpr int max_touched = 64;  // stretches that are remembered to take a kick back; beyond, the whole tour is

// Of one chain; in shared memory on a GPU.
struct ChainMemory {
  int head, queued;  // the queue's
  int touched;       // stretches written since the last kick; above max_touched: too many to tell
  int from[max_touched], length[max_touched];
};

struct ChainQueue {
  int *city;     // [capacity] a ring
  unsigned *in;  // [size / 32, rounded up] a bit for each city: whether it is in it
  int capacity;  // at least the number of cities
  const ChainMemory *memory;

  WARPTSP_FN bool holds(int c) const { return in[c / 32] >> (c % 32) & 1u; }
  WARPTSP_FN int at(int k) const {
    const int slot = memory->head + k;
    return city[slot < capacity ? slot : slot - capacity];
  }
};

struct ChainCounts {
  long long evaluations = 0, examined = 0, moves = 0, kicks = 0, accepted = 0;
};

struct KickPlan {
  long long first, count;  // kicks are numbered from 0
  long long cold;          // the first one that may lose nothing
  double temperature;      // at kick 0
  int always;              // go on from the new tour, shorter or not
  int segment;             // longest piece of a double bridge; 0: four edges anywhere in the tour
  unsigned long long seed, chain;
};

// At kick `k`; falls as the square of what is left of the way, which was better than falling linearly.
WARPTSP_FN double temperature_at(const KickPlan &plan, long long k) {
  if (k >= plan.cold) return 0.0;
  const double left = (double)(plan.cold - k) / (double)plan.cold;
  return plan.temperature * left * left;
}

// Writes a stretch of the tour; `scratch` has room for its cells.
template <class Lanes>
WARPTSP_FN void write_stretch(const Lanes &lanes, const TourArrays &tour, const Rewrite &rewrite, int *scratch) {
  if (rewrite.pieces == 1) {  // one piece turned around: pairs of cells change places
    lanes.each(rewrite.total / 2, [&](int k) {
      const int p = rewrite.at(tour, k), q = rewrite.at(tour, rewrite.total - 1 - k);
      const int a = tour.order[p], b = tour.order[q];
      tour.order[p] = b;
      tour.order[q] = a;
      tour.position[b] = p;
      tour.position[a] = q;
    });
    return;
  }
  lanes.each(rewrite.total, [&](int k) { scratch[k] = tour.order[rewrite.at(tour, rewrite.source(k))]; });
  lanes.each(rewrite.total, [&](int k) {
    const int p = rewrite.at(tour, k), city = scratch[k];
    tour.order[p] = city;
    tour.position[city] = p;
  });
}

template <class Lanes, class Lists, bool Three>
class IteratedSearch {
 public:
  // `kept` gets the tour to go back to, `best` the best one; both are the same array where these are.
  WARPTSP_FN IteratedSearch(Lanes lanes, const Lists &lists, const TourArrays &tour, const ChainQueue &queue,
                            ChainMemory *memory, int *scratch, int *kept, int *best)
      : lanes_(lanes), lists_(lists), tour_(tour), queue_(queue), memory_(memory), scratch_(scratch), kept_(kept),
        best_(best) {}

  ChainCounts counts;  // evaluations: of this lane; the others are the same on all lanes

  WARPTSP_FN void keep_best_in(int *best) { best_ = best; }

  // Local search from the queued cities until there are none, or `most` of them have been examined. Returns the gain.
  WARPTSP_FN double settle(long long most) {
    double gain = 0.0;
    while (memory_->queued > 0 && most > 0) {
      const int count = memory_->queued < lanes_.at_once() ? memory_->queued : lanes_.at_once();
      NeighborMove move;
      const int found = lanes_.template examine<Three>(lists_, tour_, queue_, count, move, counts.evaluations);
      const int done = found < count ? found + 1 : count;
      counts.examined += done;
      most -= done;
      if (found < count) {
        write(rewrite_of(tour_, move));
        gain += move.gain;
        ++counts.moves;
      }
      lanes_.once([&] {
        for (int k = 0; k < done; ++k) queue_.in[queue_.at(k) / 32] &= ~(1u << queue_.at(k) % 32);
        memory_->head =
            memory_->head + done < queue_.capacity ? memory_->head + done : memory_->head + done - queue_.capacity;
        memory_->queued -= done;
        if (found < count)
          for (int e = 0; e < move.cities; ++e) push(move.t[e]);
      });
    }
    return gain;
  }

  // By one lane only.
  WARPTSP_FN void push(int city) {
    if (queue_.holds(city)) return;
    queue_.in[city / 32] |= 1u << city % 32;
    const int slot = memory_->head + memory_->queued++;
    queue_.city[slot < queue_.capacity ? slot : slot - queue_.capacity] = city;
  }

  WARPTSP_FN void push_ends(const int *end) {
    lanes_.once([&] {
      for (int e = 0; e < 8; ++e) push(end[e]);
    });
  }

  // By one lane only: takes the queued cities out.
  template <class Take>
  WARPTSP_FN void take_all(Take &&take) {
    for (; memory_->queued > 0; --memory_->queued) {
      const int city = queue_.at(0);
      queue_.in[city / 32] &= ~(1u << city % 32);
      memory_->head = memory_->head + 1 < queue_.capacity ? memory_->head + 1 : 0;
      take(city);
    }
  }

  // Kicks until `stop(k)`. `length` is that of the tour, `best` that of the best one, which is kept. `repair(end)` is the
  // local search after a double bridge with these eight ends; it returns its gain.
  template <class Stop, class Repair>
  WARPTSP_FN void kicks(const KickPlan &plan, double &length, double &best, Stop &&stop, Repair &&repair) {
    const int n = tour_.size;
    for (long long k = 0; k < plan.count && !stop(k); ++k) {
      ++counts.kicks;
      Random random(plan.seed, plan.chain, (u64)(plan.first + k));
      int cut[4];
      if (n < 4 || !draw(random, plan.segment, cut)) continue;
      lanes_.once([&] { memory_->touched = 0; });
      int end[8];
      WARPTSP_UNROLL
      for (int c = 0; c < 4; ++c) {
        end[2 * c] = tour_.order[tour_.wrap(cut[c])];
        end[2 * c + 1] = tour_.order[tour_.wrap(cut[c] + 1)];
      }
      double change = 0.0;
      WARPTSP_UNROLL
      for (int c = 0; c < 4; ++c) change -= (double)lists_.metric(end[2 * c], end[2 * c + 1]);
      // A D C B: behind the first cut comes D, which began behind the third, and so on backwards.
      change += (double)lists_.metric(end[0], end[5]);
      change += (double)lists_.metric(end[6], end[3]);
      change += (double)lists_.metric(end[4], end[1]);
      change += (double)lists_.metric(end[2], end[7]);
      write(double_bridge(tour_, cut[0], cut[1], cut[2], cut[3]));
      lanes_.kicked();
      change -= repair(end);
      const double temperature = temperature_at(plan, plan.first + k);
      const bool accepted =
          plan.always || change <= (temperature > 0.0 ? temperature * (double)random.minus_log() : 0.0);
      if (!plan.always) put_away(accepted);
      if (!accepted) continue;
      ++counts.accepted;
      length += change;
      if (!plan.always && kept_ == best_) {
        best = length;
      } else if (length < best - lists_.tolerance) {
        best = length;
        lanes_.each(n, [&](int p) { best_[p] = tour_.order[p]; });
      }
    }
  }

  // Writes a stretch of the tour, and remembers which.
  WARPTSP_FN void write(const Rewrite &rewrite) {
    if (rewrite.total == 0) return;
    lanes_.once([&] {
      if (memory_->touched < max_touched) {
        memory_->from[memory_->touched] =
            rewrite.sign > 0 ? rewrite.base : tour_.wrap(rewrite.base - rewrite.total + 1);
        memory_->length[memory_->touched] = rewrite.total;
      }
      if (memory_->touched <= max_touched) ++memory_->touched;
    });
    write_stretch(lanes_, tour_, rewrite, scratch_);
  }

 private:
  Lanes lanes_;
  Lists lists_;
  TourArrays tour_;
  ChainQueue queue_;
  ChainMemory *memory_;
  int *scratch_, *kept_, *best_;  // [size]

  // Four positions in ascending order, the edges behind which are to be cut; the last may lie beyond the array's end.
  WARPTSP_FN bool draw(Random &random, int segment, int *cut) const {
    const int n = tour_.size;
    for (int attempt = 0; attempt < 50; ++attempt) {
      if (segment > 0) {
        cut[0] = random.below(n);
        int a = 1 + random.below(segment), b = 1 + random.below(segment), c = 1 + random.below(segment);
        while (a + b + c >= n) a = (a + 1) / 2, b = (b + 1) / 2, c = (c + 1) / 2;
        cut[1] = cut[0] + a, cut[2] = cut[1] + b, cut[3] = cut[2] + c;
      } else {
        for (int c = 0; c < 4; ++c) {
          // The c-th of the n - c positions that are still free, in ascending order.
          int p = random.below(n - c), at = 0;
          while (at < c && p >= cut[at]) ++p, ++at;
          for (int k = c; k > at; --k) cut[k] = cut[k - 1];
          cut[at] = p;
        }
      }
      bool free = true;
      for (int c = 0; c < 4 && lists_.fixed != nullptr; ++c)
        free = free && !lists_.is_fixed(tour_.order[tour_.wrap(cut[c])], tour_.order[tour_.wrap(cut[c] + 1)]);
      if (free) return true;
    }
    return false;
  }

  // What was written since the kick goes into the kept tour, or is taken back from it.
  WARPTSP_FN void put_away(bool accepted) {
    const TourArrays tour = tour_;
    const auto copy = [&](int from, int length) {
      lanes_.each(length, [&](int k) {
        const int p = tour.wrap(from + k);
        if (accepted) {
          kept_[p] = tour.order[p];
        } else {
          tour.order[p] = kept_[p];
          tour.position[kept_[p]] = p;
        }
      });
    };
    long long cells = 0;
    const int touched = memory_->touched;
    for (int k = 0; k < touched && k < max_touched; ++k) cells += memory_->length[k];
    if (touched > max_touched || cells >= tour.size) {
      copy(0, tour.size);
      return;
    }
    for (int k = 0; k < touched; ++k) copy(memory_->from[k], memory_->length[k]);
  }
};

}  // namespace warptsp::neighbor
