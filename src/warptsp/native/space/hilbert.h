// Hilbert's curve through the plane and through space, for the host compiler and NVRTC alike: no standard library.
//
// D. Hilbert (1891); in space by J. Skilling, "Programming the Hilbert curve", AIP Conf. Proc. 707 (2004).
#pragma once
#include "common/metric.h"
#include "common/random.h"

namespace warptsp::space {

// The digit (0 to 3) at which the curve passes the quarter x, y (0 or 1 each) of a cell. `turn` says how the curve is
// turned in the cell: 1 the axes are exchanged, 2 both run backwards, 3 both; it becomes that of the quarter.
WARPTSP_FN int hilbert_digit(int x, int y, int &turn) {
  int a = x ^ (turn >> 1), b = y ^ (turn >> 1);
  if (turn & 1) {
    const int exchanged = a;
    a = b;
    b = exchanged;
  }
  if (b == 0) turn ^= a ? 3 : 1;
  return (3 * a) ^ b;
}

// When the curve through 2^bits by 2^bits cells passes cell (x, y); at most 32 bits.
WARPTSP_FN u64 plane_hilbert_key(unsigned x, unsigned y, int bits) {
  u64 key = 0;
  int turn = 0;
  for (int bit = bits - 1; bit >= 0; --bit)
    key = key << 2 | (u64)hilbert_digit((int)(x >> bit & 1u), (int)(y >> bit & 1u), turn);
  return key;
}

// When the curve through 2^21 cells a side passes cell (x, y, z).
constexpr int space_hilbert_bits = 21;
WARPTSP_FN u64 space_hilbert_key(unsigned x, unsigned y, unsigned z) {
  unsigned axes[3] = {x, y, z};
  for (unsigned bit = 1u << (space_hilbert_bits - 1); bit > 1; bit >>= 1) {
    const unsigned below = bit - 1;
    WARPTSP_UNROLL
    for (int d = 0; d < 3; ++d) {
      if (axes[d] & bit) {
        axes[0] ^= below;
      } else {
        const unsigned exchanged = (axes[0] ^ axes[d]) & below;
        axes[0] ^= exchanged;
        axes[d] ^= exchanged;
      }
    }
  }
  axes[1] ^= axes[0];
  axes[2] ^= axes[1];
  unsigned flips = 0;
  for (unsigned bit = 1u << (space_hilbert_bits - 1); bit > 1; bit >>= 1)
    if (axes[2] & bit) flips ^= bit - 1;
  u64 key = 0;
  for (int bit = space_hilbert_bits - 1; bit >= 0; --bit) {
    WARPTSP_UNROLL
    for (int d = 0; d < 3; ++d) key = key << 1 | ((axes[d] ^ flips) >> bit & 1);
  }
  return key;
}

// The square or cube of cells around all points. Halves, so that the extent of coordinates near the largest double
// does not overflow.
struct CurveGrid {
  double low[3];
  double extent;        // half the longest side
  double cells;         // along a side
  double cells_a_unit;  // of half a coordinate; 0 where it would overflow

  WARPTSP_FN void enclose(const double *lowest, const double *highest, int dimensions, int bits) {
    extent = 0.0;
    for (int d = 0; d < 3; ++d) low[d] = d < dimensions ? lowest[d] : 0.0;
    for (int d = 0; d < dimensions; ++d) {
      const double half = highest[d] / 2 - lowest[d] / 2;
      extent = half > extent ? half : extent;
    }
    cells = (double)((u64)1 << bits);
    cells_a_unit = extent > 0.0 ? cells / extent : 0.0;
    if (!(cells_a_unit <= 1.7976931348623157e308)) cells_a_unit = 0.0;
  }
  WARPTSP_FN unsigned cell(double coordinate, int d) const {
    const double offset = coordinate / 2 - low[d] / 2;
    if (!(offset > 0.0)) return 0;
    const double at = cells_a_unit > 0.0 ? offset * cells_a_unit : offset / extent * cells;
    return at < cells ? (unsigned)at : (unsigned)(cells - 1.0);
  }
};

// The curve through a larger square or cube, turned by an angle about the middle of the points and shifted: an order of
// the same cities that breaks elsewhere. In space it turns about the third axis.
struct TurnedGrid {
  static constexpr int bits = 24;
  double low[3], extent;  // as in CurveGrid
  double cosine, sine;
  double shift[2];  // 0 to 1: where in the larger square the points lie; the first one along the third axis, too
  int dimensions;

  WARPTSP_FN u64 key(const double *point) const {
    double from_middle[3];
    for (int d = 0; d < dimensions; ++d)
      from_middle[d] = extent > 0.0 ? (point[d] / 2 - low[d] / 2) / extent - 0.5 : 0.0;
    const double u = cosine * from_middle[0] - sine * from_middle[1];
    const double v = sine * from_middle[0] + cosine * from_middle[1];
    if (dimensions == 2) return plane_hilbert_key(cell(u, shift[0], bits), cell(v, shift[1], bits), bits);
    constexpr int less = space_hilbert_bits;
    return space_hilbert_key(cell(u, shift[0], less), cell(v, shift[1], less), cell(from_middle[2], shift[0], less));
  }

 private:
  WARPTSP_FN static unsigned cell(double from_middle, double shift, int bits) {
    constexpr double reach = 0.7072;  // more than half a diagonal of the unit square
    const double cells = (double)(1 << bits);
    const double at = (from_middle + reach + 2 * reach * shift) / (4 * reach) * cells;
    return at < 0.0 ? 0u : at < cells ? (unsigned)at : (unsigned)cells - 1u;
  }
};

}  // namespace warptsp::space
