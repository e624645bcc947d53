// Annealing of a whole tour with a known number of kicks, and whether to end after it. Host code only.
#pragma once
#include <algorithm>
#include <cmath>

#include "lk/tour_search.h"

namespace warptsp::lk {

// A loss is accepted at a temperature that falls linearly from `start` mean edges of the tour to 0, when the share `cold`
// of the kicks is left, after every `step` kicks.
struct AnnealingPlan {
  long long kicks, step;
  double start, cold;
  int most;  // annealings, each from the best tour, until one ends with its length again; with 1, that is not asked
};

class Annealings {
 public:
  Annealings(TourSearch &search, int cities, const AnnealingPlan &plan)
      : search_(search), cities_(cities), plan_(plan) {
    begin();
  }

  // The kicks at one temperature. True when the last annealing has ended.
  bool proceed(unsigned long long seed, unsigned long long round, const StopToken &token) {
    const long long done = kicks() - begun_;
    if (done < plan_.kicks) {
      const double progress = (double)done * (1.0 / (double)plan_.kicks);
      const double temperature = plan_.start * mean_edge_ * std::max(0.0, 1.0 - progress / (1.0 - plan_.cold));
      search_.kicks({std::min(plan_.step, plan_.kicks - done), temperature, seed, round, 0}, token);
    }
    if (kicks() - begun_ < plan_.kicks) return false;
    if (number_ > 0 &&
        std::abs(search_.length() - before_) <= 1e-9 * std::max(std::abs(search_.length()), std::abs(before_)))
      agreed_ = true;
    if (agreed_ || ++number_ >= plan_.most) return true;
    search_.return_to_best();
    begin();
    return false;
  }

  // Whether two annealings ended with one length.
  bool agreed() const { return agreed_; }

 private:
  long long kicks() const { return search_.counters().kicks + search_.counters().refused; }
  void begin() {
    begun_ = kicks();
    before_ = search_.best_length();
    mean_edge_ = std::abs(search_.length()) / cities_;
  }

  TourSearch &search_;
  int cities_, number_ = 0;
  AnnealingPlan plan_;
  long long begun_ = 0;
  double before_ = 0, mean_edge_ = 0;
  bool agreed_ = false;
};

}  // namespace warptsp::lk
