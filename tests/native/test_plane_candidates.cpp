#include "space/plane_candidates.h"

#include <algorithm>

#include "space/candidates.h"
#include "space/curve.h"
#include "check.h"
#include "clouds.h"

using namespace warptsp;
using namespace warptsp::space;

template <int D>
static std::vector<BoxIn<D>> boxes_of(TreeIn<D> &tree) {
  std::vector<BoxIn<D>> boxes((size_t)2 << tree.levels);
  for (int k = 0; k < 1 << tree.levels; ++k) boxes[tree.first_leaf() + k] = leaf_box(tree, tree.first_leaf() + k);
  for (int v = tree.first_leaf() - 1; v > 0; --v) boxes[v] = enclose(boxes[2 * v], boxes[2 * v + 1]);
  tree.boxes = boxes.data();
  return boxes;
}

template <int D>
static TreeIn<D> tree_over(const std::vector<double> &points) {
  const int n = (int)points.size() / D;
  double largest = 0.0;
  for (const double x : points) largest = std::max(largest, std::fabs(x));
  return TreeIn<D>{points.data(), nullptr, scale_for(largest), n, TreeIn<D>::levels_for(n)};
}

// The search of candidates.h has a slow reference of its own.
template <int Count, int PerSector, int Norm, int D = 2>
static void check_lists(const std::vector<double> &points) {
  TreeIn<D> tree = tree_over<D>(points);
  const std::vector<BoxIn<D>> boxes = boxes_of(tree);
  std::vector<int> expected((size_t)tree.n * Count), row(Count);
  CHECK(candidate_lists(points.data(), tree.n, D, Count, PerSector, Norm, false, 1, StopToken(), expected.data()));
  NearCandidates<Count, PerSector, Norm, D> search(tree);
  for (int city = 0; city < tree.n; ++city) {
    std::fill(row.begin(), row.end(), -2);
    search.find(city, row.data());
    CHECK(std::equal(row.begin(), row.end(), expected.begin() + (size_t)city * Count));
  }
}

static void check_all_in_space(const std::vector<double> &points) {
  check_lists<5, 0, 2, 3>(points);
  check_lists<8, 1, 2, 3>(points);
  check_lists<10, 1, 2, 3>(points);
  check_lists<16, 2, 2, 3>(points);
  check_lists<9, 1, 1, 3>(points);
  check_lists<8, 1, 0, 3>(points);
}

static void check_all(const std::vector<double> &points) {
  check_lists<5, 0, 2>(points);
  check_lists<8, 1, 2>(points);
  check_lists<8, 2, 2>(points);
  check_lists<10, 2, 2>(points);
  check_lists<16, 4, 2>(points);
  check_lists<6, 1, 1>(points);
  check_lists<7, 1, 0>(points);
}

TEST(leaves_hold_every_city_once) {
  for (int n = 1; n < 600; ++n) {
    const PointTree tree{nullptr, nullptr, 1.0, n, PointTree::levels_for(n)};
    CHECK(tree.leaf_begin(tree.first_leaf()) == 0);
    for (int leaf = tree.first_leaf(); leaf < 2 * tree.first_leaf(); ++leaf) {
      CHECK(tree.leaf_end(leaf) > tree.leaf_begin(leaf));
      CHECK(tree.leaf_end(leaf) - tree.leaf_begin(leaf) <= PointTree::leaf_size + 1);
      for (int city = tree.leaf_begin(leaf); city < tree.leaf_end(leaf); ++city) CHECK(tree.leaf_of(city) == leaf);
    }
  }
}

TEST(any_order_of_points) {
  check::Random random(3);
  for (int trial = 0; trial < 10; ++trial)
    for (int kind = 0; kind < cloud_kinds; ++kind) {
      check_all(cloud(kind, 1 + random.below(150), 2, random));
      check_all_in_space(cloud(kind, 1 + random.below(150), 3, random));
    }
}

template <int D>
static std::vector<double> along_the_curve(const std::vector<double> &given) {
  const int n = (int)given.size() / D;
  std::vector<int> order(n);
  std::vector<double> points(given.size());
  CHECK(space_filling_curve(given.data(), n, D, Curve::hilbert, 1, StopToken(), order.data()));
  for (int i = 0; i < D * n; ++i) points[i] = given[D * order[i / D] + i % D];
  return points;
}

TEST(numbered_along_the_curve) {
  check::Random random(4);
  for (int kind = 0; kind < cloud_kinds; ++kind) {
    const std::vector<double> points = along_the_curve<2>(cloud(kind, 3000, 2, random));
    check_lists<10, 2, 2>(points);
    check_lists<8, 1, 2>(points);
    check_lists<5, 0, 2>(points);
    const std::vector<double> in_space = along_the_curve<3>(cloud(kind, 3000, 3, random));
    check_lists<8, 1, 2, 3>(in_space);
    check_lists<5, 0, 2, 3>(in_space);
  }
}

// Every order is one of all cities along a curve without jumps, and no two break at the same places.
TEST(turned_curves) {
  check::Random random(5);
  for (int dimensions = 2; dimensions <= 3; ++dimensions) {
    constexpr int n = 20000;
    std::vector<double> points((size_t)n * dimensions);
    for (double &x : points) x = random.uniform();
    CurveGrid grid;
    const double low[3] = {0.0, 0.0, 0.0}, high[3] = {1.0, 1.0, 1.0};
    grid.enclose(low, high, dimensions, TurnedGrid::bits);
    std::vector<std::vector<int>> orders;
    for (const double angle : {0.6, 1.1}) {
      const TurnedGrid turned = {{grid.low[0], grid.low[1], grid.low[2]},
                                 grid.extent,
                                 std::cos(angle),
                                 std::sin(angle),
                                 {0.3, angle / 3},
                                 dimensions};
      std::vector<std::pair<u64, int>> keys(n);
      for (int i = 0; i < n; ++i) keys[i] = {turned.key(points.data() + (size_t)dimensions * i), i};
      std::sort(keys.begin(), keys.end());
      double length = 0.0;
      std::vector<int> order;
      for (int i = 0; i < n; ++i) {
        CHECK(keys[i].first >> (dimensions == 2 ? 48 : 63) == 0);
        CHECK(i == 0 || keys[i].first != keys[i - 1].first);
        order.push_back(keys[i].second);
        double square = 0.0;
        for (int d = 0; d < dimensions && i > 0; ++d) {
          const double step = points[(size_t)dimensions * order[i] + d] - points[(size_t)dimensions * order[i - 1] + d];
          square += step * step;
        }
        length += std::sqrt(square);
      }
      CHECK(length < (dimensions == 2 ? 1.1 * std::sqrt(n) : 1.2 * std::pow(n, 2.0 / 3)));
      orders.push_back(order);
    }
    std::vector<int> place(n);
    for (int i = 0; i < n; ++i) place[orders[1][i]] = i;
    int far = 0;
    for (int i = 1; i < n; ++i) far += std::abs(place[orders[0][i]] - place[orders[0][i - 1]]) > n / 4;
    CHECK(far > 2);
  }
}
