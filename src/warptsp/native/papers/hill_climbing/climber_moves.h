// What all climbers of a GPU share. For the device compiler alone.
#pragma once
#include "common/metric.h"

namespace warptsp::exhaustive {

// One copy of all metrics: inlined wherever it is called, they would be most of the code.
__device__ __noinline__ double exact_distance(int kind, const double *p, const double *q) {
  return coordinate_distance((MetricKind)kind, p, q);
}

}  // namespace warptsp::exhaustive
