// The distances of an instance as Python gives them, checked once; every search takes them so.
#pragma once
#include <optional>

#include "arrays.h"

namespace warptsp {

// Points of a metric, or a matrix of integers or of real numbers: one of the three. Keeps the array alive.
struct Distances {
  MetricKind kind = MetricKind::matrix;
  std::optional<Array<const double, 2>> points;
  std::optional<Array<const int, 2>> int_matrix;
  std::optional<Array<const double, 2>> real_matrix;

  size_t size() const { return points ? points->shape(0) : int_matrix ? int_matrix->shape(0) : real_matrix->shape(0); }
  // Null where there are none.
  Points rows() const { return points ? Points{points->data(), (int)points->shape(1)} : Points{nullptr, 0}; }
  const int *integers() const { return int_matrix ? int_matrix->data() : nullptr; }
  const double *reals() const { return real_matrix ? real_matrix->data() : nullptr; }

  void check_size(size_t n) const {
    require(size() == n, "points or matrix are not those of " + std::to_string(n) + " cities");
  }

  // No distance of the points is longer; see longest_distance.
  double longest_of_points(bool dummy = false) const { return longest_distance((int)kind, *points, dummy); }
};

}  // namespace warptsp
