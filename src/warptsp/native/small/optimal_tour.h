// An optimal tour of a few cities. Host code only.
#pragma once
#include <algorithm>
#include <limits>
#include <numeric>
#include <type_traits>
#include <vector>

#include "small/one_tree_search.h"
#include "small/subset_paths.h"

namespace warptsp::small {

// 1-trees after which dynamic programming takes over: 12 cities take as long with both then.
constexpr long long trees_of_few = 1000;

// Nearest neighbours from city 0 on, and 2-opt.
inline double quick_tour(const double *distances, int n, std::vector<int> &tour) {
  const auto d = [&](int i, int j) { return distances[(size_t)i * n + j]; };
  tour.resize(n);
  std::iota(tour.begin(), tour.end(), 0);
  for (int p = 1; p + 1 < n; p++)
    std::swap(tour[p], *std::min_element(tour.begin() + p, tour.end(),
                                         [&](int a, int b) { return d(tour[p - 1], a) < d(tour[p - 1], b); }));
  for (int rounds = 0, improved = 1; improved && rounds < n; rounds++) {
    improved = 0;
    for (int p = 0; p + 2 < n; p++)
      for (int q = p + 2; q < n; q++) {
        const int a = tour[p], b = tour[p + 1], c = tour[q], e = tour[q + 1 < n ? q + 1 : 0];
        if (a == e || d(a, c) + d(b, e) >= d(a, b) + d(c, e)) continue;
        std::reverse(tour.begin() + p + 1, tour.begin() + q + 1);
        improved = 1;
      }
  }
  double length = d(tour[n - 1], tour[0]);
  for (int p = 0; p + 1 < n; p++) length += d(tour[p], tour[p + 1]);
  return length;
}

// Whether 1-trees do: they know no direction, and no edges that are better than free; integers are held by reals.
template <class V>
bool suits_one_trees(const V *distances, int n) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++) {
      const V d = distances[(size_t)i * n + j];
      if (d != distances[(size_t)j * n + i] || d < 0) return false;
      if (std::is_integral_v<V> && (double)d > 0x1p44) return false;
    }
  return n <= OneTreeSearch::most;
}

// Optimal tours of several instances of up to `most_in_subsets` cities, one after another.
template <class V>
class OptimalTours {
 public:
  // Fills `tour` with an optimal one from `start` on, whose way back leads to `end`: see SubsetPaths. False
  // if the token stopped it.
  bool solve(const V *distances, int n, int start, int end, const StopToken &token, int *tour) {
    if (start == end && n >= 4 && suits_one_trees(distances, n)) {
      real_.assign(distances, distances + (size_t)n * n);
      double length = quick_tour(real_.data(), n, tour_);
      constexpr bool real = !std::is_integral_v<V>;
      const double step = real ? std::numeric_limits<double>::infinity() : whole_step;
      if (make_optimal(real_, n, nullptr, real, step, tour_, length, trees_of_few, token)) {
        std::rotate_copy(tour_.begin(), std::find(tour_.begin(), tour_.end(), start), tour_.end(), tour);
        return true;
      }
    }
    return subsets_.solve(distances, n, start, end, token, tour);
  }

 private:
  SubsetPaths<V> subsets_;
  std::vector<double> real_;
  std::vector<int> tour_;
};

}  // namespace warptsp::small
