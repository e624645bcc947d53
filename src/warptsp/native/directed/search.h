// The search of directed tours: assignment, start, local search, kicks, population, branch and bound. Who calls it plans
// the time.
#pragma once
#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "common/parallel.h"
#include "common/random.h"
#include "common/stop_token.h"
#include "directed/assignment.h"
#include "directed/branch_and_bound.h"
#include "directed/candidates.h"
#include "directed/crossover.h"
#include "directed/exchanges.h"
#include "directed/patching.h"
#include "lk/tour_population.h"

namespace warptsp::directed {

constexpr int longest_segment = 30;  // of a double bridge, in cities
constexpr int least_shared = 500;    // cities of a tour that are work for a thread
// Children of a pair that one thread tries at a time, as late generations have few pairs with any: crossover of streets
// of 3162 cities had 1.26 of two processors at work with whole pairs, and has 1.54.
constexpr int children_at_once = 5;
constexpr int least_rows = 128;  // and rows of the matrix

// Kicks, each followed by local search nearby, and undone if the tour is longer then. Each begins at one of `count` cities
// of a list. Fewer kicks, if the token stops them.
template <class Entry>
void kick_tour(LocalSearch<Entry> &search, long long kicks, const int *cities, int count, Random &random,
               const StopToken &token) {
  Tour &tour = search.tour();
  for (long long k = 0; k < kicks; k++) {
    if (k % 16 == 0 && token.stopped()) return;
    const Cost before = tour.length();
    tour.forget();
    if (!search.kick(tour.place(cities[random.below(count)]), random, longest_segment)) return;
    search.run(token, before);
    search.clear();
    search.counters().kicks++;
    if (tour.length() > before) {
      tour.undo(0);
    } else {
      search.counters().accepted++;
      if (tour.length() < before) search.counters().improved++;
    }
  }
}

// What does not depend on the kind of entries. Where the costs or a tour that a function needs are not there yet, it
// throws std::invalid_argument.
class Search : public lk::TourPopulation {
 public:
  // The assignment problem, for at most so many seconds. False if it was not solved: then potentials are feasible all
  // the same, unless the token stopped it.
  virtual bool assign(double seconds, const StopToken &token) = 0;
  // The arcs that are considered. False if the token stopped it.
  virtual bool prepare(const StopToken &token) = 0;
  virtual std::vector<int> patch() = 0;
  // Goes on from this tour; the best one stays if it is shorter.
  virtual void set_tour(const std::vector<int> &tour) = 0;
  // Local search from every city. True if it is complete or the token said stop.
  virtual bool optimize(double seconds, const StopToken &token) = 0;
  virtual void kicks(long long count, const StopToken &token) = 0;
  // How many arcs can be in a tour that is shorter than the best one.
  virtual long long open_arcs(const StopToken &token) = 0;
  // Branch and bound on so many arcs out of each city, or on all that can be in a shorter tour, 0: only then anything is
  // proved.
  virtual void begin_branching(int arcs, const StopToken &token) = 0;
  // Goes on with it until it is done, its memory is full, or there were so many leaves; for so many nodes and seconds.
  // True if nothing is left to do.
  virtual bool branch(long long nodes, int leaves, double seconds, const StopToken &token) = 0;
  virtual void end_branching() = 0;
  virtual Cost length() const = 0;
  virtual LkCounters counters() const = 0;

  bool proved() const { return has_tour_ && (proved_ || best_length_ + total_ <= bound_); }
  // Whether every tour has a missing arc.
  bool impossible() const { return bound_ >= wall_; }
  Cost bound() const { return proved_ ? best_length() : bound_; }
  Cost best_length() const {
    need_tour();
    return best_length_ + total_;
  }
  const std::vector<int> &best() const {
    need_tour();
    return best_;
  }
  long long nodes() const { return nodes_; }
  int size() const { return size_; }

 protected:
  Search(int size, Cost wall) : size_(size), wall_(wall) {}

  void need_costs() const {
    if (!has_costs_) throw std::invalid_argument("prepare() comes first");
  }
  void need_tour() const {
    if (!has_tour_) throw std::invalid_argument("set_tour() comes first");
  }

  int size_;
  Cost wall_;
  bool has_costs_ = false, has_tour_ = false, proved_ = false;
  Cost total_ = 0, bound_ = 0;  // of all potentials; of every tour
  std::vector<int> best_;
  Cost best_length_ = no_cost;  // reduced
  long long nodes_ = 0;
};

template <class Entry>
class SearchOf final : public Search {
 public:
  SearchOf(const Matrix<Entry> &matrix, unsigned long long seed, int threads)
      : Search(matrix.size(), matrix.wall()), threads_(threads), costs_(matrix), random_(seed, 0, 0),
        search_(costs_, candidates_) {}

  bool assign(double seconds, const StopToken &token) override {
    has_costs_ = has_tour_ = false;
    branching_.reset();
    Assignment<Entry> assignment(costs_.matrix, row_threads());
    const StopToken slice(token, seconds);
    const bool solved = assignment.solve(slice);
    if (!solved) {
      if (token.stopped()) return false;
      assignment.make_feasible();
    }
    const auto is_small = [](Cost c) { return c > -most_potential && c < most_potential; };
    const auto are_small = [&](const std::vector<Cost> &all) { return std::all_of(all.begin(), all.end(), is_small); };
    if (are_small(assignment.leaving()) && are_small(assignment.entering())) {
      costs_.leaving = assignment.leaving();
      costs_.entering = assignment.entering();
      total_ = costs_.total();
      if (solved) heads_ = assignment.heads();
    }
    bound_ = total_;
    return solved && !heads_.empty();
  }

  bool prepare(const StopToken &token) override {
    has_costs_ = false;
    if (!find_candidates(costs_, row_threads(), token, candidates_)) return false;
    Cost sum = 0;
    int count = 0;
    for (int i = 0; i < size(); i++)
      for (int a = std::min(2, candidates_.width - 1); a >= 0; a--)
        if (candidates_.heads(i)[a] >= 0) {
          sum += candidates_.costs(i)[a] / size();
          count++;
          break;
        }
    base_ = std::max<Cost>(1, count > 0 ? sum : 1);
    has_costs_ = true;
    return true;
  }

  std::vector<int> patch() override {
    need_costs();
    // Where there is no assignment, all cities are cycles.
    std::vector<int> heads = heads_;
    if (heads.empty()) {
      heads.resize(size());
      std::iota(heads.begin(), heads.end(), 0);
    }
    return patched(std::move(heads), costs_, candidates_);
  }

  void set_tour(const std::vector<int> &tour) override {
    need_costs();
    has_tour_ = true;
    search_.set(tour);
    remember();
    search_.enqueue_all();
  }

  bool optimize(double seconds, const StopToken &token) override {
    need_tour();
    const StopToken slice(token, seconds);
    const bool complete = search_.run(slice);
    search_.tour().forget();
    remember();
    return complete || token.stopped();
  }

  void kicks(long long count, const StopToken &token) override {
    need_tour();
    const std::vector<int> cities = search_.tour().cities();
    const int threads = std::max(1, std::min(threads_, size() / least_shared));
    if (threads == 1) {
      kick_tour(search_, count, cities.data(), size(), random_, token);
    } else {
      kick_side_by_side(count, cities, threads, token);
    }
    remember();
  }

  // On the threads of the search, at no temperature.
  void grow(const lk::Growth &growth, const StopToken &token) override {
    need_tour();
    std::vector<Member> grown(growth.count);
    std::vector<LkCounters> counters(growth.count);
    const unsigned long long old = members_.size();
    for_each_task(threads_, growth.count, [&](int m) {
      if (token.stopped()) return;
      Random random(growth.seed, growth.round, old + (unsigned long long)m);
      LocalSearch<Entry> search(costs_, candidates_);
      search.set(greedy_tour(costs_, candidates_, base_, noise, random));
      search.enqueue_all();
      search.run(token);
      search.clear();
      const std::vector<int> cities = search.tour().cities();
      kick_tour(search, growth.kicks(size()), cities.data(), size(), random, token);
      grown[m] = Member(search.tour());
      counters[m] = search.counters();
    });
    for (int m = 0; m < growth.count; m++) {
      counters_ += counters[m];
      if (grown[m].next.empty()) continue;
      remember(grown[m]);
      members_.push_back(std::move(grown[m]));
    }
    counts_.reset();
  }

  // Each member in turn, in random order, may be replaced by its child with the next one as it was before.
  void generation(int selection, bool blocks, unsigned long long seed, unsigned long long round, int,
                  const StopToken &token) override {
    const int count = (int)members_.size();
    if (count < 2) return;
    if (!counts_) counts_ = std::make_unique<ArcCounts>(members_);
    need_crossovers(threads_);
    const std::vector<int> order = lk::order_of_pairs(count, seed, round);
    const int shares = (selection + children_at_once - 1) / children_at_once;  // of a pair's children
    std::vector<Child> found((size_t)count * shares);
    for_each_task(threads_, count * shares, [&](int task, int thread) {
      const int k = task / shares, begin = task % shares * children_at_once;
      if (token.stopped()) return;
      const unsigned long long own = Random(seed, round, (unsigned long long)k).next();
      found[task] = crossovers_[thread]->best_child(members_[order[k]], members_[order[k + 1 < count ? k + 1 : 0]],
                                                    begin, std::min(begin + children_at_once, selection), blocks,
                                                    *counts_, count, own, token);
    });
    for (int k = 0; k < count; k++) {
      const Child *best = &found[(size_t)k * shares];
      for (int share = 1; share < shares; share++)
        if (found[(size_t)k * shares + share].value > best->value) best = &found[(size_t)k * shares + share];
      if (best->value <= 0) continue;
      Member &member = members_[order[k]];
      member.change(best->changes, best->gain, costs_);
      counts_->add(best->changes);
      remember(member);
    }
  }

  void keep() override {
    need_tour();
    Tour tour;
    tour.set(best_, costs_);
    members_.emplace_back(tour);
    counts_.reset();
  }
  void forget() override {
    members_.clear();
    counts_.reset();
  }
  long long open_arcs(const StopToken &token) override {
    need_tour();
    std::vector<long long> counts(size(), 0);
    for_each_row(size(), row_threads(), token, [&](int i, int) {
      const Entry *const row = costs_.matrix.row(i);
      const Cost limit = ceiling() + costs_.leaving[i];
      long long count = 0;
      for (int j = 0; j < size(); j++) count += costs_.matrix.cost(row[j]) - costs_.entering[j] < limit && j != i;
      counts[i] = count;
    });
    return std::accumulate(counts.begin(), counts.end(), 0LL);
  }

  void begin_branching(int arcs, const StopToken &token) override {
    need_tour();
    if (heads_.empty() || best_length_ <= 0) return;
    branching_ = std::make_unique<BranchAndBound<Entry>>(costs_, heads_, ceiling());
    if (!branching_->take_arcs(ceiling() - 1, arcs, row_threads(), token)) branching_.reset();
  }
  bool branch(long long nodes, int leaves, double seconds, const StopToken &token) override {
    need_tour();
    if (!branching_) return true;
    const StopToken slice(token, seconds);
    const long long before = branching_->nodes();
    const bool done = branching_->run(nodes, leaves, slice, [&](const std::vector<int> &heads, bool is_tour) {
      search_.set(patched(heads, costs_, candidates_));
      const bool is_new = search_.tour().length() < best_length_;
      // Most are improved to a tour that is known: a few are enough.
      if (is_tour || is_new || branching_->nodes() % 16 == 1) {
        search_.enqueue_all();
        search_.run(slice);
        search_.clear();
      }
      remember();
      return ceiling();
    });
    nodes_ += branching_->nodes() - before;
    bound_ = std::max(bound_, branching_->bound() + total_);
    proved_ = proved_ || (branching_->proved() && best_length_ <= ceiling());
    return done || branching_->full() || branching_->leaves() >= leaves;
  }
  void end_branching() override {
    branching_.reset();
    return_to_best();
  }
  void return_to_best() override {
    if (!best_.empty()) search_.set(best_);
  }

  Cost length() const override {
    need_tour();
    return search_.tour().length() + total_;
  }
  LkCounters counters() const override {
    LkCounters sum = counters_;
    sum += search_.counters();
    for (const auto &crossover : crossovers_) sum += crossover->counters();
    return sum;
  }

 protected:
  std::vector<double> lengths() const override {
    std::vector<double> all;
    for (const Member &member : members_) all.push_back((double)(member.length + total_));
    return all;
  }

 private:
  static constexpr Cost most_potential = (Cost)1 << 57;  // so that sums of a few reduced costs stay in 64 bits
  static constexpr double noise = 1.0;                   // of the greedy tours of a population

  int threads_;
  ReducedCosts<Entry> costs_;
  Candidates candidates_;
  Random random_;
  LocalSearch<Entry> search_;
  std::vector<std::unique_ptr<LocalSearch<Entry>>> copies_;  // for other threads
  std::vector<int> heads_;                                   // of the assignment; empty if it is not known
  Cost base_ = 1;
  std::vector<Member> members_;
  std::unique_ptr<ArcCounts> counts_;
  std::vector<std::unique_ptr<Crossover<Entry>>> crossovers_;
  std::unique_ptr<BranchAndBound<Entry>> branching_;
  LkCounters counters_;

  // The reduced length that a tour worth finding is below.
  Cost ceiling() const { return wall_ == no_cost ? best_length_ : std::min(best_length_, wall_ - total_); }

  int row_threads() const { return std::max(1, std::min(threads_, size() / least_rows)); }
  void need_crossovers(int count) {
    while ((int)crossovers_.size() < count)
      crossovers_.push_back(std::make_unique<Crossover<Entry>>(costs_, candidates_));
  }
  // Each thread has a copy of the tour, and kicks a stretch of it; then the shortest one gets what shortened the
  // others. Parts of it with fixed ends do without copies, but streets of 3162 cities need exchanges between parts.
  void kick_side_by_side(long long count, const std::vector<int> &cities, int threads, const StopToken &token) {
    while ((int)copies_.size() < threads - 1)
      copies_.push_back(std::make_unique<LocalSearch<Entry>>(costs_, candidates_));
    for (int t = 1; t < threads; t++) copies_[t - 1]->set(search_.tour());
    const auto search = [&](int t) -> LocalSearch<Entry> & { return t == 0 ? search_ : *copies_[t - 1]; };
    const auto share = [threads](long long all, int t) { return all * (t + 1) / threads - all * t / threads; };
    const unsigned long long stream = random_.next();
    std::vector<Member> found(threads);
    for_each_task(threads, threads, [&](int t) {
      Random own(stream, 0, (unsigned long long)t);
      const auto begin = (int)((long long)size() * t / threads);
      kick_tour(search(t), share(count, t), &cities[begin], (int)share(size(), t), own, token);
      found[t] = Member(search(t).tour());
    });
    const auto is_shorter = [](const Member &a, const Member &b) { return a.length < b.length; };
    std::iter_swap(found.begin(), std::min_element(found.begin(), found.end(), is_shorter));
    need_crossovers(1);
    for (int t = 1; t < threads; t++) {
      crossovers_[0]->adopt(found[0], found[t], random_);
      counters_ += copies_[t - 1]->counters();
      copies_[t - 1]->counters() = LkCounters();
    }
    search_.set(found[0].tour());
  }

  void remember() {
    remember(search_.tour().length(), [&] { return search_.tour().cities(); });
  }
  void remember(const Member &member) {
    remember(member.length, [&] { return member.tour(); });
  }
  template <class Cities>
  void remember(Cost length, const Cities &cities) {
    if (length >= best_length_) return;
    best_length_ = length;
    best_ = cities();
  }
};

}  // namespace warptsp::directed
