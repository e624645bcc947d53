// Many small, plain instances of equally many cities, one after another, each from its cities to its tour. Host code only.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <variant>
#include <vector>

#include "lk/batch_end.h"
#include "lk/tour_search.h"
#include "space/candidates.h"
#include "space/curve.h"
#include "space/spread_candidates.h"
#include "tours/greedy.h"

namespace warptsp::lk {

// How each of them is searched. A population ends by itself, an annealing after its kicks.
struct BatchSearchPlan {
  bool small_integers;
  int candidates, per_quadrant;
  LkParams params;
  long long trees;  // that a proof may take; 0: there is none
  std::variant<PopulationPlan, AnnealingPlan> search;
};

class BatchSearch {
 public:
  BatchSearch(const GivenDistances &all, int cities, const BatchSearchPlan &plan, MakeTourSearch *make,
              const StopToken &token)
      : all_(all), n_(cities), plan_(plan), make_(make), token_(token), order_(n_), start_(n_) {}

  // The tour of one instance, from its first city on.
  BatchEnd run(size_t number, double tolerance, unsigned long long seed, int *tour, long long &kicks) {
    Instance instance;
    instance.size = n_;
    instance.params = plan_.params;
    instance.params.candidates = plan_.candidates;
    GivenDistances given;
    given.kind = all_.kind;
    if (!set_up(number, instance, given)) return BatchEnd::none;
    const std::unique_ptr<TourSearch> search =
        make_(given, plan_.small_integers, false, std::move(instance), std::vector<int>(start_), tolerance);
    const BatchEnd end = improve(*search, seed);
    kicks = search->counters().kicks + search->counters().refused;
    const std::vector<int> &best = search->best();
    const auto first = std::find_if(best.begin(), best.end(), [&](int c) { return order_[c] == 0; });
    const size_t before = (size_t)(first - best.begin());
    for (int p = 0; p < n_; p++) tour[p] = order_[best[(before + p) % n_]];
    return end;
  }

 private:
  // Numbering, candidate lists and start tour, as warptsp.backends.instance makes them.
  bool set_up(size_t number, Instance &instance, GivenDistances &given) {
    const int count = plan_.candidates;
    instance.candidates.resize((size_t)n_ * count);
    int *const lists = instance.candidates.data();
    if (all_.points.rows != nullptr) {
      const int stride = all_.points.stride;
      const double *const points = all_.points.rows + number * n_ * stride;
      const space::Curve curve = stride == 2 ? space::Curve::sierpinski : space::Curve::hilbert;
      if (!space::space_filling_curve(points, n_, stride, curve, 1, token_, order_.data())) return false;
      rows_.resize((size_t)n_ * stride);
      for (int c = 0; c < n_; c++)
        std::copy_n(points + (size_t)order_[c] * stride, stride, rows_.data() + (size_t)c * stride);
      instance.points = given.points = {rows_.data(), stride};
      return space::candidate_lists(rows_.data(), n_, stride, count, plan_.per_quadrant, (int)facts_of(all_.kind).norm,
                                    false, 1, token_, lists) &&
             tours::greedy_edge_points(rows_.data(), n_, stride, all_.kind, nullptr, 0, 1, token_, start_.data());
    }
    std::iota(order_.begin(), order_.end(), 0);
    instance.points = given.points;
    const auto lists_and_start = [&](const auto *matrix) {
      const Matrix<std::decay_t<decltype(*matrix)>> distance{matrix, n_};
      return space::candidates_by_distance(n_, distance, count, plan_.per_quadrant, 1, token_, lists) &&
             tours::greedy_edge_matrix(matrix, n_, nullptr, 0, 1, token_, start_.data());
    };
    const size_t begin = number * n_ * n_;
    if (all_.integers != nullptr) return lists_and_start(given.integers = all_.integers + begin);
    return lists_and_start(given.reals = all_.reals + begin);
  }

  // As warptsp.methods.lk.cpu does.
  BatchEnd improve(TourSearch &search, unsigned long long seed) {
    const PopulationPlan *const population = std::get_if<PopulationPlan>(&plan_.search);
    const auto is_zero = [&] { return population && search.best_length() == 0; };
    if (is_zero()) return BatchEnd::unsettled;
    search.optimize(std::numeric_limits<double>::infinity(), token_);
    if (is_zero()) return BatchEnd::unsettled;
    if (plan_.trees > 0 && !token_.stopped() && search.prove(plan_.trees, token_)) return BatchEnd::proved;
    const auto until_end = [&](BatchEnd end, auto &&proceed) {
      for (unsigned long long round = 1;; round++) {
        const bool ended = !token_.stopped() && proceed(round);
        if (token_.stopped()) return BatchEnd::stopped;
        if (is_zero()) return BatchEnd::unsettled;
        if (ended) return end;
      }
    };
    if (population) {
      PopulationRun run(search, *population);
      return until_end(BatchEnd::settled,
                       [&](unsigned long long round) { return run.proceed(seed, round, 1, token_); });
    }
    const AnnealingPlan &annealing = std::get<AnnealingPlan>(plan_.search);
    const double mean_edge = std::abs(search.length()) / n_;
    const auto kicks = [&] { return search.counters().kicks + search.counters().refused; };
    return until_end(BatchEnd::all_kicks, [&](unsigned long long round) {
      const long long left = annealing.kicks - kicks();
      if (left > 0) {
        const double progress = (double)kicks() * (1.0 / (double)annealing.kicks);
        const double temperature = annealing.start * mean_edge * cooled(progress, annealing.cold);
        search.kicks({std::min(annealing.step, left), temperature, seed, round, 0}, token_);
      }
      return kicks() >= annealing.kicks;
    });
  }

  GivenDistances all_;
  const int n_;
  const BatchSearchPlan &plan_;
  MakeTourSearch *make_;
  const StopToken &token_;
  std::vector<int> order_, start_;  // the instance's city for each of the search's; a tour of these
  std::vector<double> rows_;
};

}  // namespace warptsp::lk
