// What a child of crossover is worth to its population. Host code only.
#pragma once
#include <cmath>

namespace warptsp::lk {

// What an edge that so many of the members have adds to the population's entropy.
inline double entropy_of(int uses, int members) {
  if (uses <= 0) return 0;
  const double share = uses / (double)members;
  return -share * std::log(share);
}

// The gain for each unit of entropy that the population would lose.
inline double worth(double gain, double entropy) {
  constexpr double costs_nothing = 1e6;
  return entropy < 0 ? gain / -entropy : gain * costs_nothing;
}

}  // namespace warptsp::lk
