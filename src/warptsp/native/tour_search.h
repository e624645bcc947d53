// The main solver on the CPU: one tour, improved as a whole or part by part on several threads. Host code only.
#pragma once
#include <memory>
#include <vector>

#include "parallel.h"
#include "partition.h"
#include "population.h"
#include "subproblem.h"

namespace warptsp {

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

  // The population: grow() adds new tours to it, keep() the best one, forget() empties it.
  virtual void grow(const Growth &growth, const StopToken &token) = 0;
  virtual void generation(int selection, unsigned long long seed, unsigned long long round, int threads,
                          const StopToken &token) = 0;
  virtual void keep() = 0;
  virtual void forget() = 0;
  virtual int members() const = 0;
  virtual double mean_length() const = 0;

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

template <class Source>
class TourSearchOf final : public TourSearch {
 public:
  typedef typename Source::Metric::Value Value;

  TourSearchOf(const Source &source, Instance instance, std::vector<int> tour, Value tolerance)
      : source_(source), instance_(std::move(instance)), tour_(std::move(tour)), tolerance_(tolerance) {
    typename Source::Buffer buffer;
    length_ = tour_length(source_.bind(nullptr, instance_.size, buffer), tour_);
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
      counters_ += counts[b];
    }
    keep_best(tour_);
  }

  void return_to_best() override {
    whole_.reset();
    tour_ = best_;
    length_ = best_length_;
  }

  void grow(const Growth &growth, const StopToken &token) override {
    counters_ += population_.grow(growth, token);
    keep_best_member();
  }
  void generation(int selection, unsigned long long seed, unsigned long long round, int threads,
                  const StopToken &token) override {
    population_.generation(selection, seed, round, threads, token);
    keep_best_member();
  }
  void keep() override { population_.add(best_, best_length_); }
  void forget() override { population_.clear(); }
  int members() const override { return (int)population_.members().size(); }
  double mean_length() const override {
    double sum = 0;
    for (const Member &member : population_.members()) sum += member.length;
    return sum / std::max(1, members());
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
  Population<Source> population_{source_, instance_, tolerance_};

  void open_whole() {
    if (whole_) return;
    whole_ = std::make_unique<SubProblem<Source, false>>();
    whole_->order = tour_;
    whole_->prepare(source_, nullptr, instance_.size, instance_.candidates.data(), instance_.params,
                    instance_.fixed.empty() ? nullptr : instance_.fixed.data(), tolerance_);
  }
  void close_whole() {
    counters_ += whole_->counters();
    whole_->counters() = LkCounters();
    tour_ = whole_->order;
    keep_best(tour_);
  }
  void keep_best(const std::vector<int> &tour) { keep_best(tour, length_); }
  void keep_best(const std::vector<int> &tour, double length) {
    if (length >= best_length_) return;
    best_length_ = length;
    best_ = tour;
  }
  void keep_best_member() {
    for (const Member &member : population_.members()) keep_best(member.tour, member.length);
  }
};

}  // namespace warptsp
