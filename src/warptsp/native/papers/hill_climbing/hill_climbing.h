// Random-restart hill climbing on CPU threads: a climber is a random tour and best-improvement 2-opt to a local
// optimum, one climber a thread. M. A. O'Neil and M. Burtscher, "Rethinking the parallelization of random-restart hill
// climbing", GPGPU-8 (2015): document 002. Host code only.
//
// In the plane, float distances find the move and double ones decide: a move is made if it shortens the tour in the
// exact arithmetic of the metric, and a climb ends when a pass in exact arithmetic finds no move.
#pragma once
#include <atomic>
#include <mutex>
#include <optional>
#include <type_traits>
#include <vector>

#include "papers/hill_climbing/climber.h"
#include "common/parallel.h"
#include "common/stop_token.h"
#include "papers/exhaustive/distance_rows.h"

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

// The distances of any metric by position, and the edges between them.
template <class Metric>
class CityRows {
 public:
  typedef typename Metric::Value Real;

  CityRows(const Metric &metric, int n)
      : metric_(metric), n_(n), city_(MoveRows{n, MoveOrder::ring}.positions()), edges_(city_.size()) {}

  const Real *edges() const { return edges_.data(); }
  void place(const std::vector<int> &tour, int begin, int end) {
    std::copy(tour.begin() + begin, tour.begin() + end, city_.begin() + begin);
    close(begin, end);
  }
  void reverse(int first, int second) {
    std::reverse(city_.begin() + first + 1, city_.begin() + second + 1);
    std::reverse(edges_.begin() + first + 1, edges_.begin() + second);
    close(first, first + 1);
    close(second, second + 1);
  }
  template <class Use>
  void with_distances(const Use &use) const {
    use(CityDistances<Metric>{metric_, city_.data()});
  }

 private:
  void close(int begin, int end) {
    repeat_start(city_, n_);
    for (int p = begin; p < end; ++p) edges_[p] = metric_(city_[p], city_[p + 1]);
    repeat_start(edges_, n_);
  }

  Metric metric_;
  int n_;
  std::vector<int> city_;
  std::vector<Real> edges_;
};

// The tour of one climber. Moves are sought in the exact distances of `Rows` or, where these are the plane's, in single
// precision first.
template <class Rows>
class Climber {
 public:
  Climber(const GivenDistances &source, Rows exact, double tolerance)
      : source_(source), n_(source.size), slice_((int)std::max(1.0, dear_moves_a_slice / n_)), tolerance_(tolerance),
        city_(n_), exact_(std::move(exact)) {
    if constexpr (std::is_same_v<Rows, PlaneRows<double>>) {
      slice_ = (int)std::max(64.0, moves_a_slice / n_);
      fast_.emplace(source, MoveOrder::ring);
    }
  }

  int *start() { return city_.data(); }
  const int *tour() const { return city_.data(); }
  int size() const { return n_; }

  // Down to a local optimum; false if the token stopped it.
  bool descend(const StopToken &token, ClimbCounters &counters) {
    fast_ ? fast_->place(city_, 0, n_) : exact_.place(city_, 0, n_);
    for (;;) {
      Links links;
      if (fast_) {
        if (!scan_tour(*fast_, 0.0, token, links)) return false;
        counters.passes.fetch_add(1, std::memory_order_relaxed);
        if (links.found && !shortens(links)) links.found = false;
      }
      if (!links.found) {
        if (fast_) exact_.place(city_, 0, n_);
        if (!scan_tour(exact_, tolerance_, token, links)) return false;
        counters.passes.fetch_add(1, std::memory_order_relaxed);
        if (!links.found) return true;
      }
      std::reverse(city_.begin() + links.first + 1, city_.begin() + links.second + 1);
      fast_ ? fast_->reverse(links.first, links.second) : exact_.reverse(links.first, links.second);
      counters.moves.fetch_add(1, std::memory_order_relaxed);
    }
  }

  long long length(double scale) const {
    long long sum = 0;
    for (int p = 0; p < n_; ++p) sum += in_units(distance(p, p + 1 < n_ ? p + 1 : 0), scale);
    return sum;
  }

 private:
  struct Links {
    bool found = false;
    int first = 0, second = 0;
  };

  double distance(int p, int q) const { return source_(city_[p], city_[q]); }
  bool shortens(const Links &links) const {
    const auto [found, first, second] = links;
    const int after = second + 1 < n_ ? second + 1 : 0;
    const double added = distance(first, second) + distance(first + 1, after);
    return added - distance(first, first + 1) - distance(second, after) < -tolerance_;
  }

  // The best move, in slices of rows; false if the token stopped it.
  template <class Own>
  bool scan_tour(const Own &own, double tolerance, const StopToken &token, Links &links) const {
    typedef typename Own::Real Real;
    const MoveRows rows{n_, MoveOrder::ring};
    Real scratch[scan_scratch];
    ScanBest<Real> best{Real(0) - (Real)tolerance};
    bool whole = true;
    own.with_distances([&](const auto &distances) {
      for (int row = 0; row < n_ && whole; row += slice_) {
        whole = !token.stopped();
        const ScanPart part{row, std::min(row + slice_, n_), 0, 2 * n_};
        if (whole) scan(distances, ScanTask<Real>{own.edges(), rows, part, scratch}, best);
      }
    });
    links = {best.found(), best.first(n_), best.second(n_)};
    return whole;
  }

  GivenDistances source_;
  int n_, slice_;
  double tolerance_;
  std::vector<int> city_;
  Rows exact_;
  std::optional<PlaneRows<float>> fast_;
};

// False if the token stopped it.
template <class Rows>
bool start_at_random(u64 seed, u64 number, Climber<Rows> &climber, const StopToken &token) {
  Random random = start_numbers(seed, number);
  const int n = climber.size();
  for (long long done = 0; done < start_steps(n);) {
    if (token.stopped()) return false;
    done = random_start(random, n, done, done + start_slice, [&](int i) -> int & { return climber.start()[i]; });
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
template <class Make>
Climbed climb(u64 seed, long long first, int count, int threads, const int *given, double scale,
              std::vector<ClimbedLine> *lines, const StopToken &token, ClimbCounters &counters, const Make &make) {
  Climbed all;
  all.lengths.assign(count, -1);
  std::vector<std::optional<decltype(make())>> own(std::max(1, threads));
  std::mutex mutex;
  const auto work = [&](int task, int thread) {
    if (token.stopped()) return;
    if (!own[thread]) own[thread].emplace(make());
    auto &descent = *own[thread];
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
