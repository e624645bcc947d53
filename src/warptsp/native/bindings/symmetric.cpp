// Symmetrical 2-opt and annealing on CPU threads, for Python: warptsp.papers.symmetric.search drives them.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/unique_ptr.h>

#include <memory>
#include <optional>
#include <vector>

#include "distances.h"
#include "fields.h"
#include "papers/symmetric/symmetric_search.h"
#include "papers/symmetric/triple_search.h"

using namespace warptsp;
using namespace warptsp::symmetric;

namespace {

// Several tours of the same instance.
struct BoundTours {
  BoundTours() = default;
  BoundTours(BoundTours &&) = default;
  std::vector<std::unique_ptr<CircleSearch>> tours;  // one by one, and all of the same kind
  int threads;
};

}  // namespace

void bind_symmetric(nb::module_ &m) {
  typedef SymmetricInstance I;
  bind_fields<I>(
      m, "SymmetricInstance",
      "The numbers of a circle that every search of it takes; papers/symmetric/symmetric.h has them.", [](const I &) {},
      field("elements", &I::elements, "Of the hardware, for its order; 0 for that of the threads."),
      field("random", &I::random, "Whether segments come one after another at random."),
      field("tolerance", &I::tolerance, "What a gain must exceed."),
      field("planar", &I::planar, "Whether the filter works; 2 if single precision holds all places."),
      field("whole_edges", &I::whole_edges, "Whether lengths are integers that single precision holds."),
      field("center_x", &I::center_x, ""), field("center_y", &I::center_y, ""), field("scale", &I::scale, ""),
      field("slack", &I::slack, "By how much rounding may make two edges shorter."),
      field("place_error", &I::place_error, "By how much it may change a distance."));
  nb::class_<BoundTours>(m, "SymmetricTours", "Tours, and symmetrical 2-opt moves that shorten them.")
      .def_static(
          "create",
          [](const Distances &distances, SymmetricInstance instance, bool triples,
             std::optional<Array<const int, 2>> fixed, Array<const int, 1> circle, unsigned long long seed, int chains,
             int threads) {
            check_threads(threads);
            const int n = (int)circle.shape(0), elements = instance.elements;
            const bool random = instance.random != 0;
            if (n < 4 || (elements == 0 && !random && !triples && n % 2 == 0))
              throw nb::value_error("the circle has a wrong number of cities");
            if (elements < 0 || elements > n / 4 || (random + triples + (elements > 0) > 1))
              throw nb::value_error("elements are out of range");
            if (elements > 0 && (n / 4 + elements - 1) / elements > (1 << 29) / n)
              throw nb::value_error("there are too few elements for so many cities");
            if (chains < 1) throw nb::value_error("there must be a chain");
            const size_t rows = distances.size();
            const Points points = distances.rows();
            check_cities(circle.data(), n, 0, rows, "the circle");
            std::vector<int> cities(circle.data(), circle.data() + n);
            if (fixed) check_cities(fixed->data(), fixed->size(), -1, rows, "a fixed edge");
            if (fixed && (fixed->shape(0) != rows || fixed->shape(1) != 2))
              throw nb::value_error("fixed has not two entries a city");
            if (instance.planar && points.stride != 2) throw nb::value_error("the points lie in no plane");
            auto bound = std::make_unique<BoundTours>();
            bound->threads = threads;
            instance.size = n;
            instance.kind = distances.kind;
            instance.stride = points.stride;
            instance.points = points.rows;
            instance.int_matrix = distances.integers();
            instance.real_matrix = distances.reals();
            instance.matrix_size = (long long)rows;
            instance.fixed = fixed ? fixed->data() : nullptr;
            for (int chain = 0; chain < chains; chain++)
              if (triples)
                bound->tours.push_back(std::make_unique<TripleTour>(instance, cities));
              else
                bound->tours.push_back(
                    std::make_unique<SymmetricTour>(instance, cities, seed, (unsigned long long)chain));
            return bound;
          },
          nb::kw_only(), "distances"_a, "instance"_a, "triples"_a, "fixed"_a.none(), "circle"_a, "seed"_a, "chains"_a,
          "threads"_a, nb::keep_alive<0, 1>(), nb::keep_alive<0, 4>())
      .def(
          "descend",
          [](BoundTours &b, double seconds, StopToken &token) {
            const int chains = (int)b.tours.size();
            return interruptible(token, [&] {
              const StopToken slice(token, seconds);
              // One tour has all threads; of several, each has one.
              return all_tasks(b.threads, chains,
                               [&](int chain) { return b.tours[chain]->descend(chains > 1 ? 1 : b.threads, slice); });
            });
          },
          nb::arg("seconds"), nb::arg("token"), "Descend for so long at a time; True when every tour is 2-optimal.")
      .def(
          "anneal",
          [](BoundTours &b, double temperature, double factor, long long iterations, long long spent, long long steps,
             StopToken &token) {
            if (iterations < 1 || steps < 0) throw nb::value_error("iterations or steps are out of range");
            interruptible(token, [&] {
              for_each_task(b.threads, (int)b.tours.size(), [&](int chain) {
                b.tours[chain]->anneal({temperature, factor, iterations, spent}, steps, token);
              });
            });
          },
          nb::arg("temperature"), nb::arg("factor"), nb::arg("iterations"), nb::arg("spent"), nb::arg("steps"),
          nb::arg("token"), "Make so many steps of annealing with every tour.")
      .def(
          "cities",
          [](const BoundTours &b, int chain) { return to_numpy(std::vector<int>(b.tours.at(chain)->cities())); },
          nb::arg("chain"), "The cities on the circle of a chain.")
      .def(
          "lengths",
          [](const BoundTours &b) {
            std::vector<double> lengths;
            for (const auto &tour : b.tours) lengths.push_back(tour->length());
            return to_numpy(std::move(lengths));
          },
          "The length of each tour.")
      .def("counters", [](const BoundTours &b) {
        SymmetricCounters sum;
        for (const auto &tour : b.tours) {
          sum.steps += tour->counters().steps;
          sum.evaluations += tour->counters().evaluations;
          sum.moves += tour->counters().moves;
        }
        return counts_of({{"steps", sum.steps},
                          {"quiet", b.tours[0]->quiet()},
                          {"evaluations", sum.evaluations},
                          {"moves", sum.moves}});
      });
}
