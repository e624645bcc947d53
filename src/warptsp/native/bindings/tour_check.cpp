// The check of a long tour, for Python: warptsp.problem calls it.
#include "tours/tour_check.h"

#include "arrays.h"

using namespace warptsp;
using namespace warptsp::tours;

void bind_tour_check(nb::module_ &m) {
  typedef Array<const int, 1> Cities;
  m.def(
      "takes_each_once",
      [](const Cities &tour, int threads) {
        check_threads(threads);
        require(tour.shape(0) < 0x7fffffff, "a tour has fewer than 2^31 - 1 cities");
        const WithoutGil unlocked;
        return takes_each_once(tour.data(), (int)tour.shape(0), threads);
      },
      "tour"_a, "threads"_a, "Whether the tour is 0 to n - 1 in any order.");
  m.def(
      "edge_sums",
      [](const Array<const double, 2> &points, const Cities &cities, int kind,
         int threads) -> std::optional<NumpyArray<double>> {
        check_threads(threads);
        const size_t count = cities.shape(0);
        check_metric(kind, points.shape(1));
        require(count >= 2, "an edge has two cities");
        std::vector<double> sums(3 * (size_t)edge_pieces((int64_t)count));
        bool known = false;
        {
          const WithoutGil unlocked;
          known = edge_sums({{points.data(), (int)points.shape(1)}, (MetricKind)kind}, (int64_t)points.shape(0),
                            cities.data(), (int64_t)count, threads, sums.data());
        }
        if (!known) return std::nullopt;
        return to_numpy(std::move(sums));
      },
      "points"_a, "cities"_a, "kind"_a, "threads"_a,
      "Numbers whose exact sum is the length of the path through these cities, rows of `points`; None if one is not "
      "there.");
}
