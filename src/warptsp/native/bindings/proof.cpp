// The relaxation of closed tours by which optimality is proved, for Python: warptsp.proof solves its linear programmes.
#include "proof/relaxation.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "arrays.h"

using namespace warptsp;
using namespace warptsp::proof;

namespace {

typedef Array<const double, 1> Numbers;

// Costs of columns or lower limits of rows; where each begins; indices and values of all.
typedef std::tuple<NumpyArray<double>, NumpyArray<int>, NumpyArray<int>, NumpyArray<double>> Lines;

// What one relaxation tells others.
struct Cuts {
  int cities;
  std::vector<Cut> cuts;
};

Lines lines(SparseLines &&found) {
  return std::make_tuple(to_numpy(std::move(found.bound)), to_numpy(std::move(found.begin)),
                         to_numpy(std::move(found.index)), to_numpy(std::move(found.value)));
}

void check_row(const Relaxation &relaxation, int row) {
  require(row >= 0 && row < relaxation.rows(), "there is no row " + std::to_string(row));
}

void check_size(const Numbers &numbers, int size, const char *what) {
  require((int)numbers.shape(0) == size,
          std::to_string(numbers.shape(0)) + " " + what + "; there are " + std::to_string(size));
}

// Whether lengths are symmetric and neither negative nor too large; block by block, as one of both is read down columns.
// Until the token stops it: nobody uses what comes of it then.
bool are_lengths(const int64_t *lengths, size_t n, const StopToken &token) {
  constexpr size_t block = 64;
  for (size_t top = 0; top < n && !token.stopped(); top += block)
    for (size_t left = 0; left <= top; left += block)
      for (size_t i = top; i < std::min(n, top + block); ++i)
        for (size_t j = left; j < std::min(n, left + block); ++j) {
          const int64_t length = lengths[i * n + j];
          if (length != lengths[j * n + i] || length < 0 || length >= (int64_t)1 << 48) return false;
        }
  return true;
}

// `lengths` stay where they are: the relaxation keeps the array alive, and nobody may change it.
Relaxation *make(const Array<const int64_t, 2> &lengths, const Array<const int, 1> &tour, uint64_t seed,
                 StopToken &token) {
  const size_t n = lengths.shape(0);
  require(lengths.shape(1) == n && n >= 3 && n <= 20000, "lengths are not a square matrix of 3 to 20000 cities");
  const bool valid = interruptible(token, [&] { return are_lengths(lengths.data(), n, token); }, n <= brief_cities);
  require(valid, "lengths are not symmetric, negative, or too large");
  const std::shared_ptr<const int64_t> kept(lengths.data(), [lengths](const int64_t *) {});
  return new Relaxation(kept, checked_tour(tour, n), seed);
}

Lines add_columns(Relaxation &relaxation, const Edges &pairs) {
  require(pairs.shape(1) == 2, "pairs have two columns");
  check_cities(pairs.data(), 2 * pairs.shape(0), 0, relaxation.cities(), "a pair");
  for (size_t k = 0; k < pairs.shape(0); ++k) require(pairs(k, 0) != pairs(k, 1), "a pair is of one city");
  return lines(relaxation.add_columns(pairs.data(), pairs.shape(0)));
}

int column(const Relaxation &relaxation, int a, int b) {
  const int found = relaxation.column_at(a, b);
  require(found >= 0, "there is no such edge");
  return found;
}

void set_column_bounds(Relaxation &relaxation, int column, int lower, int upper) {
  require(0 <= lower && lower <= upper && upper <= 1, "an edge is used from 0 to 1 times");
  require(column >= 0 && column < relaxation.columns(), "there is no such column");
  relaxation.set_column_bounds(column, lower, upper);
}

void drop_columns(Relaxation &relaxation, const Array<const int, 1> &columns) {
  const std::vector<int> gone = copied(columns);
  for (const int column : gone) require(column >= 0 && column < relaxation.columns(), "there is no such column");
  relaxation.drop_columns(gone);
}

void set_row_bounds(Relaxation &relaxation, int row, int lower, int upper) {
  check_row(relaxation, row);
  const int bound = relaxation.row(row).cut.bound;
  require(lower >= bound && (upper < 0 || upper >= lower), "a row's limits are no wider than its cut's");
  relaxation.set_row_bounds(row, lower, upper < 0 ? Row::no_limit : upper);
}

Lines add_subtour(Relaxation &relaxation, const Array<const int, 1> &set) {
  const int n = relaxation.cities();
  check_cities(set.data(), set.shape(0), 0, n, "a set");
  std::vector<int> cities = copied(set);
  std::sort(cities.begin(), cities.end());
  require(std::adjacent_find(cities.begin(), cities.end()) == cities.end() && cities.size() >= 2 &&
              (int)cities.size() <= n - 2,
          "a set has from two cities to all but two, once each");
  return lines(relaxation.add_subtour(cities));
}

void to_cuts(const Relaxation &relaxation, const Array<double, 1> &prices, const Array<double, 1> &activity) {
  require((int)prices.shape(0) == relaxation.cities() + relaxation.rows(), "a price for each city and row");
  require((int)activity.shape(0) == relaxation.rows(), "a value for each row");
  relaxation.to_cuts(prices.data(), activity.data());
}

auto separate(Relaxation &relaxation, const Numbers &solution, const Numbers &activity, Effort effort, bool is_dear,
              int threads, StopToken &token) {
  check_size(solution, relaxation.columns(), "values of columns");
  check_size(activity, relaxation.rows(), "values of rows");
  require(threads >= 1 && threads <= 1024, "threads: 1 to 1024");
  const RoundReport report = interruptible(
      token, [&] { return relaxation.separate(solution.data(), activity.data(), effort, is_dear, threads, token); });
  return std::make_tuple(report.components, report.subtours, report.blossoms, report.tightened, report.local);
}

NumpyArray<int> drop_idle(Relaxation &relaxation, const Numbers &price, const Numbers &activity, int rounds) {
  check_size(price, relaxation.rows(), "prices of rows");
  check_size(activity, relaxation.rows(), "values of rows");
  return to_numpy(relaxation.drop_idle(price.data(), activity.data(), rounds));
}

auto price(Relaxation &relaxation, const Numbers &prices, int most) {
  check_size(prices, relaxation.cities() + relaxation.rows(), "prices");
  require(most >= 0, "a number of pairs is not negative");
  const PricedPairs found = without_gil([&] { return relaxation.price(prices.data(), (size_t)most); });
  std::vector<int> pairs;
  for (const auto &[reduced, pair] : found.pairs) {
    pairs.push_back(pair.first);
    pairs.push_back(pair.second);
  }
  const size_t count = found.pairs.size();
  const int64_t least = count == 0 ? 0 : found.pairs[0].first;
  const std::optional<int64_t> bound = found.bound == no_bound ? std::nullopt : std::make_optional(found.bound);
  return std::make_tuple(bound, least, to_numpy(std::move(pairs), {count, 2}));
}

NumpyArray<int> survivors(Relaxation &relaxation, int64_t slack, bool keep) {
  require(slack >= 0, "the slack is negative");
  std::vector<int> pairs = without_gil([&] { return relaxation.survivors(slack, keep); });
  const size_t count = pairs.size() / 2;
  return to_numpy(std::move(pairs), {count, 2});
}

auto sweep(const Relaxation &relaxation, int64_t slack, int64_t target, int64_t step,
           const std::optional<Array<const int, 1>> &order, int64_t most_states, StopToken &token) {
  const int n = relaxation.cities();
  require(slack >= 0 && slack < (int64_t)1 << 60 && step >= 1 && (int)relaxation.pricing().city_prices().size() == n &&
              (int)relaxation.pricing().row_prices().size() == relaxation.rows(),
          "a sweep needs prices, and a bound below the target");
  const std::vector<int> given = order ? checked_tour(*order, n) : std::vector<int>();
  Swept swept = interruptible(token, [&] { return relaxation.sweep(slack, target, step, given, most_states, token); });
  std::optional<NumpyArray<int>> tour;
  if (swept.outcome == Swept::found) tour = to_numpy(std::move(swept.tour));
  return std::make_tuple(swept.outcome != Swept::gave_up, to_numpy(std::move(swept.order)), tour);
}

auto describe(const Relaxation &relaxation, int row) {
  check_row(relaxation, row);
  const Row &here = relaxation.row(row);
  const Cut &cut = here.cut;
  std::vector<std::vector<int>> comb;
  for (const std::vector<uint8_t> &set : cut.comb) comb.emplace_back(set.begin(), set.end());
  const size_t k = cut.classes;
  return std::make_tuple(to_numpy(std::vector<int>(cut.class_of.begin(), cut.class_of.end())),
                         to_numpy(std::vector<int>(cut.length), {k, k}), cut.bound, comb);
}

int least_closed_walk(const Array<const int, 2> &lengths) {
  const size_t k = lengths.shape(0);
  require(lengths.shape(1) == k && k >= 3 && k <= LeastWalks::max_nodes,
          "lengths are not a square matrix of 3 to " + std::to_string(LeastWalks::max_nodes) + " classes");
  const std::vector<int> copy = copied(lengths);
  require(std::all_of(copy.begin(), copy.end(), [](int q) { return q >= 0 && q < 1 << 20; }),
          "lengths are negative, or too large");  // their sums stay below 2^24, which a float adds exactly
  return LeastWalks().least((int)k, copy);
}

void adopt(Relaxation &relaxation, const Array<const int, 1> &class_of, const Array<const int, 2> &lengths, int bound,
           const std::vector<std::vector<int>> &comb) {
  const size_t n = relaxation.cities(), k = lengths.shape(0);
  require(class_of.shape(0) == n && lengths.shape(1) == k && k >= 2 && k <= (size_t)max_classes, "this is no cut");
  Cut cut;
  cut.classes = (int)k;
  cut.bound = bound;
  check_cities(class_of.data(), n, 0, (int)k, "a class");
  cut.class_of.assign(class_of.data(), class_of.data() + n);
  cut.length = copied(lengths);
  for (const std::vector<int> &set : comb) {
    check_cities(set.data(), set.size(), 0, (int)k, "a class of a comb");
    cut.comb.emplace_back(set.begin(), set.end());
  }
  relaxation.adopt(std::move(cut));
}

}  // namespace

void bind_proof(nb::module_ &m) {
  using nb::arg;
  m.def("least_closed_walk", &least_closed_walk, arg("lengths"), "The shortest closed walk through all classes.");
  nb::enum_<Effort>(m, "Effort", nb::is_arithmetic(), "Which cuts are sought, each with all those before it.")
      .value("SUBTOURS", Effort::subtours)
      .value("BLOSSOMS", Effort::blossoms)
      .value("TIGHTENING", Effort::tightening)
      .value("LOCAL", Effort::local)
      .value("DOMINOES", Effort::dominoes)
      .value("WIDE", Effort::wide);
  nb::class_<Cuts>(m, "Cuts", "Cuts of one relaxation, for others.");
  nb::class_<Relaxation>(m, "Relaxation", "A linear relaxation of closed tours that grows by edges and cuts.")
      .def(nb::new_(&make), arg("lengths"), arg("tour"), arg("seed"), arg("token"))
      .def(
          "fork",
          [](const Relaxation &relaxation, int number) {
            require(number >= 1 && number <= 1024, "a fork's number is from 1 to 1024");
            return relaxation.fork(number);
          },
          arg("number"))
      .def("new_cuts", [](Relaxation &relaxation) { return Cuts{relaxation.cities(), relaxation.new_cuts()}; })
      .def(
          "learn",
          [](Relaxation &relaxation, const Cuts &cuts) {
            require(cuts.cities == relaxation.cities(), "the cuts are of another number of cities");
            relaxation.learn(cuts.cuts);
          },
          arg("cuts"))
      .def_prop_ro("columns", &Relaxation::columns)
      .def_prop_ro("rows", &Relaxation::rows)
      .def_prop_ro(
          "ends",
          [](const Relaxation &relaxation) {
            return to_numpy(std::vector<int>(relaxation.ends()), {(size_t)relaxation.columns(), 2});
          },
          nb::rv_policy::automatic)
      .def_prop_ro(
          "ids",
          [](const Relaxation &relaxation) {
            std::vector<int64_t> ids;
            for (int r = 0; r < relaxation.rows(); ++r) ids.push_back(relaxation.row(r).id);
            return to_numpy(std::move(ids));
          },
          nb::rv_policy::automatic)
      .def(
          "undecided_sets",
          [](Relaxation &relaxation, const Numbers &solution, size_t most) {
            check_size(solution, relaxation.columns(), "values of columns");
            return relaxation.undecided_sets(solution.data(), most);
          },
          arg("solution"), arg("most"))
      .def(
          "set_tour",
          [](Relaxation &relaxation, const Array<const int, 1> &tour) {
            relaxation.set_tour(checked_tour(tour, relaxation.cities()));
          },
          arg("tour"))
      .def(
          "set_coordinates",
          [](Relaxation &relaxation, const Array<const double, 2> &coordinates) {
            require((int)coordinates.shape(0) == relaxation.cities() && coordinates.shape(1) == 2,
                    "coordinates are not two for each city");
            relaxation.set_coordinates(coordinates.data(), relaxation.cities());
          },
          arg("coordinates"))
      .def("add_columns", &add_columns, arg("pairs"))
      .def("column", &column, arg("a"), arg("b"), "The number of an edge.")
      .def("drop_columns", &drop_columns, arg("columns"))
      .def("set_column_bounds", &set_column_bounds, arg("column"), arg("lower"), arg("upper"))
      .def(
          "take_cuts", [](Relaxation &relaxation, size_t most) { return lines(relaxation.take_cuts(most)); },
          arg("most"))
      .def("add_subtour", &add_subtour, arg("cities"))
      .def("adopt", &adopt, arg("class_of"), arg("lengths"), arg("bound"), arg("comb"))
      .def("set_row_bounds", &set_row_bounds, arg("row"), arg("lower"), arg("upper"))
      .def("to_cuts", &to_cuts, arg("prices"), arg("activity"))
      .def("drop_idle", &drop_idle, arg("prices"), arg("activity"), arg("rounds"))
      .def("begin_rounds", &Relaxation::begin_rounds)
      .def("perturb", &Relaxation::perturb, arg("most"))
      .def("separate", &separate, arg("solution"), arg("activity"), arg("effort"), arg("is_dear"), arg("threads"),
           arg("token"))
      .def("price", &price, arg("prices"), arg("most"))
      .def("survivors", &survivors, arg("slack"), arg("keep"))
      .def("sweep", &sweep, arg("slack"), arg("target"), arg("step"), arg("order").none(), arg("most_states"),
           arg("token"))
      .def("cut", &describe, arg("row"))
      .def("whole_prices", [](const Relaxation &relaxation) {
        std::vector<int64_t> cities = relaxation.pricing().city_prices(), rows = relaxation.pricing().row_prices();
        return std::make_tuple(to_numpy(std::move(cities)), to_numpy(std::move(rows)));
      });
}
