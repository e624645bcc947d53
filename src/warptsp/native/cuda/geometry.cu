// Set-up of a search in the plane or in space: numbering along a curve, trees, the greedy tour, lengths; and what these are made of,
// sorting, scanning and list ranking. The bodies are in headers that the host compiles, too.
#include "blocks.h"
#include "tours/greedy_rounds.h"
#include "space/hilbert.h"
#include "space/point_tree.h"
#include "tours/tour_ranking.h"

using namespace warptsp;
using namespace warptsp::space;
using namespace warptsp::tours;

constexpr int threads = 256;  // of a block, where its threads work together

// Scans and sums: a tile of values for each block.

constexpr int scan_items = 8, scan_tile = threads * scan_items;

template <class T>
__global__ void __launch_bounds__(threads) sum_tiles(const T *values, int n, T *sums) {
  const long long begin = (long long)blockIdx.x * scan_tile;
  T sum = 0;
  for (int k = 0; k < scan_items; ++k) {
    const long long i = begin + k * threads + threadIdx.x;
    if (i < n) sum += values[i];
  }
  sum = block_sum<threads>(sum);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

// Exclusive; `offsets` of the tiles, or null if there is one tile, whose sum then goes to `total`.
template <class T>
__global__ void __launch_bounds__(threads) scan_tiles(const T *values, int n, const T *offsets, T *scanned, T *total) {
  const long long begin = (long long)blockIdx.x * scan_tile + (long long)threadIdx.x * scan_items;
  T value[scan_items], sum = 0, all = 0;
  for (int k = 0; k < scan_items; ++k) {
    value[k] = begin + k < n ? values[begin + k] : 0;
    sum += value[k];
  }
  T before = block_scan<threads>(sum, all);
  if (offsets != nullptr) before += offsets[blockIdx.x];
  for (int k = 0; k < scan_items; ++k) {
    if (begin + k < n) scanned[begin + k] = before;
    before += value[k];
  }
  if (offsets == nullptr && threadIdx.x == 0) *total = all;
}

// One block; the values of one thread are added in order, and then those of the threads.
template <class T>
__global__ void __launch_bounds__(threads) sum_all(const T *values, int n, T *sum) {
  T own = 0;
  for (int i = threadIdx.x; i < n; i += threads) own += values[i];
  own = block_sum<threads>(own);
  if (threadIdx.x == 0) *sum = own;
}

// Sorting: one pass for a digit of eight bits, stable.

constexpr int digits = 256, sort_items = 16, sort_tile = threads * sort_items, sort_warps = threads / warp_size;

__device__ __forceinline__ int digit_of(u64 key, int shift) { return (int)(key >> shift & (digits - 1)); }

// counts[d][tile]: how many keys of the tile have the digit d.
__global__ void __launch_bounds__(threads) count_digits(const u64 *keys, int n, int shift, int *counts) {
  __shared__ int count[digits];
  count[threadIdx.x] = 0;
  __syncthreads();
  const long long begin = (long long)blockIdx.x * sort_tile;
  for (int k = 0; k < sort_items; ++k) {
    const long long i = begin + k * threads + threadIdx.x;
    if (i < n) atomicAdd(count + digit_of(keys[i], shift), 1);
  }
  __syncthreads();
  counts[(long long)threadIdx.x * gridDim.x + blockIdx.x] = count[threadIdx.x];
}

// `places`: the exclusive scan of the counts. A warp takes consecutive keys, 32 at a time.
__global__ void __launch_bounds__(threads) scatter_by_digit(const u64 *keys, const int *values, int n, int shift,
                                                            const int *places, u64 *keys_to, int *values_to) {
  __shared__ int taken[sort_warps][digits];
  const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
  for (int w = 0; w < sort_warps; ++w) taken[w][threadIdx.x] = 0;
  __syncthreads();
  const long long begin = (long long)blockIdx.x * sort_tile + (long long)warp * (sort_tile / sort_warps);
  u64 key[sort_items];
  int rank[sort_items];
  WARPTSP_UNROLL
  for (int k = 0; k < sort_items; ++k) {
    const long long i = begin + k * warp_size + lane;
    key[k] = i < n ? keys[i] : 0;
    const int digit = i < n ? digit_of(key[k], shift) : digits;
    const unsigned same = __match_any_sync(all_lanes, digit);
    const int leader = __ffs((int)same) - 1;
    int before = 0;
    if (lane == leader && digit < digits) {
      before = taken[warp][digit];
      taken[warp][digit] = before + __popc(same);
    }
    rank[k] = __shfl_sync(all_lanes, before, leader) + __popc(same & ((1u << lane) - 1u));
    __syncwarp();
  }
  __syncthreads();
  int place = places[(long long)threadIdx.x * gridDim.x + blockIdx.x];
  for (int w = 0; w < sort_warps; ++w) {
    const int count = taken[w][threadIdx.x];
    taken[w][threadIdx.x] = place;
    place += count;
  }
  __syncthreads();
  WARPTSP_UNROLL
  for (int k = 0; k < sort_items; ++k) {
    const long long i = begin + k * warp_size + lane;
    if (i >= n) break;
    const int to = taken[warp][digit_of(key[k], shift)] + rank[k];
    keys_to[to] = key[k];
    values_to[to] = values[i];
  }
}

// Numbering along a curve.

struct Frame {
  CurveGrid grid;
  double scale;
};

// Of two or three dimensions; nothing in the third of a plane.
struct Extremes {
  double low[3], high[3];
};

// The extremes of the block's threads, for its first thread.
__device__ Extremes block_extremes(Extremes own) {
  __shared__ Extremes warps[threads / warp_size];
  for (int reach = warp_size / 2; reach > 0; reach /= 2)
    for (int d = 0; d < 3; ++d) {
      const double low = __shfl_down_sync(all_lanes, own.low[d], reach);
      const double high = __shfl_down_sync(all_lanes, own.high[d], reach);
      own.low[d] = low < own.low[d] ? low : own.low[d];
      own.high[d] = high > own.high[d] ? high : own.high[d];
    }
  if (threadIdx.x % warp_size == 0) warps[threadIdx.x / warp_size] = own;
  __syncthreads();
  if (threadIdx.x == 0)
    for (const Extremes &other : warps)
      for (int d = 0; d < 3; ++d) {
        own.low[d] = other.low[d] < own.low[d] ? other.low[d] : own.low[d];
        own.high[d] = other.high[d] > own.high[d] ? other.high[d] : own.high[d];
      }
  return own;
}

__global__ void __launch_bounds__(threads)
    find_extremes(const double *points, int n, int dimensions, Extremes *extremes) {
  Extremes own = {};
  for (int d = 0; d < dimensions; ++d) own.low[d] = own.high[d] = points[d];
  for (long long i = global_thread(); i < n; i += (long long)gridDim.x * threads)
    for (int d = 0; d < dimensions; ++d) {
      const double x = points[dimensions * i + d];
      own.low[d] = x < own.low[d] ? x : own.low[d];
      own.high[d] = x > own.high[d] ? x : own.high[d];
    }
  own = block_extremes(own);
  if (threadIdx.x == 0) extremes[blockIdx.x] = own;
}

constexpr int curve_bits = 32;

// One block.
__global__ void __launch_bounds__(threads)
    make_frame(const Extremes *extremes, int count, int dimensions, Frame *frame) {
  Extremes all = extremes[0];
  for (int i = threadIdx.x; i < count; i += threads)
    for (int d = 0; d < 3; ++d) {
      all.low[d] = extremes[i].low[d] < all.low[d] ? extremes[i].low[d] : all.low[d];
      all.high[d] = extremes[i].high[d] > all.high[d] ? extremes[i].high[d] : all.high[d];
    }
  all = block_extremes(all);
  if (threadIdx.x > 0) return;
  frame->grid.enclose(all.low, all.high, dimensions, dimensions == 2 ? curve_bits : space_hilbert_bits);
  double largest = 0.0;
  for (int d = 0; d < 3; ++d) {
    largest = fabs(all.low[d]) > largest ? fabs(all.low[d]) : largest;
    largest = fabs(all.high[d]) > largest ? fabs(all.high[d]) : largest;
  }
  frame->scale = scale_for(largest);
}

__global__ void curve_keys(const double *points, int n, int dimensions, const Frame *frame, u64 *keys, int *cities) {
  const long long i = global_thread();
  if (i >= n) return;
  const CurveGrid &grid = frame->grid;
  const double *const at = points + dimensions * i;
  const unsigned x = grid.cell(at[0], 0), y = grid.cell(at[1], 1);
  keys[i] = dimensions == 2 ? plane_hilbert_key(x, y, curve_bits) : space_hilbert_key(x, y, grid.cell(at[2], 2));
  cities[i] = (int)i;
}

__global__ void turned_keys(const double *points, int n, int dimensions, const Frame *frame, double cosine, double sine,
                            double shift_x, double shift_y, u64 *keys, int *cities) {
  const long long i = global_thread();
  if (i >= n) return;
  const CurveGrid &grid = frame->grid;
  const TurnedGrid turned = {
      {grid.low[0], grid.low[1], grid.low[2]}, grid.extent, cosine, sine, {shift_x, shift_y}, dimensions};
  keys[i] = turned.key(points + dimensions * i);
  cities[i] = (int)i;
}

__global__ void gather_points(const double *points, const int *cities, int n, int dimensions, double *gathered) {
  const long long i = global_thread();
  if (i >= n) return;
  const double *const from = points + dimensions * (long long)cities[i];
  for (int d = 0; d < dimensions; ++d) gathered[dimensions * i + d] = from[d];
}

__global__ void take(const int *values, const int *places, int count, int *taken) {
  const long long i = global_thread();
  if (i < count) taken[i] = values[places[i]];
}

// A tour in the problem's numbers, from its city 0 on: where that is, and the whole.

__global__ void find_first(const int *city, const int *tour, int n, int *place) {
  const long long i = global_thread();
  if (i < n && city[tour[i]] == 0) *place = (int)i;
}

__global__ void write_problems(const int *city, const int *tour, int n, const int *place, int *problems) {
  const long long i = global_thread();
  if (i >= n) return;
  const long long from = i + *place;
  problems[i] = city[tour[from < n ? from : from - n]];
}

// Trees, a level at a time from the leaves.

template <int D>
__global__ void make_leaves(TreeIn<D> tree, const double *scale, BoxIn<D> *boxes) {
  const long long k = global_thread();
  if (k >= tree.first_leaf()) return;
  tree.scale = *scale;
  boxes[tree.first_leaf() + k] = leaf_box(tree, tree.first_leaf() + (int)k);
}

template <int D>
__global__ void make_level(int first, BoxIn<D> *boxes) {
  const long long k = global_thread();
  if (k >= first) return;
  const long long v = first + k;
  boxes[v] = enclose(boxes[2 * v], boxes[2 * v + 1]);
}

// One block: all levels from the one whose first node is `first` to the root.
template <int D>
__global__ void make_levels(int first, BoxIn<D> *boxes) {
  for (; first > 0; first /= 2) {
    for (int v = first + (int)threadIdx.x; v < 2 * first; v += (int)blockDim.x)
      boxes[v] = enclose(boxes[2 * v], boxes[2 * v + 1]);
    __syncthreads();
  }
}

// The greedy tour.

__global__ void greedy_cities(int n, int *mate, int *links) {
  const long long i = global_thread();
  if (i >= n) return;
  mate[i] = (int)i;
  links[2 * i] = links[2 * i + 1] = -1;
}

__global__ void greedy_begin(GreedyStage stage) {
  const long long i = global_thread();
  if (i < stage.size) stage.begin((int)i);
}

__global__ void greedy_name(GreedyStage stage) {
  const long long i = global_thread();
  if (i < stage.size) stage.name((int)i);
}

__global__ void greedy_settle(GreedyStage stage) {
  const long long i = global_thread();
  if (i < stage.size) stage.settle((int)i);
}

// counts[0] of wishes
__global__ void greedy_agree(GreedyStage stage, int *counts) {
  const long long i = global_thread();
  const int wishes = __syncthreads_count(i < stage.size && stage.agree((int)i));
  if (threadIdx.x == 0 && wishes > 0) atomicAdd(counts, wishes);
}

// counts[1] of edges made
__global__ void greedy_join(GreedyStage stage, int *counts) {
  const long long i = global_thread();
  const int joined = __syncthreads_count(i < stage.size && stage.join((int)i));
  if (threadIdx.x == 0 && joined > 0) atomicAdd(counts + 1, joined);
}

// One block: all rounds of a small stage.
__global__ void greedy_rounds(GreedyStage stage) {
  __shared__ int wishes, joined;
  const int first = (int)threadIdx.x, step = (int)blockDim.x;
  for (int i = first; i < stage.size; i += step) stage.begin(i);
  for (int round = 1;; ++round) {
    if (threadIdx.x == 0) wishes = joined = 0;
    __syncthreads();
    for (int i = first; i < stage.size; i += step) stage.name(i);
    __syncthreads();
    for (int i = first; i < stage.size; i += step) stage.settle(i);
    __syncthreads();
    int own_wishes = 0, own_joined = 0;
    for (int i = first; i < stage.size; i += step) own_wishes += stage.agree(i);
    if (own_wishes > 0) atomicAdd(&wishes, own_wishes);
    __syncthreads();
    for (int i = first; i < stage.size; i += step) own_joined += stage.join(i);
    if (own_joined > 0) atomicAdd(&joined, own_joined);
    __syncthreads();
    if (wishes == 0) return;
    stage.draw = GreedyStage::is_slow(wishes, joined) ? round : 0;
    __syncthreads();
  }
}

__global__ void greedy_stays(GreedyStage stage, int *stays) {
  const long long i = global_thread();
  if (i < stage.size) stays[i] = stage.stays((int)i);
}

__global__ void greedy_carry_over(GreedyStage stage, const int *index, double *points, int *city, int *mate) {
  const long long i = global_thread();
  if (i < stage.size) stage.carry_over((int)i, index, points, city, mate);
}

// The edge between the two ends that are left.
__global__ void greedy_close(const int *city, int *links) {
  for (int k = 0; k < 2; ++k) links[2 * (long long)city[k] + 1] = city[1 - k];
}

// List ranking.

__global__ void mark_stops(int n, int *marks) {
  const long long i = global_thread();
  if (i < n) marks[i] = TourRanking::is_stop((int)i);
}

__global__ void list_stops(int n, const int *index, int *stops) {
  const long long i = global_thread();
  if (i < n && TourRanking::is_stop((int)i)) stops[index[i]] = (int)i;
}

__global__ void walk_ways(TourRanking ranking, Way *ways) {
  const long long way = global_thread();
  if (way < 2 * (long long)ranking.count) ways[way] = ranking.walk((int)way);
}

__global__ void jump_ways(int count, const Way *ways, Way *jumped) {
  const long long way = global_thread();
  if (way < count) jumped[way] = TourRanking::jump(ways, (int)way);
}

__global__ void write_tour(TourRanking ranking, const Way *ways, int *tour) {
  const long long way = global_thread();
  if (way < 2 * (long long)ranking.count) ranking.write(ways, (int)way, tour);
}

// The length of a closed tour; T is long long for metrics of integers, and double.
template <class T>
__global__ void __launch_bounds__(threads)
    tour_lengths(const double *points, int dimensions, const int *tour, int n, int kind, T *sums) {
  T sum = 0;
  for (long long i = global_thread(); i < n; i += (long long)gridDim.x * threads) {
    const int a = tour[i], b = tour[i + 1 < n ? i + 1 : 0];
    sum += AnyCoordinates<T>{{points, dimensions}, (MetricKind)kind}(a, b);
  }
  sum = block_sum<threads>(sum);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}
