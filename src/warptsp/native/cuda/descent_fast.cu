// The fast passes of descents in the plane, in single precision and integers: two_opt_tiles.h, two_opt_resident.h,
// three_opt_tiles.h. TILE_ROUNDING, of distances, is given when it is compiled; RESIDENT_ROWS of a lane, too.
#include "three_opt_tiles.h"
#include "two_opt_resident.h"

using namespace warptsp;

// Columns [first, last) of TileColumns. Warps take the next `piece` of them when they are free: `taken` counts, from 0.
extern "C" __global__ void __launch_bounds__(tile_block)
    evaluate_pairs(DescentTour tour, long long first, long long last, int fresh, BestMove *found,
                   unsigned long long *taken, int piece) {
  if (tour.state->status != DescentStatus::searching) return;
  __shared__ TileStage stages[tile_block / 32];
  typedef RowTile<tile_rows_of_lane, TILE_ROUNDING> Tile;
  BestMove best;
  for (;;) {
    unsigned long long before = 0;
    if (threadIdx.x % 32 == 0) before = atomicAdd(taken, (unsigned long long)piece);
    const long long at = first + (long long)__shfl_sync(0xffffffffu, before, 0);
    if (at >= last) break;
    search_tiles<tile_rows_of_lane, TILE_ROUNDING, true>(
        tour.points, tour.n, TileShare::from<Tile::rows>(tour.n, at, at + piece < last ? at + piece : last),
        stages + threadIdx.x / 32,
        [&](int delta, int row, int column) { best.offer((double)delta, number_of(Pair{row, column})); });
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
  if (tour.state->status != DescentStatus::searching) return;
  BestMove best;
  search_triples<TILE_ROUNDING>(tour.points, tour.n, first, last, best);
  keep_best_of_block(best, fresh, found);
}
