// The search of many small instances, from their cities to their tours: how each ends, and that its tour is whole.
#include <set>

#include "check.h"
#include "lk/batch_search.h"

using namespace warptsp;
using namespace warptsp::lk;

namespace {

constexpr double tolerance = 1e-9;

std::unique_ptr<TourSearch> search_of(const Given &given, bool, bool, Instance &&instance, std::vector<int> &&start,
                                      double least) {
  if (given.integers != nullptr) {
    const MatrixSource<int> source{given.integers, instance.size};
    return std::make_unique<TourSearchOf<MatrixSource<int>>>(source, std::move(instance), std::move(start), 0);
  }
  const PointSource<EuclideanExact> source{given.points, given.kind};
  return std::make_unique<TourSearchOf<PointSource<EuclideanExact>>>(source, std::move(instance), std::move(start),
                                                                     least);
}

struct Found {
  BatchEnd end;
  std::vector<int> tour;
  long long kicks = 0;
};

// Of instances of so many cities, in a square each.
struct Points2d {
  int n, count;
  std::vector<double> rows;

  Points2d(int n, int count, double side = 1.0) : n(n), count(count), rows(2 * (size_t)n * count) {
    check::Random random((uint64_t)n);
    for (double &x : rows) x = side * random.uniform();
  }
  Given given() const { return {MetricKind::exact_2d, {rows.data(), 2}, nullptr, nullptr}; }
  double length(int number, const std::vector<int> &tour) const {
    return tour_length(EuclideanExact{rows.data() + 2 * (size_t)n * number}, tour);
  }
};

std::vector<Found> searched(const Given &given, int n, int count, const BatchSearchPlan &plan,
                            const StopToken &token = StopToken()) {
  BatchSearch search(given, n, plan, &search_of, token);
  std::vector<Found> all(count);
  for (int i = 0; i < count; i++) {
    all[i].tour.assign(n, -1);
    all[i].end = search.run(i, tolerance, 7 + i, all[i].tour.data(), all[i].kicks);
  }
  return all;
}

bool is_whole(const std::vector<int> &tour) {
  const std::set<int> cities(tour.begin(), tour.end());
  return cities.size() == tour.size() && *cities.begin() == 0 && *cities.rbegin() + 1 == (int)tour.size() &&
         tour[0] == 0;
}

BatchSearchPlan plan_of(const std::variant<PopulationPlan, AnnealingPlan> &search, long long trees = 0) {
  return {false, 7, 1, {}, trees, search};
}

PopulationPlan population() {
  PopulationPlan plan;
  plan.members = 20;
  plan.agreeing = 2;
  plan.most = 8;
  return plan;
}

}  // namespace

TEST(populations_settle_on_tours_no_longer_than_proved_ones) {
  const Points2d points(12, 5);
  const auto settled = searched(points.given(), 12, 5, plan_of(population()));
  const auto proved = searched(points.given(), 12, 5, plan_of(population(), 2000));
  for (int i = 0; i < 5; i++) {
    CHECK(settled[i].end == BatchEnd::settled);
    CHECK(proved[i].end == BatchEnd::proved && proved[i].kicks == 0);
    CHECK(is_whole(settled[i].tour) && is_whole(proved[i].tour));
    CHECK(std::abs(points.length(i, settled[i].tour) - points.length(i, proved[i].tour)) < 1e-9);
  }
}

TEST(an_annealing_makes_its_kicks) {
  const Points2d points(40, 3);
  AnnealingPlan annealing;
  annealing.kicks = 333;
  annealing.step = 100;
  annealing.start = 0.3;
  for (const Found &found : searched(points.given(), 40, 3, plan_of(annealing))) {
    CHECK(found.end == BatchEnd::all_kicks);
    CHECK(found.kicks == 333);
    CHECK(is_whole(found.tour));
  }
}

TEST(each_matrix_of_many_is_its_own) {
  const int n = 10, count = 3;
  std::vector<int> matrices(n * n * count, 100);
  // Instance k has one tour of short edges: along the cities times its own step.
  const int steps[] = {1, 3, 7};
  for (int k = 0; k < count; k++)
    for (int i = 0; i < n; i++) {
      const int a = i * steps[k] % n, b = (i + 1) * steps[k] % n;
      matrices[(k * n + a) * n + b] = matrices[(k * n + b) * n + a] = 1;
    }
  const Given given{MetricKind::matrix, {nullptr, 0}, matrices.data(), nullptr};
  const auto all = searched(given, n, count, plan_of(population()));
  for (int k = 0; k < count; k++)
    CHECK(is_whole(all[k].tour) && (all[k].tour[1] == steps[k] || all[k].tour[1] == n - steps[k]));
}

TEST(cities_at_one_point_are_for_others) {
  const Points2d points(9, 1, 0.0);
  CHECK(searched(points.given(), 9, 1, plan_of(population()))[0].end == BatchEnd::unsettled);
}

TEST(a_stopped_search_says_so) {
  const Points2d points(9, 1);
  StopToken token;
  token.request();
  const BatchEnd end = searched(points.given(), 9, 1, plan_of(population(), 2000), token)[0].end;
  CHECK(end == BatchEnd::none || end == BatchEnd::stopped);
}
