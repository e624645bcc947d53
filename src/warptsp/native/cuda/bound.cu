// Long: one ascent, compiled as one module. The Held-Karp lower bound in the plane: see bound/held_karp.h. Spanning
// trees by Boruvka's algorithm, all rounds in one launch; steps; and which pairs of all cities a spanning tree has
// wrongly left out. All lengths are whole numbers, and what several threads add up or compare does not depend on their
// order.
#include "blocks.h"
#include "bound/merge_tree.h"
#include "grid.h"
#include "space/point_tree.h"
#include "space/sectors.h"

using namespace warptsp;
using namespace warptsp::bound;
using namespace warptsp::space;

constexpr int threads = 256;
constexpr u64 no_edge = ~(u64)0;

struct BoundArc {
  int to, cost;
};

// An edge between two components, and the arc that it is.
struct LevelEdge {
  int a, b, length, arc;
};

// A graph, and what a spanning tree of it is made in.
struct TreeOnDevice {
  const int *first;      // the arcs of city v are first[v] to first[v + 1] - 1, in ascending order
  const BoundArc *arcs;  // each edge twice
  const int *owner;      // the city of each arc
  const int *potential;
  MergeNode *nodes;                // 2 n
  int *partner, *chosen, *number;  // of components: the one at the other end, the arc to it, its number later
  u64 *best;                       // of components: its shortest edge out, as length and arc
  LevelEdge *edges, *other_edges;  // as many as there are
  int *taken;                      // arcs of the tree
  int *counts;                     // components of each level, and edges between them; 0 at the start
  int *surplus;                    // edges of the tree at each city, less 2
  long long *tree_length;
  unsigned *arrived;
  int n;
};

constexpr int max_levels = 32;  // the number of components is at least halved

__device__ __forceinline__ long long grid_threads() { return (long long)gridDim.x * threads; }

// A place in a list for each of those lanes that come here together.
__device__ __forceinline__ int append(int *count) {
  const unsigned here = __activemask();
  const int lane = threadIdx.x % warp_size, leader = __ffs((int)here) - 1;
  int first = 0;
  if (lane == leader) first = atomicAdd(count, __popc(here));
  return __shfl_sync(here, first, leader) + __popc(here & ((1u << lane) - 1u));
}

__device__ __forceinline__ void add_to(long long *sum, long long value) {
  atomicAdd((unsigned long long *)sum, (unsigned long long)value);
}

// The node of a level, whose first one is `begin`, above a city.
__device__ __forceinline__ int component_of(const MergeNode *nodes, int city, int begin) {
  int at = city;
  while (at < begin) at = nodes[at].up;
  return at - begin;
}

__device__ __forceinline__ void offer(u64 *best, int component, u64 key) {
  if (key < *(volatile u64 *)(best + component)) atomicMin((unsigned long long *)best + component, key);
}

__device__ __forceinline__ void offer_edge(const TreeOnDevice &t, LevelEdge *edges, int *count, const LevelEdge &edge) {
  edges[append(count)] = edge;
  const u64 key = (u64)((long long)edge.length - no_length) << 32 | (u32)edge.arc;
  offer(t.best, edge.a, key);
  offer(t.best, edge.b, key);
}

// Of equally long edges the first in ascending order of (smaller city, larger city) is the shorter one: at a city that
// is the arc that comes first, and of all edges the one whose upward arc does.
__global__ void __launch_bounds__(threads) make_tree(TreeOnDevice t) {
  const long long first = global_thread(), step = grid_threads();
  long long length = 0;
  int begin = 0, count = t.n;
  LevelEdge *edges = t.edges, *others = t.other_edges;
  for (int level = 0; count > 1 && level < max_levels - 1; ++level) {
    int *const components = t.counts + level + 1, *const left = t.counts + max_levels + level;
    for (long long c = first; c < count; c += step) {
      int arc = -1, other = -1, shortest = 0;
      if (level == 0) {
        for (int a = t.first[c]; a < t.first[c + 1]; ++a) {
          const BoundArc at = t.arcs[a];
          const int here = at.cost + t.potential[at.to];
          if (arc >= 0 && here >= shortest) continue;
          arc = a;
          other = at.to;
          shortest = here;
        }
        shortest += t.potential[c];
      } else if (t.best[c] != no_edge) {
        const u64 key = t.best[c];
        arc = (int)(u32)key;
        shortest = (int)((long long)(key >> 32) + no_length);
        other = component_of(t.nodes, t.owner[arc], begin);
        if (other == c) other = component_of(t.nodes, t.arcs[arc].to, begin);
      }
      t.partner[c] = other;
      t.chosen[c] = arc;
      t.nodes[begin + c].longest = shortest;
    }
    grid_barrier(t.arrived);
    // Two that name each other name the same edge; there is no other cycle.
    for (long long c = first; c < count; c += step) {
      const int other = t.partner[c];
      const bool mutual = other >= 0 && t.partner[other] == c;
      if (other >= 0 && !(mutual && other < c)) {
        const int arc = t.chosen[c];
        length += t.nodes[begin + c].longest;
        atomicAdd(t.surplus + t.owner[arc], 1);
        atomicAdd(t.surplus + t.arcs[arc].to, 1);
        t.taken[append(t.counts + 2 * max_levels)] = arc;
      }
      t.number[c] = other < 0 || (mutual && c < other) ? append(components) : -1;
    }
    grid_barrier(t.arrived);
    const int fewer = *components;
    for (long long c = first; c < count; c += step) {
      // Paths to roots are halved on the way, whoever is first: they are long where gaps shrink along a line.
      volatile int *const partner = t.partner;
      int at = (int)c;
      while (t.number[at] < 0) {
        const int above = partner[at];
        if (t.number[above] < 0) partner[at] = partner[above];
        at = partner[at];
      }
      t.nodes[begin + c].up = begin + count + t.number[at];
    }
    for (long long c = first; c < fewer; c += step) t.best[c] = no_edge;
    grid_barrier(t.arrived);
    if (fewer == 1 || fewer == count) break;  // the second: the graph is not connected
    const int next = begin + count;
    if (level == 0) {
      for (long long v = first; v < t.n; v += step) {
        const int here = t.nodes[v].up - next;
        for (int a = t.first[v]; a < t.first[v + 1]; ++a) {
          const BoundArc arc = t.arcs[a];
          if (arc.to < v) continue;
          const int there = t.nodes[arc.to].up - next;
          if (there == here) continue;
          offer_edge(t, others, left, {here, there, arc.cost + t.potential[v] + t.potential[arc.to], a});
        }
      }
    } else {
      const int size = left[-1];
      for (long long e = first; e < size; e += step) {
        LevelEdge edge = edges[e];
        edge.a = t.nodes[begin + edge.a].up - next;
        edge.b = t.nodes[begin + edge.b].up - next;
        if (edge.a != edge.b) offer_edge(t, others, left, edge);
      }
    }
    LevelEdge *const swapped = edges;
    edges = others;
    others = swapped;
    begin = next;
    count = fewer;
    grid_barrier(t.arrived);
  }
  length = block_sum<threads>(length);
  if (threadIdx.x == 0) add_to(t.tree_length, length);
}

// The edges of a tree.
__global__ void write_edges(const int *taken, const BoundArc *arcs, const int *owner, int count, int *from, int *to,
                            int *length) {
  const long long k = global_thread();
  if (k >= count) return;
  const int arc = taken[k];
  from[k] = owner[arc];
  to[k] = arcs[arc].to;
  length[k] = arcs[arc].cost;
}

// The graph.

__device__ __forceinline__ double distance(const double *points, int a, int b) {
  return coordinate_distance(MetricKind::euc_2d, points + 2 * (long long)a, points + 2 * (long long)b);
}

__device__ __forceinline__ long long whole(double distance, double scale) { return (long long)(distance * scale); }

__device__ __forceinline__ u64 arc_key(int from, int to, int bits) { return (u64)from << bits | (u32)to; }

__device__ __forceinline__ void append_edge(int a, int b, int bits, u64 *keys, int *count) {
  const int at = atomicAdd(count, 2);
  keys[at] = arc_key(a, b, bits);
  keys[at + 1] = arc_key(b, a, bits);
}

// Both arcs of the edges to the first `near` of each city's candidates, to the first in each quadrant, and of the tour's
// edge from it on; the mean distance to the near ones; and the longest edge, as the bits of a double.
__global__ void __launch_bounds__(threads)
    first_edges(const double *points, const int *rows, int width, int near, const int *next, int n, int bits,
                double *spacing, u64 *keys, int *count, u64 *longest) {
  const long long v = global_thread();
  if (v >= n) return;
  const int *const row = rows + v * width;
  double sum = 0.0, most = distance(points, (int)v, next[v]);
  int close = 0, met = 0;
  append_edge((int)v, next[v], bits, keys, count);
  for (int k = 0; k < width && row[k] >= 0; ++k) {
    const double away = distance(points, (int)v, row[k]);
    const double *const from = points + 2 * v, *const to = points + 2 * (long long)row[k];
    const double delta[2] = {to[0] - from[0], to[1] - from[1]};
    const int quadrant = 1 << Quadrants().of(delta);
    if (k < near) {
      sum += away;
      ++close;
    }
    if (k < near || !(met & quadrant)) {
      append_edge((int)v, row[k], bits, keys, count);
      most = away > most ? away : most;
    }
    met |= quadrant;
  }
  spacing[v] = close ? sum / close : 0.0;
  atomicMax((unsigned long long *)longest, (unsigned long long)__double_as_longlong(most));
}

__global__ void mark_first(const u64 *keys, int count, int *marks) {
  const long long k = global_thread();
  if (k < count) marks[k] = k == 0 || keys[k] != keys[k - 1];
}

// `places` is the exclusive scan of the marks.
__global__ void write_arcs(const double *points, double scale, const u64 *keys, const int *places, int count, int bits,
                           int *first, BoundArc *arcs, int *owner) {
  const long long k = global_thread();
  if (k >= count) return;
  if (k > 0 && keys[k] == keys[k - 1]) return;
  const int at = places[k];
  const int from = (int)(keys[k] >> bits), to = (int)(keys[k] & (((u64)1 << bits) - 1));
  arcs[at] = {to, (int)whole(distance(points, from, to), scale)};
  owner[at] = from;
  if (k == 0 || (int)(keys[k - 1] >> bits) != from) first[from] = at;
}

// The ascent.

__global__ void __launch_bounds__(threads)
    set_potentials(const double *exact, int n, int most, int *potential, int *surplus, long long *sum) {
  long long own = 0;
  for (long long v = global_thread(); v < n; v += grid_threads()) {
    const double value = exact[v];
    const int whole = (int)llrint(value > most ? (double)most : value < -most ? -(double)most : value);
    potential[v] = whole;
    surplus[v] = -2;
    own += whole;
  }
  own = block_sum<threads>(own);
  if (threadIdx.x == 0) add_to(sum, own);
}

// The same for potentials that are whole numbers already.
__global__ void __launch_bounds__(threads) sum_potentials(const int *potential, int n, int *surplus, long long *sum) {
  long long own = 0;
  for (long long v = global_thread(); v < n; v += grid_threads()) {
    surplus[v] = -2;
    own += potential[v];
  }
  own = block_sum<threads>(own);
  if (threadIdx.x == 0) add_to(sum, own);
}

constexpr int leaf_threads = 1024;

// One block: the leaf whose second edge is longest, among `looked_at` cities from `start` on, or the first leaf behind
// them; its edges then count. `leaves`: the second edge of each of these cities, `no_leaf` for others.
__global__ void __launch_bounds__(leaf_threads)
    choose_leaf(TreeOnDevice t, int start, int looked_at, long long *leaves, long long *second) {
  constexpr long long no_leaf = -0x7fffffffffffffffLL - 1;
  __shared__ long long longest[leaf_threads];
  __shared__ int leaf[leaf_threads], other[leaf_threads];
  const int own = threadIdx.x;
  longest[own] = no_leaf;
  leaf[own] = other[own] = -1;
  for (long long begin = 0; begin < t.n; begin += leaf_threads) {
    if (begin >= looked_at && __syncthreads_or(leaf[own] >= 0)) break;
    const long long k = begin + own;
    if (k >= t.n) continue;
    const int v = (int)((start + k) % t.n);
    long long length = no_leaf;
    if (t.surplus[v] == -1) {
      long long smallest = 0x7fffffffffffffffLL, next = smallest;
      int to = -1, behind = -1;
      for (int a = t.first[v]; a < t.first[v + 1]; ++a) {
        const BoundArc arc = t.arcs[a];
        const long long here = (long long)arc.cost + t.potential[v] + t.potential[arc.to];
        if (here < smallest) {
          next = smallest;
          behind = to;
          smallest = here;
          to = arc.to;
        } else if (here < next) {
          next = here;
          behind = arc.to;
        }
      }
      length = next;
      if (length > longest[own]) {
        longest[own] = length;
        leaf[own] = v;
        other[own] = behind;
      }
    }
    if (k < looked_at) leaves[k] = length;
  }
  __syncthreads();
  // The first of equal ones, as seen from `start`.
  for (int reach = leaf_threads / 2; reach > 0; reach /= 2) {
    if (own < reach) {
      const long long here = longest[own], there = longest[own + reach];
      const int from_start = leaf[own] - start + (leaf[own] < start ? t.n : 0);
      const int there_from_start = leaf[own + reach] - start + (leaf[own + reach] < start ? t.n : 0);
      if (there > here || (there == here && leaf[own + reach] >= 0 && there_from_start < from_start)) {
        longest[own] = there;
        leaf[own] = leaf[own + reach];
        other[own] = other[own + reach];
      }
    }
    __syncthreads();
  }
  if (own == 0) {
    *second = longest[0];
    ++t.surplus[leaf[0]];
    ++t.surplus[other[0]];
  }
}

// Clusters: see bound/clusters.h.
struct ClusterRange {
  int begin, end, gain;
};

__global__ void place_surplus(const int *place, const int *surplus, int n, int *placed) {
  const long long v = global_thread();
  if (v < n) placed[place[v]] = surplus[v];
}

// `before`: the exclusive scan of the placed surplus, and the sum of all behind it.
__global__ void step_clusters(const ClusterRange *ranges, int count, const int *before, double weight, int most,
                              long long *change) {
  const long long k = global_thread();
  if (k >= count) return;
  const ClusterRange range = ranges[k];
  int excess = before[range.end] - before[range.begin];
  excess = excess > most ? most : excess < -most ? -most : excess;
  const long long step = (long long)(weight * range.gain * excess);
  if (step == 0) return;
  add_to(change + range.begin, step);
  add_to(change + range.end, -step);
}

// `changes`: the exclusive scan of the clusters' steps; or null.
__global__ void __launch_bounds__(threads)
    set_directions(const int *spacing, const int *surplus, const int *place, const long long *changes, int n,
                   long long *direction, long long *slope) {
  long long own = 0;
  for (long long v = global_thread(); v < n; v += grid_threads()) {
    long long to = (long long)spacing[v] * surplus[v];
    if (changes != nullptr) to += changes[place[v] + 1];
    direction[v] = to;
    own += surplus[v] * to;
  }
  own = block_sum<threads>(own);
  if (threadIdx.x == 0) add_to(slope, own);
}

__global__ void take_step(const long long *direction, double length, double momentum, int first, int n,
                          double *velocity, double *exact) {
  const long long v = global_thread();
  if (v >= n) return;
  const double to = (double)direction[v];
  velocity[v] = first ? to : momentum * velocity[v] + (1.0 - momentum) * to;
  exact[v] += length * velocity[v];
}

// The tour's length in whole numbers.
__global__ void __launch_bounds__(threads)
    whole_tour_length(const double *points, double scale, const int *next, int n, long long *length) {
  long long own = 0;
  for (long long v = global_thread(); v < n; v += grid_threads())
    own += whole(distance(points, (int)v, next[v]), scale);
  own = block_sum<threads>(own);
  if (threadIdx.x == 0) add_to(length, own);
}

// Pricing: see bound/pricing.h. Boxes are halves of the order of cities, as in space/point_tree.h.
struct PricingOnDevice {
  PointTree tree;  // its boxes are those of scaled points
  const MergeNode *nodes;
  const int *potential;
  BoxOfCities *boxes;
  double scale;  // of whole distances
};

__device__ __forceinline__ void fill_leaf(const PricingOnDevice &p, int leaf) {
  const MergeTree merges = {p.nodes};
  const int begin = p.tree.leaf_begin(leaf);
  BoxOfCities box = {p.potential[begin], begin, no_length};
  for (int city = begin + 1; city < p.tree.leaf_end(leaf); ++city)
    box.add(merges, {p.potential[city], city, no_length});
  p.boxes[leaf] = box;
}

__global__ void __launch_bounds__(threads) fill_boxes(PricingOnDevice p, int first) {
  const long long v = first + global_thread();
  if (v >= 2 * (long long)first) return;
  if (p.tree.is_leaf((int)v)) {
    fill_leaf(p, (int)v);
  } else {
    BoxOfCities box = p.boxes[2 * v];
    box.add({p.nodes}, p.boxes[2 * v + 1]);
    p.boxes[v] = box;
  }
}

// No city of a box is nearer to one of the other, in whole numbers; differences of scaled coordinates are exact powers
// of two of those of coordinates.
__device__ __forceinline__ long long box_distance(const Box &a, const Box &b, double unscale, double scale) {
  double gap[2];
  const double origin[2] = {0.0, 0.0};
  for (int d = 0; d < 2; ++d) {
    const double below = a.low[d] - b.high[d], above = b.low[d] - a.high[d];
    const double most = below > above ? below : above;
    gap[d] = most > 0.0 ? most * unscale : 0.0;
  }
  return whole(coordinate_distance(MetricKind::euc_2d, origin, gap), scale);
}

// A box that may hold an end of a violated pair whose other end another one holds.
__device__ __forceinline__ bool may_hold(const PricingOnDevice &p, double unscale, int a, int b) {
  const BoxOfCities x = p.boxes[a], y = p.boxes[b];
  const long long length =
      (a == b ? 0 : box_distance(p.tree.boxes[a], p.tree.boxes[b], unscale, p.scale)) + x.potential + y.potential;
  return MergeTree{p.nodes}.exceeds(x.top, y.top, x.longest > y.longest ? x.longest : y.longest, length);
}

struct BoxPair {
  int a, b;
};

// A thread for each pair of a level: those of their halves that may hold violated pairs.
__global__ void __launch_bounds__(threads) split_pairs(PricingOnDevice p, const double *point_scale,
                                                       const BoxPair *pairs, int size, BoxPair *halves, int *count) {
  const long long k = global_thread();
  if (k >= size) return;
  const BoxPair pair = pairs[k];
  const double unscale = 1.0 / *point_scale;
  for (int half = 0; half < 4; ++half) {
    if (half == 2 && pair.a == pair.b) continue;
    const int a = 2 * pair.a + half / 2, b = 2 * pair.b + half % 2;
    if (may_hold(p, unscale, a, b)) halves[append(count)] = {a, b};
  }
}

constexpr int max_leaf = PointTree::leaf_size + 1, violation_bits = 32;

// A thread for each city of the first leaf of each pair. `by_size[k]` counts violations of 2^k to 2^(k+1) - 1; pairs are
// kept from `least` on, both arcs of each, as far as there is space.
__global__ void __launch_bounds__(threads)
    find_violated(PricingOnDevice p, const double *point_scale, const BoxPair *pairs, int size, long long least,
                  int bits, int *by_size, u64 *keys, int capacity, int *count) {
  const long long task = global_thread();
  const long long k = task / max_leaf;
  if (k >= size) return;
  const BoxPair pair = pairs[k];
  const int i = p.tree.leaf_begin(pair.a) + (int)(task % max_leaf);
  if (i >= p.tree.leaf_end(pair.a)) return;
  const MergeTree merges = {p.nodes};
  const double s = *point_scale;
  const double *const at = p.tree.points + 2 * (long long)i;
  const BoxOfCities box = p.boxes[pair.b];
  if (pair.a != pair.b) {
    const Box here = {{at[0] * s, at[1] * s}, {at[0] * s, at[1] * s}};
    const long long length =
        box_distance(here, p.tree.boxes[pair.b], 1.0 / s, p.scale) + p.potential[i] + box.potential;
    if (!merges.exceeds(i, box.top, box.longest, length)) return;
  }
  for (int j = pair.a == pair.b ? i + 1 : p.tree.leaf_begin(pair.b); j < p.tree.leaf_end(pair.b); ++j) {
    const long long length = whole(distance(p.tree.points, i, j), p.scale) + p.potential[i] + p.potential[j];
    if (!merges.exceeds(i, j, no_length, length)) continue;
    const long long violation = merges.between(i, j) - length;
    atomicAdd(by_size + (violation_bits - 1 - __clz((int)violation)), 1);
    if (violation < least) continue;
    const int to = atomicAdd(count, 2);
    if (to + 2 > capacity) continue;
    keys[to] = arc_key(i, j, bits);
    keys[to + 1] = arc_key(j, i, bits);
  }
}

// The arcs that stay: the tour's, and those that are not longer than the tree's way between their ends by more than
// `reach` of a spacing; all if that is negative.
__global__ void __launch_bounds__(threads)
    keep_arcs(const int *owner, const BoundArc *arcs, int size, const MergeNode *nodes, const int *potential,
              const int *spacing, const int *next, double reach, int bits, u64 *keys, int *count) {
  const long long k = global_thread();
  if (k >= size) return;
  const int v = owner[k], to = arcs[k].to;
  if (reach >= 0.0 && next[v] != to && next[to] != v) {
    const long long slack = (long long)arcs[k].cost + potential[v] + potential[to] - MergeTree{nodes}.between(v, to);
    if ((double)slack > reach * (spacing[v] < spacing[to] ? spacing[v] : spacing[to])) return;
  }
  keys[append(count)] = arc_key(v, to, bits);
}

// A block for each of some cities: the second smallest length of its edges to all others.
__global__ void __launch_bounds__(leaf_threads) second_smallest(const double *points, const int *potential, int n,
                                                                double scale, const int *cities, long long *second) {
  __shared__ long long firsts[leaf_threads], seconds[leaf_threads];
  const int city = cities[blockIdx.x], own = threadIdx.x;
  long long least = 0x7fffffffffffffffLL, next = least;
  for (long long v = own; v < n; v += leaf_threads) {
    if (v == city) continue;
    const long long length = whole(distance(points, city, (int)v), scale) + potential[city] + potential[v];
    if (length < least) {
      next = least;
      least = length;
    } else if (length < next) {
      next = length;
    }
  }
  firsts[own] = least;
  seconds[own] = next;
  __syncthreads();
  for (int reach = leaf_threads / 2; reach > 0; reach /= 2) {
    if (own < reach) {
      const long long a = firsts[own], b = firsts[own + reach];
      const long long behind = a > b ? a : b;
      firsts[own] = a < b ? a : b;
      const long long c = seconds[own] < seconds[own + reach] ? seconds[own] : seconds[own + reach];
      seconds[own] = c < behind ? c : behind;
    }
    __syncthreads();
  }
  if (own == 0) second[blockIdx.x] = seconds[0];
}

// Numbers of the problem's cities, and back.

// `number`: of each of the problem's cities; null if the tour has the search's numbers already.
__global__ void next_cities(const int *tour, const int *number, int n, int *next) {
  const long long p = global_thread();
  if (p >= n) return;
  const int from = tour[p], to = tour[p + 1 < n ? p + 1 : 0];
  next[number ? number[from] : from] = number ? number[to] : to;
}

__global__ void number_cities(const int *city, int n, int *number) {
  const long long k = global_thread();
  if (k < n) number[city[k]] = (int)k;
}

__global__ void write_potentials(const int *city, const int *potential, int n, int *written) {
  const long long k = global_thread();
  if (k < n) written[city[k]] = potential[k];
}
