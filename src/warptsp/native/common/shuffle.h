// Values in random order. Host code only.
#pragma once
#include <utility>
#include <vector>

#include "common/random.h"

namespace warptsp {

// R. A. Fisher and F. Yates' shuffle. That of the standard library gives other orders with other libraries.
inline void shuffle(std::vector<int> &values, Random &random) {
  for (int k = (int)values.size() - 1; k > 0; k--) std::swap(values[k], values[random.below(k + 1)]);
}

}  // namespace warptsp
