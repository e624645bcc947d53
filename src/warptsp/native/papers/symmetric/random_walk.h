// A chain of segments at random, on a block of the GPU. For the device compiler alone.
#pragma once
#include "papers/symmetric/block_tour.h"

namespace warptsp::symmetric {

// So many segments at random, or fewer if that is enough for a descent: one after another, as the CPU takes them. Since
// random numbers are named by their step, each thread examines a step of its own, and the first of them that is accepted
// is made. What comes after it is examined again. `first` and `made` are in shared memory.
__device__ __forceinline__ void walk_at_random(BlockTour &tour, Walk &walk, long long steps, int *first, float2 *made) {
  const SymmetricInstance &instance = tour.instance;
  const int own = threadIdx.x, n = instance.size;
  const auto axis_of = [&](int ahead) {
    return random_axis(instance, walk.acceptance.seed, walk.acceptance.chain, walk.state.step + ahead);
  };
  if (own == 0) first[0] = first[1] = blockDim.x;
  __syncthreads();
  for (int turn = 0; steps > 0 && !walk.is_done(); turn ^= 1) {
    long long count = min(steps, (long long)blockDim.x);
    if (walk.cold) count = min(count, quiet_enough(instance) - walk.state.quiet);
    float2 edges;
    bool accepted = false;
    if (own < count) {
      const Axis axis = axis_of(own);
      Acceptance then = walk.acceptance;
      if (!walk.cold) {
        Cooling later = walk.cooling;
        later.advance(own);
        then.temperature = later.temperature;
      }
      accepted = tour.test(axis, axis.rungs, then.key(walk.state.step + own), then, then.most(instance), edges);
    }
    if (accepted) atomicMin(first + turn, own);
    __syncthreads();
    const int at = first[turn];
    const bool moved = at < (int)blockDim.x;
    if (own == at) *made = edges;
    if (own == 0) first[turn ^ 1] = blockDim.x;
    __syncthreads();
    if (moved) {
      const Axis axis = axis_of(at);
      if (own == 0) {
        tour.edge[left_of(axis, axis.rungs + 1, n)] = made->x;
        tour.edge[right_of(axis, axis.rungs, n)] = made->y;
        ++walk.moves;
      }
      for (int k = 1 + own; k <= axis.rungs; k += blockDim.x) tour.apply(axis, k, k < axis.rungs, true);
      __syncthreads();
    }
    const int passed = moved ? at + 1 : (int)count;
    walk.pass(passed, moved);
    steps -= passed;
  }
}

}  // namespace warptsp::symmetric
