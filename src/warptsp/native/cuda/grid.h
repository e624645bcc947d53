// A barrier for all blocks of a grid, in kernels that `Kernel.launch(..., cooperative=True)` starts. For the device
// compiler alone.
#pragma once

namespace warptsp {

// `arrived` is one counter in device memory, 0 when the kernel starts; it counts up, so that no block has to reset it.
// What a thread wrote before the barrier every thread reads after it.
__device__ __forceinline__ void grid_barrier(unsigned *arrived) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    const unsigned ticket = atomicAdd(arrived, 1u);
    const unsigned all = (ticket / gridDim.x + 1) * gridDim.x;
    while (*(volatile unsigned *)arrived < all) {
    }
    __threadfence();
  }
  __syncthreads();
}

}  // namespace warptsp
