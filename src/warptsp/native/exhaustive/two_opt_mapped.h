// 2-opt as document 000 has it: a thread turns the number of a move into its pair of positions and evaluates it, with
// four square roots, from coordinates in shared memory; it goes on with the move that lies all threads further on. The
// study of launches needs it; two_opt_tiles.h is several times as fast. For the device compiler alone.
#pragma once
#include "exhaustive/descent_state.h"

namespace warptsp::exhaustive {

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
    const float2 a = at(pair.i), b = at(pair.i + 1), c = at(pair.j), d = at(pair.j + 1);
    const auto distance = [](float2 p, float2 q) {
      return rounded_distance<Rounding>(p.x, p.y, q.x, q.y, rounding_magic);
    };
    const int delta = (int)(distance(a, c) + distance(b, d) - distance(a, b) - distance(c, d));
    best.offer((double)delta, number);
  }
}

}  // namespace warptsp::exhaustive
