// A tour on a GPU that an exhaustive descent shortens, and how far it is. For the device compiler alone.
#pragma once
#include "papers/exhaustive/neighborhoods.h"
#include "papers/exhaustive/two_opt_squares.h"

namespace warptsp::exhaustive {

constexpr int tile_block = 128, tile_rows_of_lane = 16;

// Where squares come from the matrix unit: distances rounded to nearest, on the one chip on which it was measured.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 900
constexpr bool has_fast_squares = true;
#else
constexpr bool has_fast_squares = false;
#endif

enum class DescentStatus : int {
  searching = 0,
  doubtful = 1,  // the fast pass found nothing that holds in double precision
  complete = 2,
};

struct DescentState {
  long long passes, moves, evaluations;
  double gained;      // sum of the moves' deltas
  MoveNumber number;  // the move that is applied next
  DescentStatus status;
  int applies;  // whether one is
  int current;  // which of several neighbourhoods is passed over next
};

struct DescentTour {
  int n;
  MetricKind kind;
  int stride;  // of rows
  int has_fast_pass;
  int own, last;          // this neighbourhood, and the last one of those that are passed over in turn
  const double *rows;     // coordinates by city, or null
  const int *int_matrix;  // distances by city, or null
  const double *real_matrix;
  const int *fixed;   // (n, 2) the other ends of a city's fixed edges, or -1; null if there are none
  double *placed;     // rows by position, 0 .. n
  int *placed_city;   // cities by position, 0 .. n, where there is a matrix
  double *edges;      // by position, 0 .. n
  TilePoint *points;  // by position, 0 .. n, for passes in single precision, or null
  double *columns;    // by position, 0 .. n, four numbers each (two_opt_squares.h), or null
  double middle_x, middle_y, scale, edge_scale;  // of the points
  double tolerance;
  long long limit;       // of passes
  int *earlier, *later;  // limits of swaps by position (exhaustive_passes.h), or null
  DescentState *state;

  // Whether this neighbourhood's pass is next, the fast one or that in double precision.
  __device__ bool is_next(bool fast) const {
    return state->current == own && state->passes < limit &&
           state->status == (has_fast_pass && !fast ? DescentStatus::doubtful : DescentStatus::searching);
  }
  // Of two positions.
  __device__ double operator()(int p, int q) const {
    if (rows) return of_rows(placed + (long long)stride * p, placed + (long long)stride * q);
    return of_cities(placed_city[p], placed_city[q]);
  }
  __device__ double of_cities(int a, int b) const {
    if (rows) return of_rows(rows + (long long)stride * a, rows + (long long)stride * b);
    const long long at = (long long)a * n + b;
    return int_matrix ? (double)int_matrix[at] : real_matrix[at];
  }
  // The row of NaN is that of the dummy city.
  __device__ double of_rows(const double *a, const double *b) const {
    const double d = coordinate_distance(kind, a, b);
    return d == d ? d : 0.0;
  }
  __device__ bool is_fixed(int a, int b) const {
    return fixed && (fixed[2 * (long long)a] == b || fixed[2 * (long long)a + 1] == b);
  }
  __device__ void place(int k, int city, int next) const {
    const double edge = is_fixed(city, next) ? -1e300 : of_cities(city, next);  // shorter than any gain
    edges[k] = edge;
    if (!rows) {
      placed_city[k] = city;
      return;
    }
    for (int i = 0; i < stride; ++i) placed[(long long)stride * k + i] = rows[(long long)stride * city + i];
    if (!points) return;
    const double *const row = rows + (long long)stride * city;
    const double x = (row[0] - middle_x) * scale, y = (row[1] - middle_y) * scale;
    const int rounded = (int)rint(edge * edge_scale);
    points[k] = TilePoint{(float)x, (float)y, rounded, removed_of(k < n ? rounded : no_edge, k)};
    if (!columns) return;
    double *const numbers = columns + 4LL * k;
    numbers[0] = x;
    numbers[1] = y;
    numbers[2] = 1.0;
    numbers[3] = x * x + y * y;
  }
};

__device__ inline BestMove best_of_warp(BestMove best) {
  for (int reach = 16; reach; reach /= 2) {
    BestMove other;
    other.delta = __shfl_xor_sync(0xffffffffu, best.delta, reach);
    other.number = __shfl_xor_sync(0xffffffffu, best.number, reach);
    best.offer(other.delta, other.number);
  }
  return best;
}

// The best of the block, joined with what it had found before unless this is a fresh pass.
__device__ inline void keep_best_of_block(BestMove best, bool fresh, BestMove *found) {
  __shared__ BestMove bests[32];
  best = best_of_warp(best);
  if (threadIdx.x % 32 == 0) bests[threadIdx.x / 32] = best;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < (int)blockDim.x / 32; ++w) best.offer(bests[w].delta, bests[w].number);
    if (!fresh) best.offer(found[blockIdx.x].delta, found[blockIdx.x].number);
    found[blockIdx.x] = best;
  }
}

// The moves of one lane, 32 numbers apart: the first one by its number, the rest by counting.
struct PairWalk {
  typedef TwoOpt Move;
  Pair at;
  __device__ PairWalk(const DescentTour &, long long number) : at(pair_of((MoveNumber)number)) {}
  __device__ void advance(const DescentTour &) {
    for (at.i += 32; at.i >= at.j; ++at.j) at.i -= at.j;
  }
  __device__ void evaluate(const DescentTour &tour, BestMove &best) const {
    best.offer(TwoOpt{at}.delta(tour, tour.edges), number_of(at));
  }
};

struct TripleWalk {
  typedef ThreeOpt Move;
  Triple at;
  __device__ TripleWalk(const DescentTour &, long long number) : at(triple_of((MoveNumber)number)) {}
  __device__ void advance(const DescentTour &) {
    at.i += 32;
    while (at.i >= at.j) {
      at.i -= at.j;
      if (++at.j == at.k) {
        at.j = 1;
        ++at.k;
      }
    }
  }
  __device__ void evaluate(const DescentTour &tour, BestMove &best) const {
    const MoveNumber first = 4 * number_of(at);
    for (int kind = 0; kind < 4; ++kind) best.offer(ThreeOpt{at, kind}.delta(tour, tour.edges), first + kind);
  }
};

struct SwapWalk {
  typedef Swap Move;
  long long number;
  __device__ SwapWalk(const DescentTour &, long long first) : number(first) {}
  __device__ void advance(const DescentTour &) { number += 32; }
  __device__ void evaluate(const DescentTour &tour, BestMove &best) const {
    const Pair p = swap_of((MoveNumber)number, tour.n);
    if (tour.later && !(p.j < tour.later[p.i] && tour.earlier[p.j] < p.i)) return;
    const Swap swap{p.i, p.j, tour.n};
    best.offer(swap.delta(tour, tour.edges), swap.number());
  }
};

struct RelocateWalk {
  typedef Relocate Move;
  Relocation at;
  double gap;  // what closes it behind the city
  __device__ RelocateWalk(const DescentTour &tour, long long number) : at(relocation_of((MoveNumber)number, tour.n)) {
    gap = Relocate{at, tour.n}.gap(tour);
  }
  __device__ void advance(const DescentTour &tour) {
    at.over += 32;
    if (at.over <= tour.n - 3) return;
    for (; at.over > tour.n - 3; ++at.position) at.over -= tour.n - 3;
    if (at.position < tour.n) gap = Relocate{at, tour.n}.gap(tour);
  }
  __device__ void evaluate(const DescentTour &tour, BestMove &best) const {
    best.offer(Relocate{at, tour.n}.delta(tour, tour.edges, gap), number_of(at, tour.n));
  }
};

}  // namespace warptsp::exhaustive
