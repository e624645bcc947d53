// Tours for tests: made, and checked.
#pragma once
#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <utility>
#include <vector>

#include "check.h"

inline std::vector<int> in_order(int n) {
  std::vector<int> tour(n);
  std::iota(tour.begin(), tour.end(), 0);
  return tour;
}

inline std::vector<int> shuffled(int n, check::Random &random) {
  std::vector<int> tour = in_order(n);
  for (int i = n - 1; i > 0; i--) std::swap(tour[i], tour[random.below(i + 1)]);
  return tour;
}

// Whether each of n cities comes once, and those of each pair of `edges` side by side (pairs with -1 are none).
inline bool is_tour(const std::vector<int> &tour, int n, const std::vector<int> &edges = {}) {
  std::vector<int> place(n, -1);
  if ((int)tour.size() != n) return false;
  for (int i = 0; i < n; i++) {
    if (tour[i] < 0 || tour[i] >= n || place[tour[i]] >= 0) return false;
    place[tour[i]] = i;
  }
  for (size_t e = 0; e + 1 < edges.size(); e += 2) {
    if (edges[e] < 0 || edges[e + 1] < 0) continue;
    const int apart = std::abs(place[edges[e]] - place[edges[e + 1]]);
    if (apart != 1 && apart != n - 1) return false;
  }
  return true;
}

// `partners` [n, 2]: the cities that each must stay beside, or -1; as pairs.
inline std::vector<int> pairs_of(const std::vector<int> &partners) {
  std::vector<int> pairs;
  for (size_t i = 0; i < partners.size(); i++) pairs.insert(pairs.end(), {(int)i / 2, partners[i]});
  return pairs;
}

// Lists [n, count] of the nearest, of equals the lower number first; -1 behind the last.
template <class Metric>
std::vector<int> nearest_of(const Metric &metric, int n, int count) {
  std::vector<int> lists((size_t)n * count, -1), others;
  for (int c = 0; c < n; c++) {
    others.clear();
    for (int d = 0; d < n; d++)
      if (d != c) others.push_back(d);
    const int k = std::min(count, n - 1);
    std::partial_sort(others.begin(), others.begin() + k, others.end(),
                      [&](int a, int b) { return std::make_pair(metric(c, a), a) < std::make_pair(metric(c, b), b); });
    std::copy_n(others.begin(), k, lists.begin() + (size_t)c * count);
  }
  return lists;
}
