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
#include "tours/fragments.h"

namespace warptsp::tours {

// `candidates` [n, K], nearest first, -1 padded; `fixed` [n, 2] or null: edges that the tour has. Fragments follow each
// other in the order of the cities `along`, or, where that is empty, of their numbers, which are those along a curve.
inline std::vector<int> random_fragments(int n, const int *candidates, int count, const int *fixed,
                                         const std::vector<int> &along, Random &random) {
  std::vector<int> order(n);
  std::iota(order.begin(), order.end(), 0);
  Fragments fragments;
  fragments.begin(n, nullptr, 0, StopToken());
  if (fixed)
    for (int a = 0; a < n; a++)
      for (int s = 0; s < 2; s++) {
        const int b = fixed[2 * (size_t)a + s];
        if (b > a && fragments.fits(a, b)) fragments.join(a, b);
      }
  shuffle(order, random);
  for (int pass = 0; pass < 2; pass++)
    for (int a : order) {
      if (fragments.is_inner(a)) continue;
      for (int k = 0; k < count; k++) {
        const int b = candidates[(size_t)a * count + k];
        if (b < 0) break;
        if (!fragments.fits(a, b) || random.below(2)) continue;
        fragments.join(a, b);
        break;
      }
    }
  std::vector<int> tour;
  tour.reserve(n);
  std::vector<char> placed(n, 0);
  for (int i = 0; i < n; i++) {
    const int start = along.empty() ? i : along[i];
    if (placed[start] || fragments.is_inner(start)) continue;
    fragments.walk(start, [&](int city) {
      placed[city] = 1;
      tour.push_back(city);
    });
  }
  return tour;
}

}  // namespace warptsp::tours
