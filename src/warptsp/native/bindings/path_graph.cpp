// Joining what the parts of a tour hand over, for Python: warptsp.backends.cuda.search calls it.
#include "path_graph.h"

#include "common.h"
#include "parallel.h"

#include <numeric>

using namespace warptsp;

namespace {

struct BoundPathGraph {
  std::vector<PathGraph> graphs;  // one a thread
  Array<const double, 2> points;
  MetricKind kind;
  int size;
};

}  // namespace

void bind_path_graph(nb::module_ &m) {
  static_assert(sizeof(HandedPath) == 5 * sizeof(int) && sizeof(PathPlace) == 2 * sizeof(int));
  nb::class_<BoundPathGraph>(m, "PathGraph", "Makes tours of the paths that the blobs of a round hand over.")
      .def(
          "__init__",
          [](BoundPathGraph *self, Array<const double, 2> points, int kind) {
            const int n = (int)points.shape(0);
            new (self) BoundPathGraph{{}, points, (MetricKind)kind, n};
          },
          nb::arg("points"), nb::arg("kind"), "`points` in the search's order, two or three columns.")
      .def(
          "arrange",
          [](BoundPathGraph &b, Array<const int, 2> paths, Array<const int, 1> begin, Array<int, 2> places, int threads) {
            const int count = (int)paths.shape(0), tours = (int)begin.shape(0) - 1;
            if (paths.shape(1) != 5 || places.shape(1) != 2 || (int)places.shape(0) != count)
              throw nb::value_error("paths has 5 columns, places 2, and both the same number of rows");
            bool rising = tours > 0 && begin(0) == 0 && begin(tours) == count;
            for (int t = 0; rising && t < tours; t++) rising = begin(t) < begin(t + 1);
            if (!rising || threads < 1) throw nb::value_error("each tour has one path or more");
            const HandedPath *handed = (const HandedPath *)paths.data();
            for (int i = 0; i < count; i++) {
              const HandedPath &p = handed[i];
              if (p.head < 0 || p.head >= 2 * b.size || p.tail < 0 || p.tail >= 2 * b.size || p.head_city < 0 ||
                  p.head_city >= b.size || p.tail_city < 0 || p.tail_city >= b.size)
                throw nb::value_error("a path ends nowhere");
            }
            const double *rows = b.points.data();
            const size_t stride = b.points.shape(1);
            nb::gil_scoped_release release;
            while ((int)b.graphs.size() < std::min(threads, tours)) b.graphs.emplace_back(b.size);
            std::vector<int> found(tours);
            for_each_task(threads, tours, [&](int t, int thread) {
              const int first = begin(t);
              found[t] = b.graphs[thread].arrange(
                  handed + first, begin(t + 1) - first, (PathPlace *)places.data() + first, [&](int p, int q) {
                    return coordinate_distance(b.kind, rows + stride * p, rows + stride * q);
                  });
            });
            return std::accumulate(found.begin(), found.end(), 0);
          },
          nb::arg("paths"), nb::arg("begin"), nb::arg("places"), nb::arg("threads"),
          "Rows of `paths`: sides of the gaps at head and tail, cities there, cities in all; those of tour t are rows "
          "begin[t] to begin[t + 1]. Fills `places`: position of the lower end, turned or not. Returns how many closed "
          "tours there were.");
}
