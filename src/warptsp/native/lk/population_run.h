// Populations from the first member to the end of their crossover. Host code only.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>

#include "lk/tour_population.h"

namespace warptsp::lk {

struct PopulationPlan {
  int members = 0;     // to grow, beside the best tour; 0: the population is there
  int at_once = 10;    // members that one step grows
  int selection = 10;  // of so many children one is taken
  int idle = 4;        // generations without progress that end it
  int agreeing = 1;    // populations that end with the shortest length found, after which no other begins
  int most = 1;        // populations
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
    if (best_ == none) generations_ = Generations(search_.least_length(), search_.mean_length());
    search_.generation(plan_.selection, generations_.blocks(), seed, round, threads, token);
    best_ = search_.least_length();
    return generations_.ended(best_, search_.mean_length(), plan_.idle) && !begins_again();
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
