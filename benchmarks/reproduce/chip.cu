// What a chip takes for a barrier of all its blocks, and for a load that the next one waits for.
#include "cuda/blocks.h"
#include "cuda/grid.h"

using namespace warptsp;

extern "C" __global__ void __launch_bounds__(512) barriers(unsigned *arrived, int count) {
  for (int k = 0; k < count; k++) grid_barrier(arrived);
}

// Clocks of so many loads, one after another: from shared memory, and from the second level of caches.
extern "C" __global__ void chase(const int *next, int count, long long *clocks) {
  constexpr int size = 4096;
  __shared__ int near[size];
  for (int k = 0; k < size; k++) near[k] = (k + 1031) % size;
  int at = 0;
  long long begun = clock64();
  for (int k = 0; k < count; k++) at = *(volatile int *)(near + at);
  clocks[0] = clock64() - begun;
  begun = clock64();
  for (int k = 0; k < count; k++) at = __ldcg(next + at);
  clocks[1] = clock64() - begun;
  clocks[2] = at;
}
