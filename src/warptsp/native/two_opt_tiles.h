// All 2-opt moves of a long tour on a GPU, one square root a move, in integers. For the device compiler alone.
//
// A warp holds 32 R consecutive positions in registers, R a lane, and goes through columns of other positions. The new
// link d(i + 1, j + 1) of one move is d(i, j) of the next on the diagonal, so a lane computes R distances a column for
// R moves; that of its last row comes from the next lane by a shuffle. Warps overlap by one row, and need no shared
// memory: the 16 bytes of a column serve 512 moves.
//
// Instructions a move count: a multiprocessor starts 128 a clock and 16 square roots, so that 8 a move are all that the
// square roots leave. A distance takes five (two differences, a product, a fused sum, the root). A sixth adds
// 1.5 * 2^23, which rounds it to an integer in the low bits of the float, and takes half of the removed link with it:
// numbers f with f[r] + f[r + 1] = link[r] are subtracted instead of links, at no cost. The seventh is Hopper's
// addition with minimum, of bits as integers. What is left for a column (a load, a shuffle, the comparison with the
// best) is half an instruction a move with R = 16. With floats there would be nine.
//
// Rounded to nearest, up or down these are TSPLIB's distances, as far as single precision goes; distances that are not
// rounded are scaled to 21 bits. What is found is checked in double precision before it is applied.
#pragma once
#include "neighborhoods.h"

#ifndef TILE_UNROLL
#define TILE_UNROLL 4
#endif

namespace warptsp {

typedef unsigned int u32;

constexpr float rounding_magic = 12582912.0f;          // 1.5 * 2^23
constexpr u32 magic_bits = 0x4b400000u;                // its bits: an integer v has magic_bits + v
constexpr int most_scaled = 1 << 21;                   // longest distance, and largest f
constexpr u32 never = 0xf0000000u;                     // above every sum

// A position of the tour: coordinates, scaled, and the link to the next position, rounded.
struct __align__(16) TilePoint {
  float x, y;
  int link, unused;
};

__device__ __forceinline__ float approximate_root(float v) {
  float root;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(v));
  return root;
}

// Rounding: 0 to nearest, 1 up, 2 down.
template <int Rounding>
__device__ __forceinline__ u32 rounded_distance(float ax, float ay, float bx, float by, float magic) {
  const float dx = ax - bx, dy = ay - by;
  const float d = approximate_root(fmaf(dx, dx, dy * dy));
  return __float_as_uint(Rounding == 0 ? __fadd_rn(d, magic) : Rounding == 1 ? __fadd_ru(d, magic) : __fadd_rd(d, magic));
}

__device__ __forceinline__ u32 least_sum(u32 a, u32 b, u32 least) {
#if defined(TILE_FLOAT)
  return __float_as_uint(fminf(__uint_as_float(a) + __uint_as_float(b), __uint_as_float(least)));
#elif __CUDA_ARCH__ >= 900
  return __viaddmin_u32(a, b, least);
#else
  return min(a + b, least);
#endif
}

#ifndef TILE_CHAINS
#define TILE_CHAINS 4
#endif
template <int R, int Rounding>
struct RowTile {
  static constexpr int rows = 32 * R - 1;  // of a warp
  static constexpr int chains = TILE_CHAINS < R ? TILE_CHAINS : R;
  float x[R], y[R];
  float magic[R];  // less f where folded
  int link[R];
  int row;         // of the first
  u32 seam;        // what the last row's sum lacks; keeps lane 31 out, whose last row is the next warp's first
  bool folded;

  __device__ void load(const TilePoint *points, int first) {
    const int lane = threadIdx.x % 32;
    row = first + lane * R;
#pragma unroll
    for (int r = 0; r < R; ++r) {
      const TilePoint p = points[row + r];
      x[r] = p.x;
      y[r] = p.y;
      link[r] = p.link;
    }
    int f = link[0] / 2, own = f;
    bool small = true;
#pragma unroll
    for (int r = 0; r < R; ++r) {
      magic[r] = rounding_magic - (float)f;
      small = small && abs(f) < most_scaled;
      if (r + 1 < R) f = link[r] - f;
    }
    folded = __all_sync(0xffffffffu, small);
    const int next = __shfl_down_sync(0xffffffffu, own, 1);
    seam = folded ? (u32)(f + next - link[R - 1]) : 0u;
    if (lane == 31) seam = never / 4;
  }

  // Moves with columns [begin, end); the best of them, and its column.
  template <bool Folded, bool Masked>
  __device__ __forceinline__ void pass(const TilePoint *points, int begin, int end, int &best, int &column) const {
    const u32 own_seam = Folded || threadIdx.x % 32 == 31 ? seam : 0u;
    u32 before[R];
    TilePoint p = points[begin], ahead = points[begin + 1];
    int removed = p.link;
#pragma unroll
    for (int r = 0; r < R; ++r) {
      before[r] = rounded_distance<Rounding>(x[r], y[r], p.x, p.y, Folded ? magic[r] : rounding_magic);
      if (!Folded) before[r] -= (u32)link[r];
    }
#pragma unroll(Masked ? 1 : TILE_UNROLL)
    for (int j = begin; j < end; ++j) {
      p = ahead;
      ahead = points[j + 2];  // a load takes longer than a column's first differences
      u32 after[R];
#pragma unroll
      for (int r = 0; r < R; ++r)
        after[r] = rounded_distance<Rounding>(x[r], y[r], p.x, p.y, Folded ? magic[r] : rounding_magic);
      const u32 below = __shfl_down_sync(0xffffffffu, after[0], 1) + own_seam;
      u32 leasts[chains];  // one chain of minima would take longer than the square roots
#pragma unroll
      for (int c = 0; c < chains; ++c) leasts[c] = never;
#pragma unroll
      for (int r = 0; r < R; ++r) {
        const u32 other = r + 1 < R ? after[r + 1] : below;
        if (!Masked || j > row + r) leasts[r % chains] = least_sum(before[r], other, leasts[r % chains]);
      }
      u32 least = leasts[0];
#pragma unroll
      for (int c = 1; c < chains; ++c) least = min(least, leasts[c]);
      const int delta = (int)(least - 2 * magic_bits) - removed;
      removed = p.link;
      if (delta < best) {
        best = delta;
        column = j;
      }
#pragma unroll
      for (int r = 0; r < R; ++r) before[r] = Folded ? after[r] : after[r] - (u32)link[r];
    }
  }
};

// All rows of warps laid out one behind the other: warp row b has columns b rows + 1 .. n - 1.
template <int Rows>
struct TileColumns {
  long long n;
  __device__ long long before(long long b) const { return b * (n - 1) - Rows * (b * (b - 1) / 2); }
  __device__ int warp_rows() const { return (int)((n - 2) / Rows + 1); }
  __device__ long long all() const { return before(warp_rows()); }
  __device__ int warp_row_of(long long column) const {
    int low = 0, high = warp_rows();
    while (high - low > 1) {
      const int middle = (low + high) / 2;
      if (before(middle) <= column) low = middle;
      else high = middle;
    }
    return low;
  }
};

// A warp's share of the columns [first, last).
struct TileShare {
  int warp_row, column;  // where it begins
  long long count;

  template <int Rows>
  __device__ static TileShare of(int n, long long first, long long last) {
    const TileColumns<Rows> columns{n};
    const long long warps = (long long)gridDim.x * (blockDim.x / 32);
    const long long warp = (long long)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    const long long at = first + (last - first) * warp / warps;
    const long long end = first + (last - first) * (warp + 1) / warps;
    if (at >= end) return {0, 0, 0};
    const int b = columns.warp_row_of(at);
    return {b, b * Rows + 1 + (int)(at - columns.before(b)), end - at};
  }
};

// The best group of R moves with one column, by the first of its rows: report(delta, row, column) for every stretch of
// the share in which there is one.
template <int R, int Rounding, class Report>
__device__ __forceinline__ void search_tiles(const TilePoint *points, int n, TileShare share, const Report &report) {
  typedef RowTile<R, Rounding> Tile;
  int begin = share.column;
  for (int b = share.warp_row; share.count > 0; ++b) {
    const int row = b * Tile::rows;
    const int stop = (int)min((long long)n, begin + share.count), masked = min(max(row + 32 * R, begin), stop);
    Tile tile;
    tile.load(points, row);
    int delta = 0, column = -1;
    if (begin < masked) tile.template pass<false, true>(points, begin, masked, delta, column);
    if (masked < stop) {
      if (tile.folded) tile.template pass<true, false>(points, masked, stop, delta, column);
      else tile.template pass<false, false>(points, masked, stop, delta, column);
    }
    if (column >= 0) report(delta, tile.row, column);
    share.count -= stop - begin;
    begin = row + Tile::rows + 1;  // where the next warp row begins
  }
}

}  // namespace warptsp
