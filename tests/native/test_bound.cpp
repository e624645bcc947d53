#include "bound/lower_bound.h"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "bound/merge_tree.h"
#include "check.h"
#include "clouds.h"

using namespace warptsp;
using namespace warptsp::bound;
using namespace warptsp::space;

static std::vector<int> some_potentials(int n, int largest, check::Random &random) {
  std::vector<int> potential(n);
  for (int &p : potential) p = random.below(2 * largest + 1) - largest;
  return potential;
}

// A graph that a cycle makes connected, with many equally long edges.
static SparseGraph some_graph(int n, check::Random &random) {
  std::vector<uint64_t> keys;
  for (int v = 0; v < n; ++v) keys.push_back(edge_key(v, (v + 1) % n));
  for (int e = 0; e < 2 * n; ++e) {
    const int a = random.below(n), b = random.below(n);
    if (a != b) keys.push_back(edge_key(a, b));
  }
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  SparseGraph graph;
  Team alone(1);
  graph.build(n, keys, [&](int a, int b) { return (a * 31 + b * 17) % 10; }, alone);
  return graph;
}

// The length of the shortest tree by Kruskal's algorithm with the plainest of union-finds.
static int64_t kruskal(const SparseGraph &graph, const std::vector<int> &potential) {
  std::vector<TreeEdge> edges;
  for (int v = 0; v < graph.size(); ++v)
    for (const Arc *arc = graph.begin(v); arc < graph.end(v); ++arc)
      if (v < arc->to) edges.push_back({v, arc->to, arc->cost + potential[v] + potential[arc->to]});
  std::sort(edges.begin(), edges.end(), [](const TreeEdge &a, const TreeEdge &b) { return a.length < b.length; });
  std::vector<int> component(graph.size());
  std::iota(component.begin(), component.end(), 0);
  int64_t sum = 0;
  for (const TreeEdge &edge : edges) {
    const int from = component[edge.high], to = component[edge.low];
    if (from == to) continue;
    for (int &c : component)
      if (c == from) c = to;
    sum += edge.length;
  }
  return sum;
}

// The merges of Boruvka's algorithm, by the plainest of loops; the nodes of the cities come first.
static std::vector<MergeNode> merges_of(const SparseGraph &graph, const std::vector<int> &potential) {
  const int n = graph.size();
  std::vector<MergeNode> nodes(n, {-1, 0});
  std::vector<int> top(n);  // of each city
  std::iota(top.begin(), top.end(), 0);
  for (int level = 0, end = n; level < end;) {
    // The shortest edge out of each node of the level, of equally long ones the one of the smallest cities.
    std::vector<TreeEdge> shortest(end - level, {-1, -1, 0});
    for (int v = 0; v < n; ++v)
      for (const Arc *arc = graph.upward(v); arc < graph.end(v); ++arc)
        for (const int city : {v, arc->to}) {
          TreeEdge &best = shortest[top[city] - level];
          const int length = arc->cost + potential[v] + potential[arc->to];
          if (top[v] != top[arc->to] && (best.low < 0 || length < best.length)) best = {v, arc->to, length};
        }
    if (shortest[0].low < 0) break;
    std::vector<int> group(end - level);
    std::iota(group.begin(), group.end(), 0);
    for (const TreeEdge &edge : shortest) {
      const int from = group[top[edge.low] - level], to = group[top[edge.high] - level];
      for (int &g : group)
        if (g == from) g = to;
    }
    std::vector<int> names(group);
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    for (int k = 0; k < end - level; ++k)
      nodes[level + k] = {end + (int)(std::lower_bound(names.begin(), names.end(), group[k]) - names.begin()),
                          shortest[k].length};
    for (int &t : top) t = nodes[t].up;
    level = end;
    end += (int)names.size();
    nodes.resize(end, {-1, 0});
  }
  return nodes;
}

TEST(merges_know_the_longest_edge_between_cities) {
  check::Random random(5);
  for (const int n : {2, 3, 20, 300}) {
    const SparseGraph graph = some_graph(n, random);
    const std::vector<int> potential = some_potentials(n, 15, random);
    const std::vector<MergeNode> nodes = merges_of(graph, potential);
    const MergeTree merges = {nodes.data()};
    SpanningTree tree;
    Team alone(1);
    CHECK(tree.make(graph, potential.data(), alone));
    const StopToken token;
    PathMaxima maxima;
    CHECK(maxima.build(tree.edges(), n, 1, token));
    for (int a = 0; a < n; ++a)
      for (int b = 0; b < n; ++b) {
        if (a == b) continue;
        const int longest = maxima.between_cities(a, b);
        CHECK(merges.between(a, b) == longest);
        CHECK(merges.exceeds(a, b, no_length, longest - 1) && !merges.exceeds(a, b, no_length, longest));
      }
    // Of sets of cities: at least as long as between any two of them.
    for (int trial = 0; trial < 200; ++trial) {
      BoxOfCities boxes[2];
      std::vector<int> members[2];
      for (int k = 0; k < 2; ++k) {
        members[k].assign(1 + random.below(8), 0);
        for (int &city : members[k]) city = random.below(n);
        boxes[k] = {potential[members[k][0]], members[k][0], no_length};
        for (const int city : members[k]) boxes[k].add(merges, {potential[city], city, no_length});
        for (const int city : members[k]) CHECK(boxes[k].potential <= potential[city]);
      }
      int meet = 0;
      const int most = merges.join(boxes[0].top, boxes[1].top, std::max(boxes[0].longest, boxes[1].longest), meet);
      for (const int a : members[0])
        for (const int b : members[1]) CHECK(a == b || maxima.between_cities(a, b) <= most);
    }
  }
}

TEST(trees_are_shortest_and_the_same_on_threads) {
  check::Random random(1);
  for (const int n : {3, 4, 17, 300, 70000}) {
    const SparseGraph graph = some_graph(n, random);
    const std::vector<int> potential = some_potentials(n, n < 20 ? 2 : 40, random);
    SpanningTree one, two;
    Team alone(1), pair(2);
    CHECK(one.make(graph, potential.data(), alone) && two.make(graph, potential.data(), pair));
    CHECK((int)one.edges().size() == n - 1);
    int64_t sum = 0;
    for (int e = 0; e < n - 1; ++e) {
      const TreeEdge &a = one.edges()[e], &b = two.edges()[e];
      CHECK(a.low == b.low && a.high == b.high && a.length == b.length);
      sum += a.length;
    }
    if (n <= 300) CHECK(sum == kruskal(graph, potential));
  }
}

TEST(a_graph_in_two_parts_has_no_tree) {
  SparseGraph graph;
  Team alone(1);
  graph.build(4, {edge_key(0, 1), edge_key(2, 3)}, [](int, int) { return 1; }, alone);
  const int potential[4] = {0, 0, 0, 0};
  CHECK(!SpanningTree().make(graph, potential, alone));
}

// Every edge from both of its cities, in ascending order.
static std::vector<uint64_t> keys_of(const SparseGraph &graph) {
  std::vector<uint64_t> keys;
  int64_t upward = 0, arcs = 0;
  for (int v = 0; v < graph.size(); ++v) {
    for (const Arc *arc = graph.begin(v); arc < graph.end(v); ++arc, ++arcs) {
      CHECK(arc == graph.begin(v) || arc->to > (arc - 1)->to);
      CHECK((arc >= graph.upward(v)) == (arc->to > v));
      CHECK(arc->cost == (std::min(v, arc->to) * 31 + std::max(v, arc->to) * 17) % 10);
      if (arc->to < v) continue;
      keys.push_back(edge_key(v, arc->to));
      ++upward;
    }
  }
  CHECK(arcs == 2 * upward && graph.edges() == upward);
  return keys;
}

TEST(graphs_lose_and_gain_edges) {
  check::Random random(6);
  const auto cost = [](int a, int b) { return (a * 31 + b * 17) % 10; };
  for (const int n : {3, 50, 20000}) {
    Team alone(1);
    SparseGraph one = some_graph(n, random), two = some_graph(n, random);
    two.renew({}, [](int, const Arc &) { return false; }, cost, alone);
    CHECK(keys_of(two).empty());
    std::vector<uint64_t> added, expected;
    for (int e = 0; e < n; ++e) {
      const int a = random.below(n), b = random.below(n);
      if (a != b) added.push_back(edge_key(a, b));
    }
    std::sort(added.begin(), added.end());
    added.erase(std::unique(added.begin(), added.end()), added.end());
    const auto stays = [](int v, const Arc &arc) { return (v + arc.to) % 3 != 0; };
    for (const uint64_t key : keys_of(one))
      if ((low_city(key) + high_city(key)) % 3 != 0) expected.push_back(key);
    expected.insert(expected.end(), added.begin(), added.end());
    std::sort(expected.begin(), expected.end());
    expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
    Team pair(2);
    one.renew(added, stays, cost, pair);
    CHECK(keys_of(one) == expected);
  }
}

TEST(a_team_runs_every_task_once) {
  for (const int threads : {1, 2, 3}) {
    Team team(threads);
    for (int loop = 0; loop < 2000; ++loop) {
      const int tasks = loop % 7;
      std::vector<std::atomic<int>> runs(7);
      team.run(tasks, [&](int task) { ++runs[task]; });
      for (int task = 0; task < 7; ++task) CHECK(runs[task] == (task < tasks));
    }
    bool caught = false;
    try {
      team.run(50, [](int task) {
        if (task == 20) throw std::runtime_error("task 20");
      });
    } catch (const std::runtime_error &) {
      caught = true;
    }
    CHECK(caught);
    std::atomic<int> sum{0};
    team.run(100, [&](int task) { sum += task; });
    CHECK(sum == 4950);
  }
}

TEST(path_maxima) {
  check::Random random(2);
  const StopToken token;
  for (const int n : {2, 3, 16, 17, 100}) {
    const SparseGraph graph = some_graph(n, random);
    const std::vector<int> potential = some_potentials(n, 20, random);
    SpanningTree tree;
    Team alone(1);
    tree.make(graph, potential.data(), alone);
    PathMaxima maxima;
    CHECK(maxima.build(tree.edges(), n, 1, token));
    // From each city along the tree.
    for (int from = 0; from < n; ++from) {
      std::vector<int> longest(n, INT_MIN);
      std::vector<bool> seen(n, false);
      seen[from] = true;
      for (bool grown = true; grown;) {
        grown = false;
        for (const TreeEdge &edge : tree.edges())
          for (const auto &[a, b] : {std::pair(edge.low, edge.high), std::pair(edge.high, edge.low)})
            if (seen[a] && !seen[b]) {
              seen[b] = grown = true;
              longest[b] = std::max(longest[a], edge.length);
            }
      }
      for (int to = 0; to < n; ++to)
        if (to != from) CHECK(maxima.between_cities(from, to) == longest[to]);
    }
  }
}

// Every violated pair and no other, whatever the points are like.
template <int D>
static void compare_pricing(MetricKind kind, int n, int points_kind, uint64_t seed) {
  check::Random random(seed);
  std::vector<double> points = on_sphere(kind) ? unit_vectors(n, random) : cloud(points_kind, n, D, random);
  if (kind == MetricKind::xray1)
    for (double &x : points) x = 400.0 * random.uniform() - 20.0;
  StopToken token;
  KdTree<D> tree;
  tree.build(points.data(), n, 1, token);
  std::vector<double> rows;
  for (int k = 0; k < n; ++k)
    for (int d = 0; d < D; ++d) rows.push_back(points[(size_t)tree.points()[k].city * D + d]);
  PointDistances<D> distances{rows.data(), kind, 1.0};
  double longest = 0.0;
  for (int v = 0; v < n; ++v) longest = std::max(longest, distances.real(v, (v + 1) % n));
  distances.scale = std::ldexp(1.0, whole_exponent(longest, is_integral(kind)));
  std::vector<uint64_t> keys;
  for (int v = 0; v < n; ++v) keys.push_back(edge_key(v, (v + 1) % n));
  std::sort(keys.begin(), keys.end());
  SparseGraph graph;
  Team alone(1);
  graph.build(n, keys, distances, alone);
  const std::vector<int> potential = some_potentials(n, (int)(0.1 * longest * distances.scale) + 1, random);
  SpanningTree spanning;
  spanning.make(graph, potential.data(), alone);
  PathMaxima maxima;
  maxima.build(spanning.edges(), n, 1, token);
  std::vector<uint64_t> expected;
  for (int i = 0; i < n; ++i)
    for (int j = i + 1; j < n; ++j)
      if (distances(i, j) + potential[i] + potential[j] < maxima.between_cities(i, j))
        expected.push_back(edge_key(i, j));
  PointPricing<D> pricing(distances, n);
  for (const int threads : {1, 2}) {
    const Violated found = pricing.price(potential.data(), maxima, INT64_MAX, threads, token);
    CHECK(found.complete && found.pairs == expected);
  }
  const Violated few = pricing.price(potential.data(), maxima, 1, 1, token);
  CHECK(few.complete == (few.pairs == expected));
  CHECK(std::includes(expected.begin(), expected.end(), few.pairs.begin(), few.pairs.end()));
  for (int city = 0; city < n; city += 7) {
    TwoShortest wanted;
    for (int j = 0; j < n; ++j)
      if (j != city && j != 3) wanted.add(distances(city, j) + potential[city] + potential[j], j);
    const TwoShortest found = pricing.shortest(city, 3);
    CHECK(found.first == wanted.first && found.second == wanted.second);
  }
}

TEST(pricing_finds_what_all_pairs_show) {
  for (int kind = 0; kind < cloud_kinds; ++kind)
    for (const int n : {3, 9, 40, 700}) {
      compare_pricing<2>(MetricKind::euc_2d, n, kind, 10 * n + kind);
      compare_pricing<2>(MetricKind::exact_2d, n, kind, 20 * n + kind);
      compare_pricing<2>(MetricKind::att, n, kind, 30 * n + kind);
      compare_pricing<2>(MetricKind::max_2d, n, kind, 40 * n + kind);
      compare_pricing<3>(MetricKind::exact_3d, n, kind, 50 * n + kind);
      compare_pricing<3>(MetricKind::man_3d, n, kind, 60 * n + kind);
    }
  for (const int n : {9, 700}) {
    compare_pricing<3>(MetricKind::geo, n, 0, n);
    compare_pricing<3>(MetricKind::great_circle, n, 0, n);
    compare_pricing<3>(MetricKind::xray1, n, 0, n);
  }
}

TEST(clusters_move_together) {
  // Two clusters of two cities: 0 1 at distance 1, 2 3 at distance 2, 10 between them.
  const std::vector<TreeEdge> tree = {{0, 1, 1}, {2, 3, 2}, {1, 2, 10}};
  PathMaxima maxima;
  const StopToken token;
  maxima.build(tree, 4, 1, token);
  Clusters clusters;
  clusters.find(maxima);
  Team alone(1);
  const auto steps = [&](const std::vector<int> &surplus) {
    clusters.find_steps(surplus, alone);
    std::vector<int64_t> found;
    for (int v = 0; v < 4; ++v) found.push_back(clusters.step_of(v));
    return found;
  };
  CHECK((steps({-1, 0, 0, -1}) == std::vector<int64_t>{-5, -5, -4, -4}));  // 0.6 (10 - 1) and 0.6 (10 - 2), towards 0
  CHECK((steps({4, 4, 0, 0}) == std::vector<int64_t>{16, 16, 0, 0}));      // a surplus of 8 counts as 3
}

TEST(a_bound_of_points_and_of_their_matrix) {
  check::Random random(4);
  const int n = 200;
  std::vector<double> points(2 * n);
  for (double &x : points) x = random.below(10000);
  std::vector<int> tour(n), matrix((size_t)n * n);
  std::iota(tour.begin(), tour.end(), 0);
  const PointDistances<2> distances{points.data(), MetricKind::euc_2d, 1.0};
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) matrix[(size_t)i * n + j] = (int)distances(i, j);
  const StopToken token;
  const auto plane = lower_bound_points<2>(points.data(), n, MetricKind::euc_2d, tour.data(), {}, 100, 1, token);
  const auto table = lower_bound_matrix(matrix.data(), n, tour.data(), {}, 100, 1, token);
  CHECK(plane && table && plane->bound.certified && table->bound.certified);
  const double a = std::ldexp((double)plane->bound.value, -plane->exponent);
  const double b = std::ldexp((double)table->bound.value, -table->exponent);
  CHECK(std::fabs(a - b) < 0.01 * a);
}
