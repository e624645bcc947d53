// 2-opt as document 000 has it, for studies of launches: a thread turns the number of a move into its pair of positions
// and evaluates it, with four square roots, from coordinates in shared memory; it goes on with the move that lies all
// threads further on. two_opt_tiles.h is several times as fast. TILE_ROUNDING, of distances, is given when it is compiled.
#include "papers/exhaustive/descent_state.h"

using namespace warptsp;
using namespace warptsp::exhaustive;

// The moves between two ranges of the tour, `size` positions each (the last one may have fewer), or inside one; `fresh`
// for the first pair of a pass. The whole tour is one range if it fits into shared memory. Coordinates lie there in tour
// order, 8 bytes a city; of a whole tour also by city, with the tour beside them, 10 bytes a city.
template <bool TourOrder>
__global__ void __launch_bounds__(1024)
    evaluate_ranges(DescentTour tour, const int *city, int first_a, int first_b, int size, int fresh, BestMove *found) {
  if (!tour.is_next(true)) return;
  extern __shared__ __align__(16) unsigned char memory[];
  const bool inside = first_a == first_b;
  float2 *const a = (float2 *)memory, *const b = inside ? a : a + size + 1;
  unsigned short *const order = (unsigned short *)(a + size + 1);
  const int of_a = min(size, tour.n - first_a), of_b = min(size, tour.n - first_b);
  for (int k = threadIdx.x; k <= of_a; k += blockDim.x) {
    const TilePoint p = tour.points[first_a + k];
    if (TourOrder) {
      a[k] = make_float2(p.x, p.y);
    } else {
      const int own = city[k];
      order[k] = (unsigned short)own;
      if (k < tour.n) a[own] = make_float2(p.x, p.y);
    }
  }
  for (int k = threadIdx.x; !inside && k <= of_b; k += blockDim.x)
    b[k] = make_float2(tour.points[first_b + k].x, tour.points[first_b + k].y);
  __syncthreads();
  const auto at = [=](const float2 *range, int position) { return range[TourOrder ? position : order[position]]; };
  const auto distance = [](float2 p, float2 q) {
    return rounded_distance<TILE_ROUNDING>(p.x, p.y, q.x, q.y, rounding_magic);
  };
  const MoveNumber threads = (MoveNumber)gridDim.x * blockDim.x;
  const MoveNumber moves = inside ? pairs_below((MoveNumber)of_a) : (MoveNumber)of_a * (MoveNumber)of_b;
  BestMove best;
  for (MoveNumber number = (MoveNumber)blockIdx.x * blockDim.x + threadIdx.x; number < moves; number += threads) {
    const Pair pair = inside ? pair_of(number) : Pair{(int)(number % of_a), (int)(number / of_a)};
    const float2 p = at(a, pair.i), after_p = at(a, pair.i + 1), q = at(b, pair.j), after_q = at(b, pair.j + 1);
    const int delta = (int)(distance(p, q) + distance(after_p, after_q) - distance(p, after_p) - distance(q, after_q));
    best.offer((double)delta, number_of(Pair{first_a + pair.i, first_b + pair.j}));
  }
  keep_best_of_block(best, fresh, found);
}
