// Counter-based random numbers: a stream is named by (seed, round, index), so no two sub-problems share one and
// the order in which threads run cannot matter.
#pragma once
#include "metric.h"  // WARPTSP_FN

namespace warptsp {

typedef unsigned long long u64;

// SplitMix64's finaliser (Steele, Lea, Flood 2014).
WARPTSP_FN u64 mix64(u64 z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

class Random {
 public:
  WARPTSP_FN Random(u64 seed, u64 round, u64 index) : state_(mix64(mix64(mix64(seed) + round) + index)) {}
  WARPTSP_FN u64 next() { return mix64(state_ += 0x9e3779b97f4a7c15ull); }
  // Uniform in [0, bound), bound > 0.
  WARPTSP_FN int below(int bound) { return (int)(((next() >> 32) * (u64)bound) >> 32); }
  // Uniform in (0, 1].
  WARPTSP_FN float unit() { return (float)((next() >> 40) + 1) * (1.0f / 16777216.0f); }

 private:
  u64 state_;
};

}  // namespace warptsp
