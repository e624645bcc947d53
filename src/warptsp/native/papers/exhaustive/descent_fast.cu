// The fast passes of descents in the plane, in single precision and integers: two_opt_squares.h, two_opt_tiles.h,
// two_opt_resident.h, three_opt_tiles.h. TILE_ROUNDING, of distances, is given when it is compiled; RESIDENT_ROWS of a lane, too.
#include "papers/exhaustive/three_opt_tiles.h"
#include "papers/exhaustive/two_opt_resident.h"

using namespace warptsp;
using namespace warptsp::exhaustive;

// What a warp has to examine next, of the columns [first, last) of TileColumns: first `coarse` pieces of so many columns,
// then smaller ones, so that all warps end together. `taken` counts pieces, from 0.
template <int Rows>
__device__ __forceinline__ bool take_piece(int n, long long first, long long last, unsigned long long *taken,
                                           int coarse, int piece, int fine, TileShare &share) {
  unsigned long long before = 0;
  if (threadIdx.x % 32 == 0) before = atomicAdd(taken, 1ull);
  const long long number = (long long)__shfl_sync(0xffffffffu, before, 0);
  const long long at =
      first + (number < coarse ? number * piece : (long long)coarse * piece + (number - coarse) * fine);
  const int size = number < coarse ? piece : fine;
  if (at < last) share = TileShare::from<Rows>(n, at, at + size < last ? at + size : last);
  return at < last;
}

extern "C" __global__ void __launch_bounds__(tile_block, has_fast_squares &&TILE_ROUNDING == 0 ? 7 : 4)
    evaluate_pairs(DescentTour tour, long long first, long long last, int fresh, BestMove *found,
                   unsigned long long *taken, int coarse, int piece, int fine) {
  if (!tour.is_next(true)) return;
  BestMove best;
  const auto report = [&](int delta, int row, int column) { best.offer((double)delta, number_of(Pair{row, column})); };
  TileShare share;
  if constexpr (has_fast_squares && TILE_ROUNDING == 0) {
    constexpr int rows = SquaresTile<squares_rows_of_lane>::rows;
    while (take_piece<rows>(tour.n, first, last, taken, coarse, piece, fine, share))
      search_squares<squares_rows_of_lane>(tour.points, tour.columns, tour.n, share, report);
  } else {
    __shared__ TileStage stages[tile_block / 32];
    constexpr int rows = RowTile<tile_rows_of_lane, TILE_ROUNDING>::rows;
    while (take_piece<rows>(tour.n, first, last, taken, coarse, piece, fine, share))
      search_tiles<tile_rows_of_lane, TILE_ROUNDING, true>(tour.points, tour.n, share, stages + threadIdx.x / 32,
                                                           report);
  }
  keep_best_of_block(best, fresh, found);
}

// Up to `passes` passes of 2-opt over a tour that fits into shared memory; cooperative, a block a multiprocessor.
extern "C" __global__ void __launch_bounds__(resident_block, 1)
    descend_pairs(DescentTour tour, int *city, long long passes, MoveKey *slots) {
  descend_resident<RESIDENT_ROWS, TILE_ROUNDING>(tour, city, passes, slots);
}

// Tasks [first, last) of TripleTasks.
extern "C" __global__ void __launch_bounds__(tile_block)
    evaluate_triples(DescentTour tour, long long first, long long last, int fresh, BestMove *found) {
  if (!tour.is_next(true)) return;
  BestMove best;
  search_triples<TILE_ROUNDING>(tour.points, tour.n, first, last, best);
  keep_best_of_block(best, fresh, found);
}
