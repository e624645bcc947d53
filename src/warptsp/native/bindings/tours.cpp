// Tours as a whole: their check, parts that are improved elsewhere, and several joined into one. warptsp.problem,
// warptsp.cluster.cutting and warptsp.solver.merging call them.
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

#include <algorithm>
#include <vector>

#include "arrays.h"
#include "lk/tour_cut.h"
#include "lk/tour_merge.h"
#include "tours/tour_check.h"

using namespace warptsp;
using namespace warptsp::lk;
using namespace warptsp::tours;

namespace {

typedef Array<const int, 1> Cities;
typedef Array<const double, 2> Rows;

void check_cut(const Cities &tour, int parts, int rotation, const Edges &fixed, int threads) {
  check_threads(threads);
  const size_t n = tour.shape(0);
  require(n >= 1 && n < 0x7fffffff, "a tour of " + std::to_string(n) + " cities cannot be cut");
  require(parts >= 1, "parts is " + std::to_string(parts) + "; at least 1 is needed");
  require(rotation >= 0 && (size_t)rotation < n, "rotation is " + std::to_string(rotation) + ", which is no position");
  check_fixed_edges(fixed, n);
  check_tour(tour.data(), n, n);
}

typedef std::optional<std::unique_ptr<TourCut>> MadeCut;

// The cut that `make(cut)` made; None if the token stopped it.
template <class Make>
MadeCut made(StopToken &token, const Make &make) {
  auto cut = std::make_unique<TourCut>();
  if (!interruptible(token, [&] { return make(*cut); })) return std::nullopt;
  return cut;
}

MadeCut bind_cut_stretches(const Cities &tour, int parts, int rotation, const Edges &fixed, int threads,
                           StopToken &token) {
  check_cut(tour, parts, rotation, fixed, threads);
  return made(token, [&](TourCut &cut) {
    return cut.cut_stretches(tour.data(), (int)tour.shape(0), parts, rotation, fixed.data(), (int64_t)fixed.shape(0),
                             threads, token);
  });
}

MadeCut bind_cut_boxes(const Rows &points, const Cities &tour, int parts, uint64_t seed, int rotation,
                       const Edges &fixed, int threads, StopToken &token) {
  check_cut(tour, parts, rotation, fixed, threads);
  const int n = (int)tour.shape(0), dimensions = (int)points.shape(1);
  require(dimensions == 2 || dimensions == 3, "points have 2 or 3 columns");
  require(points.shape(0) == tour.shape(0), "points and tour differ in their cities");
  return made(token, [&](TourCut &cut) {
    // 1024 cities a box: boxes differ by 3 %.
    const BoxCutter box(Points{points.data(), dimensions}, n, parts, Random(seed, 0, 0), 1024);
    return cut.cut_boxes(box, tour.data(), n, rotation, fixed.data(), (int64_t)fixed.shape(0), threads, token);
  });
}

void check_part(const TourCut &cut, int b) {
  if (b < 0 || b >= cut.parts())
    throw nb::index_error(("there is no part " + std::to_string(b) + " of " + std::to_string(cut.parts())).c_str());
}

// The tour and the number of closed ones that it was made of; None if stopped, (None, 0) if no tour can be made.
std::optional<std::tuple<FilledArray, int>> bind_link(const TourCut &cut, const Cities &order, const Rows &points,
                                                      int kind, int threads, StopToken &token) {
  check_threads(threads);
  const size_t ends = 2 * (size_t)cut.path_count();
  require(points.shape(0) == ends, "points have a row for each end of a path");
  check_metric(kind, points.shape(1));
  check_tour(order.data(), order.shape(0), ends);
  Buffer<int> tour((size_t)cut.cities());
  int closed = 0;
  const TourCut::Linked linked = interruptible(token, [&] {
    const AnyCoordinates<double> distance{{points.data(), (int)points.shape(1)}, (MetricKind)kind};
    return cut.link(order.data(), distance, tour.data(), &closed, threads, token);
  });
  if (linked == TourCut::Linked::stopped) return std::nullopt;
  if (linked == TourCut::Linked::impossible) return std::make_tuple(FilledArray(), 0);
  const size_t size = tour.size();
  return std::make_tuple(FilledArray(to_numpy(std::move(tour), {size})), closed);
}

}  // namespace

void bind_tours(nb::module_ &m) {
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
        const bool known = without_gil([&] {
          return edge_sums({{points.data(), (int)points.shape(1)}, (MetricKind)kind}, (int64_t)points.shape(0),
                           cities.data(), (int64_t)count, threads, sums.data());
        });
        if (!known) return std::nullopt;
        return to_numpy(std::move(sums));
      },
      "points"_a, "cities"_a, "kind"_a, "threads"_a,
      "Numbers whose exact sum is the length of the path through these cities, rows of `points`; None if one is not "
      "there.");
  nb::class_<TourCut>(m, "TourCut", "A tour cut into parts that are improved elsewhere; see native/lk/tour_cut.h.")
      .def_static("stretches", bind_cut_stretches, "tour"_a, "parts"_a, "rotation"_a, "fixed"_a, "threads"_a, "token"_a,
                  "Parts of consecutive cities; None if stopped.")
      .def_static("boxes", bind_cut_boxes, "points"_a, "tour"_a, "parts"_a, "seed"_a, "rotation"_a, "fixed"_a,
                  "threads"_a, "token"_a, "Parts that are boxes of a k-d tree; None if stopped.")
      .def_prop_ro("parts", &TourCut::parts)
      .def_prop_ro("paths", [](const TourCut &cut) { return cut.path_count(); })
      .def(
          "size",
          [](const TourCut &cut, int b) {
            check_part(cut, b);
            return cut.size(b);
          },
          "part"_a)
      .def(
          "cities",
          [](const TourCut &cut, int b) {
            check_part(cut, b);
            return to_numpy(std::vector<int>(cut.cities(b), cut.cities(b) + cut.size(b)));
          },
          "part"_a, "The part's cities in tour order, or in that of its answer.")
      .def(
          "path_begin",
          [](const TourCut &cut, int b) {
            check_part(cut, b);
            std::vector<int> begin;
            for (int j = 0; j <= cut.path_count(b); j++) begin.push_back(cut.path_begin(b, j));
            return to_numpy(std::move(begin));
          },
          "part"_a, "Where each path begins among the part's cities, and their number.")
      .def(
          "put",
          [](TourCut &cut, int b, const Cities &order) {
            check_part(cut, b);
            const WithoutGil unlocked;
            return cut.put(b, order.data(), (int)std::min<size_t>(order.shape(0), 0x7fffffff));
          },
          "part"_a, "order"_a, "Takes a part's answer; returns what is wrong with it, or an empty text.")
      .def(
          "ends",
          [](const TourCut &cut) {
            std::vector<int> cities(2 * (size_t)cut.path_count());
            cut.ends(cities.data());
            return to_numpy(std::move(cities));
          },
          "The cities at head and tail of every path.")
      .def("link", bind_link, "order"_a, "points"_a, "kind"_a, "threads"_a, "token"_a,
           "The tour of all parts and how many closed ones it was made of, (None, 0) if there is none that keeps fixed "
           "edges; None if stopped. `order` is that of the ends along a curve, `points` are theirs.");
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
