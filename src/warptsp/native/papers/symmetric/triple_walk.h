// A descent of symmetrical 3-opt moves by all blocks of a GPU. For the device compiler alone.
#pragma once
#include "papers/symmetric/grid_talk.h"
#include "papers/symmetric/rung_filter.h"
#include "papers/symmetric/triples.h"

namespace warptsp::symmetric {

// A block's copy of the tour. Each warp decides a group of a row at a time, a rung a lane.
struct TripleTour {
  const SymmetricInstance &instance;
  float2 *place;  // by position, as the two behind it
  float *edge;    // to the next position
  int *city, *next;
  float longest = 0;  // edge

  __device__ TripleTour(const SymmetricInstance &of, unsigned char *memory)
      : instance(of), place((float2 *)memory), edge((float *)(place + of.size)), city((int *)(edge + of.size)),
        next(city + of.size) {}

  // Places and edges of the cities; `most` is in shared memory.
  __device__ void load(int *most) {
    const int n = instance.size;
    if (threadIdx.x == 0) *most = 0;
    __syncthreads();
    float own_longest = 0;
    for (int p = threadIdx.x; p < n; p += blockDim.x) {
      const int own = city[p];
      if (instance.planar) place[p] = make_float2(instance.plane_x(own), instance.plane_y(own));
      edge[p] = instance.edge(own, city[p + 1 == n ? 0 : p + 1]);
      own_longest = fmaxf(own_longest, edge[p]);
    }
    atomicMax(most, __float_as_int(own_longest));  // of numbers that are not negative the order is the same
    __syncthreads();
    longest = __int_as_float(*most);
  }

  __device__ bool shortens(const TripleRow &row, int group, int rung) const {
    return symmetric::shortens(instance, triple_at(row, instance.size, group, rung), row.turned, city, edge);
  }

  // Which rungs of a group shorten the tour: on all lanes of a warp.
  __device__ unsigned decide(const TripleRow &row, int group) const {
    const int rung = threadIdx.x % warp_size;
    return __ballot_sync(all_lanes, is_triple(row, instance.size, group, rung) && shortens(row, group, rung));
  }

  // Leaves in `found`, of all warps, the first group of a row with a rung that shortens the tour. None comes up at or
  // behind the number that stands there.
  __device__ void first_group(const TripleRow &row, int *found) const {
    const int n = instance.size, rung = threadIdx.x % warp_size, warps = blockDim.x / warp_size;
    const bool valid = has_edges(row, n, rung);
    const float limit = triple_limit(instance);
    float2 a = {0, 0}, f = {0, 0};
    float base = 0;
    bool alive = valid;
    const int i = row.begin + rung;
    if (valid && instance.planar) {
      const int k = wrapped(i + row.apart - n, n), b = wrapped(i + 1 - n, n);
      a = place[i];
      f = place[wrapped(k + 1 - n, n)];
      base = between(place[k], place[b]) * less - (edge[i] + edge[k]) * more;
      alive = !(base - longest * more > limit);
    }
    if (!__any_sync(all_lanes, alive)) return;
    const int groups = groups_of(row);
    for (int group = 1 + threadIdx.x / warp_size; group <= groups && group < *(volatile int *)found; group += warps) {
      const int middle = middle_of(row, group, rung);
      bool passes = alive && middle >= 1 && middle < row.apart;
      if (passes && instance.planar) {
        const int j = wrapped(i + middle - n, n), after = wrapped(j + 1 - n, n);
        const float2 c = place[row.turned ? after : j], d = place[row.turned ? j : after];
        passes = !(base + (between(a, d) + between(c, f)) * less - edge[j] * more > limit);
      }
      if (!__any_sync(all_lanes, passes && shortens(row, group, rung))) continue;
      if (rung == 0) atomicMin(found, group);
      return;
    }
  }

  __device__ void apply(const Exchange &exchange, int *most) {
    const int n = instance.size;
    for (int at = threadIdx.x; at < n; at += blockDim.x)
      next[wrapped(exchange.first + at - n, n)] = city[wrapped(exchange.first + exchange.source(at) - n, n)];
    int *const before = city;
    city = next;
    next = before;
    __syncthreads();
    load(most);
  }
};

}  // namespace warptsp::symmetric
