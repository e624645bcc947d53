// The greedy edge tour in rounds that many threads take part in, one end of a path each; for the host compiler and
// NVRTC alike: no standard library.
//
// Every path names the shortest edge from one of its ends to another path's end; an edge that both of its paths name is
// made. As edges are strictly ordered, the shortest of all is always made, no path is joined twice in a round, and no
// cycle can arise. With all edges in the rows the tour is the one that taking them in order of length gives, because no
// edge that is made could have lost its place to a shorter one.
//
// Work goes on in stages: the items of the first are all cities with rows of their nearest others; those of the next
// are the ends that are left, with rows of the nearest ends.
#pragma once
#include "common/atomics.h"
#include "common/metric.h"

namespace warptsp::tours {

struct GreedyStage {
  const double *points;  // [size, dimensions]
  const int *rows;       // [size, width] nearest items of each, in order of distance; -1 where there are no more
  const int *city;       // [size] ascending; null: item i is city i
  int *links;            // [cities, 2] -1 for none; the first is filled first
  int *mate;             // [size] the other end of its path, itself for a city alone, -1 for a city inside a path
  unsigned char *next;   // [size] how much of its row is used up
  int *named;            // [size] the item to which it wants an edge, or -1
  u64 *length;           // [size] of that edge
  u64 *shortest;         // [size] shortest edge that a path knows of, at the smaller of its two ends
  u64 *first;            // [size] the first in order of the shortest
  int size, width;
  int trusted;  // so many entries of a row are the true nearest: later ones may hide a nearer one of another quadrant
  int kind, dimensions;  // MetricKind, and 2 or 3
  // 0, or the round's number: paths are then drawn as givers and takers, and only edges from a giver to a taker are
  // made. This ends the chains in which every path's shortest edge leads to one that has a shorter one still.
  int draw;

  static constexpr u64 none = ~0ull;

  // Whether paths are to be drawn in the round after one with so few edges.
  WARPTSP_FN static bool is_slow(int wishes, int joined) { return joined < wishes / 16; }

  WARPTSP_FN int city_of(int item) const { return city ? city[item] : item; }
  WARPTSP_FN int path_of(int item) const { return mate[item] < item ? mate[item] : item; }
  WARPTSP_FN bool gives(int path) const { return draw == 0 || (mix64(((u64)draw << 32) + (u64)path) & 1) != 0; }
  WARPTSP_FN bool takes(int path) const { return draw == 0 || !gives(path); }

  WARPTSP_FN u64 length_bits(int a, int b) const {
    return bits_of(
        coordinate_distance((MetricKind)kind, points + dimensions * (long long)a, points + dimensions * (long long)b));
  }
  // Order among edges of one length: those of cities that follow each other along the curve first, so that a lattice
  // is filled row by row. Scrambled where that is equal, else a line of equal edges would grow by one a round.
  WARPTSP_FN static u64 rank(int a, int b) {
    unsigned low = (unsigned)(a < b ? a : b);
    const unsigned between = (unsigned)(a < b ? b - a : a - b);
    // A bijection: MurmurHash3's finaliser (A. Appleby).
    low = (low ^ low >> 16) * 0x85ebca6bu;
    low = (low ^ low >> 13) * 0xc2b2ae35u;
    low ^= low >> 16;
    return (u64)between << 32 | low;
  }

  // Before the first round of a stage; `mate` is set.
  WARPTSP_FN void begin(int item) {
    next[item] = 0;
    shortest[item] = first[item] = none;
  }

  // The four steps of a round, for one item; each is done for all items before the next begins.

  // Names its nearest item that can still be joined to, and tells both paths the length.
  WARPTSP_FN void name(int item) {
    named[item] = -1;
    if (mate[item] < 0) return;
    const int *const row = rows + (long long)item * width;
    int k = next[item], other = -1;
    for (; k < trusted; ++k) {
      other = row[k];
      if (other < 0 || (mate[other] >= 0 && other != mate[item])) break;
    }
    if (k == trusted) other = -1;
    next[item] = (unsigned char)(other < 0 ? trusted : k);
    if (other < 0) return;
    named[item] = other;
    length[item] = length_bits(item, other);
    const int own = path_of(item), its = path_of(other);
    if (!gives(own)) return;
    atomic_smallest(shortest + own, length[item]);
    if (takes(its)) atomic_smallest(shortest + its, length[item]);
  }
  // Tells both paths its place among edges of that length.
  WARPTSP_FN void settle(int item) {
    const int other = named[item];
    if (other < 0) return;
    const int own = path_of(item), its = path_of(other);
    if (!gives(own)) return;
    if (shortest[own] == length[item]) atomic_smallest(first + own, rank(item, other));
    if (takes(its) && shortest[its] == length[item]) atomic_smallest(first + its, rank(item, other));
  }
  // Marks its wish as refused unless both paths agree to it. True if it has one.
  WARPTSP_FN bool agree(int item) {
    const int other = named[item];
    if (other < 0) return false;
    const int own = path_of(item), its = path_of(other);
    const bool agreed = gives(own) && takes(its) && shortest[own] == length[item] && shortest[its] == length[item] &&
                        first[own] == rank(item, other) && first[its] == rank(item, other);
    if (!agreed) length[item] = none;
    return true;
  }
  // Makes the edge. True if it did.
  WARPTSP_FN bool join(int item) {
    shortest[item] = first[item] = none;
    const int other = named[item];
    if (other < 0 || length[item] == none) return false;
    if (named[other] == item && length[other] != none && other < item) return false;  // the other makes it
    join(city_of(item), city_of(other));
    join(city_of(other), city_of(item));
    const int left = mate[item], right = mate[other];
    mate[left] = right;
    mate[right] = left;
    if (left != item) mate[item] = -1;
    if (right != other) mate[other] = -1;
    return true;
  }

  // Between stages: whether the item is still an end of a path, and its copy into the next stage, where index[i] is the
  // place of item i.
  WARPTSP_FN bool stays(int item) const { return mate[item] >= 0; }
  WARPTSP_FN void carry_over(int item, const int *index, double *points_to, int *city_to, int *mate_to) const {
    if (!stays(item)) return;
    const long long to = index[item];
    for (int d = 0; d < dimensions; ++d) points_to[dimensions * to + d] = points[dimensions * (long long)item + d];
    city_to[to] = city_of(item);
    mate_to[to] = index[mate[item]];
  }

  WARPTSP_FN void join(int from, int to) {
    int *const pair = links + 2 * (long long)from;
    pair[pair[0] >= 0] = to;
  }
};

}  // namespace warptsp::tours
