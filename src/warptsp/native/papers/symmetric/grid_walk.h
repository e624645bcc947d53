// One chain of symmetrical moves on all blocks of a GPU. For the device compiler alone.
#pragma once
#include "papers/symmetric/block_tour.h"
#include "papers/symmetric/grid_talk.h"

namespace warptsp::symmetric {

constexpr int max_ahead = 256;  // axes that the grid examines between two barriers

// One chain on the whole GPU: every block has a stretch of the rungs of each axis. Where moves are few, a descent looks
// at many axes between two barriers. All threads of the grid have the same, but for `moves`.
struct GridWalk {
  const SymmetricInstance &instance;
  Walk &walk;
  Rounds rounds;
  int *const flags;  // three a block
  const int n = instance.size, rungs = axis_at(instance, axes_an_iteration(instance) - 1).rungs;
  const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size, warps = blockDim.x / warp_size;
  const int stretch = (rungs + gridDim.x - 1) / gridDim.x;
  const int low = 1 + blockIdx.x * stretch, high = min(low + stretch, rungs + 1);  // rungs low to high - 1
  const int window = stretch + max_ahead + 2;
  float2 *const left_place, *const right_place = left_place + window;
  float *const left_edge = (float *)(right_place + window), *const right_edge = left_edge + window;
  CircleTour<SharedByBlocks> tour;

  const bool near = axes_an_iteration(instance) <= 2;  // axes next to each other have the same cities but one
  int gap = 0;                                         // axes from move to move, of late
  long long since = 0, made = 0;

  __device__ __forceinline__ GridWalk(Walk &walk, float2 *place, float *edge, int *city, const Rounds &rounds,
                                      int *flags, unsigned char *memory)
      : instance(walk.instance), walk(walk), rounds(rounds), flags(flags), left_place((float2 *)memory),
        tour(walk.instance, place, edge, city, (unsigned *)(right_edge + window)) {}

  // So many axes, or fewer if the time is over or the tour 2-optimal.
  __device__ __forceinline__ void run(long long steps) {
    while (made < steps && !rounds.stop && !walk.is_done()) {
      rounds.begin();
      if (walk.cold && gap > 2 && near) {
        if (!look_ahead() || rounds.stop || made >= steps) continue;
        rounds.begin();
      }
      make();
    }
  }

  // Examines some axes, and goes on to the first that has a move; false if none has.
  __device__ __forceinline__ bool look_ahead() {
    __shared__ int found_at;
    const int ahead = (int)min((long long)min(max(2 * gap, 8), max_ahead), walk.all - walk.state.quiet);
    const Axis first_axis = unwrapped_axis(instance, walk.phase),
               last_axis = unwrapped_axis(instance, walk.phase + ahead - 1);
    const int left_from = min(first_axis.left, last_axis.left) - high,
              left_to = max(first_axis.left, last_axis.left) - low;
    const int right_from = min(first_axis.right, last_axis.right - 1) + low,
              right_to = max(first_axis.right + 1, last_axis.right) + high;
    if (threadIdx.x == 0) found_at = ahead;
    if (instance.planar && low < high) {
      for (int p = left_from + threadIdx.x; p <= left_to; p += blockDim.x) {
        const int q = ((p % n) + n) % n;
        left_place[p - left_from] = __ldcg(tour.place + q);
        left_edge[p - left_from] = __ldcg(tour.edge + q);
      }
      for (int p = right_from + threadIdx.x; p <= right_to; p += blockDim.x) {
        const int q = ((p % n) + n) % n;
        right_place[p - right_from] = __ldcg(tour.place + q);
        right_edge[p - right_from] = __ldcg(tour.edge + q);
      }
    }
    __syncthreads();
    for (int j = warp; j < ahead && j < *(volatile int *)&found_at; j += warps) {
      const Axis axis = unwrapped_axis(instance, walk.phase + j);
      bool found = false;
      for (int k = low + lane; k < high && !found; k += warp_size) {
        const int l = axis.left - k - left_from, r = axis.right + k - right_from;
        Planar rung;
        if (instance.planar) {
          rung = {left_place[l - 1],  left_place[l],    right_place[r],
                  right_place[r + 1], left_edge[l - 1], right_edge[r]};
          if (rung.exceeds(walk.limit)) continue;
        }
        float2 edges;
        found = accepts(instance, rung, walk.acceptance, 0, k, edges, [&] { return tour.rung(walk.axis_ahead(j), k); });
      }
      if (__any_sync(all_lanes, found)) {
        if (lane == 0) atomicMin(&found_at, j);
        break;
      }
    }
    __syncthreads();
    if (threadIdx.x == 0 && found_at < ahead) rounds.found((u64)(walk.state.step + found_at));
    const u64 first = rounds.agree();
    const int skipped = first == nothing ? ahead : (int)((long long)first - walk.state.step);
    walk.pass(skipped, false);
    since += skipped;
    made += skipped;
    if (first == nothing) gap = min(2 * gap, max_ahead);
    return first != nothing;
  }

  // Decides and applies one axis.
  __device__ __forceinline__ void make() {
    const Axis axis = walk.axis();
    int behind = 0;
    const bool moved = decide(axis, behind);
    if (moved) {
      tour.apply(axis, low, stretch, __syncthreads_count(behind) & 1);
      grid_barrier(&rounds.talk->arrived);
      gap = (int)min((3LL * gap + since + 3) / 4, (long long)max_ahead);
      since = 0;
    } else {
      since++;
      if (since > 2 && gap <= 2) gap = 3;
    }
    made++;
    walk.pass(1, moved);
  }

  // Whether any rung of the axis is accepted; `behind` is odd on threads that count an odd number in later blocks.
  __device__ __forceinline__ bool decide(const Axis &axis, int &behind) {
    int *const told = flags + rounds.slot * gridDim.x;
    const bool any_here = tour.decide(axis, low, stretch, walk);
    if (warp == 0) {
      const bool odd = any_here && (odd_behind(tour.words, tour.words_of(stretch), 0) ^ (tour.words[0] & 1));
      if (lane == 0) __stcg(told + blockIdx.x, (int)any_here << 1 | (int)odd);
    }
    rounds.agree();
    int any = 0;
    for (int b = threadIdx.x; b < gridDim.x; b += blockDim.x) {
      const int flag = __ldcg(told + b);
      any |= flag;
      behind ^= b > blockIdx.x ? flag & 1 : 0;
    }
    return __syncthreads_or(any);
  }
};

}  // namespace warptsp::symmetric
