// The scan of the GPU's climbers, thread by thread on the host, against two plain loops.
#include "papers/hill_climbing/ring_scan.h"

#include <vector>

#include "check.h"
#include "common/random.h"

using namespace warptsp;
using namespace warptsp::exhaustive;

namespace {

template <Rounding rounding, int R>
void compare(int n, int side, int segments, bool alone) {
  typedef RingScan<rounding> Scan;
  typedef typename Scan::Value Value;
  warptsp::Random random(3, n, R);
  std::vector<typename Scan::Place> places(n + Scan::past(R));
  for (int p = 0; p < n; ++p) places[p] = {(float)random.below(side), (float)random.below(side), 0, p};
  for (int p = 0; p < n; ++p) places[p].edge = Scan::distance(places[p], places[p + 1 < n ? p + 1 : 0]);
  for (int p = n; p < (int)places.size(); ++p) places[p] = places[p - n];

  Value best = 0;
  RingNumber number = no_move;
  for (int edge = 0; edge < n; ++edge)
    for (int reach = 2; reach <= n / 2; ++reach) {
      const Value delta = Scan::delta(places.data(), n, edge, reach);
      if (delta < best) {
        best = delta;
        number = ring_number(edge, reach);
      }
    }

  const int strips = (n / 2 - 1 + R - 1) / R;
  const int steps = ((n + segments - 1) / segments + R - 1) / R * R;
  if (n / 2 < R + 1 || steps > n) return;
  const RingShares shares{n, strips, segments, steps};
  Value found = 0;
  RingNumber first = no_move;
  const int threads = alone ? strips * segments : strips + 3;
  for (int thread = 0; thread < threads; ++thread) {
    Value own = 0;
    int where = -1, reach = -1;
    for (int share = thread; shares.has(share); share += threads) {
      const int first_reach = shares.reach<R>(share);
      CHECK(first_reach >= 2 && first_reach + R - 1 <= n / 2);
      const Value before = own;
      Scan::template along<R>(places.data(), n, first_reach, shares.edge(share), steps, own, where);
      if (own < before) reach = first_reach;
    }
    if (own > found || where < 0) continue;
    for (int m = 0; m < R * R; ++m)
      if (Scan::delta(places.data(), n, where + m / R, reach + m % R) == own) {
        const RingNumber candidate = ring_number(where + m / R, reach + m % R);
        if (own < found || candidate < first) first = candidate;
        break;
      }
    found = own;
  }
  CHECK(found == best);
  CHECK(first == number);
}

template <Rounding rounding>
void compare_all() {
  for (int n : {20, 21, 22, 37, 64, 99, 100, 201})
    for (int side : {4, 700})
      for (int segments : {1, 2, 3, 5})
        for (bool alone : {true, false}) {
          compare<rounding, 5>(n, side, segments, alone);
          compare<rounding, 7>(n, side, segments, alone);
          compare<rounding, 9>(n, side, segments, alone);
        }
}

}  // namespace

TEST(the_scan_finds_the_first_best_move) {
  compare_all<Rounding::none>();
  compare_all<Rounding::nearest>();
  compare_all<Rounding::up>();
  compare_all<Rounding::down>();
}
