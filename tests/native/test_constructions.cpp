#include <algorithm>
#include <numeric>

#include "check.h"
#include "clouds.h"
#include "tours/fixed_paths.h"
#include "tours/greedy.h"
#include "tours/nearest_neighbor.h"
#include "tours/random_tour.h"

using namespace warptsp;
using namespace warptsp::space;
using namespace warptsp::tours;

static void check_tour(const std::vector<int> &tour, const std::vector<int> &fixed) {
  const int n = (int)tour.size();
  std::vector<int> place(n, -1);
  for (int k = 0; k < n; ++k) {
    CHECK(tour[k] >= 0 && tour[k] < n && place[tour[k]] < 0);
    if (tour[k] < 0 || tour[k] >= n) return;
    place[tour[k]] = k;
  }
  for (size_t e = 0; e + 1 < fixed.size(); e += 2) {
    const int apart = std::abs(place[fixed[e]] - place[fixed[e + 1]]);
    CHECK(apart == 1 || apart == n - 1);
  }
}

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

TEST(every_construction_on_any_points) {
  check::Random random(1);
  const StopToken token;
  for (int trial = 0; trial < 12; ++trial)
    for (int kind = 0; kind < cloud_kinds; ++kind) {
      const int n = trial < 4 ? trial + 1 : 1 + random.below(600), dimensions = trial % 3 == 0 ? 3 : 2;
      const std::vector<double> points = cloud(kind, n, dimensions, random);
      const std::vector<int> fixed = trial % 2 ? fixed_edges(n, random) : std::vector<int>();
      const MetricKind metric = dimensions == 3 ? MetricKind::exact_3d : MetricKind::exact_2d;
      std::vector<int> tour(n), kept(n);
      CHECK(greedy_edge_points(points.data(), n, dimensions, metric, fixed.data(), (int64_t)fixed.size() / 2, 2, token,
                               tour.data()));
      check_tour(tour, fixed);
      CHECK(nearest_neighbor_points(points.data(), n, dimensions, 2, random.below(n), fixed.data(),
                                    (int64_t)fixed.size() / 2, 2, token, tour.data()));
      check_tour(tour, fixed);
      CHECK(random_tour(n, random.bits(), token, tour.data()));
      CHECK(keep_fixed_edges(tour.data(), n, fixed.data(), (int64_t)fixed.size() / 2, token, kept.data()));
      check_tour(kept, fixed);
    }
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
      check_tour(tour, fixed);
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

TEST(matrices) {
  check::Random random(2);
  const StopToken token;
  for (int trial = 0; trial < 40; ++trial) {
    const int n = 1 + random.below(60);
    std::vector<double> matrix((size_t)n * n);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j <= i; ++j) matrix[i * n + j] = matrix[j * n + i] = random.below(30);
    const std::vector<int> fixed = trial % 2 ? fixed_edges(n, random) : std::vector<int>();
    std::vector<int> tour(n);
    CHECK(greedy_edge_matrix(matrix.data(), n, fixed.data(), (int64_t)fixed.size() / 2, 2, token, tour.data()));
    check_tour(tour, fixed);
    UnvisitedRows<double> unvisited(matrix.data(), n);
    CHECK(nearest_neighbor_tour(n, random.below(n), fixed.data(), (int64_t)fixed.size() / 2, unvisited, token,
                                tour.data()));
    check_tour(tour, fixed);
  }
}

TEST(a_fixed_tour) {
  const StopToken token;
  const int n = 6;
  const std::vector<int> fixed = {0, 3, 3, 1, 1, 5, 5, 2, 2, 4, 4, 0}, order = {5, 0, 1, 2, 3, 4};
  std::vector<int> tour(n);
  CHECK(keep_fixed_edges(order.data(), n, fixed.data(), 6, token, tour.data()));
  check_tour(tour, fixed);
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
    if (nearest_neighbor_points(points.data(), n, 2, 2, 0, nullptr, 0, 1, token, tour.data())) check_tour(tour, {});
  }
}
