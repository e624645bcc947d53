// A population of tours, with a direction or without, as who plans for it sees it; what a child is worth to it, when its
// generations end, and populations from the first member to that end. Host code only.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "common/shuffle.h"
#include "common/stop_token.h"

namespace warptsp::lk {

constexpr int quick_steps = 3;  // where nothing else is said

// New members, each after local search and kicks at a falling temperature.
struct Growth {
  int count;
  double kicks_per_city, temperature;  // in mean edge lengths
  unsigned long long seed, round;
  int threads;
  int steps = 0;            // of the moves of quick members, at most; 0: moves as the search makes them
  bool long_links = false;  // whether they are searched among these, before and after local search (lk/long_links.h)

  // Of a member.
  long long kicks(int cities) const { return (long long)(kicks_per_city * cities + 0.5); }
};

class TourPopulation {
 public:
  virtual ~TourPopulation() = default;
  virtual void grow(const Growth &growth, const StopToken &token) = 0;
  // Each member may be replaced by its child with another one, the best of `selection`; `blocks` exchange more at a time.
  virtual void generation(int selection, bool blocks, unsigned long long seed, unsigned long long round, int threads,
                          const StopToken &token) = 0;
  // Adds the best tour.
  virtual void keep() = 0;
  virtual void forget() = 0;
  // Goes on from the best tour.
  virtual void return_to_best() = 0;
  // Whether a generation takes a few milliseconds.
  virtual bool is_brief() const { return false; }

  int members() const { return (int)lengths().size(); }
  double mean_length() const {
    const std::vector<double> all = lengths();
    return std::accumulate(all.begin(), all.end(), 0.0) / (double)std::max<size_t>(1, all.size());
  }
  double least_length() const {
    double least = std::numeric_limits<double>::infinity();
    for (const double length : lengths()) least = std::min(least, length);
    return least;
  }

 protected:
  // Of the members.
  virtual std::vector<double> lengths() const = 0;
};

// The members in the order in which each is crossed with the next one.
inline std::vector<int> order_of_pairs(int members, unsigned long long seed, unsigned long long round) {
  Random random(seed, round, ~1ull);
  std::vector<int> order(members);
  std::iota(order.begin(), order.end(), 0);
  shuffle(order, random);
  return order;
}

// What an edge that so many of the members have adds to the population's entropy.
inline double entropy_of(int uses, int members) {
  if (uses <= 0) return 0;
  const double share = uses / (double)members;
  return -share * std::log(share);
}

// The gain for each unit of entropy that the population would lose.
inline double worth(double gain, double entropy) {
  constexpr double costs_nothing = 1e6;
  return entropy < 0 ? gain / -entropy : gain * costs_nothing;
}

struct PopulationPlan {
  int members = 0;     // to grow, beside the best tour; 0: the population is there
  int at_once = 10;    // members that one step grows
  int selection = 10;  // of so many children one is taken
  int idle = 4;        // generations without progress that end it
  int agreeing = 1;    // populations that end with the shortest length found, after which no other begins
  int most = 1;        // populations
  // Whether a member may be far better than the others, which are still to come up with it when it becomes shorter.
  bool uneven = false;
  // Whether blocks go on as long as they gain anything: in long tours that is worth more than another population.
  bool patient = false;
  // Whether they begin after the first generation of single cycles that gains less than 7 % of the most: on a GPU's 16
  // threads tours are better in as much time, on one thread blocks of 300 members take too long then (EXP-561).
  bool early = false;
};

// Generations of a population: first of single cycles, then of blocks, each until so many in turn bring next to nothing.
class Generations {
 public:
  Generations() = default;
  // The shortest length before the first generation, and the mean one.
  Generations(double best, double mean, const PopulationPlan &plan) : plan_(plan), best_(best), mean_(mean) {}

  bool blocks() const { return blocks_; }

  // After each generation; true when nothing more is to be gained.
  bool ended(double best, double mean) {
    // Of the most that a generation has gained: long tours gain a little in each. 100 000 cities made 40 generations of
    // single cycles for the last 0.01 %, of which blocks made 0.1 (EXP-351).
    const bool early = plan_.early && !blocks_;
    const double little = early ? 0.07 : plan_.patient && blocks_ ? 0.002 : 0.02;
    const double spread = mean - best, gain = mean_ - mean;
    const bool slow = gain <= little * most_;
    // Patience is not for the spread: a member far better than all others keeps it wide (EXP-549).
    idle_ = slow || (!plan_.patient && best >= best_ && spread > 0.98 * spread_) ? idle_ + 1 : 0;
    most_ = std::max(most_, gain);
    spread_ = plan_.uneven && best < best_ ? spread : std::min(spread_, spread);
    mean_ = mean;
    best_ = best;
    if (spread <= 1e-7 * std::fabs(best)) return true;
    if (idle_ < (early ? 1 : plan_.idle)) return false;
    if (blocks_) return true;
    blocks_ = true;
    idle_ = 0;
    most_ = 0;
    return false;
  }

 private:
  PopulationPlan plan_;
  // After the generation before; the mean length less the best one, at its least; the most that a generation has gained.
  double best_ = 0, mean_ = 0, spread_ = std::numeric_limits<double>::infinity(), most_ = 0;
  int idle_ = 0;
  bool blocks_ = false;
};

// Populations that know nothing of each other, until some agree.
class PopulationRun {
 public:
  PopulationRun(TourPopulation &search, const PopulationPlan &plan) : search_(search), plan_(plan) {
    if (plan.members == 0) return;
    search.forget();
    search.keep();
  }

  bool is_brief() const { return search_.is_brief(); }

  // Grows a few members, which are made quickly, or makes one generation. True at the end of the last population.
  bool proceed(unsigned long long seed, unsigned long long round, int threads, const StopToken &token) {
    if (grown_ < plan_.members) {
      const int count = std::min(plan_.at_once, plan_.members - grown_);
      grown_ += count;
      search_.grow({count, 0.0, 0.0, seed, round, threads, quick_steps}, token);
      return false;
    }
    if (best_ == none) generations_ = Generations(search_.least_length(), search_.mean_length(), plan_);
    search_.generation(plan_.selection, generations_.blocks(), seed, round, threads, token);
    best_ = search_.least_length();
    return generations_.ended(best_, search_.mean_length()) && !begins_again();
  }

 private:
  static constexpr double none = std::numeric_limits<double>::infinity(), rounding = 1e-7;

  // After the end of a population.
  bool begins_again() {
    if (best_ < known_ - rounding * std::abs(best_)) agreeing_ = 0;
    if (best_ <= known_ + rounding * std::abs(best_)) agreeing_++;
    known_ = std::min(known_, best_);
    if (++ended_ >= plan_.most || agreeing_ >= plan_.agreeing) return false;
    search_.forget();
    grown_ = 0;
    best_ = none;
    return true;
  }

  TourPopulation &search_;
  PopulationPlan plan_;
  int grown_ = 0, ended_ = 0, agreeing_ = 0;
  Generations generations_;
  double best_ = none;   // the shortest length after the last generation of this population
  double known_ = none;  // the same of the populations that have ended
};

}  // namespace warptsp::lk
