// Sums, scans and the smallest of a thread block or a warp. For the device compiler alone.
#pragma once
#include "common/random.h"

namespace warptsp {

constexpr int warp_size = 32;
constexpr unsigned all_lanes = 0xffffffffu;

__device__ __forceinline__ long long global_thread() { return (long long)blockIdx.x * blockDim.x + threadIdx.x; }

// The smallest of the lanes of a warp, for all of them.
__device__ __forceinline__ unsigned warp_min(unsigned v) {
#if __CUDA_ARCH__ >= 800
  return __reduce_min_sync(all_lanes, v);
#else
  for (int reach = warp_size / 2; reach > 0; reach /= 2) v = min(v, __shfl_xor_sync(all_lanes, v, reach));
  return v;
#endif
}

__device__ __forceinline__ u64 warp_min(u64 v) {
  for (int reach = warp_size / 2; reach > 0; reach /= 2) {
    const u64 other = __shfl_xor_sync(all_lanes, v, reach);
    v = other < v ? other : v;
  }
  return v;
}

// The sum over the block, for its first thread; in an order that does not change.
template <int Threads, class T>
__device__ T block_sum(T value) {
  __shared__ T sums[Threads / warp_size];
  for (int reach = warp_size / 2; reach > 0; reach /= 2) value += __shfl_down_sync(all_lanes, value, reach);
  if (threadIdx.x % warp_size == 0) sums[threadIdx.x / warp_size] = value;
  __syncthreads();
  if (threadIdx.x == 0)
    for (int w = 1; w < Threads / warp_size; ++w) value += sums[w];
  __syncthreads();
  return value;
}

// The sum of the values of earlier threads; `total` that of all.
template <int Threads, class T>
__device__ T block_scan(T value, T &total) {
  __shared__ T sums[Threads / warp_size];
  const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
  T sum = value;
  for (int reach = 1; reach < warp_size; reach *= 2) {
    const T before = __shfl_up_sync(all_lanes, sum, reach);
    if (lane >= reach) sum += before;
  }
  if (lane == warp_size - 1) sums[warp] = sum;
  __syncthreads();
  T offset = 0;
  total = 0;
  for (int w = 0; w < Threads / warp_size; ++w) {
    if (w == warp) offset = total;
    total += sums[w];
  }
  __syncthreads();
  return offset + sum - value;
}

}  // namespace warptsp
