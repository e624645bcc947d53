// The temperature's fall, on the host and on a GPU.
#pragma once
#include "common/metric.h"  // WARPTSP_FN

namespace warptsp::lk {

// What is left of the start temperature at a share of the horizon: it falls linearly to 0, where the share `cold` is left.
template <class Real>
WARPTSP_FN Real cooled(Real progress, Real cold) {
  const Real left = 1 - progress / (1 - cold);
  return left > 0 ? left : 0;
}

}  // namespace warptsp::lk
