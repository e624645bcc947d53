// The best 2-opt move of a tour, on one CPU thread: two plain loops, of which the inner one is vectorised. Host code
// only.
//
// Links are numbered by the position where they begin. A move takes the links e and e + k out and turns the cities
// between them around:
//   delta(e, e + k) = d(e, e + k) + d(e + 1, e + k + 1) - link[e] - link[e + k],  2 <= k <= n / 2, positions modulo n
// Row e has the moves of one link, all rows are equally long (with n even, k = n / 2 is left to the first half of them),
// and d(e + 1, e + k + 1) of a row is d(e, e + k) of the next one: a move costs one square root. Of several best moves
// the one with the lowest number is taken: the lowest row, then the lowest k. The kernels of native/cuda/climb.cu number
// them likewise.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "instruction_sets.h"
#include "metric.h"

#if defined(__clang__)
#define WARPTSP_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define WARPTSP_INDEPENDENT _Pragma("GCC ivdep")
#else
#define WARPTSP_INDEPENDENT
#endif

namespace warptsp {

constexpr int scan_lanes = 16;   // moves at a time: a vector of AVX-512 in float
constexpr int scan_tile = 1024;  // links whose distances stay in the first cache from row to row

// The moves of a tour of n cities: row e, and the other link from low(e) to below high(e), not reduced modulo n.
struct MoveRows {
  int n;
  WARPTSP_FN int reach() const { return n / 2; }
  WARPTSP_FN int low(int row) const { return row + 2; }
  WARPTSP_FN int high(int row) const { return row + n / 2 + 1 - (n % 2 == 0 && row >= n / 2); }
  // Positions that arrays must have: what is read past n repeats the start.
  WARPTSP_FN static int positions(int n, int lanes) { return n + n / 2 + 2 + lanes; }
};

// All moves of a tour, each counted once.
inline long long two_opt_moves(long long n) { return n > 3 ? n * (n - 3) / 2 : 0; }

template <class Real>
struct ScanBest {
  Real delta;           // only smaller ones count
  int row = -1, other = -1;
  bool found() const { return row >= 0; }
  // The links of the move, the smaller one first.
  int first(int n) const { return other < n ? row : other - n; }
  int second(int n) const { return other < n ? other : row; }
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
  const Real squares = dx * dx + dy * dy;
  if (kind == MetricKind::att) return plain_ceil<Real>(std::sqrt(squares / Real(10)));
  const Real d = std::sqrt(squares);
  // Halves of float distances go one way or the other: double decides in the end.
  if (kind == MetricKind::euc_2d) return sizeof(Real) == 4 ? plain_rint(d) : plain_floor<Real>(d + Real(0.5));
  if (kind == MetricKind::ceil_2d) return plain_ceil<Real>(d);
  if (kind == MetricKind::floor_2d) return plain_floor<Real>(d);
  return d;
}

WARPTSP_FN bool is_plane_kind(MetricKind kind) {
  return kind == MetricKind::euc_2d || kind == MetricKind::ceil_2d || kind == MetricKind::floor_2d ||
         kind == MetricKind::exact_2d || kind == MetricKind::att;
}

// Distances from one position of the tour to others. x and y have MoveRows::positions.
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

// The same for any metric (metric.h), through the cities at MoveRows::positions.
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
  const Real *link;  // at MoveRows::positions
  MoveRows rows;
  int row_begin, row_end;
  Real *scratch;  // scan_scratch
};
constexpr int scan_row = scan_tile + 2 * scan_lanes, scan_scratch = 2 * scan_row;

// Of fixed length, so that each line becomes an instruction or two for all lanes.
template <bool Whole, class Distances, class Real = typename Distances::Real>
WARPTSP_FN void scan_block(const Distances &distances, const Real *link, const Real *before, Real *after, int j,
                           int count, Real *least) {
  WARPTSP_INDEPENDENT
  for (int w = 0; w < scan_lanes; ++w) {
    const Real d = distances.to(j + 1 + w);
    Real delta = (before[w] + d) - link[w];
    if (!Whole) delta = w < count ? delta : std::numeric_limits<Real>::max();
    after[1 + w] = d;
    least[w] = delta < least[w] ? delta : least[w];
  }
}

// The best move with its other link in [begin, end), at most scan_tile of them.
template <class Distances, class Real = typename Distances::Real>
WARPTSP_FN ScanBest<Real> scan_links(Distances distances, const ScanTask<Real> &task, int begin, int end, Real below) {
  const MoveRows rows = task.rows;
  Real *before = task.scratch, *after = task.scratch + scan_row;  // of links from `begin` on
  ScanBest<Real> best{below};
  bool running = false;
  for (int row = std::max(task.row_begin, begin - rows.reach()); row < task.row_end && rows.low(row) < end; ++row) {
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
      scan_block<true>(distances, task.link + j, before + (j - begin), after + (j - begin), j, 0, least);
    if (j < high)
      scan_block<false>(distances, task.link + j, before + (j - begin), after + (j - begin), j, high - j, least);
    const Real own_link = task.link[row];
    int smaller = 0;
    for (int w = 0; w < scan_lanes; ++w) smaller |= least[w] - own_link < best.delta;
    if (smaller) {
      for (int w = 1; w < scan_lanes; ++w) least[0] = least[w] < least[0] ? least[w] : least[0];
      best.delta = least[0] - own_link;
      best.row = row;
    }
    std::swap(before, after);
  }
  if (!best.found()) return best;
  // Which link of the row it was: the same arithmetic gives the same number.
  Distances from_next = distances;
  distances.from(best.row);
  from_next.from(best.row + 1);
  for (best.other = std::max(rows.low(best.row), begin);; ++best.other) {
    const int j = best.other;
    const Real delta = ((distances.to(j) + from_next.to(j + 1)) - task.link[j]) - task.link[best.row];
    if (delta == best.delta) return best;
  }
}

template <class Distances, class Real = typename Distances::Real>
WARPTSP_FN void scan_rows(const Distances &distances, const ScanTask<Real> &task, ScanBest<Real> &best) {
  const Real below = best.delta;
  const int last = task.rows.high(task.row_end - 1);
  for (int begin = task.rows.low(task.row_begin); begin < last; begin += scan_tile) {
    const ScanBest<Real> found = scan_links(distances, task, begin, std::min(begin + scan_tile, last), below);
    if (found.found() && better(found, best)) best = found;
  }
}

#if WARPTSP_HAS_SETS
template <class Distances, class Real = typename Distances::Real>
WARPTSP_AVX512 void scan_rows_avx512(const Distances &distances, const ScanTask<Real> &task, ScanBest<Real> &best) {
  scan_rows(distances, task, best);
}
template <class Distances, class Real = typename Distances::Real>
WARPTSP_AVX2 void scan_rows_avx2(const Distances &distances, const ScanTask<Real> &task, ScanBest<Real> &best) {
  scan_rows(distances, task, best);
}
#endif

// The best move of some rows with a delta below that of `best`, which is replaced by it.
template <class Distances, class Real = typename Distances::Real>
void scan(const Distances &distances, const ScanTask<Real> &task, ScanBest<Real> &best,
          InstructionSet set = instruction_set()) {
#if WARPTSP_HAS_SETS
  if (set == InstructionSet::avx512) return scan_rows_avx512(distances, task, best);
  if (set == InstructionSet::avx2) return scan_rows_avx2(distances, task, best);
#endif
  (void)set;
  scan_rows(distances, task, best);
}

}  // namespace warptsp
