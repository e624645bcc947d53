// Atomic operations on what many GPU threads write at once, and keys for them. On the host, where the same code runs in a
// plain loop, they are plain ones.
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

// Of numbers that are not negative they rise with the value.
WARPTSP_FN u64 bits_of(double value) {
#if defined(__CUDA_ARCH__)
  return (u64)__double_as_longlong(value);
#else
  u64 bits;
  static_assert(sizeof bits == sizeof value, "the bits of a double");
  __builtin_memcpy(&bits, &value, sizeof bits);
  return bits;
#endif
}

}  // namespace warptsp
