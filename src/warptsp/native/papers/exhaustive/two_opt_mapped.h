// 2-opt as document 000 has it: a thread turns the number of a move into its pair of positions and evaluates it, with
// four square roots, from coordinates in shared memory; it goes on with the move that lies all threads further on. The
// study of launches needs it; two_opt_tiles.h is several times as fast. For the device compiler alone.
#pragma once
#include "papers/exhaustive/descent_state.h"

namespace warptsp::exhaustive {

// With the four square roots.
template <int Rounding>
__device__ __forceinline__ int mapped_delta(float2 a, float2 b, float2 c, float2 d) {
  const auto distance = [](float2 p, float2 q) {
    return rounded_distance<Rounding>(p.x, p.y, q.x, q.y, rounding_magic);
  };
  return (int)(distance(a, c) + distance(b, d) - distance(a, b) - distance(c, d));
}

// Coordinates lie in tour order, 8 bytes a city; or by city, with the tour beside them, 10 bytes a city.
template <bool TourOrder, int Rounding>
__device__ void search_mapped(const DescentTour &tour, const int *city, BestMove &best) {
  extern __shared__ __align__(16) unsigned char memory[];
  float2 *const xy = (float2 *)memory;
  unsigned short *const order = (unsigned short *)(xy + tour.n + 1);
  const int n = tour.n;
  for (int k = threadIdx.x; k <= n; k += blockDim.x) {
    const TilePoint p = tour.points[k];
    if (TourOrder) {
      xy[k] = make_float2(p.x, p.y);
    } else {
      const int own = city[k];
      order[k] = (unsigned short)own;
      if (k < n) xy[own] = make_float2(p.x, p.y);
    }
  }
  __syncthreads();
  const auto at = [=](int position) { return xy[TourOrder ? position : order[position]]; };
  const MoveNumber threads = (MoveNumber)gridDim.x * blockDim.x, moves = TwoOpt::moves(n);
  for (MoveNumber number = (MoveNumber)blockIdx.x * blockDim.x + threadIdx.x; number < moves; number += threads) {
    const Pair pair = pair_of(number);
    best.offer((double)mapped_delta<Rounding>(at(pair.i), at(pair.i + 1), at(pair.j), at(pair.j + 1)), number);
  }
}

// The moves between two ranges of the tour, `size` positions each (the last range may have fewer), or inside one; all
// pairs of ranges together are a pass, for tours that do not fit into shared memory.
template <int Rounding>
__device__ void search_ranges(const DescentTour &tour, int first_a, int first_b, int size, BestMove &best) {
  extern __shared__ __align__(16) unsigned char memory[];
  float2 *const a = (float2 *)memory, *const b = a + size + 1;
  const int of_a = size < tour.n - first_a ? size : tour.n - first_a;
  const int of_b = size < tour.n - first_b ? size : tour.n - first_b;
  for (int k = threadIdx.x; k <= of_a; k += blockDim.x)
    a[k] = make_float2(tour.points[first_a + k].x, tour.points[first_a + k].y);
  for (int k = threadIdx.x; k <= of_b; k += blockDim.x)
    b[k] = make_float2(tour.points[first_b + k].x, tour.points[first_b + k].y);
  __syncthreads();
  const bool inside = first_a == first_b;
  const MoveNumber threads = (MoveNumber)gridDim.x * blockDim.x;
  const MoveNumber moves = inside ? pairs_below((MoveNumber)of_a) : (MoveNumber)of_a * (MoveNumber)of_b;
  for (MoveNumber number = (MoveNumber)blockIdx.x * blockDim.x + threadIdx.x; number < moves; number += threads) {
    const Pair pair = inside ? pair_of(number) : Pair{(int)(number % of_a), (int)(number / of_a)};
    best.offer((double)mapped_delta<Rounding>(a[pair.i], a[pair.i + 1], b[pair.j], b[pair.j + 1]),
               number_of(Pair{first_a + pair.i, first_b + pair.j}));
  }
}

}  // namespace warptsp::exhaustive
