// A chain of symmetrical moves whose block is one warp. For the device compiler alone.
#pragma once
#include "papers/symmetric/block_tour.h"

namespace warptsp::symmetric {

// The tour of a chain whose block is one warp, with up to 2^rung_bits rungs around a centre; in the order of the
// threads. Few rungs pass the filter: they are lined up, so that what is dear is done once for 32 of them, be they around one
// centre or several. What is loaded together is asked for together, since one warp has nobody to wait with.
struct WarpTour : BlockTour {
  static constexpr int rung_bits = 10;  // a word of bits a lane
  static constexpr int group = 4;       // words of rungs that are evaluated side by side
  const int rungs;
  unsigned short *queue;  // rungs that passed, minus 1, and above that how many centres ahead

  __device__ WarpTour(const SymmetricInstance &of, unsigned char *memory)
      : BlockTour(of, memory), rungs((of.size - 1) / 2 - 1), queue((unsigned short *)(words + (1 << rung_bits) / 32)) {
    words[threadIdx.x] = 0;
  }

  __device__ Axis around(int center, int ahead) const {
    const int at = right_of({center, center, 0}, ahead, instance.size);
    return {at, at, rungs};
  }

  // Examines so many centres, and applies the rungs accepted of the first that has any. Returns how many were passed
  // with that. Lane `turn` and those behind it hold the centres' keys.
  template <bool Filter>
  __device__ int pass(Walk &walk, int centers, u64 keys, int turn, bool &moved) {
    const int n = instance.size, lane = threadIdx.x, center = walk.axis().left;
    const unsigned earlier = (1u << lane) - 1;
    int top = 0, waiting = 0;  // the outermost rung accepted; the rungs in the queue
    for (int j = 0, from = 0; j < centers;) {
      int entry[group];
      Planar rung[group];
      bool passes[group];
#pragma unroll
      for (int g = 0; g < group; g++) {
        const bool wanted = j < centers && from + lane < rungs;
        const int k = min(from + lane + 1, rungs);
        entry[g] = wanted ? j << rung_bits | (k - 1) : -1;
        if (Filter) rung[g] = planar(around(center, j), k);
        from += warp_size;
        j += from >= rungs;
        from = from >= rungs ? 0 : from;
      }
#pragma unroll
      for (int g = 0; g < group; g++) {
        passes[g] = entry[g] >= 0;
        if (Filter) passes[g] &= !rung[g].exceeds(walk.limit);
      }
#pragma unroll
      for (int g = 0; g < group; g++) {
        const unsigned word = __ballot_sync(all_lanes, passes[g]);
        if (passes[g]) queue[waiting + __popc(word & earlier)] = (unsigned short)entry[g];
        waiting += __popc(word);
      }
      if (waiting == 0 || (waiting < warp_size && j < centers)) continue;
      __syncwarp();
      for (int first = 0; first < waiting; first += warp_size) {
        const int own = queue[min(first + lane, waiting - 1)], ahead = own >> rung_bits;
        const int k = (own & ((1 << rung_bits) - 1)) + 1;
        const u64 key = __shfl_sync(all_lanes, keys, turn + ahead);
        const Axis axis = around(center, ahead);
        float2 edges;
        bool accepted = first + lane < waiting && ahead < centers;
        if (accepted) {
          Cooling then = walk.cooling;
          if (then.spent + ahead >= then.iterations) then.advance(ahead);
          accepted = test(axis, k, key, Acceptance{then.temperature, 0, 0}, walk.limit, edges);
        }
        unsigned which = __ballot_sync(all_lanes, accepted);
        if (which == 0) continue;
        __syncwarp();  // before edges are written that other lanes have read
        // Centres behind the first that moves have to wait for it.
        centers = __shfl_sync(all_lanes, ahead, __ffs(which) - 1) + 1;
        accepted &= ahead < centers;
        if (accepted) {
          edge[left_of(axis, k + 1, n)] = edges.x;
          edge[right_of(axis, k, n)] = edges.y;
          atomicOr(words + (k - 1) / 32, 1u << (k - 1) % 32);
        }
        which = __ballot_sync(all_lanes, accepted);
        top = __shfl_sync(all_lanes, k, 31 - __clz(which));
        if (lane == 0) walk.moves += __popc(which);
      }
      waiting = 0;
      __syncwarp();
    }
    moved = top > 0;
    if (moved) apply_words(around(center, centers - 1), top);
    return centers;
  }

  // Applies the rungs whose bits are set in `words`, the outermost of them `top`, and clears the bits.
  __device__ void apply_words(const Axis &axis, int top) {
    const int n = instance.size, lane = threadIdx.x;
    const unsigned own = words[lane];  // of word `lane`
    words[lane] = 0;
    const unsigned odd = __ballot_sync(all_lanes, __popc(own) & 1);
    for (int w = (top - 1) / 32; w >= 0; w -= 2) {
      bool beyond[2], crossed[2];
      int left[2], right[2], outer[2], left_city[2], right_city[2];
      float2 left_place[2], right_place[2];
      float outer_edge[2], right_edge[2];
#pragma unroll
      for (int i = 0; i < 2; i++) {
        const int at = w - i, k = min(32 * max(at, 0) + lane + 1, rungs);
        const unsigned word = __shfl_sync(all_lanes, own, max(at, 0));
        beyond[i] = at >= 0 && ((__popc(word >> lane >> 1) + __popc(odd >> max(at, 0) >> 1)) & 1) != 0;
        crossed[i] = at >= 0 && beyond[i] != ((word >> lane & 1) != 0);
        left[i] = left_of(axis, k, n);
        right[i] = right_of(axis, k, n);
        outer[i] = left_of(axis, k + 1, n);
        if (crossed[i]) {
          left_place[i] = place[left[i]];
          right_place[i] = place[right[i]];
          left_city[i] = city[left[i]];
          right_city[i] = city[right[i]];
        }
        if (beyond[i]) {
          outer_edge[i] = edge[outer[i]];
          right_edge[i] = edge[right[i]];
        }
      }
#pragma unroll
      for (int i = 0; i < 2; i++) {
        if (crossed[i]) {
          place[left[i]] = right_place[i];
          place[right[i]] = left_place[i];
          city[left[i]] = right_city[i];
          city[right[i]] = left_city[i];
        }
        if (beyond[i]) {
          edge[outer[i]] = right_edge[i];
          edge[right[i]] = outer_edge[i];
        }
        // Around the city in the centre there are two more edges.
        if (w - i == 0 && lane == 0 && crossed[i]) exchange(edge + left[i], edge + axis.left);
      }
    }
    __syncwarp();
  }
};

// Every block is one warp, which does the same, in the order of the threads. It examines several centres at a time
// while moves are few: what it waits for then it waits for once.
template <bool Filter>
__device__ __forceinline__ void walk_alone(WarpTour &tour, Walk &walk, long long steps) {
  constexpr int max_words = 16;  // of rungs that one examination should evaluate
  const int n = walk.instance.size, lane = threadIdx.x;
  const int max_ahead = max(1, min(n, max_words * warp_size / tour.rungs));
  u64 keys = 0;  // of the steps from the last multiple of 32 on, one a lane
  int ahead = 1;
  for (long long left = steps; left > 0 && !walk.is_done();) {
    const int turn = (unsigned)walk.state.step % warp_size;
    if (!walk.cold && (turn == 0 || left == steps)) keys = walk.acceptance.key(walk.state.step - turn + lane);
    const long long most = walk.cold ? min(left, n - walk.state.quiet) : left;
    const int count = (int)min(most, (long long)min(ahead, warp_size - turn));
    bool moved;
    const int passed = tour.pass<Filter>(walk, count, keys, turn, moved);
    ahead = moved ? (ahead + passed + 1) / 2 : min(2 * ahead, max_ahead);
    left -= passed;
    walk.pass(passed, moved);
  }
}

}  // namespace warptsp::symmetric
