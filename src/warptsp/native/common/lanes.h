// The 32 lanes of a warp. A search that is a template over them uses nothing else to share work: WarpLanes are those of
// CUDA, and tests run the very same code on one CPU thread, lane after lane (tests/native/emulated_warp.h).
//
// Such code is written in phases: `each` runs a function on every lane, with all its writes visible to the next phase;
// what a lane keeps between phases is a Var; everything outside `each` is the same on all lanes.
#pragma once
#include "common/metric.h"  // WARPTSP_FN

namespace warptsp {

#if defined(__CUDACC__)

struct WarpLanes {
  static constexpr int size = 32;
  static constexpr unsigned all = 0xffffffffu;
  template <class T>
  struct Var {
    T value;
    WARPTSP_FN T &operator[](int) { return value; }
    WARPTSP_FN const T &operator[](int) const { return value; }
  };
  WARPTSP_FN static int rank() { return threadIdx.x & 31; }
  template <class F>
  WARPTSP_FN static void each(F &&f) {
    __syncwarp();  // what stands between two phases may still be reading
    f(rank());
    __syncwarp();
  }
  template <class T>
  WARPTSP_FN static T get(const Var<T> &v, int lane) {
    return __shfl_sync(all, v.value, lane);
  }
  WARPTSP_FN static unsigned ballot(const Var<bool> &v) { return __ballot_sync(all, v.value); }
  // Sum over the lanes below; returns the sum over all.
  WARPTSP_FN static int scan(const Var<int> &v, Var<int> &before) {
    int sum = v.value;
#pragma unroll
    for (int d = 1; d < 32; d <<= 1) {
      const int other = __shfl_up_sync(all, sum, d);
      if (rank() >= d) sum += other;
    }
    before.value = sum - v.value;
    return __shfl_sync(all, sum, 31);
  }
  // Largest over the lanes below and `least`; returns that over all.
  WARPTSP_FN static int scan_max(const Var<int> &v, int least, Var<int> &before) {
    int most = v.value;
#pragma unroll
    for (int d = 1; d < 32; d <<= 1) {
      const int other = __shfl_up_sync(all, most, d);
      if (rank() >= d && other > most) most = other;
    }
    if (most < least) most = least;
    const int below = __shfl_up_sync(all, most, 1);
    before.value = rank() == 0 ? least : below;
    return __shfl_sync(all, most, 31);
  }
  // The lowest lane with the largest value.
  WARPTSP_FN static int argmax(const Var<float> &v) {
    float most = v.value;
#pragma unroll
    for (int d = 16; d; d >>= 1) most = fmaxf(most, __shfl_xor_sync(all, most, d));
    return __ffs(__ballot_sync(all, v.value == most)) - 1;
  }
  WARPTSP_FN static unsigned reduce_xor(const Var<unsigned> &v) {
#if __CUDA_ARCH__ >= 800
    return __reduce_xor_sync(all, v.value);
#else
    unsigned x = v.value;
    for (int d = 16; d; d >>= 1) x ^= __shfl_xor_sync(all, x, d);
    return x;
#endif
  }
  WARPTSP_FN static void set_bits(unsigned *word, unsigned bits) { atomicOr(word, bits); }
  WARPTSP_FN static void clear_bits(unsigned *word, unsigned bits) { atomicAnd(word, ~bits); }
  WARPTSP_FN static int lowest_bit(unsigned v) { return __ffs(v) - 1; }
  WARPTSP_FN static int highest_bit(unsigned v) { return 31 - __clz(v); }
  WARPTSP_FN static int bits(unsigned v) { return __popc(v); }
};

#endif

}  // namespace warptsp
