// Edge assembly crossover of directed tours.
//
// Y. Nagata and S. Kobayashi, "A powerful genetic algorithm using edge assembly crossover for the traveling salesman
// problem", INFORMS J. Computing 25 (2013) 346-363. Of directed tours the arcs that enter a city are one of each parent,
// and so are those that leave it: the arcs in which parents differ fall into alternating cycles in one way only. A child
// is one parent with some of these cycles exchanged; subtours are joined by pairs of arcs, and local search follows from
// where the child differs. Without that, few cycles are worth exchanging, and populations come to rest half way.
#pragma once
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "common/disjoint_sets.h"
#include "common/random.h"
#include "directed/exchanges.h"
#include "lk/tour_population.h"

namespace warptsp::directed {

// A tail that leads to another head than before.
struct ArcChange {
  int tail, old_head, new_head;
};

struct Member {
  std::vector<int> next, before;
  std::vector<Cost> out;  // costs of the arcs out of all cities
  Cost length = 0;

  Member() = default;
  explicit Member(const Tour &tour)
      : next(tour.size()), before(tour.size()), out(tour.costs_out()), length(tour.length()) {
    const std::vector<int> &cities = tour.cities();
    for (size_t p = 0; p < cities.size(); p++) {
      const int a = cities[p], b = cities[p + 1 == cities.size() ? 0 : p + 1];
      next[a] = b;
      before[b] = a;
    }
  }
  std::vector<int> tour() const { return tour_of(next); }
  template <class Entry>
  void change(const std::vector<ArcChange> &changes, Cost gain, const ReducedCosts<Entry> &costs) {
    for (const ArcChange &change : changes) {
      next[change.tail] = change.new_head;
      before[change.new_head] = change.tail;
      out[change.tail] = costs(change.tail, change.new_head);
    }
    length -= gain;
  }
};

// How many members have an arc.
class ArcCounts {
 public:
  explicit ArcCounts(const std::vector<Member> &members) : heads_(members[0].next.size()) {
    for (const Member &member : members)
      for (size_t a = 0; a < heads_.size(); a++) at((int)a, member.next[a])++;
  }
  int count(int tail, int head) const {
    for (const auto &[city, count] : heads_[tail])
      if (city == head) return count;
    return 0;
  }
  void add(const std::vector<ArcChange> &changes) {
    for (const ArcChange &change : changes) {
      at(change.tail, change.old_head)--;
      at(change.tail, change.new_head)++;
    }
  }

 private:
  std::vector<std::vector<std::pair<int, int>>> heads_;
  int &at(int tail, int head) {
    for (auto &[city, count] : heads_[tail])
      if (city == head) return count;
    heads_[tail].push_back({head, 0});
    return heads_[tail].back().second;
  }
};

// A child, as what it changes in its parent.
struct Child {
  double value = 0;  // what it is worth; 0: there is none
  Cost gain = 0;
  std::vector<ArcChange> changes;
};

// What one thread needs to cross two members.
template <class Entry>
class Crossover {
 public:
  Crossover(const ReducedCosts<Entry> &costs, const Candidates &candidates)
      : costs_(costs), candidates_(candidates), n_(costs.size()), search_(costs, candidates), place_(n_), cycle_of_(n_),
        mark_(n_, 0) {}

  // The best child of `parent` with `b` among those from number `first` to before `last`, if one is shorter or as short
  // and rarer. Each is made of another cycle, in an order that `seed` draws, and has random numbers of its own, so that
  // threads can share the children of a pair. `blocks` exchanges cycles together with some of their neighbours.
  Child best_child(const Member &parent, const Member &b, int first, int last, bool blocks, const ArcCounts &counts,
                   int members, unsigned long long seed, const StopToken &token) {
    Child best;
    Member &a = parent_ = parent;
    split(a, b);
    const int cycles = (int)begin_.size() - 1;
    std::vector<int> order(cycles);
    for (int c = 0; c < cycles; c++) order[c] = c;
    Random shuffle(seed, 0, 0);
    for (int c = 0; c < cycles; c++) std::swap(order[c], order[c + shuffle.below(cycles - c)]);
    for (int t = first; t < std::min(last, cycles) && !token.stopped(); t++) {
      Random random(seed, 1, (unsigned long long)t);
      incoming_.clear();
      Cost gain = take(a, b, order[t]);
      if (incoming_.size() > most_exchanged) continue;
      if (blocks && cycles > 1) gain += take_neighbours(a, b, order[t], random);
      const size_t own = incoming_.size();
      const bool joined = apply(a, random, gain);
      if (joined) shorten(a, gain, token);
      revert(a, own);
      if (!joined || search_.tour().length() > a.length) continue;
      gain = a.length - search_.tour().length();
      const double value = worth(a, gain, counts, members);
      if (value > best.value) best = {value, gain, net_};
    }
    return best;
  }
  const LkCounters &counters() const { return search_.counters(); }

  // Gives `a` one by one the cycles in which `b` is shorter, so that what was found apart in two copies of a tour comes
  // together. A cycle that takes `a` apart is joined, or left where that costs more.
  void adopt(Member &a, const Member &b, Random &random) {
    std::vector<int> left;  // cycles that failed, by their least tails
    for (bool changed = true; changed;) {
      changed = false;
      split(a, b);
      for (int c = 0; c + 1 < (int)begin_.size() && !changed; c++) {
        const int name = *std::min_element(&cycle_[begin_[c]], cycle_.data() + begin_[c + 1]);
        if (std::find(left.begin(), left.end(), name) != left.end()) continue;
        incoming_.clear();
        Cost gain = take(a, b, c);
        if (gain <= 0) continue;
        const size_t own = incoming_.size();
        changed = apply(a, random, gain) && gain > 0;
        if (changed) {
          a.length -= gain;
        } else {
          revert(a, own);
          left.push_back(name);
        }
      }
    }
  }

 private:
  static constexpr int most_together = 12, looked_at = 200;  // cycles in a block, and arcs whose neighbours are sought
  // Arcs of a child that come from b: more of them fall apart into many subtours, and local search takes long for one
  // child in fifty that is better. Of streets of 3162 cities, 12 members, two seeds, 10 CPU s: at most 50 arcs 1478831,
  // 200 1477086; tilted drills, one seed, 20 CPU s, 62.66 and 62.57 million.
  static constexpr size_t most_exchanged = 200;

  const ReducedCosts<Entry> &costs_;
  const Candidates &candidates_;
  int n_;
  LocalSearch<Entry> search_;  // of children
  std::vector<int> tour_, place_;
  std::vector<int> cycle_, begin_, cycle_of_, mark_;  // tails of all alternating cycles, and where each begins
  int stamp_ = 0;
  struct Link {
    int tail, head;
    Cost cost;
  };
  std::vector<Link> incoming_;  // arcs of b
  std::vector<Link> links_;     // what arcs were before they were changed
  std::vector<int> cut_, subtour_of_, joined_, size_, entry_;
  std::vector<ArcChange> net_;
  Member parent_;  // of the children that are tried

  void split(const Member &a, const Member &b) {
    tour_ = a.tour();
    for (int p = 0; p < n_; p++) place_[tour_[p]] = p;
    stamp_++;
    cycle_.clear();
    begin_.clear();
    for (const int first : tour_) {
      if (a.next[first] == b.next[first] || mark_[first] == stamp_) continue;
      begin_.push_back((int)cycle_.size());
      for (int tail = first; mark_[tail] != stamp_; tail = b.before[a.next[tail]]) {
        mark_[tail] = stamp_;
        cycle_of_[tail] = (int)begin_.size() - 1;
        cycle_.push_back(tail);
      }
    }
    begin_.push_back((int)cycle_.size());
  }

  // Adds a cycle to what is exchanged; returns what its arcs of a cost more than those of b.
  Cost take(const Member &a, const Member &b, int cycle) {
    const int begin = begin_[cycle], end = begin_[cycle + 1];
    Cost gain = 0;
    for (int k = begin; k < end; k++) {
      const int tail = cycle_[k], head = a.next[tail], new_tail = cycle_[k + 1 < end ? k + 1 : begin];
      incoming_.push_back({new_tail, head, b.out[new_tail]});
      gain += a.out[tail] - b.out[new_tail];
    }
    return gain;
  }

  Cost take_neighbours(const Member &a, const Member &b, int cycle, Random &random) {
    std::vector<int> found{cycle};
    const auto look = [&](int city) {
      if (mark_[city] != stamp_ || (int)found.size() >= most_together) return;
      if (std::find(found.begin(), found.end(), cycle_of_[city]) == found.end()) found.push_back(cycle_of_[city]);
    };
    const int end = std::min(begin_[cycle + 1], begin_[cycle] + looked_at);
    for (int k = begin_[cycle]; k < end; k++) {
      const int tail = cycle_[k];
      look(a.next[tail]);
      look(a.before[tail]);
      look(b.next[tail]);
      look(b.before[tail]);
    }
    Cost gain = 0;
    for (size_t f = 1; f < found.size(); f++)
      if (random.below(2) != 0) gain += take(a, b, found[f]);
    return gain;
  }

  void link(Member &a, int tail, int head, Cost cost) {
    links_.push_back({tail, a.next[tail], a.out[tail]});
    a.next[tail] = head;
    a.before[head] = tail;
    a.out[tail] = cost;
  }
  // The segment of the old tour that a city lies on; segment s ends with the tail of the s-th arc that was taken out.
  int segment(int city) const {
    const int s = (int)(std::lower_bound(cut_.begin(), cut_.end(), place_[city]) - cut_.begin());
    return s == (int)cut_.size() ? 0 : s;
  }
  int subtour(int city) { return root_of(joined_, subtour_of_[segment(city)]); }

  // Puts the arcs into `a`, and joins what falls apart. False if no way to do so was found.
  bool apply(Member &a, Random &random, Cost &gain) {
    const int k = (int)incoming_.size();
    links_.clear();
    cut_.clear();
    for (const Link &arc : incoming_) cut_.push_back(place_[a.before[arc.head]]);
    std::sort(cut_.begin(), cut_.end());
    for (const Link &arc : incoming_) link(a, arc.tail, arc.head, arc.cost);
    subtour_of_.assign(k, -1);
    size_.clear();
    entry_.clear();
    for (int s = 0; s < k; s++) {
      if (subtour_of_[s] >= 0) continue;
      size_.push_back(0);
      entry_.push_back(tour_[cut_[s]]);
      for (int c = s; subtour_of_[c] < 0; c = segment(a.next[tour_[cut_[c]]])) {
        subtour_of_[c] = (int)size_.size() - 1;
        size_.back() += cut_[c] - (c > 0 ? cut_[c - 1] : cut_[k - 1] - n_);
      }
    }
    const int subtours = (int)size_.size();
    joined_.resize(subtours);
    for (int s = 0; s < subtours; s++) joined_[s] = s;
    for (int left = subtours; left > 1; left--)
      if (!join_shortest(a, random, gain)) return false;
    return true;
  }

  bool join_shortest(Member &a, Random &random, Cost &gain) {
    int own = -1;
    for (int s = 0; s < (int)size_.size(); s++)
      if (joined_[s] == s && (own < 0 || size_[s] < size_[own])) own = s;
    Cost least = no_cost;
    int from = -1, to = -1;
    const auto offer = [&](int tail, int other, Cost cost) {
      if (cost >= least) return;
      least = cost;
      from = tail;
      to = other;
    };
    int tail = entry_[own];
    for (int c = 0; c < size_[own]; c++, tail = a.next[tail]) {
      const int head = a.next[tail];
      const Cost out = a.out[tail];
      const int *const heads = candidates_.heads(tail);
      const Cost *const candidate_costs = candidates_.costs(tail);
      for (int b = 0; b < candidates_.width && heads[b] >= 0; b++) {
        const int other_head = heads[b], other = a.before[other_head];
        const Cost part = candidate_costs[b] - out - a.out[other];
        if (part < least && subtour(other_head) != own) offer(tail, other, part + costs_(other, head));
      }
    }
    const int tries = from < 0 ? 50 : 0;  // if no candidate leaves it
    for (int t = 0; t < tries; t++) {
      tail = entry_[own];
      const int other = random.below(n_);
      if (subtour(other) != own)
        offer(tail, other, costs_(tail, a.next[other]) + costs_(other, a.next[tail]) - a.out[tail] - a.out[other]);
    }
    if (from < 0) return false;
    const int with = subtour(to), head = a.next[from], other_head = a.next[to];
    link(a, from, other_head, costs_(from, other_head));
    link(a, to, head, costs_(to, head));
    gain -= least;
    joined_[own] = with;
    size_[with] += size_[own];
    return true;
  }

  // Local search of a child, which is shorter by `gain` than the parent it was made of, from where it differs from that.
  void shorten(const Member &child, Cost gain, const StopToken &token) {
    search_.set(child.next, child.out, child.length - gain);
    for (const Link &old : links_) {
      search_.enqueue(old.tail);
      search_.enqueue(old.head);
    }
    search_.run(token, child.length);
    search_.clear();
  }

  // What a child is worth; one as short as its parent is little, if it is rarer.
  double worth(const Member &a, Cost gain, const ArcCounts &counts, int members) {
    net_.clear();
    double diversity = 0;
    const auto term = [members](int count) { return lk::entropy_of(count, members); };
    const std::vector<int> &cities = search_.tour().cities();
    for (int p = 0; p < n_; p++) {
      const int tail = cities[p], head = cities[p + 1 == n_ ? 0 : p + 1], old_head = a.next[tail];
      if (head == old_head) continue;
      net_.push_back({tail, old_head, head});
      const int had = counts.count(tail, old_head), has = counts.count(tail, head);
      diversity += term(had - 1) - term(had) + term(has + 1) - term(has);
    }
    if (gain == 0) return diversity > 1e-9 ? 1e-12 : 0;
    return lk::worth((double)gain, diversity);
  }

  // The first `own` links are the arcs of b, which share tails and heads only with each other.
  void revert(Member &a, size_t own) {
    for (size_t k = links_.size(); k > 0; k--) {
      const Link &old = links_[k - 1];
      a.next[old.tail] = old.head;
      a.out[old.tail] = old.cost;
      if (k > own) a.before[old.head] = old.tail;
    }
    for (size_t k = 0; k < own; k++) a.before[links_[k].head] = links_[k].tail;
  }
};

}  // namespace warptsp::directed
