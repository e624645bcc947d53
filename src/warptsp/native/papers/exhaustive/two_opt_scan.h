// The best 2-opt move of a tour, on one CPU thread: two plain loops, of which the inner one is vectorised. Host code
// only.
//
// Edges are numbered by the position where they begin. A move takes edges `row` and `other` out and turns the cities
// between them around:
//   delta(row, other) = d(row, other) + d(row + 1, other + 1) - edge[row] - edge[other], positions modulo n
// d(row + 1, other + 1) of a row is d(row, other) of the next one, so a move costs one square root. Two orders:
//   triangle  row r has the edges 0 .. r - 2: the larger edge first, as documents 000 and 001 number the moves.
//   ring      row r has the edges r + 2 .. r + n / 2, beyond n those from 0 on: all rows are equally long (with n even,
//             r + n / 2 is left to the first half of them). The hill climbers', here and in native/papers/hill_climbing/ring_scan.h.
// Of several best moves the one with the lowest number is taken: the lowest row, then the lowest other edge.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "common/metric.h"
#include "common/vectors.h"

#if defined(__clang__)
#define WARPTSP_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define WARPTSP_INDEPENDENT _Pragma("GCC ivdep")
#else
#define WARPTSP_INDEPENDENT
#endif

namespace warptsp::exhaustive {

enum class MoveOrder { triangle, ring };

constexpr int scan_lanes = 16;   // moves at a time: a vector of AVX-512 in float
constexpr int scan_tile = 1024;  // edges whose distances stay in the first cache from row to row

// The moves of a tour of n cities, in rows: the other edge is in [low(r), high(r)), not reduced modulo n.
struct MoveRows {
  int n;
  MoveOrder order;
  WARPTSP_FN bool ring() const { return order == MoveOrder::ring; }
  WARPTSP_FN int begin() const { return ring() ? 0 : 2; }
  WARPTSP_FN int end() const { return n; }
  WARPTSP_FN int low(int row) const { return ring() ? row + 2 : row == n - 1 ? 1 : 0; }
  WARPTSP_FN int high(int row) const { return ring() ? row + n / 2 + 1 - (n % 2 == 0 && row >= n / 2) : row - 1; }
  // The first row that may have moves with other edges from `edge` on.
  WARPTSP_FN int first_row(int edge) const { return ring() ? edge - n / 2 : edge + 2; }
  // Positions that arrays must have: what is read past n repeats the start.
  WARPTSP_FN int positions() const { return (ring() ? n + n / 2 : n) + 2 + scan_lanes; }
};

// Rows [row_begin, row_end), other edges [edge_begin, edge_end).
struct ScanPart {
  int row_begin, row_end, edge_begin, edge_end;
};

template <class Real>
struct ScanBest {
  Real delta;  // only smaller ones count
  int row = -1, other = -1;
  bool found() const { return row >= 0; }
  // The edges of the move, the smaller one first.
  int first(int n) const { return std::min(row, other < n ? other : other - n); }
  int second(int n) const { return std::max(row, other < n ? other : other - n); }
};

template <class Real>
bool better(const ScanBest<Real> &a, const ScanBest<Real> &b) {
  if (a.delta != b.delta) return a.delta < b.delta;
  if (!a.found() || !b.found()) return a.found();
  return a.row != b.row ? a.row < b.row : a.other < b.other;
}

// The nearest integer, of two the even one, of 0 <= v < 2^(bits of the mantissa - 1). A call of floor() or rint() is
// not vectorised for the x86 of 2003.
template <class Real>
WARPTSP_FN Real plain_rint(Real v) {
  constexpr Real whole = sizeof(Real) == 4 ? Real(8388608.0) : Real(4503599627370496.0);
  return (v + whole) - whole;
}
template <class Real>
WARPTSP_FN Real plain_floor(Real v) {
  const Real nearest = plain_rint(v);
  return nearest + (nearest > v ? Real(-1) : Real(0));  // a branch would not be vectorised
}
template <class Real>
WARPTSP_FN Real plain_ceil(Real v) {
  const Real nearest = plain_rint(v);
  return nearest + (nearest < v ? Real(1) : Real(0));
}

// In double, and below 2^51, the result is that of coordinate_distance to the last bit.
template <MetricKind kind, class Real>
WARPTSP_FN Real plane_distance(Real dx, Real dy) {
  constexpr Rounding rounding = facts_of(kind).rounding;
  const Real squares = dx * dx + dy * dy;
  if (rounding == Rounding::att) return plain_ceil<Real>(std::sqrt(squares / Real(10)));
  const Real d = std::sqrt(squares);
  // Halves of float distances go one way or the other: double decides in the end.
  if (rounding == Rounding::nearest) return sizeof(Real) == 4 ? plain_rint(d) : plain_floor<Real>(d + Real(0.5));
  if (rounding == Rounding::up) return plain_ceil<Real>(d);
  if (rounding == Rounding::down) return plain_floor<Real>(d);
  return d;
}

// Distances from one position of the tour to others. x and y have MoveRows::positions().
template <class R, MetricKind kind>
struct PlaneDistances {
  typedef R Real;
  const Real *x, *y;
  Real own_x = 0, own_y = 0;
  WARPTSP_FN void from(int position) {
    own_x = x[position];
    own_y = y[position];
  }
  WARPTSP_FN Real to(int position) const {
    return plane_distance<kind, Real>(x[position] - own_x, y[position] - own_y);
  }
};

// The same for any metric (metric.h), through the cities at MoveRows::positions().
template <class Metric>
struct CityDistances {
  typedef typename Metric::Value Real;
  Metric metric;
  const int *city;
  int own = 0;
  WARPTSP_FN void from(int position) { own = city[position]; }
  WARPTSP_FN Real to(int position) const { return metric(own, city[position]); }
};

template <class Real>
struct ScanTask {
  const Real *edge;  // at MoveRows::positions()
  MoveRows rows;
  ScanPart part;
  Real *scratch;  // scan_scratch
};
constexpr int scan_row = scan_tile + 2 * scan_lanes, scan_scratch = 2 * scan_row;

// Of fixed length, so that each line becomes an instruction or two for all lanes.
template <bool Whole, class Distances, class Real = typename Distances::Real>
WARPTSP_FN void scan_block(const Distances &distances, const Real *edge, const Real *before, Real *after, int j,
                           int count, Real *least) {
  WARPTSP_INDEPENDENT
  for (int w = 0; w < scan_lanes; ++w) {
    const Real d = distances.to(j + 1 + w);
    Real delta = (before[w] + d) - edge[w];
    if (!Whole) delta = w < count ? delta : std::numeric_limits<Real>::max();
    after[1 + w] = d;
    least[w] = delta < least[w] ? delta : least[w];
  }
}

// The best move with its other edge in [begin, end), at most scan_tile of them.
template <class Distances, class Real = typename Distances::Real>
WARPTSP_FN ScanBest<Real> scan_edges(Distances distances, const ScanTask<Real> &task, int begin, int end, Real below) {
  const MoveRows rows = task.rows;
  Real *before = task.scratch, *after = task.scratch + scan_row;  // of edges from `begin` on
  ScanBest<Real> best{below};
  bool running = false;
  for (int row = std::max(task.part.row_begin, rows.first_row(begin)); row < task.part.row_end; ++row) {
    if (rows.low(row) >= end) break;
    const int low = std::max(rows.low(row), begin), high = std::min(rows.high(row), end);
    if (low >= high) continue;
    if (!running) {
      running = true;
      distances.from(row);
      for (int j = low; j < high; ++j) before[j - begin] = distances.to(j);
    }
    distances.from(row + 1);
    after[0] = distances.to(begin);
    Real least[scan_lanes];
    for (int w = 0; w < scan_lanes; ++w) least[w] = std::numeric_limits<Real>::max();
    int j = low;
    for (; j + scan_lanes <= high; j += scan_lanes)
      scan_block<true>(distances, task.edge + j, before + (j - begin), after + (j - begin), j, 0, least);
    if (j < high)
      scan_block<false>(distances, task.edge + j, before + (j - begin), after + (j - begin), j, high - j, least);
    const Real own_edge = task.edge[row];
    int smaller = 0;
    for (int w = 0; w < scan_lanes; ++w) smaller |= least[w] - own_edge < best.delta;
    if (smaller) {
      for (int w = 1; w < scan_lanes; ++w) least[0] = least[w] < least[0] ? least[w] : least[0];
      best.delta = least[0] - own_edge;
      best.row = row;
    }
    std::swap(before, after);
  }
  if (!best.found()) return best;
  // Which edge of the row it was: the same arithmetic gives the same number.
  Distances from_next = distances;
  distances.from(best.row);
  from_next.from(best.row + 1);
  const int high = std::min(rows.high(best.row), end);
  for (best.other = std::max(rows.low(best.row), begin); best.other < high; ++best.other) {
    const int j = best.other;
    const Real delta = ((distances.to(j) + from_next.to(j + 1)) - task.edge[j]) - task.edge[best.row];
    if (delta == best.delta) return best;
  }
  return ScanBest<Real>{below};  // an edge of infinite length gained by itself: no move did
}

template <class Distances, class Real = typename Distances::Real>
WARPTSP_FN void scan_rows(const Distances &distances, const ScanTask<Real> &task, ScanBest<Real> &best) {
  const Real below = best.delta;
  const ScanPart &part = task.part;
  const int last = std::min(part.edge_end, task.rows.high(part.row_end - 1));
  for (int begin = std::max(part.edge_begin, task.rows.low(part.row_begin)); begin < last; begin += scan_tile) {
    const ScanBest<Real> found = scan_edges(distances, task, begin, std::min(begin + scan_tile, last), below);
    if (found.found() && better(found, best)) best = found;
  }
}

// The best move of some rows with a delta below that of `best`, which is replaced by it.
template <class Distances, class Real = typename Distances::Real>
void scan(const Distances &distances, const ScanTask<Real> &task, ScanBest<Real> &best,
          InstructionSet set = instruction_set()) {
  vectorised([&]() WARPTSP_INLINE_LAMBDA { scan_rows(distances, task, best); }, set);
}

}  // namespace warptsp::exhaustive
