// Tours along space-filling curves. Host code only.
//
// Hilbert's curve: D. Hilbert (1891); in space by J. Skilling, "Programming the Hilbert curve", AIP Conf. Proc. 707
// (2004). Sierpinski's curve as a tour: L. K. Platzman and J. J. Bartholdi, "Spacefilling curves and the planar
// travelling salesman problem", J. ACM 36 (1989).
#pragma once
#include <algorithm>
#include <cstdint>

#include "parallel.h"
#include "radix_sort.h"
#include "stop_token.h"

namespace warptsp {

enum class Curve { hilbert, sierpinski };

// Four bits of both coordinates at a time: state and bits in, eight bits of the key and the next state out. The
// state says how the curve is turned in the cell: 1 the axes are exchanged, 2 both run backwards, 3 both.
struct HilbertTable {
  uint8_t key[4][256], state[4][256];
  HilbertTable() {
    for (int start = 0; start < 4; ++start)
      for (int cell = 0; cell < 256; ++cell) {
        int turn = start, digits = 0;
        for (int bit = 3; bit >= 0; --bit) {
          int x = (cell >> (4 + bit) & 1) ^ (turn >> 1), y = (cell >> bit & 1) ^ (turn >> 1);
          if (turn & 1) std::swap(x, y);
          digits = digits << 2 | ((3 * x) ^ y);
          if (y == 0) turn ^= x ? 3 : 1;
        }
        key[start][cell] = (uint8_t)digits;
        state[start][cell] = (uint8_t)turn;
      }
  }
};

inline uint64_t hilbert_key(const HilbertTable &table, uint32_t x, uint32_t y) {
  uint64_t key = 0;
  int state = 0;
  for (int shift = 28; shift >= 0; shift -= 4) {
    const int cell = (x >> shift & 15) << 4 | (y >> shift & 15);
    key = key << 8 | table.key[state][cell];
    state = table.state[state][cell];
  }
  return key;
}

// 21 bits a coordinate.
inline uint64_t hilbert_key(uint32_t x, uint32_t y, uint32_t z) {
  constexpr int bits = 21;
  uint32_t axes[3] = {x, y, z};
  for (uint32_t bit = 1u << (bits - 1); bit > 1; bit >>= 1) {
    const uint32_t below = bit - 1;
    for (uint32_t &axis : axes) {
      if (axis & bit) {
        axes[0] ^= below;
      } else {
        const uint32_t exchanged = (axes[0] ^ axis) & below;
        axes[0] ^= exchanged;
        axis ^= exchanged;
      }
    }
  }
  axes[1] ^= axes[0];
  axes[2] ^= axes[1];
  uint32_t flips = 0;
  for (uint32_t bit = 1u << (bits - 1); bit > 1; bit >>= 1)
    if (axes[2] & bit) flips ^= bit - 1;
  uint64_t key = 0;
  for (int bit = bits - 1; bit >= 0; --bit)
    for (const uint32_t axis : axes) key = key << 1 | ((axis ^ flips) >> bit & 1);
  return key;
}

// Where the closed curve through the square of side 2^31 passes (x, y): halve the triangle that holds the point,
// and turn the half to look like the whole.
inline uint64_t sierpinski_key(uint32_t x_cell, uint32_t y_cell) {
  constexpr int64_t side = (int64_t)1 << 31;
  int64_t x = x_cell, y = y_cell;
  uint64_t key = 0;
  if (x > y) {
    key = 1;
    x = side - x;
    y = side - y;
  }
  for (int level = 0; level < 31; ++level) {
    const bool beyond = x + y > side;
    const int64_t turned_x = beyond ? side - y : x, turned_y = beyond ? x : y;
    key = key << 1 | (uint64_t)beyond;
    x = 2 * turned_x;
    y = 2 * turned_y;
    const bool above = y > side;
    const int64_t next_x = above ? y - side : x, next_y = above ? side - x : y;
    key = key << 1 | (uint64_t)above;
    x = next_x;
    y = next_y;
  }
  return key;
}

struct CurvePoint {
  uint64_t key;
  int city;
};

// The cities in the order in which the curve through their bounding square or cube passes them; coincident ones by
// index. In space (and on the sphere, whose points lie in space) the curve is Hilbert's.
inline bool space_filling_curve(const double *points, int n, int dimensions, Curve curve, const StopToken &token,
                                int *tour) {
  constexpr int poll = 1 << 14;
  double low[3] = {0.0, 0.0, 0.0}, high[3] = {0.0, 0.0, 0.0};
  for (int d = 0; d < dimensions && n > 0; ++d) low[d] = high[d] = points[d];
  for (int begin = 0; begin < n; begin += poll) {
    if (token.stopped()) return false;
    const int end = n - begin < poll ? n : begin + poll;
    for (int64_t i = begin; i < end; ++i)
      for (int d = 0; d < dimensions; ++d) {
        low[d] = std::min(low[d], points[i * dimensions + d]);
        high[d] = std::max(high[d], points[i * dimensions + d]);
      }
  }
  // Halves, so that the extent of coordinates near the largest double does not overflow.
  double extent = 0.0;
  for (int d = 0; d < dimensions; ++d) extent = std::max(extent, high[d] / 2 - low[d] / 2);
  const int bits = dimensions == 3 ? 21 : curve == Curve::hilbert ? 32 : 31;
  const double cells = (double)((uint64_t)1 << bits);
  const auto cell_of = [&](const double *point, int d) {
    if (!(extent > 0.0)) return (uint32_t)0;
    const double cell = (point[d] / 2 - low[d] / 2) / extent * cells;
    return cell < cells ? (uint32_t)cell : (uint32_t)(cells - 1.0);
  };

  static const HilbertTable table;
  Buffer<CurvePoint> order(n), spare(n);
  for (int begin = 0; begin < n; begin += poll) {
    if (token.stopped()) return false;
    const int end = n - begin < poll ? n : begin + poll;
    for (int i = begin; i < end; ++i) {
      const double *const point = points + (int64_t)i * dimensions;
      const uint32_t x = cell_of(point, 0), y = cell_of(point, 1);
      order[i].city = i;
      order[i].key = dimensions == 3            ? hilbert_key(x, y, cell_of(point, 2))
                     : curve == Curve::hilbert ? hilbert_key(table, x, y)
                                               : sierpinski_key(x, y);
    }
  }
  const auto key_of = [](const CurvePoint &point) { return point.key; };
  if (!radix_sort(order.data(), spare.data(), n, dimensions == 3 ? 63 : 2 * bits, key_of, token)) return false;
  for (int i = 0; i < n; ++i) tour[i] = order[i].city;
  return true;
}

}  // namespace warptsp
