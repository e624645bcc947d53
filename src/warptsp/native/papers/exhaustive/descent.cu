// Best-improvement descent on a GPU in double precision: evaluate a neighbourhood, choose the best move, apply it; three
// kernels a pass, and what they found stays on the device.
//
// Where there is a fast pass (descent_fast.cu), it takes the place of the evaluation here. Its best move is applied
// only if the delta in double precision is an improvement; if it is not, an evaluation in double precision decides.
// All of it is compiled without fused products, so that deltas are the CPU's to the last bit.
#include "papers/exhaustive/descent_state.h"

using namespace warptsp;
using namespace warptsp::exhaustive;

#ifndef EXACT_BLOCK
#define EXACT_BLOCK 128  // threads at most
#endif

// Moves [first, last) in double precision; only where the fast pass has failed, if there is one.
template <class Walk>
__global__ void __launch_bounds__(EXACT_BLOCK)
    evaluate_exactly(DescentTour tour, long long first, long long last, int fresh, BestMove *found) {
  if (!tour.is_next(false)) return;
  const long long warps = (long long)gridDim.x * (blockDim.x / 32);
  const long long warp = (long long)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  const long long begin = first + (last - first) * warp / warps, end = first + (last - first) * (warp + 1) / warps;
  BestMove best;
  best.delta = -tour.tolerance;
  long long number = begin + threadIdx.x % 32;
  if (number < end) {
    Walk walk(tour, number);
    for (; number < end; number += 32, walk.advance(tour)) walk.evaluate(tour, best);
  }
  keep_best_of_block(best, fresh, found);
}

// Decides what `apply_move` does, after a fast pass or one in double precision. One block; `candidates` moves from the
// number found on are examined.
template <class Move>
__global__ void choose_move(DescentTour tour, const BestMove *found, int count, int candidates, int fast) {
  DescentState &state = *tour.state;
  const bool is_next = tour.is_next(fast);
  __syncthreads();  // before the state changes
  if (!is_next) {
    if (threadIdx.x == 0) state.applies = 0;
    return;
  }
  __shared__ BestMove bests[32];
  BestMove best;
  for (int i = threadIdx.x; i < count; i += blockDim.x)
    if (found[i].number != ~0ull) best.offer(found[i].delta, found[i].number);
  best = best_of_warp(best);
  if (threadIdx.x % 32 == 0) bests[threadIdx.x / 32] = best;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  best = threadIdx.x < blockDim.x / 32 ? bests[threadIdx.x] : BestMove();
  best = best_of_warp(best);
  const MoveNumber first = best.number;
  best = BestMove();
  best.delta = -tour.tolerance;
  if (first != ~0ull && (int)threadIdx.x < candidates) {
    const MoveNumber number = first + threadIdx.x;
    if (Move::is_move(number, tour.n)) best.offer(Move::of(number, tour.n).delta(tour, tour.edges), number);
  }
  best = best_of_warp(best);
  if (threadIdx.x > 0) return;
  const bool shorter = best.number != ~0ull && best.delta < -tour.tolerance;
  state.applies = shorter;
  if (shorter) {
    state.number = best.number;
    state.gained += best.delta;
    ++state.moves;
  }
  if (shorter || !fast) {
    ++state.passes;
    state.evaluations += (long long)Move::moves(tour.n);
    state.current = shorter ? 0 : tour.own + 1;
  }
  state.status = !shorter && fast                        ? DescentStatus::doubtful
                 : !shorter && state.current > tour.last ? DescentStatus::complete
                                                         : DescentStatus::searching;
}

// The tour after the move: cities, and all that goes with positions. `all`: nothing is in place yet.
template <class Move>
__global__ void apply_move(DescentTour tour, const int *city, int *city_after, int all) {
  const DescentState state = *tour.state;
  const int n = tour.n;
  const Move move = state.applies ? Move::of(state.number, n) : Move{};
  const int begin = state.applies ? move.begin() : 0, end = state.applies ? move.end() : 0;
  const auto city_at = [&](int k) {
    if (k == n) k = 0;
    return city[k >= begin && k < end ? move.source(k) : k];
  };
  for (int k = blockIdx.x * blockDim.x + threadIdx.x; k <= n; k += gridDim.x * blockDim.x) {
    const int own = city_at(k);
    city_after[k] = own;
    if (all || (k >= begin - 1 && k < end) || k == n) tour.place(k, own, city_at(k == n ? 1 : k + 1));
  }
}

// Places of cities after which, and before which, others keep some in swaps (neighborhoods of `swap`).
extern "C" __global__ void limit_swaps(DescentTour tour, const int *city, const int *kept, int kept_count,
                                       const int *before, int before_count, int *position) {
  // One block: three phases over few cities.
  for (int k = threadIdx.x; k < tour.n; k += blockDim.x) {
    position[city[k]] = k;
    tour.earlier[k] = 0;
    tour.later[k] = tour.n;
  }
  __syncthreads();
  for (int p = threadIdx.x; p < before_count; p += blockDim.x) {
    const int a = position[before[2 * p]], b = position[before[2 * p + 1]];
    atomicMin(tour.later + a, b);
    atomicMax(tour.earlier + b, a);
  }
  __syncthreads();
  for (int p = threadIdx.x; p < kept_count; p += blockDim.x) {
    const int k = position[kept[p]];
    tour.later[k] = 0;
    tour.earlier[k] = tour.n;
  }
}
