// How a block examines several cities at once, along their neighbour lists. For the device compiler alone.
#pragma once
#include "cuda/blocks.h"
#include "papers/neighbor_lists/iterated_search.h"

namespace warptsp::neighbor {

constexpr int max_ahead = 8;  // cities that a chain examines together, at most

// The best of `reach` neighbouring lanes, a power of two, on all of them: largest gain, lowest number.
__device__ __forceinline__ void best_of_lanes(double &gain, int &number, int reach) {
  for (int d = reach / 2; d > 0; d /= 2) {
    const double other = __shfl_xor_sync(all_lanes, gain, d);
    const int other_number = __shfl_xor_sync(all_lanes, number, d);
    if (other > gain || (other == gain && other_number < number)) {
      gain = other;
      number = other_number;
    }
  }
}

// Memory of a block, piece by piece.
struct Carver {
  unsigned char *at;
  template <class T>
  __device__ __forceinline__ T *take(long long count) {
    T *const piece = (T *)at;
    at += (count * sizeof(T) + 15) / 16 * 16;
    return piece;
  }
};

// The tour that one block writes.
struct TourInBlock {
  TourArrays tour;
  int *scratch;
};

// The tour in shared memory if it fits there (`inside`), with a buffer for the longest stretch that is written.
__device__ __forceinline__ TourInBlock tour_in_block(int n, int *order, int *position, int *scratch, int inside,
                                                     Carver &shared) {
  if (!inside) return TourInBlock{TourArrays{n, order, position}, scratch};
  TourArrays tour{n, shared.take<int>(n), shared.take<int>(n)};
  int *const buffer = shared.take<int>(3 * (long long)n / 4 + 1);
  for (int p = threadIdx.x; p < n; p += blockDim.x) {
    const int city = order[p];
    tour.order[p] = city;
    tour.position[city] = p;
  }
  __syncthreads();
  return TourInBlock{tour, buffer};
}

__device__ __forceinline__ void put_tour_back(const TourArrays &tour, int *order, int *position) {
  __syncthreads();
  for (int p = threadIdx.x; p < tour.size; p += blockDim.x) {
    const int city = tour.order[p];
    order[p] = city;
    position[city] = p;
  }
}

// Cities that a block examines together, in its shared memory. Threads first take one neighbour each, and leave the open
// moves in a list; then a few lanes share the loop of each. A city whose edge is long has a thousand times the work of
// another, and would keep its warp waiting otherwise.
class Members {
 public:
  int *city;
  u64 *gain, *known;  // bits of the largest gain so far; what it was when `number` and `move` were written
  int *number;
  NeighborMove *move;
  unsigned char *open;  // [members][2] whether farther neighbours may gain something, on each side
  int *opened;          // how many there are of
  OpenMove *item;
  int *of;  // the member

  __device__ __forceinline__ Members(Carver &shared, int most)
      : city(shared.take<int>(most)), gain(shared.take<u64>(most)), known(shared.take<u64>(most)),
        number(shared.take<int>(most)), move(shared.take<NeighborMove>(most)),
        open(shared.take<unsigned char>(2 * most)), opened(shared.take<int>(1)),
        item(shared.take<OpenMove>(2 * pairs_of(most))), of(shared.take<int>(2 * pairs_of(most))) {}
  __device__ __forceinline__ static int pairs_of(int members) { return members * 2 * neighbors_at_once; }

  // By one thread.
  __device__ __forceinline__ void enter(int member, int which, bool wanted) const {
    city[member] = which;
    gain[member] = known[member] = 0;
    open[2 * member] = open[2 * member + 1] = wanted;
  }
  __device__ __forceinline__ bool is_open(int member) const { return open[2 * member] || open[2 * member + 1]; }

  // The neighbours from number `from` on, as many as are examined together, of the first `members`. Keeps the best move
  // of each: largest gain, lowest number.
  template <bool Three, int ItemLanes, class Lists>
  __device__ __forceinline__ void examine(const Lists &lists, const TourArrays &tour, int members, int from,
                                          long long &evaluations) const {
    const int pairs = pairs_of(members), groups = blockDim.x / ItemLanes;
    for (int first = 0; first < pairs; first += blockDim.x) {
      const int pair = first + threadIdx.x, k = from + pair % neighbors_at_once;
      const int side = pair / neighbors_at_once % 2, member = pair < pairs ? pair / neighbors_at_once / 2 : 0;
      __syncthreads();
      const bool wanted = pair < pairs && open[2 * member + side];
      if (threadIdx.x == 0) *opened = 0;
      __syncthreads();
      NeighborMove own;
      own.clear();
      if (wanted) {
        const auto go_on = [&](const OpenMove &move) {
          const int slot = atomicAdd(opened, 1);
          item[slot] = move;
          of[slot] = member;
        };
        if (k >= lists.width || !open_pair<Three>(lists, tour, city[member], side, k, own, evaluations, go_on))
          open[2 * member + side] = 0;
      }
      bool any = own.found();
      if (any) atomicMax(gain + member, bits_of(own.gain));
      int items = 0;
      if (Three) {
        __syncthreads();
        items = *opened;
        for (int begin = 0; begin < items; begin += groups) {
          const int i = begin + threadIdx.x / ItemLanes;
          NeighborMove best;
          best.clear();
          if (i < items) go_on_from(lists, tour, item[i], best, evaluations, threadIdx.x % ItemLanes, ItemLanes);
          double most = best.gain;
          int lowest = best.number;
          best_of_lanes(most, lowest, ItemLanes);
          __syncwarp();  // all have read the item
          if (i < items && threadIdx.x % ItemLanes == 0) item[i].gain = most;
          if (best.found() && best.number == lowest) {  // one lane of them has it, and leaves what is to be known of it
            item[i].number = lowest;
            item[i].t3 = best.t[2];
            item[i].t4 = best.t[3];
            item[i].q = best.t[4];
            item[i].side = best.t[5];
            atomicMax(gain + of[i], bits_of(most));
            any = true;
          }
        }
      }
      if (!__syncthreads_or(any)) continue;
      if ((int)threadIdx.x < members && gain[threadIdx.x] != known[threadIdx.x]) {
        known[threadIdx.x] = gain[threadIdx.x];
        number[threadIdx.x] = 0x7fffffff;
      }
      __syncthreads();
      const bool largest = own.found() && bits_of(own.gain) == gain[member];
      if (largest) atomicMin(number + member, own.number);
      for (int i = threadIdx.x; i < items; i += blockDim.x)
        if (is_largest(i)) atomicMin(number + of[i], item[i].number);
      __syncthreads();
      if (largest && own.number == number[member]) move[member] = own;
      for (int i = threadIdx.x; i < items; i += blockDim.x)
        if (is_largest(i) && item[i].number == number[of[i]]) {
          const OpenMove &m = item[i];
          move[of[i]] = NeighborMove{m.gain, m.number, 6, {m.t1, m.t2, m.t3, m.t4, m.q, m.side}};
        }
    }
  }

 private:
  // Positive numbers are ordered as their bits are.
  __device__ __forceinline__ static u64 bits_of(double v) { return (u64)__double_as_longlong(v); }
  __device__ __forceinline__ bool is_largest(int i) const {
    return item[i].gain > 0.0 && bits_of(item[i].gain) == gain[of[i]];
  }
};

// What the threads of a block do together.
struct BlockThreads {
  __device__ __forceinline__ void kicked() const {}
  template <class F>
  __device__ __forceinline__ void each(int count, F &&f) const {
    __syncthreads();
    for (int k = threadIdx.x; k < count; k += blockDim.x) f(k);
    __syncthreads();
  }
  template <class F>
  __device__ __forceinline__ void once(F &&f) const {
    __syncthreads();
    if (threadIdx.x == 0) f();
    __syncthreads();
  }
};

// The threads of a chain's block.
struct BlockLanes : BlockThreads {
  Members members;
  int ahead;  // cities to examine together: one while moves are being found, which would make the others' examination void

  __device__ __forceinline__ BlockLanes(const Members &of, int first_ahead) : members(of), ahead(first_ahead) {}
  __device__ __forceinline__ void kicked() { ahead = 1; }
  __device__ __forceinline__ int at_once() const { return ahead; }

  template <bool Three, class Lists>
  __device__ __forceinline__ int examine(const Lists &lists, const TourArrays &tour, const ChainQueue &queue, int count,
                                         NeighborMove &move, long long &evaluations) {
    if ((int)threadIdx.x < count) members.enter(threadIdx.x, queue.at(threadIdx.x), true);
    int first = count;
    for (int from = 0; from < lists.width && first > 0; from += neighbors_at_once) {
      __syncthreads();
      if (!__syncthreads_or((int)threadIdx.x < first && members.is_open(threadIdx.x))) break;
      members.examine<Three, 16>(lists, tour, first, from, evaluations);
      __syncthreads();
      for (int member = first - 1; member >= 0; --member)
        if (members.gain[member] > 0) first = member;
    }
    if (first < count) move = members.move[first];
    ahead = first < count ? 1 : 2 * ahead < max_ahead ? 2 * ahead : max_ahead;
    return first;
  }
};

}  // namespace warptsp::neighbor
