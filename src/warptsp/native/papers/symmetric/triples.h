// Symmetrical 3-opt moves, for the host compiler and NVRTC alike: I. Mavroidis names 3-opt as future work, and this is
// what his symmetry becomes with three strands of the tour in the place of two.
//
// Three strands A, B and C of the tour, of which none meets another, are walked at once, level by level. Rung u is the
// choice whether the three edges between the levels u and u + 1 give way to those from A to B, from B to C and from C to
// A. It replaces these three edges and no other, so the rungs can be decided one by one, and all that were accepted be
// applied at once: the three cities of a level take each other's places in turn, as often as rungs before it were
// accepted, modulo 3; where two strands have a prefix XOR, three have a prefix sum. What lies between the strands keeps
// its place if the sum of all is 0, and changes it if it is 1. If it is 2 there would be three tours, not one: the last
// rung accepted is left out then.
//
// If all strands run along the tour, an accepted rung makes two segments change places. If B runs against it, it reverses
// both instead. Every triple of edges comes up once in the first way, and three times in the second, with each of its
// edges as that of B: these are all the ways in which three edges can give way to three others. Of segments of one city
// they make 2-opt moves, and all of them: the tour that comes out is 3-optimal and 2-optimal.
#pragma once
#include "papers/symmetric/symmetric.h"

namespace warptsp::symmetric {

constexpr int levels = 32;  // rungs that are decided together: a warp's

// All triples whose edges i and k lie so far apart, with i in a range of 32. Rows are numbered from the nearest edges to
// the farthest.
struct TripleRow {
  int turned;  // B runs against the tour
  int apart;   // from i to k
  int begin;   // i of the first rung of a group, in the order of the tour
};

WARPTSP_FN int ranges_of(int n) { return (n + levels - 1) / levels; }
WARPTSP_FN long long rows_of(int n) { return 2LL * (n - 2) * ranges_of(n); }
WARPTSP_FN TripleRow triple_row(int n, long long row) {
  const int ranges = ranges_of(n), rest = (int)(row % (2 * ranges));
  return {rest / ranges, 2 + (int)(row / (2 * ranges)), rest % ranges * levels};
}

// Groups of a row are numbered from 1: how far from i the edge j of the first rung lies.
WARPTSP_FN int groups_of(const TripleRow &row) { return row.apart - 1 + (row.turned ? 2 * (levels - 1) : 0); }

// How far j lies from i at a rung, if there is such a triple.
WARPTSP_FN int middle_of(const TripleRow &row, int group, int rung) { return row.turned ? group - 2 * rung : group; }
WARPTSP_FN bool has_edges(const TripleRow &row, int n, int rung) {
  const int i = row.begin + rung;
  return row.turned ? i < n : i + row.apart < n;
}
WARPTSP_FN bool is_triple(const TripleRow &row, int n, int group, int rung) {
  const int middle = middle_of(row, group, rung);
  return has_edges(row, n, rung) && middle >= 1 && middle < row.apart;
}

// The rungs of a group that are applied, of those accepted: from the first one as many as keep the strands apart.
struct Exchange {
  int n;
  TripleRow row;
  int first;          // position of the first level of A
  int middle, apart;  // from there to the edges of B and C
  int rungs;          // up to the last one applied
  unsigned applied;   // the first rung is bit 0

  WARPTSP_FN int before(int level) const { return count_bits(level < 32 ? applied & ((1u << level) - 1) : applied); }
  WARPTSP_FN static int count_bits(unsigned bits) {
    int count = 0;
    for (; bits != 0; bits &= bits - 1) count++;
    return count;
  }

  // How far from `first` a city of a strand stands.
  WARPTSP_FN int at(int strand, int level) const {
    return strand == 0 ? level : strand == 2 ? apart + level : row.turned ? middle + 1 - level : middle + level;
  }
  // The city of this level on the path that begins on a strand.
  WARPTSP_FN int along(int strand, int level) const { return at((strand + before(level)) % 3, level); }

  // Which city comes so far behind `first`: how far behind it that one stood.
  WARPTSP_FN int source(int place) const {
    const bool swapped = before(levels) % 3 == 1;
    const int inner = middle + 1 - rungs;  // where B ends, if it is turned
    if (place <= rungs) return along(0, place);
    if (place >= apart) return place > apart + rungs ? place : along(swapped ? 1 : 2, place - apart);
    if (row.turned) {
      if (place < inner) return swapped ? middle + 1 - place : place;
      if (place <= middle + 1) return along(swapped ? 2 : 1, middle + 1 - place);
      return swapped ? apart + middle + 1 - place : place;
    }
    const int other = swapped ? apart - middle : middle;  // where the next strand begins
    if (place < other) return swapped ? middle + place : place;
    if (place <= other + rungs) return along(swapped ? 2 : 1, place - other);
    return swapped ? place - other : place;
  }
};

WARPTSP_FN Exchange exchange_of(const TripleRow &row, int n, int group, unsigned accepted) {
  int low = 0;
  while (!(accepted >> low & 1)) low++;
  const int middle = middle_of(row, group, low), apart = row.apart;
  int most = n - apart;
  if (!row.turned) {
    const int shorter = middle < apart - middle ? middle : apart - middle;
    most = most < shorter ? most : shorter;
  }
  unsigned applied = accepted >> low;
  if (most < levels) applied &= (1u << most) - 1;
  int high = levels - 1;
  while (!(applied >> high & 1)) high--;
  if (Exchange::count_bits(applied) % 3 == 2) {
    applied &= ~(1u << high);
    while (!(applied >> high & 1)) high--;
  }
  return {n, row, (row.begin + low) % n, middle, apart, high + 1, applied};
}

// The ends of the three edges of a triple.
struct Triple {
  int a, b;  // of A, in the order of the strand
  int c, d;  // of B
  int e, f;  // of C
};
WARPTSP_FN Triple triple_at(const TripleRow &row, int n, int group, int rung) {
  const int i = row.begin + rung, j = wrapped(i + middle_of(row, group, rung) - n, n),
            k = wrapped(i + row.apart - n, n);
  const int after = wrapped(j + 1 - n, n);
  return {i, wrapped(i + 1 - n, n), row.turned ? after : j, row.turned ? j : after, k, wrapped(k + 1 - n, n)};
}

// Whether the tour becomes shorter if the three edges of these positions give way to ad, cf and eb.
WARPTSP_FN bool shortens(const SymmetricInstance &instance, const Triple &at, bool turned, const int *city,
                         const float *edge) {
  const int a = city[at.a], b = city[at.b], c = city[at.c], d = city[at.d], e = city[at.e], f = city[at.f];
  if (instance.kept(a, b) || instance.kept(c, d) || instance.kept(e, f)) return false;
  const double edges = instance.whole_edges
                           ? (double)edge[at.a] + (double)edge[turned ? at.d : at.c] + (double)edge[at.e]
                           : instance.distance(a, b) + instance.distance(c, d) + instance.distance(e, f);
  return instance.distance(a, d) + instance.distance(c, f) + instance.distance(e, b) - edges < -instance.tolerance;
}

// What `margin` may be for growth that is a gain: three distances are rounded, not two.
WARPTSP_FN float triple_limit(const SymmetricInstance &instance) { return 1.5f * (float)instance.slack; }

}  // namespace warptsp::symmetric
