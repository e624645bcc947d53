#include "space/plane_candidates.h"

#include <algorithm>

#include "space/candidates.h"
#include "space/curve.h"
#include "check.h"
#include "clouds.h"

using namespace warptsp;
using namespace warptsp::space;

static std::vector<Box> boxes_of(PointTree &tree) {
  std::vector<Box> boxes((size_t)2 << tree.levels);
  for (int k = 0; k < 1 << tree.levels; ++k) boxes[tree.first_leaf() + k] = leaf_box(tree, tree.first_leaf() + k);
  for (int v = tree.first_leaf() - 1; v > 0; --v) boxes[v] = enclose(boxes[2 * v], boxes[2 * v + 1]);
  tree.boxes = boxes.data();
  return boxes;
}

static PointTree tree_over(const std::vector<double> &points) {
  const int n = (int)points.size() / 2;
  double largest = 0.0;
  for (const double x : points) largest = std::max(largest, std::fabs(x));
  return PointTree{points.data(), nullptr, scale_for(largest), n, PointTree::levels_for(n)};
}

// The search of candidates.h has a slow reference of its own.
template <int Count, int PerQuadrant, int Norm>
static void check_lists(const std::vector<double> &points) {
  PointTree tree = tree_over(points);
  const std::vector<Box> boxes = boxes_of(tree);
  std::vector<int> expected((size_t)tree.n * Count), row(Count);
  CHECK(candidate_lists(points.data(), tree.n, 2, Count, PerQuadrant, Norm, false, 1, StopToken(), expected.data()));
  PlaneCandidates<Count, PerQuadrant, Norm> search(tree);
  for (int city = 0; city < tree.n; ++city) {
    std::fill(row.begin(), row.end(), -2);
    search.find(city, row.data());
    CHECK(std::equal(row.begin(), row.end(), expected.begin() + (size_t)city * Count));
  }
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
    for (int kind = 0; kind < cloud_kinds; ++kind) check_all(cloud(kind, 1 + random.below(150), 2, random));
}

TEST(numbered_along_the_curve) {
  check::Random random(4);
  for (int kind = 0; kind < cloud_kinds; ++kind) {
    const int n = 3000;
    const std::vector<double> given = cloud(kind, n, 2, random);
    std::vector<int> order(n);
    std::vector<double> points(2 * n);
    CHECK(space_filling_curve(given.data(), n, 2, Curve::hilbert, 1, StopToken(), order.data()));
    for (int i = 0; i < 2 * n; ++i) points[i] = given[2 * order[i / 2] + i % 2];
    check_lists<10, 2, 2>(points);
    check_lists<8, 1, 2>(points);
    check_lists<5, 0, 2>(points);
  }
}
