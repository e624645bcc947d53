// Edge assembly crossover: two good tours are combined into a better one. Host code only.
//
// Y. Nagata and S. Kobayashi, "A powerful genetic algorithm using edge assembly crossover for the traveling salesman
// problem", INFORMS J. Computing 25 (2013): the single strategy in its localised form, with the measure that keeps
// the population's entropy. The edges in which tours A and B differ are split into cycles that take edges of A and of
// B in turn. Exchanging one of them in A leaves a few subtours, which are joined again where that costs least. Making,
// judging and undoing such a child takes time in proportion to what changes. Where the paper takes the best of 30
// children, all cycles are judged here, and the best few are exchanged together: long tours need fewer generations.
// When single cycles bring nothing more, blocks of them do: a cycle and those around it.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <unordered_set>
#include <utility>
#include <vector>

#include "common/random.h"
#include "lk/alternating_cycles.h"

namespace warptsp::lk {

// Cities, by number, from one to before another.
struct CityRange {
  int begin, end;
};

// How many tours of a population have an edge. Edges are counted at their lower city: threads with ranges of their own can
// count at the same time.
class EdgeCounts {
 public:
  explicit EdgeCounts(int cities) : uses_(cities) {}

  CityRange all() const { return part(0, 1); }
  // The cities of one of some threads.
  CityRange part(int t, int threads) const {
    const long long n = (long long)uses_.size();
    return {(int)(n * t / threads), (int)(n * (t + 1) / threads)};
  }
  void add(const LinkedTour &tour) { add(tour, all()); }
  void add(const LinkedTour &tour, const CityRange &range) {
    for (int c = range.begin; c < range.end; c++)
      for (int d : tour.links[c].to)
        if (c < d) add(c, d, 1);
  }
  // Every changed edge is among the changes of both its cities.
  void add(const std::vector<EdgeChange> &changes) { add(changes, all()); }
  void add(const std::vector<EdgeChange> &changes, const CityRange &range) {
    for (const EdgeChange &c : changes) {
      if (c.city < range.begin || c.city >= range.end) continue;
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

// Sets of cycles, by the edges that they change. In late generations most pairs differ where others did before.
// E100k.0, 20 members: 11.1 instead of 16.9 CPU s, as good a tour (docs/performance/log.md).
class SetsOfCycles {
 public:
  typedef unsigned long long Key;

  // In whatever order the changes are.
  static Key key(const std::vector<EdgeChange> &changes) {
    Key key = 0;
    for (const EdgeChange &c : changes) key += mixed(c.city, c.to) - mixed(c.city, c.from);
    return key;
  }
  bool has(Key key) const { return keys_.count(key) > 0; }
  void add(Key key) { keys_.insert(key); }
  int count() const { return (int)keys_.size(); }
  void clear() { keys_.clear(); }

 private:
  std::unordered_set<Key> keys_;

  static Key mixed(int a, int b) {
    Key x = ((Key)(unsigned)a << 32 | (unsigned)b) * 0x9E3779B97F4A7C15ull;
    x = (x ^ x >> 29) * 0xBF58476D1CE4E5B9ull;
    return x ^ x >> 32;
  }
};

template <class Metric>
class EdgeAssembly {
 public:
  typedef typename Metric::Value Value;

  // `candidates` [size, K], -1 padded; `lengths` [size, K] of them; `fixed` [size, 2] or null: edges that every tour has. A gain must exceed
  // `tolerance`.
  EdgeAssembly(const Metric &metric, int size, const int *candidates, const Value *lengths, int count, const int *fixed,
               double tolerance)
      : metric_(metric), count_(count), candidates_(candidates), lengths_(lengths), fixed_(fixed),
        tolerance_(tolerance), cycles_(size) {}

  // A child of A, if one is shorter: of the cycles in which A and B differ, the best one of every `selection` is
  // exchanged. With `blocks` each of them is tried with all cycles around it, too. Returns how much shorter it is;
  // changes() are then the edges in which it differs from A, which TourChanger takes. Sets that have failed with
  // this A are left out, and those that fail are added.
  double cross(const LinkedTour &a, const LinkedTour &b, int selection, bool blocks, const EdgeCounts &counts,
               int population, SetsOfCycles &failed, Random &random) {
    a_ = &a;
    links_ = a.links;
    weigh(population);
    cycles_.find(a, b, random);
    const int cycles = cycles_.count();
    gains_.resize(cycles);
    for (int k = 0; k < cycles; k++) gains_[k] = gain_of(cycles_[k]);
    sets_.resize(cycles);
    std::iota(sets_.begin(), sets_.end(), 0);
    ends_of_sets_.resize(cycles);
    std::iota(ends_of_sets_.begin(), ends_of_sets_.end(), 1);
    taken_.assign(cycles, 0);
    if (blocks) add_blocks();
    // Joining subtours takes the time, and mostly costs something: the sets that promise most before come first, until so
    // many keep a gain that the best of them are hardly missed.
    constexpr int choice = 2;
    const int wanted = std::max(1, cycles / selection);
    promising_.clear();
    for (int k = 0; k < (int)ends_of_sets_.size(); k++) {
      const int begin = begin_of_set(k), count = ends_of_sets_[k] - begin;
      if (const double gain = gain_of_cycles(sets_.data() + begin, count); gain > tolerance_) {
        list_changes(sets_.data() + begin, count);
        const SetsOfCycles::Key key = SetsOfCycles::key(changes_);
        if (!failed.has(key)) promising_.push_back({judge(gain, counts), k, key});
      }
    }
    std::sort(promising_.begin(), promising_.end(), is_better);
    ranked_.clear();
    double gain;
    // As many at a time as are missing, in the order in which the cycles were found, which is that of memory.
    for (size_t first = 0; first < promising_.size() && (int)ranked_.size() < choice * wanted;) {
      const size_t end = std::min(promising_.size(), first + choice * (size_t)wanted - ranked_.size());
      std::sort(promising_.begin() + first, promising_.begin() + end,
                [](const Ranked &x, const Ranked &y) { return x.set < y.set; });
      for (; first < end; first++) {
        const Ranked &promising = promising_[first];
        const int begin = begin_of_set(promising.set);
        if (exchange(sets_.data() + begin, ends_of_sets_[promising.set] - begin, 1, gain) && gain > tolerance_)
          ranked_.push_back({judge(gain, counts), promising.set, promising.key});
        else
          failed.add(promising.key);
        undo();
      }
    }
    std::sort(ranked_.begin(), ranked_.end(), is_better);
    choose(wanted);
    // Together they may leave other subtours than alone; then the better half is tried, and so on.
    for (size_t sets = chosen_until_.size(); sets > 0; sets /= 2) {
      if (exchange(chosen_.data(), chosen_until_[sets - 1], sets, gain) && gain > tolerance_) return gain;
      undo();
    }
    return 0;
  }
  const std::vector<EdgeChange> &changes() const { return changes_; }

 private:
  static constexpr double never = -std::numeric_limits<double>::infinity();

  struct Ranked {
    double value;
    int set;
    SetsOfCycles::Key key;
  };
  static bool is_better(const Ranked &x, const Ranked &y) {
    return x.value != y.value ? x.value > y.value : x.set < y.set;
  }

  Metric metric_;
  int count_;
  const int *candidates_;
  const Value *lengths_;
  const int *fixed_;
  double tolerance_;
  const LinkedTour *a_ = nullptr;
  PageVector<TourLinks> links_;  // of the child of A that is being made
  std::vector<double> terms_;    // of the entropy, by the uses of an edge, from -1 on
  AlternatingCycles cycles_;
  Subtours subtours_;
  std::vector<int> sets_, ends_of_sets_;  // cycles that are exchanged together, set after set: first each alone
  std::vector<double> gains_;             // of a cycle, before subtours are joined
  std::vector<char> taken_;               // of a cycle
  std::vector<Ranked> promising_, ranked_;
  std::vector<int> chosen_, chosen_until_;  // cycles, and how many there are with each further set
  std::vector<std::pair<int, int>> cuts_;   // of A by a cycle: position and cycle, ascending
  std::vector<EdgeChange> changes_;
  struct Segment {  // of A, from a position on
    int begin, size;
  };
  std::vector<Segment> segments_;  // of a subtour, which is sought for a joint

  double distance(int a, int b) const { return (double)metric_(a, b); }
  bool is_fixed(int a, int b) const { return fixed_ && (fixed_[2 * (size_t)a] == b || fixed_[2 * (size_t)a + 1] == b); }

  // Up to a turn behind the last position.
  int city_at(int p) const { return a_->order[p < cycles_.size() ? p : p - cycles_.size()]; }

  int begin_of_set(int k) const { return k > 0 ? ends_of_sets_[k - 1] : 0; }

  // The best sets, so many at most, that have no cycle in common.
  void choose(int wanted) {
    chosen_.clear();
    chosen_until_.clear();
    for (const Ranked &ranked : ranked_) {
      const auto begin = sets_.begin() + begin_of_set(ranked.set), end = sets_.begin() + ends_of_sets_[ranked.set];
      if (std::any_of(begin, end, [&](int k) { return taken_[k] != 0; })) continue;
      for (auto k = begin; k != end; ++k) taken_[*k] = 1;
      chosen_.insert(chosen_.end(), begin, end);
      chosen_until_.push_back((int)chosen_.size());
      if ((int)chosen_until_.size() == wanted) return;
    }
  }

  // A cycle that leaves subtours, with all others that cut the smaller of them: what joins these again may be among
  // them. Nagata and Kobayashi's blocks have the same aim, and are found by tabu search.
  void add_blocks() {
    constexpr int most = 30;  // cycles of a block, beside the first
    // A long cycle would be tried in hundreds of blocks: 100 000 cities have some of thousands of edges.
    constexpr int longest = 200;
    const int cycles = cycles_.count();
    cuts_.clear();
    for (int k = 0; k < cycles; k++) {
      const AlternatingCycle cycle = cycles_[k];
      for (int q = 0; q < cycle.length; q += 2) cuts_.push_back({cycles_.cut(cycle[q], cycle.after(q)), k});
    }
    std::sort(cuts_.begin(), cuts_.end());
    for (int k = 0; k < cycles; k++) {
      subtours_.find(cycles_, &k, 1);
      const std::vector<int> &sizes = subtours_.sizes;
      const int largest = (int)(std::max_element(sizes.begin(), sizes.end()) - sizes.begin());
      const size_t begin = sets_.size();
      taken_[k] = 1;
      for (int r = 0; r < (int)subtours_.cuts.size() && sets_.size() - begin <= most; r++) {
        if (subtours_.of_segment(r) == largest) continue;
        const int first = cycles_.next_position(subtours_.cuts[r]), cities = subtours_.segment_size(r);
        auto cut = std::lower_bound(cuts_.begin(), cuts_.end(), std::make_pair(first, -1));
        for (size_t seen = 0; seen < cuts_.size() && sets_.size() - begin <= most; seen++, ++cut) {
          if (cut == cuts_.end()) cut = cuts_.begin();
          const int place = cut->first >= first ? cut->first - first : cut->first - first + cycles_.size();
          if (place >= cities - 1) break;
          if (!taken_[cut->second] && cycles_[cut->second].length <= longest) {
            taken_[cut->second] = 1;
            sets_.push_back(cut->second);
          }
        }
      }
      taken_[k] = 0;
      for (size_t q = begin; q < sets_.size(); q++) taken_[sets_[q]] = 0;
      const size_t others = sets_.size() - begin;
      if (others == 0 || others > most) {
        sets_.resize(begin);
        continue;
      }
      sets_.push_back(k);
      ends_of_sets_.push_back((int)sets_.size());
    }
  }

  // A joint may remove an edge that was added, or add one that was removed: one use less than none, one more than all.
  void weigh(int population) {
    if ((int)terms_.size() == population + 3) return;
    terms_.assign(population + 3, 0.0);
    for (int uses = 1; uses <= population + 1; uses++) {
      const double share = uses / (double)population;
      terms_[uses + 1] = -share * std::log(share);
    }
  }

  // The gain for each unit of entropy that the population would lose.
  double judge(double gain, const EdgeCounts &counts) const {
    const auto term = [&](int uses) { return terms_[uses + 1]; };
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

  double gain_of(const AlternatingCycle &cycle) const {
    double gain = 0;
    for (int k = 0; k < cycle.length; k++) {
      const double edge = distance(cycle[k], cycle.after(k));
      gain += k % 2 == 0 ? edge : -edge;
    }
    return gain;
  }

  // ---- children
  // The edges that the cycles change; nothing is changed yet.
  void list_changes(const int *chosen, int count) {
    changes_.clear();
    for (int j = 0; j < count; j++) {
      const AlternatingCycle cycle = cycles_[chosen[j]];
      for (int k = 0; k < cycle.length; k++) {
        const int after = cycle.after(k), before = cycle.before(k);
        changes_.push_back(k % 2 == 0 ? EdgeChange{cycle[k], 0, after, before}
                                      : EdgeChange{cycle[k], 0, before, after});
      }
    }
  }
  double gain_of_cycles(const int *chosen, int count) const {
    double gain = 0;
    for (int j = 0; j < count; j++) gain += gains_[chosen[j]];
    return gain;
  }
  void make(EdgeChange &change) {
    TourLinks &links = links_[change.city];
    change.slot = links.to[0] == change.from ? 0 : 1;
    links.to[change.slot] = change.to;
  }
  void change(int city, int from, int to) {
    changes_.push_back({city, 0, from, to});
    make(changes_.back());
  }
  void undo() {
    for (int q = (int)changes_.size() - 1; q >= 0; q--)
      links_[changes_[q].city].to[changes_[q].slot] = changes_[q].from;
  }

  // Exchanges some of the cycles, so many sets of them, and joins the subtours that they leave; false if that is not one tour. Joining
  // nearly always costs something: a child that is no longer shorter is given up before.
  bool exchange(const int *chosen, int count, size_t sets, double &gain) {
    gain = gain_of_cycles(chosen, count);
    changes_.clear();
    if (gain <= tolerance_) return false;
    list_changes(chosen, count);
    for (EdgeChange &c : changes_) make(c);
    subtours_.find(cycles_, chosen, count);
    subtours_.begin_joining();
    constexpr double next_to_nothing = 0.01;  // of what a set gains
    const double cheap = next_to_nothing * gain / (double)sets;
    for (int subtours = (int)subtours_.sizes.size(); subtours > 1; subtours--)
      if (gain <= tolerance_ || !join(cheap, gain)) return false;
    return true;
  }

  // Joins the smallest subtour to another one by an exchange of two edges: the first that costs next to nothing, or else the
  // cheapest; false if candidates lead to none that leaves a gain. A subtour of thousands of cities has many of these, and
  // the cheapest one would be the same for every child: members stay different, and crossover takes less time
  // (docs/performance/log.md). In an exchange that is better than the best one so far one of the two edges removed is longer
  // than one of those added, but for half of what the best one costs: it is sought from there on, as a move of Lin-Kernighan
  // is, and most candidates are too far away. C10k.0: half the time of crossover.
  bool join(double cheap, double &gain) {
    // Cities, after which any exchange will do, and after which none is sought any longer.
    constexpr int patience = 300, enough = 1000;
    const int smallest = subtours_.smallest();
    double best = tolerance_ - gain;
    int a = -1, a2 = -1, b = -1, b2 = -1, target = -1;
    int seen = 0;
    const auto is_done = [&] { return (target >= 0 && (best > -cheap || seen > patience)) || seen > enough; };
    const auto look_from = [&](int c, const Segment &own) {
      seen++;
      const int *const candidates = candidates_ + (size_t)c * count_;
      const Value *const lengths = lengths_ + (size_t)c * count_;
      double removed[2];
      for (int s = 0; s < 2; s++) {
        const int c2 = links_[c].to[s];
        removed[s] = is_fixed(c, c2) ? never : distance(c, c2);
      }
      const double longest = std::max(removed[0], removed[1]);
      for (int q = 0; q < count_ && candidates[q] >= 0; q++) {
        const int d = candidates[q];
        const double added = (double)lengths[q];
        if (longest - added <= 0.5 * best) break;
        const int at = cycles_.position(d);
        // Most are in the same segment, where there is nothing to look up.
        if (at >= own.begin ? at - own.begin < own.size : at - own.begin + cycles_.size() < own.size) continue;
        const int other = subtours_.at(at);
        if (other == smallest) continue;
        for (int s = 0; s < 2; s++) {
          const double first = removed[s] - added;
          if (first <= 0.5 * best) continue;
          const int c2 = links_[c].to[s];
          for (int d2 : links_[d].to) {
            if (is_fixed(d, d2)) continue;
            const double value = first + distance(d, d2) - distance(c2, d2);
            if (value > best) best = value, a = c, a2 = c2, b = d, b2 = d2, target = other;
          }
        }
      }
    };
    segments_.clear();
    subtours_.each_segment(smallest, [&](int r) {
      segments_.push_back({cycles_.next_position(subtours_.cuts[r]), subtours_.segment_size(r)});
    });
    // From both ends of each segment inwards: other subtours are near where the tour was cut.
    for (int k = 0; !segments_.empty() && !is_done(); k++) {
      size_t left = 0;
      for (size_t q = 0; q < segments_.size() && !is_done(); q++) {
        const Segment own = segments_[q];
        look_from(city_at(own.begin + k), own);
        if (2 * k + 1 < own.size) look_from(city_at(own.begin + own.size - 1 - k), own);
        if (2 * k + 2 < own.size) segments_[left++] = own;
      }
      segments_.resize(left);
    }
    if (target < 0) return false;
    change(a, a2, b);
    change(b, b2, a);
    change(a2, a, b2);
    change(b2, b, a2);
    gain += best;
    subtours_.join(smallest, target);
    return true;
  }
};

}  // namespace warptsp::lk
