// All 2-opt moves of a long tour, as in two_opt_tiles.h, with the squares of distances from the double-precision matrix
// unit. For the device compiler alone, and for compute capability 9.0, where that unit is fast enough.
//
// The square of a distance is a product of four numbers of one city and four of the other: (-2x, -2y, x^2 + y^2, 1) and
// (x, y, 1, x^2 + y^2). One instruction of a warp makes 128 of them, where single precision takes four instructions
// for 32. Scaled by 2^128, a double's bits 29 to 60 are the same number as a float, so that one shift converts it. With
// the root, the rounding and the addition with minimum that leaves 4.25 instructions a move instead of seven, of the
// eight that the square roots leave.
//
// A lane has R rows and columns of its own: lanes 4 g to 4 g + 3 have the same rows, lanes g, g + 4, ... the same
// columns, two at a time. Squares are exact, but for the last bits of coordinates that are no whole numbers.
#pragma once
#include "papers/exhaustive/two_opt_tiles.h"

namespace warptsp::exhaustive {

constexpr int squares_rows_of_lane = 8;
constexpr u32 no_sum = 2 * magic_bits + (1u << 23);  // a move that cannot gain, whatever its column takes off

// c: rows g and g + 8 of columns 2 t and 2 t + 1, lane 4 g + t.
__device__ __forceinline__ void multiply_squares(double (&c)[4], double above, double below, double column) {
#if !defined(__CUDA_ARCH__)
  emulate_multiplication(c, above, below, column);  // tests/native/test_two_opt_squares.cpp
#elif __CUDA_ARCH__ >= 900
  asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %7, %7, %7};"
      : "=d"(c[0]), "=d"(c[1]), "=d"(c[2]), "=d"(c[3])
      : "d"(above), "d"(below), "d"(column), "d"(0.0));
#endif
}

__device__ __forceinline__ float root_of_scaled(double square) {
  return approximate_root(
      __uint_as_float(__funnelshift_l((u32)__double2loint(square), (u32)__double2hiint(square), 3)));
}

template <int R>
struct SquaresTile {
  static constexpr int rows = 8 * R - 1;  // of a warp
  double factor[R];                       // of the row's four numbers the one of this lane
  float magic[R];
  int row;   // of the first
  u32 seam;  // as in RowTile
  bool folded;
  const TilePoint *points;

  __device__ __forceinline__ void load(const TilePoint *all, const double *columns, int first) {
    const int lane = threadIdx.x % 32, k = lane % 4;
    points = all;
    row = first + lane / 4 * R;
    int edge[R], missing;
#pragma unroll
    for (int r = 0; r < R; ++r) {
      factor[r] = (k < 2 ? -0x1p129 : 0x1p128) * columns[4 * (row + r) + (k ^ (k >> 1))];
      edge[r] = points[row + r].edge;
    }
    folded = fold_edges(edge, 4, magic, missing);
    seam = lane >= 28 ? no_gain : (u32)missing;
  }

  // Moves with columns [first, first + count) or a few more; the best of them, and its column. `Plain` if edges are
  // folded and no column is on the diagonal. `first` is even.
  template <bool Plain>
  __device__ __forceinline__ void pass(const double *columns, int first, int count, int &best, int &column) const {
    const int lane = threadIdx.x % 32, n = lane / 4;
    const int width = (count + 7) / 8 * 2;  // columns of a lane
    const int begin = first + lane % 4 * width;
    const double *from = columns + 4 * (first + n / 2 * width + 1 + n % 2) + lane % 4;
    const TilePoint *at = points + begin;
    const auto rounded = [this](float root, int r) {
      return __float_as_uint(__fadd_rn(root, Plain ? magic[r] : rounding_magic));
    };
    const auto less_edge = [this](u32 distance, int r) {
      return Plain ? distance : distance - (u32)points[row + r].edge;
    };
    const auto below_last = [&](u32 distance) {
      return __shfl_down_sync(0xffffffffu, distance, 4) + (Plain || lane >= 28 ? seam : 0u);
    };
    u32 before[R];
#pragma unroll
    for (int m = 0; m < R; m += 2) {
      double c[4];
      multiply_squares(c, factor[m], factor[m + 1], from[-4]);
      before[m] = less_edge(rounded(root_of_scaled(c[0]), m), m);
      before[m + 1] = less_edge(rounded(root_of_scaled(c[2]), m + 1), m + 1);
    }
    double next = from[0];
    int j = begin;
    for (int left_over = width; left_over > 0; left_over -= columns_a_chunk) {
      int packed = 0x7fffffff;
#pragma unroll 2
      for (int k = min(left_over, columns_a_chunk); k > 0; k -= 2) {
        const double own = next;
        from += 8;
        next = from[0];
        u32 left = no_sum, right = no_sum;    // least sums of columns j and j + 1
        u32 first_left = 0, first_right = 0;  // distances of the first row to columns j + 1 and j + 2
        u32 last_left = 0, last_right = 0;    // and those of the row before
        const auto offer = [&](u32 &least, u32 a, u32 b, int r, int its_column) {
          if (Plain || its_column > row + r) least = min_sum(a, b, least);
        };
#pragma unroll
        for (int m = 0; m < R; m += 2) {
          double c[4];
          multiply_squares(c, factor[m], factor[m + 1], own);
          float root[4];
#pragma unroll
          for (int v = 0; v < 4; ++v) root[v] = root_of_scaled(c[v]);
          const u32 up_left = rounded(root[0], m), up_right = rounded(root[1], m);
          const u32 low_left = rounded(root[2], m + 1), low_right = rounded(root[3], m + 1);
          if (m > 0) {
            offer(left, before[m - 1], up_left, m - 1, j);
            offer(right, less_edge(last_left, m - 1), up_right, m - 1, j + 1);
            before[m - 1] = less_edge(last_right, m - 1);
          } else {
            first_left = up_left;
            first_right = up_right;
          }
          offer(left, before[m], low_left, m, j);
          offer(right, less_edge(up_left, m), low_right, m, j + 1);
          before[m] = less_edge(up_right, m);
          last_left = low_left;
          last_right = low_right;
        }
        offer(left, before[R - 1], below_last(first_left), R - 1, j);
        offer(right, less_edge(last_left, R - 1), below_last(first_right), R - 1, j + 1);
        before[R - 1] = less_edge(last_right, R - 1);
        packed = min(packed, (int)(left * columns_a_chunk + (u32)at[0].removed));
        packed = min(packed, (int)(right * columns_a_chunk + (u32)at[1].removed));
        at += 2;
        if (!Plain) j += 2;
      }
      if (packed >> column_bits < best) {
        best = packed >> column_bits;
        const int from_begin = width - left_over;
        column = begin + from_begin + ((packed - begin) & (columns_a_chunk - 1));
      }
    }
  }
};

// The least delta, below `delta`, of columns where some lie on the diagonal or edges are not folded, and its column or -1.
// A function of its own, so that the plain pass has the registers.
template <int R>
__device__ __noinline__ int2 search_diagonal(const TilePoint *points, const double *columns, int row, int first,
                                             int count, int delta) {
  SquaresTile<R> tile;
  tile.load(points, columns, row);
  int column = -1;
  tile.template pass<false>(columns, first, count, delta, column);
  return make_int2(delta, column);
}

// The best group of R moves with one column, by the first of its rows: report(delta, row, column).
template <int R, class Report>
__device__ __forceinline__ void search_squares(const TilePoint *points, const double *columns, int n, TileShare share,
                                               const Report &report) {
  typedef SquaresTile<R> Tile;
  int begin = share.column;
  for (int b = share.warp_row; share.count > 0; ++b) {
    const int row = b * Tile::rows;
    const int stop = min(n, begin + share.count);
    Tile tile;
    tile.load(points, columns, row);
    const int slow = tile.folded ? min(max(row + Tile::rows + 1, begin), stop) : stop;
    int2 best = make_int2(0, -1);
    if (begin < slow) best = search_diagonal<R>(points, columns, row, begin & ~1, slow - (begin & ~1), best.x);
    if (slow < stop) {
      if (begin < slow) tile.load(points, columns, row);
      tile.template pass<true>(columns, slow & ~1, stop - (slow & ~1), best.x, best.y);
    }
    if (best.y >= 0) report(best.x, tile.row, best.y);
    share.count -= stop - begin;
    begin = row + Tile::rows + 1;  // where the next warp row begins
  }
}

}  // namespace warptsp::exhaustive
