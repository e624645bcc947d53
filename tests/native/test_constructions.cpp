#include "check.h"
#include "clouds.h"
#include "tours.h"
#include "tours/greedy.h"
#include "tours/nearest_neighbor.h"
#include "tours/random_tour.h"

using namespace warptsp;
using namespace warptsp::space;
using namespace warptsp::tours;

// Some edges of a random tour.
static std::vector<int> fixed_edges(int n, check::Random &random) {
  const StopToken token;
  std::vector<int> tour(n), edges;
  random_tour(n, random.bits(), token, tour.data());
  const double share = random.uniform();
  for (int k = 1; k < n; ++k)
    if (random.uniform() < share) {
      edges.push_back(tour[k - 1]);
      edges.push_back(tour[k]);
    }
  return edges;
}

// Paths from the first to the last city of each tile, where no fixed edge forbids it.
TEST(greedy_in_tiles) {
  check::Random random(5);
  const StopToken token;
  for (int trial = 0; trial < 12; ++trial)
    for (int kind = 0; kind < cloud_kinds; ++kind) {
      const int n = 2 + random.below(600), dimensions = trial % 3 == 0 ? 3 : 2, tiles = 1 + random.below(n / 2);
      const std::vector<double> points = cloud(kind, n, dimensions, random);
      const std::vector<int> fixed = trial % 2 ? fixed_edges(n, random) : std::vector<int>();
      const MetricKind metric = dimensions == 3 ? MetricKind::exact_3d : MetricKind::exact_2d;
      std::vector<int> tour(n);
      CHECK(greedy_tiles_points(points.data(), n, dimensions, metric, fixed.data(), (int64_t)fixed.size() / 2, tiles,
                                1 + trial % 3, token, tour.data()));
      CHECK(is_tour(tour, n, fixed));
      if (!fixed.empty()) continue;
      for (int i = 0; i < n; ++i) {
        const int tile = (int)((int64_t)i * tiles / n);
        CHECK((int64_t)tour[i] * tiles / n == tile);
        const bool begins = i == 0 || (int)((int64_t)(i - 1) * tiles / n) < tile;
        const bool ends = i == n - 1 || (int)((int64_t)(i + 1) * tiles / n) > tile;
        if (begins || ends) CHECK(tour[i] == i);
      }
    }
}

TEST(a_fixed_tour) {
  const StopToken token;
  const int n = 6;
  const std::vector<int> fixed = {0, 3, 3, 1, 1, 5, 5, 2, 2, 4, 4, 0}, order = {5, 0, 1, 2, 3, 4};
  std::vector<int> tour(n);
  CHECK(keep_fixed_edges(order.data(), n, fixed.data(), 6, token, tour.data()));
  CHECK(is_tour(tour, n, fixed));
}

TEST(stops_at_any_moment) {
  check::Random random(6);
  const int n = 20000;
  const std::vector<double> points = cloud(0, n, 2, random);
  const StopToken never;
  std::vector<int> tour(n), complete(n);
  const auto greedy = [&](const StopToken &token, std::vector<int> &result) {
    return greedy_edge_points(points.data(), n, 2, MetricKind::exact_2d, nullptr, 0, 2, token, result.data());
  };
  CHECK(greedy(never, complete));
  for (int trial = 0; trial < 12; ++trial) {
    StopToken token;
    token.set_deadline(monotonic_seconds() + 0.05 * random.uniform());
    if (greedy(token, tour)) CHECK(tour == complete);
    token.set_deadline(monotonic_seconds() + 0.05 * random.uniform());
    if (nearest_neighbor_points(points.data(), n, 2, 2, 0, nullptr, 0, 1, token, tour.data())) CHECK(is_tour(tour, n));
  }
}
