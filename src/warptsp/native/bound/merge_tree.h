// The longest edge between two cities on a spanning tree, from the merges of Boruvka's algorithm. For the host compiler
// and NVRTC alike: no standard library.
//
// In each round every component takes its shortest edge out. Make a node of each component of each round, below the one
// that it becomes, and write the length of the edge that it took beside it: the longest of these lengths on the way
// between two cities is the longest edge between them on the spanning tree. V. King, "A simpler minimum spanning tree
// verification algorithm" (1997). The tree has as many levels as there were rounds, and no edge has to be sorted.
#pragma once
#include "common/metric.h"

namespace warptsp::bound {

constexpr int no_length = -2147483647 - 1;

// Cities are the nodes 0 to n - 1, the components after the first round follow, and so on: what is above has the larger
// number.
struct MergeNode {
  int up, longest;  // the node above, and the length of the edge that led there
};

struct MergeTree {
  const MergeNode *nodes;

  // The longest edge between what lies below two nodes, where `longest` is the longest within either; `meet` becomes the
  // node where they meet.
  WARPTSP_FN int join(int a, int b, int longest, int &meet) const {
    while (a != b) {
      int &lower = a < b ? a : b;
      const MergeNode node = nodes[lower];
      if (node.longest > longest) longest = node.longest;
      lower = node.up;
    }
    meet = a;
    return longest;
  }
  WARPTSP_FN int between(int a, int b) const {
    int meet = 0;
    return join(a, b, no_length, meet);
  }
  // Whether the longest edge between two nodes, or `longest`, is above a length.
  WARPTSP_FN bool exceeds(int a, int b, int longest, long long length) const {
    while (a != b && longest <= length) {
      int &lower = a < b ? a : b;
      const MergeNode node = nodes[lower];
      if (node.longest > longest) longest = node.longest;
      lower = node.up;
    }
    return longest > length;
  }
};

// What pricing has to know of the cities of a box.
struct BoxOfCities {
  int potential;  // the smallest
  int top;        // the node of the merge tree where all of them meet
  int longest;    // edge between any two of them

  WARPTSP_FN void add(const MergeTree &tree, const BoxOfCities &other) {
    if (other.potential < potential) potential = other.potential;
    const int inside = longest > other.longest ? longest : other.longest;
    longest = tree.join(top, other.top, inside, top);
  }
};

}  // namespace warptsp::bound
