// The vectorised scan against two plain loops, on every instruction set that this machine has.
#include "papers/exhaustive/two_opt_scan.h"

#include "check.h"
#include "common/random.h"

using namespace warptsp;
using namespace warptsp::exhaustive;

namespace {

template <class Real, MetricKind kind>
void compare(int n, int side, MoveOrder order, InstructionSet set, ScanPart part) {
  const MoveRows rows{n, order};
  warptsp::Random random(7, n, side);
  std::vector<Real> x(rows.positions()), y(x), edge(x), scratch(scan_scratch);
  std::vector<double> points(2 * n);
  for (int i = 0; i < 2 * n; ++i) points[i] = random.below(side);
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = (Real)points[2 * (i % n)];
    y[i] = (Real)points[2 * (i % n) + 1];
  }
  for (size_t i = 0; i < x.size(); ++i) {
    const size_t a = i % n, b = (i + 1) % n;
    edge[i] = plane_distance<kind, Real>(x[a] - x[b], y[a] - y[b]);
  }

  // By the definition, in the order of the move numbers. Distances so small are exact in float, too.
  const auto distance = [&](int a, int b) {
    return coordinate_distance(kind, &points[2 * (a % n)], &points[2 * (b % n)]);
  };
  long long moves = 0;
  ScanBest<double> expected{0};
  for (int r = rows.begin(); r < rows.end(); ++r)
    for (int j = rows.low(r); j < rows.high(r); ++j) {
      ++moves;
      const double delta = distance(r, j) + distance(r + 1, j + 1) - distance(r, r + 1) - distance(j, j + 1);
      const bool inside = r >= part.row_begin && r < part.row_end && j >= part.edge_begin && j < part.edge_end;
      if (inside && delta < expected.delta) expected = {delta, r, j};
    }
  CHECK(moves == (n > 3 ? n * (n - 3ll) / 2 : 0));

  ScanBest<Real> found{0};
  const PlaneDistances<Real, kind> distances{x.data(), y.data()};
  scan(distances, ScanTask<Real>{edge.data(), rows, part, scratch.data()}, found, set);
  CHECK(found.found() == expected.found());
  CHECK(!found.found() || (found.row == expected.row && found.other == expected.other));
  CHECK((double)found.delta == expected.delta);
  if (found.found()) CHECK(0 <= found.first(n) && found.first(n) + 1 < found.second(n) && found.second(n) < n);
}

}  // namespace

TEST(the_best_move_is_that_of_two_loops) {
  for (int s = 0; s <= (int)instruction_set(); ++s)
    for (MoveOrder order : {MoveOrder::triangle, MoveOrder::ring})
      for (int n : {4, 5, 6, 7, 8, 16, 17, 18, 33, 34, 100, 201, 1030})
        for (int side : {3, 700}) {
          const InstructionSet set = (InstructionSet)s;
          const ScanPart all{MoveRows{n, order}.begin(), n, 0, 2 * n};
          compare<float, MetricKind::euc_2d>(n, side, order, set, all);
          compare<double, MetricKind::euc_2d>(n, side, order, set, all);
          compare<double, MetricKind::ceil_2d>(n, side, order, set, all);
          compare<double, MetricKind::floor_2d>(n, side, order, set, all);
          compare<double, MetricKind::att>(n, side, order, set, all);
          compare<float, MetricKind::euc_2d>(n, side, order, set, {2 + n / 3, n - 1, n / 5, n / 2});
        }
}

// Lengths that overflow are no reason to leave the arrays: infinity less infinity is equal to nothing.
TEST(infinite_lengths_give_no_move_or_one_of_the_tour) {
  for (int s = 0; s <= (int)instruction_set(); ++s)
    for (MoveOrder order : {MoveOrder::triangle, MoveOrder::ring})
      for (int n : {5, 8, 33, 100})
        for (float size : {1e19f, 1e30f, 3e38f, std::numeric_limits<float>::infinity()}) {
          const MoveRows rows{n, order};
          warptsp::Random random(7, n, s);
          std::vector<float> x(rows.positions()), y(x), edge(x), scratch(scan_scratch);
          for (int i = 0; i < n; ++i) x[i] = random.unit() * size, y[i] = random.unit();
          for (size_t i = n; i < x.size(); ++i) x[i] = x[i % n], y[i] = y[i % n];
          for (size_t i = 0; i < x.size(); ++i) {
            const size_t a = i % n, b = (i + 1) % n;
            edge[i] = plane_distance<MetricKind::exact_2d, float>(x[a] - x[b], y[a] - y[b]);
          }
          ScanBest<float> found{0};
          scan(PlaneDistances<float, MetricKind::exact_2d>{x.data(), y.data()},
               ScanTask<float>{edge.data(), rows, {rows.begin(), n, 0, 2 * n}, scratch.data()}, found,
               (InstructionSet)s);
          CHECK(!found.found() || (found.second(n) < n && found.first(n) + 1 < found.second(n)));
        }
}
