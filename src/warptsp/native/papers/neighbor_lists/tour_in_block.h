// The tour that one block writes, in its shared memory if it fits there. For the device compiler alone.
#pragma once
#include "papers/neighbor_lists/block_lanes.h"

namespace warptsp::neighbor {

struct TourInBlock {
  TourArrays tour;
  int *scratch;
};

// The tour in shared memory if it fits there (`inside`), with a buffer for the longest stretch that is written.
__device__ __forceinline__ TourInBlock tour_in_block(int n, int *order, int *position, int *scratch, int inside,
                                                     Carver &shared) {
  if (!inside) return TourInBlock{TourArrays{n, order, position}, scratch};
  TourArrays tour{n, shared.take<int>(n), shared.take<int>(n)};
  int *const buffer = shared.take<int>(3 * (long long)n / 4 + 1);
  for (int p = threadIdx.x; p < n; p += blockDim.x) {
    const int city = order[p];
    tour.order[p] = city;
    tour.position[city] = p;
  }
  __syncthreads();
  return TourInBlock{tour, buffer};
}

__device__ __forceinline__ void put_tour_back(const TourArrays &tour, int *order, int *position) {
  __syncthreads();
  for (int p = threadIdx.x; p < tour.size; p += blockDim.x) {
    const int city = tour.order[p];
    order[p] = city;
    position[city] = p;
  }
}

__device__ __forceinline__ void write_stretch(const TourInBlock &at, const Rewrite &rewrite) {
  const TourArrays tour = at.tour;
  __syncthreads();
  for (int k = threadIdx.x; k < rewrite.total; k += blockDim.x)
    at.scratch[k] = tour.order[rewrite.at(tour, rewrite.source(k))];
  __syncthreads();
  for (int k = threadIdx.x; k < rewrite.total; k += blockDim.x) {
    const int p = rewrite.at(tour, k), city = at.scratch[k];
    tour.order[p] = city;
    tour.position[city] = p;
  }
  __syncthreads();
}

}  // namespace warptsp::neighbor
