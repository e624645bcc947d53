// Candidate lists of cities in the plane and in space: see plane_candidates.h.
#include "blocks.h"
#include "space/plane_candidates.h"

using namespace warptsp;
using namespace warptsp::space;

// Rows of the cities from `begin` to `end`.
template <int Count, int PerSector, int Norm, int D>
__global__ void __launch_bounds__(128)
    find_candidates(TreeIn<D> tree, const double *scale, int begin, int end, int *rows) {
  const long long of_thread = begin + global_thread();
  if (of_thread >= end) return;
  const int city = (int)of_thread;
  tree.scale = *scale;
  NearCandidates<Count, PerSector, Norm, D> search(tree);
  search.find(city, rows + (long long)city * Count);
}
