// Disjoint sets as trees: of each member another one that is nearer to the root, which is above itself. Host code only.
#pragma once
#include <vector>

namespace warptsp {

// The root of a member's set; halves the way to it.
inline int root_of(std::vector<int> &above, int member) {
  while (above[member] != member) member = above[member] = above[above[member]];
  return member;
}

}  // namespace warptsp
