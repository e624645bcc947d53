// One pass of 2-opt on CPU threads that skips stretches of the tour between which no move gains (pruned_pairs.h), in
// the exact arithmetic of the metric: it finds the move that the whole pass finds. Host code only.
#pragma once
#include "papers/exhaustive/exhaustive_passes.h"
#include "papers/exhaustive/pruned_pairs.h"

namespace warptsp::exhaustive {

// All stretches of a tour, a field behind the other so that tests of many are vectors.
class Stretches {
 public:
  explicit Stretches(const DistanceRows &rows) : count_(stretches_of(rows.size())), fields_(5 * (size_t)count_) {
    const int n = rows.size();
    const double *const x = rows.plane()->x(), *const y = rows.plane()->y();
    for (int s = 0; s < count_; ++s) {
      const int begin = s * stretch_links, end = std::min(begin + stretch_links, n);
      const auto [low_x, high_x] = std::minmax_element(x + begin, x + end + 1);
      const auto [low_y, high_y] = std::minmax_element(y + begin, y + end + 1);
      const double values[5] = {*low_x, *high_x, *low_y, *high_y,
                                *std::max_element(rows.edges() + begin, rows.edges() + end)};
      for (int f = 0; f < 5; ++f) field(f)[s] = values[f];
    }
  }
  int count() const { return count_; }
  Stretch<double> operator[](int s) const { return {field(0)[s], field(1)[s], field(2)[s], field(3)[s], field(4)[s]}; }
  // kept[s] = whether stretch s may have a move with this one that changes the length by `below` or less, for s < end.
  void keep(const Stretch<double> &own, int end, const PruningRule<double> &rule, double below,
            unsigned char *kept) const {
    vectorised([=, this]() WARPTSP_INLINE_LAMBDA {
      const double *WARPTSP_RESTRICT const low_x = field(0);
      const double *WARPTSP_RESTRICT const high_x = field(1);
      const double *WARPTSP_RESTRICT const low_y = field(2);
      const double *WARPTSP_RESTRICT const high_y = field(3);
      const double *WARPTSP_RESTRICT const edge = field(4);
      unsigned char *WARPTSP_RESTRICT const result = kept;
      const Stretch<double> mine = own;
      const PruningRule<double> its = rule;
      for (int s = 0; s < end; ++s) {
        const Stretch<double> other{low_x[s], high_x[s], low_y[s], high_y[s], edge[s]};
        result[s] = !its.skips(mine.square_to(other), mine.edge + other.edge, below);
      }
    });
  }

 private:
  double *field(int f) { return fields_.data() + (size_t)f * count_; }
  const double *field(int f) const { return fields_.data() + (size_t)f * count_; }

  int count_;
  std::vector<double> fields_;
};

// `evaluated` counts the moves that were not skipped.
inline bool pass_two_opt_pruned(const DistanceRows &tour, const PruningRule<double> &rule, int threads,
                                const StopToken &token, PassResult &result, long long &evaluated) {
  const int n = tour.size();
  const double *const edges = tour.edges(), *const x = tour.plane()->x(), *const y = tour.plane()->y();
  const Stretches stretches(tour);
  std::atomic<long long> compared{0};
  for_each_task(useful_threads(threads, 0.02 * n * n), stretches.count(), [&](int task) {
    // Row j holds the pairs (i, j), i < j. The last rows, which are the longest, come first.
    const int last = stretches.count() - 1 - task;
    if (token.stopped()) return;
    const Stretch<double> own = stretches[last];
    BestMove best = result.start();
    std::vector<unsigned char> kept(last + 1);
    stretches.keep(own, last + 1, rule, best.delta, kept.data());
    long long count_all = 0;
    double rows[2][stretch_links + 1];
    for (int s = 0; s <= last; ++s) {
      if (!kept[s]) continue;
      const Stretch<double> other = stretches[s];
      const int begin = s * stretch_links, end = std::min(begin + stretch_links, n);
      int filled = -1;
      for (int j = std::max(last * stretch_links, begin + 1); j < std::min((last + 1) * stretch_links, n); ++j) {
        const double square = std::min(other.square_to(x[j], y[j]), other.square_to(x[j + 1], y[j + 1]));
        if (rule.skips(square, edges[j] + other.edge, best.delta)) continue;
        double *const own_row = rows[j & 1], *const next_row = rows[(j + 1) & 1];
        if (filled != j) tour.fill(j, begin, end + 1, own_row);
        tour.fill(j + 1, begin, end + 1, next_row);
        filled = j + 1;
        const int count = std::min(end, j) - begin;
        count_all += count;
        const double *const edge_i = edges + begin;
        const double edge_j = edges[j];
        const auto delta = [=](int i) WARPTSP_INLINE_LAMBDA {
          return TwoOpt::delta(own_row[i], next_row[i + 1], edge_i[i], edge_j);
        };
        const double least = min_of<double>(count, delta);
        if (least > best.delta) continue;
        int i = 0;
        while (delta(i) != least) ++i;
        best.offer(least, number_of(Pair{begin + i, j}));
      }
    }
    compared += count_all;
    result.join(best);
  });
  evaluated += compared;
  return !token.stopped();
}

}  // namespace warptsp::exhaustive
