// Populations and their crossover: every member stays a tour of the length it claims, with its fixed edges.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <vector>

#include "tours.h"
#include "lk/population.h"

using namespace warptsp;
using namespace warptsp::lk;
using namespace warptsp::tours;

namespace {

struct Cloud {
  std::vector<double> xy;
  Instance instance;

  // Cities on a lattice or anywhere; `fixed` of the edges of the tour 0, 1, 2, ... must stay.
  Cloud(int n, int kind, int candidates, double fixed, check::Random &random) : xy(2 * (size_t)n) {
    for (double &x : xy)
      x = kind == 0 ? random.below(1000) : kind == 1 ? 10 * random.below(8) : 1000 * random.uniform();
    instance.size = n;
    instance.points = Points{xy.data(), 2};
    instance.params.candidates = candidates;
    instance.candidates = nearest_of(EuclideanExact{xy.data()}, n, candidates);
    if (fixed > 0) instance.fixed.assign(2 * (size_t)n, -1);
    for (int c = 0; fixed > 0 && c + 1 < n; c++)
      if (random.uniform() < fixed) {
        instance.fixed[2 * c + (instance.fixed[2 * c] >= 0)] = c + 1;
        instance.fixed[2 * (c + 1)] = c;
      }
  }
};

bool is_linked_tour(const LinkedTour &tour, const Instance &instance) {
  if (!is_tour(tour.order, instance.size, pairs_of(instance.fixed))) return false;
  const LinkedTour same(tour.order);
  const auto are_same = [](const TourLinks &x, const TourLinks &y) {
    return (x.to[0] == y.to[0] && x.to[1] == y.to[1]) || (x.to[0] == y.to[1] && x.to[1] == y.to[0]);
  };
  return tour.position == same.position &&
         std::equal(tour.links.begin(), tour.links.end(), same.links.begin(), same.links.end(), are_same);
}

// All steps of a crossing, as Population takes them; A becomes its child.
template <class Metric>
double cross(EdgeAssembly<Metric> &crossing, LinkedTour &a, const LinkedTour &b, int selection, bool blocks,
             const EdgeCounts &counts, int population, SetsOfCycles &failed, Random &random) {
  Crossing pair;
  crossing.begin(pair, a, b, selection, blocks, counts, population, failed, random);
  while (pair.tried < pair.trying) {
    crossing.try_sets(pair, pair.tried, pair.trying, counts, population);
    crossing.end_tries(pair, failed);
  }
  const double gain = crossing.finish(pair);
  if (gain > 0) TourChanger().follow(a, crossing.changes());
  return gain;
}

template <class Metric>
void members_are_tours(const Population<PointSource<Metric>> &population, const Cloud &cloud) {
  for (const Member &member : population.members()) {
    CHECK(is_linked_tour(member.tour, cloud.instance));
    const double length = tour_length(Metric{cloud.xy.data()}, member.tour.order);
    CHECK(std::fabs(length - member.length) <= 1e-9 * length);
  }
}

template <class Population>
double sum_of_lengths(const Population &population) {
  double sum = 0;
  for (const Member &member : population.members()) sum += member.length;
  return sum;
}

template <class Metric>
void generations_keep_tours(int kind, double tolerance) {
  check::Random random(5 + kind);
  const StopToken token;
  for (int round = 0; round < 60; round++) {
    const int n = 8 + random.below(round < 40 ? 30 : 300);
    const double fixed = round % 3 == 1 ? 0.3 : round % 3 == 2 ? 0.95 : 0;
    const Cloud cloud(n, kind, 1 + random.below(10), fixed, random);
    const PointSource<Metric> source{cloud.instance.points, kind == 2 ? MetricKind::exact_2d : MetricKind::euc_2d};
    typedef typename Metric::Value Value;
    Population<PointSource<Metric>> one(source, cloud.instance, (Value)tolerance);
    Population<PointSource<Metric>> two(source, cloud.instance, (Value)tolerance);
    const int size = 2 + random.below(7);
    const unsigned long long seed = random.below(1000);
    const int steps = round % 2 == 1 ? 3 : 0;
    one.grow({size, 0.2, 0.2, seed, 1, 1, steps}, token);
    two.grow({size, 0.2, 0.2, seed, 1, 2, steps}, token);
    members_are_tours(one, cloud);
    const std::vector<int> start = in_order(n);
    for (auto *population : {&one, &two}) population->add(start, tour_length(Metric{cloud.xy.data()}, start));
    for (int generation = 0; generation < 6; generation++) {
      std::vector<double> before;
      for (const Member &member : one.members()) before.push_back(member.length);
      const int selection = 1 + random.below(12);
      one.generation(selection, generation % 2 == 1, seed, 10 + generation, 1, token);
      two.generation(selection, generation % 2 == 1, seed, 10 + generation, 2, token);
      members_are_tours(one, cloud);
      for (size_t m = 0; m < before.size(); m++) {
        CHECK(one.members()[m].length <= before[m]);
        CHECK(one.members()[m].tour.order == two.members()[m].tour.order);
      }
    }
    const double gain = two.gather(seed, 1, 2, token);
    CHECK(gain >= 0 && std::fabs(sum_of_lengths(one) - sum_of_lengths(two) - gain) <= 1e-9 * sum_of_lengths(one));
    members_are_tours(two, cloud);
  }
}

}  // namespace

TEST(generations_of_rounded_lengths) { generations_keep_tours<EuclideanRounded>(0, 0); }
TEST(generations_on_a_lattice) { generations_keep_tours<EuclideanRounded>(1, 0); }
TEST(generations_of_exact_lengths) { generations_keep_tours<EuclideanExact>(2, 1e-7); }

// On three threads each step of a pair comes once, when what it needs is there, and all pairs are finished.
TEST(steps_of_pairs_wait_for_what_they_need) {
  typedef GenerationTasks::Step Step;
  for (int round = 0; round < 300; round++) {
    const int count = 2 + round % 9;
    std::vector<Crossing> pairs(count);
    std::vector<std::atomic<int>> begun(count), tried(count), ends(count), finished(count);
    std::atomic<int> wrong{0};
    GenerationTasks tasks(pairs);
    for_each_task(3, 3, [&](int) {
      for (GenerationTasks::Task task{}; tasks.take(task);) {
        const int k = task.pair;
        Crossing &pair = pairs[k];
        if (task.step == Step::begin) {
          pair.trying = (size_t)(round * (k + 3) % 7) * 60;  // of none, one or several tasks
          wrong += begun[k]++ > 0;
        } else if (task.step == Step::try_sets) {
          wrong += begun[k] == 0 || task.first < pair.tried || task.end > pair.trying || task.first >= task.end;
          tried[k] += (int)(task.end - task.first);
        } else {
          const int before = k > 0 ? k - 1 : count - 1;
          wrong += finished[k]++ > 0 || begun[before] == 0 || (size_t)tried[k] != pair.tried || ends[k] == 1;
        }
        tasks.done(task, [&](int done) {
          Crossing &own = pairs[done];
          wrong += done != k || (size_t)tried[done] != own.trying;
          own.tried = own.trying;
          if (ends[done]++ == 0) own.trying += 150;  // once more
        });
      }
    });
    CHECK(wrong == 0);
    for (int k = 0; k < count; k++) CHECK(finished[k] == 1 && (size_t)tried[k] == pairs[k].trying);
  }
}

// What the crossover says of the edges that changed is what a new count finds.
TEST(counts_follow_changes) {
  check::Random numbers(9);
  Random random(1, 2, 3);
  for (int round = 0; round < 40; round++) {
    const int n = 10 + numbers.below(100), size = 5;
    const Cloud cloud(n, round % 2, 8, 0, numbers);
    const int *candidates = cloud.instance.candidates.data();
    std::vector<int> lengths;
    candidate_lengths(EuclideanRounded{cloud.xy.data()}, n, candidates, 8, lengths);
    EdgeAssembly<EuclideanRounded> crossing({cloud.xy.data()}, n, candidates, lengths.data(), 8, nullptr, 0);
    std::vector<LinkedTour> tours(size);
    EdgeCounts counts(n);
    for (auto &tour : tours) {
      tour = LinkedTour(random_fragments(n, cloud.instance.candidates.data(), 8, nullptr, {}, random));
      CHECK(is_tour(tour.order, n));
      counts.add(tour);
    }
    for (int k = 0; k < 30; k++) {
      LinkedTour &a = tours[numbers.below(size)];
      const LinkedTour &b = tours[numbers.below(size)];
      if (&a == &b) continue;
      const double before = tour_length(EuclideanRounded{cloud.xy.data()}, a.order);
      SetsOfCycles failed;
      const double gain = cross(crossing, a, b, 1 + numbers.below(12), k % 2 == 1, counts, size, failed, random);
      CHECK(is_linked_tour(a, cloud.instance));
      CHECK(tour_length(EuclideanRounded{cloud.xy.data()}, a.order) == before - gain);
      if (gain > 0) counts.add(crossing.changes());
    }
    EdgeCounts again(n);
    for (const auto &tour : tours) again.add(tour);
    for (int c = 0; c < n; c++)
      for (int d = 0; d < c; d++) CHECK(counts(c, d) == again(c, d));
  }
}

// Sets that failed are remembered, and only those.
TEST(what_has_failed_is_left_out) {
  check::Random numbers(19);
  Random random(1, 2, 4);
  const int n = 3000;
  const Cloud cloud(n, false, 8, 0, numbers);
  const int *candidates = cloud.instance.candidates.data();
  std::vector<int> lengths;
  candidate_lengths(EuclideanRounded{cloud.xy.data()}, n, candidates, 8, lengths);
  EdgeAssembly<EuclideanRounded> crossing({cloud.xy.data()}, n, candidates, lengths.data(), 8, nullptr, 0);
  const LinkedTour a(random_fragments(n, candidates, 8, nullptr, {}, random));
  const LinkedTour b(random_fragments(n, candidates, 8, nullptr, {}, random));
  EdgeCounts counts(n);
  counts.add(a);
  counts.add(b);
  const auto cross_again = [&](SetsOfCycles &failed) {
    Random own(1, 2, 5);
    LinkedTour child = a;
    return cross(crossing, child, b, 2, false, counts, 2, failed, own);
  };
  // The same cycles again: those that failed would fail again, and no other does.
  SetsOfCycles failed;
  const double gain = cross_again(failed);
  const int failures = failed.count();
  CHECK(gain > 0);
  CHECK(failures > 0);
  CHECK(cross_again(failed) == gain);
  CHECK(failed.count() == failures);
  // The changes of a set are known in whatever order they are.
  std::vector<EdgeChange> changes = crossing.changes();
  const SetsOfCycles::Key key = SetsOfCycles::key(changes);
  std::reverse(changes.begin(), changes.end());
  CHECK(SetsOfCycles::key(changes) == key);
  changes.pop_back();
  CHECK(SetsOfCycles::key(changes) != key);
}

// Cities at one place, and a tour crossed with itself: nothing to gain, nothing to fear.
TEST(nothing_to_gain) {
  const int n = 20;
  const std::vector<double> xy(2 * n, 7.0);
  std::vector<int> candidates((size_t)n * 4), one = in_order(n), two(n);
  for (int c = 0; c < n; c++)
    for (int k = 0; k < 4; k++) candidates[(size_t)c * 4 + k] = (c + k + 1) % n;
  for (int i = 0; i < n; i++) two[i] = 7 * i % n;
  LinkedTour a(one);
  const LinkedTour b(two), same(one);
  std::vector<int> lengths;
  candidate_lengths(EuclideanRounded{xy.data()}, n, candidates.data(), 4, lengths);
  EdgeAssembly<EuclideanRounded> crossing({xy.data()}, n, candidates.data(), lengths.data(), 4, nullptr, 0);
  EdgeCounts counts(n);
  counts.add(a);
  counts.add(b);
  Random random(1, 1, 1);
  SetsOfCycles failed;
  for (const bool blocks : {false, true}) {
    CHECK(cross(crossing, a, b, 1, blocks, counts, 2, failed, random) == 0);
    CHECK(cross(crossing, a, same, 1, blocks, counts, 2, failed, random) == 0);
  }
  CHECK(a.order == same.order);
}
