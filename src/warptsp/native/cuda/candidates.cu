// Candidate lists of cities in the plane: see plane_candidates.h.
#include "space/plane_candidates.h"

using namespace warptsp;
using namespace warptsp::space;

// Rows of the cities from `begin` to `end`.
template <int Count, int PerQuadrant, int Norm>
__global__ void __launch_bounds__(128)
    find_candidates(PointTree tree, const double *scale, int begin, int end, int *rows) {
  const int city = begin + (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (city >= end) return;
  tree.scale = *scale;
  PlaneCandidates<Count, PerQuadrant, Norm> search(tree);
  search.find(city, rows + (long long)city * Count);
}
