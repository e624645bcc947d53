// Kicks: double bridges, which change four edges (three would be undone at once), of one of three kinds: three
// consecutive segments of random lengths; edges met on a random walk along candidates, which leads to other strands of
// the tour; or long edges that follow each other on the tour, which reorders whole clusters. docs/performance has what
// each is worth.
#pragma once
#include "common/random.h"
#include "lk/lk_arrays.h"

namespace warptsp::lk {

// Cells that a walk's double bridge may rearrange. Search writes such a stretch a dozen times to take a kick back, so
// in long arrays it would cost more than the search itself (pla85900: 30 % of the time; at 10^4 cities nothing).
WARPTSP_FN int lk_walk_span(int size) {
  const int span = 100000000 / size;
  return span > 1000 ? span : 1000;
}

// The edges that a double bridge cuts: the one behind position `at`, and those behind three segments of a, b and c
// cities.
struct DoubleBridge {
  int at, a, b, c;
};

// Each of the four edges is the longest of a few drawn from the stretch behind the one before.
template <class Value>
DoubleBridge bridge_of_long_edges(const LkArrays<Value> &arrays, int city, Random &random) {
  constexpr int stretch = 300, draws = 20;
  const int reach = 5 * stretch < arrays.size ? stretch : arrays.size / 5;
  const int from = arrays.position[city];
  int cut[4], end = 0;
  for (int q = 0; q < 4; q++) {
    int longest = 1;
    Value length = -1;
    for (int k = 0; k < draws; k++) {
      const int o = 1 + random.below(reach);
      const Value l = arrays.edge[arrays.wrap(from + end + o)];
      if (l > length) length = l, longest = o;
    }
    cut[q] = end += longest;
  }
  return {arrays.wrap(from + cut[0]), cut[1] - cut[0], cut[2] - cut[1], cut[3] - cut[2]};
}

// Edges met on a random walk along candidates, `params.kicks.walk` steps from one to the next; false if two are the same, or
// they are too far apart.
template <bool Paths, class Value>
bool bridge_of_walk(const LkArrays<Value> &arrays, const LkParams &params, int city, Random &random,
                    DoubleBridge &bridge) {
  int cut[4];
  for (int q = 0; q < 4; q++) {
    int r = q;
    for (const int p = arrays.position[city];; r--) {
      if (r == 0 || cut[r - 1] <= p) {
        cut[r] = p;
        break;
      }
      cut[r] = cut[r - 1];
    }
    for (int k = 0; k < params.kicks.walk; k++) {
      const int next = arrays.candidates[(long long)city * params.candidates + random.below(params.candidates)];
      if (next >= 0) city = next;
    }
  }
  if (cut[0] == cut[1] || cut[1] == cut[2] || cut[2] == cut[3]) return false;
  int first = 0;
  if (!Paths) {  // the longest of the four pieces stays where it is
    int longest = cut[0] + arrays.size - cut[3];
    for (int q = 0; q < 3; q++)
      if (cut[q + 1] - cut[q] > longest) longest = cut[q + 1] - cut[q], first = q + 1;
  }
  int length[3];
  for (int q = 0; q < 3; q++) {
    length[q] = cut[(first + q + 1) & 3] - cut[(first + q) & 3];
    if (length[q] < 0) length[q] += arrays.size;
  }
  if (length[0] + length[1] + length[2] > lk_walk_span(arrays.size)) return false;
  bridge = {cut[first], length[0], length[1], length[2]};
  return true;
}

}  // namespace warptsp::lk
