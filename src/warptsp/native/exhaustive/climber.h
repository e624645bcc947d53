// What a hill climber is, wherever it runs: its random start and the frame of its float coordinates. The climbers of
// CPU threads and of every kernel start from the same tours and take the same moves (document 002; native/exhaustive/two_opt_scan.h
// numbers the moves).
#pragma once
#include "common/metric.h"
#include "common/random.h"

namespace warptsp::exhaustive {

constexpr u64 climber_stream = 0x68696c6cull;  // apart from the streams of kicks

// Knuth's shuffle of 0 .. n-1: the start of climber number `climber`. at(i) is the place of city i in memory.
template <class At>
WARPTSP_FN void random_start(u64 seed, u64 climber, int n, At &&at) {
  Random random(seed, climber_stream, climber);
  for (int i = 0; i < n; ++i) at(i) = i;
  for (int i = n - 1; i > 0; --i) {
    const int j = random.below(i + 1);
    const int city = at(i);
    at(i) = at(j);
    at(j) = city;
  }
}

// A distance in units of which the sum over a tour is exact, whatever the order: so equally long tours are known as
// such. `scale` is 1 for metrics of integers, and else a power of two.
WARPTSP_FN long long in_units(double distance, double scale) { return (long long)(distance * scale + 0.5); }

}  // namespace warptsp::exhaustive
