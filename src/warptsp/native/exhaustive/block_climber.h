// A climber that is a block's work: how its threads find the best move, and make it (document 002). For the device
// compiler alone.
#pragma once
#include "cuda/blocks.h"
#include "exhaustive/climber.h"
#include "exhaustive/climber_moves.h"
#include "exhaustive/ring_scan.h"

namespace warptsp::exhaustive {

// What the climbers share, and where they leave what they find. backends/cuda/records.py has the same fields.
template <class At>
struct ClimbTask {
  const double *points;                   // (n, 2), for exact distances
  const float2 *near;                     // relative to the centre
  const int *given;                       // start of climber 0, or null
  u64 *next;                              // number of the next climber
  long long *climber;                     // that each block is at between launches, -1: none
  int *tours;                             // and its tour
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
  unsigned number;
  int expired, shorter;
  long long climber;
  u64 sum;
};

__device__ __forceinline__ unsigned warp_min(unsigned v) {
#if __CUDA_ARCH__ >= 800
  return __reduce_min_sync(all_lanes, v);
#else
  for (int reach = warp_size / 2; reach > 0; reach /= 2) v = min(v, __shfl_xor_sync(all_lanes, v, reach));
  return v;
#endif
}

// The smaller a negative delta, the smaller its key; those that are not negative come last.
__device__ __forceinline__ unsigned key_of(int delta) { return delta < 0 ? (unsigned)delta & 0x7fffffffu : no_move; }
__device__ __forceinline__ unsigned key_of(float delta) {
  return delta < 0.0f ? ~(unsigned)__float_as_int(delta) : no_move;
}

template <class Scan>
struct Climber {
  typedef typename Scan::Value Value;
  typedef typename Scan::Place At;
  const ClimbTask<At> &all;
  At *tour;
  ClimberCommon &common;
  const int n, past, lane, warp, warps;

  __device__ Climber(const ClimbTask<At> &all, At *tour, ClimberCommon &common, int past)
      : all(all), tour(tour), common(common), n(all.n), past(past), lane(threadIdx.x % warp_size),
        warp(threadIdx.x / warp_size), warps(blockDim.x / warp_size) {}

  // For all threads; no thread writes `words` before all have come here.
  __device__ unsigned block_min(unsigned v) {
    v = warp_min(v);
    if (warps == 1) return v;
    if (lane == 0) common.words[warp] = v;
    __syncthreads();
    return warp_min(lane < warps ? common.words[lane] : no_move);
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

  __device__ void edges_of(unsigned number, int &first, int &second) const {
    const int edge = ring_edge(number), other = edge + ring_reach(number);
    first = other < n ? edge : other - n;
    second = other < n ? other : edge;
  }

  __device__ void apply(unsigned number) {
    int first, second;
    edges_of(number, first, second);
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
  __device__ bool shortens(unsigned number) {
    if (warp == 0) common.shorter = does_shorten(number);
    __syncthreads();
    return common.shorter;
  }
  __device__ bool does_shorten(unsigned number) const {
    int first, second;
    edges_of(number, first, second);
    const int after = second + 1 < n ? second + 1 : 0;
    const int p = lane == 1 ? first + 1 : lane == 3 ? second : first;
    const int q = lane == 0 ? second : lane == 2 ? first + 1 : after;
    const double d = lane < 4 ? exact(p, q) : 0.0;
    const double added = __shfl_sync(all_lanes, d, 0) + __shfl_sync(all_lanes, d, 1);
    return added - __shfl_sync(all_lanes, d, 2) - __shfl_sync(all_lanes, d, 3) < -all.tolerance;
  }

  // The best move by float distances, for all threads.
  template <int R>
  __device__ unsigned scan_strips() {
    const RingShares shares = all.shares;
    Value best = 0;
    int where = 0, reach = 2;
    for (int share = threadIdx.x; shares.has(share); share += blockDim.x) {
      const Value before = best;
      Scan::template along<R>(tour, n, shares.reach<R>(share), shares.edge(share), shares.steps, best, where);
      if (best < before) reach = shares.reach<R>(share);
    }
    if (threadIdx.x == 0) common.number = no_move;
    const unsigned own = key_of(best), key = block_min(own);
    if (key == no_move) return no_move;
    // Those who have a move as good go through the round again in which they found it, for the first one. Only who began
    // that round before all others in the warp, or nearly so, can have it.
    unsigned candidates = __ballot_sync(all_lanes, own == key);
    unsigned number = no_move;
    if (candidates != 0) {
      const int earliest = (int)warp_min(own == key ? (unsigned)where : no_move);
      candidates = __ballot_sync(all_lanes, own == key && where < earliest + R);
      for (; candidates != 0; candidates &= candidates - 1) {
        const int from = __ffs((int)candidates) - 1;
        const int edge = __shfl_sync(all_lanes, where, from), first = __shfl_sync(all_lanes, reach, from);
        for (int m = lane; m < R * R; m += warp_size)
          if (key_of(Scan::delta(tour, n, edge + m / R, first + m % R)) == key)
            number = min(number, ring_number(edge + m / R, first + m % R));
      }
      number = warp_min(number);
    }
    return first_of(number);
  }

  // The lowest number of all warps.
  __device__ unsigned first_of(unsigned number) {
    if (warps == 1) {
      __syncwarp();
      return number;
    }
    if (lane == 0 && number != no_move) atomicMin(&common.number, number);
    __syncthreads();
    return common.number;
  }

  // The number of the move that takes out edges i and j, i + 2 <= j < n.
  __device__ unsigned number_of(int i, int j) const {
    return 2 * (j - i) <= n ? ring_number(i, j - i) : ring_number(j, n - (j - i));
  }

  // As the document's listing 4; without tiles as its listing 3.
  __device__ unsigned scan_rows(At *tile) {
    unsigned number = no_move;
    Value best = 0;
    const int rows = blockDim.x;
    for (int row = 0; row < n - 2; row += rows) {
      const int i = row + (int)threadIdx.x;
      const At here = tour[min(i, n - 2)], after = tour[min(i + 1, n - 1)];
      for (int top = n - 1; top >= row + 2; top -= rows) {
        const int low = tile == nullptr ? row + 2 : max(top - rows + 1, row + 2);
        if (tile != nullptr) {
          __syncthreads();
          for (int p = low + (int)threadIdx.x; p <= top + 1; p += rows)
            *reinterpret_cast<float4 *>(tile + p - low) = *reinterpret_cast<const float4 *>(tour + p);
          __syncthreads();
        }
        const At *const others = tile != nullptr ? tile - low : tour;
        At next = Scan::read(others, top + 1);
        for (int j = top; j >= max(low, i + 2); --j) {
          const At other = Scan::read(others, j);
          const Value delta = (Scan::distance(here, other) + (Scan::distance(after, next) - other.edge)) - here.edge;
          if (delta <= best && delta < Value(0)) {
            const unsigned candidate = number_of(i, j);
            if (delta < best || candidate < number) number = candidate;
            best = delta;
          }
          next = other;
        }
        if (tile == nullptr) break;
      }
    }
    const unsigned own = key_of(best);
    if (threadIdx.x == 0) common.number = no_move;
    const unsigned key = block_min(own);
    if (key == no_move) return no_move;
    return first_of(warp_min(own == key ? number : no_move));
  }

  // The best move by exact distances, no_move at a local optimum. Only where the float delta is near 0 or below it the
  // exact one is computed: beside that this is a pass of a plain loop.
  __device__ unsigned scan_exactly() {
    const int half = n / 2;
    const Value margin = (Value)all.margin;
    double best = -all.tolerance;
    unsigned number = no_move;
    for (int reach = 2 + (int)threadIdx.x; reach <= half; reach += blockDim.x) {
      const int edges = n % 2 == 0 && reach == half ? half : n;
      int j = reach;
      Value d = Scan::distance(tour[0], tour[j]);
      for (int edge = 0; edge < edges; ++edge) {
        const Value next = Scan::distance(tour[edge + 1], tour[j + 1]);
        const Value delta = (d + (next - tour[j].edge)) - tour[edge].edge;
        d = next;
        if (delta <= margin) {
          const unsigned own = ring_number(edge, reach);
          int first, second;
          edges_of(own, first, second);
          const double sure = exact_delta(first, second);
          if (sure < best || (sure == best && own < number)) {
            best = sure;
            number = own;
          }
        }
        j = j + 1 < n ? j + 1 : 0;
      }
    }
    for (int reach = warp_size / 2; reach > 0; reach /= 2) {
      const double delta = __shfl_xor_sync(all_lanes, best, reach);
      const unsigned other = __shfl_xor_sync(all_lanes, number, reach);
      if (delta < best || (delta == best && other < number)) {
        best = delta;
        number = other;
      }
    }
    if (warps == 1) return number;
    __syncthreads();
    if (lane == 0) {
      common.deltas[warp] = best;
      common.words[warp] = number;
    }
    __syncthreads();
    for (int w = 0; w < warps; ++w)
      if (common.deltas[w] < best || (common.deltas[w] == best && common.words[w] < number)) {
        best = common.deltas[w];
        number = common.words[w];
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
  __device__ void start(long long climber) {
    if (climber == 0 && all.given != nullptr)
      load(all.given);
    else if (threadIdx.x == 0)
      random_start(all.seed, (u64)climber, n, [&](int i) -> int & { return tour[i].city; });
  }
};

}  // namespace warptsp::exhaustive
