// Exhaustive descents, for Python: warptsp.papers.exhaustive.descent drives them.
#include "papers/exhaustive/descent.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include "distances.h"
#include "papers/exhaustive/move_numbers.h"

using namespace warptsp;
using namespace warptsp::exhaustive;

namespace {

// Keeps the arrays that a descent refers to alive with it.
struct BoundDescent {
  std::unique_ptr<Descent> descent;
  Distances distances;
};

BoundDescent make_descent(const std::vector<int> &neighborhoods, const Distances &distances, bool dummy,
                          Array<const int, 1> tour, Array<const int, 2> fixed_edges, double tolerance, int threads,
                          std::vector<int> kept, std::vector<std::pair<int, int>> before, bool pruned) {
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
  check_tour(tour.data(), n, n);
  const std::vector<int> cities(tour.data(), tour.data() + n);
  check_cities(kept.data(), kept.size(), 0, n, "what is kept");
  for (const auto &[a, b] : before) {
    const int both[] = {a, b};
    check_cities(both, 2, 0, n, "what comes before another");
  }

  BoundDescent bound;
  bound.distances = distances;
  const DistanceSource source{distances.kind, distances.rows(), distances.integers(), distances.reals(), n, dummy};
  bound.descent =
      std::make_unique<Descent>(source, std::move(order), cities, fixed_partners(fixed_edges, n), tolerance, threads);
  bound.descent->constrain(std::move(kept), std::move(before));
  if (pruned) bound.descent->prune();
  return bound;
}

// Moves with these numbers, a row of positions each.
template <class Decode>
NumpyArray<int> decoded(const Array<const uint64_t, 1> &numbers, size_t columns, MoveNumber moves,
                        const Decode &decode) {
  for (size_t i = 0; i < numbers.shape(0); ++i)
    if (numbers(i) >= moves) throw std::invalid_argument("there is no move " + std::to_string(numbers(i)));
  std::vector<int> rows;
  rows.reserve(columns * numbers.shape(0));
  for (size_t i = 0; i < numbers.shape(0); ++i) decode(numbers(i), rows);
  return to_numpy(std::move(rows), {numbers.shape(0), columns});
}

}  // namespace

void bind_descent(nb::module_ &m) {
  using nb::arg;
  nb::class_<BoundDescent>(m, "Descent", "One tour, and best-improvement descent in neighborhoods.")
      .def_static("create", make_descent, nb::kw_only(), arg("neighborhoods"), arg("distances"), arg("dummy"),
                  arg("tour"), arg("fixed_edges"), arg("tolerance"), arg("threads"), arg("kept"), arg("before"),
                  arg("pruned") = false)
      .def(
          "proceed",
          [](BoundDescent &b, double seconds, long long passes, StopToken &token) {
            bool complete = false;
            interruptible(token, [&] { complete = b.descent->proceed(seconds, passes, token); });
            return complete;
          },
          arg("seconds"), arg("passes"), arg("token"),
          "Passes for so long, and so many (-1: any number); True when no move shortens the tour.")
      .def_prop_ro("length", [](const BoundDescent &b) { return b.descent->length(); })
      .def("tour", [](const BoundDescent &b) { return to_numpy(b.descent->tour()); })
      .def("counters", [](const BoundDescent &b) {
        const DescentCounters &c = b.descent->counters();
        return counts_of({{"passes", c.passes}, {"evaluations", c.evaluations}, {"moves", c.moves}});
      });
  m.def(
      "pairs_of",
      [](Array<const uint64_t, 1> numbers) {
        return decoded(numbers, 2, pairs_below(1ull << 31), [](uint64_t number, std::vector<int> &rows) {
          const Pair p = pair_of(number);
          rows.insert(rows.end(), {p.i, p.j});
        });
      },
      arg("numbers"), "The pairs of positions (i, j), i < j, with these numbers.");
  m.def(
      "triples_of",
      [](Array<const uint64_t, 1> numbers) {
        return decoded(numbers, 3, 1ull << 63, [](uint64_t number, std::vector<int> &rows) {
          const Triple t = triple_of(number);
          rows.insert(rows.end(), {t.i, t.j, t.k});
        });
      },
      arg("numbers"), "The triples of positions (i, j, k), i < j < k, with these numbers.");
  m.def(
      "swaps_of",
      [](Array<const uint64_t, 1> numbers, int n) {
        return decoded(numbers, 2, swaps_of(n), [n](uint64_t number, std::vector<int> &rows) {
          const Pair p = swap_of(number, n);
          rows.insert(rows.end(), {p.i, p.j});
        });
      },
      arg("numbers"), arg("n"), "The pairs of positions (x, y), 1 <= x < y < n, with these numbers.");
  m.def(
      "relocations_of",
      [](Array<const uint64_t, 1> numbers, int n) {
        return decoded(numbers, 2, relocations_of(n), [n](uint64_t number, std::vector<int> &rows) {
          const Relocation r = relocation_of(number, n);
          rows.insert(rows.end(), {r.position, r.over});
        });
      },
      arg("numbers"), arg("n"), "The relocations (position, positions passed over) with these numbers.");
}
