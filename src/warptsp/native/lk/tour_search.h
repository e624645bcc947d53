// The main solver on the CPU: one tour, improved as a whole or part by part on several threads. Host code only.
#pragma once
#include <atomic>
#include <memory>
#include <vector>

#include "common/given_distances.h"
#include "common/parallel.h"
#include "lk/partition.h"
#include "lk/population.h"
#include "lk/subproblem.h"
#include "small/one_tree_search.h"

namespace warptsp::lk {

struct RoundPlan {
  int parts;
  bool boxes;       // boxes in space, else consecutive pieces of the tour
  bool optimize;    // local search from every city before the kicks; pieces then begin with the first city
  long long kicks;  // of all parts together
  double temperature, last_temperature;  // at a part's first kick, and at its last
  unsigned long long seed, round;
  int threads;
  bool repeatable;  // the best tour is sought at the end only, which does not depend on time
};

class TourSearch : public TourPopulation {
 public:
  // Local search of the whole tour for some seconds; goes on where it was left. True when it is complete or the token
  // said stop.
  virtual bool optimize(double seconds, const StopToken &token) = 0;
  // Kicks on the whole tour.
  virtual void kicks(const KickSchedule &schedule, const StopToken &token) = 0;
  // Up to small::OneTreeSearch::most cities: makes the best tour optimal. True if it is proved to be; false after so many
  // 1-trees, or if the token said stop. `exact` [n, n]: the distances, where the search has them rounded otherwise.
  virtual bool prove(long long trees, const StopToken &token, const double *exact = nullptr) = 0;
  // Cuts the tour into parts.
  virtual void begin_round(const RoundPlan &plan) = 0;
  // Improves the parts for some seconds; goes on where it was left. True when the round is complete or the token said
  // stop. Between two calls the tour is the one that the parts make as they are.
  virtual bool proceed(double seconds, const StopToken &token) = 0;
  // Ends the round as it stands.
  virtual void end_round() = 0;

  // Adds these to the population, with `long_links` after a search among these (lk/long_links.h), and leaves the shortest.
  virtual void add(const int *tours, int count, int threads, bool long_links, const StopToken &token) = 0;
  virtual void keep_members(int count) = 0;
  // The members' tours, one after the other.
  virtual std::vector<int> member_tours() const = 0;
  // The best member takes over what the others have better; how much shorter it is (native/lk/population.h).
  virtual double gather(unsigned long long seed, unsigned long long round, int threads, const StopToken &token) = 0;

  // Goes on from another tour through the same cities.
  virtual void go_on_from(std::vector<int> tour) = 0;

  double length() const { return length_; }
  double best_length() const { return best_length_; }
  virtual const std::vector<int> &best() = 0;
  virtual bool has_points() const = 0;  // or else a matrix
  const LkCounters &counters() const { return counters_; }

 protected:
  double length_ = 0, best_length_ = 0;
  LkCounters counters_;
};

// The search of an instance, for its metric or matrix.
typedef std::unique_ptr<TourSearch> MakeTourSearch(const GivenDistances &given, bool small_integers, bool dummy,
                                                   Instance &&instance, std::vector<int> &&start, double tolerance);

template <class Source>
class TourSearchOf final : public TourSearch {
 public:
  typedef typename Source::Metric::Value Value;

  TourSearchOf(const Source &source, Instance instance, std::vector<int> tour, Value tolerance)
      : source_(source), instance_(std::move(instance)), tour_(std::move(tour)), tolerance_(tolerance) {
    length_ = length_of(tour_);
    best_ = tour_;
    best_length_ = length_;
  }

  bool optimize(double seconds, const StopToken &token) override {
    open_whole();
    const StopToken slice(token, seconds);
    const double before = length_;
    while (!whole_->searched() && !slice.stopped()) length_ -= whole_->optimize_some();
    typename Source::Buffer buffer;
    length_ = length_left(before, length_, source_.bind(nullptr, instance_.size, buffer), whole_->order);
    close_whole();
    return whole_->searched() || token.stopped();
  }

  void kicks(const KickSchedule &schedule, const StopToken &token) override {
    open_whole();
    length_ -= whole_->kicks(schedule, token);
    close_whole();
  }

  bool prove(long long trees, const StopToken &token, const double *exact) override {
    const int n = instance_.size;
    typename Source::Buffer buffer;
    const typename Source::Metric metric = source_.bind(nullptr, n, buffer);
    std::vector<double> distances((size_t)n * n);
    for (int i = 0; i < n; i++)
      for (int j = 0; j < i; j++)
        distances[(size_t)i * n + j] = distances[(size_t)j * n + i] =
            exact != nullptr ? exact[(size_t)i * n + j] : (double)metric(i, j);
    std::vector<int> tour = best();
    const int *const fixed = instance_.fixed.empty() ? nullptr : instance_.fixed.data();
    const bool proved = small::make_optimal(distances, n, fixed, tour, trees, token);
    if (tour != best()) {
      go_on_from(std::move(tour));
      best_ = tour_;  // also where a running figure is below its length
      best_length_ = length_;
    }
    return proved;
  }

  void begin_round(const RoundPlan &plan) override {
    end_round();
    whole_.reset();
    plan_ = plan;
    plan_.parts = cut();
    gains_.assign(plan_.parts, 0.0);
    counts_.assign(plan_.parts, LkCounters());
    workers_.resize(plan.threads);
    begun_length_ = length_;
    begun_counters_ = counters_;
    next_part_ = 0;
    done_ = 0;
    in_round_ = true;
  }

  bool proceed(double seconds, const StopToken &token) override {
    if (!in_round_) return true;
    const StopToken slice(token, seconds);
    for_each_task(plan_.threads, plan_.threads, [&](int t) { work(workers_[t], slice, token); });
    // Always added up in the same order: floating-point sums do not depend on who did what when.
    length_ = begun_length_;
    counters_ = begun_counters_;
    for (int b = 0; b < plan_.parts; b++) {
      length_ -= gains_[b];
      counters_ += counts_[b];
    }
    const bool complete = done_ == plan_.parts || token.stopped();
    const bool hot = plan_.temperature > 0;
    if (!hot || !plan_.repeatable) find_best();
    // Where nothing gets longer, the best tour need not be written out before somebody wants it.
    if (hot) link_best();
    if (complete) end_round();
    return complete;
  }

  void end_round() override {
    if (!in_round_) return;
    find_best();
    link_best();
    if (length_ > best_length_)
      cut_.link(tour_);
    else
      tour_ = best_;
    for (Worker &w : workers_) w.part = -1;
    in_round_ = false;
  }

  const std::vector<int> &best() override {
    link_best();
    return best_;
  }

  void return_to_best() override {
    end_round();
    whole_.reset();
    tour_ = best_;
    length_ = best_length_;
  }
  void go_on_from(std::vector<int> tour) override {
    end_round();
    whole_.reset();
    tour_ = std::move(tour);
    length_ = length_of(tour_);
    keep_best(tour_);
  }

  void grow(const Growth &growth, const StopToken &token) override {
    end_round();
    counters_ += population_.grow(growth, token);
    keep_best_member();
  }
  void generation(int selection, bool blocks, unsigned long long seed, unsigned long long round, int threads,
                  const StopToken &token) override {
    population_.generation(selection, blocks, seed, round, threads, token);
    keep_best_member();
  }
  void keep() override { population_.add(best(), best_length_); }
  void add(const int *tours, int count, int threads, bool long_links, const StopToken &token) override {
    population_.add(tours, count, threads, long_links, token);
    keep_best_member();
  }
  void keep_members(int count) override { population_.keep(count); }
  std::vector<int> member_tours() const override {
    std::vector<int> tours;
    tours.reserve(population_.members().size() * instance_.size);
    for (const Member &member : population_.members())
      tours.insert(tours.end(), member.tour.order.begin(), member.tour.order.end());
    return tours;
  }
  double gather(unsigned long long seed, unsigned long long round, int threads, const StopToken &token) override {
    const double gain = population_.gather(seed, round, threads, token);
    keep_best_member();
    return gain;
  }
  void forget() override { population_.clear(); }
  bool is_brief() const override { return instance_.size <= 1000; }
  bool has_points() const override { return instance_.points.rows != nullptr; }

 protected:
  std::vector<double> lengths() const override {
    std::vector<double> all;
    for (const Member &member : population_.members()) all.push_back(member.length);
    return all;
  }

 private:
  // Cuts the tour into the parts of the plan, and returns how many these are.
  int cut() {
    const int n = instance_.size;
    Random random(plan_.seed, plan_.round, ~0ull);
    const int rotation = plan_.optimize ? 0 : random.below(n);
    int parts = plan_.parts;
    cut_.part.resize(n);
    if (plan_.boxes) {
      const BoxCutter cutter(instance_.points, n, plan_.parts, random);
      parts = cutter.parts();
      for_each_task(plan_.threads, plan_.threads, [&](int t) {
        const int end = (int)((long long)n * (t + 1) / plan_.threads);
        for (int c = (int)((long long)n * t / plan_.threads); c < end; c++) cut_.part[c] = cutter(c);
      });
    } else {
      cut_segments(tour_, parts, rotation, cut_.part);
    }
    cut_.cut(tour_, parts, rotation);
    return parts;
  }

  // A part, and the search in it.
  struct Worker {
    SubProblem<Source, true> problem;
    std::vector<int> candidates, fixed;
    int part = -1;
    long long kicks = 0;  // done in this part
  };

  // Improves parts, one after another, until the slice ends.
  void work(Worker &w, const StopToken &slice, const StopToken &token) {
    if (token.stopped()) return;
    do {
      if (w.part < 0) {
        if (next_part_ >= plan_.parts) return;
        const int b = next_part_++;
        if (b >= plan_.parts) return;
        if (cut_.start[b + 1] - cut_.start[b] < 8) {
          done_++;
          continue;
        }
        open_part(w, b);
      }
      const int b = w.part, size = w.problem.size();
      const long long all = kicks_before(b + 1) - kicks_before(b);
      if (plan_.optimize && !w.problem.searched()) {
        do gains_[b] += w.problem.optimize_some();
        while (!w.problem.searched() && !slice.stopped());
      } else if (w.kicks < all) {
        const long long windows = 3, from = Random(plan_.seed, plan_.round, b).below(size);
        const long long count = std::min(all - w.kicks, windows * w.problem.burst());
        const double share = (double)w.kicks / (double)all;
        KickSchedule schedule{count, plan_.temperature + share * (plan_.last_temperature - plan_.temperature),
                              plan_.seed, plan_.round, (unsigned long long)(w.kicks << 32 | b)};
        schedule.from = (int)((from + w.kicks / w.problem.burst() * w.problem.window()) % size);
        gains_[b] += w.problem.kicks(schedule, token);
        w.kicks += count;
      }
      if (w.kicks >= all && (!plan_.optimize || w.problem.searched())) {
        close_part(w);
        done_++;
        w.part = -1;
      }
    } while (!slice.stopped());
    if (w.part >= 0) close_part(w);
  }

  void open_part(Worker &w, int b) {
    const int begin = cut_.start[b], size = cut_.start[b + 1] - begin;
    const int *members = cut_.members.data() + begin;
    restrict_to_part(b, w.candidates, w.fixed);
    w.problem.order.assign(cut_.order.begin() + begin, cut_.order.begin() + begin + size);
    w.problem.path.assign(cut_.path.begin() + begin, cut_.path.begin() + begin + size);
    w.problem.prepare(source_, members, size, w.candidates.data(), instance_.params,
                      instance_.fixed.empty() ? nullptr : w.fixed.data(), tolerance_);
    w.part = b;
    w.kicks = 0;
  }

  // What part b knows of the instance, in its own numbers: candidates [size, K], fixed edges [size, 2] or none.
  void restrict_to_part(int b, std::vector<int> &candidates, std::vector<int> &fixed) const {
    const int begin = cut_.start[b], size = cut_.start[b + 1] - begin, count = instance_.params.candidates;
    const int *members = cut_.members.data() + begin;
    candidates.assign((size_t)size * count, -1);
    for (int i = 0; i < size; i++) {
      const int *all = instance_.candidates.data() + (size_t)members[i] * count;
      int *own = candidates.data() + (size_t)i * count;
      for (int k = 0; k < count && all[k] >= 0; k++)
        if (cut_.part[all[k]] == b) *own++ = cut_.local[all[k]];
    }
    fixed.clear();
    if (instance_.fixed.empty()) return;
    fixed.assign(2 * (size_t)size, -1);
    for (int i = 0; i < size; i++)
      for (int s = 0; s < 2; s++) {
        const int other = instance_.fixed[2 * (size_t)members[i] + s];
        if (other >= 0 && cut_.part[other] == b) fixed[2 * i + s] = cut_.local[other];
      }
  }

  // Writes back what the part is now.
  void close_part(Worker &w) {
    const int begin = cut_.start[w.part];
    counts_[w.part] = w.problem.counters();
    std::copy(w.problem.order.begin(), w.problem.order.end(), cut_.order.begin() + begin);
    std::copy(w.problem.path.begin(), w.problem.path.end(), cut_.path.begin() + begin);
  }

  // Kicks in the parts before b: in proportion to their cities.
  long long kicks_before(int b) const { return (long long)((double)plan_.kicks * cut_.start[b] / instance_.size); }

  void find_best() {
    if (length_ >= best_length_) return;
    best_length_ = length_;
    linked_ = false;
  }

  void link_best() {
    if (linked_) return;
    cut_.link(best_);
    linked_ = true;
  }

  Source source_;
  Instance instance_;
  std::vector<int> tour_, best_;
  Value tolerance_;
  std::unique_ptr<SubProblem<Source, false>> whole_;
  Partition cut_;
  std::vector<Worker> workers_;
  Population<Source> population_{source_, instance_, tolerance_};

  // The round.
  RoundPlan plan_{};
  bool in_round_ = false;
  bool linked_ = true;  // whether best_ holds the best tour, or is to be linked from the parts first
  double begun_length_ = 0;
  LkCounters begun_counters_;
  std::vector<double> gains_;       // by part
  std::vector<LkCounters> counts_;  // by part
  std::atomic<int> next_part_{0}, done_{0};

  double length_of(const std::vector<int> &tour) const {
    typename Source::Buffer buffer;
    return tour_length(source_.bind(nullptr, instance_.size, buffer), tour);
  }
  void open_whole() {
    end_round();
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
    for (const Member &member : population_.members()) keep_best(member.tour.order, member.length);
  }
};

}  // namespace warptsp::lk
