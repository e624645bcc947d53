// One chain of symmetrical moves on all blocks of a GPU. For the device compiler alone.
#pragma once
#include "papers/symmetric/chain_walk.h"
#include "papers/symmetric/grid_talk.h"
#include "papers/symmetric/rung_filter.h"
#include "papers/symmetric/block_tour.h"

namespace warptsp::symmetric {

constexpr int max_ahead = 256;  // axes that the grid examines between two barriers

// The tour in device memory, which other blocks change: read and written past the first level of caches.
struct GridTour {
  int *city;
  float2 *place;
  float *edge;
};

// One chain on the whole GPU: every block has a stretch of the rungs of each axis. Where moves are few, a descent looks
// at many axes between two barriers. All threads of the grid have the same, but for `moves`.
struct GridWalk {
  const SymmetricInstance &instance;
  const GridTour &tour;
  SymmetricTalk *const talk;
  int *const flags;  // three a block
  const u64 end;     // nanoseconds
  const int n = instance.size, all = axes_of(instance),
            rungs = axis_at(instance, axes_an_iteration(instance) - 1).rungs;
  const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size, warps = blockDim.x / warp_size;
  const int stretch = (rungs + gridDim.x - 1) / gridDim.x;
  const int low = 1 + blockIdx.x * stretch, high = min(low + stretch, rungs + 1);  // rungs low to high - 1
  const int window = stretch + max_ahead + 2;
  float2 *const left_place, *const right_place = left_place + window;
  float *const left_edge = (float *)(right_place + window), *const right_edge = left_edge + window;
  unsigned *const words = (unsigned *)(right_edge + window);
  const int word_count = (stretch + blockDim.x - 1) / blockDim.x * warps;

  SymmetricState state;
  Cooling cooling;
  Acceptance acceptance;
  int phase = (int)(state.step % all);
  const bool cold = cooling.temperature <= 0;
  const bool near = axes_an_iteration(instance) <= 2;  // axes next to each other have the same cities but one
  float limit = acceptance.most(instance);
  u64 moves = 0;          // on the first lanes
  int slot = 0, gap = 0;  // axes from move to move, of late
  long long since = 0, made = 0;
  bool stop = false;

  __device__ __forceinline__ GridWalk(const SymmetricInstance &instance, const GridTour &tour, SymmetricTalk *talk,
                                      int *flags, u64 end, unsigned char *memory, const SymmetricState &state,
                                      const Cooling &cooling, const Acceptance &acceptance)
      : instance(instance), tour(tour), talk(talk), flags(flags), end(end), left_place((float2 *)memory), state(state),
        cooling(cooling), acceptance(acceptance) {}

  // So many axes, or fewer if the time is over or the tour 2-optimal.
  __device__ __forceinline__ void run(long long steps) {
    while (made < steps && !stop && !(cold && state.quiet >= all)) {
      if (blockIdx.x == 0 && threadIdx.x == 0) {
        talk->clear_behind(slot);
        if (nanoseconds() >= end) talk->stop[slot] = 1;
      }
      if (cold && gap > 2 && near) {
        if (!look_ahead() || stop || made >= steps) continue;
        if (blockIdx.x == 0 && threadIdx.x == 0) talk->clear_behind(slot);
      }
      make();
    }
  }

  // Examines some axes, and goes on to the first that has a move; false if none has.
  __device__ __forceinline__ bool look_ahead() {
    __shared__ int found_at;
    const int ahead = (int)min((long long)min(max(2 * gap, 8), max_ahead), all - state.quiet);
    const Axis first_axis = unwrapped_axis(instance, phase), last_axis = unwrapped_axis(instance, phase + ahead - 1);
    const int left_from = min(first_axis.left, last_axis.left) - high,
              left_to = max(first_axis.left, last_axis.left) - low;
    const int right_from = min(first_axis.right, last_axis.right - 1) + low,
              right_to = max(first_axis.right + 1, last_axis.right) + high;
    if (threadIdx.x == 0) found_at = ahead;
    if (instance.planar && low < high) {
      for (int p = left_from + threadIdx.x; p <= left_to; p += blockDim.x) {
        const int q = ((p % n) + n) % n;
        left_place[p - left_from] = __ldcg(tour.place + q);
        left_edge[p - left_from] = __ldcg(tour.edge + q);
      }
      for (int p = right_from + threadIdx.x; p <= right_to; p += blockDim.x) {
        const int q = ((p % n) + n) % n;
        right_place[p - right_from] = __ldcg(tour.place + q);
        right_edge[p - right_from] = __ldcg(tour.edge + q);
      }
    }
    __syncthreads();
    for (int j = warp; j < ahead && j < *(volatile int *)&found_at; j += warps) {
      const Axis axis = unwrapped_axis(instance, phase + j);
      bool found = false;
      for (int k = low + lane; k < high && !found; k += warp_size) {
        const int l = axis.left - k - left_from, r = axis.right + k - right_from;
        Planar rung;
        if (instance.planar) {
          rung = {left_place[l - 1],  left_place[l],    right_place[r],
                  right_place[r + 1], left_edge[l - 1], right_edge[r]};
          if (rung.exceeds(limit)) continue;
        }
        float2 edges;
        found = accepts(instance, rung, Acceptance{0.0, 0, 0}, 0, k, edges, [&] {
          const Axis at = axis_at(instance, phase + j >= all ? phase + j - all : phase + j);
          const int outer = left_of(at, k + 1, n), right = right_of(at, k, n);
          return Rung{__ldcg(tour.city + outer), __ldcg(tour.city + left_of(at, k, n)),
                      __ldcg(tour.city + right), __ldcg(tour.city + right_of(at, k + 1, n)),
                      __ldcg(tour.edge + outer), __ldcg(tour.edge + right)};
        });
      }
      if (__any_sync(all_lanes, found)) {
        if (lane == 0) atomicMin(&found_at, j);
        break;
      }
    }
    __syncthreads();
    if (threadIdx.x == 0 && found_at < ahead) atomicMin(&talk->first[slot], (u64)(state.step + found_at));
    grid_barrier(&talk->arrived);
    const u64 first = talk->first_at(slot);
    stop = talk->stop_at(slot);
    slot = (slot + 1) % 3;
    const long long skipped = first == nothing ? ahead : (long long)first - state.step;
    skip(instance, skipped, state.step, state.quiet);
    phase = (int)((phase + skipped) % all);
    since += skipped;
    made += skipped;
    if (first == nothing) gap = min(2 * gap, max_ahead);
    return first != nothing;
  }

  // Decides and applies one axis.
  __device__ __forceinline__ void make() {
    const Axis axis = axis_at(instance, phase);
    int behind = 0;
    const bool moved = decide(axis, behind);
    if (moved) {
      apply(axis, __syncthreads_count(behind) & 1);
      grid_barrier(&talk->arrived);
      gap = (int)min((3LL * gap + since + 3) / 4, (long long)max_ahead);
      since = 0;
    } else {
      since++;
      if (since > 2 && gap <= 2) gap = 3;
    }
    state.step++;
    made++;
    state.quiet = quiet_after(instance, state.quiet, state.step, moved);
    if (++phase == all) phase = 0;
    if (!cold) {
      cooling.advance();
      if (cooling.spent == 0) {
        acceptance.temperature = cooling.temperature;
        limit = acceptance.most(instance);
      }
    }
  }

  // Whether any rung of the axis is accepted; `behind` is odd on threads that count an odd number in later blocks.
  __device__ __forceinline__ bool decide(const Axis &axis, int &behind) {
    const u64 key = acceptance.key(state.step);
    bool found = false;
    for (int from = 0; from < stretch; from += blockDim.x) {
      const int k = low + from + threadIdx.x;
      bool accepted = false;
      if (k >= axis.first && k <= axis.rungs && k < high) {
        const int outer = left_of(axis, k + 1, n), left = left_of(axis, k, n), right = right_of(axis, k, n),
                  beyond = right_of(axis, k + 1, n);
        const float ab = __ldcg(tour.edge + outer), cd = __ldcg(tour.edge + right);
        Planar rung;
        bool passes = true;
        if (instance.planar) {
          rung = {__ldcg(tour.place + outer),
                  __ldcg(tour.place + left),
                  __ldcg(tour.place + right),
                  __ldcg(tour.place + beyond),
                  ab,
                  cd};
          passes = !rung.exceeds(limit);
        }
        if (passes) {
          float2 edges;
          accepted = accepts(instance, rung, acceptance, key, k, edges, [&] {
            return Rung{__ldcg(tour.city + outer),
                        __ldcg(tour.city + left),
                        __ldcg(tour.city + right),
                        __ldcg(tour.city + beyond),
                        ab,
                        cd};
          });
          if (accepted) {
            __stcg(tour.edge + outer, edges.x);
            __stcg(tour.edge + right, edges.y);
            found = true;
          }
        }
      }
      const unsigned word = __ballot_sync(all_lanes, accepted);
      if (lane == 0) {
        words[(from + threadIdx.x) / 32] = word;
        moves += __popc(word);
      }
    }
    const bool any_here = __syncthreads_or(found);
    if (warp == 0) {
      const bool odd = any_here && (odd_behind(words, word_count, 0) ^ (words[0] & 1));
      if (lane == 0) __stcg(flags + slot * gridDim.x + blockIdx.x, (int)any_here << 1 | (int)odd);
    }
    grid_barrier(&talk->arrived);
    stop = talk->stop_at(slot);
    int any = 0;
    for (int b = threadIdx.x; b < gridDim.x; b += blockDim.x) {
      const int flag = __ldcg(flags + slot * gridDim.x + b);
      any |= flag;
      behind ^= b > blockIdx.x ? flag & 1 : 0;
    }
    const bool moved = __syncthreads_or(any);
    slot = (slot + 1) % 3;
    return moved;
  }

  // Exchanges what accepted rungs reverse; `odd_blocks`: an odd number of them lie in later blocks.
  __device__ __forceinline__ void apply(const Axis &axis, bool odd_blocks) {
    for (int from = 0; from < stretch; from += blockDim.x) {
      const int bit = from + threadIdx.x, k = low + bit;
      const bool beyond = odd_behind(words, word_count, bit) ^ odd_blocks;
      if (k >= high) continue;
      const bool crossed = beyond ^ (words[bit / 32] >> (bit % 32) & 1);
      const int left = left_of(axis, k, n), right = right_of(axis, k, n), outer = left_of(axis, k + 1, n);
      const float inner_edge = __ldcg(tour.edge + right);
      if (crossed) {
        const float2 place = __ldcg(tour.place + left);
        __stcg(tour.place + left, __ldcg(tour.place + right));
        __stcg(tour.place + right, place);
        const int city = __ldcg(tour.city + left);
        __stcg(tour.city + left, __ldcg(tour.city + right));
        __stcg(tour.city + right, city);
        if (k == 1 && axis.left == axis.right) {
          const float edge = __ldcg(tour.edge + left);
          __stcg(tour.edge + left, __ldcg(tour.edge + axis.left));
          __stcg(tour.edge + axis.left, edge);
        }
      }
      if (beyond) {
        __stcg(tour.edge + right, __ldcg(tour.edge + outer));
        __stcg(tour.edge + outer, inner_edge);
      }
    }
  }
};

}  // namespace warptsp::symmetric
