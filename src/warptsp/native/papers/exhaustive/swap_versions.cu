// Best-improvement swaps as the versions 1 to 8 of a tutorial find them (A. R. Brodtkorb, T. R. Hagen, C. Schulz and
// G. Hasle, 2013), one change a version, for studies: a thread evaluates its share of the moves and writes the best of
// them down, and one block finds the best of these. Cities are looked up through the tour, and all edges are computed.
// descent.cu is several times as fast.
#include "papers/exhaustive/descent_state.h"

using namespace warptsp;
using namespace warptsp::exhaustive;

constexpr int reduction_threads = 512;

template <int Version>
struct Lessons {
  static constexpr bool neighbors_together = Version >= 4;  // neighbouring threads take neighbouring moves
  static constexpr bool results_together = Version >= 5;    // and neighbouring results
  static constexpr bool unrolled = Version >= 6;
  static constexpr bool stable_root = Version == 7;
  static constexpr bool folded = Version >= 8;  // the triangle of moves as a rectangle
};

// One after the other, or its share at a stretch: numbers begin, begin + step, ... below end.
struct Share {
  MoveNumber begin, end, step;
  __device__ Share(MoveNumber all, MoveNumber members, MoveNumber member, bool together) {
    const MoveNumber share = (all + members - 1) / members;
    begin = together ? member : member * share;
    end = together || begin + share > all ? all : begin + share;
    step = together ? members : 1;
  }
};

struct LookedUp {
  const DescentTour &tour;
  const int *city;
  __device__ int at(int position) const { return city[position == tour.n ? 0 : position]; }
  __device__ double operator()(int p, int q) const { return tour.of_cities(at(p), at(q)); }
  __device__ double operator[](int edge) const {
    const int a = at(edge), b = at(edge + 1);
    return tour.is_fixed(a, b) ? -1e300 : tour.of_cities(a, b);
  }
};

template <int Version>
__global__ void evaluate_version(DescentTour tour, const int *city, BestMove *found) {
  if (!tour.is_next(false)) return;
  typedef Lessons<Version> Lesson;
  const MoveNumber threads = (MoveNumber)gridDim.x * blockDim.x;
  const MoveNumber thread = (MoveNumber)blockIdx.x * blockDim.x + threadIdx.x;
  const Share share(Swap::moves(tour.n), threads, thread, Lesson::neighbors_together);
  const LookedUp distance{tour, city};
  BestMove best;
  best.delta = -tour.tolerance;
  for (MoveNumber number = share.begin; number < share.end; number += share.step) {
    const Pair p = Lesson::folded ? swap_of(number, tour.n) : swap_by_root<Lesson::stable_root>(number, tour.n);
    if (tour.later && !(p.j < tour.later[p.i] && tour.earlier[p.j] < p.i)) continue;
    const Swap swap{p.i, p.j, tour.n};
    best.offer(swap.delta(distance, distance), swap.number());
  }
  found[thread] = best;
}

template <int Version>
__global__ void __launch_bounds__(reduction_threads)
    reduce_version(DescentTour tour, const BestMove *found, int count, BestMove *result) {
  if (!tour.is_next(false)) return;
  typedef Lessons<Version> Lesson;
  __shared__ BestMove bests[reduction_threads];
  const Share share(count, blockDim.x, threadIdx.x, Lesson::results_together);
  BestMove best;
  for (MoveNumber k = share.begin; k < share.end; k += share.step)
    if (found[k].number != ~0ull) best.offer(found[k].delta, found[k].number);
  bests[threadIdx.x] = best;
  const auto halve = [&](int reach) {
    __syncthreads();
    if ((int)threadIdx.x < reach)
      bests[threadIdx.x].offer(bests[threadIdx.x + reach].delta, bests[threadIdx.x + reach].number);
  };
  if (Lesson::unrolled) {
    WARPTSP_UNROLL
    for (int reach = reduction_threads / 2; reach >= 32; reach /= 2) halve(reach);
    __syncthreads();
    if (threadIdx.x < 32) best = best_of_warp(bests[threadIdx.x]);
  } else {
    for (int reach = blockDim.x / 2; reach > 0; reach /= 2) halve(reach);
    best = bests[threadIdx.x];
  }
  if (threadIdx.x == 0) *result = best;
}
