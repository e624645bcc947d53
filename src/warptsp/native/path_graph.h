// One tour from the paths that blobs hand over (see warp_parts.h). Host code only.
//
// Every gap joins the path that ends at its left side to the one that ends at its right. Following paths and gaps gives
// the tour, or several closed ones: blobs that joined their paths in other pairs did so without knowing of each other.
// Closed tours are joined where that is cheapest: two gaps close to each other exchange their ends. As with the
// cycles of a random permutation, there are few, and a blob's surface has many gaps, so that this costs next to nothing.
#pragma once
#include <algorithm>
#include <utility>
#include <vector>

#include "stop_token.h"
#include "warp_parts.h"

namespace warptsp {

class PathGraph {
 public:
  static constexpr double kept = 1e30;
  explicit PathGraph(int size) : size_(size), end_(2 * (size_t)size), mate_(2 * (size_t)size) {}

  // Places `count` paths on the tour; `length(a, b)` is the distance of two cities, numbered along a curve, and at most
  // -`kept` for a link that must stay. Returns how many closed tours there were; 0, and nothing is placed, if they
  // cannot be joined without taking out such links.
  template <class Length>
  int arrange(const HandedPath *paths, int count, PathPlace *places, Length &&length) {
    paths_ = paths;
    for (int i = 0; i < count; i++) {
      end_[paths[i].head] = 2 * i;
      end_[paths[i].tail] = 2 * i + 1;
      mate_[paths[i].head] = paths[i].head ^ 1;
      mate_[paths[i].tail] = paths[i].tail ^ 1;
    }
    tour_of_.assign(count, -1);
    tours_.clear();
    for (int i = 0; i < count; i++)
      if (tour_of_[i] < 0) tours_.push_back(follow(i, (int)tours_.size(), nullptr));
    const int tours = (int)tours_.size();
    if (tours > 1 && !join(count, length)) return 0;
    int first = 0;  // the tour begins with the city of the lowest number, so that the paths' numbers do not matter
    for (int i = 1; i < count; i++)
      if (std::min(paths[i].head_city, paths[i].tail_city) < std::min(paths[first].head_city, paths[first].tail_city))
        first = i;
    std::fill(tour_of_.begin(), tour_of_.end(), -1);
    follow(first, 0, places);
    return tours;
  }

 private:
  struct Closed {
    int first, gaps;  // a path of it, and its number of paths
  };
  int size_;
  const HandedPath *paths_ = nullptr;
  std::vector<int> end_;   // [2 n] by side: twice the path that ends there, plus 1 for its tail
  std::vector<int> mate_;  // [2 n] by side: the side that it is linked to
  std::vector<int> tour_of_;
  std::vector<Closed> tours_;

  Closed follow(int first, int tour, PathPlace *places) {
    int path = first, position = 0, gaps = 0;
    bool turned = paths_[first].tail_city < paths_[first].head_city;
    do {
      tour_of_[path] = tour;
      if (places) places[path] = PathPlace{position, turned};
      position += paths_[path].length;
      gaps++;
      const int next = end_[mate_[turned ? paths_[path].head : paths_[path].tail]];
      path = next >> 1;
      turned = next & 1;
    } while (path != first);
    return Closed{first, gaps};
  }

  // Union-find over the closed tours.
  int root(int tour) {
    while (parent_[tour] != tour) tour = parent_[tour] = parent_[parent_[tour]];
    return tour;
  }
  std::vector<int> parent_;

  template <class Length>
  bool join(int count, Length &&length) {
    constexpr int looked_at = 64, reach = 12;  // gaps of a tour, and neighbours of each along the curve
    // Left sides of the gaps along the curve.
    std::vector<std::pair<int, int>> left;
    left.reserve(count);
    for (int i = 0; i < count; i++) {
      if (!(paths_[i].head & 1)) left.emplace_back(paths_[i].head_city, paths_[i].head);
      if (!(paths_[i].tail & 1)) left.emplace_back(paths_[i].tail_city, paths_[i].tail);
    }
    std::sort(left.begin(), left.end());
    const int gaps = (int)left.size();
    parent_.resize(tours_.size());
    for (size_t t = 0; t < tours_.size(); t++) parent_[t] = (int)t;
    std::vector<std::vector<int>> of_tour(tours_.size());
    for (int g = 0; g < gaps; g++) of_tour[tour_of_[end_[left[g].second] >> 1]].push_back(g);
    std::vector<int> by_size(tours_.size());
    for (size_t t = 0; t < tours_.size(); t++) by_size[t] = (int)t;
    std::sort(by_size.begin(), by_size.end(), [&](int a, int b) {
      return std::make_pair(of_tour[a].size(), left[of_tour[a][0]]) < std::make_pair(of_tour[b].size(), left[of_tour[b][0]]);
    });
    const auto city = [&](int side) {
      const HandedPath &path = paths_[end_[side] >> 1];
      return end_[side] & 1 ? path.tail_city : path.head_city;
    };
    const auto tour = [&](int g) { return root(tour_of_[end_[left[g].second] >> 1]); };
    for (size_t s = 0; s + 1 < by_size.size(); s++) {
      const std::vector<int> &own = of_tour[by_size[s]];
      const int self = root(by_size[s]);
      double best = 0.5 * kept;
      int best_a = -1, best_b = -1;
      bool best_crossed = false;
      const auto look = [&](int a, int b) {
        const int al = left[a].second, ar = mate_[al], bl = left[b].second, br = mate_[bl];
        const int cal = city(al), car = city(ar), cbl = city(bl), cbr = city(br);
        const double removed = length(cal, car) + length(cbl, cbr);
        const double straight = length(cal, cbl) + length(car, cbr) - removed;
        const double crossed = length(cal, cbr) + length(car, cbl) - removed;
        if (std::min(straight, crossed) < best) {
          best = std::min(straight, crossed);
          best_a = a, best_b = b, best_crossed = crossed < straight;
        }
      };
      const size_t step = std::max<size_t>(1, own.size() / looked_at);
      // Neighbours first; if all within reach belong to the same tour, whatever is next along the curve.
      for (int range = reach; best_a < 0; range = std::min(8 * range, gaps)) {
        for (size_t i = 0; i < own.size(); i += step) {
          const int a = own[i];
          for (int b = std::max(0, a - range); b < std::min(gaps, a + range + 1); b++)
            if (tour(b) != self) look(a, b);
        }
        if (best_a < 0 && range == gaps) return false;
      }
      const int al = left[best_a].second, ar = mate_[al], bl = left[best_b].second, br = mate_[bl];
      const auto link = [&](int p, int q) { mate_[p] = q, mate_[q] = p; };
      link(al, best_crossed ? br : bl);
      link(ar, best_crossed ? bl : br);
      parent_[self] = tour(best_b);
    }
    return true;
  }
};

}  // namespace warptsp
