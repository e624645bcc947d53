// An optimal tour of a few cities. Host code only.
#pragma once
#include <algorithm>
#include <numeric>
#include <vector>

#include "small/few_cities.h"
#include "small/one_tree_search.h"
#include "small/subset_paths.h"

namespace warptsp::small {

// 1-trees after which dynamic programming takes over: 12 cities take as long with both then.
constexpr long long trees_of_few = 1000;

// Nearest neighbours from city 0 on, and 2-opt.
inline void quick_tour(const double *distances, int n, std::vector<int> &tour) {
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
}

// Optimal tours of several instances of up to `most_in_subsets` cities, one after another.
template <class V>
class OptimalTours {
 public:
  // Fills `tour` with an optimal one, a path in its own direction; see SubsetPaths. False if the token stopped it.
  bool solve(const FewCities<V> &cities, const StopToken &token, int *tour) {
    const int n = cities.n;
    if (n < 4 || !cities.is_plain()) return subsets_.solve(cities, token, tour);
    real_.assign(cities.distances, cities.distances + (size_t)n * n);
    quick_tour(real_.data(), n, tour_);
    if (!make_optimal(real_, n, nullptr, tour_, trees_of_few, token)) return subsets_.solve(cities, token, tour);
    std::rotate_copy(tour_.begin(), std::find(tour_.begin(), tour_.end(), 0), tour_.end(), tour);
    return true;
  }

 private:
  SubsetPaths<V> subsets_;
  std::vector<double> real_;
  std::vector<int> tour_;
};

}  // namespace warptsp::small
