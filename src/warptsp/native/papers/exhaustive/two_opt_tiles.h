// All 2-opt moves of a long tour on a GPU, one square root a move, in integers. For the device compiler alone.
//
// A warp holds 32 R consecutive positions in registers, R a lane, and goes through columns of other positions. The new
// edge d(i + 1, j + 1) of one move is d(i, j) of the next on the diagonal, so a lane computes R distances a column for
// R moves; that of its last row comes from the next lane by a shuffle, and warps overlap by one row. The 16 bytes of a
// column, which a warp copies to shared memory a chunk ahead, serve 511 moves.
//
// Instructions a move count: a multiprocessor starts 128 a clock and 16 square roots, so that 8 a move are all that the
// square roots leave. A distance takes five (two differences, a product, a fused sum, the root). A sixth adds
// 1.5 * 2^23, which rounds it to an integer in the low bits of the float, and takes half of the removed edge with it:
// numbers f with f[r] + f[r + 1] = edge[r] are subtracted instead of edges, at no cost. The seventh is Hopper's
// addition with minimum, of bits as integers. With R = 16 a column takes half an instruction a move beside these. Floats
// would need nine.
//
// Rounded to nearest, up or down these are TSPLIB's distances, as far as single precision goes; distances that are not
// rounded are scaled to 21 bits. What is found is checked in double precision before it is applied.
#pragma once
#include "papers/exhaustive/neighborhoods.h"

namespace warptsp::exhaustive {

constexpr float rounding_magic = 12582912.0f;  // 1.5 * 2^23
constexpr u32 magic_bits = 0x4b400000u;        // its bits: an integer v has magic_bits + v
constexpr int max_scaled = 1 << 21;            // longest distance, and largest f
constexpr u32 never = 0xf0000000u;             // above every sum
constexpr u32 no_gain =
    7u << 20;  // more than 3 * 2^21: what no move gains; with 4 * 2^21 packed integers still hold it

// A position of the tour: coordinates, scaled, and the edge to the next position, rounded.
struct __align__(16) TilePoint {
  float x, y;
  int edge, removed;
};

// What a column takes off its least sum, with the low bits of the position below: see RowTile. With `no_edge` a column
// behind the end has no gain.
constexpr int column_bits = 7, columns_a_chunk = 1 << column_bits, no_edge = -(1 << 22);
__device__ __forceinline__ int removed_of(int edge, int position) {
  return (int)(0u - ((u32)edge + 2 * magic_bits) * columns_a_chunk + (u32)(position % columns_a_chunk));
}

// Rounding: 0 to nearest, 1 up, 2 down.
template <int Rounding>
__device__ __forceinline__ u32 rounded_distance(float ax, float ay, float bx, float by, float magic) {
  const float dx = ax - bx, dy = ay - by;
  const float d = approximate_root(fmaf(dx, dx, dy * dy));
  return __float_as_uint(Rounding == 0   ? __fadd_rn(d, magic)
                         : Rounding == 1 ? __fadd_ru(d, magic)
                                         : __fadd_rd(d, magic));
}

__device__ __forceinline__ u32 min_sum(u32 a, u32 b, u32 least) {
#if __CUDA_ARCH__ >= 900
  return __viaddmin_u32(a, b, least);
#else
  return min(a + b, least);
#endif
}

// Numbers f with f[r] + f[r + 1] = edge[r]: taken off the distances of rows they take off the edges of the moves. The
// first is such that the largest is small. Returns whether all are small enough for `magic`, which is 1.5 * 2^23 less f;
// `seam` becomes what is missing where row R - 1 meets the first row of the lane `next_lane` further on.
template <int R>
__device__ __forceinline__ bool fold_edges(const int (&edge)[R], int next_lane, float (&magic)[R], int &seam) {
  int sum = 0, low = 0, high = 0;  // f[r] is the first one less `sum`, or `sum` less the first one
#pragma unroll
  for (int r = 0; r + 1 < R; ++r) {
    sum += r % 2 ? -edge[r] : edge[r];
    low = min(low, sum);
    high = max(high, sum);
  }
  const int first = (low + high) / 2;
  int f = first;
  bool small = true;
#pragma unroll
  for (int r = 0; r < R; ++r) {
    magic[r] = rounding_magic - (float)f;
    small = small && abs(f) < max_scaled;
    if (r + 1 < R) f = edge[r] - f;
  }
  seam = f + __shfl_down_sync(0xffffffffu, first, next_lane) - edge[R - 1];
  return __all_sync(0xffffffffu, small);
}

// A warp's columns on their way to shared memory, a chunk ahead of the one that is examined.
struct TileStage {
  static constexpr int size = columns_a_chunk + 4;
  TilePoint points[2][size];

  // Position `first`, a multiple of the chunk, and those up to the next one's first two.
  __device__ void fetch(int buffer, const TilePoint *from, int first) {
    for (int k = threadIdx.x % 32; k < size; k += 32) {
#if __CUDA_ARCH__ >= 800
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((u32)__cvta_generic_to_shared(points[buffer] + k)),
                   "l"(from + first + k)
                   : "memory");
#else
      points[buffer][k] = from[first + k];
#endif
    }
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
  }
  // Waits for all but the last `ahead` chunks.
  template <int Ahead>
  __device__ void wait() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(Ahead) : "memory");
#endif
    __syncwarp();
  }
};

template <int R, int Rounding>
struct RowTile {
  static constexpr int rows = 32 * R - 1;  // of a warp
  float x[R], y[R];
  float magic[R];  // less f where folded
  int edge[R];
  int row;   // of the first
  u32 seam;  // what the last row's sum lacks; keeps lane 31 out, whose last row is the next warp's first
  bool folded;

  __device__ __forceinline__ void load(const TilePoint *points, int first) {
    const int lane = threadIdx.x % 32;
    row = first + lane * R;
#pragma unroll
    for (int r = 0; r < R; ++r) {
      const TilePoint p = points[row + r];
      x[r] = p.x;
      y[r] = p.y;
      edge[r] = p.edge;
    }
    int missing;
    folded = fold_edges(edge, 1, magic, missing);
    seam = folded ? (u32)missing : 0u;
    if (lane == 31) seam = no_gain;
  }

  template <bool Folded>
  __device__ __forceinline__ void distances(const TilePoint &p, u32 (&result)[R]) const {
#pragma unroll
    for (int r = 0; r < R; ++r)
      result[r] = rounded_distance<Rounding>(x[r], y[r], p.x, p.y, Folded ? magic[r] : rounding_magic);
  }
  template <bool Folded>
  __device__ __forceinline__ u32 below_last(const u32 (&after)[R]) const {
    return __shfl_down_sync(0xffffffffu, after[0], 1) + (Folded || threadIdx.x % 32 == 31 ? seam : 0u);
  }

  // Moves with columns [begin, end) where some lie on the diagonal; the best of them, and its column.
  __device__ __forceinline__ void pass_diagonal(const TilePoint *points, int begin, int end, int &best,
                                                int &column) const {
    u32 before[R], after[R];
    TilePoint p = points[begin];
    int removed = p.edge;
    distances<false>(p, after);
#pragma unroll
    for (int r = 0; r < R; ++r) before[r] = after[r] - (u32)edge[r];
#pragma unroll 1
    for (int j = begin; j < end; ++j) {
      p = points[j + 1];
      distances<false>(p, after);
      const u32 last = below_last<false>(after);
      u32 least = never;
#pragma unroll
      for (int r = 0; r < R; ++r) {
        if (j > row + r) least = min_sum(before[r], r + 1 < R ? after[r + 1] : last, least);
        before[r] = after[r] - (u32)edge[r];
      }
      const int delta = (int)(least - 2 * magic_bits) - removed;
      removed = p.edge;
      if (delta < best) {
        best = delta;
        column = j;
      }
    }
  }

  // Moves with columns [begin, end) behind the diagonal; the best of them, and its column. A column's least delta and
  // the low bits of its number make one integer, of which the least of a chunk is kept: two instructions a column.
  template <bool Folded, bool Staged>
  __device__ __forceinline__ void pass(const TilePoint *points, TileStage *stage, int begin, int end, int &best,
                                       int &column) const {
    u32 before[R], after[R];
    const TilePoint p = points[begin];
    int removed = p.removed;
    distances<Folded>(p, after);
#pragma unroll
    for (int r = 0; r < R; ++r) before[r] = Folded ? after[r] : after[r] - (u32)edge[r];
    int first = begin & ~(columns_a_chunk - 1), buffer = 0;
    if (Staged) stage->fetch(0, points, first);
    for (; first < end; first += columns_a_chunk) {
      const TilePoint *chunk = points + first;
      if (Staged) {
        __syncwarp();
        stage->fetch(buffer ^ 1, points, first + columns_a_chunk);
        stage->template wait<1>();
        chunk = stage->points[buffer];
        buffer ^= 1;
      }
      int k = begin > first ? begin - first : 0;
      const int stop = min(end - first, columns_a_chunk);
      int packed = 0x7fffffff;
#pragma unroll 4
      for (; k < stop; ++k) {
        const TilePoint q = chunk[k + 1];
        distances<Folded>(q, after);
        const u32 last = below_last<Folded>(after);
        u32 least = before[0] + after[1];
#pragma unroll
        for (int r = 1; r < R; ++r) least = min_sum(before[r], r + 1 < R ? after[r + 1] : last, least);
        packed = min(packed, (int)(least * columns_a_chunk) + removed);
        removed = q.removed;
#pragma unroll
        for (int r = 0; r < R; ++r) before[r] = Folded ? after[r] : after[r] - (u32)edge[r];
      }
      if (packed >> column_bits < best) {
        best = packed >> column_bits;
        column = first + (packed & (columns_a_chunk - 1));
      }
    }
    if (Staged) stage->template wait<0>();
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
      if (before(middle) <= column)
        low = middle;
      else
        high = middle;
    }
    return low;
  }
};

// Some columns for a warp.
struct TileShare {
  int warp_row, column;  // where it begins
  int count;

  // The columns [at, end).
  template <int Rows>
  __device__ static TileShare from(int n, long long at, long long end) {
    if (at >= end) return {0, 0, 0};
    const TileColumns<Rows> columns{n};
    const int b = columns.warp_row_of(at);
    return {b, b * Rows + 1 + (int)(at - columns.before(b)), (int)(end - at)};
  }
  // The part of this warp, where all warps have equal parts.
  template <int Rows>
  __device__ static TileShare of(int n) {
    const long long all = TileColumns<Rows>{n}.all(), warps = (long long)gridDim.x * (blockDim.x / 32);
    const long long warp = (long long)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    return from<Rows>(n, all * warp / warps, all * (warp + 1) / warps);
  }
};

// The best group of R moves with one column, by the first of its rows: report(delta, row, column) for every stretch of
// the share in which there is one.
template <int R, int Rounding, bool Staged, class Report>
__device__ __forceinline__ void search_tiles(const TilePoint *points, int n, TileShare share, TileStage *stage,
                                             const Report &report) {
  typedef RowTile<R, Rounding> Tile;
  int begin = share.column;
  for (int b = share.warp_row; share.count > 0; ++b) {
    const int row = b * Tile::rows;
    const int stop = min(n, begin + share.count), masked = min(max(row + 32 * R, begin), stop);
    Tile tile;
    tile.load(points, row);
    int delta = 0, column = -1;
    if (begin < masked) tile.pass_diagonal(points, begin, masked, delta, column);
    if (masked < stop) {
      if (tile.folded)
        tile.template pass<true, Staged>(points, stage, masked, stop, delta, column);
      else
        tile.template pass<false, Staged>(points, stage, masked, stop, delta, column);
    }
    if (column >= 0) report(delta, tile.row, column);
    share.count -= stop - begin;
    begin = row + Tile::rows + 1;  // where the next warp row begins
  }
}

}  // namespace warptsp::exhaustive
