#include "lk/path_order.h"

#include <algorithm>

#include "tours.h"

using namespace warptsp;
using namespace warptsp::lk;

// Everything that a GPU has of the paths, with its kernels as loops.
struct Paths {
  std::vector<LinkedPath> paths;
  std::vector<double> points;
  std::vector<int> link, tour;
  std::vector<u64> cost, best, first;
  std::vector<PathWay> ways, other;
  PathOrder order;

  explicit Paths(int count) : paths(count), points(4 * (size_t)count), link(2 * count), tour(count) {
    for (auto *each : {&cost, &best, &first}) each->resize(2 * count);
    ways.resize(2 * count), other.resize(2 * count);
    order = {paths.data(), points.data(), link.data(), tour.data(), cost.data(),
             best.data(),  first.data(),  count,       2,           (int)MetricKind::exact_2d};
  }
  template <class Work>
  void each_end(Work &&work) {
    for (int e = 0; e < (int)link.size(); e++) work(e);
  }
  template <class Begin, class Jump>
  void jumped(Begin &&begin, Jump &&jump) {
    each_end([&](int e) { ways[e] = begin(e); });
    for (size_t reach = 1; reach <= paths.size(); reach *= 2) {
      each_end([&](int e) { other[e] = jump(ways.data(), e); });
      ways.swap(other);
    }
  }
  std::vector<int> closed_tours() {
    jumped([&](int e) { return order.way_round(e); }, PathOrder::jump_round);
    std::vector<int> named;
    for (int i = 0; i < (int)paths.size(); i++)
      if (order.name(ways.data(), i)) named.push_back(i);
    return named;
  }
  int closed_tours_one_by_one() const {
    std::vector<bool> seen(paths.size());
    int tours = 0;
    for (int i = 0; i < (int)paths.size(); i++) {
      tours += !seen[i];
      for (int e = 2 * i; !seen[e >> 1]; e = link[e ^ 1]) seen[e >> 1] = true;
    }
    return tours;
  }
  double length(int e, int f) const {
    return AnyCoordinates<double>{{points.data(), 2}, MetricKind::exact_2d}(paths[e >> 1].city[e & 1],
                                                                            paths[f >> 1].city[f & 1]);
  }
  double total() const {
    double sum = 0;
    for (int e = 0; e < (int)link.size(); e++) sum += 0.5 * length(e, link[e]);
    return sum;
  }
};

static void join_and_place(int count, int exchanged, uint64_t seed) {
  check::Random random(seed);
  Paths all(count);
  for (double &x : all.points) x = random.below(1000);
  const std::vector<int> turn = shuffled(count, random);
  std::vector<int> entered(count);
  for (int &e : entered) e = random.below(2);
  int cities = 0;
  for (int k = 0; k < count; k++) {
    const int i = turn[k], before = turn[k ? k - 1 : count - 1], next = turn[k + 1 < count ? k + 1 : 0];
    LinkedPath &own = all.paths[i];
    own.length = 1 + random.below(5);
    cities += own.length;
    own.city[0] = 2 * i, own.city[1] = 2 * i + 1;
    own.link[entered[i]] = 2 * before + 1 - entered[before];
    own.link[1 - entered[i]] = 2 * next + entered[next];
  }
  const auto link = [&](int e, int f) {
    all.paths[e >> 1].link[e & 1] = f;
    all.paths[f >> 1].link[f & 1] = e;
  };
  for (int k = 0; k < exchanged; k++) {  // two gaps exchange ends: one tour more, one less, or another order
    const int a = random.below(2 * count), b = random.below(2 * count);
    const int c = all.paths[a >> 1].link[a & 1], d = all.paths[b >> 1].link[b & 1];
    if (a == b || a == d) continue;
    link(a, d);
    link(c, b);
  }
  const PathOrder &order = all.order;
  all.each_end([&](int e) { order.begin(e); });
  CHECK((int)all.closed_tours().size() == all.closed_tours_one_by_one());
  const std::vector<int> named = all.closed_tours();
  for (size_t left = named.size(); left > 1; left--) {
    all.each_end([&](int e) { order.clear(e); });
    all.each_end([&](int e) { order.find_join(e); });
    all.each_end([&](int e) { order.settle(e); });
    bool joined = false;
    for (int path : named) {
      const JoinOfTours join = order.join(path);
      if (!join.found || joined) continue;
      CHECK(join.tour == all.tour[path] && join.other == all.tour[join.b >> 1] && join.other != join.tour);
      CHECK(all.link[join.a] == join.a_link && all.link[join.b] == join.b_link);
      CHECK(std::abs(join.a - join.b) <= PathOrder::reach);
      const int p = join.crossed ? join.b_link : join.b, q = join.crossed ? join.b : join.b_link;
      const double before = all.total();
      all.link[join.a] = p, all.link[p] = join.a, all.link[join.a_link] = q, all.link[q] = join.a_link;
      CHECK(std::max(0.0, all.total() - before) - join.added < 1e-6);
      for (int e = 0; e < (int)all.link.size(); e++) order.note_name(e, e);
      order.note_name(join.tour, join.other);
      for (int i = 0; i < count; i++) order.rename(i);
      joined = true;
    }
    CHECK(joined);
    CHECK(all.closed_tours_one_by_one() == (int)left - 1);
    if (!joined) return;
  }
  CHECK(all.closed_tours().size() == 1);
  all.jumped([&](int e) { return order.way_back(e); }, PathOrder::jump_back);
  std::vector<PathPlace> places(count);
  for (int i = 0; i < count; i++) places[i] = PathOrder::place(all.ways.data(), i);
  int position = 0, e = 0;
  for (int k = 0; k < count; k++) {  // end 0 first, and then along the links
    CHECK(places[e >> 1].begin == position && places[e >> 1].turned == (e & 1));
    position += all.paths[e >> 1].length;
    e = all.link[e ^ 1];
  }
  CHECK(e == 0 && position == cities);
}

TEST(closed_tours_are_joined_and_paths_placed) {
  for (uint64_t seed = 0; seed < 40; seed++)
    for (int count : {1, 2, 3, 5, 64, 65, 300}) join_and_place(count, (int)(seed % 8) * count / 20, seed);
}
