// Several tours joined into one that has no edges but theirs, and is no longer than the shortest. Host code only.
//
// Partition crossover (D. Whitley, D. Hains and A. Howe, "Tunneling between optima: partition crossover for the traveling
// salesman problem", GECCO 2009) in two sizes: what tour B has in place of A is taken in whole components of the
// edges in which they differ, and in sets of cycles of edges of A and B in turn, wherever that leaves one tour and a
// shorter one. Each component chooses for itself; choices that do not go together are told apart by halving.
//
// Nothing here knows cities or a metric: an edge that must stay is in every tour and so in no cycle, a matrix with
// directions is merged as two nodes a city, in and out, with an edge between them that all tours have.
#pragma once
#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "common/disjoint_sets.h"
#include "common/parallel.h"
#include "common/random.h"
#include "common/stop_token.h"
#include "lk/alternating_cycles.h"

namespace warptsp::lk {

struct WeightedTour {
  std::vector<int> order;
  std::vector<double> lengths;  // of the edge from each place to the next

  double length() const { return std::accumulate(lengths.begin(), lengths.end(), 0.0); }
};

// Joins pairs of tours of `size` nodes.
class TourMerge {
 public:
  explicit TourMerge(int size) : size_(size), finder_(size), component_(size) {}

  // Gives A what makes it shorter of B; returns whether there was anything.
  bool merge(WeightedTour &a, const WeightedTour &b, Random &random, int threads, const StopToken &token) {
    constexpr int tries = 2;  // as cycles are drawn at random
    bool better = false;
    for (int idle = 0; idle < tries && !token.stopped();)
      if (pass(a, b, random, threads))
        better = true, idle = 0;
      else if (cycles_.count() == 0)
        break;
      else
        idle++;
    return better;
  }

 private:
  typedef std::vector<int> Choice;  // cycles that are exchanged together

  int size_;
  CycleFinder finder_;
  AlternatingCycles cycles_;
  LinkedTour a_, b_;
  std::vector<int> component_;      // of a node, a cycle of its component
  std::vector<int> above_;          // union-find over cycles
  std::vector<Subtours> subtours_;  // of each thread

  bool pass(WeightedTour &a, const WeightedTour &b, Random &random, int threads) {
    a_ = LinkedTour(a.order);
    b_ = LinkedTour(b.order);
    finder_.find(a_, b_, random, cycles_);
    const int count = cycles_.count();
    if (count == 0) return false;
    std::vector<Choice> components = cycles_by_component();
    std::vector<std::vector<Choice>> choices(components.size());
    subtours_.resize(threads);
    for_each_task(threads, (int)components.size(),
                  [&](int c, int t) { choices[c] = choose(a, b, components[c], subtours_[t]); });
    std::vector<Choice> all;
    for (std::vector<Choice> &some : choices)
      for (Choice &choice : some) all.push_back(std::move(choice));
    if (all.empty()) return false;
    exchange(a, b, those_that_go_together(all));
    return true;
  }

  std::vector<Choice> cycles_by_component() {
    const int count = cycles_.count();
    above_.resize(count);
    std::iota(above_.begin(), above_.end(), 0);
    std::fill(component_.begin(), component_.end(), -1);
    for (int k = 0; k < count; k++) {
      const AlternatingCycle cycle = cycles_[k];
      for (int q = 0; q < cycle.length; q++) {
        int &other = component_[cycle[q]];
        if (other < 0)
          other = k;
        else if (const auto [low, high] = std::minmax({root_of(above_, other), root_of(above_, k)}); low < high)
          above_[high] = low;
      }
    }
    std::vector<Choice> components;
    std::vector<int> number(count, -1);
    for (int k = 0; k < count; k++) {
      int &own = number[root_of(above_, k)];
      if (own < 0) own = (int)components.size(), components.emplace_back();
      components[own].push_back(k);
    }
    return components;
  }

  // What to exchange of a component: those of its cycles that make a tour and a shorter one alone, or several that are
  // worth more together.
  std::vector<Choice> choose(const WeightedTour &a, const WeightedTour &b, const Choice &component,
                             Subtours &subtours) const {
    constexpr int few = 6;  // cycles, of which every set is tried; of more, all of them
    const int count = (int)component.size();
    std::vector<double> gains(count), lengths(count, 0.0);
    for (int k = 0; k < count; k++) gains[k] = gain_of(a, b, component[k], lengths[k]);
    const auto gain_of_all = [&](const std::vector<int> &set, Choice &choice) {
      double gain = 0, length = 0;
      int edges = 0;
      choice.clear();
      for (const int k : set) {
        choice.push_back(component[k]);
        gain += gains[k];
        length += lengths[k];
        edges += cycles_[component[k]].length;
      }
      return is_gain(gain, length, edges) ? gain : 0.0;
    };
    std::vector<Choice> best;
    double most = 0;
    std::vector<int> set;
    Choice choice;
    for (int k = 0; k < count; k++) {
      const double gain = gain_of_all({k}, choice);
      if (gain <= 0 || !is_one_tour(choice, subtours)) continue;
      most += gain;
      best.push_back(choice);
    }
    const auto try_set = [&] {
      const double gain = gain_of_all(set, choice);
      if (gain <= most || !is_one_tour(choice, subtours)) return;
      most = gain;
      best = {choice};
    };
    if (count > few) {
      set.resize(count);
      std::iota(set.begin(), set.end(), 0);
      try_set();
    }
    for (int members = 1; count <= few && members < 1 << count; members++) {
      set.clear();
      for (int k = 0; k < count; k++)
        if (members >> k & 1) set.push_back(k);
      if (set.size() > 1) try_set();
    }
    return best;
  }
  // Sums of whole numbers are exact, others differ in their last digits.
  static bool is_gain(double gain, double length, int edges) {
    return gain > std::numeric_limits<double>::epsilon() * edges * length;
  }
  bool is_one_tour(const Choice &chosen, Subtours &subtours) const {
    subtours.find(cycles_, chosen.data(), (int)chosen.size());
    return subtours.sizes.size() == 1;
  }
  // `length`: of all edges of the cycle.
  double gain_of(const WeightedTour &a, const WeightedTour &b, int k, double &length) const {
    const AlternatingCycle cycle = cycles_[k];
    double gain = 0;
    for (int q = 0; q < cycle.length; q++) {
      const int c = cycle[q], d = cycle.after(q);
      const double edge = q % 2 == 0 ? a.lengths[cycles_.cut(c, d)] : length_in_b(b, c, d);
      gain += q % 2 == 0 ? edge : -edge;
      length += edge;
    }
    return gain;
  }
  double length_in_b(const WeightedTour &b, int c, int d) const {
    const int p = b_.position[c], q = b_.position[d];
    return b.lengths[cycles_.next_position(p) == q ? p : q];
  }

  // The cycles of all choices that together leave one tour, as far as they are found. Each of them does so alone.
  Choice those_that_go_together(std::vector<Choice> &choices) {
    const auto first = [&](const Choice &choice) { return cycles_.position(cycles_[choice[0]][0]); };
    // Those that do not go together are mostly neighbours.
    std::sort(choices.begin(), choices.end(), [&](const Choice &x, const Choice &y) { return first(x) < first(y); });
    struct Range {
      size_t begin, end;
    };
    // A test takes time with all cycles accepted so far, so that few are made; the next pass takes what is left.
    constexpr int most = 64;
    Choice accepted, tried;
    std::vector<Range> ranges{{0, choices.size()}};
    for (size_t r = 0; r < ranges.size() && (r < most || accepted.empty()); r++) {
      const auto [begin, end] = ranges[r];
      tried = accepted;
      for (size_t i = begin; i < end; i++) tried.insert(tried.end(), choices[i].begin(), choices[i].end());
      if (is_one_tour(tried, subtours_[0])) {
        std::swap(accepted, tried);
      } else if (end - begin > 1) {
        const size_t middle = begin + (end - begin) / 2;
        ranges.push_back({begin, middle});
        ranges.push_back({middle, end});
      }
    }
    return accepted;
  }

  void exchange(WeightedTour &a, const WeightedTour &b, const Choice &chosen) {
    LinkedTour linked = a_;
    const auto change = [&](int city, int from, int to) {
      TourLinks &two = linked.links[city];
      two.to[two.to[0] != from] = to;
    };
    for (const int k : chosen) {
      const AlternatingCycle cycle = cycles_[k];
      for (int q = 0; q < cycle.length; q++) {
        if (q % 2 == 0)
          change(cycle[q], cycle.after(q), cycle.before(q));
        else
          change(cycle[q], cycle.before(q), cycle.after(q));
      }
    }
    WeightedTour child;
    linked.follow_links();
    child.order = std::move(linked.order);
    child.lengths.resize(size_);
    for (int i = 0; i < size_; i++) {
      const int c = child.order[i], d = child.order[cycles_.next_position(i)];
      const int p = cycles_.position(c), q = cycles_.position(d);
      const bool from_a = cycles_.next_position(p) == q || cycles_.next_position(q) == p;
      child.lengths[i] = from_a ? a.lengths[cycles_.cut(c, d)] : length_in_b(b, c, d);
    }
    a = std::move(child);
  }
};

// Joins all tours; the same one on any number of threads. First pairs at the same time, then what these have become, and
// in the end the one that is left with each of the given ones until none has anything for it.
inline WeightedTour merge_tours(std::vector<WeightedTour> tours, unsigned long long seed, int threads,
                                const StopToken &token) {
  const int size = (int)tours[0].order.size();
  std::vector<WeightedTour> left = tours;
  unsigned long long round = 0;
  for (; left.size() > 1; round++) {
    const int pairs = (int)left.size() / 2, at_once = std::min(threads, pairs);
    for_each_task(at_once, pairs, [&](int p) {
      WeightedTour &a = left[2 * (size_t)p], &b = left[2 * (size_t)p + 1];
      if (b.length() < a.length()) std::swap(a, b);
      Random random(seed, round, (unsigned long long)p);
      TourMerge(size).merge(a, b, random, std::max(1, threads / at_once), token);
    });
    for (int p = 1; p < pairs; p++) left[p] = std::move(left[2 * (size_t)p]);
    if (left.size() % 2 == 1) left[pairs] = std::move(left.back());
    left.resize(left.size() - pairs);
  }
  TourMerge merge(size);
  Random random(seed, round, ~0ull);
  size_t idle = 0;
  for (size_t t = 0; idle < tours.size() && !token.stopped(); t = t + 1 < tours.size() ? t + 1 : 0)
    idle = merge.merge(left[0], tours[t], random, threads, token) ? 0 : idle + 1;
  return std::move(left[0]);
}

}  // namespace warptsp::lk
