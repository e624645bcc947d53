// The search of a warp, its 32 lanes on one thread: what it says about the tour is true, and it keeps what it must.
#include "lk/path_graph.h"
#include "lk/warp_parts.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "emulated_warp.h"
#include "tours.h"

using namespace warptsp;
using namespace warptsp::lk;

namespace {

constexpr int K = 8;

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
  std::vector<u64> candidates;
  std::vector<u16> kept;
  WarpLkArrays<K, Xy> a;
  Metric metric;

  // `paths` paths of random lengths through cities in random order, or in order of x.
  SubProblem(int size, int paths, int kind, check::Random &random)
      : memory(WarpLkArrays<K, Xy>::bytes(size)), candidates((size_t)size * (K / warp_lk_chunk)), kept(size),
        a(WarpLkArrays<K, Xy>::in(memory.aligned, size, candidates.data(), kept.data())) {
    for (int c = 0; c < size; c++) {
      float x = (float)random.below(1000), y = (float)random.below(1000);
      if (kind == 1) x = (float)random.below(8), y = (float)random.below(8);
      if (kind == 2) y = 0;
      if (kind == 3) x = y = 5;
      a.place[c] = Xy{x, y};
    }
    const std::vector<int> order = shuffled(size, random);
    std::vector<int> others;
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
        const float dp = metric(a.place[c], a.place[p]), dq = metric(a.place[c], a.place[q]);
        return dp < dq || (dp == dq && p < q);
      });
      for (int k = 0; k < K; k++)
        a.four_candidates(c, k / warp_lk_chunk) |= (u64)(k < (int)others.size() ? others[k] : c)
                                                   << 16 * (k % warp_lk_chunk);
    }
  }
  bool outside(int c, int d) const { return a.follower[c] == d || a.follower[d] == c; }
  double length() const {
    double sum = 0;
    for (int p = 0; p + 1 < a.size; p++)
      if (!outside(a.order[p], a.order[p + 1])) sum += metric(a.place[a.order[p]], a.place[a.order[p + 1]]);
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
      sound = sound && a.edge[p] == (outside(c, d) ? warp_lk_unbreakable : metric(a.place[c], a.place[d]));
    }
    int edges = 0;
    for (int c = 0; c < a.size; c++) edges += a.follower[c] != no_city;
    CHECK(left == edges);  // every edge to the outside is where it was
    CHECK(outside(a.order[a.size - 1], a.order[0]));
    for (u32 word : a.work->queued) sound = sound && word == 0;
    CHECK(sound);
  }
};

const WarpLkParams params{{50, 10, 0.5f, 0.1f}, 0.5f};

template <class Metric>
void search(uint64_t seed, WarpLkCounters &sum) {
  check::Random random(seed);
  const int size = warp_lk_min_cities + random.below(seed % 4 == 0 ? 900 : 120), paths = 1 + random.below(1 + size / 6);
  SubProblem<Metric> sub(size, paths, seed % 5 < 3 ? 0 : (int)(seed % 4), random);
  WarpLkParams own = params;
  const bool rounded = Metric()(Xy{0, 0}, Xy{1, 1}) == 1.0f || Metric()(Xy{0, 0}, Xy{1, 1}) == 2.0f;
  if (!rounded) own.tolerance = 1e-3f;
  WarpLk<EmulatedWarp, Metric, K> lk(sub.a, sub.metric, own);
  lk.begin();
  sub.check_state();
  double length = sub.length();
  typedef typename WarpLk<EmulatedWarp, Metric, K>::From From;
  Random kicks(seed, 0, 0);
  length -= lk.search(seed % 2 ? From::every_city : From::longest_edge, kicks, 0);
  sub.check_state();
  CHECK(std::fabs(length - sub.length()) <= (rounded ? 0.0 : 1e-2));
  for (int k = 0; k < 300; k++) {
    const float allowance = k % 3 == 0 ? 30.0f * kicks.unit() : k % 3 == 1 ? 0.0f : -1e20f;
    std::vector<u16> before(sub.a.order, sub.a.order + size);
    const double gain = lk.search(From::kick, kicks, allowance);
    sub.check_state();
    length -= gain;
    CHECK(std::fabs(length - sub.length()) <= (rounded ? 0.0 : 1e-1));
    CHECK(gain >= -allowance || (gain == 0 && allowance < 0));
    if (allowance < 0) {  // taken back, array and paths
      CHECK(std::equal(before.begin(), before.end(), sub.a.order) || gain == 0);
    }
  }
  sum.kicks += lk.counters.kicks, sum.improved += lk.counters.improved;
  sum.restored += lk.counters.restored, sum.accepted += lk.counters.accepted;
}

TEST(keeps_its_promises) {
  WarpLkCounters sum;
  for (uint64_t seed = 1; seed <= 60; seed++) {
    search<PlanarMetric<MetricKind::euc_2d>>(seed, sum);
    search<PlanarMetric<MetricKind::exact_2d>>(seed, sum);
  }
  CHECK(sum.kicks > 1000 && sum.restored > 100 && sum.accepted > 100 && sum.improved > 50);
}

// One edge from end to end of a ladder.
TEST(the_longest_edge_is_mended) {
  check::Random random(3);
  constexpr int n = 200;
  SubProblem<PlanarMetric<MetricKind::exact_2d>> sub(n, 1, 0, random);
  for (int c = 0; c < n; c++) {
    sub.a.place[c] = Xy{(float)(c / 2) * 10, (float)(c % 2)};
    sub.a.order[c] = (u16)(c < n / 2 ? 2 * c : 2 * (c - n / 2) + 1);  // one side, and then the other from its start
    sub.a.follower[c] = no_city;
    for (int k = 0; k < K; k++) {
      const int d = c + (k % 2 ? -1 - k / 2 : 1 + k / 2), shift = 16 * (k % warp_lk_chunk);
      u64 &four = sub.a.four_candidates(c, k / warp_lk_chunk);
      four = (four & ~((u64)0xffff << shift)) | (u64)(d < 0 || d >= n ? c : d) << shift;
    }
  }
  sub.a.follower[sub.a.order[n - 1]] = sub.a.order[0];
  WarpLkParams own = params;
  own.tolerance = 1e-3f;
  typedef WarpLk<EmulatedWarp, PlanarMetric<MetricKind::exact_2d>, K> Search;
  Search lk(sub.a, sub.metric, own);
  lk.begin();
  const double begun = sub.length();
  Random none(0, 0, 0);
  const double gain = lk.search(Search::From::longest_edge, none, 0);
  sub.check_state();
  CHECK(std::fabs(begun - gain - sub.length()) < 1e-1);
  CHECK(gain > 0.8 * 10 * (n / 2 - 1));
}

// ---- parts of whole tours

// As CoordinateMetric, with a kind that is not known when this is compiled: a search for each kind takes minutes.
struct CoordinatesOfAnyKind : CoordinatePlaces {
  static MetricKind kind;
  CoordinatesOfAnyKind() = default;
  explicit CoordinatesOfAnyKind(const CitiesOnDevice &) {}
  float operator()(const Xyz &p, const Xyz &q) const { return place_distance(kind, p, q); }
};
MetricKind CoordinatesOfAnyKind::kind;

// Every metric, from the same integers: cities along x, with small steps in y and z, so that places near each other have
// numbers near each other. A dummy city is the last one; fixed edges are edges of the first tour.
template <class Metric>
struct Whole {
  MetricKind kind;
  bool dummy;
  int dimensions;
  int n, count;
  std::vector<double> points;
  std::vector<float> matrix;
  std::vector<int> candidates, tour, position, fixed, blob_order, blob_rank, handed_city, path_count;
  std::vector<u64> local_candidates;
  std::vector<u16> kept, handed_path, handed_offset;
  std::vector<HandedPath> paths;
  std::vector<double> gains;
  std::vector<int> chosen;
  int joined = 0, refused = 0;

  Whole(MetricKind kind, bool dummy, int size, int tours, int fixed_edges, check::Random &random)
      : kind(kind), dummy(dummy), dimensions(kind == MetricKind::matrix || is_planar(kind) ? 2 : 3), n(size),
        count(tours), points((size_t)dimensions * size), candidates((size_t)size * K, -1), tour((size_t)tours * size),
        position((size_t)tours * size), fixed(2 * (size_t)size, -1), blob_order(size), blob_rank(size) {
    for (int c = 0; c < n; c++) {
      double *row = &points[(size_t)dimensions * c];
      const int x = 3 * c + random.below(40), y = random.below(60);
      row[0] = x, row[1] = y;
      if (dimensions == 3) row[2] = random.below(20);
      if (kind == MetricKind::geo || kind == MetricKind::great_circle) {
        const double longitude = 1e-3 * x, latitude = 1e-3 * y;
        row[0] = std::cos(latitude) * std::cos(longitude), row[1] = std::cos(latitude) * std::sin(longitude);
        row[2] = std::sin(latitude);
      }
      if (kind == MetricKind::xray1 || kind == MetricKind::xray2) row[0] = x % 360, row[1] = y + x / 10;
    }
    if (dummy) std::fill(points.end() - dimensions, points.end(), std::nan(""));
    if (kind == MetricKind::matrix) {
      matrix.resize((size_t)n * n);
      for (int c = 0; c < n; c++)
        for (int d = 0; d < n; d++)
          matrix[(size_t)c * n + d] =
              c == d || (dummy && std::max(c, d) == n - 1)
                  ? 0.0f
                  : (float)coordinate_distance(MetricKind::euc_2d, &points[2 * c], &points[2 * d]);
    }
    for (int c = 0; c < n; c++) {
      std::vector<int> near;
      for (int d = std::max(0, c - 25); d < std::min(n, c + 26); d++)
        if (d != c) near.push_back(d);
      if (dummy && c < n - 26) near.push_back(n - 1);
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
    for (int e = 0; e < fixed_edges; e++) {
      const int p = random.below(n);
      fix(tour[p], tour[p + 1 < n ? p + 1 : 0]);
    }
    const int shift = random.below(n);
    for (int p = 0; p < n; p++) blob_order[p] = (p + shift) % n, blob_rank[blob_order[p]] = p;
  }
  void fix(int a, int b) {
    if (is_fixed(a, b)) return;
    for (int s = 0; s < 2; s++) {
      fixed[2 * a + (fixed[2 * a] >= 0)] = b;
      std::swap(a, b);
    }
  }
  bool is_fixed(int a, int b) const { return fixed[2 * a] == b || fixed[2 * a + 1] == b; }
  double length(int c, int d) const {
    if (kind == MetricKind::matrix) return matrix[(size_t)c * n + d];
    return AnyCoordinates<double>{{points.data(), dimensions}, kind}(c, d);
  }
  double total(int t) const {
    const int *own = tour.data() + t * n;
    double sum = 0;
    for (int p = 0; p < n; p++) sum += length(own[p], own[p + 1 < n ? p + 1 : 0]);
    return sum;
  }
  // Returns the gain of each tour.
  std::vector<double> round(const RoundOnDevice &plan, bool numbered) {
    local_candidates.resize((size_t)n * plan.copies * (K / warp_lk_chunk)), kept.resize((size_t)n * plan.copies);
    handed_city.resize((size_t)n * plan.copies), handed_path.resize((size_t)n * plan.copies);
    handed_offset.resize((size_t)n * plan.copies), paths.resize((size_t)n * plan.copies);
    path_count.resize((size_t)plan.parts * plan.copies), gains.resize((size_t)plan.parts * plan.copies);
    chosen.resize((size_t)plan.tours * plan.parts);
    const CitiesOnDevice cities{points.data(), matrix.data(), n, dimensions};
    const TourOnDevice all{cities,
                           candidates.data(),
                           fixed.data(),
                           tour.data(),
                           position.data(),
                           numbered ? nullptr : blob_order.data(),
                           numbered ? nullptr : blob_rank.data(),
                           local_candidates.data(),
                           kept.data(),
                           handed_city.data(),
                           handed_path.data(),
                           handed_offset.data(),
                           paths.data(),
                           path_count.data(),
                           gains.data(),
                           chosen.data()};
    for (int copy = 0; copy < plan.copies; copy++) improve(all, plan, copy);
    if (plan.tours > 1) {  // a GPU that has only the last tour does the same with it
      const int last = plan.tours - 1;
      const std::vector<int> handed(handed_city.end() - n, handed_city.end());
      TourOnDevice own = all;
      const size_t skipped = (size_t)last * n;
      own.tour += skipped, own.position += skipped, own.handed_city += skipped, own.handed_path += skipped;
      own.handed_offset += skipped, own.paths += skipped, own.kept += skipped;
      own.local_candidates += skipped * (K / warp_lk_chunk);
      own.path_count += (size_t)last * plan.parts, own.gain += (size_t)last * plan.parts;
      RoundOnDevice alone = plan;
      alone.copies = alone.tours = 1, alone.first_copy = last;
      std::fill(handed_city.end() - n, handed_city.end(), -1);
      improve(own, alone, 0);
      CHECK(std::equal(handed.begin(), handed.end(), handed_city.end() - n));
    }
    const int stop = 1;  // a round that is given up hands nothing over
    RoundOnDevice given_up = plan;
    given_up.stop = &stop;
    const std::vector<int> handed = handed_city;
    improve(all, given_up, 0);
    CHECK(handed == handed_city);
    std::vector<double> sums(plan.tours);
    for (int number = 0; number < plan.tours; number++) sums[number] = put_back_all(all, plan, number);
    return sums;
  }
  void improve(const TourOnDevice &all, const RoundOnDevice &plan, int copy) {
    for (int turn = 0; turn < plan.parts; turn++) {
      const int b = part_in_turn(plan.every, 0, plan.parts, turn);
      Memory memory(WarpLkArrays<K, typename Metric::Place>::bytes(n / plan.parts + 1));
      WarpLkCounters counters;
      WarpPart<EmulatedWarp, Metric, K>(all, plan, b, copy, memory.aligned).run(counters);
    }
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
    std::vector<int> ends(2 * (size_t)n, -1);
    for (size_t i = 0; i < handed.size(); i++) note_ends(handed[i], (int)i, ends.data());
    std::vector<LinkedPath> paths_of_tour;
    for (const HandedPath &path : handed) paths_of_tour.push_back(linked(path, ends.data()));
    std::vector<PathPlace> places(handed.size());
    PathGraph graph;
    const double before = total(number);
    const int found = graph.arrange(paths_of_tour.data(), (int)handed.size(), places.data(),
                                    [&](int c, int d) { return is_fixed(c, d) ? -PathGraph::kept : length(c, d); });
    if (found == 0) {
      refused++;
      return 0;
    }
    for (int i = 0; i < n; i++) put_back(t, plan.parts, begin.data(), places.data(), paths_of_tour.data(), i);
    const double added = total(number) - (before - gain);
    CHECK(found > 1 || std::fabs(added) <= tolerance());
    joined += found - 1;
    return gain - added;
  }
  // Sums in float of what is no small integer, or whose rounding is on the edge.
  double tolerance() const {
    const bool exact = kind == MetricKind::matrix || kind == MetricKind::euc_2d || kind == MetricKind::ceil_2d ||
                       kind == MetricKind::floor_2d || kind == MetricKind::man_2d || kind == MetricKind::max_2d ||
                       kind == MetricKind::euc_3d || kind == MetricKind::man_3d || kind == MetricKind::max_3d;
    return exact ? 0 : 2e-3 * total(0);
  }
};

// Rounds on one tour with several copies of each part, or on several tours.
template <class Metric>
void rounds_that_keep_tours(MetricKind kind, bool dummy, int seeds, int tours, bool with_fixed, int &joined) {
  CoordinatesOfAnyKind::kind = kind;
  int refused = 0, rounds = 0;
  for (uint64_t seed = 1; seed <= (uint64_t)seeds; seed++) {
    check::Random random(seed);
    const int n = 16 + random.below(kind == MetricKind::matrix || seed % 3 ? 400 : 3000);
    Whole<Metric> whole(kind, dummy, n, tours, with_fixed ? random.below(n / 4) : 0, random);
    std::vector<double> begun;
    for (int t = 0; t < tours; t++) begun.push_back(whole.total(t));
    std::vector<double> length = begun;
    for (int r = 0; r < 8; r++) {
      const int least = (n + warp_lk_max_cities - 1) / warp_lk_max_cities;
      const int parts = least + random.below(std::max(1, n / 60)), copies = tours > 1 ? tours : 1 + (int)(seed % 3);
      WarpLkParams own = params;
      if (!is_integral(kind)) own.tolerance = 2e-6f * (float)(begun[0] / n);
      const std::vector<double> gains =
          whole.round({parts, copies, 0, copies, tours, random.below(n), r % 2, r < 3, r % 3 ? 3 : 0, 0.3f,
                       r < 6 ? 2.0f : 0.0f, r == 5 ? 10.0f : 1e30f, seed, (u64)r, nullptr, own},
                      seed % 2);
      rounds++;
      for (int t = 0; t < tours; t++) {
        CHECK(std::fabs(length[t] - gains[t] - whole.total(t)) <= whole.tolerance());
        length[t] = whole.total(t);
        const int *tour = whole.tour.data() + t * n, *position = whole.position.data() + t * n;
        CHECK(is_tour({tour, tour + n}, n, pairs_of(whole.fixed)));
        for (int p = 0; p < n; p++) CHECK(position[tour[p]] == p);
      }
    }
    for (int t = 0; t < tours; t++) CHECK(length[t] < begun[t]);
    joined += whole.joined;
    refused += whole.refused;
  }
  CHECK(refused < rounds / 4);
}

typedef PlanarMetric<MetricKind::euc_2d> Plane;

TEST(every_part_has_its_turn) {
  for (const int every : {0, 2, 3, 5})
    for (int first = 0; first < 12; first++)
      for (int count = 1; count < 30; count++) {
        std::vector<int> turns(count, 0);
        for (int i = 0, fewer = 0; i < count; i++) {
          const int b = part_in_turn(every, first, count, i);
          CHECK(b >= first && b < first + count && turns[b - first]++ == 0);
          if (share_of_kicks(every, b) < 1) fewer++;
          CHECK(fewer == 0 || share_of_kicks(every, b) < 1);  // and they come last
        }
      }
  for (const int every : {2, 3, 5}) {
    float shares = 0;
    for (int b = 0; b < every; b++) shares += share_of_kicks(every, b);
    CHECK(std::fabs(shares - every) < 1e-5f);
  }
}

TEST(parts_make_one_tour) {
  int joined = 0;
  rounds_that_keep_tours<Plane>(MetricKind::euc_2d, false, 30, 1, false, joined);
  CHECK(joined > 10);  // else the joining of closed tours was not tried
}

TEST(several_tours_at_once) {
  int joined = 0;
  rounds_that_keep_tours<Plane>(MetricKind::euc_2d, false, 6, 3, false, joined);
  CHECK(joined > 5);
}

TEST(parts_keep_fixed_edges) {
  int joined = 0;
  rounds_that_keep_tours<Plane>(MetricKind::euc_2d, false, 20, 1, true, joined);
  rounds_that_keep_tours<MatrixMetric>(MetricKind::matrix, false, 10, 1, true, joined);
  CHECK(joined > 5);
}

TEST(parts_in_every_metric) {
  int joined = 0;
  for (int kind = 0; kind < (int)MetricKind::count; kind++)
    if (has_coordinates((MetricKind)kind))
      rounds_that_keep_tours<CoordinatesOfAnyKind>((MetricKind)kind, false, 2, 1, false, joined);
  rounds_that_keep_tours<MatrixMetric>(MetricKind::matrix, false, 2, 1, false, joined);
}

TEST(parts_with_a_dummy_city) {
  int joined = 0;
  rounds_that_keep_tours<CoordinatesOfAnyKind>(MetricKind::euc_2d, true, 5, 1, false, joined);
  rounds_that_keep_tours<CoordinatesOfAnyKind>(MetricKind::euc_2d, true, 5, 1, true, joined);
  rounds_that_keep_tours<CoordinatesOfAnyKind>(MetricKind::great_circle, true, 2, 1, false, joined);
  rounds_that_keep_tours<MatrixMetric>(MetricKind::matrix, true, 2, 1, true, joined);
}

template <MetricKind kind>
void near_the_true_distance(double scale, double shift) {
  typedef typename WarpMetric<kind, false>::Type Metric;
  check::Random random(7);
  constexpr int n = 60;
  constexpr int dimensions = is_planar(kind) ? 2 : 3;
  std::vector<double> points((size_t)dimensions * n);
  for (int c = 0; c < n; c++) {
    for (int d = 0; d < dimensions; d++) points[dimensions * c + d] = shift + scale * random.uniform();
    if (kind == MetricKind::geo || kind == MetricKind::great_circle) {
      double sum = 0;
      for (int d = 0; d < 3; d++) sum += points[3 * c + d] * points[3 * c + d];
      for (int d = 0; d < 3; d++) points[3 * c + d] /= std::sqrt(sum);
    }
  }
  const CitiesOnDevice cities{points.data(), nullptr, n, dimensions};
  const Metric metric(cities);
  double most = 0;
  for (int a = 0; a < n; a++)
    for (int b = 0; b < n; b++) most = std::max(most, AnyCoordinates<double>{{points.data(), dimensions}, kind}(a, b));
  for (int a = 0; a < n; a++)
    for (int b = 0; b < n; b++) {
      const double exact = AnyCoordinates<double>{{points.data(), dimensions}, kind}(a, b);
      const double found = metric(metric.place(cities, a, 5), metric.place(cities, b, 5));
      CHECK(std::fabs(found - exact) <= 1e-6 * most + (is_integral(kind) ? 1.0 : 0.0));
    }
}

TEST(distances_far_from_the_origin) {
  near_the_true_distance<MetricKind::euc_2d>(1e4, 1e12);
  near_the_true_distance<MetricKind::exact_2d>(1e-3, 1e6);
  near_the_true_distance<MetricKind::att>(1e4, 1e9);
  near_the_true_distance<MetricKind::ceil_2d>(1e4, 1e9);
  near_the_true_distance<MetricKind::floor_2d>(1e4, 1e9);
  near_the_true_distance<MetricKind::man_2d>(1e4, -1e9);
  near_the_true_distance<MetricKind::max_2d>(1e4, 1e9);
  near_the_true_distance<MetricKind::exact_3d>(1e-3, 1e6);
  near_the_true_distance<MetricKind::euc_3d>(1e5, 1e9);
  near_the_true_distance<MetricKind::man_3d>(1e4, 1e9);
  near_the_true_distance<MetricKind::max_3d>(1e4, 1e9);
  near_the_true_distance<MetricKind::geo>(1.0, 0.0);
  near_the_true_distance<MetricKind::great_circle>(1.0, 0.0);
  near_the_true_distance<MetricKind::great_circle>(1e-4, 1.0);  // some 400 m
  near_the_true_distance<MetricKind::xray1>(90.0, 100.0);
  near_the_true_distance<MetricKind::xray2>(90.0, 100.0);
}

#if defined(__linux__)
// Memory that is there as far as it is touched.
template <class T>
struct Untouched {
  T *data;
  size_t bytes;
  explicit Untouched(size_t size) : bytes(size * sizeof(T)) {
    void *const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    data = at == MAP_FAILED ? nullptr : (T *)at;
  }
  ~Untouched() {
    if (data) munmap(data, bytes);
  }
};

// The last part of as many cities as 32 bits number, as a stretch and as a blob.
TEST(parts_of_as_many_cities_as_there_can_be) {
  constexpr int n = 0x7fffffff, parts = n / 500, b = parts - 1, rotation = n - 700;
  const size_t all = n;
  Untouched<double> points(2 * all), gain(parts);
  Untouched<int> candidates(K * all), tour(all), position(all), handed_city(all), path_count(parts), chosen(parts);
  Untouched<u64> local_candidates(all * (K / warp_lk_chunk));
  Untouched<u16> kept(all), handed_path(all), handed_offset(all);
  Untouched<HandedPath> paths(all);
  for (const void *one : {(void *)points.data, (void *)candidates.data, (void *)local_candidates.data})
    if (!one) return;  // a machine that has no such addresses
  const int begin = part_begin(n, parts, b), size = n - begin, first = around(begin, rotation, n);
  CHECK(first == (int)((long long)begin + rotation - n) && size < 600);
  check::Random random(3);
  for (int i = 0; i < size; i++) {
    const int c = first + i;
    points.data[2 * (size_t)c] = 3 * i + random.below(40), points.data[2 * (size_t)c + 1] = random.below(60);
    for (int k = 0; k < K; k++) candidates.data[(size_t)c * K + k] = first + (i + (k % 2 ? size - k : k + 1)) % size;
    tour.data[c] = c;
  }
  for (int i = size - 2; i > 1; i--)
    std::swap(tour.data[first + i], tour.data[first + std::max(1, i - random.below(30))]);
  for (int i = 0; i < size; i++) position.data[tour.data[first + i]] = first + i;
  const TourOnDevice whole{{points.data, nullptr, n, 2},
                           candidates.data,
                           nullptr,
                           tour.data,
                           position.data,
                           nullptr,
                           nullptr,
                           local_candidates.data,
                           kept.data,
                           handed_city.data,
                           handed_path.data,
                           handed_offset.data,
                           paths.data,
                           path_count.data,
                           gain.data,
                           chosen.data};
  for (int blobs = 0; blobs < 2; blobs++) {
    const RoundOnDevice round{parts, 1, 0, 1, 1, rotation, blobs, 1, 0, 1.0f, 0.0f, 1e30f, 1, 0, nullptr, params};
    typedef PlanarMetric<MetricKind::euc_2d> Metric;
    Memory memory(WarpLkArrays<K, Metric::Place>::bytes(size));
    WarpLkCounters counters;
    WarpPart<EmulatedWarp, Metric, K>(whole, round, b, 0, memory.aligned).run(counters);
    CHECK(gain.data[b] > 0);
    std::vector<int> handed(handed_city.data + begin, handed_city.data + begin + size);
    std::sort(handed.begin(), handed.end());
    for (int i = 0; i < size; i++) CHECK(handed[i] == first + i);
    if (!blobs) continue;
    CHECK(path_count.data[b] > 0);
    int cities = 0;
    for (int k = 0; k < path_count.data[b]; k++) {
      const HandedPath &path = paths.data[(size_t)begin + k];
      cities += path.length;
      for (const unsigned side : {path.head, path.tail})
        CHECK((side >> 1) + 1 >= (unsigned)first && side >> 1 < (unsigned)(first + size));
    }
    CHECK(cities == size);
  }
}
#endif

}  // namespace
