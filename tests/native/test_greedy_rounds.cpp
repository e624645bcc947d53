#include "tours/greedy_rounds.h"

#include <algorithm>

#include "space/candidates.h"
#include "check.h"
#include "clouds.h"
#include "tours.h"
#include "space/curve.h"
#include "tours/greedy.h"
#include "tours/tour_ranking.h"

using namespace warptsp;
using namespace warptsp::space;
using namespace warptsp::tours;

// The tour of undirected links, by all bodies of tour_ranking.h.
static std::vector<int> tour_of(const std::vector<int> &links) {
  const int n = (int)links.size() / 2;
  std::vector<int> index(n, -1), stops, tour(n, -1);
  for (int i = 0; i < n; ++i)
    if (TourRanking::is_stop(i)) {
      index[i] = (int)stops.size();
      stops.push_back(i);
    }
  const TourRanking ranking{links.data(), index.data(), stops.data(), n, (int)stops.size()};
  std::vector<Way> ways(2 * stops.size()), jumped(2 * stops.size());
  for (size_t w = 0; w < ways.size(); ++w) ways[w] = ranking.walk((int)w);
  for (size_t reach = 1; reach < ways.size(); reach *= 2) {
    for (size_t w = 0; w < ways.size(); ++w) jumped[w] = TourRanking::jump(ways.data(), (int)w);
    ways.swap(jumped);
  }
  for (size_t w = 0; w < ways.size(); ++w) ranking.write(ways.data(), (int)w, tour.data());
  return tour;
}

TEST(tours_from_links) {
  check::Random random(1);
  for (int trial = 0; trial < 200; ++trial) {
    const int n = 3 + random.below(trial < 100 ? 20 : 2000);
    std::vector<int> tour = shuffled(n, random), links(2 * n);
    std::rotate(tour.begin(), std::find(tour.begin(), tour.end(), 0), tour.end());
    for (int i = 0; i < n; ++i) {
      const int flip = i > 0 && random.below(2);
      links[2 * tour[i] + flip] = tour[(i + 1) % n];
      links[2 * tour[i] + !flip] = tour[(i + n - 1) % n];
    }
    CHECK(tour_of(links) == tour);
  }
}

struct Greedy {
  std::vector<int> tour;
  int rounds = 0, stages = 0;
};

// The rounds of geometry.py in plain loops. `draws`: 0 where a round makes few edges, 1 never, 2 always.
static Greedy greedy_in_rounds(const std::vector<double> &given, MetricKind kind, int width, int draws) {
  const int dimensions = columns_of(kind), n = (int)given.size() / dimensions;
  Greedy result;
  std::vector<double> points = given;
  std::vector<int> links(2 * n, -1), city = in_order(n), mate = in_order(n);
  for (int size = n; size > 2; ++result.stages) {
    std::vector<int> rows((size_t)size * width), named(size);
    std::vector<unsigned char> next(size);
    std::vector<u64> length(size), shortest(size), first(size);
    CHECK(candidate_lists(points.data(), size, dimensions, width, 0, 2, false, 1, StopToken(), rows.data()));
    GreedyStage stage{
        points.data(),   rows.data(),  city.data(), links.data(), mate.data(), next.data(), named.data(), length.data(),
        shortest.data(), first.data(), size,        width,        width,       (int)kind,   dimensions,   0};
    for (int i = 0; i < size; ++i) stage.begin(i);
    while (true) {
      int wishes = 0, joined = 0;
      for (int i = 0; i < size; ++i) stage.name(i);
      for (int i = 0; i < size; ++i) stage.settle(i);
      for (int i = 0; i < size; ++i) wishes += stage.agree(i);
      for (int i = 0; i < size; ++i) joined += stage.join(i);
      if (wishes == 0) break;
      CHECK(joined > 0 || stage.draw);
      ++result.rounds;
      stage.draw = draws == 2 || (draws == 0 && GreedyStage::is_slow(wishes, joined)) ? result.rounds : 0;
    }
    std::vector<int> index(size, -1);
    int left = 0;
    for (int i = 0; i < size; ++i)
      if (stage.stays(i)) index[i] = left++;
    std::vector<double> points_left((size_t)dimensions * left);
    std::vector<int> city_left(left), mate_left(left);
    for (int i = 0; i < size; ++i)
      stage.carry_over(i, index.data(), points_left.data(), city_left.data(), mate_left.data());
    CHECK(left < size);
    points.swap(points_left);
    city.swap(city_left);
    mate.swap(mate_left);
    size = left;
  }
  CHECK(mate[0] == 1 && mate[1] == 0);
  links[2 * city[0] + 1] = city[1];
  links[2 * city[1] + 1] = city[0];
  result.tour = tour_of(links);
  return result;
}

static double length_of(const std::vector<double> &points, const std::vector<int> &tour, MetricKind kind) {
  double sum = 0.0;
  const int dimensions = columns_of(kind);
  for (size_t i = 0; i < tour.size(); ++i)
    sum += coordinate_distance(kind, points.data() + dimensions * tour[i],
                               points.data() + dimensions * tour[(i + 1) % tour.size()]);
  return sum;
}

// The host takes all edges of so few cities in order of length.
TEST(takes_edges_in_order_of_length) {
  check::Random random(2);
  for (const MetricKind kind : {MetricKind::exact_2d, MetricKind::exact_3d})
    for (int trial = 0; trial < 40; ++trial) {
      const int n = 4 + random.below(200), dimensions = columns_of(kind);
      const std::vector<double> points = cloud(0, n, dimensions, random);
      const std::vector<int> tour = greedy_in_rounds(points, kind, n - 1, 1).tour;
      std::vector<int> plain(n);
      CHECK(greedy_edge_points(points.data(), n, dimensions, kind, nullptr, 0, 1, StopToken(), plain.data()));
      // The same edges; a tour and its reverse are one.
      CHECK(std::fabs(length_of(points, tour, kind) - length_of(points, plain, kind)) < 1e-9);
      CHECK(is_tour(tour, n));
    }
}

TEST(any_points_any_draws) {
  check::Random random(3);
  for (int trial = 0; trial < 12; ++trial)
    for (int kind = 0; kind < cloud_kinds; ++kind)
      for (int draws = 0; draws < 3; ++draws) {
        const int n = 4 + random.below(400);
        CHECK(is_tour(greedy_in_rounds(cloud(kind, n, 2, random), MetricKind::euc_2d, 5, draws).tour, n));
      }
}

static std::vector<double> along_the_curve(const std::vector<double> &given) {
  const int n = (int)given.size() / 2;
  std::vector<int> order(n);
  std::vector<double> points(2 * n);
  CHECK(space_filling_curve(given.data(), n, 2, Curve::hilbert, 1, StopToken(), order.data()));
  for (int i = 0; i < 2 * n; ++i) points[i] = given[2 * order[i / 2] + i % 2];
  return points;
}

TEST(as_short_as_greedy_of_the_host) {
  check::Random random(4);
  const int n = 20000;
  for (int kind = 0; kind < 3; ++kind) {
    std::vector<double> points = along_the_curve(cloud(0, n, 2, random));
    const MetricKind metric = kind == 2 ? MetricKind::euc_2d : MetricKind::exact_2d;
    for (double &x : points) x = kind == 1 ? std::exp(4.0 * x) : 1e6 * x;
    std::vector<int> tour(n);
    CHECK(greedy_edge_points(points.data(), n, 2, metric, nullptr, 0, 1, StopToken(), tour.data()));
    const Greedy rounds = greedy_in_rounds(points, metric, 5, 0);
    CHECK(is_tour(rounds.tour, n));
    const double ratio = length_of(points, rounds.tour, metric) / length_of(points, tour, metric);
    std::printf("  %d rounds in %d stages, %.4f of the host's length\n", rounds.rounds, rounds.stages, ratio);
    CHECK(ratio < 1.01);
    CHECK(rounds.rounds < 200);
  }
}

// Lattices and lines tie all lengths or chain them.
TEST(few_rounds_whatever_the_points) {
  const int side = 100, n = side * side;
  std::vector<double> lattice, equal, growing;
  for (int i = 0; i < n; ++i) {
    lattice.push_back(i / side);
    lattice.push_back(i % side);
    equal.push_back(i);
    equal.push_back(0.0);
    growing.push_back((double)i * i);
    growing.push_back(0.0);
  }
  for (const std::vector<double> &points : {lattice, equal, growing}) {
    const Greedy rounds = greedy_in_rounds(along_the_curve(points), MetricKind::exact_2d, 5, 0);
    CHECK(is_tour(rounds.tour, n));
    const double mean = length_of(along_the_curve(points), rounds.tour, MetricKind::exact_2d) / n;
    std::printf("  %d rounds in %d stages, mean length %.3f\n", rounds.rounds, rounds.stages, mean);
    CHECK(rounds.rounds < 200);
  }
}
