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
#include <iterator>
#include <limits>
#include <memory>
#include <numeric>
#include <unordered_set>
#include <utility>
#include <vector>

#include "common/random.h"
#include "lk/alternating_cycles.h"
#include "lk/tour_population.h"

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
    const Uses &uses = uses_[a];
    for (const Use &use : uses.first)
      if (use.other == b) return use.count;
    if (uses.more)
      for (const Use &use : *uses.more)
        if (use.other == b) return use.count;
    return 0;
  }

 private:
  struct Use {
    int other = -1, count = 0;  // no edge, if the count is 0
  };
  // Of a city, the edges to higher numbers; few have more than these in all tours.
  struct alignas(32) Uses {
    Use first[3];
    std::unique_ptr<std::vector<Use>> more;
  };
  Buffer<Uses> uses_;

  void add(int a, int b, int change) {
    if (a > b) std::swap(a, b);
    Uses &uses = uses_[a];
    Use *free = nullptr;
    const auto takes = [&](Use &use) {
      if (use.count == 0) {
        if (!free) free = &use;
        return false;
      }
      if (use.other != b) return false;
      use.count += change;
      if (use.count == 0) use.other = -1;
      return true;
    };
    for (Use &use : uses.first)
      if (takes(use)) return;
    if (uses.more)
      for (Use &use : *uses.more)
        if (takes(use)) return;
    if (!free) {
      if (!uses.more) uses.more = std::make_unique<std::vector<Use>>();
      free = &uses.more->emplace_back();
    }
    *free = {b, change};
  }
};

// Sets of cycles, by the edges that they change. In late generations most pairs differ where others did before.
// E100k.0, 20 members: 11.1 instead of 16.9 CPU s, as good a tour (EXP-360).
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

  static Key mixed(int a, int b) { return mix64((Key)(unsigned)a << 32 | (unsigned)b); }
};

// Two tours A and B while a child of A is made: what one step leaves to the next.
struct Crossing {
  // Edges a a2 and b b2 of two subtours, instead of which a b and a2 b2 join these.
  struct Joint {
    int a, a2, b, b2;
  };
  struct Ranked {
    double value;  // once the set has been tried: never, if nothing comes of it
    int set;
    SetsOfCycles::Key key;
    size_t at;  // among the promising ones that have been tried
  };
  // That made one tour of what a set leaves: the first ones.
  struct Joints {
    int count = 0;
    Joint first[8];

    const Joint *begin() const { return first; }
    const Joint *end() const { return first + count; }
  };

  LinkedTour *a = nullptr;
  AlternatingCycles cycles;
  std::vector<double> gains;            // of a cycle, before subtours are joined
  std::vector<int> sets, ends_of_sets;  // cycles that are exchanged together, set after set: first each alone
  std::vector<Ranked> promising;        // sets that gain something before that
  std::vector<Joints> joints;           // of each of them that has been tried
  std::vector<Ranked> ranked;           // and afterwards
  size_t tried = 0, trying = 0;         // promising sets that have been tried, and those that are next, up to this one
  int wanted = 0;                       // sets for the child

  int begin_of_set(int k) const { return k > 0 ? ends_of_sets[k - 1] : 0; }
  const int *set(int k) const { return sets.data() + begin_of_set(k); }
  int size_of_set(int k) const { return ends_of_sets[k] - begin_of_set(k); }
};

// Links of a tour that stays as it is, some of which are others while a child is tried: any number of threads can try
// children of one tour, each with its own. A city that has not changed costs a look at a bit.
class TriedLinks {
 public:
  TriedLinks() : slots_(256) {}

  void begin(const LinkedTour &tour) { tour_ = tour.links.data(); }
  const TourLinks &operator[](int city) const {
    const unsigned h = hash(city);
    if (!(filter_[h >> 26] >> (h >> 20 & 63) & 1)) return tour_[city];
    const Slot &slot = slots_[place(city)];
    return slot.city == city ? slot.links : tour_[city];
  }
  void set(int city, int which, int to) {
    if (2 * used_.size() >= slots_.size()) grow();
    Slot &slot = slots_[place(city)];
    if (slot.city != city) take(slot, {city, tour_[city]});
    slot.links.to[which] = to;
  }
  void undo(const std::vector<EdgeChange> &) {
    for (const int place : used_) slots_[place].city = -1;
    used_.clear();
    std::fill(std::begin(filter_), std::end(filter_), 0);
  }

 private:
  struct Slot {
    int city = -1;
    TourLinks links;
  };
  const TourLinks *tour_ = nullptr;
  std::vector<Slot> slots_;  // a power of two of them, less than half of them used
  std::vector<int> used_;
  unsigned long long filter_[64] = {};  // a bit of each city that has changed, and of others

  static unsigned hash(int city) { return (unsigned)city * 0x9E3779B1u; }
  int place(int city) const {
    const unsigned last = (unsigned)slots_.size() - 1;
    unsigned k = hash(city) >> 7 & last;
    while (slots_[k].city >= 0 && slots_[k].city != city) k = (k + 1) & last;
    return (int)k;
  }
  void take(Slot &slot, const Slot &value) {
    const unsigned h = hash(value.city);
    filter_[h >> 26] |= 1ull << (h >> 20 & 63);
    used_.push_back((int)(&slot - slots_.data()));
    slot = value;
  }
  void grow() {
    std::vector<Slot> slots(2 * slots_.size());
    std::swap(slots, slots_);
    used_.clear();
    for (const Slot &slot : slots)
      if (slot.city >= 0) take(slots_[place(slot.city)], slot);
  }
};

// The links of a tour that become those of its child.
class OwnLinks {
 public:
  void begin(LinkedTour &tour) { links_ = tour.links.data(); }
  const TourLinks &operator[](int city) const { return links_[city]; }
  void set(int city, int which, int to) { links_[city].to[which] = to; }
  void undo(const std::vector<EdgeChange> &changes) {
    for (auto change = changes.rbegin(); change != changes.rend(); ++change)
      links_[change->city].to[change->slot] = change->from;
  }

 private:
  TourLinks *links_ = nullptr;
};

// What a thread crosses tours with.
template <class Metric>
class EdgeAssembly {
 public:
  typedef typename Metric::Value Value;

  // `candidates` [size, K], -1 padded; `lengths` [size, K] of them; `fixed` [size, 2] or null: edges that every tour has. A
  // gain must exceed `tolerance`.
  EdgeAssembly(const Metric &metric, int size, const int *candidates, const Value *lengths, int count, const int *fixed,
               double tolerance)
      : metric_(metric), count_(count), candidates_(candidates), lengths_(lengths), fixed_(fixed),
        tolerance_(tolerance), finder_(size) {}

  // Of the cycles in which A and B differ, the best one of every `selection` will be exchanged in A. With `blocks` each of
  // them is tried with all cycles around it, too; sets that have `failed` with this A are left out.
  void begin(Crossing &pair, LinkedTour &a, const LinkedTour &b, int selection, bool blocks, const EdgeCounts &counts,
             int population, const SetsOfCycles &failed, Random &random) {
    pair.a = &a;
    finder_.find(a, b, random, pair.cycles);
    const int cycles = pair.cycles.count();
    pair.gains.resize(cycles);
    for (int k = 0; k < cycles; k++) pair.gains[k] = gain_of(pair.cycles[k]);
    pair.sets.resize(cycles);
    std::iota(pair.sets.begin(), pair.sets.end(), 0);
    pair.ends_of_sets.resize(cycles);
    std::iota(pair.ends_of_sets.begin(), pair.ends_of_sets.end(), 1);
    if (blocks) add_blocks(pair);
    pair.wanted = std::max(1, cycles / selection);
    // Joining subtours takes the time, and mostly costs something: the sets that promise most before come first.
    weigh(population);
    pair.promising.clear();
    for (int k = 0; k < (int)pair.ends_of_sets.size(); k++) {
      const double gain = gain_of_cycles(pair, pair.set(k), pair.size_of_set(k));
      if (gain <= tolerance_) continue;
      list_changes(pair.cycles, pair.set(k), pair.size_of_set(k));
      const SetsOfCycles::Key key = SetsOfCycles::key(changes_);
      if (!failed.has(key)) pair.promising.push_back({judge(gain, counts), k, key, 0});
    }
    std::sort(pair.promising.begin(), pair.promising.end(), is_better);
    pair.ranked.clear();
    pair.tried = 0;
    choose_next(pair);
  }

  // Tries those from `first` on of the promising sets that are next, and says what comes of them. Threads can share them.
  void try_sets(Crossing &pair, size_t first, size_t end, const EdgeCounts &counts, int population) {
    weigh(population);
    tried_.begin(*pair.a);
    for (; first < end; first++) {
      Crossing::Ranked &set = pair.promising[first];
      double gain;
      joints_.clear();
      const bool gains = exchange(pair, tried_, pair.set(set.set), pair.size_of_set(set.set), 1, gain);
      set.value = gains && gain > tolerance_ ? judge(gain, counts) : never;
      Crossing::Joints &joints = pair.joints[first];
      joints.count = (int)std::min(joints_.size(), std::size(joints.first));
      std::copy_n(joints_.begin(), joints.count, joints.first);
      tried_.undo(changes_);
    }
  }

  // When all of them have been tried: notes what has come of them, and which ones are next.
  static void end_tries(Crossing &pair, SetsOfCycles &failed) {
    for (; pair.tried < pair.trying; pair.tried++) {
      Crossing::Ranked &set = pair.promising[pair.tried];
      set.at = pair.tried;
      if (set.value == never)
        failed.add(set.key);
      else
        pair.ranked.push_back(set);
    }
    choose_next(pair);
  }

  // Makes the child of A, if there is one that is shorter, by changing the links of A. Returns how much shorter it is;
  // changes() are then the edges in which it differs from A, and TourChanger makes a tour of it.
  double finish(Crossing &pair) {
    std::sort(pair.ranked.begin(), pair.ranked.end(), is_better);
    choose(pair);
    own_.begin(*pair.a);
    // Together they may leave other subtours than alone; then the better half is tried, and so on.
    for (size_t sets = chosen_until_.size(); sets > 0; sets /= 2) {
      double gain;
      joints_.assign(known_.begin(), known_.begin() + known_until_[sets - 1]);
      if (exchange(pair, own_, chosen_.data(), chosen_until_[sets - 1], sets, gain) && gain > tolerance_) return gain;
      own_.undo(changes_);
    }
    return 0;
  }
  const std::vector<EdgeChange> &changes() const { return changes_; }

 private:
  static constexpr double never = -std::numeric_limits<double>::infinity();

  static bool is_better(const Crossing::Ranked &x, const Crossing::Ranked &y) {
    return x.value != y.value ? x.value > y.value : x.set < y.set;
  }

  Metric metric_;
  int count_;
  const int *candidates_;
  const Value *lengths_;
  const int *fixed_;
  double tolerance_;
  CycleFinder finder_;
  Subtours subtours_;
  TriedLinks tried_;
  OwnLinks own_;
  std::vector<double> terms_;                    // of the entropy, by the uses of an edge, from -1 on
  std::vector<char> taken_;                      // of a cycle
  std::vector<int> chosen_, chosen_until_;       // cycles, and how many there are with each further set
  std::vector<Crossing::Joint> known_, joints_;  // of the chosen sets; of a child, first those that it is given
  std::vector<int> known_until_;
  std::vector<std::pair<int, int>> cuts_;  // of A by a cycle: position and cycle, ascending
  std::vector<EdgeChange> changes_;
  struct Segment {  // of A, from a position on
    int begin, size;
  };
  std::vector<Segment> segments_;  // of a subtour, which is sought for a joint

  double distance(int a, int b) const { return (double)metric_(a, b); }
  bool is_fixed(int a, int b) const { return fixed_ && (fixed_[2 * (size_t)a] == b || fixed_[2 * (size_t)a + 1] == b); }

  // As many of the best sets as are missing until so many keep a gain that the best of them are hardly missed; in the order
  // in which their cycles were found, which is nearly that of memory.
  static void choose_next(Crossing &pair) {
    constexpr size_t choice = 2;
    const size_t enough = choice * (size_t)pair.wanted, found = pair.ranked.size();
    pair.trying = std::min(pair.promising.size(), pair.tried + (found < enough ? enough - found : 0));
    pair.joints.resize(pair.trying);
    std::sort(pair.promising.begin() + pair.tried, pair.promising.begin() + pair.trying,
              [](const Crossing::Ranked &x, const Crossing::Ranked &y) { return x.set < y.set; });
  }

  // The best sets, so many at most, that have no cycle in common.
  void choose(const Crossing &pair) {
    chosen_.clear();
    chosen_until_.clear();
    known_.clear();
    known_until_.clear();
    taken_.assign(pair.cycles.count(), 0);
    for (const Crossing::Ranked &ranked : pair.ranked) {
      const int *const begin = pair.set(ranked.set), *const end = begin + pair.size_of_set(ranked.set);
      if (std::any_of(begin, end, [&](int k) { return taken_[k] != 0; })) continue;
      for (const int *k = begin; k != end; ++k) taken_[*k] = 1;
      chosen_.insert(chosen_.end(), begin, end);
      chosen_until_.push_back((int)chosen_.size());
      known_.insert(known_.end(), pair.joints[ranked.at].begin(), pair.joints[ranked.at].end());
      known_until_.push_back((int)known_.size());
      if ((int)chosen_until_.size() == pair.wanted) return;
    }
  }

  // A cycle that leaves subtours, with all others that cut the smaller of them: what joins these again may be among
  // them. Nagata and Kobayashi's blocks have the same aim, and are found by tabu search.
  void add_blocks(Crossing &pair) {
    constexpr int most = 30;  // cycles of a block, beside the first
    // A long cycle would be tried in hundreds of blocks: 100 000 cities have some of thousands of edges.
    constexpr int longest = 200;
    const AlternatingCycles &all = pair.cycles;
    const int cycles = all.count();
    std::vector<int> &sets = pair.sets;
    taken_.assign(cycles, 0);
    cuts_.clear();
    for (int k = 0; k < cycles; k++) {
      const AlternatingCycle cycle = all[k];
      for (int q = 0; q < cycle.length; q += 2) cuts_.push_back({all.cut(cycle[q], cycle.after(q)), k});
    }
    std::sort(cuts_.begin(), cuts_.end());
    for (int k = 0; k < cycles; k++) {
      subtours_.find(all, &k, 1);
      const std::vector<int> &sizes = subtours_.sizes;
      const int largest = (int)(std::max_element(sizes.begin(), sizes.end()) - sizes.begin());
      const size_t begin = sets.size();
      taken_[k] = 1;
      for (int r = 0; r < (int)subtours_.cuts.size() && sets.size() - begin <= most; r++) {
        if (subtours_.of_segment(r) == largest) continue;
        const int first = subtours_.begin_of_segment(r), cities = subtours_.segment_size(r);
        auto cut = std::lower_bound(cuts_.begin(), cuts_.end(), std::make_pair(first, -1));
        for (size_t seen = 0; seen < cuts_.size() && sets.size() - begin <= most; seen++, ++cut) {
          if (cut == cuts_.end()) cut = cuts_.begin();
          const int place = cut->first >= first ? cut->first - first : cut->first - first + all.size();
          if (place >= cities - 1) break;
          if (!taken_[cut->second] && all[cut->second].length <= longest) {
            taken_[cut->second] = 1;
            sets.push_back(cut->second);
          }
        }
      }
      taken_[k] = 0;
      for (size_t q = begin; q < sets.size(); q++) taken_[sets[q]] = 0;
      const size_t others = sets.size() - begin;
      if (others == 0 || others > most) {
        sets.resize(begin);
        continue;
      }
      sets.push_back(k);
      pair.ends_of_sets.push_back((int)sets.size());
    }
  }

  // A joint may remove an edge that was added, or add one that was removed: one use less than none, one more than all.
  void weigh(int population) {
    if ((int)terms_.size() == population + 3) return;
    terms_.assign(population + 3, 0.0);
    for (int uses = 1; uses <= population + 1; uses++) terms_[uses + 1] = entropy_of(uses, population);
  }

  // What the changes are worth, which gain so much.
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
    return worth(gain, entropy);
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
  void list_changes(const AlternatingCycles &cycles, const int *chosen, int count) {
    changes_.clear();
    for (int j = 0; j < count; j++) {
      const AlternatingCycle cycle = cycles[chosen[j]];
      for (int k = 0; k < cycle.length; k++) {
        const int after = cycle.after(k), before = cycle.before(k);
        changes_.push_back(k % 2 == 0 ? EdgeChange{cycle[k], 0, after, before}
                                      : EdgeChange{cycle[k], 0, before, after});
      }
    }
  }
  double gain_of_cycles(const Crossing &pair, const int *chosen, int count) const {
    double gain = 0;
    for (int j = 0; j < count; j++) gain += pair.gains[chosen[j]];
    return gain;
  }
  template <class Links>
  void make(Links &links, EdgeChange &change) {
    change.slot = links[change.city].to[0] == change.from ? 0 : 1;
    links.set(change.city, change.slot, change.to);
  }
  template <class Links>
  void make(Links &links, const Crossing::Joint &joint) {
    const auto [a, a2, b, b2] = joint;
    for (const EdgeChange &change : {EdgeChange{a, 0, a2, b}, {b, 0, b2, a}, {a2, 0, a, b2}, {b2, 0, b, a2}}) {
      changes_.push_back(change);
      make(links, changes_.back());
    }
  }

  // Exchanges some of the cycles, so many sets of them, and joins the subtours that they leave, by joints_ as far as these
  // go; false if that is not one tour. Joining nearly always costs something: a child that is no longer shorter is given up
  // before.
  template <class Links>
  bool exchange(const Crossing &pair, Links &links, const int *chosen, int count, size_t sets, double &gain) {
    gain = gain_of_cycles(pair, chosen, count);
    changes_.clear();
    if (gain <= tolerance_) return false;
    list_changes(pair.cycles, chosen, count);
    for (EdgeChange &c : changes_) make(links, c);
    subtours_.find(pair.cycles, chosen, count);
    subtours_.begin_joining();
    constexpr double next_to_nothing = 0.01;  // of what a set gains
    const double cheap = next_to_nothing * gain / (double)sets;
    int subtours = (int)subtours_.sizes.size();
    for (const Crossing::Joint &joint : joints_) {
      const int own = subtours_.at(pair.cycles.position(joint.a)), other = subtours_.at(pair.cycles.position(joint.b));
      if (own == other || !links[joint.a].has(joint.a2) || !links[joint.b].has(joint.b2)) continue;
      gain += distance(joint.a, joint.a2) + distance(joint.b, joint.b2) - distance(joint.a, joint.b) -
              distance(joint.a2, joint.b2);
      make(links, joint);
      subtours_.join(own, other);
      subtours--;
    }
    for (; subtours > 1; subtours--)
      if (gain <= tolerance_ || !join(*pair.a, links, cheap, gain)) return false;
    return true;
  }

  // Joins the smallest subtour to another one by an exchange of two edges: the first that costs next to nothing, or else the
  // cheapest; false if candidates lead to none that leaves a gain. A subtour of thousands of cities has many of these, and
  // the cheapest one would be the same for every child: members stay different, and crossover takes less time
  // (EXP-228). In an exchange that is better than the best one so far one of the two edges removed is longer
  // than one of those added, but for half of what the best one costs: it is sought from there on, as a move of Lin-Kernighan
  // is, and most candidates are too far away. C10k.0: half the time of crossover.
  template <class Links>
  bool join(const LinkedTour &tour, Links &links, double cheap, double &gain) {
    // Cities, after which any exchange will do, and after which none is sought any longer.
    constexpr int patience = 300, enough = 1000;
    const int size = (int)tour.order.size(), smallest = subtours_.smallest();
    const auto city_at = [&](int p) { return tour.order[p < size ? p : p - size]; };  // up to a turn behind the last
    double best = tolerance_ - gain;
    int a = -1, a2 = -1, b = -1, b2 = -1, target = -1;
    int seen = 0;
    const auto is_done = [&] { return (target >= 0 && (best > -cheap || seen > patience)) || seen > enough; };
    const auto look_from = [&](int c, const Segment &own) {
      seen++;
      const int *const candidates = candidates_ + (size_t)c * count_;
      const Value *const lengths = lengths_ + (size_t)c * count_;
      const TourLinks at_c = links[c];
      double removed[2];
      for (int s = 0; s < 2; s++) removed[s] = is_fixed(c, at_c.to[s]) ? never : distance(c, at_c.to[s]);
      const double longest = std::max(removed[0], removed[1]);
      for (int q = 0; q < count_ && candidates[q] >= 0; q++) {
        const int d = candidates[q];
        const double added = (double)lengths[q];
        if (longest - added <= 0.5 * best) break;
        const int at = tour.position[d];
        // Most are in the same segment, where there is nothing to look up.
        if (at >= own.begin ? at - own.begin < own.size : at - own.begin + size < own.size) continue;
        const int other = subtours_.at(at);
        if (other == smallest) continue;
        const TourLinks at_d = links[d];
        for (int s = 0; s < 2; s++) {
          const double first = removed[s] - added;
          if (first <= 0.5 * best) continue;
          const int c2 = at_c.to[s];
          for (int d2 : at_d.to) {
            if (is_fixed(d, d2)) continue;
            const double value = first + distance(d, d2) - distance(c2, d2);
            if (value > best) best = value, a = c, a2 = c2, b = d, b2 = d2, target = other;
          }
        }
      }
    };
    segments_.clear();
    subtours_.each_segment(
        smallest, [&](int r) { segments_.push_back({subtours_.begin_of_segment(r), subtours_.segment_size(r)}); });
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
    joints_.push_back({a, a2, b, b2});
    make(links, joints_.back());
    gain += best;
    subtours_.join(smallest, target);
    return true;
  }
};

}  // namespace warptsp::lk
