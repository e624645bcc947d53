#include "space/kd_tree.h"

#include "check.h"
#include "clouds.h"

using namespace warptsp;
using namespace warptsp::space;

template <int D>
static void check_tree(int kind, int n, int threads) {
  check::Random random(100 * kind + n);
  const std::vector<double> points = cloud(kind, n, D, random);
  const StopToken token;
  KdTree<D> tree;
  CHECK(tree.build(points.data(), n, threads, token));
  std::vector<int> seen(n, 0);
  for (int k = 0; k < n; ++k) {
    const TreePoint<D> &point = tree.points()[k];
    ++seen[point.city];
    for (int d = 0; d < D; ++d) CHECK(point.at[d] == points[(size_t)point.city * D + d] * tree.scale());
  }
  for (int i = 0; i < n; ++i) CHECK(seen[i] == 1);
  // Leaves are short and follow one another; every node's box and indices are those of the leaves below it.
  int place = 0;
  for (int leaf = tree.first_leaf(); leaf < 2 * tree.first_leaf(); ++leaf) {
    CHECK(tree.leaf_begin(leaf) == place);
    place = tree.leaf_end(leaf);
    CHECK(place - tree.leaf_begin(leaf) <= KdTree<D>::leaf_size + 1);
    for (int v = leaf; v >= 1; v >>= 1) {
      const TreeNode<D> &node = tree.node(v);
      for (int k = tree.leaf_begin(leaf); k < place; ++k) {
        const TreePoint<D> &point = tree.points()[k];
        CHECK(node.first_city <= point.city && point.city <= node.last_city);
        for (int d = 0; d < D; ++d) CHECK(node.low[d] <= point.at[d] && point.at[d] <= node.high[d]);
      }
    }
  }
  CHECK(place == n);
}

TEST(invariants) {
  for (int kind = 0; kind < cloud_kinds; ++kind)
    for (const int n : {1, 2, 3, 8, 9, 17, 1000, 40000}) {
      check_tree<2>(kind, n, 1 + n % 3);
      check_tree<3>(kind, n, 1 + n % 2);
    }
}

// Selection samples the first element always, which in order is the smallest.
TEST(cities_in_order) {
  const StopToken token;
  for (const int n : {20000, 33000, 65536, 100000}) {
    std::vector<double> points(2 * (size_t)n);
    for (int i = 0; i < n; ++i) points[2 * i] = points[2 * i + 1] = i;
    KdTree<2> tree;
    CHECK(tree.build(points.data(), n, 1, token));
    for (int k = 0; k + 1 < n; ++k)
      if (k % 64 == 0) CHECK(tree.points()[k].city <= k + 64);
  }
}

TEST(extreme_coordinates) {
  const StopToken token;
  for (const double scale : {1e308, 1e-300, 5e-324}) {
    const double points[8] = {scale, -scale, 0.0, scale, -scale, 0.0, 0.0, 0.0};
    KdTree<2> tree;
    CHECK(tree.build(points, 4, 1, token));
    for (int k = 0; k < 4; ++k) CHECK(std::isfinite(tree.points()[k].at[0]));
  }
}

TEST(stops) {
  check::Random random(5);
  const std::vector<double> points = cloud(0, 50000, 2, random);
  StopToken token;
  token.request();
  KdTree<2> tree;
  CHECK(!tree.build(points.data(), 50000, 2, token));
}
