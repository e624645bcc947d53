// Distances, for Python: warptsp.backends makes them.
#include "distances.h"

using namespace warptsp;

namespace {

void check_square(size_t rows, size_t columns) { require(rows == columns, "the matrix is not square"); }

}  // namespace

void bind_distances(nb::module_ &m) {
  nb::class_<Distances>(m, "Distances", "Points of a metric, or a matrix: what distances come from.")
      .def_static(
          "of_points",
          [](int kind, Array<const double, 2> points) {
            check_metric(kind, points.shape(1));
            return Distances{(MetricKind)kind, points, {}, {}};
          },
          nb::arg("kind"), nb::arg("points"))
      .def_static(
          "of_matrix",
          [](Array<const int, 2> matrix) {
            check_square(matrix.shape(0), matrix.shape(1));
            return Distances{MetricKind::matrix, {}, matrix, {}};
          },
          nb::arg("matrix").noconvert())
      .def_static(
          "of_matrix",
          [](Array<const double, 2> matrix) {
            check_square(matrix.shape(0), matrix.shape(1));
            return Distances{MetricKind::matrix, {}, {}, matrix};
          },
          nb::arg("matrix").noconvert());
}
