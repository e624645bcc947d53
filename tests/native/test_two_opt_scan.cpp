// The vectorised scan against two plain loops, on every instruction set that this machine has.
#include "two_opt_scan.h"

#include "check.h"
#include "random.h"

using namespace warptsp;

namespace {

template <class Real, MetricKind kind>
void compare(int n, int side, MoveOrder order, InstructionSet set, ScanPart part) {
  Random random(7, n, side);
  std::vector<Real> x(n + scan_lanes + 1), y(x), link(x), scratch(scan_scratch);
  std::vector<double> points(2 * n);
  for (int i = 0; i < 2 * n; ++i) points[i] = random.below(side);
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = (Real)points[2 * (i % n)];
    y[i] = (Real)points[2 * (i % n) + 1];
  }
  for (int i = 0; i < n; ++i) link[i] = plane_distance<kind, Real>(x[i] - x[i + 1], y[i] - y[i + 1]);
  const MoveRows rows{n, order};
  part.row_end = std::min(part.row_end, rows.end());
  part.link_end = std::min(part.link_end, n);

  // By the definition, in the order of the move numbers. Distances so small are exact in float, too.
  const auto distance = [&](int a, int b) {
    return coordinate_distance(kind, &points[2 * (a % n)], &points[2 * (b % n)]);
  };
  long long moves = 0;
  ScanBest<double> expected{0};
  for (int r = rows.begin(); r < rows.end(); ++r)
    for (int e = rows.low(r); e < rows.high(r); ++e) {
      ++moves;
      const double delta = distance(e, r) + distance(e + 1, r + 1) - distance(e, e + 1) - distance(r, r + 1);
      const bool inside = r >= part.row_begin && r < part.row_end && e >= part.link_begin && e < part.link_end;
      if (inside && delta < expected.delta) expected = {delta, r, e};
    }
  CHECK(moves == two_opt_moves(n));

  ScanBest<Real> found{0};
  const PlaneDistances<Real, kind> distances{x.data(), y.data()};
  scan(distances, ScanTask<Real>{link.data(), rows, part, scratch.data()}, found, set);
  CHECK(found.found() == expected.found());
  CHECK(!found.found() || (found.row == expected.row && found.link == expected.link));
  CHECK((double)found.delta == expected.delta);
  if (found.found()) CHECK(0 <= found.first(n) && found.first(n) + 1 < found.second(n) && found.second(n) < n);
}

}  // namespace

TEST(the_best_move_is_that_of_two_loops) {
  const ScanPart all{2, 1 << 30, 0, 1 << 30};
  for (int set = 0; set <= (int)instruction_set(); ++set)
    for (MoveOrder order : {MoveOrder::triangle, MoveOrder::ring})
      for (int n : {4, 5, 6, 7, 8, 16, 17, 18, 33, 34, 100, 201, 1030})
        for (int side : {3, 700}) {
          compare<float, MetricKind::euc_2d>(n, side, order, (InstructionSet)set, all);
          compare<double, MetricKind::euc_2d>(n, side, order, (InstructionSet)set, all);
          compare<double, MetricKind::ceil_2d>(n, side, order, (InstructionSet)set, all);
          compare<double, MetricKind::floor_2d>(n, side, order, (InstructionSet)set, all);
          compare<double, MetricKind::att>(n, side, order, (InstructionSet)set, all);
          compare<float, MetricKind::euc_2d>(n, side, order, (InstructionSet)set, {n / 3, n, n / 5, n / 2});
        }
}
