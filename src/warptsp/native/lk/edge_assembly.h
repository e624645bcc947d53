// Edge assembly crossover: two good tours are combined into a better one. Host code only.
//
// Y. Nagata and S. Kobayashi, "A powerful genetic algorithm using edge assembly crossover for the traveling salesman
// problem", INFORMS J. Computing 25 (2013): the single strategy in its localised form, with the measure that keeps
// the population's entropy. The edges in which tours A and B differ are split into cycles that take edges of A and of
// B in turn. Exchanging one of them in A leaves a few subtours, which are joined again where that costs least. Making,
// judging and undoing such a child takes time in proportion to what changes. Where the paper takes the best of 30
// children, all cycles are judged here, and the best few are exchanged together: long tours need fewer generations.
#pragma once
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "common/random.h"

namespace warptsp::lk {

// An edge of a city that changed.
struct EdgeChange {
  int city, slot, from, to;
};

// How many tours of a population have an edge.
class EdgeCounts {
 public:
  explicit EdgeCounts(int cities) : uses_(cities) {}

  void add(const std::vector<int> &tour) {
    for (size_t i = 0; i < tour.size(); i++) add(tour[i], tour[i + 1 < tour.size() ? i + 1 : 0], 1);
  }
  // Every changed edge is among the changes of both its cities.
  void add(const std::vector<EdgeChange> &changes) {
    for (const EdgeChange &c : changes) {
      if (c.city < c.from) add(c.city, c.from, -1);
      if (c.city < c.to) add(c.city, c.to, 1);
    }
  }
  int operator()(int a, int b) const {
    if (a > b) std::swap(a, b);
    for (const Use &use : uses_[a])
      if (use.other == b) return use.count;
    return 0;
  }

 private:
  struct Use {
    int other, count;
  };
  std::vector<std::vector<Use>> uses_;  // of each city, the edges to higher numbers

  void add(int a, int b, int change) {
    if (a > b) std::swap(a, b);
    std::vector<Use> &uses = uses_[a];
    for (Use &use : uses)
      if (use.other == b) {
        use.count += change;
        if (use.count == 0) {
          use = uses.back();
          uses.pop_back();
        }
        return;
      }
    uses.push_back({b, change});
  }
};

template <class Metric>
class EdgeAssembly {
 public:
  typedef typename Metric::Value Value;

  // `candidates` [size, K], -1 padded; `fixed` [size, 2] or null: edges that every tour has. A gain must exceed
  // `tolerance`.
  EdgeAssembly(const Metric &metric, int size, const int *candidates, int count, const int *fixed, double tolerance)
      : metric_(metric), size_(size), count_(count), candidates_(candidates), fixed_(fixed), tolerance_(tolerance),
        links_(size), position_(size), of_a_(size), of_b_(size),
        seen_{std::vector<int>(size, -1), std::vector<int>(size, -1)} {}

  // Replaces A by a child, if one is shorter: of the cycles in which A and B differ, the best one of every `selection`
  // is exchanged. Returns how much shorter A is; changes() are then the edges that changed.
  double cross(std::vector<int> &a, const std::vector<int> &b, int selection, const EdgeCounts &counts, int population,
               Random &random) {
    tour_ = a.data();
    find_cycles(a, b, random);
    const int cycles = (int)starts_.size() - 1;
    ranked_.clear();
    double gain;
    for (int k = 0; k < cycles; k++) {
      if (exchange(&k, 1, gain) && gain > tolerance_) ranked_.push_back({judge(gain, counts, population), k});
      undo();
    }
    std::sort(ranked_.begin(), ranked_.end(), [](const Ranked &x, const Ranked &y) {
      return x.value != y.value ? x.value > y.value : x.cycle < y.cycle;
    });
    chosen_.clear();
    const int wanted = std::min((int)ranked_.size(), std::max(1, cycles / selection));
    for (int k = 0; k < wanted; k++) chosen_.push_back(ranked_[k].cycle);
    // Together they may leave other subtours than alone; then the better half is tried, and so on.
    for (; !chosen_.empty(); chosen_.resize(chosen_.size() / 2)) {
      if (exchange(chosen_.data(), (int)chosen_.size(), gain) && gain > tolerance_) {
        walk(a);
        return gain;
      }
      undo();
    }
    return 0;
  }
  const std::vector<EdgeChange> &changes() const { return changes_; }

 private:
  struct Links {
    int to[2];
  };
  struct Open {  // edges of one tour that the other does not have, and that are in no cycle yet
    int to[2], count;
  };
  struct Ranked {
    double value;
    int cycle;
  };

  Metric metric_;
  int size_, count_;
  const int *candidates_, *fixed_;
  double tolerance_;
  const int *tour_ = nullptr;
  std::vector<Links> links_;   // of A, or of the child that is being made
  std::vector<int> position_;  // in A
  std::vector<Open> of_a_, of_b_;
  std::vector<int> seen_[2];  // where a city is on path_, at an even and at an odd place
  std::vector<int> path_, cities_;
  std::vector<int> cycles_, starts_;  // each cycle: an edge of A from its first city, one of B from its second, ...
  std::vector<Ranked> ranked_;
  std::vector<int> chosen_, cut_of_, cuts_, ends_, partner_, subtour_, sizes_;
  std::vector<EdgeChange> changes_;

  int next_position(int p) const { return p + 1 < size_ ? p + 1 : 0; }
  double distance(int a, int b) const { return (double)metric_(a, b); }
  bool is_fixed(int a, int b) const { return fixed_ && (fixed_[2 * (size_t)a] == b || fixed_[2 * (size_t)a + 1] == b); }

  // The gain for each unit of entropy that the population would lose.
  double judge(double gain, const EdgeCounts &counts, int population) const {
    const double share = 1.0 / population;
    const auto term = [&](int uses) { return uses > 0 ? -uses * share * std::log(uses * share) : 0.0; };
    double entropy = 0;
    for (const EdgeChange &c : changes_) {
      if (c.city < c.from) {
        const int uses = counts(c.city, c.from);
        entropy += term(uses - 1) - term(uses);
      }
      if (c.city < c.to) {
        const int uses = counts(c.city, c.to);
        entropy += term(uses + 1) - term(uses);
      }
    }
    constexpr double costs_nothing = 1e6;
    return entropy < 0 ? gain / -entropy : gain * costs_nothing;
  }

  // ---- cycles
  void find_cycles(const std::vector<int> &a, const std::vector<int> &b, Random &random) {
    for (int i = 0; i < size_; i++) {
      position_[a[i]] = i;
      links_[a[i]] = Links{{a[i > 0 ? i - 1 : size_ - 1], a[next_position(i)]}};
    }
    cities_.clear();
    for (int i = 0; i < size_; i++) {
      const int c = b[i], others[2] = {b[i > 0 ? i - 1 : size_ - 1], b[next_position(i)]};
      Open &own = of_a_[c], &other = of_b_[c];
      own.count = other.count = 0;
      for (int d : others)
        if (d != links_[c].to[0] && d != links_[c].to[1]) other.to[other.count++] = d;
      if (other.count == 0) continue;
      for (int d : links_[c].to)
        if (d != others[0] && d != others[1]) own.to[own.count++] = d;
      cities_.push_back(c);
    }
    cycles_.clear();
    starts_.assign(1, 0);
    path_.clear();
    while (true) {
      if (path_.empty()) {
        const int c = city_with_open_edges(random);
        if (c < 0) return;
        path_.push_back(c);
        seen_[0][c] = 0;
      }
      const int i = (int)path_.size() - 1, c = path_[i];
      std::vector<Open> &open = i % 2 == 0 ? of_a_ : of_b_;
      const int next = open[c].to[open[c].count == 2 ? random.below(2) : 0];
      drop(open[c], next);
      drop(open[next], c);
      path_.push_back(next);
      int &seen = seen_[(i + 1) % 2][next];
      if (seen < 0)
        seen = i + 1;
      else
        take_cycle(seen);
    }
  }
  int city_with_open_edges(Random &random) {
    while (!cities_.empty()) {
      const int k = random.below((int)cities_.size());
      if (of_a_[cities_[k]].count > 0) return cities_[k];
      cities_[k] = cities_.back();
      cities_.pop_back();
    }
    return -1;
  }
  static void drop(Open &open, int other) {
    if (open.to[0] == other) open.to[0] = open.to[1];
    open.count--;
  }
  // The path from place `begin` on ends where it began, with an edge of the other tour.
  void take_cycle(int begin) {
    const int length = (int)path_.size() - 1 - begin;
    for (int k = 0; k < length; k++) cycles_.push_back(path_[begin + (begin % 2 + k) % length]);
    starts_.push_back((int)cycles_.size());
    for (int k = begin + 1; k < begin + length; k++) seen_[k % 2][path_[k]] = -1;
    path_.resize(begin + 1);
    const int c = path_[begin];
    if (begin == 0 && of_a_[c].count == 0) {
      seen_[0][c] = -1;
      path_.clear();
    }
  }

  // ---- children
  void change(int city, int from, int to) {
    Links &links = links_[city];
    const int slot = links.to[0] == from ? 0 : 1;
    changes_.push_back({city, slot, from, to});
    links.to[slot] = to;
  }
  void undo() {
    for (int q = (int)changes_.size() - 1; q >= 0; q--)
      links_[changes_[q].city].to[changes_[q].slot] = changes_[q].from;
  }
  void walk(std::vector<int> &tour) const {
    for (int i = 0, before = -1, city = tour[0]; i < size_; i++) {
      tour[i] = city;
      const Links &links = links_[city];
      const int next = links.to[0] == before ? links.to[1] : links.to[0];
      before = city;
      city = next;
    }
  }

  // Exchanges some of the cycles and joins the subtours that they leave; false if that is not one tour. Joining
  // nearly always costs something: a child that is no longer shorter is given up before.
  bool exchange(const int *chosen, int count, double &gain) {
    changes_.clear();
    cut_of_.clear();
    gain = 0;
    for (int j = 0; j < count; j++) {
      const int *const cycle = cycles_.data() + starts_[chosen[j]];
      const int length = starts_[chosen[j] + 1] - starts_[chosen[j]];
      for (int k = 0; k < length; k++) {
        const int c = cycle[k], after = cycle[k + 1 < length ? k + 1 : 0], before = cycle[k > 0 ? k - 1 : length - 1];
        if (k % 2 == 0) {
          gain += distance(c, after);
          change(c, after, before);
          const int p = position_[c], q = position_[after];
          cut_of_.push_back(next_position(p) == q ? p : q);
        } else {
          gain -= distance(c, after);
          change(c, before, after);
        }
      }
    }
    find_subtours(chosen, count);
    for (int subtours = (int)sizes_.size(); subtours > 1; subtours--)
      if (gain <= tolerance_ || !join(gain)) return false;
    return true;
  }
  // A is cut behind the positions cuts_; segment r begins behind cut r. The city before cut r is end 2 r of a
  // segment, the one behind it end 2 r + 1; new edges join partners.
  void find_subtours(const int *chosen, int count) {
    cuts_ = cut_of_;
    std::sort(cuts_.begin(), cuts_.end());
    const int cuts = (int)cuts_.size();
    ends_.resize(2 * (size_t)cuts);
    partner_.resize(2 * (size_t)cuts);
    for (int j = 0, first = 0; j < count; j++) {
      const int *const cycle = cycles_.data() + starts_[chosen[j]];
      const int edges = (starts_[chosen[j] + 1] - starts_[chosen[j]]) / 2;
      for (int k = 0, q = first; k < edges; k++, q++) {
        const int r = (int)(std::lower_bound(cuts_.begin(), cuts_.end(), cut_of_[q]) - cuts_.begin());
        const bool behind = position_[cycle[2 * k]] != cut_of_[q];
        ends_[2 * q] = 2 * r + behind;
        ends_[2 * q + 1] = 2 * r + !behind;
      }
      for (int k = 0; k < edges; k++) {
        const int x = ends_[2 * (first + k) + 1], y = ends_[2 * (first + (k + 1 < edges ? k + 1 : 0))];
        partner_[x] = y;
        partner_[y] = x;
      }
      first += edges;
    }
    subtour_.assign(cuts, -1);
    sizes_.clear();
    for (int r = 0; r < cuts; r++) {
      if (subtour_[r] >= 0) continue;
      int cities = 0, segment = r;
      bool up = true;
      do {
        subtour_[segment] = (int)sizes_.size();
        cities += segment_size(segment);
        const int leave = up ? 2 * (segment + 1 < cuts ? segment + 1 : 0) : 2 * segment + 1, enter = partner_[leave];
        up = enter % 2 == 1;
        segment = up ? enter / 2 : enter > 0 ? enter / 2 - 1 : cuts - 1;
      } while (segment != r);
      sizes_.push_back(cities);
    }
  }
  int segment_size(int r) const {
    const int cuts = (int)cuts_.size(), cities = cuts_[r + 1 < cuts ? r + 1 : 0] - cuts_[r];
    return cities > 0 ? cities : cities + size_;
  }
  int subtour_at(int position) const {
    const int r = (int)(std::lower_bound(cuts_.begin(), cuts_.end(), position) - cuts_.begin()) - 1;
    return subtour_[r >= 0 ? r : (int)cuts_.size() - 1];
  }

  // Joins the smallest subtour to another one by the cheapest exchange of two edges; false if candidates lead to none.
  bool join(double &gain) {
    int smallest = -1;
    for (int s = 0; s < (int)sizes_.size(); s++)
      if (sizes_[s] > 0 && (smallest < 0 || sizes_[s] < sizes_[smallest])) smallest = s;
    double best = 0;
    int a = -1, a2 = -1, b = -1, b2 = -1, target = -1;
    for (int r = 0; r < (int)cuts_.size(); r++) {
      if (subtour_[r] != smallest) continue;
      for (int k = segment_size(r), p = next_position(cuts_[r]); k > 0; k--, p = next_position(p)) {
        const int c = tour_[p];
        const int *const candidates = candidates_ + (size_t)c * count_;
        for (int q = 0; q < count_ && candidates[q] >= 0; q++) {
          const int d = candidates[q], other = subtour_at(position_[d]);
          if (other == smallest) continue;
          const double added = distance(c, d);
          for (int c2 : links_[c].to) {
            if (is_fixed(c, c2)) continue;
            const double first = distance(c, c2) - added;
            for (int d2 : links_[d].to) {
              if (is_fixed(d, d2)) continue;
              const double value = first + distance(d, d2) - distance(c2, d2);
              if (target < 0 || value > best) best = value, a = c, a2 = c2, b = d, b2 = d2, target = other;
            }
          }
        }
      }
    }
    if (target < 0) return false;
    change(a, a2, b);
    change(b, b2, a);
    change(a2, a, b2);
    change(b2, b, a2);
    gain += best;
    for (int &s : subtour_)
      if (s == smallest) s = target;
    sizes_[target] += sizes_[smallest];
    sizes_[smallest] = 0;
    return true;
  }
};

}  // namespace warptsp::lk
