// Long: passes and chains share a state. Local search along neighbour lists on CPU threads: passes over all cities,
// don't-look bits, and chains of iterated local search. See neighbor_moves.h and iterated_search.h. Host code only.
#pragma once
#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "papers/neighbor_lists/iterated_search.h"
#include "common/parallel.h"
#include "common/stop_token.h"

namespace warptsp::neighbor {

constexpr int long_tour = 20'000;             // cities from which a kick may take a good part of a millisecond
constexpr long long cells_a_slice = 1 << 18;  // of the tour, written between two polls of the token
constexpr int cities_a_slice = 1024;          // whose lists are put in order between two polls of the token

struct ThreadLanes {
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
  int examine(const Lists &lists, const TourArrays &tour, const ChainQueue &queue, int, NeighborMove &move,
              long long &evaluations) const {
    const int city = queue.at(0);
    move = NeighborMove{};  // its last two cities, too: GCC cannot see that only moves of three edges read them
    move.clear();
    bool open[2] = {true, true};
    for (int from = 0; from < lists.width && !move.found() && (open[0] || open[1]); from += neighbors_at_once)
      for (int side = 0; side < 2; ++side)
        for (int k = from; k < from + neighbors_at_once && k < lists.width && open[side]; ++k)
          open[side] = examine_pair<Three>(lists, tour, city, side, k, move, evaluations);
    return move.found() ? 0 : 1;
  }
  // The best move of a city.
  template <bool Three, class Lists>
  static void examine_city(const Lists &lists, const TourArrays &tour, int city, NeighborMove &best,
                           long long &evaluations) {
    best.clear();
    for (int side = 0; side < 2; ++side)
      for (int k = 0; k < lists.width; ++k)
        if (!examine_pair<Three>(lists, tour, city, side, k, best, evaluations)) break;
  }
};

// How local search goes on.
struct LocalSearch {
  bool next_only;  // only edges to following cities go
  // A pass makes the best move of all cities; if not, that of the first city that has one, of those whose don't-look bit
  // is off. With `many`, all moves of such a pass that fit each other, the largest gain first.
  bool best, many;
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
  bool everywhere;  // after a double bridge all cities are examined; if not, the ends of changed edges
};

struct DescentCounts {
  long long evaluations = 0, passes = 0, moves = 0, accepted = 0;
  long long kicks = 0;  // of the chain that has made the fewest: a limit is reached when all chains have
};

// The same for every metric, and for 2-opt and 3-opt.
class NeighborSearch {
 public:
  virtual ~NeighborSearch() = default;
  // For so many seconds, and at least one pass. True when the tour is a local optimum or so many passes have been made,
  // -1 for any number.
  virtual bool descend(long long passes, int threads, double seconds, const StopToken &token) = 0;
  // For so many seconds; true when all chains have made their kicks.
  virtual bool iterate(const ChainsPlan &plan, double seconds, const StopToken &token) = 0;
  // Goes on from the best tour of all chains: the next descent begins there, with an examination of all cities.
  virtual void return_to_best() = 0;
  virtual double best_length() const = 0;
  virtual std::vector<int> best() const = 0;
  virtual DescentCounts counts() const = 0;
  virtual std::vector<int> neighbors() const = 0;  // sorted by distance
};

template <class Metric, bool Three>
class NeighborSearchOf : public NeighborSearch {
 public:
  typedef NeighborLists<Metric> Lists;

  // Stopped by the token, it has the tour and is good for no search.
  NeighborSearchOf(const Metric &metric, std::vector<int> &&neighbors, int width, std::vector<int> &&fixed,
                   double tolerance, const LocalSearch &how, std::vector<int> &&tour, const StopToken &token)
      : how_(how), neighbors_(std::move(neighbors)), fixed_(std::move(fixed)), size_((int)tour.size()),
        lists_{metric,    neighbors_.data(), width,        fixed_.empty() ? nullptr : fixed_.data(),
               tolerance, nullptr,           how.next_only} {
    sort_lists(token);
    measure_lists(token);
    chains_.push_back(std::make_unique<Chain>(std::move(tour), lists_));
    bits_.assign(size_, 1);
  }

  bool descend(long long passes, int threads, double seconds, const StopToken &token) override {
    const StopToken slice(token, seconds);
    if (!how_.best && !how_.many) return descend_by_queue(passes, threads, slice, token);
    for (;;) {
      if (!make_moves(slice)) return false;
      if (passes >= 0 && passes_ >= passes) return true;
      if (!examine_all(!how_.best, threads, token)) return false;
      ++passes_;
      for (int city = 0; city < size_; ++city)
        if (found_[city].found()) pending_.push_back(city);
      if (pending_.empty()) {
        if (examined_all_) return true;
        bits_.assign(size_, 1);  // the last pass is over all cities, whatever the bits say
        continue;
      }
      // The first that is made comes last.
      const auto worse = [&](int a, int b) {
        const auto of_a = gain_rank(found_[a].gain), of_b = gain_rank(found_[b].gain);
        return of_a != of_b ? of_a > of_b : a > b;
      };
      if (how_.many)
        std::sort(pending_.begin(), pending_.end(), worse);
      else  // of equal gains that of the first city
        pending_.assign(1, *std::max_element(pending_.begin(), pending_.end(),
                                             [&](int a, int b) { return found_[a].gain < found_[b].gain; }));
    }
  }

  bool iterate(const ChainsPlan &plan, double seconds, const StopToken &token) override {
    while ((int)chains_.size() < plan.chains) {
      std::vector<int> tour = chains_[0]->order;
      chains_.push_back(std::make_unique<Chain>(std::move(tour), lists_));
      chains_.back()->length = chains_.back()->best = chains_[0]->length;
    }
    kicking_ = true;
    // Chains that wait for a thread have a slice of their own, so that all of them are about as far.
    const double share = seconds * std::min(plan.threads, plan.chains) / plan.chains;
    // A kick takes microseconds, and on long tours, or with passes over all cities, milliseconds.
    const long long between = size_ < long_tour && !plan.everywhere ? 16 : 1;
    return all_tasks(plan.threads, plan.chains, [&](int c) {
      const StopToken slice(token, share);
      Chain &chain = *chains_[c];
      const long long made = chain.search.counts.kicks;
      if (made == 0) chain.keep(plan.temperature > 0.0);
      const KickPlan kicks{made,        plan.count - made, plan.cold, plan.temperature,
                           plan.always, plan.segment,      plan.seed, (unsigned long long)c};
      const auto stop = [&](long long k) {
        return k % between == 0 && (k > 0 ? slice : token).stopped();  // at least one, however short the slice
      };
      chain.search.kicks(kicks, chain.length, chain.best, stop, [&](const int *end) {
        if (!how_.best || !plan.everywhere) chain.search.push_ends(end);
        if (how_.best) return pass_by_pass(chain, plan.everywhere, token);
        return plan.everywhere ? queue_all(chain, token) : chain.search.settle(1ll << 62);
      });
      return chain.search.counts.kicks >= plan.count;
    });
  }

  void return_to_best() override {
    if (!kicking_) return;
    const double length = best_length();
    Chain &first = *chains_[0];
    const std::vector<int> tour = best();
    std::copy(tour.begin(), tour.end(), first.order.begin());
    for (int p = 0; p < size_; ++p) first.position[first.order[p]] = p;
    for (const auto &chain : chains_) chain->length = chain->best = length;
    bits_.assign(size_, 1);
    kicking_ = false;
  }

  double best_length() const override { return best_chain().best; }
  std::vector<int> best() const override {
    const Chain &chain = best_chain();
    return !kicking_ ? chain.order : chain.shortest.empty() ? chain.kept : chain.shortest;
  }
  std::vector<int> neighbors() const override { return neighbors_; }
  DescentCounts counts() const override {
    DescentCounts sum;
    sum.passes = passes_ + (examined_ + size_ - 1) / size_;
    sum.evaluations = evaluations_;
    sum.moves = moves_;
    sum.kicks = chains_[0]->search.counts.kicks;
    for (const auto &chain : chains_) {
      sum.evaluations += chain->search.counts.evaluations;
      sum.moves += chain->search.counts.moves;
      sum.accepted += chain->search.counts.accepted;
      sum.passes += chain->passes;
      sum.kicks = std::min(sum.kicks, chain->search.counts.kicks);
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
    IteratedSearch<ThreadLanes, Lists, Three> search;
    double length = 0.0, best = 0.0;
    long long passes = 0;  // after kicks

    Chain(std::vector<int> &&start, const Lists &lists)
        : order(std::move(start)), position(order.size()), scratch(order.size()), kept(order.size()),
          ring(order.size()), in(order.size() / 32 + 1), tour{(int)order.size(), order.data(), position.data()},
          search(ThreadLanes(), lists, tour, ChainQueue{ring.data(), in.data(), tour.size, &memory}, &memory,
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

  // Those that a pass has left to be made, as far as they still fit the tour; false if the slice ended first.
  bool make_moves(const StopToken &slice) {
    if (pending_.empty()) return true;
    Chain &chain = *chains_[0];
    for (long long cells = 0; !pending_.empty(); pending_.pop_back()) {
      if (cells > cells_a_slice) {
        if (slice.stopped()) return false;
        cells = 0;
      }
      const NeighborMove &move = found_[pending_.back()];
      const Rewrite rewrite = rewrite_of(chain.tour, move);
      if (rewrite.total == 0) continue;
      cells += rewrite.total;
      chain.search.write(rewrite);
      chain.gained(move.gain);
      ++moves_;
      for (int e = 0; e < move.cities; ++e) bits_[move.t[e]] = 1;
    }
    return !slice.stopped();
  }

  // By the metric, so that the search may end at the first neighbour that is too far: coordinates are near in a norm
  // that may order them otherwise (XRAY), and the list of an open path's dummy city has no order.
  void sort_lists(const StopToken &token) {
    const int width = lists_.width;
    for (int city = 0; city < size_; ++city) {
      if (city % cities_a_slice == 0 && token.stopped()) return;
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

  void measure_lists(const StopToken &token) {
    // Beyond this size they would take too much memory.
    constexpr size_t most = (size_t)1 << 25;
    const size_t count = neighbors_.size();
    if (count > most) return;
    lengths_.resize(count);
    for (size_t k = 0; k < count; ++k) {
      if (k % ((size_t)lists_.width * cities_a_slice) == 0 && token.stopped()) return;
      if (neighbors_[k] >= 0) lengths_[k] = lists_.metric((int)(k / lists_.width), neighbors_[k]);
    }
    lists_.lengths = lengths_.data();
  }

  // The best move of every city, or of those whose bit is set; clears the bits of those that have none.
  bool examine_all(bool by_bits, int threads, const StopToken &token) {
    found_.resize(size_);
    constexpr int cities_a_task = 256;
    const int tasks = (size_ + cities_a_task - 1) / cities_a_task;
    std::vector<long long> evaluations(tasks);
    std::atomic<bool> stopped{false}, skipped{false};
    const TourArrays tour = chains_[0]->tour;
    for_each_task(threads, tasks, [&](int task) {
      for (int city = task * cities_a_task; city < std::min(size_, (task + 1) * cities_a_task); ++city) {
        if (stopped.load(std::memory_order_relaxed)) return;
        if (city % 16 == 0 && token.stopped()) {
          stopped = true;
          return;
        }
        if (by_bits && !bits_[city]) {
          found_[city].clear();
          skipped = true;
          continue;
        }
        ThreadLanes::examine_city<Three>(lists_, tour, city, found_[city], evaluations[task]);
        bits_[city] = found_[city].found();
      }
    });
    for (const long long count : evaluations) evaluations_ += count;
    examined_all_ = !skipped;
    return !stopped;
  }

  // Pass after pass, each of which makes the best move of all cities or, if not `everywhere`, of the queued ones; to a local
  // optimum, unless the token stops it. Returns the gain.
  double pass_by_pass(Chain &chain, bool everywhere, const StopToken &token) const {
    double gain = 0.0;
    std::vector<int> open;
    NeighborMove best, found;
    for (;;) {
      chain.search.take_all([&](int city) { open.push_back(city); });
      best.clear();
      size_t left = 0;
      const int count = everywhere ? size_ : (int)open.size();
      for (int k = 0; k < count; ++k) {
        if (k % 16 == 0 && token.stopped()) return gain;
        const int city = everywhere ? k : open[k];
        ThreadLanes::examine_city<Three>(lists_, chain.tour, city, found, chain.search.counts.evaluations);
        if (!found.found()) continue;
        if (!everywhere) open[left++] = city;
        if (!best.found() || found.gain > best.gain) best = found;
      }
      open.resize(left);
      ++chain.passes;
      if (!best.found()) return gain;
      chain.search.write(rewrite_of(chain.tour, best));
      gain += best.gain;
      ++chain.search.counts.moves;
      if (everywhere) continue;
      for (const int city : open) chain.search.push(city);
      for (int e = 0; e < best.cities; ++e) chain.search.push(best.t[e]);
    }
  }

  // City after city, all of them behind those that are queued. Returns the gain.
  double queue_all(Chain &chain, const StopToken &token) const {
    for (int city = 0; city < size_; ++city) chain.search.push(city);
    double gain = 0.0;
    while (chain.memory.queued > 0) {
      gain += chain.search.settle(256);
      if (token.stopped()) chain.search.take_all([](int) {});
    }
    return gain;
  }

  // One city after the other; the last examination is of all of them.
  bool descend_by_queue(long long passes, int threads, const StopToken &slice, const StopToken &token) {
    Chain &chain = *chains_[0];
    const long long at_once = size_ < long_tour ? 256 : 16;  // cities, each of which may make a move
    const auto used_up = [&] { return passes >= 0 && examined_ >= passes * size_; };
    for (;;) {
      for (int city = 0; city < size_; ++city)
        if (bits_[city]) chain.search.push(city);
      bits_.assign(size_, 0);
      while (chain.memory.queued > 0) {
        if (used_up()) return true;
        const long long before = chain.search.counts.examined;
        chain.gained(chain.search.settle(at_once));
        examined_ += chain.search.counts.examined - before;
        if (slice.stopped()) return false;
      }
      if (used_up()) return true;
      if (!examine_all(false, threads, token)) {
        bits_.assign(size_, 1);
        return false;
      }
      ++passes_;
      if (std::none_of(found_.begin(), found_.end(), [](const NeighborMove &move) { return move.found(); }))
        return true;
    }
  }

  const Chain &best_chain() const {
    return **std::min_element(chains_.begin(), chains_.end(),
                              [](const auto &a, const auto &b) { return a->best < b->best; });
  }

  const LocalSearch how_;
  std::vector<int> neighbors_, fixed_;
  std::vector<double> lengths_;
  int size_;
  Lists lists_;
  std::vector<std::unique_ptr<Chain>> chains_;
  std::vector<NeighborMove> found_;
  std::vector<int> pending_;         // cities whose moves a pass has found and that are still to be made
  std::vector<unsigned char> bits_;  // 1: examine this city
  bool examined_all_ = false, kicking_ = false;
  long long evaluations_ = 0, passes_ = 0, moves_ = 0, examined_ = 0;
};

}  // namespace warptsp::neighbor
