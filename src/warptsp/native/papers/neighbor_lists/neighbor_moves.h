// 2-opt and 3-opt moves along neighbour lists: what a (city, neighbour) pair can gain, and how a move is written into
// the tour. For the host compiler and NVRTC alike: no standard library.
//
// A move takes out the edges (t1, t2), (t3, t4) and, with three of them, (t5, t6), and adds (t2, t3), (t4, t5) and
// (t6, t1) (with two: (t4, t1)). t3 is on the list of t2, t5 on that of t4, and what is gained so far must stay above 0,
// which costs no improving move of these lists but those whose every start has an edge off the lists (S. Lin and
// B. W. Kernighan, 1973).
//
// Seen along the tour from t2 (offset 0) in the direction away from t1 (offset n - 1), with q = offset of t3 and r that
// of t5, there are one 2-opt move and the four pure 3-opt moves. Pieces: P1 before, P2 between, P3 behind the cuts.
//   t4 = q - 1                          P1r P3        2-opt
//   t4 = q - 1, r > q,     t6 = r - 1   P2r P1 P3
//   t4 = q - 1, r < q - 1, t6 = r + 1   P2 P1r P3
//   t4 = q + 1, r < q,     t6 = r + 1   P2 P1 P3      no piece is turned around (Or's move where one is short)
//   t4 = q + 1, r < q,     t6 = r - 1   P1r P2r P3
//
// With `next_only` the neighbourhood is that of J. Fosin, D. Davidović and T. Carić (2013): a city i, a city j on its list
// and a city k on that of j lose the edges to the cities that follow them in the tour, and what remains is joined in the
// one way of 2-opt (i and j) or the four of pure 3-opt.
#pragma once
#include "common/metric.h"

namespace warptsp::neighbor {

// A search that takes the first city with a move examines so many of its neighbours before it settles for their best
// move: with all 40, twice the time and no shorter tours.
constexpr int neighbors_at_once = 8;

// A metric with coordinates whose kind is known when it is compiled; the row of NaN is a dummy city.
template <MetricKind Kind>
struct CoordinatesOf {
  typedef double Value;
  Points points;
  WARPTSP_FN double operator()(int a, int b) const {
    const double d = coordinate_distance(Kind, points.rows + points.stride * (long long)a,
                                         points.rows + points.stride * (long long)b);
    return d == d ? d : 0.0;
  }
};

// The tour as an array; cities and positions are numbered from 0.
struct TourArrays {
  int size;
  int *order;                    // [size] city at a position
  int *position;                 // [size] position of a city
  const double *edge = nullptr;  // [size] length of the edge from a position to the next, if it is at hand

  WARPTSP_FN int wrap(int p) const { return p >= size ? p - size : p < 0 ? p + size : p; }
};

// Looks along the tour from a city in one direction: `sign` 1 with the array, -1 against it.
struct TourSight {
  TourArrays tour;
  int base, sign;

  WARPTSP_FN TourSight(const TourArrays &of, int city, int direction)
      : tour(of), base(of.position[city]), sign(direction) {}
  WARPTSP_FN int offset(int city) const {
    const int o = sign * (tour.position[city] - base);
    return o < 0 ? o + tour.size : o;
  }
  WARPTSP_FN int city(int offset) const { return tour.order[tour.wrap(base + sign * offset)]; }
  // The length of the edge from the city `a` at an offset to its neighbour `b` on the far side (step 1) or the near one.
  template <class Metric>
  WARPTSP_FN double edge(const Metric &metric, int offset, int step, int a, int b) const {
    if (tour.edge == nullptr) return (double)metric(a, b);
    const int p = base + sign * offset;
    return tour.edge[tour.wrap(sign * step > 0 ? p : p - 1)];
  }
};

struct NeighborMove {
  double gain;
  int number;  // among the moves of one city; of equal gains the lowest counts
  int cities;  // 4 (2-opt) or 6
  int t[6];

  WARPTSP_FN void clear() {
    gain = 0.0;
    number = 0x7fffffff;
    cities = 0;
  }
  WARPTSP_FN bool found() const { return cities > 0; }
};

// The rank of a gain, for sorting: large gains first. Those that are equal as float keep the order of their cities.
WARPTSP_FN unsigned gain_rank(double gain) {
  union {
    float rounded;
    unsigned bits;
  } v;
  v.rounded = (float)gain;
  return ~v.bits;
}

// What a search reads; the arrays belong to others.
template <class MetricType>
struct NeighborLists {
  typedef MetricType Metric;
  Metric metric;
  const int *neighbors;  // [size, width] nearest first; -1 where there are no more
  int width;
  const int *fixed;                 // [size, 2] the other ends of a city's fixed edges, or -1; null if there are none
  double tolerance;                 // a gain must exceed it
  const double *lengths = nullptr;  // [size, width] distances to the neighbours, if they are at hand
  bool next_only = false;           // only edges to following cities go

  WARPTSP_FN bool is_fixed(int a, int b) const {
    return fixed != nullptr && (fixed[2 * (long long)a] == b || fixed[2 * (long long)a + 1] == b);
  }
  WARPTSP_FN int neighbor(int city, int k) const { return neighbors[city * (long long)width + k]; }
  WARPTSP_FN double length(int city, int k) const {
    const long long at = city * (long long)width + k;
    return lengths != nullptr ? lengths[at] : (double)metric(city, neighbors[at]);
  }
};

// A move whose first two edges are gone: (t1, t2) and (t3, t4).
struct OpenMove {
  double gain;  // so far
  int t1, t2, t3, t4;
  int q;  // offset of t3
  int side, behind;
  int number;  // of the moves that go on from here the lowest
};

// Makes a move the best one if it is better.
template <class Lists>
WARPTSP_FN void offer(const Lists &lists, NeighborMove &best, double gain, int number, int cities, int t1, int t2,
                      int t3, int t4, int t5 = -1, int t6 = -1) {
  if (!(gain > lists.tolerance && (gain > best.gain || (gain == best.gain && number < best.number)))) return;
  best.gain = gain;
  best.number = number;
  best.cities = cities;
  best.t[0] = t1, best.t[1] = t2, best.t[2] = t3, best.t[3] = t4;
  if (cities > 4) best.t[4] = t5, best.t[5] = t6;
}

// As `open_pair`, where only the edges behind the city and its neighbour go.
template <bool Three, class Lists, class GoOn>
WARPTSP_FN bool open_next_pair(const Lists &lists, const TourArrays &tour, int city, int k, NeighborMove &best,
                               long long &evaluations, GoOn &&go_on) {
  const int j = lists.neighbor(city, k);
  if (j < 0) return false;
  const TourSight sight(tour, city, 1);
  const int next = sight.city(1), q = sight.offset(j);
  const double g1 = sight.edge(lists.metric, 0, 1, city, next) - lists.length(city, k);
  if (!(g1 > 0.0) || lists.is_fixed(city, next)) return false;
  const bool before = q == tour.size - 1;  // the city itself follows this neighbour
  const int next_j = before ? city : sight.city(q + 1);
  if (lists.is_fixed(j, next_j)) return true;
  const double removed = g1 + lists.length(city, k) + sight.edge(lists.metric, q, 1, j, next_j);
  const int number = 4 * k * (lists.width + 1);
  if (!before) {
    ++evaluations;
    offer(lists, best, removed - lists.length(city, k) - (double)lists.metric(next, next_j), number, 4, next, city, j,
          next_j);
  }
  if (Three) go_on(OpenMove{removed, city, next, j, next_j, q, 1, 0, number + 4});
  return true;
}

// Whether an open move may gain something with neighbour number `l` of the city that its third edge begins at. If not, nor
// can it with any behind.
template <class Lists>
WARPTSP_FN bool may_follow(const Lists &lists, const TourArrays &tour, const OpenMove &open, int l) {
  if (l >= lists.width) return false;
  if (!lists.next_only) return lists.neighbor(open.t4, l) >= 0 && open.gain - lists.length(open.t4, l) > 0.0;
  const TourSight sight(tour, open.t2, 1);
  return lists.neighbor(open.t3, l) >= 0 &&
         lists.length(open.t3, l) < sight.edge(lists.metric, open.q - 1, 1, open.t3, open.t4);
}

// The four ways to join what is left without the edges behind the two cities of an open move and one on the second's list.
template <class Lists>
WARPTSP_FN void go_on_from_next(const Lists &lists, const TourArrays &tour, const OpenMove &open, NeighborMove &best,
                                long long &evaluations, int share, int shares) {
  const int n = tour.size;
  const TourSight sight(tour, open.t2, 1);
  const double next_to_second = sight.edge(lists.metric, open.q - 1, 1, open.t3, open.t4);
  for (int l = share; l < lists.width; l += shares) {
    const int third = lists.neighbor(open.t3, l);
    if (third < 0 || !(lists.length(open.t3, l) < next_to_second)) break;
    const int o = sight.offset(third), j = open.q - 1;
    if (third == open.t1) continue;
    const int after = sight.city(o + 1);
    if (lists.is_fixed(third, after)) continue;
    // In the order of the tour, from a' on: a is the last city.
    const bool last = o > j;
    const int b_at = last ? j : o, c_at = last ? o : j;
    const int a = open.t1, a_next = open.t2, b = last ? open.t3 : third, b_next = last ? open.t4 : after;
    const int c = last ? third : open.t3, c_next = last ? after : open.t4;
    const double removed = open.gain + sight.edge(lists.metric, o, 1, third, after);
    const int number = open.number + 4 * l;
    const auto join = [&](int kind, int t3, int t4, int t5, int t6) {
      ++evaluations;
      const double gain =
          removed - (double)lists.metric(a_next, t3) - (double)lists.metric(t4, t5) - (double)lists.metric(t6, a);
      offer(lists, best, gain, number + kind, 6, a, a_next, t3, t4, t5, t6);
    };
    // Not where an edge would come that is there already: such a move changes two edges, or none.
    const bool at_front = b_at == 0, in_middle = c_at - b_at == 1, at_back = c_at == n - 2;
    if (at_front + in_middle + at_back < 2) join(0, c, c_next, b, b_next);
    if (!at_front && !in_middle) join(1, c, c_next, b_next, b);
    if (!in_middle && !at_back) join(2, c_next, c, b, b_next);
    if (!at_front && !at_back) join(3, b_next, b, c_next, c);
  }
}

// The pair of a city (t2) and its neighbour number `k` (t3), with t1 on one `side` of it (0: before it in the array, 1:
// behind). Keeps the best 2-opt move, and calls go_on(move) where 3-opt moves may follow; false if neither this
// neighbour nor any behind it can gain anything.
template <bool Three, class Lists, class GoOn>
WARPTSP_FN bool open_pair(const Lists &lists, const TourArrays &tour, int city, int side, int k, NeighborMove &best,
                          long long &evaluations, GoOn &&go_on) {
  if (lists.next_only) return side == 0 && open_next_pair<Three>(lists, tour, city, k, best, evaluations, go_on);
  const int n = tour.size, t2 = city, t3 = lists.neighbor(t2, k);
  if (t3 < 0) return false;
  const TourSight sight(tour, t2, side == 0 ? 1 : -1);
  const int t1 = sight.city(n - 1);
  const double g1 = sight.edge(lists.metric, 0, -1, t2, t1) - lists.length(t2, k);
  if (!(g1 > 0.0) || lists.is_fixed(t1, t2)) return false;
  const int q = sight.offset(t3);
  if (q == 1 || q == n - 1) return true;  // the edge is there already
  for (int behind = 0; behind < (Three ? 2 : 1); ++behind) {
    const int t4 = sight.city(behind ? q + 1 : q - 1);
    if (lists.is_fixed(t3, t4)) continue;
    const double g2 = g1 + sight.edge(lists.metric, q, behind ? 1 : -1, t3, t4);
    const int number = ((side * lists.width + k) * 2 + behind) * (lists.width + 1) * 2;
    if (!behind) {
      const double gain = g2 - (double)lists.metric(t4, t1);
      ++evaluations;
      offer(lists, best, gain, number, 4, t1, t2, t3, t4);
    }
    if (Three) go_on(OpenMove{g2, t1, t2, t3, t4, q, side, behind, number + 2});
  }
  return true;
}

// The best 3-opt move that follows an open one; `shares` callers may share the loop over the neighbours of t4.
template <class Lists>
WARPTSP_FN void go_on_from(const Lists &lists, const TourArrays &tour, const OpenMove &open, NeighborMove &best,
                           long long &evaluations, int share, int shares) {
  if (lists.next_only) return go_on_from_next(lists, tour, open, best, evaluations, share, shares);
  const int n = tour.size, q = open.q;
  const TourSight sight(tour, open.t2, open.side == 0 ? 1 : -1);
  for (int l = share; l < lists.width; l += shares) {
    const int t5 = lists.neighbor(open.t4, l);
    if (t5 < 0) break;
    const double g3 = open.gain - lists.length(open.t4, l);
    if (!(g3 > 0.0)) break;
    const int r = sight.offset(t5);
    // The edge (t4, t5) must be new, and so must (t6, t1).
    if (open.behind ? r >= q : r == q || r == q - 2 || r == n - 1) continue;
    for (int turn = 0; turn < (open.behind ? 2 : 1); ++turn) {
      const bool up = open.behind ? turn == 0 : r < q;  // t6 is behind t5
      if (!up && open.behind && r < 2) continue;
      const int t6 = sight.city(up ? r + 1 : r - 1);
      if (lists.is_fixed(t5, t6)) continue;
      const double gain = g3 + sight.edge(lists.metric, r, up ? 1 : -1, t5, t6) - (double)lists.metric(t6, open.t1);
      const int number = open.number + 2 * l + turn;
      ++evaluations;
      offer(lists, best, gain, number, 6, open.t1, open.t2, open.t3, open.t4, t5, t6);
    }
  }
}

// The pair with all that may follow.
template <bool Three, class Lists>
WARPTSP_FN bool examine_pair(const Lists &lists, const TourArrays &tour, int city, int side, int k, NeighborMove &best,
                             long long &evaluations) {
  return open_pair<Three>(lists, tour, city, side, k, best, evaluations,
                          [&](const OpenMove &open) { go_on_from(lists, tour, open, best, evaluations, 0, 1); });
}

// A stretch of the array written anew: up to three of its pieces in another order, some turned around. All that a move
// changes, for the longest piece of the tour stays where it is.
struct Rewrite {
  int base, sign;  // offset o of the stretch is the position base + sign * o
  int total;       // cells; 0: nothing to do
  int pieces;
  int from[3], length[3], turned[3];  // in the new order

  WARPTSP_FN int source(int to) const {
    int k = 0;
    while (k < pieces - 1 && to >= length[k]) to -= length[k++];
    return turned[k] ? from[k] + length[k] - 1 - to : from[k] + to;
  }
  WARPTSP_FN int at(const TourArrays &tour, int offset) const { return tour.wrap(base + sign * offset); }
};

// The tour as `count` pieces of these lengths from offset 0 on; new[k] is the piece that comes k-th, and ~piece if it
// comes turned around.
WARPTSP_FN Rewrite rewrite_pieces(const TourSight &sight, int count, const int *length, const int *arranged) {
  int longest = 0;
  for (int k = 1; k < count; ++k)
    if (length[k] > length[longest]) longest = k;
  int place = 0;
  while (arranged[place] != longest && arranged[place] != ~longest) ++place;
  const bool mirrored = arranged[place] < 0;
  int start[4], sum = 0;  // offsets from the end of the longest piece
  for (int k = 1; k < count; ++k) {
    const int piece = (longest + k) % count;
    start[piece] = sum;
    sum += length[piece];
  }
  int behind = 0;
  for (int k = 0; k <= longest; ++k) behind += length[k];
  Rewrite rewrite;
  rewrite.base = sight.tour.wrap(sight.base + sight.sign * (behind == sight.tour.size ? 0 : behind));
  rewrite.sign = sight.sign;
  rewrite.total = sum;
  rewrite.pieces = count - 1;
  for (int k = 1; k < count; ++k) {
    const int seen = arranged[(mirrored ? place - k + count : place + k) % count];
    const int piece = seen < 0 ? ~seen : seen;
    rewrite.from[k - 1] = start[piece];
    rewrite.length[k - 1] = length[piece];
    rewrite.turned[k - 1] = (seen < 0) != mirrored;
  }
  return rewrite;
}

// What a move writes; nothing (total 0) if its edges are not all in the tour any more, or do not join to one tour as they
// lie now. A gain does not depend on the rest of the tour, so a move that still fits gains what it did.
WARPTSP_FN Rewrite rewrite_of(const TourArrays &tour, const NeighborMove &move) {
  const int n = tour.size;
  TourSight sight(tour, move.t[1], 1);
  Rewrite nothing;
  nothing.base = nothing.total = nothing.pieces = 0;
  nothing.sign = 1;
  if (sight.city(n - 1) != move.t[0]) {
    sight.sign = -1;
    if (sight.city(n - 1) != move.t[0]) return nothing;
  }
  const int q = sight.offset(move.t[2]), o4 = sight.offset(move.t[3]);
  if (move.cities == 4) {
    if (o4 != q - 1) return nothing;
    const int length[2] = {q, n - q}, arranged[2] = {~0, 1};
    return rewrite_pieces(sight, 2, length, arranged);
  }
  const int r = sight.offset(move.t[4]), o6 = sight.offset(move.t[5]);
  int length[3], arranged[3] = {1, 0, 2};
  if (o4 == q - 1 && r > q && o6 == r - 1) {
    length[0] = q, length[1] = r - q;
    arranged[0] = ~1;
  } else if (o4 == q - 1 && r < q - 1 && o6 == r + 1) {
    length[0] = r + 1, length[1] = q - 1 - r;
    arranged[1] = ~0;
  } else if (o4 == q + 1 && r < q && o6 == r + 1) {
    length[0] = r + 1, length[1] = q - r;
  } else if (o4 == q + 1 && r < q && o6 == r - 1) {
    length[0] = r, length[1] = q - r + 1;
    arranged[0] = ~0, arranged[1] = ~1;
  } else {
    return nothing;
  }
  length[2] = n - length[0] - length[1];
  return rewrite_pieces(sight, 3, length, arranged);
}

// A double bridge at four edges: behind the positions a < b < c < d. The pieces A B C D become A D C B.
WARPTSP_FN Rewrite double_bridge(const TourArrays &tour, int a, int b, int c, int d) {
  const TourSight sight(tour, tour.order[tour.wrap(a + 1)], 1);
  const int length[4] = {b - a, c - b, d - c, tour.size - (d - a)}, arranged[4] = {2, 1, 0, 3};
  return rewrite_pieces(sight, 4, length, arranged);
}

}  // namespace warptsp::neighbor
