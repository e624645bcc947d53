// The search of a warp, its 32 lanes on one thread: what it says about the tour is true, and it keeps what it must.
#include "path_graph.h"
#include "warp_parts.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "check.h"

using namespace warptsp;

namespace {

constexpr int K = 7;

struct Memory {
  std::unique_ptr<unsigned char[]> block;
  unsigned char *aligned;
  explicit Memory(int bytes) : block(new unsigned char[bytes + 16]) {
    aligned = block.get() + (16 - (size_t)block.get() % 16) % 16;
  }
};

template <class Metric>
struct SubProblem {
  Memory memory;
  WarpLkArrays<K> a;
  Metric metric;

  // `paths` paths of random lengths through cities in random order, or in order of x.
  SubProblem(int size, int paths, int kind, check::Random &random)
      : memory(WarpLkArrays<K>::bytes(size)), a(WarpLkArrays<K>::in(memory.aligned, size)) {
    for (int c = 0; c < size; c++) {
      float x = (float)random.below(1000), y = (float)random.below(1000);
      if (kind == 1) x = (float)random.below(8), y = (float)random.below(8);
      if (kind == 2) y = 0;
      if (kind == 3) x = y = 5;
      a.xy[c] = Xy{x, y};
    }
    std::vector<int> order(size), others;
    std::iota(order.begin(), order.end(), 0);
    for (int i = size - 1; i > 0; i--) std::swap(order[i], order[random.below(i + 1)]);
    std::vector<bool> ends(size, false);
    for (int s = 1; s < paths; s++) ends[random.below(size - 1)] = true;
    ends[size - 1] = true;
    for (int p = 0; p < size; p++) {
      a.order[p] = (u16)order[p];
      a.follower[order[p]] = ends[p] ? (u16)order[p + 1 < size ? p + 1 : 0] : no_city;
    }
    for (int c = 0; c < size; c++) {
      others.clear();
      for (int d = 0; d < size; d++)
        if (d != c && random.below(20)) others.push_back(d);  // lists with gaps
      std::sort(others.begin(), others.end(), [&](int p, int q) {
        const float dp = metric(a.xy[c], a.xy[p]), dq = metric(a.xy[c], a.xy[q]);
        return dp < dq || (dp == dq && p < q);
      });
      for (int k = 0; k < K; k++) a.candidates[c * K + k] = (u16)(k < (int)others.size() ? others[k] : c);
    }
  }
  bool outside(int c, int d) const { return a.follower[c] == d || a.follower[d] == c; }
  double length() const {
    double sum = 0;
    for (int p = 0; p + 1 < a.size; p++)
      if (!outside(a.order[p], a.order[p + 1])) sum += metric(a.xy[a.order[p]], a.xy[a.order[p + 1]]);
    return sum;
  }
  void check_state() const {
    std::vector<bool> seen(a.size, false);
    bool sound = true;
    int left = 0;
    for (int p = 0; p < a.size; p++) {
      const int c = a.order[p];
      sound = sound && c < a.size && !seen[c] && a.position[c] == p;
      if (c >= a.size) break;
      seen[c] = true;
      const int d = a.order[p + 1 < a.size ? p + 1 : 0];
      left += outside(c, d);
      sound = sound && a.link[p] == (outside(c, d) ? warp_lk_unbreakable : metric(a.xy[c], a.xy[d]));
    }
    int links = 0;
    for (int c = 0; c < a.size; c++) links += a.follower[c] != no_city;
    CHECK(left == links);  // every link to the outside is where it was
    CHECK(outside(a.order[a.size - 1], a.order[0]));
    for (u32 word : a.work->queued) sound = sound && word == 0;
    CHECK(sound);
  }
};

const WarpLkParams params{50, 10, 0.5f, 0.1f, 0.5f};

template <class Metric>
void search(uint64_t seed, WarpLkCounters &sum) {
  check::Random random(seed);
  const int size = warp_lk_least + random.below(seed % 4 == 0 ? 900 : 120), paths = 1 + random.below(1 + size / 6);
  SubProblem<Metric> sub(size, paths, seed % 5 < 3 ? 0 : (int)(seed % 4), random);
  WarpLkParams own = params;
  const bool rounded = Metric()(Xy{0, 0}, Xy{1, 1}) == 1.0f || Metric()(Xy{0, 0}, Xy{1, 1}) == 2.0f;
  if (!rounded) own.tolerance = 1e-3f;
  WarpLk<EmulatedWarp, Metric, K> lk(sub.a, own);
  lk.begin();
  sub.check_state();
  double length = sub.length();
  length -= lk.optimize();
  sub.check_state();
  CHECK(std::fabs(length - sub.length()) <= (rounded ? 0.0 : 1e-2));
  Random kicks(seed, 0, 0);
  for (int k = 0; k < 300; k++) {
    const float allowance = k % 3 == 0 ? 30.0f * kicks.unit() : k % 3 == 1 ? 0.0f : -1e20f;
    std::vector<u16> before(sub.a.order, sub.a.order + size);
    const double gain = lk.kick(kicks, allowance);
    sub.check_state();
    length -= gain;
    CHECK(std::fabs(length - sub.length()) <= (rounded ? 0.0 : 1e-1));
    CHECK(gain >= -allowance || (gain == 0 && allowance < 0));
    if (allowance < 0) {  // taken back, array and paths
      CHECK(std::equal(before.begin(), before.end(), sub.a.order) || gain == 0);
    }
  }
  sum.kicks += lk.counters.kicks, sum.improved += lk.counters.improved, sum.restored += lk.counters.restored;
  sum.refused += lk.counters.refused, sum.accepted += lk.counters.accepted;
  sum.passes += lk.counters.passes, sum.chains += lk.counters.chains, sum.steps += lk.counters.steps;
  sum.branches += lk.counters.branches, sum.moves += lk.counters.moves, sum.cells += lk.counters.cells;
}

TEST(keeps_its_promises) {
  WarpLkCounters sum;
  for (uint64_t seed = 1; seed <= 60; seed++) {
    search<PlanarMetric<Rounding::nearest>>(seed, sum);
    search<PlanarMetric<Rounding::none>>(seed, sum);
  }
  std::printf("kicks %u refused %u restored %u accepted %u improved %u passes %u branches %u chains %u "
              "steps %u moves %u cells %u\n", sum.kicks, sum.refused, sum.restored, sum.accepted, sum.improved,
              sum.passes, sum.branches, sum.chains, sum.steps, sum.moves, sum.cells);
  CHECK(sum.kicks > 1000 && sum.restored > 100 && sum.accepted > 100 && sum.improved > 50);
}


// ---- parts of whole tours

struct Whole {
  int n, count;
  std::vector<double> points;
  std::vector<int> candidates, tour, position, blob_order, blob_rank, handed_city, path_count;
  std::vector<u16> handed_path, handed_offset;
  std::vector<HandedPath> paths;
  std::vector<double> gains;
  std::vector<int> chosen;
  int joined = 0;
  PlanarMetric<Rounding::nearest> metric;

  Whole(int size, int tours, check::Random &random)
      : n(size), count(tours), points(2 * size), candidates((size_t)size * K, -1), tour((size_t)tours * size),
        position((size_t)tours * size), blob_order(size), blob_rank(size) {
    // Cities along x, with small steps in y, so that places near each other have numbers near each other.
    for (int c = 0; c < n; c++) points[2 * c] = 3 * c + random.below(40), points[2 * c + 1] = random.below(60);
    for (int c = 0; c < n; c++) {
      std::vector<int> near;
      for (int d = std::max(0, c - 25); d < std::min(n, c + 26); d++)
        if (d != c) near.push_back(d);
      std::sort(near.begin(), near.end(), [&](int p, int q) {
        const double dp = length(c, p), dq = length(c, q);
        return dp < dq || (dp == dq && p < q);
      });
      for (int k = 0; k < K && k < (int)near.size(); k++) candidates[(size_t)c * K + k] = near[k];
    }
    for (int t = 0; t < count; t++) {
      int *own = tour.data() + t * n;
      std::iota(own, own + n, 0);
      for (int i = n - 1; i > 0; i--) std::swap(own[i], own[std::max(0, i - random.below(30))]);
      for (int p = 0; p < n; p++) position[t * n + own[p]] = p;
    }
    const int shift = random.below(n);
    for (int p = 0; p < n; p++) blob_order[p] = (p + shift) % n, blob_rank[blob_order[p]] = p;
  }
  double length(int c, int d) const {
    return metric(Xy{(float)points[2 * c], (float)points[2 * c + 1]}, Xy{(float)points[2 * d], (float)points[2 * d + 1]});
  }
  double length(int t) const {
    const int *own = tour.data() + t * n;
    double sum = 0;
    for (int p = 0; p < n; p++) sum += length(own[p], own[p + 1 < n ? p + 1 : 0]);
    return sum;
  }
  // Returns the gain of each tour.
  std::vector<double> round(const RoundOnDevice &plan, bool numbered) {
    handed_city.resize((size_t)n * plan.copies), handed_path.resize((size_t)n * plan.copies);
    handed_offset.resize((size_t)n * plan.copies), paths.resize((size_t)n * plan.copies);
    path_count.resize((size_t)plan.parts * plan.copies), gains.resize((size_t)plan.parts * plan.copies);
    chosen.resize((size_t)plan.tours * plan.parts);
    const TourOnDevice all{n, points.data(), candidates.data(), tour.data(), position.data(),
                           numbered ? nullptr : blob_order.data(), numbered ? nullptr : blob_rank.data(),
                           handed_city.data(), handed_path.data(), handed_offset.data(), paths.data(), path_count.data(),
                           gains.data(), chosen.data()};
    for (int b = 0; b < plan.parts; b++)
      for (int copy = 0; copy < plan.copies; copy++) {
        Memory memory(WarpLkArrays<K>::bytes(n / plan.parts + 1));
        WarpLkCounters counters;
        WarpPart<EmulatedWarp, PlanarMetric<Rounding::nearest>, K>(all, plan, b, copy, memory.aligned).run(counters);
      }
    std::vector<double> sums(plan.tours);
    for (int number = 0; number < plan.tours; number++) sums[number] = put_back_all(all, plan, number);
    return sums;
  }
  double put_back_all(const TourOnDevice &all, const RoundOnDevice &plan, int number) {
    const TourOnDevice t = one_tour(all, plan.parts, number);
    double gain = 0;
    for (int b = 0; b < plan.parts; b++) {
      t.chosen[b] = number;
      if (plan.tours == 1) choose(t, plan.parts, plan.copies, b);
      gain += gains[(size_t)t.chosen[b] * plan.parts + b];
      for (int copy = 0; plan.tours == 1 && copy < plan.copies; copy++)
        CHECK(gains[(size_t)t.chosen[b] * plan.parts + b] >= gains[(size_t)copy * plan.parts + b]);
    }
    if (!plan.blobs) {
      for (int i = 0; i < n; i++) put_back_stretch(t, plan.parts, plan.rotation, i);
      return gain;
    }
    std::vector<int> begin(plan.parts);
    std::vector<HandedPath> handed;
    for (int b = 0; b < plan.parts; b++) {
      begin[b] = (int)handed.size();
      const HandedPath *own = paths.data() + (size_t)t.chosen[b] * n + part_begin(n, plan.parts, b);
      handed.insert(handed.end(), own, own + path_count[(size_t)t.chosen[b] * plan.parts + b]);
    }
    std::vector<PathPlace> places(handed.size());
    PathGraph graph(n);
    const double before = length(number);
    const int found =
        graph.arrange(handed.data(), (int)handed.size(), places.data(), [&](int c, int d) { return length(c, d); });
    for (int i = 0; i < n; i++) put_back(t, plan.parts, begin.data(), places.data(), handed.data(), i);
    const double added = length(number) - (before - gain);
    CHECK(found > 1 || added == 0);
    joined += found - 1;
    return gain - added;
  }
};

// Rounds on one tour with several copies of each part, or on several tours.
int rounds_that_keep_tours(uint64_t seed, int copies, int tours) {
  check::Random random(seed);
  const int n = 8 + random.below(seed % 3 ? 400 : 3000);
  Whole whole(n, tours, random);
  std::vector<double> begun, length;
  for (int t = 0; t < tours; t++) begun.push_back(whole.length(t));
  length = begun;
  for (int r = 0; r < 8; r++) {
    const int least = (n + warp_lk_cities - 1) / warp_lk_cities;
    const int parts = least + random.below(std::max(1, n / 60));
    const std::vector<double> gains = whole.round(
        {parts, copies, tours, random.below(n), r % 2, r < 3, 0.3f, r < 6 ? 2.0f : 0.0f, seed, (u64)r, params}, seed % 2);
    for (int t = 0; t < tours; t++) {
      length[t] -= gains[t];
      CHECK(length[t] == whole.length(t));
      std::vector<bool> seen(n, false);
      for (int p = 0; p < n; p++) {
        const int c = whole.tour[t * n + p];
        CHECK(c >= 0 && c < n && !seen[c] && whole.position[t * n + c] == p);
        seen[c] = true;
      }
    }
  }
  for (int t = 0; t < tours; t++) CHECK(length[t] < begun[t]);
  return whole.joined;
}

TEST(parts_make_one_tour) {
  int joined = 0;
  for (uint64_t seed = 1; seed <= 30; seed++) joined += rounds_that_keep_tours(seed, 1 + (int)(seed % 3), 1);
  CHECK(joined > 10);  // else the joining of closed tours was not tried
}

TEST(several_tours_at_once) {
  int joined = 0;
  for (uint64_t seed = 1; seed <= 6; seed++) joined += rounds_that_keep_tours(seed, 3, 3);
  CHECK(joined > 5);
}

}  // namespace
