// Annealing of a whole tour with a known number of kicks, and whether to end after it. Host code only.
#pragma once
#include <algorithm>
#include <cmath>

#include "lk/cooling.h"
#include "lk/tour_search.h"

namespace warptsp::lk {

// A loss is accepted at a temperature that falls linearly from `start` mean edges of the tour to 0, when the share `cold`
// of the kicks is left, after every `step` kicks.
struct AnnealingPlan {
  long long kicks = 0, step = 1;
  double start = 0, cold = 0.04;
};

class Annealing {
 public:
  Annealing(TourSearch &search, int cities, const AnnealingPlan &plan)
      : search_(search), plan_(plan), begun_(kicks()), mean_edge_(std::abs(search.length()) / cities) {}

  // The kicks at one temperature. True when these were the last ones.
  bool proceed(unsigned long long seed, unsigned long long round, const StopToken &token) {
    const long long done = kicks() - begun_;
    if (done < plan_.kicks) {
      const double progress = (double)done * (1.0 / (double)plan_.kicks);
      const double temperature = plan_.start * mean_edge_ * cooled(progress, plan_.cold);
      search_.kicks({std::min(plan_.step, plan_.kicks - done), temperature, seed, round, 0}, token);
    }
    return kicks() - begun_ >= plan_.kicks;
  }

 private:
  long long kicks() const { return search_.counters().kicks + search_.counters().refused; }

  TourSearch &search_;
  AnnealingPlan plan_;
  long long begun_;
  double mean_edge_;
};

}  // namespace warptsp::lk
