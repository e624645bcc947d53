// What a search on CPU threads has done; one of directed tours knows no kicks that are restored or refused, and no steps.
#pragma once
#include "common/metric.h"  // WARPTSP_FN

namespace warptsp::lk {

struct LkCounters {
  long long kicks = 0, accepted = 0, improved = 0, restored = 0, refused = 0;
  long long evaluations = 0, steps = 0, moves = 0, cells = 0;

  WARPTSP_FN LkCounters &operator+=(const LkCounters &c) {
    kicks += c.kicks, accepted += c.accepted, improved += c.improved, restored += c.restored, refused += c.refused;
    evaluations += c.evaluations, steps += c.steps, moves += c.moves, cells += c.cells;
    return *this;
  }
};

}  // namespace warptsp::lk
