// Moves along neighbour lists: what they write is what they claim, and every search keeps a tour of the length it claims.
#include <algorithm>
#include <cmath>

#include "clouds.h"
#include "papers/neighbor_lists/neighbor_search.h"
#include "tours.h"

using namespace warptsp;
using namespace warptsp::neighbor;

namespace {

typedef CoordinatesOf<MetricKind::exact_2d> Exact;

double length_of(const std::vector<int> &tour, const Exact &metric) {
  double sum = 0.0;
  for (size_t i = 0; i < tour.size(); i++) sum += metric(tour[i], tour[(i + 1) % tour.size()]);
  return sum;
}

void apply(std::vector<int> &order, std::vector<int> &position, const Rewrite &rewrite) {
  const TourArrays tour{(int)order.size(), order.data(), position.data()};
  std::vector<int> cells(rewrite.total);
  for (int k = 0; k < rewrite.total; k++) cells[k] = order[rewrite.at(tour, rewrite.source(k))];
  for (int k = 0; k < rewrite.total; k++) {
    order[rewrite.at(tour, k)] = cells[k];
    position[cells[k]] = rewrite.at(tour, k);
  }
}

std::vector<int> inverse(const std::vector<int> &order) {
  std::vector<int> position(order.size());
  for (size_t p = 0; p < order.size(); p++) position[order[p]] = (int)p;
  return position;
}

// From city 0 on, in the direction of its smaller neighbour: equal for equal closed tours.
std::vector<int> normal(std::vector<int> tour) {
  std::rotate(tour.begin(), std::find(tour.begin(), tour.end(), 0), tour.end());
  if (tour[1] > tour.back()) std::reverse(tour.begin() + 1, tour.end());
  return tour;
}

}  // namespace

TEST(a_double_bridge_puts_the_pieces_in_the_order_a_d_c_b) {
  check::Random random(1);
  for (int n = 4; n < 9; n++)
    for (int a = 0; a < n; a++)
      for (int b = a + 1; b < a + n - 2; b++)
        for (int c = b + 1; c < a + n - 1; c++)
          for (int d = c + 1; d < a + n; d++) {
            std::vector<int> order = shuffled(n, random), position = inverse(order), expected;
            const int cuts[5] = {a, b, c, d, a + n};
            for (const int piece : {3, 2, 1, 0})
              for (int p = cuts[piece] + 1; p <= cuts[piece + 1]; p++) expected.push_back(order[p % n]);
            apply(order, position, double_bridge({n, order.data(), position.data()}, a, b, c, d));
            CHECK(normal(order) == normal(expected));
            CHECK(position == inverse(order));
          }
}

TEST(a_move_writes_a_tour_shorter_by_its_gain) {
  for (int seed = 0; seed < 60; seed++) {
    check::Random random(seed);
    const int n = 4 + random.below(20), width = 1 + random.below(8);
    const std::vector<double> points = cloud(seed % 2, n, 2, random);
    const Exact metric{Points{points.data(), 2}};
    const std::vector<int> lists = nearest_of(metric, n, width), start = shuffled(n, random);
    std::vector<int> order = start, position = inverse(start);
    const NeighborLists<Exact> searched{metric, lists.data(), width, nullptr, 1e-9};
    for (int city = 0; city < n; city++)
      for (int side = 0; side < 2; side++)
        for (int k = 0; k < width; k++) {
          NeighborMove move;
          move.clear();
          long long evaluations = 0;
          const TourArrays tour{n, order.data(), position.data()};
          if (!examine_pair<true>(searched, tour, city, side, k, move, evaluations)) break;
          // Four callers find together what one finds.
          NeighborMove best;
          best.clear();
          long long shared = 0;
          open_pair<true>(searched, tour, city, side, k, best, shared, [&](const OpenMove &open) {
            for (int share = 0; share < 4; share++) go_on_from(searched, tour, open, best, shared, share, 4);
          });
          CHECK(shared == evaluations && best.gain == move.gain && best.number == move.number);
          if (!move.found()) continue;
          apply(order, position, rewrite_of(tour, move));
          CHECK(is_tour(order, n));
          CHECK(position == inverse(order));
          CHECK(std::abs(length_of(start, metric) - length_of(order, metric) - move.gain) < 1e-9);
          CHECK(rewrite_of(tour, move).total == 0);  // its edges are gone
          order = start;
          position = inverse(start);
        }
  }
}

TEST(every_search_keeps_a_tour_of_the_length_it_claims) {
  for (int seed = 0; seed < 40; seed++) {
    check::Random random(100 + seed);
    const int n = 4 + random.below(150), width = 1 + random.below(10);
    const std::vector<double> points = cloud(seed % cloud_kinds, n, 2, random);
    const Exact metric{Points{points.data(), 2}};
    std::vector<int> fixed;
    if (seed % 3 == 0) {
      fixed.assign(2 * (size_t)n, -1);
      fixed[0] = 1, fixed[2] = 0;
    }
    std::vector<int> start = shuffled(n, random);
    if (!fixed.empty()) std::iter_swap(start.begin() + 1, std::find(start.begin(), start.end(), 1));
    if (!fixed.empty()) std::iter_swap(start.begin(), std::find(start.begin(), start.end(), 0));
    const double begun = length_of(start, metric), tolerance = 1e-12 * begun;
    const StopToken token;
    NeighborSearchOf<Exact, true> search(metric, nearest_of(metric, n, width), width, std::move(fixed), tolerance,
                                         {false, seed % 2 == 0, seed % 4 < 2}, std::vector<int>(start), token);
    CHECK(search.descend(-1, 2, 60.0, token));
    const double local = length_of(search.best(), metric);
    CHECK(is_tour(search.best(), n));
    CHECK(std::abs(local - search.best_length()) <= 1e-9 * begun);
    const bool always = seed % 5 == 0;
    const double temperature = seed % 3 == 1 ? begun / n : 0.0;
    CHECK(search.iterate({3, 60, always, temperature, 50, seed % 2 * 7, 5, 2, seed % 5 < 2}, 60.0, token));
    CHECK(is_tour(search.best(), n));
    CHECK(std::abs(length_of(search.best(), metric) - search.best_length()) <= 1e-9 * begun);
    CHECK(search.best_length() <= local + 1e-9 * begun);
    CHECK(search.counts().kicks == 60);
  }
}
