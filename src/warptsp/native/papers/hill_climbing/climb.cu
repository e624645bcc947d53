// Random-restart 2-opt (document 002): a climber a block, all of its descent on the GPU, in launches of bounded time.
// CLIMB_ROUNDING is that of the fast scan (ring_scan.h).
//
// The versions differ in how a block finds its best move:
//   Strip<R>  ours: the tour in shared memory, R reaches a thread.
//   Intra     the document's: the tour in global memory, one of the two edges a thread.
//   Tiled     the document's: the same, with the other edges in tiles of shared memory, from the last one down.
#include "papers/hill_climbing/block_climber.h"

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
  __device__ static bool scan(Climber<Scan> &climber, At *, Unfinished &at) {
    at.number = climber.scan_strips<R>();
    return true;
  }
};
template <bool tiled>
struct Rows {
  static constexpr bool in_shared = false;
  static constexpr int past = 1;
  __device__ static bool scan(Climber<Scan> &climber, At *tile, Unfinished &at) {
    return climber.scan_rows(tiled ? tile : nullptr, at);
  }
};
typedef Rows<false> Intra;
typedef Rows<true> Tiled;

}  // namespace

template <class Version>
__global__ void __launch_bounds__(1024) climb(Climbing all) {
  extern __shared__ float4 shared[];
  __shared__ ClimberCommon common;
  const int n = all.n;
  At *const beside = reinterpret_cast<At *>(shared);
  At *const places = Version::in_shared ? beside : all.places + (long long)blockIdx.x * (n + Version::past);
  Climber<Scan> climber(all, places, common, Version::past);
  int *const best_tour = all.best_tours + (long long)blockIdx.x * n;
  long long number = all.climber[blockIdx.x];
  Unfinished at = all.unfinished[blockIdx.x];
  u64 passes = 0, moves = 0;
  if (Version::in_shared && number >= 0) {
    climber.load(all.tours + (long long)blockIdx.x * n);
    at.started = min(at.started, start_steps(n));
    __syncthreads();
  }
  for (bool expired = false;;) {
    if (number < 0) {
      if (threadIdx.x == 0) {
        const u64 next = atomicAdd(all.next, 1ull);
        common.climber = next < all.limit ? (long long)next : -1;
      }
      __syncthreads();
      number = common.climber;
      if (number < 0) break;
      at = Unfinished{no_move, start_numbers(all.seed, (u64)number), 0, 0, 0, 0};
    }
    if (at.started <= start_steps(n)) {
      if (!climber.start(number, at)) break;
      __syncthreads();
      climber.place();
      at.started = start_steps(n) + 1;
    }
    bool optimum = false;
    while (!expired) {
      climber.look_at_clock();
      if (!at.sure) {
        if (!Version::scan(climber, beside, at)) break;
        ++passes;
        at.row = at.column = 0;
        if (at.number == no_move || !climber.shortens(at.number)) {
          at.sure = 1;
          at.number = no_move;
        }
      }
      if (at.sure) {
        if (!climber.scan_exactly(at)) break;
        ++passes;
        at.row = at.column = 0;
        optimum = at.number == no_move;
        if (optimum) break;
        at.sure = 0;
      }
      expired = common.expired;  // behind a barrier of either scan, and before those of apply()
      climber.apply(at.number);
      at.number = no_move;
      ++moves;
    }
    if (!optimum) break;
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
  if (Version::in_shared && number >= 0) climber.save(all.tours + (long long)blockIdx.x * n);
  if (threadIdx.x == 0) {
    all.climber[blockIdx.x] = number;
    all.unfinished[blockIdx.x] = at;
    atomicAdd(all.passes, passes);
    atomicAdd(all.moves, moves);
  }
}
