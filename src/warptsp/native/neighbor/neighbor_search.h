// Local search along neighbour lists on CPU threads: passes over all cities, don't-look bits, and chains of iterated
// local search. See neighbor_moves.h and iterated_search.h. Host code only.
#pragma once
#include <cmath>
#include <memory>
#include <vector>

#include "neighbor/iterated_search.h"
#include "common/parallel.h"
#include "common/stop_token.h"

namespace warptsp {

struct HostLook {
  static constexpr int at_once() { return 1; }
  void kicked() const {}
  template <class F>
  void each(int count, F &&f) const {
    for (int k = 0; k < count; ++k) f(k);
  }
  template <class F>
  void once(F &&f) const {
    f();
  }
  template <bool Three, class Lists>
  int look(const Lists &lists, const TourArrays &tour, const ChainQueue &queue, int, NeighborMove &move,
           long long &evaluations) const {
    const int city = queue.at(0);
    move.clear();
    bool open[2] = {true, true};
    for (int from = 0; from < lists.width && !move.found() && (open[0] || open[1]); from += neighbors_at_once)
      for (int side = 0; side < 2; ++side)
        for (int k = from; k < from + neighbors_at_once && k < lists.width && open[side]; ++k)
          open[side] = look_at_pair<Three>(lists, tour, city, side, k, move, evaluations);
    return move.found() ? 0 : 1;
  }
  // The best move of a city.
  template <bool Three, class Lists>
  static void look_at_city(const Lists &lists, const TourArrays &tour, int city, NeighborMove &best,
                           long long &evaluations) {
    best.clear();
    for (int side = 0; side < 2; ++side)
      for (int k = 0; k < lists.width; ++k)
        if (!look_at_pair<Three>(lists, tour, city, side, k, best, evaluations)) break;
  }
};

struct DescentPlan {
  bool best;         // every pass looks at all cities; if not, at those whose don't-look bit is off
  bool many;         // all moves of a pass that fit each other; if not, one
  long long passes;  // so many at most, -1: until no move is left
  int threads;
};

struct ChainsPlan {
  int chains;
  long long count;  // kicks of each chain in all, those already made included
  bool always;
  double temperature;  // at the first kick
  long long cold;      // the first kick that may lose nothing
  int segment;
  unsigned long long seed;
  int threads;
};

struct DescentCounts {
  long long evaluations = 0, passes = 0, moves = 0, kicks = 0, accepted = 0;
};

// The same for every metric, and for 2-opt and 3-opt.
class NeighborSearch {
 public:
  virtual ~NeighborSearch() = default;
  // For so many seconds, and at least one pass. True when the tour is a local optimum or the passes are used up.
  virtual bool descend(const DescentPlan &plan, double seconds, const StopToken &token) = 0;
  // For so many seconds; true when all chains have made their kicks.
  virtual bool iterate(const ChainsPlan &plan, double seconds, const StopToken &token) = 0;
  virtual double best_length() const = 0;
  virtual std::vector<int> best() const = 0;
  virtual DescentCounts counts() const = 0;
  virtual std::vector<int> neighbors() const = 0;  // sorted by distance
  virtual int width() const = 0;
};

template <class Metric, bool Three>
class NeighborSearchOf : public NeighborSearch {
 public:
  typedef NeighborLists<Metric> Lists;

  NeighborSearchOf(const Metric &metric, std::vector<int> &&neighbors, int width, std::vector<int> &&fixed,
                   double tolerance, std::vector<int> &&tour)
      : neighbors_(std::move(neighbors)), fixed_(std::move(fixed)), size_((int)tour.size()),
        lists_{metric, neighbors_.data(), width, fixed_.empty() ? nullptr : fixed_.data(), tolerance} {
    sort_lists();
    measure_lists();
    chains_.push_back(std::make_unique<Chain>(std::move(tour), lists_));
    bits_.assign(size_, 1);
  }

  bool descend(const DescentPlan &plan, double seconds, const StopToken &token) override {
    const StopToken slice(token, seconds);
    if (!plan.best && !plan.many) return descend_by_queue(plan, slice, token);
    Chain &chain = *chains_[0];
    std::vector<NeighborMove> &found = found_;
    std::vector<int> order;
    for (bool begun = false; plan.passes < 0 || passes_ < plan.passes; begun = true) {
      if (begun && slice.stopped()) return false;
      if (!look_at_all(!plan.best, plan.threads, token, found)) return false;
      ++passes_;
      order.clear();
      for (int city = 0; city < size_; ++city)
        if (found[city].found()) order.push_back(city);
      if (order.empty()) {
        if (looked_at_all_) return true;
        bits_.assign(size_, 1);  // the last pass is over all cities, whatever the bits say
        continue;
      }
      if (plan.many) {
        std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
          return gain_rank(found[a].gain) < gain_rank(found[b].gain);
        });
      } else {
        int best = order[0];
        for (const int city : order)
          if (found[city].gain > found[best].gain) best = city;
        order.assign(1, best);
      }
      for (const int city : order) {
        const Rewrite rewrite = rewrite_of(chain.tour, found[city]);
        if (rewrite.total == 0) continue;
        chain.search.write(rewrite);
        chain.gained(found[city].gain);
        ++moves_;
        for (int e = 0; e < found[city].cities; ++e) bits_[found[city].t[e]] = 1;
      }
    }
    return true;
  }

  bool iterate(const ChainsPlan &plan, double seconds, const StopToken &token) override {
    const StopToken slice(token, seconds);
    while ((int)chains_.size() < plan.chains) {
      std::vector<int> tour = chains_[0]->order;
      chains_.push_back(std::make_unique<Chain>(std::move(tour), lists_));
      chains_.back()->length = chains_.back()->best = chains_[0]->length;
    }
    std::atomic<bool> complete{true};
    for_each_task(plan.threads, plan.chains, [&](int c) {
      Chain &chain = *chains_[c];
      const long long made = chain.search.counts.kicks;
      if (made == 0) chain.keep(plan.temperature > 0.0);
      const KickPlan kicks{made,        plan.count - made, plan.cold, plan.temperature,
                           plan.always, plan.segment,      plan.seed, (unsigned long long)c};
      // A kick takes microseconds; the clock is read now and then.
      chain.search.kicks(kicks, chain.length, chain.best, [&](long long k) { return k % 16 == 0 && slice.stopped(); });
      if (chain.search.counts.kicks < plan.count) complete = false;
    });
    return complete;
  }

  double best_length() const override { return best_chain().best; }
  std::vector<int> best() const override {
    const Chain &chain = best_chain();
    return chain.search.counts.kicks == 0 ? chain.order : chain.shortest.empty() ? chain.kept : chain.shortest;
  }
  std::vector<int> neighbors() const override { return neighbors_; }
  int width() const override { return lists_.width; }
  DescentCounts counts() const override {
    DescentCounts sum;
    sum.passes = passes_ + (looks_ + size_ - 1) / size_;
    sum.evaluations = evaluations_;
    sum.moves = moves_;
    for (const auto &chain : chains_) {
      sum.evaluations += chain->search.counts.evaluations;
      sum.moves += chain->search.counts.moves;
      sum.accepted += chain->search.counts.accepted;
      sum.kicks = std::max(sum.kicks, chain->search.counts.kicks);
    }
    return sum;
  }

 private:
  struct Chain {
    std::vector<int> order, position, scratch, kept, ring;
    std::vector<int> shortest;  // the best tour, where that need not be the one to go back to
    std::vector<unsigned> in;
    ChainMemory memory{};
    TourArrays tour;
    IteratedSearch<HostLook, Lists, Three> search;
    double length = 0.0, best = 0.0;

    Chain(std::vector<int> &&start, const Lists &lists)
        : order(std::move(start)), position(order.size()), scratch(order.size()), kept(order.size()),
          ring(order.size()), in(order.size() / 32 + 1), tour{(int)order.size(), order.data(), position.data()},
          search(HostLook(), lists, tour, ChainQueue{ring.data(), in.data(), tour.size, &memory}, &memory,
                 scratch.data(), kept.data(), kept.data()) {
      for (int p = 0; p < tour.size; ++p) position[order[p]] = p;
      for (int p = 0; p < tour.size; ++p)
        length += (double)lists.metric(order[p], order[p + 1 < tour.size ? p + 1 : 0]);
      best = length;
    }
    void gained(double gain) { best = length -= gain; }
    void keep(bool may_lose) {
      kept = order;
      if (!may_lose) return;
      shortest = order;
      search.keep_best_in(shortest.data());
    }
  };

  // By the metric, so that the search may end at the first neighbour that is too far: coordinates are near in a norm
  // that may order them otherwise (XRAY), and the list of an open path's dummy city has no order.
  void sort_lists() {
    const int width = lists_.width;
    for (int city = 0; city < size_; ++city) {
      int *const row = neighbors_.data() + (size_t)city * width;
      for (int k = 1; k < width && row[k] >= 0; ++k) {
        const int other = row[k];
        const double length = lists_.metric(city, other);
        int at = k;
        for (; at > 0 && length < (double)lists_.metric(city, row[at - 1]); --at) row[at] = row[at - 1];
        row[at] = other;
      }
    }
  }

  void measure_lists() {
    // Beyond this size they would take too much memory.
    constexpr size_t most = (size_t)1 << 25;
    const size_t count = neighbors_.size();
    if (count > most) return;
    lengths_.resize(count);
    for (size_t k = 0; k < count; ++k)
      if (neighbors_[k] >= 0) lengths_[k] = lists_.metric((int)(k / lists_.width), neighbors_[k]);
    lists_.lengths = lengths_.data();
  }

  // The best move of every city, or of those whose bit is set; clears the bits of those that have none.
  bool look_at_all(bool by_bits, int threads, const StopToken &token, std::vector<NeighborMove> &found) {
    found.resize(size_);
    constexpr int cities_a_task = 256;
    const int tasks = (size_ + cities_a_task - 1) / cities_a_task;
    std::vector<long long> evaluations(tasks);
    std::atomic<bool> stopped{false}, skipped{false};
    const TourArrays tour = chains_[0]->tour;
    for_each_task(threads, tasks, [&](int task) {
      if (stopped.load(std::memory_order_relaxed)) return;
      if (token.stopped()) {
        stopped = true;
        return;
      }
      for (int city = task * cities_a_task; city < std::min(size_, (task + 1) * cities_a_task); ++city) {
        if (by_bits && !bits_[city]) {
          found[city].clear();
          skipped = true;
          continue;
        }
        HostLook::look_at_city<Three>(lists_, tour, city, found[city], evaluations[task]);
        bits_[city] = found[city].found();
      }
    });
    for (const long long count : evaluations) evaluations_ += count;
    looked_at_all_ = !skipped;
    return !stopped;
  }

  // One city after the other; the last look is at all of them.
  bool descend_by_queue(const DescentPlan &plan, const StopToken &slice, const StopToken &token) {
    Chain &chain = *chains_[0];
    for (;;) {
      for (int city = 0; city < size_; ++city)
        if (bits_[city]) chain.search.push(city);
      bits_.assign(size_, 0);
      while (chain.memory.queued > 0) {
        if (plan.passes >= 0 && looks_ >= plan.passes * size_) return true;
        if (slice.stopped()) return false;
        const long long before = chain.search.counts.looks;
        chain.gained(chain.search.settle(256));
        looks_ += chain.search.counts.looks - before;
      }
      if (plan.passes >= 0 && looks_ >= plan.passes * size_) return true;
      if (!look_at_all(false, plan.threads, token, found_)) {
        bits_.assign(size_, 1);
        return false;
      }
      ++passes_;
      bool any = false;
      for (const NeighborMove &move : found_) any = any || move.found();
      if (!any) return true;
    }
  }

  const Chain &best_chain() const {
    const Chain *best = chains_[0].get();
    for (const auto &chain : chains_)
      if (chain->best < best->best) best = chain.get();
    return *best;
  }

  std::vector<int> neighbors_, fixed_;
  std::vector<double> lengths_;
  int size_;
  Lists lists_;
  std::vector<std::unique_ptr<Chain>> chains_;
  std::vector<NeighborMove> found_;
  std::vector<unsigned char> bits_;  // 1: look at this city
  bool looked_at_all_ = false;
  long long evaluations_ = 0, passes_ = 0, moves_ = 0, looks_ = 0;
};

}  // namespace warptsp
