// The distances of an instance as they are given. Host code only.
#pragma once
#include <cstddef>

#include "common/metric.h"

namespace warptsp {

// Points of a metric, or a matrix of integers or of real numbers: one of the three, of `size` cities; of many instances,
// one after another. The arrays belong to the caller.
struct GivenDistances {
  typedef double Value;
  MetricKind kind = MetricKind::exact_2d;
  Points points{nullptr, 0};
  const int *integers = nullptr;
  const double *reals = nullptr;
  int size = 0;

  double operator()(int a, int b) const {
    if (integers) return integers[(size_t)a * size + b];
    if (reals) return reals[(size_t)a * size + b];
    return AnyCoordinates<double>{points, kind}(a, b);
  }
};

}  // namespace warptsp
