// Parts of a random tour, answered at random, make one tour again.
#include "lk/tour_cut.h"

#include <random>

#include "check.h"

using namespace warptsp;
using namespace warptsp::lk;
using namespace warptsp::tours;

TEST(random_answers_make_one_tour) {
  std::mt19937 random(1);
  const StopToken token;
  const auto below = [&](int bound) { return (int)(random() % (unsigned)bound); };
  for (int round = 0; round < 300; round++) {
    const int n = 1 + below(round < 150 ? 12 : 3000), parts = 1 + below(9), threads = 1 + below(3);
    std::vector<double> points(2 * (size_t)n);
    for (double &v : points) v = below(round % 3 == 0 ? 3 : 1000);
    std::vector<int> tour(n);
    std::iota(tour.begin(), tour.end(), 0);
    if (round % 2) std::shuffle(tour.begin(), tour.end(), random);
    std::vector<int> fixed;
    for (int i = 1; i < n && round % 5 == 0; i += 3) fixed.insert(fixed.end(), {tour[i - 1], tour[i]});

    TourCut cut;
    const int rotation = below(n);
    if (round % 4 < 2) {
      CHECK(
          cut.cut_stretches(tour.data(), n, parts, rotation, fixed.data(), (int64_t)fixed.size() / 2, threads, token));
    } else {
      const BoxCutter box(Points{points.data(), 2}, 2, n, parts, Random(round, 0, 0));
      CHECK(cut.cut_boxes(box, tour.data(), n, rotation, fixed.data(), (int64_t)fixed.size() / 2, threads, token));
    }
    for (int b = 0; b < cut.parts(); b++) {
      const int size = cut.size(b);
      CHECK(size > 0);
      std::vector<int> wrong(size, 0);
      if (size > 1) CHECK(!cut.put(b, wrong.data(), size).empty());
      // Chains of edges that stay, in any order and direction.
      std::vector<char> begins(size, 0);
      for (int j = 0; j < cut.path_count(b); j++) begins[cut.path_begin(b, j)] = 1;
      const int first = (int)(std::find(begins.begin(), begins.end(), 0) - begins.begin());
      std::vector<std::vector<int>> chains;
      for (int i = 0; i < size; i++) {
        const int city = (first + i) % size;
        if (chains.empty() || !begins[city]) chains.emplace_back();
        chains.back().push_back(city);
      }
      std::shuffle(chains.begin(), chains.end(), random);
      std::vector<int> order;
      for (std::vector<int> &chain : chains) {
        if (below(2)) std::reverse(chain.begin(), chain.end());
        order.insert(order.end(), chain.begin(), chain.end());
      }
      if (first == size) {  // nothing but such edges
        std::iota(order.begin(), order.end(), 0);
      }
      if (below(3)) CHECK(cut.put(b, order.data(), size).empty());
    }
    std::vector<int> curve(2 * (size_t)cut.path_count()), cities(curve.size()), linked(n);
    std::iota(curve.begin(), curve.end(), 0);
    cut.ends(cities.data());
    int closed = 0;
    const auto length = [&](int p, int q) {
      const EuclideanExact distance{points.data()};
      return distance(cities[p], cities[q]);
    };
    const TourCut::Linked result = cut.link(curve.data(), length, linked.data(), &closed, threads, token);
    CHECK(result == TourCut::Linked::done || (result == TourCut::Linked::impossible && !fixed.empty()));
    if (result != TourCut::Linked::done) continue;
    std::vector<int> place(n, -1);
    for (int i = 0; i < n; i++) place[linked[i]] = i;
    for (int c = 0; c < n; c++) CHECK(place[c] >= 0);
    for (size_t e = 0; e + 1 < fixed.size(); e += 2) {
      const int apart = std::abs(place[fixed[e]] - place[fixed[e + 1]]);
      CHECK(apart == 1 || apart == n - 1);
    }
  }
}
