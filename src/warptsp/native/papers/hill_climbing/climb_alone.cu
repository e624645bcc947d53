// Random-restart 2-opt (document 002): a climber a thread, as earlier codes had it; for comparison, and for matrices.
// CLIMB_ROUNDING is that of distances computed for the scan (ring_scan.h), 0 or 1 with a matrix of floats or integers.
//
//   SharedMatrix, GlobalMatrix  all distances computed before, in shared or global memory
//   ReadOnlyMatrix              in global memory, and loaded through the cache for what no kernel writes
//   Computed                    from coordinates in the order of the tour
//
// What a thread has lies interleaved with what others have, as local memory does: position p of thread t at p * threads
// + t.
#include "papers/hill_climbing/climber.h"
#include "papers/hill_climbing/climber_moves.h"
#include "papers/hill_climbing/ring_scan.h"

using namespace warptsp;
using namespace warptsp::exhaustive;

typedef RingScan<(Rounding)CLIMB_ROUNDING> Scan;
typedef Scan::Value Value;

// backends/cuda/records.py has the same fields.
struct Lonely {
  const double *points;    // (n, 2) for exact distances of the plane, or null
  const double *exact;     // else a matrix of exact distances, or null
  const Value *distances;  // matrix for the scan, exact if there is nothing else; null for coordinates
  const float2 *near;      // coordinates relative to the centre
  const int *given;        // start of climber 0, or null
  u64 *next;               // number of the next climber
  long long *climber;      // of each thread between launches, -1: none
  int *city;               // its tour
  float2 *place;           // and its coordinates
  Unfinished *unfinished;  // how far that is,
  double *best;            // and the delta of the move that it has found
  long long *lengths;      // of the local optima of this launch, in units
  unsigned *ended;
  long long *best_length, *best_climber;  // of all; -1: none
  int *best_tour;
  unsigned *lock;  // of these three
  u64 *passes, *moves;
  u64 seed, limit;   // climbers below `limit` are started
  long long cycles;  // of the clock, after which a launch ends
  double tolerance, scale;
  double margin;  // what float and exact deltas differ by at most
  int n, kind, threads;
};

namespace {

template <bool read_only>
struct FromMatrix {
  typedef int Spot;
  const Lonely &all;
  const Value *matrix;
  const int thread;
  __device__ Spot at(int p) const { return all.city[(long long)p * all.threads + thread]; }
  __device__ Value distance(Spot a, Spot b) const {
    const Value *const entry = matrix + (long long)a * all.n + b;
    return read_only ? __ldg(entry) : *entry;
  }
};
struct FromPlaces {
  typedef float2 Spot;
  const Lonely &all;
  const Value *matrix;  // none
  const int thread;
  __device__ Spot at(int p) const { return all.place[(long long)p * all.threads + thread]; }
  __device__ Value distance(Spot a, Spot b) const { return Scan::distance(b.x - a.x, b.y - a.y); }
};

constexpr int slice = 1 << 12;  // of cities, between two looks at the clock: a millisecond or so

template <class Source>
struct Loner {
  typedef typename Source::Spot Spot;
  const Lonely &all;
  const Source &source;
  const int thread, n;

  __device__ int &city(int p) { return all.city[(long long)p * all.threads + thread]; }
  __device__ double exact(int p, int q) {
    const long long a = city(p), b = city(q);
    if (all.points != nullptr) return exact_distance(all.kind, all.points + 2 * a, all.points + 2 * b);
    return all.exact != nullptr ? all.exact[a * n + b] : (double)all.distances[a * n + b];
  }
  __device__ double exact_delta(int first, int second) {
    const int after = second + 1 < n ? second + 1 : 0;
    const double added = exact(first, second) + exact(first + 1, after);
    return added - exact(first, first + 1) - exact(second, after);
  }

  __device__ void place(int p) {
    if (all.place != nullptr) all.place[(long long)p * all.threads + thread] = all.near[city(p)];
  }
  // A slice of the start, whose last n steps are the coordinates; returns the next step.
  __device__ bool has_started(long long done) const { return done >= start_steps(n) + n; }
  __device__ long long start(long long climber, Random &random, long long done) {
    const long long shuffled = start_steps(n), end = min(done + slice, shuffled + n);
    if (climber == 0 && all.given != nullptr) {
      for (; done < n && done < end; ++done) city((int)done) = all.given[done];
      done = max(done, min(end, shuffled));
    } else {
      done = max(done, random_start(random, n, done, end, [&](int p) -> int & { return city(p); }));
    }
    for (; done < end; ++done) place((int)(done - shuffled));
    return done;
  }

  // A slice of a move, from the column-th pair of cities on; returns the next one, -1 after the last.
  __device__ int apply(RingNumber number, int column) {
    int first, second;
    edges_of(number, n, first, second);
    int i = first + 1 + column, j = second - column;
    for (const int end = i + slice; i < end; ++i, --j) {
      if (i >= j) return -1;
      const int c = city(i);
      city(i) = city(j);
      city(j) = c;
      place(i);
      place(j);
    }
    return i - first - 1;
  }

  // A slice of the moves that take out edge i and one from i + 2 + column on, as the document's listing 2; returns the
  // next column, -1 after the last.
  __device__ int scan(int i, int column, bool sure, double &best, RingNumber &found) {
    const Spot here = source.at(i), after = source.at(i + 1);
    const Value edge = source.distance(here, after);
    const double margin = all.margin;
    Value least = sure ? (Value)margin : (Value)best;  // deltas are float, or integers: nothing is lost
    const int begin = i + 2 + column, end = n - begin > slice ? begin + slice : n;
    Spot other = source.at(begin);
    for (int j = begin; j < end; ++j) {
      const Spot next = source.at(j + 1 < n ? j + 1 : 0);
      const Value delta =
          (source.distance(here, other) + (source.distance(after, next) - source.distance(other, next))) - edge;
      other = next;
      if (delta > least) continue;
      const RingNumber number = number_of(i, j, n);
      if (!sure) {
        if (delta < Value(0) && (delta < least || number < found)) {
          least = delta;
          best = (double)delta;
          found = number;
        }
        continue;
      }
      int first, second;
      edges_of(number, n, first, second);
      const double exactly = exact_delta(first, second);
      if (exactly < best || (exactly == best && number < found)) {
        best = exactly;
        found = number;
      }
    }
    return end < n ? column + slice : -1;
  }

  __device__ void report(long long climber) {
    u64 sum = 0;
    for (int p = 0; p < n; ++p) sum += (u64)in_units(exact(p, p + 1 < n ? p + 1 : 0), all.scale);
    const long long length = (long long)sum;
    all.lengths[atomicAdd(all.ended, 1u)] = length;
    volatile long long *const shortest = all.best_length, *const whose = all.best_climber;
    // The first optima come at the same time, a quarter of a million of them on an H200: who would only find a better
    // one behind the lock must not wait for it. Each waited 75 us, 19 s in all. The climber is written before the length,
    // so that the two that are read here are of one climber, or of lengths that have been beaten since.
    const auto beaten = [&] {
      const long long best = *shortest;
      __threadfence();
      return best >= 0 && (best < length || (best == length && *whose < climber));
    };
    while (!beaten()) {
      if (atomicCAS(all.lock, 0u, 1u) != 0u) continue;
      __threadfence();
      if (!beaten()) {
        *whose = climber;
        for (int p = 0; p < n; ++p) ((volatile int *)all.best_tour)[p] = city(p);
        __threadfence();
        *shortest = length;
      }
      __threadfence();
      atomicExch(all.lock, 0u);
      return;
    }
  }
};

}  // namespace

template <class From, bool shared>
struct DistancesFrom {
  typedef From Source;
  static constexpr bool in_shared = shared;
};
typedef DistancesFrom<FromMatrix<false>, true> SharedMatrix;
typedef DistancesFrom<FromMatrix<false>, false> GlobalMatrix;
typedef DistancesFrom<FromMatrix<true>, false> ReadOnlyMatrix;
typedef DistancesFrom<FromPlaces, false> Computed;

template <class Version>
__global__ void __launch_bounds__(1024) climb_alone(Lonely all) {
  extern __shared__ Value matrix[];
  const long long begun = clock64();
  const int n = all.n, thread = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (Version::in_shared) {
    for (int k = threadIdx.x; k < n * n; k += blockDim.x) matrix[k] = all.distances[k];
    __syncthreads();
  }
  const typename Version::Source source{all, Version::in_shared ? matrix : all.distances, thread};
  Loner<typename Version::Source> loner{all, source, thread, n};
  long long number = all.climber[thread];
  Unfinished at = all.unfinished[thread];
  double best = all.best[thread];
  u64 passes = 0, moves = 0;
  const auto begin_pass = [&](bool exactly) {
    at.row = at.column = 0;
    at.sure = exactly;
    best = exactly ? -all.tolerance : 0.0;
    at.number = no_move;
  };
  const auto late = [&] { return clock64() - begun > all.cycles; };
  for (;;) {
    if (number < 0) {
      const u64 next = atomicAdd(all.next, 1ull);
      if (next >= all.limit) break;
      number = (long long)next;
      at.random = start_numbers(all.seed, next);
      at.started = 0;
      begin_pass(false);
    }
    while (!loner.has_started(at.started)) {
      at.started = loner.start(number, at.random, at.started);
      if (late()) break;
    }
    if (!loner.has_started(at.started)) break;
    // The threads of a warp come to the end of a pass together, as their tours are equally long.
    while (at.row < n - 2) {
      at.column = loner.scan(at.row, at.column, at.sure, best, at.number);
      if (at.column < 0) {
        at.column = 0;
        ++at.row;
      }
      if (late()) break;
    }
    if (at.row < n - 2) break;
    if (at.row < n) {
      ++passes;
      if (at.number != no_move && !at.sure) {
        int first, second;
        edges_of(at.number, n, first, second);
        if (!(loner.exact_delta(first, second) < -all.tolerance)) at.number = no_move;
      }
      if (at.number != no_move) {
        at.row = n;
      } else if (!at.sure) {
        begin_pass(true);
      } else {
        loner.report(number);
        number = -1;
        continue;
      }
    }
    if (at.row == n) {
      while (at.column >= 0) {
        at.column = loner.apply(at.number, at.column);
        if (late()) break;
      }
      if (at.column >= 0) break;
      ++moves;
      begin_pass(false);
    }
    if (late()) break;
  }
  all.climber[thread] = number;
  all.unfinished[thread] = at;
  all.best[thread] = best;
  atomicAdd(all.passes, passes);
  atomicAdd(all.moves, moves);
}

// The tour of a thread that has not ended.
__global__ void tour_of(Lonely all, int thread, int *tour) {
  for (int p = blockIdx.x * blockDim.x + threadIdx.x; p < all.n; p += gridDim.x * blockDim.x)
    tour[p] = all.city[(long long)p * all.threads + thread];
}
