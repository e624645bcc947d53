// Cuts let every tour pass, and the right side of a facet is the least closed walk.
#include "proof/relaxation.h"

#include <numeric>

#include "check.h"

using namespace warptsp;
using namespace warptsp::proof;

namespace {

// The least closed walk through all nodes, by a plain dynamic programme; distances are a metric.
int plain_least(int k, const std::vector<int> &length) {
  const int inner = k - 1;
  std::vector<int> least((size_t)inner << inner, 1 << 30);  // [set, its last member]
  for (int j = 0; j < inner; ++j) least[((size_t)1 << j) * inner + j] = length[inner * k + j];
  for (int set = 1; set < 1 << inner; ++set)
    for (int j = 0; j < inner; ++j)
      for (int next = 0; next < inner; ++next) {
        if ((set >> j & 1) == 0 || (set >> next & 1) != 0) continue;
        int &there = least[(size_t)(set | 1 << next) * inner + next];
        there = std::min(there, least[(size_t)set * inner + j] + length[j * k + next]);
      }
  int best = 1 << 30;
  for (int j = 0; j < inner; ++j)
    best = std::min(best, least[(((size_t)1 << inner) - 1) * inner + j] + length[j * k + inner]);
  return best;
}

std::vector<int> random_metric(int k, Random &random) {
  std::vector<int> length((size_t)k * k, 0);
  for (int i = 0; i < k; ++i)
    for (int j = i + 1; j < k; ++j) length[i * k + j] = length[j * k + i] = random.below(20);
  for (int z = 0; z < k; ++z)
    for (int i = 0; i < k; ++i)
      for (int j = 0; j < k; ++j)
        length[i * k + j] = std::min(length[i * k + j], length[i * k + z] + length[z * k + j]);
  return length;
}

void least_walks() {
  LeastWalks walks;
  for (int trial = 0; trial < 200; ++trial) {
    Random random(1, trial, 0);
    const int k = 3 + random.below(6);
    const std::vector<int> length = random_metric(k, random);
    CHECK(walks.least(k, length) == plain_least(k, length));
  }
  for (int k = 3; k <= LeastWalks::max_nodes; ++k) {
    Random random(3, k, 0);
    const std::vector<int> length = random_metric(k, random);
    CHECK(walks.least(k, length) == plain_least(k, length));
    const std::vector<double> distance(length.begin(), length.end());
    int before = walks.least(k, length);
    for (std::vector<int> nodes : walks.find(k, distance.data(), 1e9)) {
      int sum = 0;
      for (int i = 0; i < k; ++i) sum += length[nodes[i] * k + nodes[(i + 1) % k]];
      CHECK(sum >= before);
      before = sum;
      std::sort(nodes.begin(), nodes.end());
      for (int i = 0; i < k; ++i) CHECK(nodes[i] == i);
    }
  }
}

// One loop for all instruction sets.
template <int Lanes>
void same_on_all_sets(int inner) {
  using namespace least_walk_detail;
  Random random(4, inner, 0);
  std::vector<float> from((size_t)Lanes * Lanes), start(Lanes);
  for (float &distance : from) distance = (float)random.below(50);
  for (float &distance : start) distance = (float)random.below(50);
  std::vector<float> plain((size_t)Lanes << inner), best(plain);
  fill<Lanes, 4>(inner, from.data(), start.data(), plain.data());
  fill_best<Lanes>(inner, from.data(), start.data(), best.data());
  CHECK(plain == best);
#if WARPTSP_HAS_SETS
  if (instruction_set() == InstructionSet::avx512) {
    fill_avx2<Lanes>(inner, from.data(), start.data(), best.data());
    CHECK(plain == best);
  }
#endif
}

// A random point of the degree polytope is cut off, and every random tour passes all cuts; prices of any kind give a bound
// below every tour. Returns in how many of three dear rounds the mean of the points is cut off, too.
int cuts_and_bounds(uint64_t seed, int n) {
  int at_mean = 0;
  Random random(2, seed, 0);
  std::vector<int64_t> lengths((size_t)n * n, 0);
  for (int i = 0; i < n; ++i)
    for (int j = i + 1; j < n; ++j) lengths[i * n + j] = lengths[j * n + i] = (int64_t)(1 + random.below(100)) << 16;
  std::vector<int> tour(n);
  std::iota(tour.begin(), tour.end(), 0);
  const auto shuffle = [&] {
    for (int i = n; i > 1; --i) std::swap(tour[i - 1], tour[random.below(i)]);
  };
  const auto owner = std::make_shared<std::vector<int64_t>>(lengths);
  const std::shared_ptr<const int64_t> shared(owner, owner->data());
  Relaxation relaxation(shared, tour, seed);
  std::vector<int> pairs;
  for (int i = 0; i < n; ++i)
    for (int j = i + 1; j < n; ++j) pairs.insert(pairs.end(), {i, j});
  relaxation.add_columns(pairs.data(), pairs.size() / 2);
  const StopToken token;
  std::vector<double> mean(relaxation.columns());
  for (int round = 0; round < 6; ++round) {
    // The mean of some sets of short cycles through neighbouring cities: degrees are 2.
    std::vector<double> solution(relaxation.columns(), 0.0);
    const int parts = 2 + random.below(3);
    for (int part = 0; part < parts; ++part) {
      std::iota(tour.begin(), tour.end(), 0);
      std::swap(tour[random.below(n)], tour[random.below(n)]);
      for (int begin = 0; begin < n;) {
        const int left = n - begin, size = left < 6 ? left : 3 + random.below(left - 5);
        for (int i = 0; i < size; ++i) {
          const int a = tour[begin + i], b = tour[begin + (i + 1) % size];
          for (int e = 0; e < relaxation.columns(); ++e)
            if (relaxation.ends()[2 * e] == std::min(a, b) && relaxation.ends()[2 * e + 1] == std::max(a, b))
              solution[e] += 1.0 / parts;
        }
        begin += size;
      }
    }
    std::vector<double> activity(relaxation.rows(), 1e9);
    const bool is_dear = round % 2 == 1;
    relaxation.separate(solution.data(), activity.data(), Effort::local, is_dear, 1 + (int)(seed % 3), token);
    relaxation.take_cuts(50);
    for (size_t e = 0; e < solution.size(); ++e) mean[e] = round == 0 ? solution[e] : 0.5 * (mean[e] + solution[e]);
    const auto are_cut_off = [&](const std::vector<double> &point) {
      for (int r = (int)activity.size(); r < relaxation.rows(); ++r) {
        double value = 0.0;
        for (int e = 0; e < relaxation.columns(); ++e)
          value += point[e] * relaxation.row(r).cut.coefficient(relaxation.ends()[2 * e], relaxation.ends()[2 * e + 1]);
        if (value >= relaxation.row(r).cut.bound - 1e-3) return false;
      }
      return true;
    };
    CHECK(are_cut_off(solution));
    if (!is_dear) continue;
    if (are_cut_off(mean))
      ++at_mean;
    else
      mean = solution;  // nothing was found there that cuts the solution off
  }
  CHECK(relaxation.rows() > 0);
  const std::unique_ptr<Relaxation> fork = relaxation.fork(1), strange = Relaxation(shared, tour, seed).fork(2);
  CHECK(fork->rows() == relaxation.rows() && fork->columns() == relaxation.columns());
  std::vector<double> prices(n + relaxation.rows());
  for (int v = 0; v < n; ++v) prices[v] = random.below(60) - 10.5;
  for (int r = 0; r < relaxation.rows(); ++r) prices[n + r] = random.below(20) - 10.25;
  const PricedPairs priced = relaxation.price(prices.data(), 10);
  CHECK(priced.bound != no_bound && priced.pairs.empty());
  CHECK(fork->price(prices.data(), 10).bound == priced.bound);
  fork->add_subtour({0, 2, 4});
  relaxation.add_subtour({0, 2, 4});
  CHECK(fork->row(fork->rows() - 1).id != relaxation.row(relaxation.rows() - 1).id);
  CHECK(fork->new_cuts().empty());  // others know what it had, and find subtours as easily
  const std::vector<Cut> news = relaxation.new_cuts();
  CHECK(relaxation.new_cuts().empty());
  strange->learn(news);
  CHECK(strange->pool_size() == news.size());
  strange->learn(news);
  relaxation.learn(news);
  CHECK(strange->pool_size() == news.size() && relaxation.pool_size() == fork->pool_size());
  prices.push_back(0.0);  // of the row that was added
  for (int trial = 0; trial < 300; ++trial) {
    shuffle();
    int64_t length = 0;
    for (int i = 0; i < n; ++i) length += lengths[tour[i] * n + tour[(i + 1) % n]];
    CHECK(length >= priced.bound);
    for (int r = 0; r < relaxation.rows(); ++r) {
      const Cut &cut = relaxation.row(r).cut;
      int value = 0;
      for (int i = 0; i < n; ++i) value += cut.coefficient(tour[i], tour[(i + 1) % n]);
      CHECK(value >= cut.bound);
      if (cut.classes <= 8 && trial == 0) CHECK(plain_least(cut.classes, cut.length) >= cut.bound);
    }
  }
  return at_mean;
}

// Cycles whose edges have the weight 1/2, and a matching of weight 1: every city has the degree 2.
void add_half_cycles(int n, double share, std::vector<double> &weight, Random &random) {
  std::vector<int> order(n), other(n);
  const auto shuffle = [&](std::vector<int> &cities) {
    std::iota(cities.begin(), cities.end(), 0);
    for (int i = n; i > 1; --i) std::swap(cities[i - 1], cities[random.below(i)]);
  };
  const auto add = [&](int u, int v, double value) {
    weight[u * n + v] += share * value;
    weight[v * n + u] += share * value;
  };
  shuffle(order);
  shuffle(other);
  for (int first = 0; first < n;) {
    const int left = n - first, most = left - 3 < 3 ? left : 3 + random.below(left - 5);
    for (int i = 0; i < most; ++i) add(order[first + i], order[first + (i + 1) % most], 0.5);
    first += most;
  }
  for (int i = 0; i < n; i += 2) add(other[i], other[i + 1], 1.0);
}

// Of all blossoms with this handle, as marks of cities: the least sum of the weights beside the teeth and of what the
// teeth lack; below 1 where one is violated.
double least_surplus(int n, const std::vector<double> &weight, int handle) {
  double sum = 0.0, cheapest = 2.0;
  int teeth = 0;
  for (int u = 0; u < n; ++u)
    for (int v = 0; v < n; ++v) {
      if ((handle >> u & 1) == 0 || (handle >> v & 1) != 0) continue;
      const double x = weight[u * n + v];
      sum += std::min(x, 1.0 - x);
      teeth += x > 0.5;
      cheapest = std::min(cheapest, std::fabs(1.0 - 2.0 * x));
    }
  return teeth % 2 == 1 ? sum : sum + cheapest;
}

// The tree has a least cut between every pair of nodes, if that is light: beside all sets of nodes of a graph of few edges.
void least_cuts(uint64_t seed) {
  constexpr int n = 9;
  constexpr double limit = 0.82;  // no sum of weights
  Random random(seed, 11, 0);
  std::vector<double> weight((size_t)n * n, 0.0);
  for (int edges = 4 + random.below(12); edges > 0; --edges) {
    const int u = random.below(n), v = random.below(n);
    if (u != v) weight[u * n + v] = weight[v * n + u] = 0.05 * (1 + random.below(10));
  }
  std::vector<int> begin{0};
  std::vector<Support::Edge> arcs;
  for (int u = 0; u < n; ++u) {
    for (int v = 0; v < n; ++v)
      if (weight[u * n + v] > 0.0) arcs.push_back({v, weight[u * n + v]});
    begin.push_back((int)arcs.size());
  }
  const auto cut_of = [&](int side) {
    double sum = 0.0;
    for (int u = 0; u < n; ++u)
      for (int v = 0; v < n; ++v)
        if ((side >> u & 1) != 0 && (side >> v & 1) == 0) sum += weight[u * n + v];
    return sum;
  };
  std::vector<double> least((size_t)n * n, limit), of_tree((size_t)n * n, limit);
  const auto note = [&](std::vector<double> &lightest, int side) {
    const double cut = cut_of(side);
    for (int u = 0; u < n; ++u)
      for (int v = 0; v < n; ++v)
        if ((side >> u & 1) != (side >> v & 1)) lightest[u * n + v] = std::min(lightest[u * n + v], cut);
  };
  for (int side = 1; side < (1 << n) - 1; ++side) note(least, side);
  CutTree(begin, arcs).for_cuts_below(limit, [&](const std::vector<int> &nodes) {
    int side = 0;
    for (const int v : nodes) side |= 1 << v;
    CHECK(cut_of(side) < limit);
    note(of_tree, side);
  });
  for (int pair = 0; pair < n * n; ++pair) CHECK(std::fabs(of_tree[pair] - least[pair]) < 1e-9);
}

// No violated blossom is missed: the cuts of the tree, and those that are found, beside all handles there are.
void blossoms(uint64_t seed) {
  constexpr int n = 10;
  constexpr double limit = 0.98;
  Random random(seed, 7, 0);
  std::vector<double> weight((size_t)n * n, 0.0);
  const double share = 0.5 + 0.5 * random.unit();
  add_half_cycles(n, share, weight, random);
  add_half_cycles(n, 1.0 - share, weight, random);
  std::vector<int> ends, begin{0};
  std::vector<double> values;
  std::vector<Support::Edge> arcs;
  for (int u = 0; u < n; ++u) {
    for (int v = 0; v < n; ++v) {
      const double x = weight[u * n + v];
      if (x > 1.0) return;  // no solution of the linear programme
      if (std::min(x, 1.0 - x) > 1e-6) arcs.push_back({v, std::min(x, 1.0 - x)});
      if (x > 0.0 && u < v) {
        ends.insert(ends.end(), {u, v});
        values.push_back(x);
      }
    }
    begin.push_back((int)arcs.size());
  }
  double least = 2.0, of_tree = 2.0;
  for (int handle = 1; handle < (1 << n) - 1; ++handle) least = std::min(least, least_surplus(n, weight, handle));
  CutTree(begin, arcs).for_cuts_below(limit, [&](const std::vector<int> &side) {
    int handle = 0;
    for (const int v : side) handle |= 1 << v;
    of_tree = std::min(of_tree, least_surplus(n, weight, handle));
  });
  if (least < limit) CHECK(std::fabs(of_tree - least) < 1e-6);
  Support support;
  support.build(n, ends, values.data());
  std::vector<int> tour(n);
  std::iota(tour.begin(), tour.end(), 0);
  const std::unordered_set<uint64_t> none;
  FoundCuts found(support, none, tour);
  Blossoms(found).find_by_cuts();
  if (least < limit) CHECK(found.size() > 0);
}

// Of weights [n, n], of which those above the diagonal count.
Support support_of(int n, const std::vector<double> &weight) {
  std::vector<int> ends;
  std::vector<double> values;
  for (int u = 0; u < n; ++u)
    for (int v = u + 1; v < n; ++v)
      if (weight[u * n + v] > 0.0) {
        ends.insert(ends.end(), {u, v});
        values.push_back(weight[u * n + v]);
      }
  Support support;
  support.build(n, ends, values.data());
  return support;
}

// Two triangles of half edges that three paths of two edges join, and a little of a random tour.
Support random_point(int n, Random &random) {
  std::vector<double> weight((size_t)n * n, 0.0);
  std::vector<int> name(n);
  const auto rename = [&] {
    std::iota(name.begin(), name.end(), 0);
    for (int i = n; i > 1; --i) std::swap(name[i - 1], name[random.below(i)]);
  };
  const auto add = [&](int u, int v, double value) {
    weight[std::min(name[u], name[v]) * n + std::max(name[u], name[v])] += value;
  };
  const double share = 0.9 + 0.1 * random.unit();
  rename();
  for (int i = 0; i < 3; ++i) {
    add(i, (i + 1) % 3, 0.5 * share);
    add(3 + i, 3 + (i + 1) % 3, 0.5 * share);
    add(i, 6 + i, share);
    add(3 + i, 6 + i, share);
  }
  rename();
  for (int i = 0; i < n; ++i) add(i, (i + 1) % n, 1.0 - share);
  return support_of(n, weight);
}

// Every kind of cut lets all tours pass; how many of each kind there were.
void check_all_tours(uint64_t seed, int (&seen)[3]) {
  constexpr int n = 9;
  Random random(seed, 8, 0);
  const Support support = random_point(n, random);
  std::vector<int> tour(n);
  std::iota(tour.begin(), tour.end(), 0);
  const std::unordered_set<uint64_t> none;
  const StopToken token;
  FoundCuts blossoms(support, none, tour), combs(support, none, tour), local(support, none, tour);
  Blossoms(blossoms).find_by_cuts();
  ShrunkCombs(combs).find(random, token);
  for (int way = 0; way < LocalCuts::ways_to_shrink + LocalCuts::far_ways; ++way)
    LocalCuts(local).find(8, way, {{0, 1}, {2, 3, 4}}, 20, random, token);
  int kind = 0;
  for (FoundCuts *found : {&blossoms, &combs, &local}) {
    seen[kind++] += (int)found->size();
    for (const Cut &cut : found->cuts()) {
      std::iota(tour.begin(), tour.end(), 0);
      int least = std::numeric_limits<int>::max();
      do {
        if (tour[1] > tour[n - 1]) continue;  // the same, backwards
        int value = cut.coefficient(tour[n - 1], tour[0]);
        for (int i = 1; i < n; ++i) value += cut.coefficient(tour[i - 1], tour[i]);
        least = std::min(least, value);
      } while (std::next_permutation(tour.begin() + 1, tour.end()));
      CHECK(least >= cut.bound);
    }
  }
}

// Cuts of an odd number of rows that are joined at their ends, each run through once, and a little of a random tour.
void stars(uint64_t seed, size_t (&seen)[3]) {
  Random random(seed, 9, 0);
  const int columns = 5 + (int)(seed % 3), rows = 3, n = rows * columns;
  std::vector<double> coordinates, weight((size_t)n * n, 0.0);
  for (int v = 0; v < n; ++v) {
    coordinates.push_back(v % columns * 10 + random.below(9));
    coordinates.push_back(v / columns * 40);
  }
  const auto add = [&](int u, int v, double value) { weight[std::min(u, v) * n + std::max(u, v)] += value; };
  const double share = 0.95 + 0.05 * random.unit();
  for (int v = 0; v < n; ++v)
    if (v % columns + 1 < columns) add(v, v + 1, share);
  for (const int end : {0, columns - 1})
    for (int row = 0; row < rows; ++row) add(end + row * columns, end + (row + 1) % rows * columns, 0.5 * share);
  std::vector<int> tour(n);
  std::iota(tour.begin(), tour.end(), 0);
  shuffle(tour, random);
  for (int i = 0; i < n; ++i) add(tour[i], tour[(i + 1) % n], 1.0 - share);
  const Support support = support_of(n, weight);
  const std::unordered_set<uint64_t> none;
  FoundCuts stars(support, none, tour), dominoes(support, none, tour), local(support, none, tour);
  Dominoes(dominoes, coordinates.data(), seed).find(StopToken());
  Stars(stars).find(Rows::of(n, coordinates.data(), 0), StopToken());
  LocalCuts(local).find(n, 0, {}, 1, random, StopToken());
  int kind = 0;
  for (FoundCuts *found : {&stars, &dominoes, &local}) {
    seen[kind++] += found->size();
    for (const Cut &cut : found->cuts())
      if (cut.classes <= LeastWalks::max_nodes) CHECK(LeastWalks().least(cut.classes, cut.length) >= cut.bound);
  }
}

// Edges of any weight, as solutions have before all subtours are cut: teeth may cost less than nothing.
void stars_of_subtours(uint64_t seed) {
  Random random(seed, 10, 0);
  const int rows = 3 + random.below(5), columns = 4 + random.below(9), n = rows * columns;
  std::vector<double> coordinates, weight((size_t)n * n, 0.0);
  const auto add = [&](int u, int v, double value) { weight[std::min(u, v) * n + std::max(u, v)] += value; };
  for (int v = 0; v < n; ++v) {
    coordinates.push_back(v % columns * 10 + random.below(9));
    coordinates.push_back(v / columns * 40);
    if (v % columns + 1 < columns) add(v, v + 1, 2.0 * random.unit());
    if (v + columns < n) add(v, v + columns, random.unit() * random.unit());
  }
  std::vector<int> tour(n);
  std::iota(tour.begin(), tour.end(), 0);
  const Support support = support_of(n, weight);
  const std::unordered_set<uint64_t> none;
  FoundCuts found(support, none, tour);
  Stars(found).find(Rows::of(n, coordinates.data(), 0), StopToken());
  Dominoes(found, coordinates.data(), seed).find(StopToken());
  for (const Cut &cut : found.cuts())
    if (cut.classes <= LeastWalks::max_nodes) CHECK(LeastWalks().least(cut.classes, cut.length) >= cut.bound);
}

}  // namespace

TEST(all_tours_pass_every_kind_of_cut) {
  int seen[3] = {0, 0, 0};
  for (uint64_t seed = 0; seed < 40; ++seed) check_all_tours(seed, seen);
  for (const int count : seen) CHECK(count > 0);
}

TEST(the_shortest_walk_is_as_long_as_stars_dominoes_and_large_pieces_say) {
  size_t seen[3] = {0, 0, 0};
  for (uint64_t seed = 0; seed < 40; ++seed) stars(seed, seen);
  for (const size_t count : seen) CHECK(count > 0);
}

TEST(stars_and_dominoes_beside_subtours) {
  for (uint64_t seed = 0; seed < 300; ++seed) stars_of_subtours(seed);
}

TEST(least_closed_walks) { least_walks(); }

TEST(least_closed_walks_on_all_instruction_sets) {
  for (int inner = 2; inner <= 8; ++inner) same_on_all_sets<8>(inner);
  for (const int inner : {9, 10, 11, 12, 15}) same_on_all_sets<16>(inner);
}

TEST(a_cut_tree_has_a_least_cut_between_every_pair) {
  for (uint64_t seed = 0; seed < 2000; ++seed) least_cuts(seed);
}

TEST(no_violated_blossom_is_missed) {
  for (uint64_t seed = 0; seed < 2000; ++seed) blossoms(seed);
}

TEST(every_tour_passes_the_cuts_and_is_above_the_bound) {
  for (uint64_t seed = 0; seed < 20; ++seed) cuts_and_bounds(seed, 8 + (int)seed);
  int at_mean = 0;
  for (uint64_t seed = 0; seed < 10; ++seed) at_mean += cuts_and_bounds(seed, 60);
  CHECK(at_mean > 12);  // of 30: 21, and 3 where cuts are sought at the points themselves
}
