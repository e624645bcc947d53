// 2-opt without most of its pairs: stretches of the tour that lie too far apart for a gain are skipped together.
//
// A move of the edges i and j gains nothing if its new edges, from one of two stretches to the other, are as long as
// the longest old ones. Twice the distance of the stretches' boxes is a bound of the new ones; squares are compared, so
// that no root is taken. What the best move so far gains has to be gained, too. On a tour of short edges some dozens of
// stretches are left for each one, on a random tour all.
#pragma once
#include "common/metric.h"

namespace warptsp::exhaustive {

constexpr int stretch_links = 32;

WARPTSP_FN constexpr int stretches_of(int n) { return (n + stretch_links - 1) / stretch_links; }

// What encloses the ends of a stretch of edges, and the longest of these.
template <class Real>
struct Stretch {
  Real low_x, high_x, low_y, high_y, edge;

  WARPTSP_FN Real square_to(Real x, Real y) const {
    const Real dx = gap(low_x - x, x - high_x), dy = gap(low_y - y, y - high_y);
    return dx * dx + dy * dy;
  }
  WARPTSP_FN Real square_to(const Stretch &other) const {
    const Real dx = gap(low_x - other.high_x, other.low_x - high_x),
               dy = gap(low_y - other.high_y, other.low_y - high_y);
    return dx * dx + dy * dy;
  }

 private:
  WARPTSP_FN static Real gap(Real below, Real above) {
    const Real larger = below > above ? below : above;
    return larger > Real(0) ? larger : Real(0);
  }
};

// The metric's distances are `scale` times those of the plane, or more, less `rounding`, by which they fall short.
template <class Real>
struct PruningRule {
  Real square_scale, rounding;

  // Whether no move whose new edges are that far apart, and whose old ones so long, changes the length by `below` or
  // less.
  WARPTSP_FN bool skips(Real square, Real edges, Real below) const {
    const Real most = edges + below + Real(2) * rounding;
    return most < Real(0) || Real(4) * square_scale * square > most * most;
  }
};

// For distances of metric.h; `little` is more than all errors of rounding.
WARPTSP_FN PruningRule<double> pruning_rule(MetricKind kind, double little) {
  const Rounding rounding = facts_of(kind).rounding;
  const double taken_off = rounding == Rounding::nearest ? 0.5 : rounding == Rounding::down ? 1.0 : 0.0;
  return {rounding == Rounding::att ? 0.1 : 1.0, taken_off + little};
}

}  // namespace warptsp::exhaustive
