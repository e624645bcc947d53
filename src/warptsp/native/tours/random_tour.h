// A tour in random order. Host code only.
#pragma once
#include <cstdint>
#include <utility>

#include "common/random.h"
#include "common/stop_token.h"

namespace warptsp::tours {

// The random number that belongs to (seed, counter), whatever was drawn before.
inline uint64_t random_bits(uint64_t seed, uint64_t counter) {
  return mix64(mix64(seed + 0x9e3779b97f4a7c15u) + counter * 0x9e3779b97f4a7c15u);
}

// R. A. Fisher and F. Yates' shuffle.
inline bool random_tour(int n, uint64_t seed, const StopToken &token, int *tour) {
  for (int i = 0; i < n; ++i) {
    if ((i & 0xfff) == 0 && token.stopped()) return false;
    const int j = (int)((random_bits(seed, (uint64_t)i) >> 32) * (uint64_t)(i + 1) >> 32);
    tour[i] = tour[j];
    tour[j] = i;
  }
  return true;
}

}  // namespace warptsp::tours
