// Random-restart hill climbing on CPU threads: a climber is a random tour and best-improvement 2-opt to a local
// optimum, one climber a thread. M. A. O'Neil and M. Burtscher, "Rethinking the parallelization of random-restart hill
// climbing", GPGPU-8 (2015): document 002. Host code only.
//
// In the plane, float distances find the move and double ones decide: a move is made if it shortens the tour in the
// exact arithmetic of the metric, and a climb ends when a pass in exact arithmetic finds no move.
#pragma once
#include <atomic>
#include <cmath>
#include <limits>
#include <mutex>
#include <vector>

#include "papers/hill_climbing/climber.h"
#include "common/parallel.h"
#include "common/stop_token.h"
#include "papers/exhaustive/two_opt_scan.h"

namespace warptsp::exhaustive {

struct ClimbCounters {
  std::atomic<long long> climbers{0}, passes{0}, moves{0};
};

struct Climbed {
  std::vector<long long> lengths;  // in units, of the climbers that reached a local optimum; else -1
  int best = -1;                   // which of them has the shortest tour; the first one of several
  std::vector<int> tour;           // its tour, or, if none came so far, that of one on its way
};

// Evaluated between two polls of the stop token, which takes some milliseconds: of the plane's fast distances, and of
// others, a great circle's among them.
constexpr double moves_a_slice = 1e7, dear_moves_a_slice = 1e5;
constexpr int start_slice = 1 << 16;  // steps of a random start

// What is read past the end of the tour.
template <class T>
void repeat_start(std::vector<T> &values, int n) {
  for (size_t p = n; p < values.size(); ++p) values[p] = values[p - n];
}

// The tour of one climber, and exact distances.
template <class Metric>
class CityDescent {
  typedef typename Metric::Value Real;

 public:
  CityDescent(const Metric &metric, int n, double tolerance)
      : metric_(metric), n_(n), tolerance_((Real)tolerance), city_(MoveRows{n, MoveOrder::ring}.positions()),
        edge_(city_.size()), scratch_(scan_scratch) {}

  int *start() { return city_.data(); }
  const int *tour() const { return city_.data(); }
  int size() const { return n_; }

  // Down to a local optimum; false if the token stopped it.
  bool descend(const StopToken &token, ClimbCounters &counters) {
    repeat_start(city_, n_);
    for (int p = 0; p < n_; ++p) edge_[p] = metric_(city_[p], city_[p + 1]);
    repeat_start(edge_, n_);
    for (;;) {
      ScanBest<Real> best{Real(0) - tolerance_};
      if (!scan_tour(token, best)) return false;
      counters.passes.fetch_add(1, std::memory_order_relaxed);
      if (!best.found()) return true;
      apply(best.first(n_), best.second(n_));
      counters.moves.fetch_add(1, std::memory_order_relaxed);
    }
  }

  long long length(double scale) const {
    long long sum = 0;
    for (int p = 0; p < n_; ++p) sum += in_units((double)metric_(city_[p], city_[p + 1 < n_ ? p + 1 : 0]), scale);
    return sum;
  }

 private:
  bool scan_tour(const StopToken &token, ScanBest<Real> &best) {
    return scan_all(CityDistances<Metric>{metric_, city_.data()}, edge_.data(), n_, scratch_.data(), token, best,
                    (int)std::max(1.0, dear_moves_a_slice / n_));
  }

  void apply(int first, int second) {
    std::reverse(city_.begin() + first + 1, city_.begin() + second + 1);
    std::reverse(edge_.begin() + first + 1, edge_.begin() + second);
    repeat_start(city_, n_);
    edge_[first] = metric_(city_[first], city_[first + 1]);
    edge_[second] = metric_(city_[second], city_[second + 1]);
    repeat_start(edge_, n_);
  }

  Metric metric_;
  int n_;
  Real tolerance_;
  std::vector<int> city_;
  std::vector<Real> edge_, scratch_;
};

// The neighbourhood, in slices of rows; false if the token stopped it.
template <class Distances, class Real = typename Distances::Real>
bool scan_all(const Distances &distances, const Real *edge, int n, Real *scratch, const StopToken &token,
              ScanBest<Real> &best, int slice) {
  const MoveRows rows{n, MoveOrder::ring};
  for (int row = 0; row < n; row += slice) {
    if (token.stopped()) return false;
    scan(distances, ScanTask<Real>{edge, rows, {row, std::min(row + slice, n), 0, 2 * n}, scratch}, best);
  }
  return true;
}

// Coordinates of the plane, in float and in double, in the order of the tour.
template <class Real>
struct PlaneTour {
  explicit PlaneTour(int n) : n(n), x(MoveRows{n, MoveOrder::ring}.positions()), y(x), edge(x), scratch(scan_scratch) {}
  int n;
  std::vector<Real> x, y, edge, scratch;

  template <class From>
  void load(const From *points, const std::vector<int> &city) {
    for (int p = 0; p < n; ++p) {
      x[p] = (Real)points[2 * (size_t)city[p]];
      y[p] = (Real)points[2 * (size_t)city[p] + 1];
    }
    repeat_start(x, n);
    repeat_start(y, n);
  }
  template <MetricKind kind>
  void measure(int begin, int end) {
    for (int p = begin; p < end; ++p) edge[p] = plane_distance<kind, Real>(x[p + 1] - x[p], y[p + 1] - y[p]);
  }
  template <MetricKind kind>
  void measure_all() {
    measure<kind>(0, n);
    repeat_start(edge, n);
  }
  template <MetricKind kind>
  void apply(int first, int second) {
    std::reverse(x.begin() + first + 1, x.begin() + second + 1);
    std::reverse(y.begin() + first + 1, y.begin() + second + 1);
    std::reverse(edge.begin() + first + 1, edge.begin() + second);
    repeat_start(x, n);
    repeat_start(y, n);
    measure<kind>(first, first + 1);
    measure<kind>(second, second + 1);
    repeat_start(edge, n);
  }
};

// `fast` is the metric of the float coordinates, which are as near to the true ones as float can be.
template <MetricKind kind, MetricKind fast>
class PlaneDescent {
 public:
  PlaneDescent(const double *points, const float *near, int n, double tolerance)
      : points_(points), near_(near), n_(n), tolerance_(tolerance), city_(n), fast_(n), exact_(n) {}

  int *start() { return city_.data(); }
  const int *tour() const { return city_.data(); }
  int size() const { return n_; }

  bool descend(const StopToken &token, ClimbCounters &counters) {
    fast_.load(near_, city_);
    fast_.template measure_all<fast>();
    for (;;) {
      ScanBest<float> likely{0.0f};
      const PlaneDistances<float, fast> near{fast_.x.data(), fast_.y.data()};
      if (!scan_all(near, fast_.edge.data(), n_, fast_.scratch.data(), token, likely, slice())) return false;
      counters.passes.fetch_add(1, std::memory_order_relaxed);
      int first = likely.first(n_), second = likely.second(n_);
      if (!likely.found() || !shortens(first, second)) {
        ScanBest<double> sure{-tolerance_};
        if (!scan_exactly(token, sure)) return false;
        counters.passes.fetch_add(1, std::memory_order_relaxed);
        if (!sure.found()) return true;
        first = sure.first(n_);
        second = sure.second(n_);
      }
      apply(first, second);
      counters.moves.fetch_add(1, std::memory_order_relaxed);
    }
  }

  long long length(double scale) const {
    long long sum = 0;
    for (int p = 0; p < n_; ++p) sum += in_units(distance(p, p + 1 < n_ ? p + 1 : 0), scale);
    return sum;
  }

 private:
  double distance(int p, int q) const {
    return coordinate_distance(kind, points_ + 2 * (size_t)city_[p], points_ + 2 * (size_t)city_[q]);
  }
  bool shortens(int first, int second) const {
    const int after = second + 1 < n_ ? second + 1 : 0;
    const double added = distance(first, second) + distance(first + 1, after);
    return added - distance(first, first + 1) - distance(second, after) < -tolerance_;
  }

  bool scan_exactly(const StopToken &token, ScanBest<double> &best) {
    exact_.load(points_, city_);
    exact_.template measure_all<kind>();
    const PlaneDistances<double, kind> distances{exact_.x.data(), exact_.y.data()};
    return scan_all(distances, exact_.edge.data(), n_, exact_.scratch.data(), token, best, slice());
  }

  int slice() const { return (int)std::max(64.0, moves_a_slice / n_); }

  void apply(int first, int second) {
    std::reverse(city_.begin() + first + 1, city_.begin() + second + 1);
    fast_.template apply<fast>(first, second);
  }

  const double *points_;
  const float *near_;
  int n_;
  double tolerance_;
  std::vector<int> city_;
  PlaneTour<float> fast_;
  PlaneTour<double> exact_;
};

// False if the token stopped it.
template <class Descent>
bool start_at_random(u64 seed, u64 climber, Descent &descent, const StopToken &token) {
  Random random = start_numbers(seed, climber);
  const int n = descent.size();
  for (long long done = 0; done < start_steps(n);) {
    if (token.stopped()) return false;
    done = random_start(random, n, done, done + start_slice, [&](int i) -> int & { return descent.start()[i]; });
  }
  return true;
}

// Climbers whose starts are not random: climber k belongs to line k % lines, and starts from the shortest local optimum
// of its line so far, perturbed. The first of each line starts from a random tour. A fixed number of lines, so that the
// result does not depend on threads: a climber waits for the one before it in its line only.
constexpr int perturbed_lines = 16;
constexpr u64 perturbation_stream = 0x7065727475726231ull;

struct ClimbedLine {
  std::vector<int> tour;  // empty: no local optimum so far
  long long length = 0;
};

// A double bridge at three random places: A C B D, which no single 2-opt move undoes.
inline void perturb(u64 seed, u64 climber, const std::vector<int> &tour, int *out) {
  const int n = (int)tour.size();
  Random random(seed, perturbation_stream, climber);
  int cut[3];
  for (int &c : cut) c = 1 + random.below(n - 1);
  std::sort(cut, cut + 3);
  out = std::copy(tour.begin(), tour.begin() + cut[0], out);
  out = std::copy(tour.begin() + cut[1], tour.begin() + cut[2], out);
  out = std::copy(tour.begin() + cut[0], tour.begin() + cut[1], out);
  std::copy(tour.begin() + cut[2], tour.end(), out);
}

// Climbers first .. first + count - 1, on threads; the result does not depend on how many. `given` is the start of
// climber 0, null for a random one. With `lines`, `perturbed_lines` of them, climbers start from perturbed optima, and the
// calls must follow one another.
template <class Descent, class Make>
Climbed climb(u64 seed, long long first, int count, int threads, const int *given, double scale,
              std::vector<ClimbedLine> *lines, const StopToken &token, ClimbCounters &counters, Make &&make) {
  Climbed all;
  all.lengths.assign(count, -1);
  std::vector<std::vector<Descent>> own(std::max(1, threads));
  std::mutex mutex;
  const auto work = [&](int task, int thread) {
    if (token.stopped()) return;
    if (own[thread].empty()) own[thread].push_back(make());
    Descent &descent = own[thread].front();
    const int n = descent.size();
    const u64 climber = (u64)(first + task);
    ClimbedLine *const line = lines ? &(*lines)[climber % perturbed_lines] : nullptr;
    if (climber == 0 && given != nullptr)
      std::copy(given, given + n, descent.start());
    else if (line && !line->tour.empty())
      perturb(seed, climber, line->tour, descent.start());
    else if (!start_at_random(seed, climber, descent, token))
      return;
    const bool ended = descent.descend(token, counters);
    const long long length = ended ? descent.length(scale) : -1;
    if (ended) counters.climbers.fetch_add(1, std::memory_order_relaxed);
    if (ended && line && (line->tour.empty() || length <= line->length)) {
      line->tour.assign(descent.tour(), descent.tour() + n);
      line->length = length;
    }
    const std::lock_guard<std::mutex> lock(mutex);
    all.lengths[task] = length;
    const auto shorter_than = [&](int other) {
      return length < all.lengths[other] || (length == all.lengths[other] && task < other);
    };
    if (ended ? all.best < 0 || shorter_than(all.best) : all.tour.empty()) {
      all.tour.assign(descent.tour(), descent.tour() + n);
      if (ended) all.best = task;
    }
  };
  if (!lines) {
    for_each_task(threads, count, work);
    return all;
  }
  for_each_task(threads, std::min(count, perturbed_lines), [&](int begin, int thread) {
    for (int task = begin; task < count; task += perturbed_lines) work(task, thread);
  });
  return all;
}

}  // namespace warptsp::exhaustive
