// The tour of a chain as threads of a block see it, and the symmetrical moves of an axis. For the device compiler alone.
#pragma once
#include "papers/symmetric/chain_walk.h"
#include "papers/symmetric/rung_filter.h"

namespace warptsp::symmetric {

// Whether an odd number of the bits behind bit `own % 32` of word `own / 32` are set. All lanes of a warp ask for
// bits of the same word.
__device__ __forceinline__ bool odd_behind(const unsigned *words, int count, int own) {
  const int lane = threadIdx.x % warp_size, word = own / 32;
  unsigned parity = __popc(words[word] >> (own % 32) >> 1);
  for (int from = word + 1; from < count; from += warp_size) {
    const unsigned v = from + lane < count ? words[from + lane] : 0;
    parity += __popc(__ballot_sync(all_lanes, __popc(v) & 1));
  }
  return parity & 1;
}

// How a tour is read and written: that of one block, and one in device memory that other blocks change, past the first
// level of caches.
struct OwnMemory {
  template <class T>
  static __device__ __forceinline__ T get(const T *at) {
    return *at;
  }
  template <class T>
  static __device__ __forceinline__ void put(T *at, T value) {
    *at = value;
  }
};
struct SharedByBlocks {
  template <class T>
  static __device__ __forceinline__ T get(const T *at) {
    return __ldcg(at);
  }
  template <class T>
  static __device__ __forceinline__ void put(T *at, T value) {
    __stcg(at, value);
  }
};

template <class Memory>
struct CircleTour {
  const SymmetricInstance &instance;
  float2 *place;  // by position, as the two others
  float *edge;    // to the next position
  int *city;
  unsigned *words;  // in shared memory: a bit a rung

  // In the shared memory of a block.
  __device__ CircleTour(const SymmetricInstance &of, unsigned char *memory)
      : instance(of), place((float2 *)memory), edge((float *)(place + of.size)), city((int *)(edge + of.size)),
        words((unsigned *)(city + of.size)) {}

  // Wherever there is room.
  __device__ CircleTour(const SymmetricInstance &of, float2 *place, float *edge, int *city, unsigned *words)
      : instance(of), place(place), edge(edge), city(city), words(words) {}

  __device__ void load(const int *cities) {
    const int n = instance.size;
    for (int p = threadIdx.x; p < n; p += blockDim.x) {
      const int own = cities[p];
      city[p] = own;
      if (instance.planar) place[p] = make_float2(instance.plane_x(own), instance.plane_y(own));
      edge[p] = instance.edge(own, cities[p + 1 == n ? 0 : p + 1]);
    }
    __syncthreads();
  }
  __device__ void hand_back(int *cities) const {
    for (int p = threadIdx.x; p < instance.size; p += blockDim.x) cities[p] = city[p];
  }

  // What the filter sees of rung k.
  __device__ Planar planar(const Axis &axis, int k) const {
    const int n = instance.size, outer = left_of(axis, k + 1, n), right = right_of(axis, k, n);
    return {Memory::get(place + outer), Memory::get(place + left_of(axis, k, n)),
            Memory::get(place + right), Memory::get(place + right_of(axis, k + 1, n)),
            Memory::get(edge + outer),  Memory::get(edge + right)};
  }
  __device__ Rung rung(const Axis &axis, int k) const {
    const int n = instance.size, outer = left_of(axis, k + 1, n), right = right_of(axis, k, n);
    return {Memory::get(city + outer), Memory::get(city + left_of(axis, k, n)),
            Memory::get(city + right), Memory::get(city + right_of(axis, k + 1, n)),
            Memory::get(edge + outer), Memory::get(edge + right)};
  }

  // Whether rung k is accepted; `edges` are then the lengths of the two edges that it makes.
  __device__ bool test(const Axis &axis, int k, u64 key, const Acceptance &acceptance, float limit,
                       float2 &edges) const {
    Planar seen;
    if (instance.planar) {
      seen = planar(axis, k);
      if (seen.exceeds(limit)) return false;
    }
    return accepts(instance, seen, acceptance, key, k, edges, [&] { return rung(axis, k); });
  }

  // Whether a descent would accept a rung of this axis. The same on all threads.
  __device__ bool has_move(const Axis &axis, const Walk &walk) const {
    bool found = false;
    for (int k = axis.first + threadIdx.x; k <= axis.rungs && !found; k += blockDim.x) {
      float2 edges;
      found = test(axis, k, 0, walk.acceptance, walk.limit, edges);
    }
    return __syncthreads_or(found);
  }

  // Decides so many rungs of the walk's axis from `low` on, and leaves a bit for each. Returns whether any was accepted:
  // the same on all threads.
  __device__ bool decide(const Axis &axis, int low, int count, Walk &walk) {
    const int n = instance.size, lane = threadIdx.x % warp_size;
    const u64 key = walk.acceptance.key(walk.state.step);
    bool found = false;
    for (int from = 0; from < count; from += blockDim.x) {
      const int bit = from + threadIdx.x, k = low + bit;
      float2 edges;
      const bool accepted =
          bit < count && k >= axis.first && k <= axis.rungs && test(axis, k, key, walk.acceptance, walk.limit, edges);
      if (accepted) {
        // As they are if nothing beyond is reversed. No other rung reads them.
        Memory::put(edge + left_of(axis, k + 1, n), edges.x);
        Memory::put(edge + right_of(axis, k, n), edges.y);
        found = true;
      }
      const unsigned word = __ballot_sync(all_lanes, accepted);
      if (lane == 0) {
        words[bit / 32] = word;
        walk.moves += __popc(word);
      }
    }
    return __syncthreads_or(found);
  }
  __device__ static int words_of(int count) { return (count + blockDim.x - 1) / blockDim.x * (blockDim.x / warp_size); }

  // Applies those accepted; `odd`: an odd number of others lie behind them.
  __device__ void apply(const Axis &axis, int low, int count, bool odd) {
    for (int from = 0; from < count; from += blockDim.x) {
      const int bit = from + threadIdx.x, k = low + bit;
      const bool beyond = odd_behind(words, words_of(count), bit) ^ odd;
      if (bit < count && k <= axis.rungs) apply(axis, k, beyond, beyond ^ (words[bit / 32] >> (bit % 32) & 1));
    }
    __syncthreads();
  }

  // Decides and applies the walk's axis. Returns whether there were moves: the same on all threads.
  __device__ bool make(Walk &walk) {
    const Axis axis = walk.axis();
    if (!decide(axis, 1, axis.rungs, walk)) return false;
    apply(axis, 1, axis.rungs, false);
    return true;
  }

  // Exchanges the cities of level k if it is crossed, and the edges of rung k if what lies beyond is reversed.
  __device__ void apply(const Axis &axis, int k, bool beyond, bool crossed) {
    const int n = instance.size, right = right_of(axis, k, n);
    if (crossed) {
      const int left = left_of(axis, k, n);
      exchange(place + left, place + right);
      exchange(city + left, city + right);
      // Around a city in the centre there are two more edges.
      if (k == 1 && axis.left == axis.right) exchange(edge + left, edge + axis.left);
    }
    if (beyond) exchange(edge + left_of(axis, k + 1, n), edge + right);
  }

  template <class T>
  static __device__ void exchange(T *a, T *b) {
    const T t = Memory::get(a);
    Memory::put(a, Memory::get(b));
    Memory::put(b, t);
  }
};

typedef CircleTour<OwnMemory> BlockTour;

}  // namespace warptsp::symmetric
