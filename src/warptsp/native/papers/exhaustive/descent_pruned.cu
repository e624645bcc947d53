// 2-opt passes that skip stretches of the tour between which no move gains (pruned_pairs.h). A warp tests 32 of them at
// once against one, and examines the pairs that are left with a lane for each edge of its own: in single precision and
// two roots a move, and in double precision where that leaves a doubt. So the pass finds the move that the whole pass in
// double precision finds. Compiled without fused products.
#include "papers/exhaustive/descent_state.h"
#include "papers/exhaustive/pruned_pairs.h"

using namespace warptsp;
using namespace warptsp::exhaustive;

// What scaled distances may lack, two roots, the rounding of coordinates, edges and metric together: less than 5 of 2^21.
constexpr float pruning_allowance = 6.0f;

// A warp for each stretch. Begins the pass: nothing is gained yet.
extern "C" __global__ void __launch_bounds__(tile_block)
    measure_stretches(DescentTour tour, Stretch<float> *stretches, unsigned *gain) {
  if (blockIdx.x == 0 && threadIdx.x == 0) *gain = 0;
  const int s = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (s >= stretches_of(tour.n)) return;
  const TilePoint p = tour.points[min(s * stretch_links + lane, tour.n)];
  const TilePoint next = tour.points[min(s * stretch_links + lane + 1, tour.n)];
  Stretch<float> own{fminf(p.x, next.x), fmaxf(p.x, next.x), fminf(p.y, next.y), fmaxf(p.y, next.y), (float)p.edge};
  for (int reach = 16; reach; reach /= 2) {
    own.low_x = fminf(own.low_x, __shfl_xor_sync(0xffffffffu, own.low_x, reach));
    own.high_x = fmaxf(own.high_x, __shfl_xor_sync(0xffffffffu, own.high_x, reach));
    own.low_y = fminf(own.low_y, __shfl_xor_sync(0xffffffffu, own.low_y, reach));
    own.high_y = fmaxf(own.high_y, __shfl_xor_sync(0xffffffffu, own.high_y, reach));
    own.edge = fmaxf(own.edge, __shfl_xor_sync(0xffffffffu, own.edge, reach));
  }
  if (lane == 0) stretches[s] = own;
}

// Units [first, last) of a pass: unit s u + k is stretch s against the k-th `of_unit` from stretch s on, u such units.
// `gain` is the largest one so far, scaled, of the whole grid; `evaluated` counts moves.
extern "C" __global__ void __launch_bounds__(tile_block)
    evaluate_pruned(DescentTour tour, const Stretch<float> *stretches, long long first, long long last, int of_unit,
                    int fresh, BestMove *found, unsigned *gain, unsigned long long *evaluated) {
  if (!tour.is_next(true)) return;
  const int n = tour.n, count = stretches_of(n), lane = threadIdx.x % 32;
  const int units = (count + of_unit - 1) / of_unit;
  const long long warps = (long long)gridDim.x * (blockDim.x / 32);
  const PruningRule<float> rule{1.0f, pruning_allowance / 2};
  BestMove best;
  best.delta = -tour.tolerance;
  unsigned long long compared = 0;
  for (long long unit = first + (long long)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32; unit < last;
       unit += warps) {
    const int own = (int)(unit / units), begin_group = own + (int)(unit % units) * of_unit;
    if (begin_group >= count) continue;
    const Stretch<float> mine = stretches[own];
    const int i = own * stretch_links + lane;
    const TilePoint a = tour.points[min(i, n)], b = tour.points[min(i + 1, n)];
    float below = -__uint_as_float(*(volatile unsigned *)gain);
    for (int group = begin_group; group < min(begin_group + of_unit, count); group += 32) {
      bool kept = group + lane < count;
      if (kept) {
        const Stretch<float> other = stretches[group + lane];
        kept = !rule.skips(mine.square_to(other), mine.edge + other.edge, below);
      }
      unsigned left = __ballot_sync(0xffffffffu, kept);
      if (left != 0) below = -__uint_as_float(*(volatile unsigned *)gain);
      for (; left; left &= left - 1) {
        const int begin = (group + __ffs((int)left) - 1) * stretch_links, end = min(begin + stretch_links, n);
        const float limit = fminf(below, (float)(best.delta * tour.edge_scale)) + pruning_allowance;
        TilePoint c = tour.points[begin];
        bool better = false;
        for (int j = begin; j < end; ++j) {
          const TilePoint d = tour.points[j + 1];
          const float ac_x = a.x - c.x, ac_y = a.y - c.y, bd_x = b.x - d.x, bd_y = b.y - d.y;
          const float delta = approximate_root(fmaf(ac_x, ac_x, ac_y * ac_y)) +
                              approximate_root(fmaf(bd_x, bd_x, bd_y * bd_y)) - (float)(a.edge + c.edge);
          if (delta <= limit && i < j) {
            const Pair pair{i, j};
            better |= best.offer(TwoOpt{pair}.delta(tour, tour.edges), number_of(pair));
          }
          c = d;
        }
        if (better) atomicMax(gain, __float_as_uint(__double2float_rd(-best.delta * tour.edge_scale)));
        const int rows = min(stretch_links, n - own * stretch_links), columns = end - begin;
        compared += begin > own * stretch_links ? rows * columns : rows * (rows - 1) / 2;
      }
    }
  }
  if (lane == 0) atomicAdd(evaluated, compared);
  keep_best_of_block(best, fresh, found);
}
