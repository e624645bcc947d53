// 2-opt descent of a tour that fits into shared memory, all passes in one launch. For the device compiler alone.
//
// Every multiprocessor has a block and every block the whole tour, in tour order; a block evaluates its share of the
// moves, all of them apply the same one. So the blocks exchange nothing but their best moves, eight bytes each: a block
// writes its own into its slot, with the number of the pass in it, and waits until all other slots have that number.
// That is the barrier, too. A slot is written again two passes later, when everybody has read it, since the pass
// between was complete.
#pragma once
#include "cuda/blocks.h"
#include "papers/exhaustive/descent_state.h"

namespace warptsp::exhaustive {

typedef u64 MoveKey;

constexpr int resident_block = 512;

// A move as one number, the best one the lowest: delta, column, row; and the pass in the lowest bits.
constexpr int key_tag_bits = 10, key_place_bits = 14;
constexpr int max_resident = 1 << key_place_bits;  // cities
constexpr int key_delta_offset = 1 << 25;

__device__ __forceinline__ MoveKey key_of(int delta, int row, int column) {
  return (((MoveKey)(u32)(delta + key_delta_offset) << key_place_bits | (MoveKey)column) << key_place_bits |
          (MoveKey)row)
         << key_tag_bits;
}

// Bytes of shared memory: points (one row tile more than there are), cities, keys.
template <int R>
WARPTSP_FN constexpr int resident_points(int n) {
  return n + 1 + 64 * R;
}

__device__ __forceinline__ void set_edge(TilePoint *points, int position, int edge) {
  points[position].edge = edge;
  points[position].removed = removed_of(edge, position);
}

template <int R, int Rounding>
__device__ void descend_resident(const DescentTour &tour, int *city, long long passes, MoveKey *slots) {
  extern __shared__ __align__(16) unsigned char memory[];
  __shared__ MoveKey keys[resident_block / 32];
  __shared__ int chosen[4];  // i, j and the new edges' lengths; i < 0: none
  const int n = tour.n, thread = threadIdx.x;
  TilePoint *const points = (TilePoint *)memory;
  int *const own_city = (int *)(points + resident_points<R>(n));
  if (!tour.is_next(true)) {
    if (blockIdx.x == 0 && thread == 0) tour.state->applies = 0;
    return;
  }
  passes = min(passes, tour.limit - tour.state->passes);
  if (tour.own > 0) passes = 1;  // after a move the first neighbourhood is passed over again
  for (int k = thread; k < resident_points<R>(n); k += resident_block)
    points[k] = k <= n ? tour.points[k] : TilePoint{0.0f, 0.0f, 0, 0};
  for (int k = thread; k < n; k += resident_block) own_city[k] = city[k];
  typedef RowTile<R, Rounding> Tile;
  const TileShare share = TileShare::of<Tile::rows>(n);
  const MoveKey none = key_of(0, 0, 0);
  double gained = 0.0;
  long long done = 0;
  bool doubtful = false;
  __syncthreads();
  while (done < passes) {
    MoveKey best = none;
    search_tiles<R, Rounding, false>(points, n, share, (TileStage *)nullptr, [&](int delta, int row, int column) {
      const MoveKey key = key_of(delta, row, column);
      best = key < best ? key : best;
    });
    best = warp_min(best);
    if (thread % 32 == 0) keys[thread / 32] = best;
    __syncthreads();
    const MoveKey tag = (MoveKey)((done + 1) & ((1 << key_tag_bits) - 1));
    MoveKey *const round = slots + (done & 1) * gridDim.x;
    if (thread < 32) {
      best = warp_min(thread < resident_block / 32 ? keys[thread] : none);
      if (thread == 0) ((volatile MoveKey *)round)[blockIdx.x] = best | tag;
      best = none;
      for (int b = thread; b < (int)gridDim.x; b += 32) {
        MoveKey other;
        do other = ((volatile MoveKey *)round)[b];
        while ((other & ((1 << key_tag_bits) - 1)) != tag);
        other -= tag;
        best = other < best ? other : best;
      }
      best = warp_min(best);
      // Every block checks the move for itself, a lane each of the rows that it may belong to.
      const int row = (int)(best >> key_tag_bits) & (max_resident - 1);
      const int j = (int)(best >> (key_tag_bits + key_place_bits)) & (max_resident - 1), i = row + thread;
      BestMove exact;
      exact.delta = -tour.tolerance;
      double first = 0.0, second = 0.0;
      if (best < none && thread < R && i < j) {
        const int a = own_city[i], b = own_city[i + 1], c = own_city[j], d = own_city[j + 1 < n ? j + 1 : 0];
        first = tour.of_cities(a, c);
        second = tour.of_cities(b, d);
        exact.offer(TwoOpt::delta(first, second, tour.of_cities(a, b), tour.of_cities(c, d)), number_of(Pair{i, j}));
      }
      const MoveNumber mine = exact.number;
      exact = best_of_warp(exact);
      const bool shorter = exact.number != ~0ull && exact.delta < -tour.tolerance;
      if (!shorter) {
        if (thread == 0) chosen[0] = -1;
      } else {
        gained += exact.delta;
        if (mine == exact.number) {
          chosen[0] = i;
          chosen[1] = j;
          chosen[2] = (int)rint(first * tour.edge_scale);
          chosen[3] = (int)rint(second * tour.edge_scale);
        }
      }
    }
    __syncthreads();
    const int i = chosen[0], j = chosen[1];
    if (i < 0) {
      doubtful = true;
      break;
    }
    const int cities = (j - i) / 2, edges = (j - i - 1) / 2;
    for (int k = thread; k < cities; k += resident_block) {
      const int p = i + 1 + k, q = j - k;
      const float x = points[p].x, y = points[p].y;
      points[p].x = points[q].x;
      points[p].y = points[q].y;
      points[q].x = x;
      points[q].y = y;
      const int c = own_city[p];
      own_city[p] = own_city[q];
      own_city[q] = c;
    }
    for (int k = thread; k < edges; k += resident_block) {
      const int p = i + 1 + k, q = j - 1 - k, edge = points[p].edge;
      set_edge(points, p, points[q].edge);
      set_edge(points, q, edge);
    }
    // An edge in the middle keeps its position.
    if (thread == 0) {
      set_edge(points, i, chosen[2]);
      set_edge(points, j, chosen[3]);
    }
    ++done;
    __syncthreads();
  }
  if (blockIdx.x > 0) return;
  for (int k = thread; k < n; k += resident_block) city[k] = own_city[k];
  if (thread == 0) {
    DescentState &state = *tour.state;
    state.passes += done;
    state.moves += done;
    state.evaluations += done * (long long)TwoOpt::moves(n);
    state.gained += gained;
    state.applies = 0;
    if (done > 0) state.current = 0;
    if (doubtful) state.status = DescentStatus::doubtful;
  }
}

}  // namespace warptsp::exhaustive
