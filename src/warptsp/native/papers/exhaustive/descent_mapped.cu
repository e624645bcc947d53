// 2-opt by the numbers of moves, for studies of launches: see two_opt_mapped.h. TILE_ROUNDING, of distances, is given
// when it is compiled.
#include "papers/exhaustive/two_opt_mapped.h"

using namespace warptsp;
using namespace warptsp::exhaustive;

template <bool TourOrder>
__global__ void __launch_bounds__(1024) evaluate_mapped(DescentTour tour, const int *city, BestMove *found) {
  if (tour.state->status != DescentStatus::searching) return;
  BestMove best;
  search_mapped<TourOrder, TILE_ROUNDING>(tour, city, best);
  keep_best_of_block(best, true, found);
}

// One pair of ranges of the tour, `fresh` where it is the first of a pass.
extern "C" __global__ void __launch_bounds__(1024)
    evaluate_ranges(DescentTour tour, int first_a, int first_b, int size, int fresh, BestMove *found) {
  if (tour.state->status != DescentStatus::searching) return;
  BestMove best;
  search_ranges<TILE_ROUNDING>(tour, first_a, first_b, size, best);
  keep_best_of_block(best, fresh, found);
}
