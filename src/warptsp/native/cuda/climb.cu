// Random-restart 2-opt (document 002): a climber a block, all of its descent on the GPU, in launches of bounded time.
// CLIMB_ROUNDING is that of the fast scan (ring_scan.h).
//
// The versions differ in how a block finds its best move:
//   Strip<R>  ours: the tour in shared memory, R reaches a thread.
//   Intra     the document's: the tour in global memory, one of the two edges a thread.
//   Tiled     the document's: the same, with the other edges in tiles of shared memory, from the last one down.
#include "exhaustive/block_climber.h"

using namespace warptsp;
using namespace warptsp::exhaustive;

typedef RingScan<(Rounding)CLIMB_ROUNDING> Scan;
typedef Scan::Place At;
typedef ClimbTask<At> Climbing;

namespace {

template <int R>
struct Strip {
  static constexpr bool in_shared = true;
  static constexpr int past = Scan::past(R);
  __device__ static unsigned scan(Climber<Scan> &climber, At *) { return climber.scan_strips<R>(); }
};
struct Intra {
  static constexpr bool in_shared = false;
  static constexpr int past = 1;
  __device__ static unsigned scan(Climber<Scan> &climber, At *) { return climber.scan_rows(nullptr); }
};
struct Tiled {
  static constexpr bool in_shared = false;
  static constexpr int past = 1;
  __device__ static unsigned scan(Climber<Scan> &climber, At *tile) { return climber.scan_rows(tile); }
};

}  // namespace

template <class Version>
__global__ void __launch_bounds__(1024) climb(Climbing all) {
  extern __shared__ float4 shared[];
  __shared__ ClimberCommon common;
  const long long begun = clock64();
  const int n = all.n;
  At *const beside = reinterpret_cast<At *>(shared);
  At *const places = Version::in_shared ? beside : all.places + (long long)blockIdx.x * (n + Version::past);
  Climber<Scan> climber(all, places, common, Version::past);
  int *const tour = all.tours + (long long)blockIdx.x * n, *const best_tour =
                                                               all.best_tours + (long long)blockIdx.x * n;
  long long number = all.climber[blockIdx.x];
  u64 passes = 0, moves = 0;
  if (number >= 0) climber.load(tour);
  for (;;) {
    if (number < 0) {
      if (threadIdx.x == 0) {
        const u64 next = atomicAdd(all.next, 1ull);
        common.climber = next < all.limit ? (long long)next : -1;
      }
      __syncthreads();
      number = common.climber;
      if (number < 0) break;
      climber.start(number);
    }
    __syncthreads();
    climber.place();
    bool expired = false;
    for (;;) {
      if (threadIdx.x == 0) common.expired = clock64() - begun > all.cycles;
      unsigned move = Version::scan(climber, beside);
      ++passes;
      if (move == no_move || !climber.shortens(move)) {
        move = climber.scan_exactly();
        ++passes;
        if (move == no_move) break;
      }
      expired = common.expired;
      climber.apply(move);  // which begins behind the barrier of either scan
      ++moves;
      if (expired) break;
    }
    if (expired) break;
    const long long length = climber.length();
    if (threadIdx.x == 0) all.lengths[atomicAdd(all.ended, 1u)] = length;
    const long long shortest = all.best_length[blockIdx.x];
    if (shortest < 0 || length < shortest || (length == shortest && number < all.best_climber[blockIdx.x])) {
      climber.save(best_tour);
      __syncthreads();
      if (threadIdx.x == 0) {
        all.best_length[blockIdx.x] = length;
        all.best_climber[blockIdx.x] = number;
      }
    }
    __syncthreads();
    number = -1;
  }
  if (number >= 0) climber.save(tour);
  if (threadIdx.x == 0) {
    all.climber[blockIdx.x] = number;
    atomicAdd(all.passes, passes);
    atomicAdd(all.moves, moves);
  }
}
