// Distances, for Python: warptsp.backends makes them.
#include "distances.h"

using namespace warptsp;

void bind_distances(nb::module_ &m) {
  nb::class_<Distances>(m, "Distances", "Points of a metric, or a matrix: what distances come from.")
      .def_static("of_points", &Distances::of_points, "kind"_a, "points"_a)
      .def_static("of_matrix", &Distances::of_matrix<int>, "matrix"_a.noconvert())
      .def_static("of_matrix", &Distances::of_matrix<double>, "matrix"_a.noconvert());
}
