// Tours along space-filling curves. Host code only.
//
// Hilbert's curve: see hilbert.h. Sierpinski's curve as a tour: L. K. Platzman and J. J. Bartholdi, "Spacefilling curves
// and the planar travelling salesman problem", J. ACM 36 (1989).
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "space/hilbert.h"
#include "common/parallel.h"
#include "common/radix_sort.h"
#include "common/stop_token.h"

namespace warptsp::space {

enum class Curve { hilbert, sierpinski };

// Where the closed curve through the square of side 2^29 passes (x[k], y[k]): halve the triangle that holds the point,
// and turn the half to look like the whole. Many points at once: four times faster with vector instructions.
constexpr int sierpinski_lanes = 64, sierpinski_levels = 29;

inline void sierpinski_keys(int32_t *x, int32_t *y, uint64_t *keys) {
  constexpr int32_t side = 1 << sierpinski_levels;
  uint32_t key[sierpinski_lanes];
  for (int k = 0; k < sierpinski_lanes; ++k) {
    const bool below = x[k] > y[k];  // the diagonal: in the first of the two triangles, turned by half a turn
    x[k] = below ? side - x[k] : x[k];
    y[k] = below ? side - y[k] : y[k];
    key[k] = below;
  }
  const auto descend = [&](int levels) {
    for (int level = 0; level < levels; ++level)
      for (int k = 0; k < sierpinski_lanes; ++k) {
        const bool beyond = x[k] + y[k] > side;
        const int32_t u = 2 * (beyond ? side - y[k] : x[k]), v = 2 * (beyond ? x[k] : y[k]);
        const bool above = v > side;
        x[k] = above ? v - side : u;
        y[k] = above ? side - u : v;
        key[k] = key[k] << 2 | (uint32_t)beyond << 1 | (uint32_t)above;
      }
  };
  descend(sierpinski_levels - 15);
  for (int k = 0; k < sierpinski_lanes; ++k) keys[k] = (uint64_t)key[k] << 30;
  for (int k = 0; k < sierpinski_lanes; ++k) key[k] = 0;
  descend(15);
  for (int k = 0; k < sierpinski_lanes; ++k) keys[k] |= key[k];
}

struct CurvePoint {
  uint64_t key;
  int city;
};

// The unit sphere as a plane chart: latitude, and longitude from the cities' mean, times the cosine of their mean
// latitude. For the order of cities along a curve this does as well as an equal-area chart, also for the whole globe,
// and far better than a curve in space, which surfaces cross at an angle.
inline bool chart_sphere(const double *vectors, int n, const StopToken &token, double *chart) {
  constexpr int poll = 1 << 12;
  double mean[3] = {0.0, 0.0, 0.0};
  const bool known = for_each_piece(1, n, poll, token, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      for (int d = 0; d < 3; ++d) mean[d] += vectors[3 * i + d];
  });
  if (!known) return false;
  const double across = std::sqrt(mean[0] * mean[0] + mean[1] * mean[1]);
  const double norm = std::sqrt(across * across + mean[2] * mean[2]);
  const double east = across > 0.0 ? mean[0] / across : 1.0, north = across > 0.0 ? mean[1] / across : 0.0;
  const double shrink = norm > 0.0 ? across / norm : 1.0;
  return for_each_piece(1, n, poll, token, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const double *const v = vectors + 3 * i;
      chart[2 * i] = shrink * std::atan2(v[1] * east - v[0] * north, v[0] * east + v[1] * north);
      chart[2 * i + 1] = std::asin(std::max(-1.0, std::min(1.0, v[2])));
    }
  });
}

// The cities in the order in which the curve through their bounding square or cube passes them; coincident ones by
// index. In space the curve is Hilbert's.
inline bool space_filling_curve(const double *points, int n, int dimensions, Curve curve, int threads,
                                const StopToken &token, int *tour) {
  constexpr int64_t poll = 1 << 14;
  // Calls piece(begin, end, thread), some thousand cities at a time; false if the token stopped it.
  const auto for_pieces = [&](const auto &piece) { return for_each_piece(threads, n, poll, token, piece); };
  constexpr double most = std::numeric_limits<double>::infinity();
  struct Box {
    double low[3] = {most, most, most}, high[3] = {-most, -most, -most};
    void enclose(const double *lowest, const double *highest, int dimensions) {
      for (int d = 0; d < dimensions; ++d) {
        low[d] = std::min(low[d], lowest[d]);
        high[d] = std::max(high[d], highest[d]);
      }
    }
  };
  std::vector<Box> boxes(threads);
  const bool known = for_pieces([&](int64_t begin, int64_t end, int thread) {
    Box own = boxes[thread];
    for (int64_t i = begin; i < end; ++i) own.enclose(points + i * dimensions, points + i * dimensions, dimensions);
    boxes[thread] = own;
  });
  if (!known) return false;
  Box all;
  for (const Box &box : boxes) all.enclose(box.low, box.high, dimensions);
  const bool plane = dimensions == 2;
  const int bits = !plane ? space_hilbert_bits : curve == Curve::hilbert ? 32 : sierpinski_levels;
  CurveGrid grid;
  grid.enclose(all.low, all.high, dimensions, bits);
  const auto cell_of = [&](const double *point, int d) { return (uint32_t)grid.cell(point[d], d); };

  Buffer<CurvePoint> order(n), spare(n);
  const bool keyed = for_pieces([&](int64_t begin, int64_t end, int) {
    for (int64_t i = begin; i < end; ++i) order[i].city = (int)i;
    if (!plane) {
      for (int64_t i = begin; i < end; ++i) {
        const double *const point = points + i * 3;
        order[i].key = space_hilbert_key(cell_of(point, 0), cell_of(point, 1), cell_of(point, 2));
      }
    } else if (curve == Curve::hilbert) {
      for (int64_t i = begin; i < end; ++i) {
        const double *const point = points + i * 2;
        order[i].key = plane_hilbert_key(cell_of(point, 0), cell_of(point, 1), bits);
      }
    } else {
      for (int64_t first = begin; first < end; first += sierpinski_lanes) {
        int32_t x[sierpinski_lanes] = {}, y[sierpinski_lanes] = {};
        uint64_t keys[sierpinski_lanes];
        const int lanes = (int)std::min<int64_t>(sierpinski_lanes, end - first);
        for (int k = 0; k < lanes; ++k) {
          const double *const point = points + (first + k) * 2;
          x[k] = (int32_t)cell_of(point, 0);
          y[k] = (int32_t)cell_of(point, 1);
        }
        sierpinski_keys(x, y, keys);
        for (int k = 0; k < lanes; ++k) order[first + k].key = keys[k];
      }
    }
  });
  if (!keyed) return false;
  const auto key_of = [](const CurvePoint &point) { return point.key; };
  const int key_bits = plane ? std::min(64, 2 * bits + 1) : 3 * bits;
  if (!radix_sort(order.data(), spare.data(), n, key_bits, key_of, threads, token)) return false;
  return for_pieces([&](int64_t begin, int64_t end, int) {
    for (int64_t i = begin; i < end; ++i) tour[i] = order[i].city;
  });
}

}  // namespace warptsp::space
