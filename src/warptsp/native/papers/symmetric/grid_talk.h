// What the blocks of a grid tell each other about symmetrical moves. For the device compiler alone.
#pragma once
#include "cuda/grid.h"
#include "papers/symmetric/symmetric.h"

namespace warptsp::symmetric {

constexpr u64 nothing = ~0ull;

__device__ __forceinline__ u64 nanoseconds() {
  u64 t;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t));
  return t;
}

struct SymmetricTalk {
  unsigned arrived;
  int stop[3];
  u64 first[3];  // the first axis at which somebody found a move
};

// Rounds, each of which ends with a barrier. They use the three slots of the talk in turn: in a round the one after its own
// is cleared, which nobody can be reading or writing then.
struct Rounds {
  SymmetricTalk *const talk;
  const u64 end;  // nanoseconds
  int slot = 0;
  bool stop = false;  // the time is over

  __device__ __forceinline__ void begin() const {
    if (blockIdx.x != 0 || threadIdx.x != 0) return;
    const int next = (slot + 1) % 3;
    talk->first[next] = nothing;
    talk->stop[next] = 0;
    if (nanoseconds() >= end) talk->stop[slot] = 1;
  }
  // By one thread of a block.
  __device__ __forceinline__ void found(u64 which) const { atomicMin(&talk->first[slot], which); }
  // The first that somebody has found.
  __device__ __forceinline__ u64 agree() {
    grid_barrier(&talk->arrived);
    const u64 first = *(const volatile u64 *)&talk->first[slot];
    stop = *(const volatile int *)&talk->stop[slot];
    slot = (slot + 1) % 3;
    return first;
  }
};

}  // namespace warptsp::symmetric
