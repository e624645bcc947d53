// The tour of a chain in the shared memory of a block, and the symmetrical moves of an axis. For the device compiler alone.
#pragma once
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

// The tour in shared memory.
struct BlockTour {
  const SymmetricInstance &instance;
  float2 *place;  // by position, as the three others
  float *edge;    // to the next position
  int *city;
  unsigned *words;  // a bit a rung

  __device__ BlockTour(const SymmetricInstance &of, unsigned char *memory)
      : instance(of), place((float2 *)memory), edge((float *)(place + of.size)), city((int *)(edge + of.size)),
        words((unsigned *)(city + of.size)) {}

  // Wherever there is room.
  __device__ BlockTour(const SymmetricInstance &of, float2 *place, float *edge, int *city)
      : instance(of), place(place), edge(edge), city(city), words(nullptr) {}

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

  // What the filter sees of rung k.
  __device__ Planar planar(const Axis &axis, int k) const {
    const int n = instance.size, outer = left_of(axis, k + 1, n), right = right_of(axis, k, n);
    return {place[outer], place[left_of(axis, k, n)], place[right], place[right_of(axis, k + 1, n)], edge[outer],
            edge[right]};
  }

  // Whether rung k is accepted; `edges` are then the lengths of the two edges that it makes.
  __device__ bool test(const Axis &axis, int k, u64 key, const Acceptance &acceptance, float limit,
                       float2 &edges) const {
    Planar rung;
    if (instance.planar) {
      rung = planar(axis, k);
      if (rung.exceeds(limit)) return false;
    }
    return accepts(instance, rung, acceptance, key, k, edges, [&] {
      const int n = instance.size, outer = left_of(axis, k + 1, n), right = right_of(axis, k, n);
      return Rung{city[outer], city[left_of(axis, k, n)], city[right], city[right_of(axis, k + 1, n)], edge[outer],
                  edge[right]};
    });
  }

  // Whether a descent would accept a rung of this axis. The same on all threads.
  __device__ bool has_move(const Axis &axis, const Acceptance &acceptance, float limit) const {
    bool found = false;
    for (int k = axis.first + threadIdx.x; k <= axis.rungs && !found; k += blockDim.x) {
      float2 edges;
      found = test(axis, k, 0, acceptance, limit, edges);
    }
    return __syncthreads_or(found);
  }

  // Decides the rungs of an axis, and applies those accepted. Returns whether there were any: the same on all
  // threads; `moves` counts them, on the first lanes.
  __device__ bool make(const Axis &axis, u64 key, const Acceptance &acceptance, float limit, u64 &moves) {
    const int n = instance.size, lane = threadIdx.x % warp_size;
    bool found = false;
    for (int from = 0; from < axis.rungs; from += blockDim.x) {
      const int k = from + threadIdx.x + 1;
      float2 edges;
      const bool accepted = k >= axis.first && k <= axis.rungs && test(axis, k, key, acceptance, limit, edges);
      if (accepted) {
        // As they are if nothing beyond is reversed. No other rung reads them.
        edge[left_of(axis, k + 1, n)] = edges.x;
        edge[right_of(axis, k, n)] = edges.y;
        found = true;
      }
      const unsigned word = __ballot_sync(all_lanes, accepted);
      if (lane == 0) {
        words[(from + threadIdx.x) / 32] = word;
        moves += __popc(word);
      }
    }
    if (!__syncthreads_or(found)) return false;
    const int count = (axis.rungs + blockDim.x - 1) / blockDim.x * (blockDim.x / 32);
    for (int from = 0; from < axis.rungs; from += blockDim.x) {
      const int bit = from + threadIdx.x, k = bit + 1;
      const bool beyond = odd_behind(words, count, bit);
      if (k > axis.rungs) continue;
      apply(axis, k, beyond, beyond ^ (words[bit / 32] >> (bit % 32) & 1));
    }
    __syncthreads();
    return true;
  }

  // Exchanges the cities of level k if it is crossed, and the edges of rung k if what lies beyond is reversed.
  __device__ void apply(const Axis &axis, int k, bool beyond, bool crossed) {
    const int n = instance.size;
    if (crossed) {
      const int left = left_of(axis, k, n), right = right_of(axis, k, n);
      exchange(place[left], place[right]);
      exchange(city[left], city[right]);
      if (k == 1 && axis.left == axis.right) exchange(edge[left], edge[axis.left]);
    }
    if (beyond) exchange(edge[left_of(axis, k + 1, n)], edge[right_of(axis, k, n)]);
  }

  template <class T>
  static __device__ void exchange(T &a, T &b) {
    const T t = a;
    a = b;
    b = t;
  }
};

}  // namespace warptsp::symmetric
