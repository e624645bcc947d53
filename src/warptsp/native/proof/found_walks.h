// Short closed walks through all nodes of a small complete graph, found by local search. Host code only.
//
// 2-opt and moves of up to three nodes, from given walks and from chance (Lourenço, Martin and Stützle, "Iterated local
// search", 2003): for graphs that are too large for the dynamic programme of least_walk.h, as long as that finds any.
#pragma once
#include <algorithm>
#include <utility>
#include <vector>

#include "common/random.h"

namespace warptsp::proof {

class FoundWalks {
 public:
  static constexpr double least_gain = 2e-6;  // less is not worth a step

  struct Walk {
    double length;
    std::vector<int> nodes;
  };

  // Improves a walk until no step shortens it.
  void improve(int n, const double *distance, std::vector<int> &walk) {
    n_ = n;
    distance_ = distance;
    if (n < 5) return;
    while (two_opt(walk) || or_opt(walk)) {
    }
  }

  double length(int n, const double *distance, const std::vector<int> &walk) const {
    double sum = distance[walk[n - 1] * n + walk[0]];
    for (int i = 0; i + 1 < n; ++i) sum += distance[walk[i] * n + walk[i + 1]];
    return sum;
  }

  // Different walks that are no longer than `most`, shortest first, from a start and kicks; ends early with so many.
  std::vector<Walk> find(int n, const double *distance, std::vector<int> start, double most, int kicks, size_t enough,
                         Random &random) {
    std::vector<Walk> found;
    improve(n, distance, start);
    double best = length(n, distance, start);
    if (best <= most) found.push_back({best, start});
    for (int k = 0; k < kicks && found.size() < enough; ++k) {
      std::vector<int> walk = start;
      kick(walk, random);
      improve(n, distance, walk);
      const double here = length(n, distance, walk);
      if (here <= most && std::none_of(found.begin(), found.end(),
                                       [&](const Walk &known) { return std::abs(known.length - here) < 1e-7; }))
        found.push_back({here, walk});
      if (here <= best + 1e-9) {
        best = here;
        start = std::move(walk);
      }
    }
    std::sort(found.begin(), found.end(), [](const Walk &a, const Walk &b) { return a.length < b.length; });
    return found;
  }

 private:
  double d(int a, int b) const { return distance_[a * n_ + b]; }

  bool two_opt(std::vector<int> &walk) const {
    bool any = false;
    for (int i = 0; i + 2 < n_; ++i)
      for (int j = i + 2; j < n_; ++j) {
        if (i == 0 && j == n_ - 1) continue;
        const int a = walk[i], b = walk[i + 1], c = walk[j], e = walk[j + 1 < n_ ? j + 1 : 0];
        if (d(a, c) + d(b, e) >= d(a, b) + d(c, e) - least_gain) continue;
        std::reverse(walk.begin() + i + 1, walk.begin() + j + 1);
        any = true;
      }
    return any;
  }

  // Moves up to three nodes, in either direction; after a rotation that puts them first.
  bool or_opt(std::vector<int> &walk) const {
    for (int from = 0; from < n_; ++from)
      for (int count = 1; count <= 3 && count + 2 < n_; ++count) {
        const auto at = [&](int i) { return walk[i % n_]; };
        const int before = at(from + n_ - 1), first = at(from), last = at(from + count - 1), after = at(from + count);
        const double saved = d(before, first) + d(last, after) - d(before, after);
        if (saved <= least_gain) continue;
        for (int k = from + count; k < from + n_ - 1; ++k) {
          const int a = at(k), b = at(k + 1);
          const double kept = d(a, first) + d(last, b) - d(a, b), turned = d(a, last) + d(first, b) - d(a, b);
          if (std::min(kept, turned) >= saved - least_gain) continue;
          std::rotate(walk.begin(), walk.begin() + from, walk.end());
          if (turned < kept) std::reverse(walk.begin(), walk.begin() + count);
          std::rotate(walk.begin(), walk.begin() + count, walk.begin() + (k - from + 1));
          return true;
        }
      }
    return false;
  }

  // Swaps two neighbouring segments.
  void kick(std::vector<int> &walk, Random &random) const {
    std::rotate(walk.begin(), walk.begin() + random.below(n_), walk.end());
    const int first = 1 + random.below(std::min(8, n_ - 2));
    const int second = 1 + random.below(std::min(8, n_ - 1 - first));
    std::rotate(walk.begin() + 1, walk.begin() + 1 + first, walk.begin() + 1 + first + second);
  }

  int n_ = 0;
  const double *distance_ = nullptr;
};

}  // namespace warptsp::proof
