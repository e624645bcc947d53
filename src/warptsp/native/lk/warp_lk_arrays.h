// What the search of a warp works on: its limits, parameters and counters, and where its arrays lie.
#pragma once
#include "common/lanes.h"
#include "common/random.h"
#include "lk/kick_kinds.h"
#include "lk/warp_metric.h"

namespace warptsp::lk {

constexpr int warp_lk_max_cities = 1024;  // at most: the queue is one bit a city, a word a lane
constexpr int warp_lk_min_cities = 8;
// Exchange steps, at most 30; with 24 tours were no shorter than with 16. Kernels of other depths are compiled with another
// number: with 3 the moves are 2-opt and 3-opt.
#ifndef LK_DEPTH
#define LK_DEPTH 16
#endif
constexpr int warp_lk_depth = LK_DEPTH;
constexpr int warp_lk_roots = 16;
constexpr int warp_lk_passes = 500;  // of a kick; some have a hundred
// Alternatives at the first two steps: 5 and 3, as in lk.h, reach 0.1 point less after as many kicks, at 2.5 times the
// work. Kernels for small problems are compiled with 5 and 3.
#ifndef LK_FIRST_BREADTH
#define LK_FIRST_BREADTH 3
#define LK_SECOND_BREADTH 2
#endif
constexpr int first_breadth = LK_FIRST_BREADTH, second_breadth = LK_SECOND_BREADTH;
constexpr float warp_lk_unbreakable = -1e30f;
constexpr u16 no_city = 0xffff;

// Candidates that a lane examines side by side, to hide the latency of shared memory: the larger this is, the more are
// examined in vain, since most lists end early. They are read as one word.
constexpr int warp_lk_chunk = 4;

struct WarpLkParams {
  Kicks kicks;
  float tolerance;  // a gain must exceed it
  int fitting = 0;  // whether segments are cut where they fit in front of the array's end, instead of refused there
};

struct WarpLkCounters {
  u32 kicks = 0, refused = 0, restored = 0, accepted = 0, improved = 0;
  u32 passes = 0, branches = 0, chains = 0, steps = 0, moves = 0, cells = 0;
  // About what was done costs, the same on every run.
  WARPTSP_FN u32 work() const { return 2 * passes + steps; }
};

// Whether the host gives the search up: one load for 300 000 cycles of a kick. `stop` may be null.
template <class Lanes>
WARPTSP_FN bool given_up(const int *stop) {
  typename Lanes::template Var<bool> stops;
  Lanes::each([&](int lane) { stops[lane] = lane == 0 && stop && *(const volatile int *)stop != 0; });
  return Lanes::ballot(stops) != 0;
}

struct WarpLkWork {
  u32 lists[(warp_lk_depth + 3) * 32];  // [interval, lane]: low << 16 | rank << 8 | turned
  float gain_1[32 * first_breadth];
  u32 step_1[32 * first_breadth];  // o3 << 16 | lane of its root
  float gain_2[32 * second_breadth];
  u32 step_2[32 * second_breadth];  // o3 of the first step << 16 | o3 of the second
  u16 root_2[32 * second_breadth];
  u32 queued[32];
  u16 roots[warp_lk_roots];
  u16 start[32], length[32], turned[32], tail[32];
};

// The arrays of a sub-problem; positions and cities from 0.
template <int K, class Place>
struct WarpLkArrays {
  int size;
  u16 *order;     // [size] city at a position
  u16 *position;  // [size]
  u16 *follower;  // [size] the city behind an unbreakable edge that leaves from here, else no_city
  Place *place;   // [size] for distances
  float *edge;    // [size] length of the edge from a position to the next, or unbreakable
  WarpLkWork *work;
  // What is rarely needed, or always in rows, may lie in slower memory: the less shared memory a warp takes, the more
  // warps there are to hide every latency.
  u64 *candidates;  // [size, K / 4] four in a word, nearest first, the city itself behind the last
  u16 *kept;        // [size] order before the kick, where it has changed since

  static_assert(K % warp_lk_chunk == 0, "lists are read in words");
  static constexpr int bytes_a_city = 2 * 3 + (int)sizeof(Place) + 4;
  // Lays the other arrays out in one block of memory aligned to 16 bytes; `size` rounded up to a multiple of 8.
  WARPTSP_FN static WarpLkArrays in(unsigned char *memory, int size, u64 *candidates, u16 *kept) {
    const int padded = (size + 7) & ~7;
    WarpLkArrays a;
    a.size = size;
    a.work = (WarpLkWork *)memory;
    memory += (sizeof(WarpLkWork) + 15) & ~15;
    a.candidates = candidates;
    a.kept = kept;
    a.place = (Place *)memory;
    memory += (int)sizeof(Place) * padded;
    a.edge = (float *)memory;
    memory += 4 * padded;
    u16 *next = (u16 *)memory;
    a.order = next;
    a.position = next + padded;
    a.follower = next + 2 * padded;
    return a;
  }
  WARPTSP_FN u64 &four_candidates(int city, int chunk) const {
    return candidates[(long long)city * (K / warp_lk_chunk) + chunk];
  }
  WARPTSP_FN int candidate(int city, int k) const {
    return (int)(four_candidates(city, k / warp_lk_chunk) >> 16 * (k % warp_lk_chunk) & 0xffff);
  }
  WARPTSP_FN static int bytes(int size) {
    return (int)((sizeof(WarpLkWork) + 15) & ~15) + bytes_a_city * ((size + 7) & ~7);
  }
};

}  // namespace warptsp::lk
