// Passes in single precision on CPU threads: three to seven times the moves a second of double precision. What is found
// is checked in double precision by the caller. Host code only.
#pragma once
#include <memory>
#include <vector>

#include "papers/exhaustive/distance_rows.h"
#include "papers/exhaustive/exhaustive_passes.h"
#include "papers/exhaustive/two_opt_scan.h"

namespace warptsp::exhaustive {

class FastPasses {
 public:
  virtual ~FastPasses() = default;
  // Takes over what changed between the positions [begin, end).
  virtual void update(const DistanceRows &rows, int begin, int end) = 0;
  // The best moves in single precision; false if the token stopped it.
  virtual bool two_opt(int threads, const StopToken &token, BestMove &best) = 0;
  virtual bool swap(const SwapLimits &limits, int threads, const StopToken &token, BestMove &best) = 0;
  virtual bool relocate(int threads, const StopToken &token, BestMove &best) = 0;
  // Null where the metric, or its distances, do not suit single precision.
  static std::unique_ptr<FastPasses> create(const DistanceSource &source);
};

template <MetricKind Kind>
class FastPassesOf : public FastPasses {
 public:
  explicit FastPassesOf(const DistanceSource &source)
      : source_(source), n_(source.size), x_(n_ + scan_lanes + 1), y_(x_.size()), edge_(x_.size()) {
    for (int axis = 0; axis < 2; ++axis) {
      double low = source.points.rows[axis], high = low;
      for (int i = 1; i < n_; ++i) {
        low = std::min(low, source.points.rows[2 * (size_t)i + axis]);
        high = std::max(high, source.points.rows[2 * (size_t)i + axis]);
      }
      middle_[axis] = low + (high - low) / 2;
    }
  }

  void update(const DistanceRows &rows, int begin, int end) override {
    for (int k = begin; k < end; ++k) {
      const double *const row = source_.points.rows + 2 * (size_t)rows.city(k);
      x_[k] = (float)(row[0] - middle_[0]);
      y_[k] = (float)(row[1] - middle_[1]);
    }
    for (size_t k = n_; k < x_.size(); ++k) {
      x_[k] = x_[k % n_];
      y_[k] = y_[k % n_];
    }
    for (int k = std::max(begin - 1, 0); k < end; ++k)
      edge_[k] = plane_distance<Kind, float>(x_[k + 1] - x_[k], y_[k + 1] - y_[k]);
  }

  bool two_opt(int threads, const StopToken &token, BestMove &best) override {
    const MoveRows rows{n_, MoveOrder::triangle};
    // The last rows, which are the longest, come first.
    const int tiles = (rows.end() - rows.begin() + tile_rows - 1) / tile_rows;
    std::mutex mutex;
    for_each_task(useful_threads(threads, 0.5 * n_ * n_), tiles, [&](int task) {
      if (token.stopped()) return;
      const int begin = rows.begin() + (tiles - 1 - task) * tile_rows;
      float scratch[scan_scratch];
      ScanBest<float> found{0.0f};
      scan(PlaneDistances<float, Kind>{x_.data(), y_.data()},
           ScanTask<float>{edge_.data(), rows, {begin, std::min(begin + tile_rows, rows.end()), 0, n_}, scratch},
           found);
      const std::lock_guard<std::mutex> lock(mutex);
      if (found.found()) best.offer((double)found.delta, number_of(Pair{found.first(n_), found.second(n_)}));
    });
    return !token.stopped();
  }

  bool swap(const SwapLimits &limits, int threads, const StopToken &token, BestMove &best) override {
    const auto fill = [this](int from, int begin, int end, float *out) { fill_row(from, begin, end, out); };
    PassResult result(0.0);
    if (!pass_swap<float>(n_, edge_.data(), fill, limits, threads, token, result)) return false;
    best = result.best();
    return true;
  }

  bool relocate(int threads, const StopToken &token, BestMove &best) override {
    const auto fill = [this](int from, int begin, int end, float *out) { fill_row(from, begin, end, out); };
    PassResult result(0.0);
    if (!pass_relocate<float>(n_, edge_.data(), fill, threads, token, result)) return false;
    best = result.best();
    return true;
  }

 private:
  // Distances of position `from` to [begin, end).
  void fill_row(int from, int begin, int end, float *out) const {
    vectorised([=]() WARPTSP_INLINE_LAMBDA {
      const float *WARPTSP_RESTRICT const x = x_.data() + begin;
      const float *WARPTSP_RESTRICT const y = y_.data() + begin;
      float *WARPTSP_RESTRICT const result = out;
      const float own_x = x_[from], own_y = y_[from];
      for (int i = 0; i < end - begin; ++i) result[i] = plane_distance<Kind, float>(x[i] - own_x, y[i] - own_y);
    });
  }

  DistanceSource source_;
  int n_;
  std::vector<float> x_, y_, edge_;
  double middle_[2];
};

inline std::unique_ptr<FastPasses> FastPasses::create(const DistanceSource &source) {
  if (!source.points.rows || source.points.stride != 2 || source.dummy || !is_euclidean(source.kind)) return nullptr;
  return with_euclidean(source.kind, [&](auto kind) -> std::unique_ptr<FastPasses> {
    return std::make_unique<FastPassesOf<decltype(kind)::value>>(source);
  });
}

}  // namespace warptsp::exhaustive
