// Several tours joined into one, for Python: warptsp.solver.merging calls it.
#include "lk/tour_merge.h"

#include "arrays.h"

using namespace warptsp;
using namespace warptsp::lk;

void bind_tour_merge(nb::module_ &m) {
  m.def(
      "merge_tours",
      [](const Array<const int, 2> &orders, const Array<const double, 2> &lengths, uint64_t seed, int threads,
         StopToken &token) {
        const size_t count = orders.shape(0), size = orders.shape(1);
        check_threads(threads);
        require(count >= 1 && size >= 3 && size < 0x7fffffff, "tours of 3 to 2^31 - 2 nodes are merged");
        require(lengths.shape(0) == count && lengths.shape(1) == size, "each edge has one length");
        for (size_t t = 0; t < count; t++) check_tour(orders.data() + t * size, size, size);
        const auto merge = [&] {
          std::vector<WeightedTour> tours(count);
          for (size_t t = 0; t < count; t++) {
            const int *const nodes = orders.data() + t * size;
            const double *const edges = lengths.data() + t * size;
            tours[t] = {std::vector<int>(nodes, nodes + size), std::vector<double>(edges, edges + size)};
          }
          return merge_tours(std::move(tours), seed, threads, token).order;
        };
        return to_numpy(interruptible(token, merge, count * size <= brief_cities));
      },
      nb::kw_only(), "orders"_a, "lengths"_a, "seed"_a, "threads"_a, "token"_a,
      "The nodes of one tour that has no edges but those of the tours in the rows of `orders`, and is no longer than "
      "the shortest of them; lengths[t, i] is that of the edge of tour t from place i to the next.");
}
