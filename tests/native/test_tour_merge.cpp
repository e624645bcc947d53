// Tours joined into one: no edge but theirs, no longer than the shortest, and as good as enumeration says where it can be.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "check.h"
#include "lk/tour_merge.h"

using namespace warptsp;
using namespace warptsp::lk;

namespace {

typedef std::set<std::pair<int, int>> Edges;

Edges edges_of(const std::vector<int> &order) {
  Edges edges;
  for (size_t i = 0; i < order.size(); i++)
    edges.insert(std::minmax(order[i], order[i + 1 < order.size() ? i + 1 : 0]));
  return edges;
}

struct Lengths {
  int n;
  std::vector<double> d;
  Lengths(int n, bool whole, check::Random &random) : n(n), d((size_t)n * n) {
    for (int i = 0; i < n; i++)
      for (int j = 0; j < i; j++)
        d[(size_t)i * n + j] = d[(size_t)j * n + i] = whole ? 1 + random.below(9) : random.uniform();
  }
  double operator()(int a, int b) const { return d[(size_t)a * n + b]; }
  WeightedTour weighted(const std::vector<int> &order) const {
    WeightedTour tour{order, {}};
    for (int i = 0; i < n; i++) tour.lengths.push_back((*this)(order[i], order[i + 1 < n ? i + 1 : 0]));
    return tour;
  }
};

// Local changes of a tour: some segments turned, some exchanged with the next.
std::vector<int> changed(std::vector<int> order, int changes, check::Random &random) {
  const int n = (int)order.size();
  for (int k = 0; k < changes; k++) {
    const int begin = random.below(n - 3), length = 2 + random.below(std::min(12, n - begin - 2));
    if (random.below(2))
      std::reverse(order.begin() + begin, order.begin() + begin + length);
    else
      std::rotate(order.begin() + begin, order.begin() + begin + 1 + random.below(length - 1),
                  order.begin() + begin + length);
  }
  return order;
}

void check_merged(const WeightedTour &merged, const std::vector<WeightedTour> &tours, const Lengths &matrix) {
  std::vector<int> sorted = merged.order;
  std::sort(sorted.begin(), sorted.end());
  for (int c = 0; c < matrix.n; c++) CHECK(sorted[c] == c);
  Edges known;
  double least = 1e300;
  for (const WeightedTour &tour : tours) {
    const Edges some = edges_of(tour.order);
    known.insert(some.begin(), some.end());
    least = std::min(least, tour.length());
  }
  for (const auto &edge : edges_of(merged.order)) CHECK(known.count(edge) == 1);
  CHECK(merged.length() <= least * (1 + 1e-12));
  const WeightedTour again = matrix.weighted(merged.order);
  for (int i = 0; i < matrix.n; i++) CHECK(again.lengths[i] == merged.lengths[i]);
}

}  // namespace

TEST(merged_tours_have_known_edges_and_are_no_longer) {
  check::Random random(11);
  const StopToken token;
  int shorter = 0;
  for (int round = 0; round < 400; round++) {
    const int n = round < 100 ? 5 + random.below(6) : 20 + random.below(200);
    const Lengths matrix(n, round % 2 == 0, random);
    std::vector<int> order(n);
    std::iota(order.begin(), order.end(), 0);
    std::vector<WeightedTour> tours;
    double least = 1e300;
    for (int t = 2 + random.below(4); t > 0; t--) {
      tours.push_back(matrix.weighted(changed(order, 1 + n / 8, random)));
      least = std::min(least, tours.back().length());
    }
    const WeightedTour merged = merge_tours(tours, round, 1, token);
    check_merged(merged, tours, matrix);
    CHECK(merge_tours(tours, round, 3, token).order == merged.order);
    shorter += merged.length() < least - 1e-9;
  }
  CHECK(shorter > 250);
}

// Changes far from each other: the best of both is taken everywhere.
TEST(independent_changes_are_all_decided) {
  check::Random random(12);
  const StopToken token;
  for (int round = 0; round < 50; round++) {
    const int blocks = 4 + random.below(200), n = 8 * blocks;
    const Lengths matrix(n, false, random);
    std::vector<int> order(n);
    std::iota(order.begin(), order.end(), 0);
    std::vector<std::vector<int>> orders(3, order);
    double best = 0;
    for (int b = 0; b < blocks; b++) {
      double least = 1e300;
      for (std::vector<int> &own : orders) {
        std::reverse(own.begin() + 8 * b + 1, own.begin() + 8 * b + 2 + random.below(5));
        double length = 0;
        for (int i = 8 * b; i < 8 * b + 7; i++) length += matrix(own[i], own[i + 1]);
        least = std::min(least, length);
      }
      best += least + matrix(8 * b + 7, (8 * b + 8) % n);
    }
    std::vector<WeightedTour> tours;
    for (const std::vector<int> &own : orders) tours.push_back(matrix.weighted(own));
    const WeightedTour merged = merge_tours(tours, round, 2, token);
    check_merged(merged, tours, matrix);
    CHECK(std::fabs(merged.length() - best) < 1e-9 * best);
  }
}

// All tours in the union of two tours of few nodes, by enumeration: most of the time the shortest is found.
TEST(small_unions_are_near_their_best) {
  check::Random random(13);
  const StopToken token;
  int best = 0, all = 0;
  for (int round = 0; round < 200; round++) {
    const int n = 5 + random.below(4);
    const Lengths matrix(n, round % 2 == 0, random);
    std::vector<int> order(n);
    std::iota(order.begin(), order.end(), 0);
    const std::vector<WeightedTour> tours{matrix.weighted(order), matrix.weighted(changed(order, 3, random))};
    const WeightedTour merged = merge_tours(tours, round, 1, token);
    check_merged(merged, tours, matrix);
    Edges known = edges_of(tours[0].order);
    const Edges others = edges_of(tours[1].order);
    known.insert(others.begin(), others.end());
    double least = 1e300;
    std::vector<int> tour = order;
    do {
      const Edges own = edges_of(tour);
      if (std::includes(known.begin(), known.end(), own.begin(), own.end()))
        least = std::min(least, matrix.weighted(tour).length());
    } while (std::next_permutation(tour.begin() + 1, tour.end()));
    CHECK(merged.length() >= least - 1e-9);
    best += merged.length() <= least + 1e-9;
    all++;
  }
  CHECK(best > all * 7 / 10);
}

TEST(equal_tours_and_a_stop_leave_the_shortest) {
  check::Random random(14);
  const Lengths matrix(30, false, random);
  std::vector<int> order(30);
  std::iota(order.begin(), order.end(), 0);
  std::vector<int> turned(order.rbegin(), order.rend());
  const StopToken token;
  const std::vector<WeightedTour> same{matrix.weighted(order), matrix.weighted(turned), matrix.weighted(order)};
  check_merged(merge_tours(same, 1, 2, token), same, matrix);
  StopToken stopped;
  stopped.request();
  const std::vector<WeightedTour> tours{matrix.weighted(changed(order, 9, random)), matrix.weighted(order),
                                        matrix.weighted(changed(order, 9, random))};
  check_merged(merge_tours(tours, 1, 2, stopped), tours, matrix);
}
