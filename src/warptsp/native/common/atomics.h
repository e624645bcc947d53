// Atomic operations on what many GPU threads write at once. On the host, where the same code runs in a plain loop, they
// are plain ones.
#pragma once
#include "common/random.h"

namespace warptsp {

WARPTSP_FN void atomic_smallest(u64 *place, u64 value) {
#if defined(__CUDA_ARCH__)
  atomicMin(place, value);
#else
  if (value < *place) *place = value;
#endif
}

}  // namespace warptsp
