// The main solver on the CPU: one tour, improved as a whole or part by part on several threads. Host code only.
#pragma once
#include <atomic>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "partition.h"
#include "subproblem.h"

namespace warptsp {

// Runs body(i) for i in [0, count) on several threads; the first exception is rethrown.
template <class Body>
void parallel_for(int count, int threads, Body &&body) {
  if (threads > count) threads = count;
  if (threads <= 1) {
    for (int i = 0; i < count; i++) body(i, 0);
    return;
  }
  std::atomic<int> next{0};
  std::exception_ptr failure;
  std::mutex mutex;
  std::vector<std::thread> pool;
  for (int t = 0; t < threads; t++)
    pool.emplace_back([&, t] {
      try {
        for (int i; (i = next++) < count;) body(i, t);
      } catch (...) {
        std::lock_guard<std::mutex> lock(mutex);
        failure = std::current_exception();
        next = count;
      }
    });
  for (auto &thread : pool) thread.join();
  if (failure) std::rethrow_exception(failure);
}

struct Instance {
  int size;
  MetricKind kind;
  Points points;            // rows null for a matrix
  int dimensions;
  std::vector<int> candidates;  // [size, K], -1 padded
  std::vector<int> fixed;       // [size, 2], -1 where there is none; empty without fixed edges
  LkParams params;
};

struct RoundPlan {
  int parts;
  bool boxes;               // boxes in space, else consecutive pieces of the tour
  bool optimize;            // local search from every city before the kicks
  double kicks_per_city, temperature;
  unsigned long long seed, round;
  int threads;
};

class TourSearch {
 public:
  virtual ~TourSearch() = default;
  // Local search of the whole tour.
  virtual void optimize(const StopToken &token) = 0;
  // Kicks on the whole tour.
  virtual void kicks(const KickSchedule &schedule, const StopToken &token) = 0;
  // One round of parts.
  virtual void round(const RoundPlan &plan, const StopToken &token) = 0;

  double length() const { return length_; }
  double best_length() const { return best_length_; }
  const std::vector<int> &best() const { return best_; }
  const LkCounters &counters() const { return counters_; }
  // Goes on from the best tour.
  virtual void return_to_best() = 0;

 protected:
  double length_ = 0, best_length_ = 0;
  std::vector<int> best_;
  LkCounters counters_;
};

inline void add(LkCounters &sum, const LkCounters &c) {
  sum.kicks += c.kicks;
  sum.accepted += c.accepted;
  sum.improved += c.improved;
  sum.restored += c.restored;
  sum.refused += c.refused;
  sum.evaluations += c.evaluations;
  sum.steps += c.steps;
  sum.moves += c.moves;
  sum.cells += c.cells;
}

template <class Source>
class TourSearchOf final : public TourSearch {
 public:
  typedef typename Source::Metric::Value Value;

  TourSearchOf(const Source &source, Instance instance, std::vector<int> tour, Value tolerance)
      : source_(source), instance_(std::move(instance)), tour_(std::move(tour)), tolerance_(tolerance) {
    typename Source::Buffer buffer;
    const auto metric = source_.bind(nullptr, instance_.size, buffer);
    for (int i = 0; i < instance_.size; i++)
      length_ += (double)metric(tour_[i], tour_[i + 1 < instance_.size ? i + 1 : 0]);
    best_ = tour_;
    best_length_ = length_;
  }

  void optimize(const StopToken &token) override {
    open_whole();
    length_ -= whole_->optimize(token);
    close_whole();
  }

  void kicks(const KickSchedule &schedule, const StopToken &token) override {
    open_whole();
    length_ -= whole_->kicks(schedule, token);
    close_whole();
  }

  void round(const RoundPlan &plan, const StopToken &token) override {
    whole_.reset();
    const int n = instance_.size, count = instance_.params.candidates;
    Random random(plan.seed, plan.round, ~0ull);
    const int rotation = random.below(n);
    int parts = plan.parts;
    cut_.part.resize(n);
    if (plan.boxes) {
      const BoxCutter cutter(instance_.points, instance_.dimensions, n, parts, random);
      parts = cutter.parts();
      parallel_for(plan.threads, plan.threads, [&](int t, int) {
        const int end = (int)((long long)n * (t + 1) / plan.threads);
        for (int c = (int)((long long)n * t / plan.threads); c < end; c++) cut_.part[c] = cutter(c);
      });
    } else {
      cut_segments(tour_, parts, rotation, cut_.part);
    }
    cut_.cut(tour_, parts, rotation);
    if ((int)workers_.size() < plan.threads) workers_.resize(plan.threads);
    std::vector<double> gains(parts, 0.0);
    std::vector<LkCounters> counts(parts);
    parallel_for(parts, plan.threads, [&](int b, int t) {
      const int begin = cut_.start[b], size = cut_.start[b + 1] - begin;
      if (size < 8 || token.stopped()) return;
      Worker &w = workers_[t];
      const int *members = cut_.members.data() + begin;
      w.candidates.assign((size_t)size * count, -1);
      for (int i = 0; i < size; i++) {
        const int *all = instance_.candidates.data() + (size_t)members[i] * count;
        int *own = w.candidates.data() + (size_t)i * count;
        for (int k = 0; k < count && all[k] >= 0; k++)
          if (cut_.part[all[k]] == b) *own++ = cut_.local[all[k]];
      }
      if (!instance_.fixed.empty()) {
        w.fixed.resize(2 * (size_t)size);
        for (int i = 0; i < size; i++)
          for (int s = 0; s < 2; s++) {
            const int other = instance_.fixed[2 * (size_t)members[i] + s];
            w.fixed[2 * i + s] = other >= 0 && cut_.part[other] == b ? cut_.local[other] : -1;
          }
      }
      w.problem.order.assign(cut_.order.begin() + begin, cut_.order.begin() + begin + size);
      w.problem.path.assign(cut_.path.begin() + begin, cut_.path.begin() + begin + size);
      w.problem.prepare(source_, members, size, w.candidates.data(), instance_.params,
                        instance_.fixed.empty() ? nullptr : w.fixed.data(), tolerance_);
      double gain = 0;
      if (plan.optimize) gain += w.problem.optimize(token);
      gain += w.problem.kicks({(long long)(plan.kicks_per_city * size + 0.5), plan.temperature, plan.seed, plan.round,
                               (unsigned long long)b},
                              token);
      gains[b] = gain;
      counts[b] = w.problem.counters();
      std::copy(w.problem.order.begin(), w.problem.order.end(), cut_.order.begin() + begin);
      std::copy(w.problem.path.begin(), w.problem.path.end(), cut_.path.begin() + begin);
    });
    cut_.link(tour_);
    for (int b = 0; b < parts; b++) {
      length_ -= gains[b];
      add(counters_, counts[b]);
    }
    keep_best(tour_);
  }

  void return_to_best() override {
    whole_.reset();
    tour_ = best_;
    length_ = best_length_;
  }

 private:
  struct Worker {
    SubProblem<Source, true> problem;
    std::vector<int> candidates, fixed;
  };
  Source source_;
  Instance instance_;
  std::vector<int> tour_;
  Value tolerance_;
  std::unique_ptr<SubProblem<Source, false>> whole_;
  Partition cut_;
  std::vector<Worker> workers_;

  void open_whole() {
    if (whole_) return;
    whole_ = std::make_unique<SubProblem<Source, false>>();
    whole_->order = tour_;
    whole_->prepare(source_, nullptr, instance_.size, instance_.candidates.data(), instance_.params,
                    instance_.fixed.empty() ? nullptr : instance_.fixed.data(), tolerance_);
  }
  void close_whole() {
    add(counters_, whole_->counters());
    whole_->counters() = LkCounters();
    tour_ = whole_->order;
    keep_best(tour_);
  }
  void keep_best(const std::vector<int> &tour) {
    if (length_ >= best_length_) return;
    best_length_ = length_;
    best_ = tour;
  }
};

}  // namespace warptsp
