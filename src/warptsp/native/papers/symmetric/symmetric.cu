// Symmetrical 2-opt descents and annealing on a GPU; see symmetric.h. Compiled without fused multiply-adds, so that
// exact distances are those of the CPU.
//
// symmetric_warps and symmetric_blocks hold the tour of a chain in the shared memory of a block, of one warp or of
// several; symmetric_together is one descent by all blocks. symmetric_grid holds the tour in device memory, and all
// blocks share each axis. symmetric_random takes segments at random, in either memory.
#include "cuda/blocks.h"
#include "papers/symmetric/grid_walk.h"
#include "papers/symmetric/random_walk.h"
#include "papers/symmetric/triple_walk.h"
#include "papers/symmetric/warp_tour.h"

using namespace warptsp;
using namespace warptsp::symmetric;

constexpr int max_threads = 512;  // of a block: with more, registers would not do

// Every block anneals, or descends, a chain of its own: for so many axes, or until it is 2-optimal.
extern "C" __global__ void __launch_bounds__(max_threads)
    symmetric_blocks(const __grid_constant__ SymmetricInstance instance, SymmetricState *states, int *cities,
                     Cooling cooling, u64 seed, long long steps) {
  extern __shared__ __align__(16) unsigned char memory[];
  const int chain = blockIdx.x;
  BlockTour tour(instance, memory);
  tour.load(cities + (long long)chain * instance.size);
  Walk walk(instance, states[chain], cooling, seed, (u64)chain);
  for (long long s = 0; s < steps && !walk.is_done(); s++) walk.pass(1, tour.make(walk));
  tour.hand_back(cities + (long long)chain * instance.size);
  walk.hand_back(states + chain);
}

// Every block is one warp, which does the same, in the order of the threads.
extern "C" __global__ void __launch_bounds__(warp_size, 16)
    symmetric_warps(const __grid_constant__ SymmetricInstance instance, SymmetricState *states, int *cities,
                    Cooling cooling, u64 seed, long long steps) {
  extern __shared__ __align__(16) unsigned char memory[];
  const int chain = blockIdx.x;
  WarpTour tour(instance, memory);
  tour.load(cities + (long long)chain * instance.size);
  Walk walk(instance, states[chain], cooling, seed, (u64)chain);
  if (instance.planar)
    walk_alone<true>(tour, walk, steps);
  else
    walk_alone<false>(tour, walk, steps);
  tour.hand_back(cities + (long long)chain * instance.size);
  walk.hand_back(states + chain);
}

// Every block anneals, or descends, a chain of its own with segments at random. Its tour lies in shared memory, or where
// the host says: `place` is null, or there are places and edges by chain.
extern "C" __global__ void __launch_bounds__(max_threads)
    symmetric_random(const __grid_constant__ SymmetricInstance instance, SymmetricState *states, int *cities,
                     Cooling cooling, u64 seed, long long steps, float2 *place, float *edge) {
  extern __shared__ __align__(16) unsigned char memory[];
  __shared__ int first[2];
  __shared__ float2 made;
  const int chain = blockIdx.x;
  const long long own = (long long)chain * instance.size;
  BlockTour tour = place == nullptr ? BlockTour(instance, memory)
                                    : BlockTour(instance, place + own, edge + own, cities + own, nullptr);
  tour.load(cities + own);
  Walk walk(instance, states[chain], cooling, seed, (u64)chain);
  walk_at_random(tour, walk, steps, first, &made);
  if (place == nullptr) tour.hand_back(cities + own);
  walk.hand_back(states + chain);
}

// All blocks descend the same chain, each in its own copy: while moves are many every block makes them all, without a
// word; while they are few each examines other axes ahead, and after a barrier all go on to the first that has a move.
extern "C" __global__ void __launch_bounds__(max_threads)
    symmetric_together(const __grid_constant__ SymmetricInstance instance, SymmetricState *states, int *cities,
                       SymmetricTalk *talk, u64 slice) {
  extern __shared__ __align__(16) unsigned char memory[];
  constexpr int max_alone = 1024, max_each = 8;
  BlockTour tour(instance, memory);
  tour.load(cities);
  Walk walk(instance, states[0], Cooling{}, 0, 0);
  Rounds rounds{talk, nanoseconds() + slice};
  int each = 1, gap = 0, since = 0;  // axes from move to move, of late; and since the last one
  const auto make = [&] {
    const bool moved = tour.make(walk);
    walk.pass(1, moved);
    since++;
    if (!moved) return;
    gap = min((3 * gap + since - 1) / 4 + 1, 1 << 20);
    since = 0;
  };
  while (!rounds.stop) {
    // A barrier takes as long as some axes.
    for (int alone = 0; alone < max_alone && gap < 8 && since < 8 && !walk.is_done(); alone++) make();
    if (walk.is_done()) break;
    rounds.begin();
    const int count = (int)min((long long)each * gridDim.x, walk.all - walk.state.quiet);
    for (int s = blockIdx.x; s < count; s += gridDim.x) {
      if (!tour.has_move(walk.axis_ahead(s), walk)) continue;
      if (threadIdx.x == 0) rounds.found((u64)(walk.state.step + s));
      break;
    }
    const u64 first = rounds.agree();
    const int skipped = first == nothing ? count : (int)((long long)first - walk.state.step);
    walk.pass(skipped, false);
    since += skipped;
    each = first == nothing ? min(2 * each, max_each) : 1;
    if (first != nothing) make();
  }
  // Copies are all the same: one is handed back.
  if (blockIdx.x != 0) return;
  tour.hand_back(cities);
  walk.hand_back(states);
}

// All blocks descend by symmetrical 3-opt moves, each in its own copy of the tour: each examines other rows ahead, and
// after a barrier all make the moves of the first group that has any. A row is passed when it has none. The copies lie in
// shared memory, or so many bytes a block from `spare` on.
extern "C" __global__ void __launch_bounds__(max_threads)
    symmetric_triples(const __grid_constant__ SymmetricInstance instance, SymmetricState *states, int *cities,
                      SymmetricTalk *talk, u64 slice, unsigned char *spare, long long bytes) {
  extern __shared__ __align__(16) unsigned char memory[];
  __shared__ int found, most;
  constexpr int max_each = 8, group_bits = 20;
  const int n = instance.size;
  const long long rows = rows_of(n);
  TripleTour tour(instance, spare == nullptr ? memory : spare + bytes * blockIdx.x);
  for (int p = threadIdx.x; p < n; p += blockDim.x) tour.city[p] = cities[p];
  __syncthreads();
  tour.load(&most);
  SymmetricState state = states[0];
  Rounds rounds{talk, nanoseconds() + slice};
  int each = 1;
  while (!rounds.stop && state.quiet < rows) {
    rounds.begin();
    const long long count = min((long long)each * gridDim.x, rows - state.quiet);
    for (long long s = blockIdx.x; s < count; s += gridDim.x) {
      if (threadIdx.x == 0) found = 1 << group_bits;
      __syncthreads();
      tour.first_group(triple_row(n, (state.step + s) % rows), &found);
      __syncthreads();
      const int group = found;
      __syncthreads();
      if (group == 1 << group_bits) continue;
      if (threadIdx.x == 0) rounds.found((u64)(state.step + s) << group_bits | (u64)group);
      break;
    }
    const u64 first = rounds.agree();
    const long long passed = first == nothing ? count : (long long)(first >> group_bits) - state.step;
    state.step += passed;
    state.quiet += passed;
    each = first == nothing ? min(2 * each, max_each) : 1;
    if (first == nothing) continue;
    const TripleRow row = triple_row(n, state.step % rows);
    const int group = (int)(first & ((1u << group_bits) - 1));
    const Exchange exchange = exchange_of(row, n, group, tour.decide(row, group));
    __syncthreads();  // all warps have decided
    tour.apply(exchange, &most);
    state.moves += Exchange::count_bits(exchange.applied);
    state.quiet = 0;
  }
  // Copies are all the same: one is handed back.
  if (blockIdx.x != 0) return;
  for (int p = threadIdx.x; p < n; p += blockDim.x) cities[p] = tour.city[p];
  if (threadIdx.x == 0) states[0] = state;
}

// Places and edges of the tours of all chains, for the kernel behind it.
extern "C" __global__ void symmetric_place(SymmetricInstance instance, const int *cities, float2 *place, float *edge) {
  const int p = blockIdx.x * blockDim.x + threadIdx.x, n = instance.size;
  if (p >= n) return;
  const long long chain = (long long)blockIdx.y * n;
  const int own = cities[chain + p];
  place[chain + p] = instance.planar ? make_float2(instance.plane_x(own), instance.plane_y(own)) : make_float2(0, 0);
  edge[chain + p] = instance.edge(own, cities[chain + (p + 1 == n ? 0 : p + 1)]);
}

extern "C" __global__ void __launch_bounds__(max_threads)
    symmetric_grid(const __grid_constant__ SymmetricInstance instance, SymmetricState *states, int *cities,
                   float2 *place, float *edge, Cooling cooling, u64 seed, u64 chain, long long steps,
                   SymmetricTalk *talk, int *flags, u64 slice) {
  extern __shared__ __align__(16) unsigned char memory[];
  Walk walk(instance, states[0], cooling, seed, chain);
  GridWalk(walk, place, edge, cities, Rounds{talk, nanoseconds() + slice}, flags, memory).run(steps);
  walk.hand_back(states, blockIdx.x == 0);
}

// The exact length of each chain's tour, a block a chain.
extern "C" __global__ void __launch_bounds__(256)
    symmetric_lengths(SymmetricInstance instance, const int *cities, double *lengths) {
  const int n = instance.size;
  const int *own = cities + (long long)blockIdx.x * n;
  double sum = 0;
  for (int p = threadIdx.x; p < n; p += blockDim.x) sum += instance.distance(own[p], own[p + 1 == n ? 0 : p + 1]);
  sum = block_sum<256>(sum);
  if (threadIdx.x == 0) lengths[blockIdx.x] = sum;
}
