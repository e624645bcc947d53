// Every search and set-up on two threads finds what one thread finds. Under the thread sanitizer (`.ci/sanitize`) this
// shows races, too.
#include "clouds.h"
#include "tours.h"
#include "papers/exhaustive/descent.h"
#include "papers/hill_climbing/hill_climbing.h"
#include "lk/tour_cut.h"
#include "lk/tour_search.h"
#include "papers/neighbor_lists/neighbor_search.h"
#include "space/candidates.h"
#include "space/curve.h"
#include "papers/symmetric/symmetric_search.h"
#include "tours/greedy.h"
#include "tours/nearest_neighbor.h"
#include "tours/tour_check.h"

using namespace warptsp;
using namespace warptsp::exhaustive;
using namespace warptsp::lk;
using namespace warptsp::neighbor;
using namespace warptsp::space;
using namespace warptsp::symmetric;
using namespace warptsp::tours;

namespace {

typedef std::vector<int> Tour;
constexpr MetricKind kind = MetricKind::exact_2d;
constexpr double tolerance = 1e-9;

struct Cities {
  explicit Cities(int n, unsigned seed = 1)
      : n(n), random(seed), rows(cloud(0, n, 2, random)), start(shuffled(n, random)) {}
  Points points() const { return {rows.data(), 2}; }
  Tour neighbors(int width, int threads = 1) const {
    Tour lists((size_t)n * width);
    CHECK(candidate_lists(rows.data(), n, 2, width, 0, 2, false, threads, token, lists.data()));
    return lists;
  }

  int n;
  check::Random random;
  std::vector<double> rows;
  Tour start;
  StopToken token;
};

typedef TourSearchOf<PointSource<EuclideanExact>> Search;

Search search_of(const Cities &cities) {
  Instance instance;
  instance.size = cities.n;
  instance.points = cities.points();
  instance.candidates = cities.neighbors(8);
  instance.params.candidates = 8;
  return {{cities.points(), kind}, std::move(instance), cities.start, tolerance};
}

// `find(threads)` is the same for one thread and for two, and so it is when asked for again.
template <class Find>
void same(const Find &find) {
  const auto alone = find(1);
  for (int again = 0; again < 2; ++again) CHECK(find(2) == alone);
}

}  // namespace

TEST(candidates) {
  const Cities cities(3000);
  same([&](int threads) { return cities.neighbors(8, threads); });
}

TEST(curves) {
  const Cities cities(300000);  // radix sort shares the work from 2^18 on
  for (const Curve curve : {Curve::hilbert, Curve::sierpinski})
    same([&](int threads) {
      Tour tour(cities.n);
      CHECK(space_filling_curve(cities.rows.data(), cities.n, 2, curve, threads, cities.token, tour.data()));
      return tour;
    });
}

TEST(first_tours) {
  const Cities cities(3000);
  Tour tour(cities.n);
  same([&](int threads) {
    CHECK(greedy_edge_points(cities.rows.data(), cities.n, 2, kind, nullptr, 0, threads, cities.token, tour.data()));
    return tour;
  });
  same([&](int threads) {
    CHECK(
        greedy_tiles_points(cities.rows.data(), cities.n, 2, kind, nullptr, 0, 8, threads, cities.token, tour.data()));
    return tour;
  });
  same([&](int threads) {
    CHECK(
        nearest_neighbor_points(cities.rows.data(), cities.n, 2, 2, 0, nullptr, 0, threads, cities.token, tour.data()));
    return tour;
  });
}

TEST(checks) {
  const Cities cities(200000);
  same([&](int threads) { return takes_each_once(cities.start.data(), cities.n, threads); });
  same([&](int threads) {
    std::vector<double> sums(3 * (size_t)edge_pieces(cities.n));
    CHECK(edge_sums({cities.points(), kind}, cities.n, cities.start.data(), cities.n, threads, sums.data()));
    return sums;
  });
}

TEST(cuts) {
  Cities cities(3000);
  for (const bool boxes : {false, true})
    same([&](int threads) {
      TourCut cut;
      if (boxes) {
        const BoxCutter box(cities.points(), cities.n, 7, Random(1, 0, 0), 1024);
        CHECK(cut.cut_boxes(box, cities.start.data(), cities.n, 5, nullptr, 0, threads, cities.token));
      } else {
        CHECK(cut.cut_stretches(cities.start.data(), cities.n, 7, 5, nullptr, 0, threads, cities.token));
      }
      Tour all;
      for (int b = 0; b < cut.parts(); ++b) all.insert(all.end(), cut.cities(b), cut.cities(b) + cut.size(b));
      return all;
    });
}

TEST(main_search) {
  const Cities cities(600);
  for (const double temperature : {0.0, 0.01})
    same([&](int threads) {
      Search search = search_of(cities);
      for (int round = 0; round < 4; ++round) {
        RoundPlan plan{};
        plan.parts = 6;
        plan.boxes = round % 2 == 1;
        plan.optimize = round == 0;
        plan.kicks = 600;
        plan.temperature = plan.last_temperature = temperature;
        plan.seed = 3;
        plan.round = round;
        plan.threads = threads;
        plan.repeatable = true;
        search.begin_round(plan);
        while (!search.proceed(0.001, cities.token)) {
        }
      }
      return search.best();
    });
}

TEST(populations) {
  const Cities cities(100);
  same([&](int threads) {
    Search search = search_of(cities);
    search.grow({9, 0.1, 0.2, 5, 1, threads}, cities.token);
    for (int round = 0; round < 4; ++round) search.generation(20, round % 2 == 1, 5, round, threads, cities.token);
    return search.best();
  });
}

TEST(exhaustive_descents) {
  const std::vector<Neighborhood> orders[] = {
      {Neighborhood::two_opt},
      {Neighborhood::three_opt},
      {Neighborhood::swap},
      {Neighborhood::relocate},
      {Neighborhood::relocate, Neighborhood::swap, Neighborhood::two_opt, Neighborhood::three_opt}};
  for (const std::vector<Neighborhood> &order : orders) {
    const Cities cities(order.back() == Neighborhood::three_opt ? 30 : 200);
    same([&](int threads) {
      GivenDistances source;
      source.kind = kind;
      source.points = cities.points();
      source.size = cities.n;
      Descent descent(source, order, cities.start, {}, tolerance, threads);
      while (!descent.proceed(0.01, -1, cities.token)) {
      }
      return descent.tour();
    });
  }
}

template <bool Three>
void neighbor_searches() {
  const Cities cities(200);
  typedef CoordinatesOf<kind> Metric;
  for (const bool best : {false, true})
    for (const bool many : {false, true})
      same([&](int threads) {
        NeighborSearchOf<Metric, Three> search(Metric{cities.points()}, cities.neighbors(8), 8, {}, tolerance,
                                               {false, best, many}, Tour(cities.start), cities.token);
        while (!search.descend(-1, threads, 0.01, cities.token)) {
        }
        return search.best();
      });
  for (const bool best : {false, true})
    for (const bool whole : {false, true})
      same([&](int threads) {
        NeighborSearchOf<Metric, Three> search(Metric{cities.points()}, cities.neighbors(8), 8, {}, tolerance,
                                               {false, best, false}, Tour(cities.start), cities.token);
        const int kicks = whole ? 20 : 200;
        while (!search.iterate({3, kicks, false, 0.01, 150, 50, 7, threads, whole}, 0.01, cities.token)) {
        }
        return search.best();
      });
}
TEST(neighbor_two_opt) { neighbor_searches<false>(); }
TEST(neighbor_three_opt_and_iterated_search) { neighbor_searches<true>(); }

TEST(symmetric_descents) {
  const Cities cities(2001);
  Tour greedy(cities.n);
  CHECK(greedy_edge_points(cities.rows.data(), cities.n, 2, kind, nullptr, 0, 1, cities.token, greedy.data()));
  SymmetricInstance instance{};
  instance.size = cities.n;
  instance.kind = kind;
  instance.stride = 2;
  instance.points = cities.rows.data();
  instance.matrix_size = cities.n;
  instance.tolerance = tolerance;
  same([&](int threads) {
    SymmetricTour tour(instance, greedy, 1, 0);
    while (!tour.descend(threads, StopToken(cities.token, 0.01))) {
    }
    return tour.cities();
  });
}

TEST(hill_climbers) {
  const Cities cities(60);
  const GivenDistances source{kind, cities.points(), nullptr, nullptr, cities.n};
  const auto make = [&] { return Climber(source, CityRows(source, cities.n), tolerance); };
  same([&](int threads) {
    ClimbCounters counters;
    const Climbed climbed = climb(1, 0, 12, threads, nullptr, 1000.0, nullptr, cities.token, counters, make);
    CHECK(climbed.best >= 0);
    return std::make_pair(climbed.lengths, climbed.tour);
  });
  same([&](int threads) {
    ClimbCounters counters;
    std::vector<ClimbedLine> lines(perturbed_lines);
    std::vector<long long> lengths;
    for (int first = 0; first < 60; first += 20) {
      const Climbed climbed = climb(1, first, 20, threads, nullptr, 1000.0, &lines, cities.token, counters, make);
      lengths.insert(lengths.end(), climbed.lengths.begin(), climbed.lengths.end());
    }
    return lengths;
  });
}
