// The tour's distances by position, a stretch of a row at a time: in the exact arithmetic of the metric and, in the plane,
// in single precision. Host only.
//
// The exhaustive methods need the distances of one position to many consecutive ones. In the plane these are plain
// loops over coordinates in tour order, which the compiler vectorises; every other metric is asked pair by pair.
#pragma once
#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "common/given_distances.h"
#include "common/vectors.h"
#include "papers/exhaustive/two_opt_scan.h"

namespace warptsp::exhaustive {

// What is read past the end of the tour.
template <class T>
void repeat_start(std::vector<T> &values, int n) {
  for (size_t p = n; p < values.size(); ++p) values[p] = values[p - n];
}

// Coordinates of the plane by position, and the edges between them. In single precision coordinates are relative to the
// middle of their extent; where that does not hold the distances of integers, these are not rounded, and have a unit of
// their own, so that squares neither vanish nor overflow.
template <class R>
class PlaneRows {
 public:
  typedef R Real;

  PlaneRows(const GivenDistances &source, MoveOrder order)
      : points_(source.points.rows), kind_(source.kind), n_(source.size), x_(MoveRows{n_, order}.positions()), y_(x_),
        edges_(x_) {
    if (sizeof(Real) == sizeof(double)) return;
    for (int axis = 0; axis < 2; ++axis) middle_[axis] = low(source, axis) + extent(source, axis) / 2;
    const double width = extent(source, 0) + extent(source, 1);
    if (kind_ != MetricKind::exact_2d && width < 0x1p22) return;
    kind_ = MetricKind::exact_2d;
    int power = 0;
    std::frexp(width, &power);
    scale_ = std::ldexp(1.0, -power);
  }
  // In the plane, without a dummy city, which would be the last one, and where vectors round doubles as the metric does.
  static bool suits(const GivenDistances &source) {
    return source.points.rows && is_euclidean(source.kind) &&
           !std::isnan(source.points.rows[2 * ((size_t)source.size - 1)]) &&
           extent(source, 0) + extent(source, 1) < 0x1p51;
  }

  int size() const { return n_; }
  const Real *edges() const { return edges_.data(); }

  // Takes over what changed between the positions [begin, end).
  void place(const std::vector<int> &city, int begin, int end) {
    for (int k = begin; k < end; ++k) {
      const double *const row = points_ + 2 * (size_t)city[k];
      x_[k] = (Real)((row[0] - middle_[0]) * scale_);
      y_[k] = (Real)((row[1] - middle_[1]) * scale_);
    }
    close(std::max(begin - 1, 0), end);
  }
  // Turns the cities of positions (first, second] around.
  void reverse(int first, int second) {
    std::reverse(x_.begin() + first + 1, x_.begin() + second + 1);
    std::reverse(y_.begin() + first + 1, y_.begin() + second + 1);
    std::reverse(edges_.begin() + first + 1, edges_.begin() + second);
    close(first, first + 1);
    close(second, second + 1);
  }

  // out[i - begin] = distance of the positions `from` and i, for begin <= i < end <= n + 1.
  void fill(int from, int begin, int end, Real *out) const {
    with_euclidean(kind_, [=, this](auto kind) {
      vectorised([=, this]() WARPTSP_INLINE_LAMBDA {
        const Real *WARPTSP_RESTRICT const x = x_.data() + begin;
        const Real *WARPTSP_RESTRICT const y = y_.data() + begin;
        Real *WARPTSP_RESTRICT const result = out;
        const Real own_x = x_[from], own_y = y_[from];
        for (int i = 0; i < end - begin; ++i)
          result[i] = plane_distance<decltype(kind)::value, Real>(x[i] - own_x, y[i] - own_y);
      });
    });
  }

  // use(distances), as two_opt_scan.h takes them.
  template <class Use>
  void with_distances(const Use &use) const {
    with_euclidean(kind_, [&](auto kind) { use(PlaneDistances<Real, decltype(kind)::value>{x_.data(), y_.data()}); });
  }

 private:
  // Measures the edges [begin, end), and repeats the start.
  void close(int begin, int end) {
    repeat_start(x_, n_);
    repeat_start(y_, n_);
    with_euclidean(kind_, [&](auto kind) {
      for (int k = begin; k < end; ++k)
        edges_[k] = plane_distance<decltype(kind)::value, Real>(x_[k + 1] - x_[k], y_[k + 1] - y_[k]);
    });
    repeat_start(edges_, n_);
  }
  static double low(const GivenDistances &source, int axis) {
    double least = source.points.rows[axis];
    for (int i = 1; i < source.size; ++i) least = std::min(least, source.points.rows[2 * (size_t)i + axis]);
    return least;
  }
  static double extent(const GivenDistances &source, int axis) {
    double most = source.points.rows[axis];
    for (int i = 1; i < source.size; ++i) most = std::max(most, source.points.rows[2 * (size_t)i + axis]);
    return most - low(source, axis);
  }

  const double *points_;
  MetricKind kind_;
  int n_;
  std::vector<Real> x_, y_, edges_;
  double middle_[2] = {0.0, 0.0}, scale_ = 1.0;
};

// Exact distances, and the tour.
class DistanceRows {
 public:
  typedef double Real;

  // `fixed`: two neighbours in fixed edges for each city, -1 for none; empty if there are no fixed edges.
  DistanceRows(const GivenDistances &source, const std::vector<int> &tour, std::vector<int> fixed)
      : source_(source), tour_(tour), fixed_(std::move(fixed)),
        edges_(MoveRows{source.size, MoveOrder::triangle}.positions()) {
    tour_.resize(edges_.size());
    if (PlaneRows<double>::suits(source)) plane_ = std::make_unique<PlaneRows<double>>(source, MoveOrder::triangle);
    place(0, size());
  }

  int size() const { return source_.size; }
  const std::vector<int> &city() const { return tour_; }
  std::vector<int> tour() const { return std::vector<int>(tour_.begin(), tour_.begin() + size()); }
  double operator()(int a, int b) const { return source_(tour_[a], tour_[b]); }
  // By position, n + 1 of them; a fixed edge is shorter than any gain.
  const double *edges() const { return edges_.data(); }
  // Null where distances are not those of points in the plane.
  const PlaneRows<double> *plane() const { return plane_.get(); }

  void fill(int from, int begin, int end, double *out) const {
    if (plane_) return plane_->fill(from, begin, end, out);
    const int own = tour_[from];
    for (int i = begin; i < end; ++i) out[i - begin] = source_(own, tour_[i]);
  }
  template <class Use>
  void with_distances(const Use &use) const {
    if (plane_) return plane_->with_distances(use);
    use(CityDistances<GivenDistances>{source_, tour_.data()});
  }

  // Puts the cities of positions [begin, end) anew, by old position.
  template <class Source>
  void rearrange(int begin, int end, const Source &from) {
    std::vector<int> cities(end - begin);
    for (int k = begin; k < end; ++k) cities[k - begin] = tour_[from(k)];
    std::copy(cities.begin(), cities.end(), tour_.begin() + begin);
    place(begin, end);
  }

 private:
  void place(int begin, int end) {
    const int n = size();
    repeat_start(tour_, n);
    if (plane_) plane_->place(tour_, begin, end);
    for (int i = std::max(begin - 1, 0); i < end; ++i) {
      edges_[i] = plane_ ? plane_->edges()[i] : (*this)(i, i + 1);
      if (fixed_.empty()) continue;
      const int *const others = &fixed_[2 * (size_t)tour_[i]];
      if (others[0] == tour_[i + 1] || others[1] == tour_[i + 1]) edges_[i] = -1e300;
    }
    edges_[n] = edges_[0];
  }

  GivenDistances source_;
  std::vector<int> tour_, fixed_;
  std::vector<double> edges_;
  std::unique_ptr<PlaneRows<double>> plane_;
};

}  // namespace warptsp::exhaustive
