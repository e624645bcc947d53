// Passes over all cities by all blocks of a grid. A pass finds the best move of all cities; every block makes it in the
// copy of the tour in its shared memory, or all of them make it together in device memory. For the device compiler alone.
#pragma once
#include "cuda/grid.h"
#include "papers/neighbor_lists/block_lanes.h"

namespace warptsp::neighbor {

constexpr int row_lanes = 8;     // threads that look at the neighbours of a city on one side
constexpr int pair_lanes = 4;    // that share the first moves of a pair
constexpr int open_lanes = 8;    // that share the others, if there are any
constexpr int max_pairs = 6144;  // that a block lines up
constexpr int max_open = 256;    // moves that it opens at once
constexpr int move_words = 9;    // in which a block tells the others its best move

// What the threads do together: those of a block, or of the grid where all blocks have one tour.
struct PassThreads : BlockThreads {
  unsigned *arrived;  // at the barrier of the grid; null: of a block

  __device__ __forceinline__ explicit PassThreads(unsigned *of) : arrived(of) {}
  template <class F>
  __device__ __forceinline__ void each(int count, F &&f) const {
    if (arrived == nullptr) return BlockThreads::each(count, f);
    grid_barrier(arrived);
    for (int k = (int)global_thread(); k < count; k += (int)(gridDim.x * blockDim.x)) f(k);
    grid_barrier(arrived);
  }
};

// In shared memory. Of two rounds, in which the best of the block and that of all blocks are found.
struct PassMemory {
  int pairs, open;
  u64 gain[2], key[2];
  NeighborMove move;
  int city;
  Rewrite rewrite;
};

// The pairs that may gain something, and moves of theirs whose first two edges are gone.
struct LinedUp {
  unsigned short *pair;  // [max_pairs]
  OpenMove *open;        // [max_open]
  int *city;             // [max_open] whose they are

  __device__ __forceinline__ explicit LinedUp(Carver &shared)
      : pair(shared.take<unsigned short>(max_pairs)), open(shared.take<OpenMove>(max_open)),
        city(shared.take<int>(max_open)) {}
};

// A block tells the others its best move in words whose upper half is the number of the pass: each of them is there as a
// whole or not at all, so that reading them is the barrier, too, and no cache need be emptied. Passes take two places in
// turn, since a block may be one pass ahead of another and not more.
template <bool Three, class Lists>
class SharedPasses {
 public:
  long long evaluations = 0;   // of this thread
  u64 examined = 0, made = 0;  // cities of this block; moves

  // `words` has 2 * move_words for each block, 0 when the kernel starts.
  __device__ __forceinline__ SharedPasses(const Lists &lists, const TourArrays &tour, const LinedUp &lined_up,
                                          u64 *words, PassMemory *memory)
      : lists_(lists), tour_(tour), lined_up_(lined_up), words_(words), memory_(memory) {
    const int cities = (tour.size + gridDim.x - 1) / gridDim.x;
    begin_ = min(tour.size, (int)blockIdx.x * cities);
    end_ = min(tour.size, begin_ + cities);
  }

  // Finds the best move of all cities: largest gain, lowest city, lowest number. False if there is none; otherwise its
  // gain, and what it writes.
  __device__ bool find(double &gain, Rewrite &rewrite) {
    __syncthreads();  // all know what the last pass has found
    if (threadIdx.x == 0) {
      memory_->gain[0] = memory_->gain[1] = 0;
      memory_->key[0] = memory_->key[1] = ~0ull;
    }
    NeighborMove best;
    best.clear();
    int city = no_city;
    const int at_once = max_pairs / (lists_.width * sides());
    for (int first = begin_; first < end_; first += at_once) examine(first, min(at_once, end_ - first), best, city);
    examined += end_ - begin_;
    bool any = best_of_block(best, city, (u64)(unsigned)city << 32 | (u64)(unsigned)best.number, 0);
    if (gridDim.x > 1) {
      tell(any);
      hear(best, city);
      any = best_of_block(best, city, (u64)(unsigned)city, 1);
    }
    if (!any) return false;
    if (threadIdx.x == 0) memory_->rewrite = rewrite_of(tour_, memory_->move);
    __syncthreads();
    gain = memory_->move.gain;
    rewrite = memory_->rewrite;
    ++made;
    return true;
  }

 private:
  static constexpr int no_city = 0x7fffffff;

  Lists lists_;
  TourArrays tour_;
  LinedUp lined_up_;
  u64 *words_;
  PassMemory *memory_;
  int begin_, end_;  // cities of this block
  unsigned pass_ = 0;

  __device__ __forceinline__ int sides() const { return lists_.next_only ? 1 : 2; }

  // Of `count` cities: first all threads line up the pairs that may gain something. Then a few of them share the first
  // moves of each, and some more the moves of those that have others: a city whose edge is long has a thousand times the
  // work of another, and would keep its warp waiting otherwise.
  __device__ __forceinline__ void examine(int first, int count, NeighborMove &best, int &city) {
    const int width = lists_.width, rows = count * sides(), share = threadIdx.x % pair_lanes;
    __syncthreads();  // all have taken what was lined up before
    if (threadIdx.x == 0) memory_->pairs = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < rows * row_lanes; i += blockDim.x) {
      const int row = i / row_lanes, own = first + row / sides(), step = lists_.next_only || row % sides() ? 1 : -1;
      const double edge = (double)lists_.metric(own, tour_.order[tour_.wrap(tour_.position[own] + step)]);
      for (int k = i % row_lanes; k < width; k += row_lanes) {
        if (lists_.neighbor(own, k) < 0 || !(edge - lists_.length(own, k) > 0.0)) break;
        lined_up_.pair[atomicAdd(&memory_->pairs, 1)] = (unsigned short)(row * width + k);
      }
    }
    if (threadIdx.x == 0) memory_->open = 0;
    __syncthreads();
    const int pairs = memory_->pairs, batch = max_open / sides();  // one opens as many moves at most
    for (int begin = 0; begin < pairs; begin += batch) {
      for (int i = begin + threadIdx.x / pair_lanes; i < min(pairs, begin + batch); i += blockDim.x / pair_lanes) {
        const int pair = lined_up_.pair[i], row = pair / width, own = first + row / sides();
        NeighborMove found;
        found.clear();
        long long opened = 0;
        open_pair<Three>(lists_, tour_, own, row % sides(), pair % width, found, opened, [&](const OpenMove &open) {
          go_on_from(lists_, tour_, open, found, evaluations, share, width);
          if (share != 0 || !may_follow(lists_, tour_, open, pair_lanes)) return;
          const int slot = atomicAdd(&memory_->open, 1);
          lined_up_.open[slot] = open;
          lined_up_.city[slot] = own;
        });
        if (share == 0) evaluations += opened;
        // The first thread has the 2-opt move, too, which is better than what it hides here.
        if (share == 0 || found.cities != 4) offer(own, found, best, city);
      }
      __syncthreads();
      const int open = memory_->open;
      for (int i = threadIdx.x / open_lanes; i < open; i += blockDim.x / open_lanes) {
        NeighborMove found;
        found.clear();
        go_on_from(lists_, tour_, lined_up_.open[i], found, evaluations, pair_lanes + threadIdx.x % open_lanes,
                   open_lanes);
        offer(lined_up_.city[i], found, best, city);
      }
      if (begin + batch >= pairs) break;
      __syncthreads();
      if (threadIdx.x == 0) memory_->open = 0;
      __syncthreads();
    }
  }

  __device__ __forceinline__ static void offer(int own, const NeighborMove &found, NeighborMove &best, int &city) {
    const bool lower = own < city || (own == city && found.number < best.number);
    if (!found.found() || !(found.gain > best.gain || (found.gain == best.gain && lower))) return;
    best = found;
    city = own;
  }

  // Leaves the best of the threads' moves, of equal gains that with the lowest key, to all of them; false if there is none.
  __device__ __forceinline__ bool best_of_block(const NeighborMove &own, int city, u64 key, int round) const {
    if (!__syncthreads_or(own.found())) return false;
    const u64 gain = (u64)__double_as_longlong(own.gain);  // positive numbers are ordered as their bits are
    if (own.found()) atomicMax(&memory_->gain[round], gain);
    __syncthreads();
    const bool largest = own.found() && gain == memory_->gain[round];
    if (largest) atomicMin(&memory_->key[round], key);
    __syncthreads();
    if (largest && key == memory_->key[round]) {
      memory_->move = own;
      memory_->city = city;
    }
    __syncthreads();
    return true;
  }

  __device__ __forceinline__ u64 *word(int number, int block) const {
    return words_ + ((long long)(pass_ & 1u) * move_words + number) * gridDim.x + block;
  }

  // What this block has found, for all blocks.
  __device__ __forceinline__ void tell(bool any) {
    ++pass_;
    const int number = threadIdx.x;
    if (number >= move_words) return;
    const NeighborMove &move = memory_->move;
    const u64 gain = any ? memory_->gain[0] : 0;
    unsigned value = 0xffffffffu;
    if (number == 0)
      value = (unsigned)(gain >> 32);
    else if (number == 1)
      value = (unsigned)gain;
    else if (number == 2)
      value = any ? (unsigned)memory_->city : (unsigned)no_city;
    else if (any && number - 3 < move.cities)
      value = (unsigned)move.t[number - 3];
    *(volatile u64 *)word(number, blockIdx.x) = (u64)pass_ << 32 | value;
  }

  // The best of what the blocks tell, a thread for each; waits for them.
  __device__ __forceinline__ void hear(NeighborMove &best, int &city) const {
    best.clear();
    city = no_city;
    for (int block = threadIdx.x; block < (int)gridDim.x; block += blockDim.x) {
      unsigned value[move_words];
      for (bool all = false; !all;) {
        all = true;
        WARPTSP_UNROLL
        for (int number = 0; number < move_words; ++number) {
          const u64 found = *(const volatile u64 *)word(number, block);
          value[number] = (unsigned)found;
          all = all && (unsigned)(found >> 32) == pass_;
        }
      }
      const double gain = __longlong_as_double((long long)((u64)value[0] << 32 | value[1]));
      if (!(gain > best.gain || (gain == best.gain && (int)value[2] < city))) continue;
      city = (int)value[2];
      best.gain = gain;
      best.cities = city == no_city ? 0 : value[8] == 0xffffffffu ? 4 : 6;
      WARPTSP_UNROLL
      for (int e = 0; e < 6; ++e) best.t[e] = (int)value[3 + e];
    }
  }
};

}  // namespace warptsp::neighbor
