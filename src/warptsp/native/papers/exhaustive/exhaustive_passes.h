// One pass over a whole neighbourhood on CPU threads: plain loops over rows of distances, no mapping of numbers.
//
// 2-opt (two_opt_scan.h), a swap and a relocation need one new distance a move, and 3-opt none: it reads a matrix of the tour's distances by position, made once a pass.
#pragma once
#include <algorithm>
#include <limits>
#include <mutex>
#include <vector>

#include "papers/exhaustive/distance_rows.h"
#include "papers/exhaustive/neighborhoods.h"
#include "common/parallel.h"
#include "common/stop_token.h"

namespace warptsp::exhaustive {

// A stretch of rows and columns whose distances stay in the first cache: 1024 doubles are 8 KB.
constexpr int tile_columns = 1024, tile_rows = 256;

// Joins what threads found; false if the token stopped one of them.
class PassResult {
 public:
  explicit PassResult(double tolerance) { best_.delta = -tolerance; }
  BestMove start() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return best_;
  }
  void join(const BestMove &found) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (found.number != ~0ull) best_.offer(found.delta, found.number);
  }
  const BestMove &best() const { return best_; }

 private:
  mutable std::mutex mutex_;
  BestMove best_;
};

// The least of a row's values; lanes of fixed number become vectors.
template <class Real, class Value>
Real min_of(int count, const Value &value) {
  Real least = std::numeric_limits<Real>::max();
  vectorised([=, &least]() WARPTSP_INLINE_LAMBDA {
    Real lanes[scan_lanes];
    for (int w = 0; w < scan_lanes; ++w) lanes[w] = std::numeric_limits<Real>::max();
    const Value own = value;
    int i = 0;
    for (; i + scan_lanes <= count; i += scan_lanes) {
      WARPTSP_INDEPENDENT
      for (int w = 0; w < scan_lanes; ++w) {
        const Real v = own(i + w);
        lanes[w] = v < lanes[w] ? v : lanes[w];
      }
    }
    for (; i < count; ++i) {
      const Real v = own(i);
      lanes[0] = v < lanes[0] ? v : lanes[0];
    }
    for (int w = 0; w < scan_lanes; ++w) least = lanes[w] < least ? lanes[w] : least;
  });
  return least;
}

// A thread for every half a million moves: starting one costs as long as examining so many.
inline int useful_threads(int threads, double moves) {
  return (int)std::max(1.0, std::min((double)threads, moves / 5e5));
}

// The passes take `rows`, of DistanceRows or PlaneRows, and work in their precision; false if the token stopped one.

template <class Rows>
bool pass_two_opt(const Rows &tour, int threads, const StopToken &token, PassResult &result) {
  typedef typename Rows::Real Real;
  const int n = tour.size();
  const MoveRows rows{n, MoveOrder::triangle};
  // The last rows, which are the longest, come first.
  const int tiles = (rows.end() - rows.begin() + tile_rows - 1) / tile_rows;
  const double below = result.start().delta;
  tour.with_distances([&](const auto &distances) {
    for_each_task(useful_threads(threads, 0.5 * n * n), tiles, [&](int task) {
      if (token.stopped()) return;
      const int begin = rows.begin() + (tiles - 1 - task) * tile_rows;
      std::vector<Real> scratch(scan_scratch);
      ScanBest<Real> found{(Real)below};
      const ScanPart part{begin, std::min(begin + tile_rows, rows.end()), 0, n};
      scan(distances, ScanTask<Real>{tour.edges(), rows, part, scratch.data()}, found);
      if (found.found()) result.join({(double)found.delta, number_of(Pair{found.first(n), found.second(n)})});
    });
  });
  return !token.stopped();
}

inline bool pass_three_opt(const DistanceRows &rows, int threads, const StopToken &token, PassResult &result) {
  const int n = rows.size();
  const size_t width = (size_t)n + 1;
  Buffer<double> matrix(width * width);
  for_each_task(useful_threads(threads, 0.5 * n * n), n + 1, [&](int row) {
    if (!token.stopped()) rows.fill(row, 0, row + 1, matrix.data() + width * row);
  });
  const double *const edges = rows.edges();
  for_each_task(useful_threads(threads, (double)ThreeOpt::moves(n)), n - 2, [&](int task) {
    const int k = n - 1 - task;
    const double *const to_e = matrix.data() + width * k, *const to_f = to_e + width;
    BestMove best = result.start();
    for (int j = 1; j < k; ++j) {
      if (token.stopped()) return;
      const double *const to_c = matrix.data() + width * j, *const to_d = to_c + width;
      const double ce = to_e[j], cf = to_f[j], df = to_f[j + 1], edge_j = edges[j], edge_k = edges[k];
      const auto delta = [=](int i, int kind) WARPTSP_INLINE_LAMBDA {
        switch (kind) {
          case 0: return ThreeOpt::delta(to_d[i], to_e[i + 1], cf, edges[i], edge_j, edge_k);
          case 1: return ThreeOpt::delta(to_c[i], to_e[i + 1], df, edges[i], edge_j, edge_k);
          case 2: return ThreeOpt::delta(to_d[i], ce, to_f[i + 1], edges[i], edge_j, edge_k);
          default: return ThreeOpt::delta(to_e[i], to_d[i + 1], cf, edges[i], edge_j, edge_k);
        }
      };
      const double least = min_of<double>(j, [=](int i) WARPTSP_INLINE_LAMBDA {
        const double p = delta(i, 0), q = delta(i, 1), r = delta(i, 2), s = delta(i, 3);
        const double pq = q < p ? q : p, rs = s < r ? s : r;
        return rs < pq ? rs : pq;
      });
      if (least > best.delta) continue;
      int i = 0, kind = 0;
      while (delta(i, kind) != least) {
        if (++kind == 4) kind = 0, ++i;
      }
      best.offer(least, 4 * number_of(Triple{i, j, k}) + kind);
    }
    result.join(best);
  });
  return !token.stopped();
}

// Which swaps are allowed: a city must stay before position later[x], and behind position earlier[y]; empty: all are.
struct SwapLimits {
  std::vector<int> earlier, later;
};

template <class Rows>
bool pass_swap(const Rows &tour, const SwapLimits &limits, int threads, const StopToken &token, PassResult &result) {
  typedef typename Rows::Real Real;
  const int n = tour.size();
  const Real *const edges = tour.edges();
  const int row_tiles = (n + tile_rows - 1) / tile_rows, column_tiles = (n + tile_columns - 1) / tile_columns;
  const bool limited = !limits.later.empty();
  for_each_task(useful_threads(threads, 0.5 * n * n), row_tiles * column_tiles, [&](int task) {
    const int first = std::max(1, task / column_tiles * tile_rows);
    const int last = std::min((task / column_tiles + 1) * tile_rows, n - 1);
    const int left = std::max(2, task % column_tiles * tile_columns);
    const int right = std::min((task % column_tiles + 1) * tile_columns, n);
    if (first >= last || right <= first + 1 || token.stopped()) return;
    // Entry i of a row is the distance to position left - 1 + i.
    Real rows[3][tile_columns + 2];
    BestMove best = result.start();
    const auto fill = [&](int from) {
      const int begin = std::min(std::max(left - 1, from + 1), right + 1);
      tour.fill(from, begin, right + 1, rows[from % 3] + (begin - (left - 1)));
    };
    fill(first - 1);
    fill(first);
    for (int x = first; x < last; ++x) {
      const Real *const before = rows[(x + 2) % 3], *const own = rows[x % 3], *const after = rows[(x + 1) % 3];
      fill(x + 1);
      const MoveNumber row_number = (MoveNumber)x * (MoveNumber)n;
      const int end = limited ? std::min(right, limits.later[x]) : right;
      if (left <= x + 1 && x + 1 < end && (!limited || limits.earlier[x + 1] < x)) {
        const int at = x + 2 - left;
        best.offer((double)Swap::delta(before[at], own[at + 1], edges[x - 1], edges[x + 1]), row_number + x + 1);
      }
      const int begin = std::max(left, x + 2), shift = begin - left + 1;
      if (begin >= end) continue;
      const Real edge_before = edges[x - 1], edge_after = edges[x];
      const Real *const edge = edges + begin;
      // Pointers to where each stretch begins: with sums as indices the compiler does not vectorise.
      const Real *const x_before = before + shift, *const x_after = after + shift, *const y_before = own + shift - 1,
                        *const y_after = own + shift + 1, *const edge_to_y = edge - 1;
      const auto delta = [=](int i) WARPTSP_INLINE_LAMBDA {
        return Swap::delta(x_before[i], x_after[i], y_before[i], y_after[i], edge_before, edge_after, edge_to_y[i],
                           edge[i]);
      };
      const auto offer = [&](Real least, const auto &value) {
        if ((double)least > best.delta) return;
        int i = 0;
        while (value(i) != least) ++i;
        best.offer((double)least, row_number + begin + i);
      };
      if (!limited) {
        offer(min_of<Real>(end - begin, delta), delta);
        continue;
      }
      const int *const earlier = limits.earlier.data() + begin;
      const auto allowed_delta = [=](int i) WARPTSP_INLINE_LAMBDA {
        return earlier[i] < x ? delta(i) : std::numeric_limits<Real>::max();
      };
      offer(min_of<Real>(end - begin, allowed_delta), allowed_delta);
    }
    result.join(best);
  });
  return !token.stopped();
}

template <class Rows>
bool pass_relocate(const Rows &tour, int threads, const StopToken &token, PassResult &result) {
  typedef typename Rows::Real Real;
  const int n = tour.size();
  const Real *const edges = tour.edges();
  const int row_tiles = (n + tile_rows - 1) / tile_rows, column_tiles = (n + tile_columns - 1) / tile_columns;
  for_each_task(useful_threads(threads, (double)n * n), row_tiles * column_tiles, [&](int task) {
    const int first = task / column_tiles * tile_rows, last = std::min(first + tile_rows, n);
    const int left = task % column_tiles * tile_columns, right = std::min(left + tile_columns, n);
    if (token.stopped()) return;
    Real row[tile_columns + 1], through[tile_columns], gap;  // through: to both ends of an edge
    BestMove best = result.start();
    for (int p = first; p < last; ++p) {
      tour.fill(p, left, right + 1, row);
      const int before = p ? p - 1 : n - 1;
      tour.fill(before, p + 1, p + 2, &gap);
      vectorised([&]() WARPTSP_INLINE_LAMBDA {
        for (int i = 0; i < right - left; ++i) through[i] = row[i] + row[i + 1];
      });
      const Real own_gap = gap, edge_before = edges[before], edge_after = edges[p];
      // Not into its own two edges, nor into the one before these: the edges of p + 1 and on, round the circle.
      const auto offer = [&](int begin, int end) {
        begin = std::max(begin, left), end = std::min(end, right);
        if (begin >= end) return;
        const Real *const to_both = through + (begin - left), *const edge = edges + begin;
        const auto delta = [=](int i) WARPTSP_INLINE_LAMBDA {
          return Relocate::delta(to_both[i], own_gap, edge[i], edge_before, edge_after);
        };
        const Real least = min_of<Real>(end - begin, delta);
        if ((double)least > best.delta) return;
        int i = 0;
        while (delta(i) != least) ++i;
        const int over = begin + i - p;
        best.offer((double)least, number_of(Relocation{p, over > 0 ? over : over + n}, n));
      };
      offer(p + 1, n - std::max(0, 2 - p));
      offer(0, p - 2);
    }
    result.join(best);
  });
  return !token.stopped();
}

}  // namespace warptsp::exhaustive
