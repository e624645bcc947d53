// Rounds of iterated Lin-Kernighan on the parts of a tour: a warp a part. See warp_parts.h.
// LK_CANDIDATES (length of the candidate lists), LK_METRIC (a MetricKind) and LK_DUMMY (whether there is a dummy city)
// are given when it is compiled.
#include "blocks.h"
#include "lk/warp_parts.h"

using namespace warptsp;
using namespace warptsp::lk;

typedef WarpMetric<(MetricKind)LK_METRIC, LK_DUMMY>::Type Metric;
typedef WarpLkArrays<LK_CANDIDATES, Metric::Place> Arrays;
constexpr int counters = sizeof(WarpLkCounters) / sizeof(u32);

// All copies of the parts from `first` on; a block is one warp. The counters are added to `sums`.
extern "C" __global__ void __launch_bounds__(32)
    improve_parts(TourOnDevice tour, RoundOnDevice round, int first, u64 *sums) {
  extern __shared__ __align__(16) unsigned char memory[];
  const int turn = blockIdx.x / round.copies, parts = gridDim.x / round.copies;
  WarpPart<WarpLanes, Metric, LK_CANDIDATES> part(tour, round, part_in_turn(round.every, first, parts, turn),
                                                  blockIdx.x % round.copies, memory);
  WarpLkCounters counts;
  part.run(counts);
  const u32 *count = (const u32 *)&counts;
  if (threadIdx.x == 0)
    for (int i = 0; i < counters; i++) atomicAdd(sums + i, (u64)count[i]);
}

// blockIdx.y is the number of the order.
extern "C" __global__ void invert(const int *order, int size, int *rank) {
  const long long i = global_thread();
  const long long skipped = (long long)blockIdx.y * size;
  if (i < size) rank[skipped + order[skipped + i]] = (int)i;
}

extern "C" __global__ void choose_copies(TourOnDevice tour, int parts, int copies) {
  const int b = blockIdx.x * blockDim.x + threadIdx.x;
  if (b < parts) choose(tour, parts, copies, b);
}

extern "C" __global__ void put_back_stretches(TourOnDevice tour, int parts, int rotation) {
  const long long i = global_thread();
  if (i < tour.size) put_back_stretch(one_tour(tour, parts, blockIdx.y), parts, rotation, (int)i);
}

// Puts the paths of all blobs of all tours one behind the other. One block; `path_begin` [tours * parts + 1] becomes the
// prefix sum.
extern "C" __global__ void count_paths(TourOnDevice tour, int parts, int tours, int *path_begin) {
  __shared__ int sums[1024];
  int carried = 0;
  const int all = tours * parts;
  for (int from = 0; from < all; from += 1024) {
    const int b = from + threadIdx.x;
    const int own = b < all ? tour.path_count[(long long)tour.chosen[b] * parts + b % parts] : 0;
    int sum = own;
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int d = 1; d < 1024; d <<= 1) {
      const int other = threadIdx.x >= d ? sums[threadIdx.x - d] : 0;
      __syncthreads();
      sums[threadIdx.x] = sum += other;
      __syncthreads();
    }
    if (b < all) path_begin[b] = carried + sum - own;
    carried += sums[1023];
    __syncthreads();
  }
  if (threadIdx.x == 0) path_begin[all] = carried;
}

// The paths of blob b of all tours, and the number of the first of them in its tour.
struct PathsOfBlob {
  const HandedPath *paths;
  int begin, count, number;
};
static __device__ PathsOfBlob paths_of(const TourOnDevice &tour, int parts, const int *path_begin, int b) {
  const HandedPath *own = tour.paths + (long long)tour.chosen[b] * tour.size + part_begin(tour.size, parts, b % parts);
  return {own, path_begin[b], path_begin[b + 1] - path_begin[b], path_begin[b] - path_begin[b - b % parts]};
}
// The search is over, and its candidate lists are large enough for the ends of paths.
static __device__ int *ends_of(const TourOnDevice &tour, int parts, int b) {
  return (int *)tour.local_candidates + 2 * (long long)(b / parts) * tour.size;
}

extern "C" __global__ void note_path_ends(TourOnDevice tour, int parts, const int *path_begin) {
  const PathsOfBlob own = paths_of(tour, parts, path_begin, blockIdx.x);
  for (int i = threadIdx.x; i < own.count; i += blockDim.x)
    note_ends(own.paths[i], own.number + i, ends_of(tour, parts, blockIdx.x));
}

extern "C" __global__ void link_paths(TourOnDevice tour, int parts, const int *path_begin, LinkedPath *paths) {
  const PathsOfBlob own = paths_of(tour, parts, path_begin, blockIdx.x);
  for (int i = threadIdx.x; i < own.count; i += blockDim.x)
    paths[own.begin + i] = linked(own.paths[i], ends_of(tour, parts, blockIdx.x));
}

extern "C" __global__ void put_back_parts(TourOnDevice tour, int parts, const int *path_begin, const PathPlace *places,
                                          const LinkedPath *paths) {
  const long long i = global_thread();
  if (i >= tour.size) return;
  put_back(one_tour(tour, parts, blockIdx.y), parts, path_begin + blockIdx.y * parts, places, paths, (int)i);
}

extern "C" __global__ void shared_bytes(int *fixed_and_a_city) {
  fixed_and_a_city[0] = Arrays::bytes(0);
  fixed_and_a_city[1] = Arrays::bytes_a_city;
}
