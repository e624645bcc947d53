// One tour from the paths that blobs hand over (see warp_parts.h). Host code only.
//
// Following paths and the links between them gives the tour, or several closed ones: blobs that joined their paths in
// other pairs did so without knowing of each other. Closed tours are joined where that is cheapest: two gaps close to
// each other exchange their ends. As with the cycles of a random permutation, there are few, and a blob's surface has
// many gaps, so that this costs next to nothing.
//
// Each step of following waits for the one before, so what it reads is kept small: 8 bytes a path, which stay in a
// core's cache for a million cities.
#pragma once
#include <algorithm>
#include <utility>
#include <vector>

#include "common/disjoint_sets.h"
#include "common/radix_sort.h"
#include "common/stop_token.h"
#include "lk/warp_parts.h"

namespace warptsp::lk {

class PathGraph {
 public:
  static constexpr double kept = 1e30;

  // Places `count` paths on the tour; `length(a, b)` is the distance of two cities, numbered along a curve, and at most
  // -`kept` for an edge that must stay. Returns how many closed tours there were; 0, and nothing is placed, if they
  // cannot be joined without taking out such edges; -1 if the links of the paths contradict each other.
  template <class Length>
  int arrange(const LinkedPath *paths, int count, PathPlace *places, Length &&length) {
    paths_ = paths;
    link_.resize(2 * (size_t)count);
    for (int i = 0; i < count; i++) link_[2 * i] = paths[i].link[0], link_[2 * i + 1] = paths[i].link[1];
    for (int end = 0; end < 2 * count; end++)
      if ((unsigned)link_[end] >= 2u * (unsigned)count || link_[link_[end]] != end || link_[end] == end) return -1;
    tour_of_.assign(count, -1);
    int tours = 0;
    for (int i = 0; i < count; i++)
      if (tour_of_[i] < 0) follow(2 * i, [&](int end) { tour_of_[end >> 1] = tours; }), tours++;
    if (tours > 1 && !join(tours, count, length)) return 0;
    // The tour begins at the city of the lowest number, so that the paths' numbers do not matter.
    int first = 0;
    for (int end = 1; end < 2 * count; end++)
      if (city(end) < city(first)) first = end;
    int position = 0;
    follow(first, [&](int end) {
      places[end >> 1] = PathPlace{position, end & 1};
      position += paths_[end >> 1].length;
    });
    return tours;
  }

 private:
  struct CityAndEnd {
    int city, end;
  };
  // What joining examines, side by side along the curve.
  struct Gap {
    int city, beyond;  // at its two ends
    int end, tour;     // of the first of them
    double length;     // unknown at first
  };
  static constexpr double unknown = -2 * kept;
  const LinkedPath *paths_ = nullptr;
  std::vector<int> link_;  // [2 paths] by end: the end that it is linked to
  std::vector<int> tour_of_;
  std::vector<int> parent_;
  std::vector<CityAndEnd> ends_, spare_;
  std::vector<Gap> gaps_;

  int city(int end) const { return paths_[end >> 1].city[end & 1]; }

  // Calls `enter` with the end by which each path of a closed tour is entered, from `first` on.
  template <class Enter>
  void follow(int first, Enter &&enter) const {
    int end = first;
    do {
      enter(end);
      end = link_[end ^ 1];
    } while (end != first);
  }

  template <class Length>
  bool join(int tours, int count, Length &&length) {
    constexpr int examined = 64, reach = 12;  // gaps of a tour, and neighbours of each along the curve
    ends_.clear();
    for (int end = 0; end < 2 * count; end++)
      if (end < link_[end]) ends_.push_back(CityAndEnd{city(end), end});
    spare_.resize(ends_.size());
    radix_sort(
        ends_.data(), spare_.data(), (int64_t)ends_.size(), 31, [](const CityAndEnd &e) { return (uint64_t)e.city; },
        StopToken{});
    gaps_.clear();
    for (const CityAndEnd &e : ends_)
      gaps_.push_back(Gap{e.city, city(link_[e.end]), e.end, tour_of_[e.end >> 1], unknown});
    const int gaps = (int)gaps_.size();
    parent_.resize(tours);
    for (int t = 0; t < tours; t++) parent_[t] = t;
    std::vector<std::vector<int>> of_tour(tours);
    for (int g = 0; g < gaps; g++) of_tour[gaps_[g].tour].push_back(g);
    std::vector<int> by_size(tours);
    for (int t = 0; t < tours; t++) by_size[t] = t;
    std::sort(by_size.begin(), by_size.end(), [&](int a, int b) {
      return std::make_pair(of_tour[a].size(), of_tour[a][0]) < std::make_pair(of_tour[b].size(), of_tour[b][0]);
    });
    const auto length_of = [&](Gap &gap) {
      if (gap.length == unknown) gap.length = length(gap.city, gap.beyond);
      return gap.length;
    };
    for (int s = 0; s + 1 < tours; s++) {
      const std::vector<int> &own = of_tour[by_size[s]];
      const int self = root_of(parent_, by_size[s]);
      double best = 0.5 * kept;
      int best_a = -1, best_b = -1;
      bool best_crossed = false;
      const auto compare = [&](int a, int b) {
        Gap &one = gaps_[a], &other = gaps_[b];
        const double removed = length_of(one) + length_of(other);
        const auto try_edges = [&](int city, int beyond, bool crossed) {
          const double first = length(one.city, city) - removed;
          if (first >= best) return;  // most are too far away
          const double added = first + length(one.beyond, beyond);
          if (added < best) best = added, best_a = a, best_b = b, best_crossed = crossed;
        };
        try_edges(other.city, other.beyond, false);
        try_edges(other.beyond, other.city, true);
      };
      const size_t step = std::max<size_t>(1, own.size() / examined);
      // Neighbours first; if all within reach belong to the same tour, whatever is next along the curve.
      for (int range = reach; best_a < 0; range = std::min(8 * range, gaps)) {
        for (size_t i = 0; i < own.size(); i += step) {
          const int a = own[i];
          for (int b = std::max(0, a - range); b < std::min(gaps, a + range + 1); b++)
            if (root_of(parent_, gaps_[b].tour) != self) compare(a, b);
        }
        if (best_a < 0 && range == gaps) return false;
      }
      Gap &one = gaps_[best_a], &other = gaps_[best_b];
      const int beyond = link_[one.end], other_beyond = link_[other.end];
      const auto link = [&](Gap &gap, int p, int q) {
        link_[p] = q, link_[q] = p;
        gap = Gap{city(p), city(q), p, gap.tour, unknown};
      };
      link(one, one.end, best_crossed ? other_beyond : other.end);
      link(other, beyond, best_crossed ? other.end : other_beyond);
      parent_[self] = root_of(parent_, other.tour);
    }
    return true;
  }
};

}  // namespace warptsp::lk
