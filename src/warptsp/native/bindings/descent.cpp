// Exhaustive descents, for Python: warptsp.papers.exhaustive.descent drives them.
#include "papers/exhaustive/descent.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "distances.h"

using namespace warptsp;
using namespace warptsp::exhaustive;

namespace {

std::unique_ptr<Descent> make_descent(const std::vector<int> &neighborhoods, const Distances &distances,
                                      Array<const int, 1> tour, Array<const int, 2> fixed_edges, double tolerance,
                                      int threads, std::vector<int> kept, std::vector<std::pair<int, int>> before) {
  const int n = (int)tour.shape(0);
  require(n >= 4, "a descent needs 4 cities or more");
  require(!neighborhoods.empty(), "a descent needs a neighborhood");
  std::vector<Neighborhood> order;
  for (const int number : neighborhoods) {
    require(number >= 0 && number <= (int)Neighborhood::relocate, "there is no such neighborhood");
    order.push_back((Neighborhood)number);
  }
  check_threads(threads);
  distances.check_size(n);
  const std::vector<int> cities = checked_tour(tour, n);
  check_cities(kept.data(), kept.size(), 0, n, "what is kept");
  for (const auto &[a, b] : before) {
    const int both[] = {a, b};
    check_cities(both, 2, 0, n, "what comes before another");
  }
  auto descent = std::make_unique<Descent>(distances.given(), std::move(order), cities, fixed_partners(fixed_edges, n),
                                           tolerance, threads);
  descent->constrain(std::move(kept), std::move(before));
  return descent;
}

}  // namespace

void bind_descent(nb::module_ &m) {
  nb::class_<Descent>(m, "Descent", "One tour, and best-improvement descent in neighborhoods.")
      .def_static("create", make_descent, nb::kw_only(), "neighborhoods"_a, "distances"_a, "tour"_a, "fixed_edges"_a,
                  "tolerance"_a, "threads"_a, "kept"_a, "before"_a, nb::keep_alive<0, 2>())
      .def("proceed", Interruptible<double, long long>::call(&Descent::proceed), "seconds"_a, "passes"_a, "token"_a,
           "Passes for so long, and so many (-1: any number); True when no move shortens the tour.")
      .def_prop_ro("length", &Descent::length)
      .def("tour", [](const Descent &descent) { return to_numpy(descent.tour()); })
      .def("counters", [](const Descent &descent) {
        const DescentCounters &c = descent.counters();
        return counts_of({{"passes", c.passes}, {"evaluations", c.evaluations}, {"moves", c.moves}});
      });
}
