// A climber that is a block's work: how its threads find the best move, and make it (document 002). For the device
// compiler alone.
#pragma once
#include "cuda/blocks.h"
#include "papers/hill_climbing/climber.h"
#include "papers/hill_climbing/climber_moves.h"
#include "papers/hill_climbing/ring_scan.h"

namespace warptsp::exhaustive {

// Positions that are gone through between two looks at the clock, which takes a millisecond or two.
constexpr int start_slice = 1 << 14, edges_a_slice = 1 << 13;

// What the climbers share, and where they leave what they find. backends/cuda/records.py has the same fields.
template <class At>
struct ClimbTask {
  const double *points;                   // (n, 2), for exact distances
  const float2 *near;                     // relative to the centre
  const int *given;                       // start of climber 0, or null
  u64 *next;                              // number of the next climber
  long long *climber;                     // that each block is at between launches, -1: none
  Unfinished *unfinished;                 // and what of it
  int *tours;                             // its tour, if tours are in shared memory
  long long *lengths;                     // of the local optima of this launch, in units
  unsigned *ended;                        // how many there are
  long long *best_length, *best_climber;  // of each block, and its tour
  int *best_tours;
  At *places;  // of each block, if tours are not in shared memory
  u64 *passes, *moves;
  u64 seed, limit;   // climbers below `limit` are started
  long long cycles;  // of the clock, after which a launch ends
  double tolerance, scale;
  double margin;  // what float and exact deltas differ by at most
  int n, kind;
  RingShares shares;
};

// Of a block, beside the tour.
struct ClimberCommon {
  unsigned words[warp_size];
  double deltas[warp_size];
  RingNumber numbers[warp_size];
  RingNumber number;
  unsigned short_number;
  int expired, shorter;
  long long climber;
  u64 sum;
};

constexpr unsigned no_key = ~0u;

// The smaller a negative delta, the smaller its key; those that are not negative come last.
__device__ __forceinline__ unsigned key_of(int delta) { return delta < 0 ? (unsigned)delta & 0x7fffffffu : no_key; }
__device__ __forceinline__ unsigned key_of(float delta) {
  return delta < 0.0f ? ~(unsigned)__float_as_int(delta) : no_key;
}

template <class Scan>
struct Climber {
  typedef typename Scan::Value Value;
  typedef typename Scan::Place At;
  const ClimbTask<At> &all;
  At *tour;
  ClimberCommon &common;
  const int n, past, lane, warp, warps;
  const long long begun;

  __device__ Climber(const ClimbTask<At> &all, At *tour, ClimberCommon &common, int past)
      : all(all), tour(tour), common(common), n(all.n), past(past), lane(threadIdx.x % warp_size),
        warp(threadIdx.x / warp_size), warps(blockDim.x / warp_size), begun(clock64()) {}

  // Whether the launch should end. A thread's clock decides for all: it asks before a barrier, and all read behind it.
  __device__ void look_at_clock() {
    if (threadIdx.x == 0) common.expired = clock64() - begun > all.cycles;
  }
  __device__ bool expired_for_all() {
    look_at_clock();
    __syncthreads();
    const bool expired = common.expired;
    __syncthreads();
    return expired;
  }

  // For all threads; no thread writes `words` before all have come here.
  __device__ unsigned block_min(unsigned v) {
    v = warp_min(v);
    if (warps == 1) return v;
    if (lane == 0) common.words[warp] = v;
    __syncthreads();
    return warp_min(lane < warps ? common.words[lane] : no_key);
  }

  // The edges from position `first` to `last`, and what is read past the end.
  __device__ void measure(int first, int last) {
    for (int p = first + (int)threadIdx.x; p <= last; p += blockDim.x) tour[p].edge = edge(p);
    for (int p = threadIdx.x; p < past; p += blockDim.x) {
      tour[n + p].x = tour[p].x;
      tour[n + p].y = tour[p].y;
      tour[n + p].edge = edge(p);
    }
    __syncthreads();
  }
  __device__ Value edge(int p) const { return Scan::distance(tour[p], tour[p + 1 < n ? p + 1 : 0]); }

  __device__ void place() {
    for (int p = threadIdx.x; p < n; p += blockDim.x) {
      const float2 at = all.near[tour[p].city];
      tour[p].x = at.x;
      tour[p].y = at.y;
    }
    __syncthreads();
    measure(0, n - 1);
  }

  __device__ void apply(RingNumber number) {
    int first, second;
    edges_of(number, n, first, second);
    for (int i = first + 1 + (int)threadIdx.x, j = second - (int)threadIdx.x; i < j; i += blockDim.x, j -= blockDim.x) {
      const float4 a = *reinterpret_cast<float4 *>(tour + i);
      *reinterpret_cast<float4 *>(tour + i) = *reinterpret_cast<float4 *>(tour + j);
      *reinterpret_cast<float4 *>(tour + j) = a;
    }
    __syncthreads();
    measure(first, second);
  }

  __device__ double exact(int p, int q) const {
    const long long a = tour[p].city, b = tour[q].city;
    return exact_distance(all.kind, all.points + 2 * a, all.points + 2 * b);
  }
  __device__ double exact_delta(int first, int second) const {
    const int after = second + 1 < n ? second + 1 : 0;
    const double added = exact(first, second) + exact(first + 1, after);
    return added - exact(first, first + 1) - exact(second, after);
  }

  // Whether a move shortens the tour in exact arithmetic, for all threads. The first warp finds out, a distance a lane.
  __device__ bool shortens(RingNumber number) {
    if (warp == 0) common.shorter = does_shorten(number);
    __syncthreads();
    return common.shorter;
  }
  __device__ bool does_shorten(RingNumber number) const {
    int first, second;
    edges_of(number, n, first, second);
    const int after = second + 1 < n ? second + 1 : 0;
    const int p = lane == 1 ? first + 1 : lane == 3 ? second : first;
    const int q = lane == 0 ? second : lane == 2 ? first + 1 : after;
    const double d = lane < 4 ? exact(p, q) : 0.0;
    const double added = __shfl_sync(all_lanes, d, 0) + __shfl_sync(all_lanes, d, 1);
    return added - __shfl_sync(all_lanes, d, 2) - __shfl_sync(all_lanes, d, 3) < -all.tolerance;
  }

  // The best move by float distances, for all threads.
  template <int R>
  __device__ RingNumber scan_strips() {
    const RingShares shares = all.shares;
    Value best = 0;
    int where = 0, reach = 2;
    for (int share = threadIdx.x; shares.has(share); share += blockDim.x) {
      const Value before = best;
      Scan::template along<R>(tour, n, shares.reach<R>(share), shares.edge(share), shares.steps, best, where);
      if (best < before) reach = shares.reach<R>(share);
    }
    if (threadIdx.x == 0) common.short_number = no_key;
    const unsigned own = key_of(best), key = block_min(own);
    if (key == no_key) return no_move;
    // A tour in shared memory has fewer than 2^16 cities: here the number of a move has 32 bits, of which the least in a
    // warp is one instruction. Those who have a move as good go through the round again in which they found it, for the first one. Only who began
    // that round before all others in the warp, or nearly so, can have it.
    unsigned candidates = __ballot_sync(all_lanes, own == key);
    unsigned number = no_key;
    if (candidates != 0) {
      const int earliest = (int)warp_min(own == key ? (unsigned)where : no_key);
      candidates = __ballot_sync(all_lanes, own == key && where < earliest + R);
      for (; candidates != 0; candidates &= candidates - 1) {
        const int from = __ffs((int)candidates) - 1;
        const int edge = __shfl_sync(all_lanes, where, from), first = __shfl_sync(all_lanes, reach, from);
        for (int m = lane; m < R * R; m += warp_size)
          if (key_of(Scan::delta(tour, n, edge + m / R, first + m % R)) == key)
            number = min(number, (unsigned)(edge + m / R) << 16 | (unsigned)(first + m % R));
      }
      number = warp_min(number);
    }
    number = first_of(number, common.short_number);
    if (number == no_key) return no_move;
    return ring_number((int)(number >> 16), (int)(number & 0xffffu));
  }

  // The lowest number of all warps.
  template <class Number>
  __device__ Number first_of(Number number, Number &first) {
    if (warps == 1) {
      __syncwarp();
      return number;
    }
    if (lane == 0 && number != ~(Number)0) atomicMin(&first, number);
    __syncthreads();
    return first;
  }

  // As the document's listing 4; without tiles as its listing 3. The best move is left in `at`. False if the launch should
  // end before the pass has: then `at` tells where to go on.
  __device__ bool scan_rows(At *tile, Unfinished &at) {
    RingNumber number = no_move;
    Value best = 0;
    if (threadIdx.x == 0 && at.number != no_move) {
      number = at.number;
      int first, second;
      edges_of(number, n, first, second);
      best = row_delta(tour[first], tour[first + 1], tour[second], tour[second + 1]);
    }
    const int rows = blockDim.x, columns = tile != nullptr ? rows : edges_a_slice;
    long long seen = 0;  // since the last look at the clock
    for (bool expired = false; at.row < n - 2 && !expired;) {
      const int row = at.row, i = row + (int)threadIdx.x;
      const At here = tour[min(i, n - 2)], after = tour[min(i + 1, n - 1)];
      int top = n - 1 - at.column;
      for (; top >= row + 2 && !expired; top -= columns) {
        const int low = max(top - columns + 1, row + 2);
        seen += top - low + 1;
        const bool look = seen > edges_a_slice;
        if (look) {
          seen = 0;
          look_at_clock();
        }
        if (tile != nullptr || look) __syncthreads();
        if (look) expired = common.expired;
        if (tile != nullptr)
          for (int p = low + (int)threadIdx.x; p <= top + 1; p += rows)
            *reinterpret_cast<float4 *>(tile + p - low) = *reinterpret_cast<const float4 *>(tour + p);
        if (tile != nullptr || look) __syncthreads();
        const At *const others = tile != nullptr ? tile - low : tour;
        At next = Scan::read(others, top + 1);
        for (int j = top; j >= max(low, i + 2); --j) {
          const At other = Scan::read(others, j);
          const Value delta = row_delta(here, after, other, next);
          if (delta <= best && delta < Value(0)) {
            const RingNumber candidate = number_of(i, j, n);
            if (delta < best || candidate < number) number = candidate;
            best = delta;
          }
          next = other;
        }
      }
      at.column = n - 1 - top;
      if (top < row + 2) {
        at.row = n - row > rows ? row + rows : n;
        at.column = 0;
      }
    }
    const unsigned own = key_of(best);
    if (threadIdx.x == 0) common.number = no_move;
    const unsigned key = block_min(own);
    at.number = key == no_key ? no_move : first_of(warp_min(own == key ? number : no_move), common.number);
    return at.row >= n - 2;
  }
  __device__ static Value row_delta(const At &here, const At &after, const At &other, const At &next) {
    return (Scan::distance(here, other) + (Scan::distance(after, next) - other.edge)) - here.edge;
  }

  // The best move by exact distances, none at a local optimum, as scan_rows(). Only where the float delta is near 0 or
  // below it the exact one is computed: beside that this is a pass of a plain loop.
  __device__ bool scan_exactly(Unfinished &at) {
    const int half = n / 2;
    const Value margin = (Value)all.margin;
    double best = -all.tolerance;
    RingNumber number = no_move;
    if (threadIdx.x == 0 && at.number != no_move) {
      number = at.number;
      int first, second;
      edges_of(number, n, first, second);
      best = exact_delta(first, second);
    }
    for (bool expired = false; at.row <= half - 2 && !expired;) {
      const int reach = 2 + at.row + (int)threadIdx.x;
      const int edges = reach > half ? 0 : n % 2 == 0 && reach == half ? half : n;
      for (; at.column < n && !expired; at.column += edges_a_slice) {
        expired = expired_for_all();
        const int end = min(edges, at.column + edges_a_slice);
        if (at.column >= end) continue;
        int j = at.column + reach < n ? at.column + reach : at.column + reach - n;
        Value d = Scan::distance(tour[at.column], tour[j]);
        for (int edge = at.column; edge < end; ++edge) {
          const Value next = Scan::distance(tour[edge + 1], tour[j + 1]);
          const Value delta = (d + (next - tour[j].edge)) - tour[edge].edge;
          d = next;
          if (delta <= margin) {
            const RingNumber own = ring_number(edge, reach);
            int first, second;
            edges_of(own, n, first, second);
            const double sure = exact_delta(first, second);
            if (sure < best || (sure == best && own < number)) {
              best = sure;
              number = own;
            }
          }
          j = j + 1 < n ? j + 1 : 0;
        }
      }
      if (at.column >= n) {
        at.row += blockDim.x;
        at.column = 0;
      }
    }
    at.number = best_of_all(best, number);
    return at.row > half - 2;
  }

  // The number of the smallest delta, of several the lowest, for all threads.
  __device__ RingNumber best_of_all(double best, RingNumber number) {
    for (int reach = warp_size / 2; reach > 0; reach /= 2) {
      const double delta = __shfl_xor_sync(all_lanes, best, reach);
      const RingNumber other = __shfl_xor_sync(all_lanes, number, reach);
      if (delta < best || (delta == best && other < number)) {
        best = delta;
        number = other;
      }
    }
    if (warps == 1) return number;
    __syncthreads();
    if (lane == 0) {
      common.deltas[warp] = best;
      common.numbers[warp] = number;
    }
    __syncthreads();
    for (int w = 0; w < warps; ++w)
      if (common.deltas[w] < best || (common.deltas[w] == best && common.numbers[w] < number)) {
        best = common.deltas[w];
        number = common.numbers[w];
      }
    __syncthreads();
    return number;
  }

  // Of the tour, in units, for all threads.
  __device__ long long length() {
    if (threadIdx.x == 0) common.sum = 0;
    __syncthreads();
    u64 sum = 0;
    for (int p = threadIdx.x; p < n; p += blockDim.x) sum += (u64)in_units(exact(p, p + 1 < n ? p + 1 : 0), all.scale);
    atomicAdd(&common.sum, sum);
    __syncthreads();
    return (long long)common.sum;
  }

  __device__ void save(int *cities) const {
    for (int p = threadIdx.x; p < n; p += blockDim.x) cities[p] = tour[p].city;
  }
  __device__ void load(const int *cities) {
    for (int p = threadIdx.x; p < n; p += blockDim.x) tour[p].city = cities[p];
  }
  // The cities of the start; false if the launch should end first.
  __device__ bool start(long long climber, Unfinished &at) {
    if (at.started == 0 && climber == 0 && all.given != nullptr) {
      load(all.given);
      at.started = start_steps(n);
    }
    while (at.started < start_steps(n)) {
      const long long end = min(at.started + start_slice, start_steps(n));
      if (threadIdx.x == 0) random_start(at.random, n, at.started, end, [&](int i) -> int & { return tour[i].city; });
      at.started = end;
      if (expired_for_all()) return false;
    }
    return true;
  }
};

}  // namespace warptsp::exhaustive
