// What a hill climber is, wherever it runs: its random start and the frame of its float coordinates. The climbers of
// CPU threads and of every kernel start from the same tours and take the same moves (document 002; two_opt_scan.h numbers
// the moves).
#pragma once
#include "common/metric.h"
#include "common/random.h"

namespace warptsp::exhaustive {

constexpr u64 climber_stream = 0x68696c6cull;  // apart from the streams of kicks

// The random numbers of a climber's start, and the start: n steps that write 0 .. n-1, and n-1 of Knuth's shuffle. at(i)
// is position i of the tour. From step `done` on, to step `end` or the last one; returns the next one, so that nobody need
// wait for all of millions.
WARPTSP_FN Random start_numbers(u64 seed, u64 climber) { return Random(seed, climber_stream, climber); }
WARPTSP_FN constexpr long long start_steps(int n) { return 2ll * n - 1; }
template <class At>
WARPTSP_FN long long random_start(Random &random, int n, long long done, long long end, At &&at) {
  end = end < start_steps(n) ? end : start_steps(n);
  for (; done < n && done < end; ++done) at((int)done) = (int)done;
  for (; done < end; ++done) {
    const int i = (int)(start_steps(n) - done);
    const int j = random.below(i + 1);
    const int city = at(i);
    at(i) = at(j);
    at(j) = city;
  }
  return done;
}

// Of a climb that a launch leaves to the next one.
struct Unfinished {
  u64 number;         // of the best move so far
  Random random;      // numbers of its random start
  long long started;  // steps of that; more than all of them: with coordinates
  int row, column;    // of the pass; of a thread's in row n: of the move that it found
  int sure;           // whether this is one in exact arithmetic
};

// A distance in units of which the sum over a tour is exact, whatever the order: so equally long tours are known as
// such. `scale` is 1 for metrics of integers, and else a power of two.
WARPTSP_FN long long in_units(double distance, double scale) { return (long long)(distance * scale + 0.5); }

}  // namespace warptsp::exhaustive
