// All 3-opt moves of a tour on a GPU, in integers as in two_opt_tiles.h. For the device compiler alone.
//
// A lane holds edges i and j, the lanes of a warp consecutive i for one j, and goes through k: four square roots for
// four moves, since the distances of b and c to e are those to f one step before.
#pragma once
#include "papers/exhaustive/two_opt_tiles.h"

namespace warptsp::exhaustive {

// Warps' tasks: row j has one for every 32 of its i.
struct TripleTasks {
  WARPTSP_FN static long long before(long long j) {
    const long long rows = j - 1, groups = rows / 32;
    return 16 * groups * (groups + 1) + rows % 32 * (groups + 1);
  }
  WARPTSP_FN static long long all(int n) { return before(n - 1); }
  WARPTSP_FN static int row_of(long long task) {
    long long j = (long long)WARPTSP_MATH(sqrt)(64.0 * (double)task) + 1;
    while (before(j) > task) --j;
    while (before(j + 1) <= task) ++j;
    return (int)j;
  }
};

__device__ __forceinline__ u32 min_of_three(u32 a, u32 b, u32 c) {
#if __CUDA_ARCH__ >= 900
  return __vimin3_u32(a, b, c);
#else
  return min(min(a, b), c);
#endif
}

// This warp's tasks of [first, last): the best triple, by the number of its first move.
template <int Rounding>
__device__ void search_triples(const TilePoint *points, int n, long long first, long long last, BestMove &best) {
  const long long warps = (long long)gridDim.x * (blockDim.x / 32);
  const auto distance = [](const TilePoint &p, const TilePoint &q) {
    return rounded_distance<Rounding>(p.x, p.y, q.x, q.y, rounding_magic);
  };
  for (long long task = first + (long long)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32; task < last;
       task += warps) {
    const int j = TripleTasks::row_of(task), i = (int)(task - TripleTasks::before(j)) * 32 + threadIdx.x % 32;
    if (i >= j) continue;
    const TilePoint a = points[i], b = points[i + 1], c = points[j], d = points[j + 1];
    const u32 ac = distance(a, c), ad = distance(a, d), bd = distance(b, d);
    u32 be = bd, ce = distance(c, d);
    TilePoint e = d;
    const int removed = a.edge + c.edge;
    int least = removed, found = -1;
#pragma unroll 2
    for (int k = j + 1; k < n; ++k) {
      const TilePoint f = points[k + 1];
      const u32 ae = distance(a, e), bf = distance(b, f), cf = distance(c, f), df = distance(d, f);
      const u32 sum = min_of_three(ad + be + cf, ac + be + df, ad + ce + bf);
      const int delta = (int)(min(sum, ae + bd + cf) - 3 * magic_bits) - e.edge;
      if (delta < least) {
        least = delta;
        found = k;
      }
      be = bf;
      ce = cf;
      e = f;
    }
    if (found >= 0) best.offer((double)(least - removed), 4 * number_of(Triple{i, j, found}));
  }
}

}  // namespace warptsp::exhaustive
