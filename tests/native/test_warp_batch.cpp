// Small problems, a warp each, its 32 lanes on one thread: tours that are tours, of the length that is said, and optimal
// where brute force can tell.
#include "lk/warp_batch.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "emulated_warp.h"
#include "tours.h"

using namespace warptsp;
using namespace warptsp::lk;

namespace {

constexpr int K = 8;
constexpr int unset = 0xffff;

template <class Metric>
struct Problems {
  int count, size;
  std::vector<double> points;
  std::vector<float> matrices;
  std::vector<u64> seeds, candidates;
  std::vector<float> tolerances;
  std::vector<u16> kept, best;
  std::vector<int> kicks;
  std::vector<BatchEnd> end;
  BatchOnDevice batch;

  // kind 0: uniform, 1: on few places, many of them the same, 2: on a line, 3: all at one place; a matrix has lengths
  // of its own.
  Problems(int count, int size, int kind, bool matrix, uint64_t seed)
      : count(count), size(size), points((size_t)count * size * 2), seeds(count),
        candidates((size_t)count * size * (K / 4)), tolerances(count, 1e-4f), kept((size_t)count * size),
        best((size_t)count * size, unset), kicks(count, -1), end(count, BatchEnd::none) {
    check::Random random(seed);
    for (int i = 0; i < count * size; i++) {
      double x = random.below(1000), y = random.below(1000);
      if (kind == 1) x = random.below(4), y = random.below(4);
      if (kind == 2) y = 0;
      if (kind == 3) x = y = 5;
      points[2 * i] = x, points[2 * i + 1] = y;
    }
    for (int i = 0; i < count; i++) seeds[i] = seed * 1000 + i;
    if (matrix) {
      matrices.resize((size_t)count * size * size);
      for (int i = 0; i < count; i++)
        for (int a = 0; a < size; a++)
          for (int b = a; b < size; b++)
            at(i, a, b) = at(i, b, a) = a == b ? 0.0f : kind == 3 ? 7.0f : (float)random.below(kind == 1 ? 3 : 1000);
    }
    batch = {matrix ? nullptr : points.data(),
             matrix ? matrices.data() : nullptr,
             count,
             size,
             2,
             seeds.data(),
             tolerances.data(),
             candidates.data(),
             kept.data(),
             best.data(),
             kicks.data(),
             end.data()};
  }
  float &at(int i, int a, int b) { return matrices[((size_t)i * size + a) * size + b]; }
  double distance(int i, int a, int b) {
    if (!matrices.empty()) return at(i, a, b);
    const double *p = &points[2 * ((size_t)i * size + a)], *q = &points[2 * ((size_t)i * size + b)];
    return std::hypot(p[0] - q[0], p[1] - q[1]);
  }
  template <class Cities>
  double length(int i, const Cities &tour) {
    double sum = 0;
    for (int p = 0; p < size; p++) sum += distance(i, tour[p], tour[(p + 1) % size]);
    return sum;
  }
  bool is_tour(int i) const {
    return ::is_tour({best.begin() + (size_t)i * size, best.begin() + (size_t)(i + 1) * size}, size);
  }
  double optimum(int i) {
    std::vector<int> tour = in_order(size);
    double least = 1e300;
    do
      if (tour[1] < tour[size - 1]) least = std::min(least, length(i, tour));
    while (std::next_permutation(tour.begin() + 1, tour.end()));
    return least;
  }
  void run(const BatchPlan &plan, int i) {
    const int bytes = WarpLkArrays<K, typename Metric::Place>::bytes(size);
    const std::unique_ptr<unsigned char[]> block(new unsigned char[bytes + 16]);
    unsigned char *const aligned = block.get() + (16 - (size_t)block.get() % 16) % 16;
    WarpProblem<EmulatedWarp, Metric, K>(batch, plan, i, aligned).run();
  }
};

const BatchPlan annealings{60, 10, 6, 2, 0.3f, 0.04f, nullptr, {50, 10, 0.45f, 0.1f, 0}};

template <class Metric>
void finds_optima(bool matrix) {
  int found = 0, all = 0;
  for (int kind = 0; kind < 4; kind++)
    for (uint64_t seed = 1; seed <= 4; seed++) {
      Problems<Metric> problems(2, 8 + (int)(seed % 2), kind, matrix, seed + 10 * kind);
      for (int i = 0; i < problems.count; i++) {
        problems.run(annealings, i);
        CHECK(problems.is_tour(i));
        CHECK(problems.end[i] == BatchEnd::settled || problems.end[i] == BatchEnd::unsettled);
        CHECK(problems.kicks[i] >= 120 && problems.kicks[i] <= 360 && problems.kicks[i] % 60 == 0);
        const double length = problems.length(i, &problems.best[(size_t)i * problems.size]);
        const double optimum = problems.optimum(i);
        CHECK(length >= optimum - 1e-6);
        found += length <= optimum + 1e-3 * (1 + optimum), all++;
      }
    }
  CHECK(found == all);
}

TEST(optima_of_points) { finds_optima<PlanarMetric<MetricKind::exact_2d>>(false); }
TEST(optima_of_matrices) { finds_optima<MatrixMetric>(true); }

TEST(more_kicks_give_shorter_tours) {
  typedef PlanarMetric<MetricKind::exact_2d> Metric;
  double sums[2] = {0, 0};
  for (int k = 0; k < 2; k++) {
    Problems<Metric> problems(6, 120, 0, false, 3);
    BatchPlan plan = annealings;
    plan.most = 1, plan.kicks = k ? 600 : 1, plan.step = 24;
    for (int i = 0; i < problems.count; i++) {
      problems.run(plan, i);
      CHECK(problems.is_tour(i) && problems.end[i] == BatchEnd::all_kicks && problems.kicks[i] == plan.kicks);
      sums[k] += problems.length(i, &problems.best[(size_t)i * problems.size]);
    }
  }
  CHECK(sums[1] < 0.99 * sums[0]);
}

TEST(a_problem_does_not_depend_on_those_beside_it) {
  typedef PlanarMetric<MetricKind::exact_2d> Metric;
  Problems<Metric> there(3, 60, 1, false, 5), back(3, 60, 1, false, 5), again(3, 60, 1, false, 5);
  for (int i = 0; i < 3; i++) there.run(annealings, i), back.run(annealings, 2 - i);
  CHECK(there.best == back.best && there.kicks == back.kicks && there.end == back.end);
  again.seeds[1]++;
  for (int i = 0; i < 3; i++) again.run(annealings, i);
  CHECK(again.best != there.best);
}

TEST(nothing_is_begun_once_the_host_gives_up) {
  typedef PlanarMetric<MetricKind::exact_2d> Metric;
  const int stop = 1;
  Problems<Metric> problems(1, 60, 0, false, 6);
  BatchPlan plan = annealings;
  plan.stop = &stop;
  problems.run(plan, 0);
  CHECK(problems.end[0] == BatchEnd::none && problems.best[0] == unset);
}

TEST(largest_problems) {
  typedef PlanarMetric<MetricKind::exact_2d> Metric;
  Problems<Metric> problems(1, warp_lk_max_cities, 0, false, 7);
  BatchPlan plan = annealings;
  plan.most = 1, plan.kicks = 200;
  problems.run(plan, 0);
  CHECK(problems.is_tour(0));
  CHECK(problems.length(0, problems.best) < 0.9 * std::sqrt(1e6 * problems.size));
}

}  // namespace
