// The best 2-opt move of a tour, on one CPU thread: two plain loops, of which the inner one is vectorised. Host code
// only.
//
// The tour is cut open at position 0 and its links are numbered by the position where they begin. A move takes links
// `first` and `second` out, first < second, and turns the cities first+1 .. second around:
//   delta(first, second) = d(first, second) + d(first+1, second+1) - link[first] - link[second]
// A row of moves shares one link. d(first+1, second+1) of a row is d(first, second) of the next one, so each move
// costs one square root.
//
// Which links a row has, and so the number of a move, depends on the order:
//   triangle  row r has the links 0 .. r-2: the larger link first, as documents 000 and 001 number the moves.
//   ring      row r has the links r-n/2 .. r-2; rows go on past n, where link r is link r-n: all rows of the middle
//             have the same length. The hill climbers' order, on threads and on GPUs.
// Of several best moves the one with the lowest number (row, then link) is taken.
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

enum class MoveOrder { triangle, ring };

constexpr int scan_lanes = 16;   // moves at a time: a vector of AVX-512 in float
constexpr int scan_tile = 1024;  // links whose distances stay in the first cache from row to row

// Rows of moves of a tour of n cities.
struct MoveRows {
  int n;
  MoveOrder order;
  WARPTSP_FN int begin() const { return 2; }
  WARPTSP_FN int end() const { return order == MoveOrder::ring ? n + n / 2 : n; }
  // Links of row r: [low, high). With n even the last rows of a ring leave out the moves that earlier ones had.
  WARPTSP_FN int low(int r) const {
    const int reach = order == MoveOrder::ring ? n / 2 : n - 2;
    const int low = r - reach + (order == MoveOrder::ring && r >= n && n % 2 == 0);
    return low > 0 ? low : 0;
  }
  WARPTSP_FN int high(int r) const { return r - 1 < n ? r - 1 : n; }
};

// All moves of a tour, each counted once.
inline long long two_opt_moves(long long n) { return n > 3 ? n * (n - 3) / 2 : 0; }

// Part of a neighbourhood: rows [row_begin, row_end), links [link_begin, link_end). One result a part, and `better` of
// them, is the result of the whole.
struct ScanPart {
  int row_begin, row_end, link_begin, link_end;
};

template <class Real>
struct ScanBest {
  Real delta;           // only smaller ones count
  int row = -1, link = -1;
  bool found() const { return row >= 0; }
  // The links of the move, the smaller one first.
  int first(int n) const { return row < n ? link : row - n; }
  int second(int n) const { return row < n ? row : link; }
};

template <class Real>
bool better(const ScanBest<Real> &a, const ScanBest<Real> &b) {
  if (a.delta != b.delta) return a.delta < b.delta;
  if (!a.found() || !b.found()) return a.found();
  return a.row != b.row ? a.row < b.row : a.link < b.link;
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

// Distances from one position of the tour to others. x and y are those of positions 0 .. n + scan_lanes, where those
// from n on repeat the first ones.
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

// The same for any metric (metric.h), through the cities of positions 0 .. n + scan_lanes.
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
  const Real *link;  // of positions 0 .. n + scan_lanes, the last ones of any value
  MoveRows rows;
  ScanPart part;
  Real *scratch;  // scan_scratch
};
constexpr int scan_row = scan_tile + 2 * scan_lanes, scan_scratch = 2 * scan_row;

// Of fixed length, so that each line becomes an instruction or two for all lanes.
template <bool Whole, class Distances, class Real = typename Distances::Real>
WARPTSP_FN void scan_block(const Distances &distances, const Real *link, const Real *before, Real *after, int e,
                           int count, Real *least) {
  WARPTSP_INDEPENDENT
  for (int w = 0; w < scan_lanes; ++w) {
    const Real d = distances.to(e + 1 + w);
    Real delta = (before[w] + d) - link[w];
    if (!Whole) delta = w < count ? delta : std::numeric_limits<Real>::max();
    after[1 + w] = d;
    least[w] = delta < least[w] ? delta : least[w];
  }
}

// The best move with its `link` in [begin, end), at most scan_tile of them.
template <class Distances, class Real = typename Distances::Real>
WARPTSP_FN ScanBest<Real> scan_links(Distances distances, const ScanTask<Real> &task, int begin, int end, Real below) {
  const MoveRows rows = task.rows;
  const int n = rows.n;
  Real *before = task.scratch, *after = task.scratch + scan_row;  // of links from `begin` on
  ScanBest<Real> best{below};
  const int first_row = std::max(task.part.row_begin, begin + 2);
  for (int r = first_row; r < task.part.row_end; ++r) {
    const int low = std::max(rows.low(r), begin), high = std::min(rows.high(r), end);
    if (low >= end) break;
    const int own = r < n ? r : r - n, next = own + 1 < n ? own + 1 : 0;
    if (r == first_row) {
      distances.from(own);
      for (int e = low; e < high; ++e) before[e - begin] = distances.to(e);
    }
    distances.from(next);
    after[0] = distances.to(begin);
    Real least[scan_lanes];
    for (int w = 0; w < scan_lanes; ++w) least[w] = std::numeric_limits<Real>::max();
    int e = low;
    for (; e + scan_lanes <= high; e += scan_lanes)
      scan_block<true>(distances, task.link + e, before + (e - begin), after + (e - begin), e, 0, least);
    if (e < high)
      scan_block<false>(distances, task.link + e, before + (e - begin), after + (e - begin), e, high - e, least);
    const Real own_link = task.link[own];
    int smaller = 0;
    for (int w = 0; w < scan_lanes; ++w) smaller |= least[w] - own_link < best.delta;
    if (smaller) {
      for (int w = 1; w < scan_lanes; ++w) least[0] = least[w] < least[0] ? least[w] : least[0];
      best.delta = least[0] - own_link;
      best.row = r;
    }
    std::swap(before, after);
  }
  if (!best.found()) return best;
  // Which link of the row it was: the same arithmetic gives the same number.
  const int own = best.row < n ? best.row : best.row - n, next = own + 1 < n ? own + 1 : 0;
  Distances from_next = distances;
  distances.from(own);
  from_next.from(next);
  for (best.link = std::max(rows.low(best.row), begin);; ++best.link) {
    const Real delta = ((distances.to(best.link) + from_next.to(best.link + 1)) - task.link[best.link]) -
                       task.link[own];
    if (delta == best.delta) return best;
  }
}

template <class Distances, class Real = typename Distances::Real>
WARPTSP_FN void scan_part(const Distances &distances, const ScanTask<Real> &task, ScanBest<Real> &best) {
  const Real below = best.delta;
  for (int begin = task.part.link_begin; begin < task.part.link_end; begin += scan_tile) {
    const int end = std::min(begin + scan_tile, task.part.link_end);
    const ScanBest<Real> found = scan_links(distances, task, begin, end, below);
    if (found.found() && better(found, best)) best = found;
  }
}

#if WARPTSP_HAS_SETS
template <class Distances, class Real = typename Distances::Real>
WARPTSP_AVX512 void scan_part_avx512(const Distances &distances, const ScanTask<Real> &task, ScanBest<Real> &best) {
  scan_part(distances, task, best);
}
template <class Distances, class Real = typename Distances::Real>
WARPTSP_AVX2 void scan_part_avx2(const Distances &distances, const ScanTask<Real> &task, ScanBest<Real> &best) {
  scan_part(distances, task, best);
}
#endif

// The best move of a part of the neighbourhood with a delta below that of `best`, which is replaced by it.
template <class Distances, class Real = typename Distances::Real>
void scan(const Distances &distances, const ScanTask<Real> &task, ScanBest<Real> &best,
          InstructionSet set = instruction_set()) {
#if WARPTSP_HAS_SETS
  if (set == InstructionSet::avx512) return scan_part_avx512(distances, task, best);
  if (set == InstructionSet::avx2) return scan_part_avx2(distances, task, best);
#endif
  (void)set;
  scan_part(distances, task, best);
}

}  // namespace warptsp
