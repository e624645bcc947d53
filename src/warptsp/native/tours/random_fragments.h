// A tour of random fragments: each city, in random order, is joined to one of the nearest candidates that are free.
// Host code only.
//
// The start tours of a population: a little longer than a greedy tour, and another one every time. Like the quick
// Boruvka of D. Applegate, W. Cook and A. Rohe, INFORMS J. Computing 15 (2003), but for the order and the choice.
#pragma once
#include <numeric>
#include <vector>

#include "common/random.h"
#include "common/shuffle.h"

namespace warptsp::tours {

// `candidates` [n, K], nearest first, -1 padded; `fixed` [n, 2] or null: edges that the tour has. Cities are numbered
// along a curve, and fragments follow each other in its order.
inline std::vector<int> random_fragments(int n, const int *candidates, int count, const int *fixed, Random &random) {
  std::vector<int> links(2 * (size_t)n, -1), fragment(n), order(n);
  std::iota(fragment.begin(), fragment.end(), 0);
  std::iota(order.begin(), order.end(), 0);
  const auto find = [&](int c) {
    while (fragment[c] != c) c = fragment[c] = fragment[fragment[c]];
    return c;
  };
  const auto join = [&](int a, int b) {
    links[2 * (size_t)a + (links[2 * (size_t)a] >= 0)] = b;
    links[2 * (size_t)b + (links[2 * (size_t)b] >= 0)] = a;
    fragment[find(a)] = find(b);
  };
  if (fixed)
    for (int a = 0; a < n; a++)
      for (int s = 0; s < 2; s++) {
        const int b = fixed[2 * (size_t)a + s];
        if (b > a && find(a) != find(b)) join(a, b);
      }
  shuffle(order, random);
  for (int pass = 0; pass < 2; pass++)
    for (int a : order) {
      if (links[2 * (size_t)a + 1] >= 0) continue;
      for (int k = 0; k < count; k++) {
        const int b = candidates[(size_t)a * count + k];
        if (b < 0) break;
        if (links[2 * (size_t)b + 1] >= 0 || find(a) == find(b) || random.below(2)) continue;
        join(a, b);
        break;
      }
    }
  std::vector<int> tour;
  tour.reserve(n);
  std::vector<char> placed(n, 0);
  for (int start = 0; start < n; start++) {
    if (placed[start] || links[2 * (size_t)start + 1] >= 0) continue;
    for (int before = -1, c = start; c >= 0;) {
      placed[c] = 1;
      tour.push_back(c);
      const int *l = &links[2 * (size_t)c];
      const int next = l[0] == before ? l[1] : l[0];
      before = c;
      c = next;
    }
  }
  return tour;
}

}  // namespace warptsp::tours
