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
  const int n = instance.size, chain = blockIdx.x;
  const bool cold = cooling.temperature <= 0;
  BlockTour tour(instance, memory);
  tour.load(cities + (long long)chain * n);
  Walk walk(instance, states[chain]);
  Acceptance acceptance{cooling.temperature, seed, (u64)chain};
  float limit = acceptance.most(instance);
  for (long long s = 0; s < steps && !(cold && walk.is_done()); s++) {
    const bool moved = tour.make(walk.axis(), acceptance.key(walk.state.step), acceptance, limit, walk.moves);
    walk.pass(1, moved, cold);
    if (cold) continue;
    cooling.advance();
    if (cooling.spent == 0) {
      acceptance.temperature = cooling.temperature;
      limit = acceptance.most(instance);
    }
  }
  for (int p = threadIdx.x; p < n; p += blockDim.x) cities[(long long)chain * n + p] = tour.city[p];
  if (walk.moves != 0) atomicAdd(&states[chain].moves, walk.moves);
  if (threadIdx.x == 0) {
    states[chain].step = walk.state.step;
    states[chain].quiet = cold ? walk.state.quiet : 0;
  }
}

// Every block is one warp, which does the same, in the order of the threads.
extern "C" __global__ void __launch_bounds__(warp_size, 16)
    symmetric_warps(const __grid_constant__ SymmetricInstance instance, SymmetricState *states, int *cities,
                    Cooling cooling, u64 seed, long long steps) {
  extern __shared__ __align__(16) unsigned char memory[];
  const int n = instance.size, chain = blockIdx.x, lane = threadIdx.x;
  WarpTour tour(instance, memory);
  tour.load(cities + (long long)chain * n);
  Walk walk(instance, states[chain]);
  const Acceptance acceptance{cooling.temperature, seed, (u64)chain};
  if (instance.planar)
    walk_alone<true>(tour, walk, cooling, acceptance, steps);
  else
    walk_alone<false>(tour, walk, cooling, acceptance, steps);
  for (int p = lane; p < n; p += warp_size) cities[(long long)chain * n + p] = tour.city[p];
  if (lane == 0)
    states[chain] = {walk.state.step, cooling.temperature > 0 ? 0 : walk.state.quiet, states[chain].moves + walk.moves};
}

// Every block anneals, or descends, a chain of its own with segments at random. Its tour lies in shared memory, or where
// the host says: `place` is null, or there are places and edges by chain.
extern "C" __global__ void __launch_bounds__(max_threads)
    symmetric_random(const __grid_constant__ SymmetricInstance instance, SymmetricState *states, int *cities,
                     Cooling cooling, u64 seed, long long steps, float2 *place, float *edge) {
  extern __shared__ __align__(16) unsigned char memory[];
  __shared__ int first[2];
  __shared__ float2 made;
  const int n = instance.size, chain = blockIdx.x;
  const long long own = (long long)chain * n;
  BlockTour tour =
      place == nullptr ? BlockTour(instance, memory) : BlockTour(instance, place + own, edge + own, cities + own);
  tour.load(cities + own);
  Walk walk(instance, states[chain]);
  RandomWalk random{tour, walk, cooling, {cooling.temperature, seed, (u64)chain}};
  random.run(steps, first, &made);
  if (place == nullptr)
    for (int p = threadIdx.x; p < n; p += blockDim.x) cities[own + p] = tour.city[p];
  if (threadIdx.x == 0)
    states[chain] = {walk.state.step, random.cold ? walk.state.quiet : 0, states[chain].moves + walk.moves};
}

// All blocks descend the same chain, each in its own copy: while moves are many every block makes them all, without a
// word; while they are few each examines other axes ahead, and after a barrier all go on to the first that has a move.
extern "C" __global__ void __launch_bounds__(max_threads)
    symmetric_together(const __grid_constant__ SymmetricInstance instance, SymmetricState *states, int *cities,
                       SymmetricTalk *talk, u64 slice) {
  extern __shared__ __align__(16) unsigned char memory[];
  constexpr int max_alone = 1024, max_each = 8;
  const int n = instance.size, all = axes_of(instance);
  BlockTour tour(instance, memory);
  tour.load(cities);
  Walk walk(instance, states[0]);
  const Acceptance acceptance{0.0, 0, 0};
  const float limit = acceptance.most(instance);
  const u64 end = nanoseconds() + slice;
  int slot = 0, each = 1, gap = 0, since = 0;  // axes from move to move, of late; and since the last one
  bool stop = false;
  const auto make = [&] {
    const bool moved = tour.make(walk.axis(), 0, acceptance, limit, walk.moves);
    walk.pass(1, moved, true);
    since++;
    if (!moved) return;
    gap = min((3 * gap + since - 1) / 4 + 1, 1 << 20);
    since = 0;
  };
  while (!stop) {
    // A barrier takes as long as some axes.
    for (int alone = 0; alone < max_alone && gap < 8 && since < 8 && !walk.is_done(); alone++) make();
    if (walk.is_done()) break;
    if (blockIdx.x == 0 && threadIdx.x == 0) {
      talk->clear_behind(slot);
      if (nanoseconds() >= end) talk->stop[slot] = 1;
    }
    const long long count = min((long long)each * gridDim.x, all - walk.state.quiet);
    for (long long s = blockIdx.x; s < count; s += gridDim.x) {
      int ahead = walk.phase + (int)s;
      if (ahead >= all) ahead -= all;
      if (!tour.has_move(axis_at(instance, ahead), acceptance, limit)) continue;
      if (threadIdx.x == 0) atomicMin(&talk->first[slot], (u64)(walk.state.step + s));
      break;
    }
    grid_barrier(&talk->arrived);
    const u64 first = talk->first_at(slot);
    stop = talk->stop_at(slot);
    const long long skipped = first == nothing ? count : (long long)first - walk.state.step;
    skip(instance, skipped, walk.state.step, walk.state.quiet);
    walk.phase = (int)((walk.phase + skipped) % all);
    since += (int)skipped;
    each = first == nothing ? min(2 * each, max_each) : 1;
    if (first != nothing) make();
    slot = (slot + 1) % 3;
  }
  // Copies are all the same: one is handed back.
  if (blockIdx.x != 0) return;
  for (int p = threadIdx.x; p < n; p += blockDim.x) cities[p] = tour.city[p];
  if (walk.moves != 0) atomicAdd(&states[0].moves, walk.moves);
  if (threadIdx.x == 0) {
    states[0].step = walk.state.step;
    states[0].quiet = walk.state.quiet;
  }
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
  const u64 end = nanoseconds() + slice;
  int slot = 0, each = 1;
  for (bool stop = false; !stop && state.quiet < rows;) {
    if (blockIdx.x == 0 && threadIdx.x == 0) {
      talk->clear_behind(slot);
      if (nanoseconds() >= end) talk->stop[slot] = 1;
    }
    const long long count = min((long long)each * gridDim.x, rows - state.quiet);
    for (long long s = blockIdx.x; s < count; s += gridDim.x) {
      if (threadIdx.x == 0) found = 1 << group_bits;
      __syncthreads();
      tour.first_group(triple_row(n, (state.step + s) % rows), &found);
      __syncthreads();
      const int group = found;
      __syncthreads();
      if (group == 1 << group_bits) continue;
      if (threadIdx.x == 0) atomicMin(&talk->first[slot], (u64)(state.step + s) << group_bits | (u64)group);
      break;
    }
    grid_barrier(&talk->arrived);
    const u64 first = talk->first_at(slot);
    stop = talk->stop_at(slot);
    slot = (slot + 1) % 3;
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

extern "C" __global__ void symmetric_place(SymmetricInstance instance, const int *cities, GridTour tour) {
  const int p = blockIdx.x * blockDim.x + threadIdx.x, n = instance.size;
  if (p >= n) return;
  const int own = cities[p];
  tour.city[p] = own;
  tour.place[p] = instance.planar ? make_float2(instance.plane_x(own), instance.plane_y(own)) : make_float2(0, 0);
  tour.edge[p] = instance.edge(own, cities[p + 1 == n ? 0 : p + 1]);
}

extern "C" __global__ void __launch_bounds__(max_threads)
    symmetric_grid(const __grid_constant__ SymmetricInstance instance, SymmetricState *states, GridTour tour,
                   Cooling cooling, u64 seed, u64 chain, long long steps, SymmetricTalk *talk, int *flags, u64 slice) {
  extern __shared__ __align__(16) unsigned char memory[];
  GridWalk walk(instance, tour, talk, flags, nanoseconds() + slice, memory, states[0], cooling,
                Acceptance{cooling.temperature, seed, chain});
  walk.run(steps);
  if (walk.moves != 0) atomicAdd(&states[0].moves, walk.moves);
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    states[0].step = walk.state.step;
    states[0].quiet = walk.cold ? walk.state.quiet : 0;
  }
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
