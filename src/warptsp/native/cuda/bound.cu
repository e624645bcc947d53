// Long: one ascent, compiled as one module. The Held-Karp lower bound in the plane: see bound/held_karp.h. Spanning
// trees by Boruvka's algorithm and steps along their degrees, many rounds in one launch; and which pairs of all cities
// a spanning tree has wrongly left out. All lengths are whole numbers, and what several threads add up or compare does
// not depend on their order.
#include "blocks.h"
#include "bound/merge_tree.h"
#include "bound/schedule.h"
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
  int *potential;
  MergeNode *nodes;                // 2 n
  int *partner, *chosen, *number;  // of components: the one at the other end, the arc to it, its number later
  u64 *best;                       // of components: its shortest edge out, as length and arc
  LevelEdge *edges, *other_edges;  // as many as there are
  int *taken;                      // arcs of the tree
  int *surplus;                    // edges of the tree at each city, less 2
  unsigned *arrived;
  int n;
};

constexpr int max_levels = 32;  // the number of components is at least halved

// What the threads of a round count and add up; 0 at its start.
struct AscentRound {
  long long tree_length, potentials, second, slope;
  u64 leaf, later_leaf;  // the best one so far, as its second edge and its place: see choose_leaf
  int components[max_levels], left[max_levels];  // of each level of the tree, and edges between them
  int taken, unused;

  __device__ __forceinline__ long long value() const { return tree_length - 2 * potentials + second; }
};

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

__device__ __forceinline__ void offer_leaf(u64 &best, u64 key) {
  if (key > *(volatile u64 *)&best) atomicMax((unsigned long long *)&best, (unsigned long long)key);
}

__device__ __forceinline__ void offer_edge(const TreeOnDevice &t, LevelEdge *edges, int *count, const LevelEdge &edge) {
  edges[append(count)] = edge;
  const u64 key = (u64)((long long)edge.length - no_length) << 32 | (u32)edge.arc;
  offer(t.best, edge.a, key);
  offer(t.best, edge.b, key);
}

// Of equally long edges the first in ascending order of (smaller city, larger city) is the shorter one: at a city that
// is the arc that comes first, and of all edges the one whose upward arc does.
__device__ __forceinline__ void make_tree(const TreeOnDevice &t, AscentRound &round) {
  const long long first = global_thread(), step = grid_threads();
  long long length = 0;
  int begin = 0, count = t.n;
  LevelEdge *edges = t.edges, *others = t.other_edges;
  for (int level = 0; count > 1 && level < max_levels - 1; ++level) {
    int *const components = round.components + level, *const left = round.left + level;
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
        t.taken[append(&round.taken)] = arc;
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
  if (threadIdx.x == 0) add_to(&round.tree_length, length);
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

struct ClusterRange {
  int begin, end, gain;
};

struct AscentOnDevice {
  double *exact, *velocity;
  const int *spacing;
  const ClusterRange *ranges;
  const int *order;   // cities by place
  int *placed;        // n + 1: the surplus of all places before each
  long long *change;  // n + 1: how much further cities from this place on are moved than those before it
  int *tile_surplus;  // of the places of each block
  long long *tile_change;
  long long *direction;
  long long *leaves;  // the second edges of the cities that are looked at, `no_leaf` for others
  int *best_here;     // the potentials of the best round of this graph
  AscentRound *rounds;
  long long tour_length, best;        // `best`: the bound of the graph so far
  double progress, progress_a_round;  // by time, if the first round is further than by number
  int clusters, looked_at, max_potential;
};

constexpr long long no_leaf = -0x7fffffffffffffffLL - 1;

// The potentials of a round, and what has to be cleared for its tree.
__device__ __forceinline__ void begin_round(const TreeOnDevice &t, const AscentOnDevice &a, AscentRound &round,
                                            bool exact) {
  const double most = a.max_potential;
  long long own = 0;
  for (long long v = global_thread(); v < t.n; v += grid_threads()) {
    if (exact) {
      const double value = a.exact[v];
      t.potential[v] = (int)llrint(value > most ? most : value < -most ? -most : value);
    }
    t.surplus[v] = -2;
    own += t.potential[v];
  }
  own = block_sum<threads>(own);
  if (threadIdx.x == 0) add_to(&round.potentials, own);
}

// The two shortest edges at a city.
__device__ __forceinline__ long long second_edge(const TreeOnDevice &t, int v, int &other) {
  long long smallest = 0x7fffffffffffffffLL, next = smallest;
  int to = other = -1;
  for (int k = t.first[v]; k < t.first[v + 1]; ++k) {
    const BoundArc arc = t.arcs[k];
    const long long here = (long long)arc.cost + t.potential[v] + t.potential[arc.to];
    if (here < smallest) {
      next = smallest;
      other = to;
      smallest = here;
      to = arc.to;
    } else if (here < next) {
      next = here;
      other = arc.to;
    }
  }
  return next;
}

// The leaf whose second edge is longest, the first of equal ones, among `looked_at` cities from `start` on, or the first
// leaf behind them; its edges then count. The larger number is the better leaf.
__device__ __forceinline__ void choose_leaf(const TreeOnDevice &t, const AscentOnDevice &a, AscentRound &round,
                                            int start) {
  for (long long k = global_thread(); k < a.looked_at; k += grid_threads()) {
    const int v = (int)((start + k) % t.n);
    long long length = no_leaf;
    if (t.surplus[v] == -1) {
      int other;
      length = second_edge(t, v, other);
      offer_leaf(round.leaf, (u64)(length - no_length) << 32 | ~(u32)k);
    }
    a.leaves[k] = length;
  }
  grid_barrier(t.arrived);
  u64 leaf = round.leaf;
  if (leaf == 0) {
    for (long long k = a.looked_at + global_thread(); k < t.n; k += grid_threads())
      if (t.surplus[(start + k) % t.n] == -1) offer_leaf(round.later_leaf, ~(u32)k);
    grid_barrier(t.arrived);
    leaf = round.later_leaf;
  }
  if (global_thread() == 0) {
    const int v = (int)((start + (long long)~(u32)leaf) % t.n);
    int other;
    round.second = second_edge(t, v, other);
    ++t.surplus[v];
    ++t.surplus[other];
  }
  grid_barrier(t.arrived);
}

// The places of a block.
struct Places {
  long long begin, end;
  __device__ __forceinline__ explicit Places(long long n) {
    const long long each = (n + gridDim.x - 1) / gridDim.x;
    begin = each * blockIdx.x;
    end = begin + each < n ? begin + each : n;
  }
};

// The sum of values(p) over the places of this block.
template <class T, class Values>
__device__ __forceinline__ void sum_places(const Places &places, T *tiles, const Values &values) {
  T sum = 0;
  for (long long p = places.begin + threadIdx.x; p < places.end; p += threads) sum += values(p);
  sum = block_sum<threads>(sum);
  if (threadIdx.x == 0) tiles[blockIdx.x] = sum;
}

// take(p, sum of all values before p) for the places of this block, after a barrier behind sum_places().
template <class T, class Values, class Take>
__device__ __forceinline__ void scan_places(const Places &places, const T *tiles, const Values &values,
                                            const Take &take) {
  __shared__ T earlier;
  T before = 0;
  for (int b = threadIdx.x; b < blockIdx.x; b += threads) before += tiles[b];
  before = block_sum<threads>(before);
  if (threadIdx.x == 0) earlier = before;
  __syncthreads();
  before = earlier;
  for (long long begin = places.begin; begin < places.end; begin += threads) {
    const long long p = begin + threadIdx.x;
    const T value = p < places.end ? values(p) : 0;
    T total = 0;
    const T sum = before + block_scan<threads>(value, total);
    if (p < places.end) take(p, sum);
    before += total;
  }
}

// Along the surplus of edges, of cities and of clusters: see bound/clusters.h.
__device__ __forceinline__ void set_directions(const TreeOnDevice &t, const AscentOnDevice &a, AscentRound &round) {
  const Places places((long long)t.n + 1);
  long long slope = 0;
  const auto set = [&](int v, long long change) {
    const long long to = (long long)a.spacing[v] * t.surplus[v] + change;
    a.direction[v] = to;
    slope += t.surplus[v] * to;
  };
  if (a.clusters == 0) {
    for (long long v = global_thread(); v < t.n; v += grid_threads()) set((int)v, 0);
  } else {
    const auto surplus_at = [&](long long p) { return p < t.n ? t.surplus[a.order[p]] : 0; };
    sum_places(places, a.tile_surplus, surplus_at);
    grid_barrier(t.arrived);
    scan_places(places, a.tile_surplus, surplus_at, [&](long long p, int before) {
      a.placed[p] = before;
      a.change[p] = 0;
    });
    grid_barrier(t.arrived);
    constexpr int most = schedule::max_cluster_surplus;
    for (long long k = global_thread(); k < a.clusters; k += grid_threads()) {
      const ClusterRange range = a.ranges[k];
      int excess = a.placed[range.end] - a.placed[range.begin];
      excess = excess > most ? most : excess < -most ? -most : excess;
      const long long step = (long long)(schedule::cluster_weight * range.gain * excess);
      if (step == 0) continue;
      add_to(a.change + range.begin, step);
      add_to(a.change + range.end, -step);
    }
    grid_barrier(t.arrived);
    const auto change_at = [&](long long p) { return a.change[p]; };
    sum_places(places, a.tile_change, change_at);
    grid_barrier(t.arrived);
    scan_places(places, a.tile_change, change_at, [&](long long p, long long before) {
      if (p < t.n) set(a.order[p], before + a.change[p]);
    });
  }
  slope = block_sum<threads>(slope);
  if (threadIdx.x == 0) add_to(&round.slope, slope);
}

// No longer than what would reach the tour's length if the bound rose in a straight line.
__device__ __forceinline__ void take_step(const TreeOnDevice &t, const AscentOnDevice &a, const AscentRound &round,
                                          double progress, bool first, bool keep) {
  double length = schedule::first_length * (1.0 - progress) * (1.0 - progress);
  if (round.slope > 0) {
    const double rest = (double)(a.tour_length - round.value()), least = 1e-4 * (double)a.tour_length;
    const double limit = (rest > least ? rest : least) / (double)round.slope;
    length = length < limit ? length : limit;
  }
  for (long long v = global_thread(); v < t.n; v += grid_threads()) {
    const double to = (double)a.direction[v];
    const double velocity = first ? to : schedule::momentum * a.velocity[v] + (1.0 - schedule::momentum) * to;
    a.velocity[v] = velocity;
    a.exact[v] += length * velocity;
    if (keep) a.best_here[v] = t.potential[v];
  }
}

// Rounds of the ascent. The figures of round `number` are a.rounds[0]; each of `count` rounds behind it first takes the
// step of the round before it. With a count of 0 round `number` itself is made instead, for the present potentials, or
// for the exact ones.
__global__ void __launch_bounds__(threads)
    ascend(TreeOnDevice t, AscentOnDevice a, int number, int count, int of, int exact) {
  long long best = a.best;
  for (int k = count ? 1 : 0; k <= count; ++k) {
    AscentRound &round = a.rounds[k];
    if (k > 0) {
      const AscentRound &before = a.rounds[k - 1];
      const bool better = before.value() > best;
      if (better) best = before.value();
      const int earlier = number + k - 1;
      const double by_number = (double)earlier / of, by_time = a.progress + (k - 1) * a.progress_a_round;
      take_step(t, a, before, by_number > by_time ? by_number : by_time, earlier == 0, better);
    }
    // Every thread has written the exact potentials of the cities that it reads here.
    begin_round(t, a, round, exact || k > 0);
    grid_barrier(t.arrived);
    make_tree(t, round);
    choose_leaf(t, a, round, (int)((long long)(number + k) * 7919 % t.n));
    set_directions(t, a, round);
    grid_barrier(t.arrived);
  }
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

// The arcs that stay: all, or the tour's and those that are not much longer than the tree's way between their ends (see
// bound/schedule.h).
__global__ void __launch_bounds__(threads)
    keep_arcs(const int *owner, const BoundArc *arcs, int size, const MergeNode *nodes, const int *potential,
              const int *spacing, const int *next, int all, double far_share, int bits, u64 *keys, int *count) {
  const long long k = global_thread();
  if (k >= size) return;
  const int v = owner[k], to = arcs[k].to;
  if (!all && next[v] != to && next[to] != v) {
    const int cost = arcs[k].cost, least = spacing[v] < spacing[to] ? spacing[v] : spacing[to];
    const double slack = (double)((long long)cost + potential[v] + potential[to] - MergeTree{nodes}.between(v, to));
    const double beyond = far_share * (cost - schedule::near_spacings * least);
    if (slack > schedule::reach * least && slack > beyond) return;
  }
  keys[append(count)] = arc_key(v, to, bits);
}

constexpr int leaf_threads = 1024;

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
