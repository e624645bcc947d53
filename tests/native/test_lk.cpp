// The main solver's search: what it says about the tour is true, and it keeps what it must.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <set>
#include <type_traits>
#include <utility>
#include <vector>

#include "check.h"
#include "tours.h"
#include "lk/lk.h"
#include "lk/partition.h"
#include "lk/subproblem.h"
#include "lk/tour_search.h"

using namespace warptsp;
using namespace warptsp::lk;
using namespace warptsp::tours;

namespace {

constexpr double refuse = -1e200;  // an allowance that no kick meets

// ---- instances

std::vector<double> plane(int kind, int n, check::Random &random) {
  std::vector<double> xy(2 * (size_t)n);
  for (int i = 0; i < n; i++) {
    double &x = xy[2 * i], &y = xy[2 * i + 1];
    switch (kind) {
      case 0: x = random.below(1000), y = random.below(1000); break;
      case 1: x = random.below(6), y = random.below(6); break;  // a lattice, with duplicates
      case 2: x = random.below(5000), y = 0; break;             // collinear
      case 3: x = y = 17; break;                                // one place
      default: x = 3000 * random.below(4) + random.below(50), y = random.below(50); break;  // clusters
    }
  }
  return xy;
}
constexpr int plane_kinds = 5;

// Points of a metric of the plane, or a matrix; and where a search has its distances from.
template <class M>
struct Instances {
  static constexpr int kinds = plane_kinds;
  static constexpr MetricKind kind = std::is_same_v<M, EuclideanRounded> ? MetricKind::euc_2d : MetricKind::exact_2d;
  typedef PointSource<M> Source;
  std::vector<double> xy;
  M metric;
  Instances(int kind, int n, check::Random &random) : xy(plane(kind, n, random)), metric{xy.data()} {}
  Points points() const { return {xy.data(), 2}; }
  Source source() const { return {points(), kind}; }
};
template <class V>
struct Instances<Matrix<V>> {
  static constexpr int kinds = 2;  // any numbers; few different numbers, among them 0
  typedef MatrixSource<V> Source;
  std::vector<V> entries;
  Matrix<V> metric;
  Instances(int kind, int n, check::Random &random) : entries((size_t)n * n), metric{entries.data(), n} {
    for (int i = 0; i < n; i++)
      for (int j = 0; j < i; j++) {
        const double d = kind == 0 ? 1000 * random.uniform() : random.below(3);
        entries[(size_t)i * n + j] = entries[(size_t)j * n + i] = (V)d;
      }
  }
  Points points() const { return {nullptr, 0}; }
  Source source() const { return {entries.data(), (int)metric.size}; }
};

std::set<std::pair<int, int>> edges_of(const std::vector<int> &tour) {
  std::set<std::pair<int, int>> edges;
  for (size_t i = 0; i < tour.size(); i++) edges.insert(std::minmax({tour[i], tour[(i + 1) % tour.size()]}));
  return edges;
}

// At most two for a city, none that closes a cycle: edges of the tour itself.
std::vector<int> some_edges(const std::vector<int> &tour, double share, check::Random &random) {
  std::vector<int> fixed(2 * tour.size(), -1);
  for (size_t i = 0; i + 1 < tour.size(); i++) {
    if (random.uniform() >= share) continue;
    const int a = tour[i], b = tour[i + 1];
    fixed[2 * a + (fixed[2 * a] >= 0)] = b;
    fixed[2 * b + (fixed[2 * b] >= 0)] = a;
  }
  return fixed;
}

// ---- the arrays of a search, all in view

template <class Metric, bool Paths>
struct Bench {
  typedef typename Metric::Value Value;
  typedef LinKernighan<Metric, Paths> Search;
  static constexpr Value unbreakable = LkLimits<Value>::unbreakable;

  const Metric metric;
  const int n;
  LkParams params;
  std::vector<int> order, position, path, candidates, scratch;
  std::vector<Value> edge, lengths, edge_scratch;
  std::vector<unsigned char> queued;
  std::unique_ptr<Search> search;
  std::vector<int> first, last;        // of each path, at the beginning
  std::set<std::pair<int, int>> kept;  // what must stay

  Bench(const Metric &m, int size, std::vector<int> tour, std::vector<int> paths, const std::vector<int> &fixed,
        const LkParams &p, check::Random *thin = nullptr)
      : metric(m), n(size), params(p), order(std::move(tour)), position(n), path(std::move(paths)),
        candidates(nearest_of(m, n, p.candidates)), scratch(n), edge(n), edge_scratch(n), queued(n, 0) {
    if (thin)
      for (int c = 0; c < n; c++)
        for (int k = thin->below(params.candidates + 1); k < params.candidates; k++)
          candidates[(size_t)c * params.candidates + k] = -1;
    for (size_t q = 0; q < candidates.size(); q++)
      lengths.push_back(candidates[q] < 0 ? LkLimits<Value>::padding
                                          : metric((int)q / params.candidates, candidates[q]));
    for (int i = 0; i < n; i++) position[order[i]] = i;
    for (int i = 0; i < n; i++) {
      const int a = order[i], b = order[(i + 1) % n];
      const bool outside = Paths && (i + 1 == n || path[a] != path[b]);
      const bool stays = outside || (!fixed.empty() && (fixed[2 * a] == b || fixed[2 * a + 1] == b));
      edge[i] = stays ? unbreakable : metric(a, b);
      if (stays) kept.insert(std::minmax({a, b}));
    }
    if (Paths) find_ends(first, last);
    search = std::make_unique<Search>(
        metric,
        LkArrays<Value>{n, order.data(), position.data(), edge.data(), Paths ? path.data() : nullptr, candidates.data(),
                        lengths.data(), scratch.data(), edge_scratch.data(), queued.data()},
        params, std::is_same_v<Value, int> ? Value(0) : Value(1e-9));
  }

  void find_ends(std::vector<int> &heads, std::vector<int> &tails) const {
    for (int i = 0; i < n; i++) {
      if (i == 0 || path[order[i]] != path[order[i - 1]]) heads.push_back(order[i]);
      if (i + 1 == n || path[order[i]] != path[order[i + 1]]) tails.push_back(order[i]);
    }
  }

  // Of all edges; those that stay count as well, for they add the same to every length.
  double length() const {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += (double)metric(order[i], order[(i + 1) % n]);
    return sum;
  }

  bool same(double a, double b) const {
    return std::is_same_v<Value, int> ? a == b : std::fabs(a - b) <= 1e-9 * (1.0 + n * 100.0);
  }

  void verify() const {
    CHECK(is_tour(order, n));
    size_t stay = 0;
    for (int i = 0; i < n; i++) {
      const int a = order[i], b = order[(i + 1) % n];
      CHECK(position[a] == i);
      CHECK(!(queued[i] & lk_in_queue));
      if (edge[i] == unbreakable) {
        stay++;
        CHECK(kept.count(std::minmax({a, b})) == 1);
      } else {
        CHECK(edge[i] == metric(a, b));
      }
    }
    CHECK(n == 2 || stay == kept.size());
    if (Paths) {
      for (int i = 0; i + 1 < n; i++) {
        const int step = path[order[i + 1]] - path[order[i]];
        CHECK(step == 0 || step == 1);
      }
      std::vector<int> heads, tails;
      find_ends(heads, tails);
      CHECK(heads == first);
      CHECK(tails == last);
    }
  }

  double random_kick(check::Random &draw, Random &random, double allowance) {
    if (draw.below(2)) return search->kick(draw.below(n), random, allowance);
    const int most = draw.below(4) ? 10 : n;
    const int a = 1 + draw.below(most), b = 1 + draw.below(most), c = 1 + draw.below(most);
    return search->kick_segments(draw.below(n), a, b, c, allowance);
  }
};

LkParams of_lists(int candidates) {
  LkParams params;
  params.candidates = candidates;
  return params;
}

LkParams some_params(check::Random &random) {
  LkParams params;
  params.candidates = 3 + random.below(8);
  params.depth = 1 + random.below(lk_max_depth);
  params.kicks.segment = 1 + random.below(60);
  for (int &breadth : params.breadth) breadth = 1 + random.below(5);
  params.kicks.long_links = 0.3f;
  params.kicks.walks = 0.4f;
  params.kicks.walk = 1 + random.below(12);
  return params;
}

// Path numbers along a tour: among the paths are many of one and two cities.
std::vector<int> random_paths(const std::vector<int> &tour, check::Random &random) {
  std::vector<int> path(tour.size());
  const int mean = 1 + random.below(60);
  int number = 0;
  for (size_t i = 0; i < tour.size(); i++) {
    if (i > 0 && random.below(mean) == 0) number++;
    path[tour[i]] = number;
  }
  return path;
}

template <class Metric, bool Paths>
Bench<Metric, Paths> bench(const Instances<Metric> &instance, int n, check::Random &random) {
  std::vector<int> tour = shuffled(n, random);
  std::vector<int> path = Paths ? random_paths(tour, random) : std::vector<int>();
  std::vector<int> fixed = random.below(2) ? some_edges(tour, 0.1, random) : std::vector<int>();
  return Bench<Metric, Paths>(instance.metric, n, tour, path, fixed, some_params(random),
                              random.below(3) ? nullptr : &random);
}

template <class Body>
void with_seeds(int count, Body &&body) {
  for (int seed = 1; seed <= count; seed++) {
    const int before = check::failures;
    body(seed);
    if (check::failures > before) {
      std::printf("  seed %d\n", seed);
      return;
    }
  }
}

// ---- gains, edges, paths

// What kicks gain is true, and those that are refused leave nothing behind.
template <class Metric, bool Paths>
void kicks_are_true(int seeds, int largest) {
  long long undone = 0;
  with_seeds(seeds, [&](int seed) {
    check::Random draw(seed);
    const int n = 8 + draw.below(seed % 3 ? largest : 8), kind = seed % Instances<Metric>::kinds;
    const Instances<Metric> instance(kind, n, draw);
    auto b = bench<Metric, Paths>(instance, n, draw);
    double length = b.length();
    const double gain = b.search->optimize(0, n);
    CHECK(gain >= 0);
    CHECK(b.same(length - gain, b.length()));
    b.verify();
    Random random(seed, 2, 3);
    for (int k = 0; k < 400; k++) {
      length = b.length();
      const auto order = b.order, position = b.position, path = b.path;
      const auto edge = b.edge;
      const LkCounters before = b.search->counters, &after = b.search->counters;
      const double allowance = k % 2 ? refuse : draw.below(3) ? 0 : 100 * draw.uniform();
      const double gained = b.random_kick(draw, random, allowance);
      CHECK(b.same(length - gained, b.length()));
      if (k % 16 < 2) b.verify();
      if (allowance != refuse) {
        CHECK(gained >= -allowance);
        continue;
      }
      CHECK(gained == 0 && after.accepted == before.accepted);
      if (after.restored > before.restored) {  // the search put back every edge: the same tour
        CHECK(edges_of(b.order) == edges_of(order));
        continue;
      }
      undone += after.kicks - before.kicks;
      CHECK(b.order == order && b.position == position && b.path == path && b.edge == edge);
    }
    b.verify();
  });
  CHECK(undone > 10 * seeds);
}

TEST(kicks_are_true_rounded) { kicks_are_true<EuclideanRounded, false>(30, 250); }
TEST(kicks_are_true_exact) { kicks_are_true<EuclideanExact, false>(30, 250); }
TEST(kicks_are_true_matrix) { kicks_are_true<Matrix<int>, false>(20, 200); }
TEST(kicks_are_true_real_matrix) { kicks_are_true<Matrix<double>, false>(10, 200); }
TEST(paths_keep_their_ends_rounded) { kicks_are_true<EuclideanRounded, true>(60, 250); }
TEST(paths_keep_their_ends_exact) { kicks_are_true<EuclideanExact, true>(30, 250); }
TEST(paths_keep_their_ends_matrix) { kicks_are_true<Matrix<int>, true>(30, 200); }

// ---- how good it is

// After a search that finds nothing more, no exchange of two edges along the candidate lists shortens the tour.
TEST(local_search_leaves_no_2_opt_move) {
  with_seeds(10, [](int seed) {
    check::Random draw(2000 + seed);
    const int n = 20 + draw.below(200);
    const Instances<EuclideanRounded> instance(seed % 2 ? 0 : 4, n, draw);
    LkParams params;
    params.candidates = 8;
    params.breadth[0] = 8;
    Bench<EuclideanRounded, false> b(instance.metric, n, shuffled(n, draw), {}, {}, params);
    while (b.search->optimize(0, n) > 0) {
    }
    const auto &d = b.metric;
    for (int side = 0; side < 2; side++)
      for (int t1 = 0; t1 < n; t1++) {
        // t1 t2 ... t4 t3: the piece from t2 to t4 turned around.
        const auto beside = [&](int c, int by) { return b.order[(b.position[c] + (side ? n - by : n + by)) % n]; };
        const int t2 = beside(t1, 1);
        for (int k = 0; k < 8; k++) {
          const int t3 = b.candidates[8 * (size_t)t2 + k], t4 = beside(t3, -1);
          if (d(t2, t3) >= d(t1, t2)) break;
          CHECK(d(t1, t2) + d(t4, t3) <= d(t2, t3) + d(t1, t4));
        }
      }
  });
}

// Moves of many cells are put off, and made in the end. On a circle of which half is run through the wrong way around
// the only move that shortens the tour turns one of the halves.
TEST(long_moves_are_made_at_last) {
  const int n = 3 * near_cells, beside[] = {1, -1, 2, -2, 3, -3, 4, -4};
  std::vector<double> xy;
  std::vector<int> tour(n), candidates;
  for (int c = 0; c < n; c++) {
    xy.push_back(1e6 * std::cos(2 * M_PI * c / n));
    xy.push_back(1e6 * std::sin(2 * M_PI * c / n));
    tour[c] = c < n / 2 ? c : n - 1 - (c - n / 2);
    for (int step : beside) candidates.push_back((c + step + n) % n);
  }
  const EuclideanRounded metric{xy.data()};
  double least = 0;
  for (int c = 0; c < n; c++) least += metric(c, (c + 1) % n);
  TourSearchOf<PointSource<EuclideanRounded>> search({Points{xy.data(), 2}, MetricKind::euc_2d},
                                                     Instance{n, Points{xy.data(), 2}, candidates, {}, of_lists(8)},
                                                     tour, 0);
  CHECK(search.length() > least);
  search.optimize(100.0, StopToken());
  CHECK(search.length() == least);
}

// Cities are put off for moves that are too long, and for no others; once begun with, they are not any longer.
TEST(cities_are_put_off_for_long_moves) {
  with_seeds(20, [](int seed) {
    check::Random draw(9000 + seed);
    const int n = 100 + draw.below(200);
    const Instances<EuclideanRounded> instance(0, n, draw);
    Bench<EuclideanRounded, false> b(instance.metric, n, shuffled(n, draw), {}, {}, of_lists(8));
    const auto put_off = [&] { return std::count(b.queued.begin(), b.queued.end(), lk_put_off); };
    b.search->set_reach(5);
    double length = b.length() - b.search->optimize(0, n);
    CHECK(b.same(length, b.length()));
    b.verify();
    CHECK(put_off() > 0);
    b.search->set_reach(n);
    const double gain = b.search->optimize(0, n, true);
    CHECK(gain > 0);
    CHECK(b.same(length - gain, b.length()));
    b.verify();
    CHECK(put_off() == 0);
    const long long evaluations = b.search->counters.evaluations;
    b.search->optimize(0, n, true);
    CHECK(b.search->counters.evaluations == evaluations);
  });
}

// ---- cutting and linking

std::vector<int> rotated(const std::vector<int> &tour, int by) {
  std::vector<int> result(tour);
  std::rotate(result.begin(), result.begin() + by, result.end());
  return result;
}

TEST(cut_and_join_give_the_same_tour) {
  with_seeds(40, [](int seed) {
    check::Random draw(4000 + seed);
    const int n = 8 + draw.below(2000), wanted = 1 + draw.below(std::min(n, 20)), rotation = draw.below(n);
    const std::vector<double> xy = plane(seed % plane_kinds, n, draw);
    std::vector<int> tour = shuffled(n, draw);
    if (seed % 4 == 0) tour = in_order(n);
    const std::vector<int> before = tour;
    for (const bool boxes : {false, true}) {
      Partition cut;
      int parts = wanted;
      if (boxes) {
        const BoxCutter cutter(Points{xy.data(), 2}, n, parts, Random(seed, 0, 0));
        parts = cutter.parts();
        CHECK(parts >= 1 && parts <= wanted);
        for (int c = 0; c < n; c++) cut.part.push_back(cutter(c));
      } else {
        cut_segments(tour, parts, rotation, cut.part);
        std::vector<int> sizes(parts, 0);
        for (int p : cut.part) sizes[p]++;
        CHECK(*std::max_element(sizes.begin(), sizes.end()) - *std::min_element(sizes.begin(), sizes.end()) <= 1);
      }
      for (int p : cut.part) CHECK(p >= 0 && p < parts);
      cut.cut(tour, parts, rotation);
      if (!boxes) CHECK((int)cut.runs.size() == parts);
      CHECK((int)cut.start.size() == parts + 1 && cut.start.back() == n);
      CHECK(is_tour(cut.members, n));
      for (int c = 0; c < n; c++) CHECK(cut.members[cut.start[cut.part[c]] + cut.local[c]] == c);
      std::vector<int> linked(n, -1);
      cut.link(linked);
      CHECK(linked == rotated(before, rotation));
    }
  });
}

// ---- the whole search

template <class Metric>
struct Whole {
  const Instances<Metric> &instance;
  const int n;
  const std::vector<int> fixed;
  TourSearchOf<typename Instances<Metric>::Source> search;

  Whole(const Instances<Metric> &i, int size, const std::vector<int> &tour, const std::vector<int> &keep)
      : instance(i), n(size), fixed(keep),
        search(i.source(), Instance{n, i.points(), nearest_of(i.metric, n, 8), keep, of_lists(8)}, tour,
               std::is_same_v<typename Metric::Value, int> ? 0 : typename Metric::Value(1e-9)) {}

  void round(const RoundPlan &plan, const StopToken &token, double slice) {
    search.begin_round(plan);
    while (!search.proceed(slice, token)) {
      if (plan.temperature == 0) CHECK(search.best_length() == search.length());
    }
  }

  // Temperature 0: the best tour is the tour.
  void verify(double before) {
    const std::vector<int> &tour = search.best();
    CHECK(is_tour(tour, n, pairs_of(fixed)));
    double sum = 0;
    for (int i = 0; i < n; i++) sum += (double)instance.metric(tour[i], tour[(i + 1) % n]);
    if (std::is_same_v<typename Metric::Value, int>)
      CHECK(sum == search.best_length());
    else
      CHECK(std::fabs(sum - search.best_length()) <= 1e-9 * (1 + sum));
    CHECK(search.best_length() <= before);
  }
};

template <class Metric>
void rounds_are_true(int seeds, int largest) {
  with_seeds(seeds, [&](int seed) {
    check::Random draw(5000 + seed);
    const int n = 8 + draw.below(seed % 3 ? largest : 8);
    const Instances<Metric> instance(seed % Instances<Metric>::kinds, n, draw);
    const std::vector<int> tour = shuffled(n, draw);
    const std::vector<int> fixed = seed % 2 ? some_edges(tour, 0.2, draw) : std::vector<int>();
    Whole<Metric> one(instance, n, tour, fixed), four(instance, n, tour, fixed);
    const StopToken token;
    for (int round = 0; round < 8; round++) {
      const bool hot = round == 5;
      RoundPlan plan{};
      plan.parts = 1 + draw.below(12);
      plan.boxes = instance.points().rows && round % 2 == 0;
      plan.optimize = round < 2;
      plan.kicks = 2 * n;
      plan.temperature = hot ? 50 : 0;
      plan.last_temperature = hot ? 20 : 0;
      plan.seed = seed;
      plan.round = round;
      plan.repeatable = true;
      plan.threads = 1;
      const double length = one.search.length(), best = one.search.best_length();
      one.round(plan, token, 10.0);
      plan.threads = 4;
      four.round(plan, token, 1e-5);
      CHECK(one.search.best() == four.search.best());
      CHECK(one.search.length() == four.search.length());
      if (!hot) CHECK(one.search.length() <= length);
      one.verify(best);
      if (hot) {
        one.search.return_to_best();
        four.search.return_to_best();
        CHECK(one.search.length() == one.search.best_length());
      }
    }
    const KickSchedule schedule{500, 0, (u64)seed, 99, 0};
    one.search.optimize(10.0, token);
    while (!four.search.optimize(1e-5, token)) {
    }
    double best = one.search.best_length();
    one.search.kicks(schedule, token);
    four.search.kicks(schedule, token);
    one.verify(best);
    CHECK(one.search.best() == four.search.best());
    CHECK(one.search.counters().kicks + one.search.counters().refused >= 500);
  });
}

TEST(rounds_are_true_rounded) { rounds_are_true<EuclideanRounded>(12, 900); }
TEST(rounds_are_true_exact) { rounds_are_true<EuclideanExact>(8, 900); }
TEST(rounds_are_true_matrix) { rounds_are_true<Matrix<int>>(10, 300); }

TEST(a_stopped_search_changes_nothing) {
  check::Random draw(7);
  const int n = 200;
  const Instances<EuclideanRounded> instance(0, n, draw);
  const std::vector<int> tour = shuffled(n, draw);
  Whole<EuclideanRounded> whole(instance, n, tour, {});
  StopToken token;
  token.request();
  const double length = whole.search.length();
  whole.search.optimize(10.0, token);
  whole.search.kicks({1000, 5.0, 1, 1, 0}, token);
  whole.round({4, true, true, 1000, 0.0, 0.0, 1, 1, 2, true}, token, 10.0);
  CHECK(whole.search.length() == length);
  CHECK(whole.search.best() == tour);
}

}  // namespace
