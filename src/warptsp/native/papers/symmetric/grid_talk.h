// What the blocks of a grid tell each other about symmetrical moves. For the device compiler alone.
#pragma once
#include "cuda/grid.h"
#include "papers/symmetric/symmetric.h"

namespace warptsp::symmetric {

constexpr u64 nothing = ~0ull;

// At each barrier they use the next of three slots, and the one after it is cleared, which nobody can be reading or
// writing then.
struct SymmetricTalk {
  unsigned arrived;
  int stop[3];
  u64 first[3];  // the first axis at which somebody found a move

  __device__ __forceinline__ void clear_behind(int slot) {
    const int next = (slot + 1) % 3;
    first[next] = nothing;
    stop[next] = 0;
  }
  __device__ __forceinline__ u64 first_at(int slot) const { return *(const volatile u64 *)&first[slot]; }
  __device__ __forceinline__ bool stop_at(int slot) const { return *(const volatile int *)&stop[slot]; }
};

__device__ __forceinline__ u64 nanoseconds() {
  u64 t;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t));
  return t;
}

}  // namespace warptsp::symmetric
