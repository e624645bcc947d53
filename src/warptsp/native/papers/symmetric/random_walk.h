// A chain of segments at random, on a block of the GPU. For the device compiler alone.
#pragma once
#include "papers/symmetric/block_tour.h"
#include "papers/symmetric/chain_walk.h"

namespace warptsp::symmetric {

// Segments at random, one after another, as the CPU takes them: since random numbers are named by their step, each
// thread examines a step of its own, and the first of them that is accepted is made. What comes after it is examined
// again.
struct RandomWalk {
  BlockTour &tour;
  Walk &walk;
  Cooling cooling;
  Acceptance acceptance;
  const bool cold = cooling.temperature <= 0;

  // So many steps, or fewer if that is enough for a descent. `first` and `made` are in shared memory.
  __device__ void run(long long steps, int *first, float2 *made) {
    const SymmetricInstance &instance = tour.instance;
    const int own = threadIdx.x;
    if (own == 0) first[0] = first[1] = blockDim.x;
    __syncthreads();
    for (int turn = 0; steps > 0 && !(cold && walk.is_done()); turn ^= 1) {
      long long count = min(steps, (long long)blockDim.x);
      if (cold) count = min(count, quiet_enough(instance) - walk.state.quiet);
      const long long step = walk.state.step + own;
      const Axis axis = random_axis(instance, acceptance.seed, acceptance.chain, step);
      float2 edges;
      bool accepted = false;
      if (own < count) {
        Acceptance then = acceptance;
        if (!cold) {
          Cooling later = cooling;
          later.advance(own);
          then.temperature = later.temperature;
        }
        accepted = tour.test(axis, axis.rungs, then.key(step), then, then.most(instance), edges);
      }
      if (accepted) atomicMin(first + turn, own);
      __syncthreads();
      const int at = first[turn];
      const bool moved = at < (int)blockDim.x;
      if (own == at) *made = edges;
      if (own == 0) first[turn ^ 1] = blockDim.x;
      __syncthreads();
      const int passed = moved ? at + 1 : (int)count;
      if (moved) reverse(random_axis(instance, acceptance.seed, acceptance.chain, walk.state.step + at), *made);
      walk.pass(passed, moved, cold);
      if (own == 0) walk.moves += moved;
      steps -= passed;
      if (cold) continue;
      cooling.advance(passed);
      acceptance.temperature = cooling.temperature;
    }
  }

  // Reverses the one segment of this axis.
  __device__ void reverse(const Axis &axis, float2 edges) {
    const int n = tour.instance.size;
    if (threadIdx.x == 0) {
      tour.edge[left_of(axis, axis.rungs + 1, n)] = edges.x;
      tour.edge[right_of(axis, axis.rungs, n)] = edges.y;
    }
    for (int k = 1 + threadIdx.x; k <= axis.rungs; k += blockDim.x) tour.apply(axis, k, k < axis.rungs, true);
    __syncthreads();
  }
};

}  // namespace warptsp::symmetric
