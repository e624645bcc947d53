// The places of paths on a tour, found by as many threads as there are paths: what path_graph.h does on one thread of the
// host, for tours of so many paths that this takes longer than the search of a round.
//
// Following the links from path to path becomes pointer jumping: after k steps every end knows what lies within 2^k paths.
// Once this finds the closed tours, and once, when they are one, the places. Between the two every closed tour looks for
// the cheapest way to be joined with another, among the ends whose numbers are near, which are of the same blob or the
// next ones. The host chooses among these, until one is left: there are some tens of closed tours, or, after the first
// cut of a greedy tour of a billion cities, more than 262 144.
#pragma once
#include "common/atomics.h"
#include "lk/warp_parts.h"

namespace warptsp::lk {

// By the end at which a path is entered: an end further on, and the lowest end up to there; or an end before, -1 past the
// first, and the cities from there.
struct PathWay {
  int end;
  unsigned value;
};

// The gaps at ends a and b, of two closed tours, exchange their ends: a is linked to b, or to what b was linked to.
struct JoinOfTours {
  double added;
  int tour, other;
  int a, a_link, b, b_link;
  int crossed, found;
};

struct PathOrder {
  static constexpr u64 none = ~(u64)0;
  static constexpr int reach = 16;

  const LinkedPath *paths;
  const double *points;  // of the cities
  int *link;             // [2 count] the end that each is linked to
  int *tour;             // [count] the closed tour that each path is on, named by the lowest end of its own or another
  u64 *cost;             // [2 count] of the cheapest join at each end
  u64 *best, *first;     // [2 count] of each closed tour, and the lowest end that has it
  int count, dimensions, kind;

  WARPTSP_FN void begin(int e) const { link[e] = paths[e >> 1].link[e & 1]; }

  WARPTSP_FN PathWay way_round(int e) const { return PathWay{link[e ^ 1], (unsigned)e}; }
  WARPTSP_FN static PathWay jump_round(const PathWay *ways, int e) {
    const PathWay own = ways[e], on = ways[own.end];
    return PathWay{on.end, own.value < on.value ? own.value : on.value};
  }
  // Returns whether the closed tour is named by this path.
  WARPTSP_FN bool name(const PathWay *ways, int path) const {
    const unsigned forth = ways[2 * path].value, back = ways[2 * path + 1].value;
    tour[path] = (int)(forth < back ? forth : back);
    return tour[path] >> 1 == path;
  }

  WARPTSP_FN void clear(int e) const { best[e] = first[e] = none; }
  WARPTSP_FN void find_join(int a) const {
    const JoinOfTours own = cheapest(a);
    cost[a] = own.found ? bits_of(own.added) : none;
    if (cost[a] != none) atomic_smallest(best + tour[a >> 1], cost[a]);
  }
  WARPTSP_FN void settle(int a) const {
    const int own = tour[a >> 1];
    if (cost[a] != none && cost[a] == best[own]) atomic_smallest(first + own, (u64)a);
  }
  WARPTSP_FN JoinOfTours join(int path) const {
    const u64 a = first[tour[path]];
    return a == none ? JoinOfTours{0, tour[path], -1, -1, -1, -1, -1, 0, 0} : cheapest((int)a);
  }

  // Closed tours that have been joined have one name; then `first` has the new one of each.
  WARPTSP_FN void note_name(int before, int now) const { first[before] = (u64)now; }
  WARPTSP_FN void rename(int path) const { tour[path] = (int)first[tour[path]]; }

  WARPTSP_FN PathWay way_back(int e) const {
    const int before = link[e] ^ 1;
    return e == 0 ? PathWay{-1, 0} : PathWay{before, (unsigned)paths[before >> 1].length};
  }
  WARPTSP_FN static PathWay jump_back(const PathWay *ways, int e) {
    const PathWay own = ways[e];
    if (own.end < 0) return own;
    return PathWay{ways[own.end].end, own.value + ways[own.end].value};
  }
  // Of its two ends one is reached from end 0, by which the tour is entered; the other one by the way round.
  WARPTSP_FN static PathPlace place(const PathWay *ways, int path) {
    const int turned = ways[2 * path].end >= 0;
    return PathPlace{(int)ways[2 * path + turned].value, turned};
  }

 private:
  WARPTSP_FN int city(int e) const { return paths[e >> 1].city[e & 1]; }
  // The edges of gap a, and those that it and gap b would make instead. One loop for all, since the distances of all
  // metrics are long code.
  WARPTSP_FN void lengths(int a, int b, double *length) const {
    const int from[6] = {a, b, a, link[a], a, link[a]}, to[6] = {link[a], link[b], b, link[b], link[b], b};
    WARPTSP_LOOP
    for (int k = 0; k < 6; k++)
      length[k] = AnyCoordinates<double>{{points, dimensions}, (MetricKind)kind}(city(from[k]), city(to[k]));
  }
  // The cheapest join of the gap at end a, the first of equals; what saves something is as good as what costs nothing.
  WARPTSP_FN JoinOfTours cheapest(int a) const {
    const int own = tour[a >> 1], a_link = link[a];
    JoinOfTours join{0, own, -1, a, a_link, -1, -1, 0, 0};
    const int last = a + reach < 2 * count - 1 ? a + reach : 2 * count - 1;
    for (int b = a > reach ? a - reach : 0; b <= last; b++) {
      if (tour[b >> 1] == own) continue;
      double length[6];
      lengths(a, b, length);
      const double straight = length[2] + length[3] - length[0] - length[1];
      const double crossed = length[4] + length[5] - length[0] - length[1];
      double added = crossed < straight ? crossed : straight;
      if (added < 0) added = 0;
      if (join.found && added >= join.added) continue;
      join.added = added, join.other = tour[b >> 1], join.b = b, join.b_link = link[b];
      join.crossed = crossed < straight, join.found = 1;
    }
    return join;
  }
};

}  // namespace warptsp::lk
