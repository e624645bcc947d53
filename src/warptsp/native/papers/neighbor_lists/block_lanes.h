// How a block examines several cities at once, along their neighbour lists. For the device compiler alone.
#pragma once
#include "cuda/blocks.h"
#include "papers/neighbor_lists/iterated_search.h"

namespace warptsp::neighbor {

constexpr int max_ahead = 8;  // cities that a chain examines together, at most

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

// Moves whose first two edges are gone, lined up in shared memory.
struct OpenMoves {
  int capacity;
  int *count;
  OpenMove *move;
  int *of;  // what they belong to

  __device__ __forceinline__ OpenMoves(Carver &shared, int most)
      : capacity(most), count(shared.take<int>(1)), move(shared.take<OpenMove>(most)), of(shared.take<int>(most)) {}
};

// A city, its neighbour number `k` on one side, and what they belong to.
struct Pair {
  int city, side, k, of;  // k is -1 where there is none
};

// All moves of so many pairs: each is a thread's, which lines up the open moves, and then a few lanes share the loop of
// each of these. A city whose edge is long has a thousand times the work of another, and would keep its warp waiting
// otherwise. Calls found(of, move), and close(pair) where neither the pair nor any behind it can gain anything.
template <bool Three, int ItemLanes, class Lists, class At, class Close, class Found>
__device__ __forceinline__ void examine_pairs(const Lists &lists, const TourArrays &tour, const OpenMoves &open,
                                              int pairs, long long &evaluations, At &&pair_at, Close &&close,
                                              Found &&found) {
  const int batch = open.capacity / (lists.next_only ? 1 : 2);  // a pair opens so many moves at most
  for (int begin = 0; begin < pairs; begin += batch) {
    __syncthreads();
    if (threadIdx.x == 0) *open.count = 0;
    __syncthreads();
    const int end = min(pairs, begin + batch);
    for (int first = begin; first < end; first += blockDim.x) {
      const int i = first + threadIdx.x;
      const Pair pair = i < end ? pair_at(i) : Pair{0, 0, -1, 0};
      __syncwarp();  // all have looked before a farther neighbour is closed: those of a side are in one warp
      if (pair.k < 0) continue;
      NeighborMove move;
      move.clear();
      const bool more =
          open_pair<Three>(lists, tour, pair.city, pair.side, pair.k, move, evaluations, [&](const OpenMove &opened) {
            const int slot = atomicAdd(open.count, 1);
            open.move[slot] = opened;
            open.of[slot] = pair.of;
          });
      if (!more) close(pair);
      if (move.found()) found(pair.of, move);
    }
    if (!Three) continue;
    __syncthreads();
    for (int i = threadIdx.x / ItemLanes; i < *open.count; i += blockDim.x / ItemLanes) {
      NeighborMove move;
      move.clear();
      go_on_from(lists, tour, open.move[i], move, evaluations, threadIdx.x % ItemLanes, ItemLanes);
      if (move.found()) found(open.of[i], move);
    }
  }
  __syncthreads();
}

// Cities that a block examines together, in its shared memory.
class Members {
 public:
  int *city;
  NeighborMove *move;  // the best so far
  int *reach;          // [members][2] neighbours that may gain something, on each side, as far as that is known

  __device__ __forceinline__ Members(Carver &shared, int most)
      : city(shared.take<int>(most)), move(shared.take<NeighborMove>(most)), reach(shared.take<int>(2 * most)),
        lock_(shared.take<int>(most)), opened_(shared, 2 * pairs_of(most)) {}

  // By one thread.
  __device__ __forceinline__ void enter(int member, int which, bool wanted) const {
    city[member] = which;
    move[member].clear();
    lock_[member] = 0;
    reach[2 * member] = reach[2 * member + 1] = wanted ? 0x7fffffff : 0;
  }
  __device__ __forceinline__ bool is_open(int member, int from) const {
    return reach[2 * member] > from || reach[2 * member + 1] > from;
  }

  // The neighbours from number `from` on, as many as are examined together, of the first `members`. Keeps the best move
  // of each: largest gain, lowest number.
  template <bool Three, int ItemLanes, class Lists>
  __device__ __forceinline__ void examine(const Lists &lists, const TourArrays &tour, int members, int from,
                                          long long &evaluations) const {
    examine_pairs<Three, ItemLanes>(
        lists, tour, opened_, pairs_of(members), evaluations,
        [&](int i) {
          const int k = from + i % neighbors_at_once, side = i / neighbors_at_once % 2,
                    member = i / neighbors_at_once / 2;
          return Pair{city[member], side, k < lists.width && k < reach[2 * member + side] ? k : -1, member};
        },
        [&](const Pair &pair) { atomicMin(reach + 2 * pair.of + pair.side, pair.k); },
        [&](int member, const NeighborMove &found) { offer_to(member, found); });
  }

 private:
  int *lock_;
  OpenMoves opened_;

  __device__ __forceinline__ static int pairs_of(int members) { return members * 2 * neighbors_at_once; }

  __device__ __forceinline__ void offer_to(int member, const NeighborMove &found) const {
    for (bool done = false; !done;) {
      if (atomicCAS(lock_ + member, 0, 1) != 0) continue;
      __threadfence_block();
      NeighborMove &best = move[member];
      if (found.gain > best.gain || (found.gain == best.gain && found.number < best.number)) best = found;
      __threadfence_block();
      atomicExch(lock_ + member, 0);
      done = true;
    }
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
      if (!__syncthreads_or((int)threadIdx.x < first && members.is_open(threadIdx.x, from))) break;
      members.examine<Three, 16>(lists, tour, first, from, evaluations);
      __syncthreads();
      for (int member = first - 1; member >= 0; --member)
        if (members.move[member].found()) first = member;
    }
    if (first < count) move = members.move[first];
    ahead = first < count ? 1 : 2 * ahead < max_ahead ? 2 * ahead : max_ahead;
    return first;
  }
};

}  // namespace warptsp::neighbor
