// Joining what the parts of a tour hand over, for Python: warptsp.backends.cuda.search calls it.
#include "lk/path_graph.h"

#include "distances.h"
#include "lk/tour_joins.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

using namespace warptsp;
using namespace warptsp::lk;

namespace {

struct BoundPathGraph {
  std::vector<PathGraph> graphs;  // one a thread
  int size;
  Distances distances;
  GivenDistances given;       // the same
  Array<const int, 1> row;    // of the points or the matrix for each city; empty: the city's own number
  Array<const int, 2> fixed;  // [size, 2] or empty

  int row_of(int city) const { return row.shape(0) > 0 ? row(city) : city; }
  // Whether straight lines choose as well where to join as rounded lengths do; they take a third of the time.
  bool flat() const { return distances.points && is_euclidean(distances.kind) && fixed.shape(0) == 0; }
  double straight(int p, int q) const {
    const double *const rows = distances.points->data();
    const double *a = rows + 2 * (int64_t)row_of(p), *b = rows + 2 * (int64_t)row_of(q);
    return std::sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]));
  }
  double length(int p, int q) const {
    if (fixed.shape(0) > 0 && (fixed(p, 0) == q || fixed(p, 1) == q)) return -PathGraph::kept;
    return given(row_of(p), row_of(q));
  }
};

}  // namespace

void bind_path_graph(nb::module_ &m) {
  static_assert(sizeof(LinkedPath) == 5 * sizeof(int) && sizeof(PathPlace) == 2 * sizeof(int));
  nb::class_<BoundPathGraph>(m, "PathGraph", "Makes tours of the paths that the blobs of a round hand over.")
      .def(
          "__init__",
          [](BoundPathGraph *self, const Distances &distances, Array<const int, 1> row, Array<const int, 2> fixed) {
            const size_t rows = distances.size();
            require(rows > 0, "points or a matrix are needed");
            const int n = (int)(row.shape(0) > 0 ? row.shape(0) : rows);
            require(std::all_of(row.data(), row.data() + row.size(), [&](int r) { return r >= 0 && (size_t)r < rows; }),
                    "the points or the matrix lack a row");
            require(fixed.shape(0) == 0 || ((int)fixed.shape(0) == n && fixed.shape(1) == 2),
                    "fixed has two columns and a row for each city, or none");
            new (self) BoundPathGraph{{}, n, distances, distances.given(), row, fixed};
          },
          nb::kw_only(), "distances"_a, "row"_a, "fixed"_a,
          "Points have a row of NaN for a dummy city; the search's city i is in row `row[i]`, or i if `row` is empty. "
          "`fixed[i]` are the cities that i must stay linked to.")
      .def(
          "arrange",
          [](BoundPathGraph &b, Array<const int, 2> paths, Array<const int, 1> begin, Array<int, 2> places,
             int threads) {
            const int count = (int)paths.shape(0), tours = (int)begin.shape(0) - 1;
            require(paths.shape(1) == 5 && places.shape(1) == 2 && (int)places.shape(0) == count,
                    "paths has 5 columns, places 2, and both the same number of rows");
            bool rising = tours > 0 && begin(0) == 0 && begin(tours) == count;
            for (int t = 0; rising && t < tours; t++) rising = begin(t) < begin(t + 1);
            require(rising, "each tour has one path or more");
            check_threads(threads);
            const LinkedPath *linked = (const LinkedPath *)paths.data();
            for (int i = 0; i < count; i++) check_cities(linked[i].city, 2, 0, b.size, "a path");
            std::vector<int> found(tours);
            {
              const WithoutGil unlocked;
              while ((int)b.graphs.size() < std::min(threads, tours)) b.graphs.emplace_back();
              for_each_task(threads, tours, [&](int t, int thread) {
                const int first = begin(t);
                const auto arrange = [&](auto &&length) {
                  return b.graphs[thread].arrange(linked + first, begin(t + 1) - first,
                                                  (PathPlace *)places.data() + first, length);
                };
                found[t] = b.flat() ? arrange([&](int p, int q) { return b.straight(p, q); })
                                    : arrange([&](int p, int q) { return b.length(p, q); });
              });
            }
            require(*std::min_element(found.begin(), found.end()) >= 0, "a path is linked to nothing");
            return std::accumulate(found.begin(), found.end(), 0);
          },
          "paths"_a, "begin"_a, "places"_a, "threads"_a,
          "Rows of `paths`: the ends that its head and its tail are linked to (of the tour's path i, 2 i is the head "
          "and 2 i + 1 the tail), cities there, cities in all; those of tour t are rows begin[t] to begin[t + 1]. "
          "Fills "
          "`places`: position of the lower end, turned or not. Returns how many closed tours there were; those of a "
          "tour that fixed edges alone could make one count 0, and its places are not filled.");
  static_assert(sizeof(JoinOfTours) == 40);
  m.def(
      "choose_joins",
      [](Array<const uint8_t, 1> found) {
        require(found.shape(0) % sizeof(JoinOfTours) == 0, "joins are structs of 40 bytes");
        std::vector<JoinOfTours> joins(found.shape(0) / sizeof(JoinOfTours));
        if (!joins.empty()) std::memcpy(joins.data(), found.data(), found.shape(0));
        ChosenJoins chosen = without_gil([&] { return choose_joins(std::move(joins)); });
        const size_t links = chosen.links.size() / 2, names = chosen.names.size() / 2;
        return std::make_tuple(to_numpy(std::move(chosen.links), {links, 2}),
                               to_numpy(std::move(chosen.names), {names, 2}));
      },
      "joins"_a,
      "Joins of closed tours that can all be made, of an array of struct JoinOfTours as bytes: rows of an end and what "
      "it is linked to, four for each join; and rows of a closed tour and its name from now on.");
}
