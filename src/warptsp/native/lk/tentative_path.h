// The path that a search follows without touching the tour: a short list of intervals of the array.
#pragma once
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "lk/lk_arrays.h"

namespace warptsp::lk {

// A step of the search: (e, t3) comes in, (t3, t4) goes out.
template <class Value>
struct LkStep {
  Value gain;            // of the path so far, before closing
  int o3, o4, interval;  // offsets of t3 and t4, and the interval that holds t3
};

// Intervals of offsets in ascending order, each with its rank on the path and its direction.
struct alignas(32) TentativePath {
  int low[lk_max_intervals];     // interval r is [low[r], low[r + 1]); padded with size to a multiple of 8
  int rank[lk_max_intervals];    // 0: the path starts with it
  int turned[lk_max_intervals];  // 0, or -1 if the path runs through it from high to low
  int intervals;
  int first;  // offset of the path's first city

  WARPTSP_FN void begin(int size) {
    low[0] = 0;
    for (int r = 1; r < 8; r++) low[r] = size;
    rank[0] = turned[0] = first = 0;
    intervals = 1;
  }
  // The interval that holds an offset.
  WARPTSP_FN int locate(int o) const {
    // A vector would wait for the few bounds that have just been written one by one.
    if (intervals <= 4) return (low[1] <= o) + (low[2] <= o) + (low[3] <= o);
#if defined(__SSE2__)
    // The bounds ascend, so the comparison is a run of ones: its length is the answer. Two instructions for four.
    const __m128i v = _mm_set1_epi32(o);
    for (int r = 0;; r += 8) {
      const __m128i lower = _mm_cmpgt_epi32(_mm_load_si128((const __m128i *)(low + r)), v);
      const __m128i upper = _mm_cmpgt_epi32(_mm_load_si128((const __m128i *)(low + r + 4)), v);
      const int above = _mm_movemask_ps(_mm_castsi128_ps(lower)) | _mm_movemask_ps(_mm_castsi128_ps(upper)) << 4;
      if (above) return r + __builtin_ctz((unsigned)above) - 1;
    }
#else
    int r = 1;
    while (r < intervals && low[r] <= o) r++;
    return r - 1;
#endif
  }
  // The path after a step on another one: everything up to t4 turned around, so that t4 is its first city.
  template <class Value>
  WARPTSP_FN void set_after(const TentativePath &from, const LkStep<Value> &step, int size) {
    const int cut = step.interval, before = from.rank[cut], m = from.intervals;
    for (int r = 0; r < cut; r++) {
      const int q = from.rank[r];
      low[r] = from.low[r];
      rank[r] = q < before ? before - q : q + 1;
      turned[r] = q < before ? ~from.turned[r] : from.turned[r];
    }
    const int down = from.turned[cut];  // the path runs down: t4 lies above t3
    low[cut] = from.low[cut];
    low[cut + 1] = down ? step.o4 : step.o3;
    rank[cut] = down ? before + 1 : 0;
    rank[cut + 1] = down ? 0 : before + 1;
    turned[cut] = -1;
    turned[cut + 1] = 0;
    for (int r = cut + 1; r < m; r++) {
      const int q = from.rank[r];
      low[r + 1] = from.low[r];
      rank[r + 1] = q < before ? before - q : q + 1;
      turned[r + 1] = q < before ? ~from.turned[r] : from.turned[r];
    }
    intervals = m + 1;
    for (int r = m + 1; r & 7; r++) low[r] = size;
    if (((m + 1) & 7) == 0)
      for (int r = m + 1; r < m + 9; r++) low[r] = size;
    first = step.o4;
  }
  // The path that is left when the cycle of the offsets up to `last` is opened again at o3 and o4, which comes first.
  WARPTSP_FN void rotate(int last, int o3, int o4, int size) {
    const bool up = o4 > o3;
    low[0] = 0;
    low[1] = up ? o4 : o3;
    low[2] = last + 1;
    for (int r = 3; r < 8; r++) low[r] = size;
    rank[0] = up;
    rank[1] = !up;
    rank[2] = 2;
    turned[0] = turned[1] = up ? 0 : -1;
    turned[2] = 0;
    intervals = 3;
    first = o4;
  }
};

}  // namespace warptsp::lk
