// The distances of instances as Python gives them, checked once; every search takes them so.
#pragma once
#include <optional>
#include <type_traits>

#include "arrays.h"
#include "common/given_distances.h"

namespace warptsp {

// Points of a metric, or matrices of integers or of real numbers: one of the three, of one instance or, with three
// dimensions, of many. Keeps the array alive.
template <int Dimensions>
struct DistancesIn {
  MetricKind kind = MetricKind::matrix;
  std::optional<Array<const double, Dimensions>> points;
  std::optional<Array<const int, Dimensions>> int_matrix;
  std::optional<Array<const double, Dimensions>> real_matrix;

  static DistancesIn of_points(int kind, const Array<const double, Dimensions> &points) {
    check_metric(kind, points.shape(Dimensions - 1));
    return {(MetricKind)kind, points, {}, {}};
  }
  template <class V>
  static DistancesIn of_matrix(const Array<const V, Dimensions> &matrix) {
    check_square(matrix.shape(Dimensions - 2), matrix.shape(Dimensions - 1));
    DistancesIn made;
    if constexpr (std::is_same_v<V, int>)
      made.int_matrix = matrix;
    else
      made.real_matrix = matrix;
    return made;
  }

  size_t extent(size_t axis) const {
    return points ? points->shape(axis) : int_matrix ? int_matrix->shape(axis) : real_matrix->shape(axis);
  }
  // Cities of an instance.
  size_t size() const { return extent(Dimensions - 2); }
  // Null where there are none.
  Points rows() const {
    return points ? Points{points->data(), (int)points->shape(Dimensions - 1)} : Points{nullptr, 0};
  }
  const int *integers() const { return int_matrix ? int_matrix->data() : nullptr; }
  const double *reals() const { return real_matrix ? real_matrix->data() : nullptr; }
  GivenDistances given() const { return {kind, rows(), integers(), reals(), (int)size()}; }

  // Calls `of_points` with the rows of points, or `of_matrix` with whichever matrix; of one instance.
  template <class OfPoints, class OfMatrix>
  auto use(const OfPoints &of_points, const OfMatrix &of_matrix) const {
    if (points) return of_points(rows());
    if (int_matrix) return of_matrix(Matrix<int>{integers(), (long long)size()});
    return of_matrix(Matrix<double>{reals(), (long long)size()});
  }

  void check_size(size_t n) const {
    require(size() == n, "points or matrix are not those of " + std::to_string(n) + " cities");
  }
};
typedef DistancesIn<2> Distances;

}  // namespace warptsp
