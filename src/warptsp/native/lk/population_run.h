// A population from its first member to the end of its crossover. Host code only.
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
};

class PopulationRun {
 public:
  PopulationRun(TourSearch &search, const PopulationPlan &plan) : search_(search), plan_(plan) {
    if (plan.members == 0) return;
    search.forget();
    search.keep();
  }

  // Grows a few members, which are made quickly, or makes one generation. True when nothing more is gained.
  bool proceed(unsigned long long seed, unsigned long long round, int threads, const StopToken &token) {
    if (grown_ < plan_.members) {
      const int count = std::min(plan_.at_once, plan_.members - grown_);
      grown_ += count;
      search_.grow({count, 0.0, 0.0, seed, round, threads, true}, token);
      return false;
    }
    if (spread_ == std::numeric_limits<double>::infinity()) best_ = search_.best_length();
    search_.generation(plan_.selection, seed, round, threads, token);
    const double best = search_.best_length(), spread = search_.mean_length() - best;
    idle_ = best >= best_ && spread > 0.98 * spread_ ? idle_ + 1 : 0;
    best_ = best;
    spread_ = std::min(spread_, spread);
    return idle_ >= plan_.idle || spread <= 1e-7 * std::abs(best);
  }

 private:
  TourSearch &search_;
  PopulationPlan plan_;
  int grown_ = 0, idle_ = 0;
  double best_ = 0, spread_ = std::numeric_limits<double>::infinity();  // mean length less the best one, at its least
};

}  // namespace warptsp::lk
