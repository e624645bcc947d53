// The tour's distances by position, a stretch of a row at a time, in the exact arithmetic of the metric. Host only.
//
// The exhaustive methods need the distances of one position to many consecutive ones. In the plane these are plain
// loops over coordinates in tour order, which the compiler vectorises; every other metric is asked pair by pair.
// All distances are doubles: TSPLIB's integers are exact in them.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "common/metric.h"
#include "common/vectors.h"

namespace warptsp::exhaustive {

// What distances are made from; the arrays belong to the caller. One of points and the matrices is given.
struct DistanceSource {
  MetricKind kind = MetricKind::exact_2d;
  Points points{nullptr, 0};
  const int *int_matrix = nullptr;
  const double *real_matrix = nullptr;
  int size = 0;
  bool dummy = false;  // the last city is at distance 0 from all

  double operator()(int a, int b) const {
    if (int_matrix) return int_matrix[(size_t)a * size + b];
    if (real_matrix) return real_matrix[(size_t)a * size + b];
    return AnyCoordinates<double>{points, kind}(a, b);
  }
};

// out[i] = distance from (x, y) to (xs[i], ys[i]).
template <MetricKind Kind>
void planar_row(double x, double y, const double *xs, const double *ys, int count, double *out) {
  vectorised([=]() WARPTSP_INLINE_LAMBDA {
    const double *WARPTSP_RESTRICT const px = xs;
    const double *WARPTSP_RESTRICT const py = ys;
    double *WARPTSP_RESTRICT const result = out;
    for (int i = 0; i < count; ++i) {
      const double p[2] = {x, y}, q[2] = {px[i], py[i]};
      result[i] = coordinate_distance(Kind, p, q);
    }
  });
}

class DistanceRows {
 public:
  // Positions 0 .. n of the tour; position n is position 0 again.
  DistanceRows(const DistanceSource &source, const std::vector<int> &tour) : source_(source), tour_(tour) {
    planar_ = source.points.rows != nullptr && source.points.stride == 2 && !source.dummy && is_euclidean(source.kind);
    tour_.push_back(tour[0]);
    if (planar_) x_.resize(tour_.size()), y_.resize(tour_.size());
    place(0, (int)tour_.size());
  }

  int size() const { return (int)tour_.size() - 1; }
  MetricKind kind() const { return source_.kind; }
  int city(int position) const { return tour_[position]; }
  std::vector<int> tour() const { return std::vector<int>(tour_.begin(), tour_.end() - 1); }
  double operator()(int a, int b) const { return source_(tour_[a], tour_[b]); }
  // Whether distances are those of points in the plane, and then these, by position.
  bool planar() const { return planar_; }
  const double *x() const { return x_.data(); }
  const double *y() const { return y_.data(); }

  // out[i - begin] = distance of the positions `from` and i, for begin <= i < end <= n + 1.
  void fill(int from, int begin, int end, double *out) const {
    if (planar_) {
      const double *const x = x_.data() + begin, *const y = y_.data() + begin;
      const int count = end - begin;
      return with_euclidean(
          source_.kind, [&](auto kind) { planar_row<decltype(kind)::value>(x_[from], y_[from], x, y, count, out); });
    }
    const int own = tour_[from];
    for (int i = begin; i < end; ++i) out[i - begin] = source_(own, tour_[i]);
  }

  // Puts the cities of positions [begin, end) anew, by old position; position 0 of the tour may change.
  template <class Source>
  void rearrange(int begin, int end, const Source &from) {
    std::vector<int> cities(end - begin);
    for (int k = begin; k < end; ++k) cities[k - begin] = tour_[from(k)];
    std::copy(cities.begin(), cities.end(), tour_.begin() + begin);
    tour_.back() = tour_.front();
    place(begin, end);
    if (begin == 0) place(size(), size() + 1);
  }

 private:
  void place(int begin, int end) {
    if (!planar_) return;
    for (int k = begin; k < end; ++k) {
      x_[k] = source_.points.rows[2 * (size_t)tour_[k]];
      y_[k] = source_.points.rows[2 * (size_t)tour_[k] + 1];
    }
  }

  DistanceSource source_;
  std::vector<int> tour_;
  std::vector<double> x_, y_;
  bool planar_;
};

}  // namespace warptsp::exhaustive
