// Which edges a double bridge cuts, and how the temperature falls: what both searches have, on CPU threads and on a GPU.
#pragma once
#include "common/metric.h"  // WARPTSP_FN

namespace warptsp::lk {

// The usual values are those of CPU threads (EXP-012, EXP-013).
struct Kicks {
  int segment = 50;         // longest segment of a double bridge
  int walk = 10;            // steps between two of a walk's four edges
  float walks = 0.45f;      // share of the kicks that are random walks
  float long_links = 0.1f;  // share of the kicks that cut long edges
};

// A loss is accepted at a temperature that falls linearly from `start` mean edges of the tour to 0, when the share `cold`
// of the kicks is left, after every `step` kicks.
struct AnnealingPlan {
  long long kicks = 0, step = 1;
  double start = 0, cold = 0.04;
};

// What is left of the start temperature at a share of the planned limit.
template <class Real>
WARPTSP_FN Real cooled(Real progress, Real cold) {
  const Real left = 1 - progress / (1 - cold);
  return left > 0 ? left : 0;
}

}  // namespace warptsp::lk
