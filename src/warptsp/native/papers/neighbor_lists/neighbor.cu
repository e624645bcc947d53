// 2-opt and 3-opt along neighbour lists: passes over all cities, the moves of a pass made one after the other by one
// block, and chains of iterated local search, a block each, or one chain of whole passes by all blocks. METRIC_KIND and NEXT_ONLY (which
// moves: neighbor_moves.h) are given when it is compiled. All arithmetic is that of the CPU, in double, so both make the
// same moves.
#include "cuda/blocks.h"
#include "papers/neighbor_lists/block_lanes.h"
#include "papers/neighbor_lists/iterated_search.h"
#include "papers/neighbor_lists/shared_passes.h"

using namespace warptsp;
using namespace warptsp::neighbor;

#ifndef NEXT_ONLY
#define NEXT_ONLY 0
#endif

constexpr int threads_a_city = 8;
constexpr int block_threads = 512;  // of a block, at most: more would have too few registers
constexpr unsigned no_gain = 0xffffffffu;

struct NeighborInstance {
  const double *rows;  // of coordinates, or of the matrix
  const int *neighbors;
  const double *lengths;  // of the neighbours
  const int *fixed;       // [size, 2], or null
  double tolerance;
  int size, width, stride;
};

// What happened, and what a pass leaves to the next.
struct DescentState {
  double gain;
  u64 evaluations;
  u64 passes, moves;
  int complete;  // nothing is left to do
  int all;       // the next pass is over all cities, whatever their bits say
  int skipped;   // this pass was not
};

template <MetricKind kind>
__device__ __forceinline__ auto distances_of(const NeighborInstance &i) {
  if constexpr (kind == MetricKind::matrix)
    return Matrix<double>{i.rows, i.size};
  else
    return CoordinatesOf<kind>{Points{i.rows, i.stride}};
}
__device__ __forceinline__ auto metric_of(const NeighborInstance &i) {
  return distances_of<(MetricKind)METRIC_KIND>(i);
}
typedef decltype(metric_of(NeighborInstance())) Metric;
typedef NeighborLists<Metric> Lists;

__device__ __forceinline__ Lists lists_of(const NeighborInstance &i) {
  return Lists{metric_of(i), i.neighbors, i.width, i.fixed, i.tolerance, i.lengths, NEXT_ONLY != 0};
}

__global__ void measure_lists(NeighborInstance instance, double *lengths) {
  const long long k = global_thread();
  if (k >= (long long)instance.size * instance.width) return;
  const int other = instance.neighbors[k];
  lengths[k] = other < 0 ? 0.0 : metric_of(instance)((int)(k / instance.width), other);
}

__global__ void measure_edges(NeighborInstance instance, const int *order, double *edge) {
  const int p = (int)global_thread();
  if (p < instance.size) edge[p] = metric_of(instance)(order[p], order[p + 1 < instance.size ? p + 1 : 0]);
}

// The best move of every city, or of those whose bit is set; `rank` for sorting.
template <bool Three>
__global__ void __launch_bounds__(block_threads)
    examine_cities(NeighborInstance instance, int *order, int *position, const double *edge, unsigned char *bits,
                   int by_bits, NeighborMove *found, unsigned *rank, DescentState *state) {
  extern __shared__ __align__(16) unsigned char memory[];
  __shared__ u64 evaluated;
  if (state->complete) return;
  if (threadIdx.x == 0) evaluated = 0;
  const Lists lists = lists_of(instance);
  const TourArrays tour{instance.size, order, position, edge};
  const int members = blockDim.x / threads_a_city, city = blockIdx.x * members + threadIdx.x;
  const bool own = (int)threadIdx.x < members && city < instance.size;
  const bool listed = own && (!by_bits || state->all || bits[city]);
  Carver shared{memory};
  const Members at(shared, members);
  if ((int)threadIdx.x < members) at.enter(threadIdx.x, city, listed);
  long long evaluations = 0;
  for (int from = 0; from < instance.width; from += neighbors_at_once) {
    __syncthreads();
    if (!__syncthreads_or((int)threadIdx.x < members && at.is_open(threadIdx.x))) break;
    at.examine<Three, 8>(lists, tour, members, from, evaluations);
  }
  for (int d = warp_size / 2; d > 0; d /= 2) evaluations += __shfl_xor_sync(all_lanes, evaluations, d);
  if (threadIdx.x % warp_size == 0) atomicAdd(&evaluated, (u64)evaluations);
  __syncthreads();
  if (own) {
    const double gain = __longlong_as_double((long long)at.gain[threadIdx.x]);
    if (gain > 0.0) found[city] = at.move[threadIdx.x];
    rank[city] = gain > 0.0 ? gain_rank(gain) : no_gain;
    if (listed)
      bits[city] = gain > 0.0;
    else
      state->skipped = 1;
  }
  if (threadIdx.x == 0) atomicAdd(&state->evaluations, evaluated);
}

// What a pass without a move means; true if it had one. By one thread.
__device__ __forceinline__ bool end_pass(DescentState *state, bool any) {
  ++state->passes;
  if (!any && !state->skipped) state->complete = 1;
  state->all = !any;
  state->skipped = 0;
  return any;
}

// All moves of a pass, the largest gain first, as far as they still fit the tour. One block; `keys` has space for the next
// power of two.
__global__ void __launch_bounds__(block_threads)
    make_many_moves(int n, int *order, int *position, int *scratch, unsigned char *bits, const NeighborMove *found,
                    const unsigned *rank, u64 *keys, int inside, DescentState *state) {
  extern __shared__ __align__(16) unsigned char memory[];
  __shared__ int count, first;
  if (state->complete) return;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  for (int c = threadIdx.x; c < n; c += blockDim.x)
    if (rank[c] != no_gain) keys[atomicAdd(&count, 1)] = (u64)rank[c] << 32 | (u64)c;
  __syncthreads();
  const int moves = count;
  int padded = 1;
  while (padded < moves) padded *= 2;
  for (int k = moves + threadIdx.x; k < padded; k += blockDim.x) keys[k] = ~0ull;
  // Bitonic: no key is there twice, so the result does not depend on the order in which they were collected.
  for (int size = 2; size <= padded; size *= 2)
    for (int reach = size / 2; reach > 0; reach /= 2) {
      __syncthreads();
      for (int k = threadIdx.x; k < padded; k += blockDim.x) {
        const int other = k ^ reach;
        if (other <= k) continue;
        const u64 a = keys[k], b = keys[other];
        if ((a > b) == ((k & size) == 0)) {
          keys[k] = b;
          keys[other] = a;
        }
      }
    }
  __syncthreads();
  if (threadIdx.x == 0) end_pass(state, moves > 0);
  if (moves == 0) return;

  Carver shared{memory};
  const TourInBlock at = tour_in_block(n, order, position, scratch, inside, shared);
  double gain = 0.0;
  u64 made = 0;
  for (int base = 0; base < moves; base += blockDim.x) {
    const int k = base + threadIdx.x;
    NeighborMove move;
    move.clear();
    if (k < moves) move = found[(int)(keys[k] & 0xffffffffull)];
    for (int next = base;;) {
      if (threadIdx.x == 0) first = 0x7fffffff;
      __syncthreads();
      if (k >= next && k < moves && rewrite_of(at.tour, move).total > 0) atomicMin(&first, k);
      __syncthreads();
      const int chosen = first;
      if (chosen == 0x7fffffff) break;
      const int city = (int)(keys[chosen] & 0xffffffffull);
      const NeighborMove now = found[city];
      write_stretch(BlockThreads(), at.tour, rewrite_of(at.tour, now), at.scratch);
      if ((int)threadIdx.x < now.cities) bits[now.t[threadIdx.x]] = 1;
      gain += now.gain;
      ++made;
      next = chosen + 1;
    }
    __syncthreads();
  }
  if (inside) put_tour_back(at.tour, order, position);
  if (threadIdx.x == 0) {
    state->gain += gain;
    state->moves += made;
  }
}

// Of one chain, from launch to launch.
struct ChainState {
  double length, best;
  u64 evaluations, examined, moves, kicks, accepted;  // examined: cities, outside of kicks or in whole passes
  int head, queued;
};

struct ChainsOnDevice {
  int *order, *position, *scratch, *kept, *best;  // [chains, size]
  int *ring;                                      // [chains, capacity]
  unsigned *in;                                   // [chains, size / 32, rounded up]
  ChainState *state;                              // [chains]
  int capacity, inside;
};

// A block for each chain: local search from the queued cities, for so many cities, and then kicks, up to number `last`.
template <bool Three>
__global__ void __launch_bounds__(block_threads)
    run_chains(NeighborInstance instance, ChainsOnDevice chains, KickPlan plan, long long last, long long cities) {
  extern __shared__ __align__(16) unsigned char memory[];
  __shared__ ChainMemory chain;
  const int n = instance.size;
  const long long row = (long long)blockIdx.x * n;
  ChainState *const state = chains.state + blockIdx.x;
  Carver shared{memory};
  const TourInBlock at =
      tour_in_block(n, chains.order + row, chains.position + row, chains.scratch + row, chains.inside, shared);
  const int words = (n + 31) / 32;
  unsigned *const outside = chains.in + (long long)blockIdx.x * words, *in = outside;
  if (chains.inside) {
    in = shared.take<unsigned>(words);
    for (int w = threadIdx.x; w < words; w += blockDim.x) in[w] = outside[w];
  }
  if (threadIdx.x == 0) {
    chain.head = state->head;
    chain.queued = state->queued;
    chain.touched = 0;
  }
  __syncthreads();
  const ChainQueue queue{chains.ring + (long long)blockIdx.x * chains.capacity, in, chains.capacity, &chain};
  const BlockLanes lanes(Members(shared, max_ahead), max_ahead);
  IteratedSearch<BlockLanes, Lists, Three> search(lanes, lists_of(instance), at.tour, queue, &chain, at.scratch,
                                                  chains.kept + row, chains.best + row);
  double length = state->length, best = state->best;
  __syncthreads();
  if (cities > 0) {
    length -= search.settle(cities);
    best = length;
  }
  const u64 settled = (u64)search.counts.examined;
  plan.first = (long long)state->kicks;
  plan.count = plan.count < last - plan.first ? plan.count : last - plan.first;
  plan.chain = blockIdx.x;
  if (plan.count > 0)
    search.kicks(
        plan, length, best, [](long long) { return false; },
        [&](const int *end) {
          search.push_ends(end);
          return search.settle(1ll << 62);
        });
  __syncthreads();
  atomicAdd(&state->evaluations, (u64)search.counts.evaluations);
  if (chains.inside) {
    put_tour_back(at.tour, chains.order + row, chains.position + row);
    for (int w = threadIdx.x; w < words; w += blockDim.x) outside[w] = in[w];
  }
  if (threadIdx.x == 0) {
    state->length = length;
    state->best = best;
    state->examined += settled;
    state->moves += (u64)search.counts.moves;
    state->kicks += (u64)search.counts.kicks;
    state->accepted += (u64)search.counts.accepted;
    state->head = chain.head;
    state->queued = chain.queued;
  }
}

// One chain by all blocks: so many passes of best improvement, and then kicks, up to number `last`, with as many passes
// behind each as make a local optimum again. All blocks come to the same, which the first one hands back. `words` are 0 when
// it starts: those of the passes, and the counter of a barrier.
template <bool Three>
__global__ void __launch_bounds__(block_threads)
    run_passes(NeighborInstance instance, ChainsOnDevice chains, KickPlan plan, long long last, long long passes,
               u64 *words) {
  extern __shared__ __align__(16) unsigned char memory[];
  __shared__ ChainMemory chain;
  __shared__ PassMemory pass;
  const int n = instance.size;
  ChainState *const state = chains.state;
  unsigned *const arrived = (unsigned *)(words + 2 * move_words * gridDim.x);
  Carver shared{memory};
  const LinedUp lined_up(shared);
  const TourInBlock at = tour_in_block(n, chains.order, chains.position, chains.scratch, chains.inside, shared);
  if (threadIdx.x == 0) chain.touched = 0;
  double length = state->length, best = state->best;
  plan.first = (long long)state->kicks;
  plan.count = plan.count < last - plan.first ? plan.count : last - plan.first;
  grid_barrier(arrived);  // all have read what the first block writes in the end
  const Lists lists = lists_of(instance);
  SharedPasses<Three, Lists> look(lists, at.tour, lined_up, words, &pass);
  // Of the kept tours all blocks write the same, and none is a kick ahead of another.
  IteratedSearch<PassThreads, Lists, Three> search(PassThreads(chains.inside ? nullptr : arrived), lists, at.tour,
                                                   ChainQueue{}, &chain, at.scratch, chains.kept, chains.best);
  double gain;
  Rewrite rewrite;
  for (; passes > 0 && look.find(gain, rewrite); --passes) {
    search.write(rewrite);
    best = length -= gain;
  }
  if (plan.count > 0)
    search.kicks(
        plan, length, best, [](long long) { return false; },
        [&](const int *) {
          double gained = 0.0;
          while (look.find(gain, rewrite)) {
            search.write(rewrite);
            gained += gain;
          }
          return gained;
        });
  __syncthreads();
  atomicAdd(&state->evaluations, (u64)look.evaluations);
  if (threadIdx.x == 0) atomicAdd(&state->examined, look.examined);
  if (blockIdx.x != 0) return;
  if (chains.inside) put_tour_back(at.tour, chains.order, chains.position);
  if (threadIdx.x == 0) {
    state->length = length;
    state->best = best;
    state->moves += look.made;
    state->kicks += (u64)search.counts.kicks;
    state->accepted += (u64)search.counts.accepted;
  }
}
