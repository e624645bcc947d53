// Populations from the first member to the end of their crossover. Host code only.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>

#include "lk/tour_search.h"

namespace warptsp::lk {

struct PopulationPlan {
  int members;    // to grow, beside the best tour; 0: the population is there
  int at_once;    // members that one step grows
  int selection;  // of so many children one is taken
  int idle;       // generations without progress that end it
  int agreeing;   // populations that end with the shortest length found, after which no other begins
  int most;       // populations
};

// Populations that know nothing of each other, until some agree.
class PopulationRun {
 public:
  PopulationRun(TourSearch &search, const PopulationPlan &plan) : search_(search), plan_(plan) {
    if (plan.members == 0) return;
    search.forget();
    search.keep();
  }

  // Grows a few members, which are made quickly, or makes one generation. True at the end of the last population.
  bool proceed(unsigned long long seed, unsigned long long round, int threads, const StopToken &token) {
    if (grown_ < plan_.members) {
      const int count = std::min(plan_.at_once, plan_.members - grown_);
      grown_ += count;
      search_.grow({count, 0.0, 0.0, seed, round, threads, quick_steps}, token);
      return false;
    }
    if (spread_ == none) best_ = search_.least_length();
    search_.generation(plan_.selection, seed, round, threads, token);
    const double best = search_.least_length(), spread = search_.mean_length() - best;
    idle_ = best >= best_ && spread > 0.98 * spread_ ? idle_ + 1 : 0;
    best_ = best;
    spread_ = std::min(spread_, spread);
    const bool ended = idle_ >= plan_.idle || spread <= rounding * std::abs(best);
    return ended && !begins_again();
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
    grown_ = idle_ = 0;
    spread_ = none;
    return true;
  }

  TourSearch &search_;
  PopulationPlan plan_;
  int grown_ = 0, idle_ = 0, ended_ = 0, agreeing_ = 0;
  double best_ = 0, spread_ = none;  // mean length less the best one, at its least
  double known_ = none;              // the shortest length of the populations that have ended
};

}  // namespace warptsp::lk
