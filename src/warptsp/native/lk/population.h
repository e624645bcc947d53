// A population of tours: local optima that have little in common, and generations of crossover. Host code only.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <vector>

#include "lk/edge_assembly.h"
#include "lk/generation_tasks.h"
#include "lk/long_links.h"
#include "common/parallel.h"
#include "tours/random_fragments.h"
#include "lk/subproblem.h"
#include "lk/tour_population.h"

namespace warptsp::lk {

// The moves of quick members: few steps, the first of 5 alternatives. Such a member of 1000 uniform cities takes an eighth
// of the time of another one, and crossover makes up for the rest (EXP-300).
inline LkParams quick(LkParams params, int steps) {
  params.depth = std::min(params.depth, steps);
  for (int level = 0; level < lk_wide_levels; level++) params.breadth[level] = level == 0 ? 5 : 1;
  params.alternate[0] = params.alternate[1] = 0;
  return params;
}

struct Member {
  LinkedTour tour;
  double length = 0;
  SetsOfCycles failed;  // that left no shorter child of this member
};

template <class Source>
class Population {
 public:
  typedef typename Source::Metric Metric;
  typedef typename Metric::Value Value;

  // The instance, its source and its tolerance are those of a TourSearch, which owns this.
  Population(const Source &source, const Instance &instance, Value tolerance)
      : source_(source), instance_(instance), tolerance_(tolerance),
        fixed_(instance.fixed.empty() ? nullptr : instance.fixed.data()) {}

  const std::vector<Member> &members() const { return members_; }
  void clear() {
    members_.clear();
    pairs_.clear();
    counts_.reset();
  }
  void add(const std::vector<int> &tour, double length) {
    members_.push_back({LinkedTour(tour), length, {}});
    counts_.reset();
  }

  // The shortest ones, in the order that they are in.
  void keep(int count) {
    count = std::max(0, count);
    if (count >= (int)members_.size()) return;
    std::vector<int> shortest(members_.size());
    std::iota(shortest.begin(), shortest.end(), 0);
    std::stable_sort(shortest.begin(), shortest.end(),
                     [&](int a, int b) { return members_[a].length < members_[b].length; });
    shortest.resize(count);
    std::sort(shortest.begin(), shortest.end());
    std::vector<Member> kept;
    kept.reserve(shortest.size());
    for (int m : shortest) kept.push_back(std::move(members_[m]));
    members_ = std::move(kept);
    counts_.reset();
  }

  // `tours` [count, size]; with `long_links` they are searched among these first, or some of them if the token stops it.
  void add(const int *tours, int count, int threads, bool long_links, const StopToken &token) {
    std::vector<Member> added(count);
    for_each_task(threads, count, [&](int m) {
      const int *const first = tours + (size_t)m * instance_.size;
      std::vector<int> tour(first, first + instance_.size);
      if (long_links) improve_long_links(source_, instance_.params, tolerance_, LongLinks(), tour, token);
      typename Source::Buffer buffer;
      added[m].length = tour_length(source_.bind(nullptr, instance_.size, buffer), tour);
      added[m].tour = LinkedTour(std::move(tour));
    });
    for (Member &member : added) members_.push_back(std::move(member));
    counts_.reset();
  }

  // Fewer, if the token stops it.
  LkCounters grow(const Growth &growth, const StopToken &token) {
    std::vector<Member> grown(growth.count);
    std::vector<LkCounters> counters(growth.count);
    const unsigned long long old = members_.size();
    for_each_task(growth.threads, growth.count, [&](int m) {
      Random random(growth.seed, growth.round, old + (unsigned long long)m);
      if (!token.stopped()) grown[m] = make(growth, random, token, counters[m]);
    });
    LkCounters sum;
    for (int m = 0; m < growth.count; m++) {
      sum += counters[m];
      if (!grown[m].tour.order.empty()) members_.push_back(std::move(grown[m]));
    }
    counts_.reset();
    return sum;
  }

  // Each member in turn, in random order, may be replaced by its child with the next one. The result does not depend
  // on the number of threads. `blocks`: cycles are tried with those around them, too.
  void generation(int selection, bool blocks, unsigned long long seed, unsigned long long round, int threads,
                  const StopToken &token) {
    const int count = (int)members_.size();
    if (count < 2) return;
    const Metric metric = prepare(threads);
    const std::vector<int> order = order_of_pairs(count, seed, round);
    // All at once, each with the next one as it was before.
    constexpr int forgets = 16;  // generations, on the average, after which what has failed is tried again
    pairs_.resize(count);
    std::vector<std::vector<EdgeChange>> changes(count);
    GenerationTasks tasks(pairs_);
    typedef GenerationTasks::Step Step;
    const auto work = [&](const GenerationTasks::Task &task, EdgeAssembly<Metric> &crossing) {
      const int k = task.pair;
      Crossing &pair = pairs_[k];
      Member &member = members_[order[k]];
      if (task.step == Step::begin) {
        Random own(seed, round, (unsigned long long)k);
        if (own.below(forgets) == 0) member.failed.clear();
        crossing.begin(pair, member.tour, members_[order[k + 1 < count ? k + 1 : 0]].tour, selection, blocks, *counts_,
                       count, member.failed, own);
      } else if (task.step == Step::try_sets) {
        crossing.try_sets(pair, task.first, task.end, *counts_, count);
      } else if (const double gain = crossing.finish(pair); gain > 0) {
        member.length -= gain;
        changes[k] = crossing.changes();
        TourChanger().follow(member.tour, changes[k]);
      }
    };
    for_each_task(threads, threads, [&](int t) {
      try {
        EdgeAssembly<Metric> &crossing = crossing_of(t, metric);
        for (GenerationTasks::Task task{}; tasks.take(task);) {
          if (token.stopped()) return tasks.stop();
          work(task, crossing);
          tasks.done(task, [&](int k) { EdgeAssembly<Metric>::end_tries(pairs_[k], members_[order[k]].failed); });
        }
      } catch (...) {
        tasks.stop();
        throw;
      }
    });
    for_each_task(threads, threads, [&](int t) {
      for (const std::vector<EdgeChange> &changed : changes) counts_->add(changed, counts_->part(t, threads));
    });
  }

  // The best member takes over whatever makes it shorter from each of the others. Returns how much shorter it is. Of long
  // tours each member has places right that the best one has wrong, and in a generation that one meets only one of them
  // (EXP-527). Each thread has a copy that meets some of the others; then copies take over what others have gained.
  double gather(unsigned long long seed, unsigned long long round, int threads, const StopToken &token) {
    const int count = (int)members_.size(), groups = std::min(threads, count - 1);
    if (count < 2) return 0;
    const Metric metric = prepare(threads);
    Member &best = *std::min_element(members_.begin(), members_.end(),
                                     [](const Member &x, const Member &y) { return x.length < y.length; });
    const double before = best.length;
    pairs_.resize(count);
    std::vector<Member> copies(groups);
    std::vector<std::vector<EdgeChange>> changes(groups);
    const auto meet = [&](int g, const Member &other, int m) {
      take_over(copies[g], other, Random(seed, round, (unsigned long long)m), g, metric, changes[g], token);
    };
    for_each_task(groups, groups, [&](int g) {
      copies[g] = best;
      for (int m = g; m < count; m += groups)
        if (&members_[m] != &best) meet(g, members_[m], m);
    });
    for (int step = 1; step < groups; step *= 2)
      for_each_task(groups, (groups + step - 1) / (2 * step),
                    [&](int pair) { meet(2 * step * pair, copies[2 * step * pair + step], count + pair); });
    best = std::move(copies[0]);
    counts_->add(changes[0]);
    return before - best.length;
  }

 private:
  Source source_;
  const Instance &instance_;
  Value tolerance_;
  const int *fixed_;
  typename Source::Buffer buffer_;
  std::vector<Member> members_;
  std::unique_ptr<EdgeCounts> counts_;
  Buffer<Value> lengths_;  // of candidates, once there is a generation
  std::vector<Crossing> pairs_;
  std::vector<std::unique_ptr<EdgeAssembly<Metric>>> crossings_;  // of each thread

  // What members are crossed with.
  Metric prepare(int threads) {
    if (!counts_) {
      counts_ = std::make_unique<EdgeCounts>(instance_.size);
      for_each_task(threads, threads, [&](int t) {
        for (const Member &member : members_) counts_->add(member.tour, counts_->part(t, threads));
      });
    }
    const Metric metric = source_.bind(nullptr, instance_.size, buffer_);
    if (lengths_.empty())
      candidate_lengths(metric, instance_.size, instance_.candidates.data(), instance_.params.candidates, lengths_);
    if ((int)crossings_.size() < threads) crossings_.resize(threads);
    return metric;
  }

  EdgeAssembly<Metric> &crossing_of(int thread, const Metric &metric) {
    auto &crossing = crossings_[thread];
    if (!crossing)
      crossing =
          std::make_unique<EdgeAssembly<Metric>>(metric, instance_.size, instance_.candidates.data(), lengths_.data(),
                                                 instance_.params.candidates, fixed_, (double)tolerance_);
    return *crossing;
  }

  // Makes a member as short as its edges and those of another one allow; `changes` gets what changes.
  void take_over(Member &member, const Member &other, Random random, int thread, const Metric &metric,
                 std::vector<EdgeChange> &changes, const StopToken &token) {
    const int count = (int)members_.size();
    Crossing &pair = pairs_[thread];
    EdgeAssembly<Metric> &crossing = crossing_of(thread, metric);
    constexpr size_t sets_at_once = 1000;  // between two looks at the token
    if (token.stopped()) return;
    crossing.begin(pair, member.tour, other.tour, 1, true, *counts_, count, member.failed, random);
    while (pair.tried < pair.trying) {
      for (size_t first = pair.tried; first < pair.trying; first += sets_at_once) {
        if (token.stopped()) return;
        crossing.try_sets(pair, first, std::min(first + sets_at_once, pair.trying), *counts_, count);
      }
      EdgeAssembly<Metric>::end_tries(pair, member.failed);
    }
    const double gain = crossing.finish(pair);
    if (gain <= 0) return;
    member.length -= gain;
    TourChanger().follow(member.tour, crossing.changes());
    changes.insert(changes.end(), crossing.changes().begin(), crossing.changes().end());
  }

  Member make(const Growth &growth, Random &random, const StopToken &token, LkCounters &counters) {
    const int n = instance_.size;
    SubProblem<Source, false> problem;
    problem.order = tours::random_fragments(n, instance_.candidates.data(), instance_.params.candidates, fixed_,
                                            instance_.along, random);
    // Fragments joined better: between clusters this start tour is 31 % too long, not 107 % (EXP-557).
    if (growth.long_links) improve_long_links(source_, instance_.params, tolerance_, LongLinks(), problem.order, token);
    problem.prepare(source_, nullptr, n, instance_.candidates.data(),
                    growth.steps > 0 ? quick(instance_.params, growth.steps) : instance_.params, fixed_, tolerance_);
    typename Source::Buffer buffer;
    const Metric metric = source_.bind(nullptr, n, buffer);
    const double before = tour_length(metric, problem.order);
    double length = before - problem.optimize(token);
    const double mean_edge = std::fabs(length) / n;
    const long long kicks = growth.kicks(n);
    constexpr int slices = 16;
    constexpr double cold = 2.0 / slices;
    for (int s = 0; s < slices && !token.stopped(); s++) {
      const double share = cooled((double)s / slices, cold);
      length -= problem.kicks({kicks * (s + 1) / slices - kicks * s / slices, growth.temperature * mean_edge * share,
                               random.next(), growth.round, 0, n},
                              token);
    }
    counters = problem.counters();
    if (growth.long_links)
      length -= improve_long_links(source_, instance_.params, tolerance_, LongLinks(), problem.order, token);
    length = length_left(before, length, metric, problem.order);
    return {LinkedTour(std::move(problem.order)), length, {}};
  }
};

}  // namespace warptsp::lk
