// Norms, the quadrants of the plane and the octants of space, for the host compiler and NVRTC alike: no standard library.
#pragma once
#include "common/metric.h"

namespace warptsp::space {

// How far away (sectors choose the Norm of the metric; the Euclidean one is squared).
template <int Norm, int D>
WARPTSP_FN double norm_of(const double *delta) {
  double sum = 0.0;
  for (int d = 0; d < D; ++d) {
    if (Norm == 2) {
      sum += square(delta[d]);
    } else if (Norm == 1) {
      sum += WARPTSP_MATH(fabs)(delta[d]);
    } else {
      const double size = WARPTSP_MATH(fabs)(delta[d]);
      sum = size > sum ? size : sum;
    }
  }
  return sum;
}

template <int norm, int dimensions>
struct NormConstant {
  static constexpr int Norm = norm, D = dimensions;
};

// Calls `use` with the constants of a norm (2 Euclidean, 1 Manhattan, 0 maximum) of two or three dimensions.
template <class Use>
WARPTSP_FN auto with_norm(int norm, int dimensions, const Use &use) {
  if (dimensions == 2)
    return norm == 2 ? use(NormConstant<2, 2>()) : norm == 1 ? use(NormConstant<1, 2>()) : use(NormConstant<0, 2>());
  return norm == 2 ? use(NormConstant<2, 3>()) : norm == 1 ? use(NormConstant<1, 3>()) : use(NormConstant<0, 3>());
}

// Offsets of a box from the city that searches: low <= delta <= high for every city in it.
template <int D>
struct Offsets {
  double low[D], high[D];
  // The part of the box on the positive or negative side of the axis, as its least |delta|.
  WARPTSP_FN double above(int d) const { return low[d] > 0.0 ? low[d] : 0.0; }
  WARPTSP_FN double below(int d) const { return high[d] < 0.0 ? -high[d] : 0.0; }
  WARPTSP_FN double nearest(int d) const { return low[d] > 0.0 ? low[d] : below(d); }
};

// Sectors divide the neighbours of a city: of(delta) names the one in which a city lies, and meets() says whether a
// box may hold cities of it, and gives their least |delta| along each axis.

struct NoSectors {
  static constexpr int size = 0;
  WARPTSP_FN void stand_at(const double *) {}
  WARPTSP_FN int of(const double *) const { return 0; }
  template <int D>
  WARPTSP_FN bool meets(int, const Offsets<D> &, double *) const {
    return false;
  }
};

// The plane in four, each with one of its two borders; coincident cities count in the first.
struct Quadrants {
  static constexpr int size = 4;
  WARPTSP_FN void stand_at(const double *) {}
  WARPTSP_FN int of(const double *delta) const {
    const double x = delta[0], y = delta[1];
    if (y >= 0.0 && x > 0.0) return 0;
    if (x <= 0.0 && y > 0.0) return 1;
    if (y <= 0.0 && x < 0.0) return 2;
    return x == 0.0 && y == 0.0 ? 0 : 3;
  }
  WARPTSP_FN bool meets(int sector, const Offsets<2> &box, double *least) const {
    const double *low = box.low, *high = box.high;
    least[0] = sector == 0 || sector == 3 ? box.above(0) : box.below(0);
    least[1] = sector == 0 || sector == 1 ? box.above(1) : box.below(1);
    switch (sector) {
      case 0: return high[1] >= 0.0 && (high[0] > 0.0 || (low[0] <= 0.0 && high[0] == 0.0 && low[1] <= 0.0));
      case 1: return low[0] <= 0.0 && high[1] > 0.0;
      case 2: return low[1] <= 0.0 && low[0] < 0.0;
      default: return high[0] >= 0.0 && low[1] < 0.0;
    }
  }
};

// Space in eight, by the signs of the three differences (zero counts as positive).
struct Octants {
  static constexpr int size = 8;
  WARPTSP_FN void stand_at(const double *) {}
  WARPTSP_FN int of(const double *delta) const {
    return (delta[0] < 0.0) | (delta[1] < 0.0) << 1 | (delta[2] < 0.0) << 2;
  }
  WARPTSP_FN bool meets(int sector, const Offsets<3> &box, double *least) const {
    for (int d = 0; d < 3; ++d) {
      const bool negative = sector >> d & 1;
      if (negative ? box.low[d] >= 0.0 : box.high[d] < 0.0) return false;
      least[d] = negative ? box.below(d) : box.above(d);
    }
    return true;
  }
};

}  // namespace warptsp::space
