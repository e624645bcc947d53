// The arrays of one sub-problem on the host, and the search that works on them. Host code only.
#pragma once
#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "lk/lk.h"
#include "common/parallel.h"
#include "common/stop_token.h"

namespace warptsp::lk {

// Where a search gets its distances: binds a metric to the cities of a sub-problem, numbered from 0.
// `members` null means all cities in their own order; nothing is copied then.
template <class M>
struct PointSource {
  typedef M Metric;
  Points points;
  MetricKind kind;
  struct Buffer {
    std::vector<double> rows;
  };
  // The source of some cities, numbered from 0.
  PointSource restricted(const int *members, int count, Buffer &buffer) const {
    if (!members) return *this;
    const int stride = points.stride;
    buffer.rows.resize((size_t)count * stride);
    for (int i = 0; i < count; i++)
      std::copy_n(points.rows + (size_t)members[i] * stride, stride, buffer.rows.data() + (size_t)i * stride);
    return PointSource{Points{buffer.rows.data(), stride}, kind};
  }
  Metric bind(const int *members, int count, Buffer &buffer) const { return restricted(members, count, buffer).make(); }

 private:
  Metric make() const {
    if constexpr (std::is_same_v<M, EuclideanRounded> || std::is_same_v<M, EuclideanExact>)
      return Metric{points.rows};
    else
      return Metric{points, kind};
  }
};

template <class V>
struct MatrixSource {
  typedef Matrix<V> Metric;
  const V *entries;
  int size;
  struct Buffer {
    std::vector<V> entries;
  };
  MatrixSource restricted(const int *members, int count, Buffer &buffer) const {
    if (!members) return *this;
    buffer.entries.resize((size_t)count * count);
    for (int i = 0; i < count; i++)
      for (int j = 0; j < count; j++)
        buffer.entries[(size_t)i * count + j] = entries[(size_t)members[i] * size + members[j]];
    return MatrixSource{buffer.entries.data(), count};
  }
  Metric bind(const int *members, int count, Buffer &buffer) const {
    const MatrixSource source = restricted(members, count, buffer);
    return Metric{source.entries, source.size};
  }
};

struct Instance {
  int size;
  Points points;                // rows null for a matrix
  std::vector<int> candidates;  // [size, K], -1 padded
  std::vector<int> fixed;       // [size, 2], -1 where there is none; empty without fixed edges
  LkParams params;
  std::vector<int> along = {};  // [size] a tour, where numbers say nothing of places, as in a matrix; else empty
};

template <class Metric>
double tour_length(const Metric &metric, const std::vector<int> &tour) {
  double length = 0;
  for (size_t i = 0; i < tour.size(); i++) length += (double)metric(tour[i], tour[i + 1 < tour.size() ? i + 1 : 0]);
  return length;
}

// The length of a tour after gains; where little is left of it, these may have been rounded by more, and it is added up.
template <class Metric>
double length_left(double before, double after, const Metric &metric, const std::vector<int> &tour) {
  return after < 0x1p-20 * before ? tour_length(metric, tour) : after;
}

// Distances to the candidates [size, K], whose rows are padded with -1.
template <class Metric, class Lengths>
void candidate_lengths(const Metric &metric, int size, const int *candidates, int count, Lengths &lengths) {
  typedef typename Metric::Value Value;
  lengths.resize((size_t)size * count);
  for (int c = 0; c < size; c++)
    for (int k = 0; k < count; k++) {
      const size_t q = (size_t)c * count + k;
      lengths[q] = candidates[q] < 0 ? LkLimits<Value>::padding : metric(c, candidates[q]);
    }
}

// Kicks go to cities of one neighbourhood for a while, so that the arrays they touch stay in the cache
// (docs/performance: 8 % more kicks a second at 10^5 cities, 60 % at 10^6).
constexpr int kick_window = 1000;
constexpr double kicks_per_window_city = 0.3;

// Local search first makes the moves that write so many cells at most, and then goes on from the cities of which it put
// off a longer one, with so many times as many cells, and so on: most of these have found another move by then. Without it
// the cells of a city grow with the tour: members of a million cities took 12.3 CPU us a city, now 2.0, of 100 000 2.5 and
// 1.6 (EXP-374).
constexpr int near_cells = 10000, farther = 10;

constexpr int looks = 4;  // kicks between two looks at the clock, 0.1 ms

struct KickSchedule {
  long long kicks;
  double temperature;  // a loss below -temperature ln u is accepted
  unsigned long long seed, round, index;
  int from = -1;  // where the first neighbourhood begins, and each next one behind it; -1: each anywhere
};

template <class Source, bool Paths>
class SubProblem {
 public:
  typedef typename Source::Metric Metric;
  typedef typename Metric::Value Value;
  typedef LinKernighan<Metric, Paths> Search;

  std::vector<int> order, path;  // set by the caller before prepare(), read after the search

  // `candidates` [size, K] in local numbers, rows padded with -1; `fixed` [size, 2] local numbers or null.
  void prepare(const Source &source, const int *members, int size, const int *candidates, const LkParams &params,
               const int *fixed, Value tolerance) {
    const Metric metric = source.bind(members, size, buffer_);
    const int count = params.candidates;
    position_.resize(size);
    edge_.resize(size);
    scratch_.resize(size);
    edge_scratch_.resize(size);
    queued_.assign(size, 0);
    for (int p = 0; p < size; p++) position_[order[p]] = p;
    candidate_lengths(metric, size, candidates, count, lengths_);
    for (int p = 0; p < size; p++) {
      const int next = p + 1 < size ? p + 1 : 0, a = order[p], b = order[next];
      const bool outside = Paths && (next == 0 || path[a] != path[b]);
      const bool kept = outside || (fixed && (fixed[2 * (size_t)a] == b || fixed[2 * (size_t)a + 1] == b));
      edge_[p] = kept ? LkLimits<Value>::unbreakable : metric(a, b);
    }
    const LkArrays<Value> arrays{size,       order.data(),    position_.data(), edge_.data(),         path.data(),
                                 candidates, lengths_.data(), scratch_.data(),  edge_scratch_.data(), queued_.data()};
    next_ = 0;
    search_ = std::make_unique<Search>(metric, arrays, params, tolerance);
    reach_ = near_cells;
    search_->set_reach(reach_);
  }

  // Local search from every city. Returns the gain.
  double optimize(const StopToken &token) {
    double gain = 0;
    while (!searched() && !token.stopped()) gain += optimize_some();
    return gain;
  }
  // Local search from the next few cities. Returns the gain.
  double optimize_some() {
    const int begin = next_;
    next_ = std::min(size(), next_ + 16);
    const double gain = search_->optimize(begin, next_, reach_ > near_cells);
    if (next_ == size() && reach_ < size()) begin_put_off();
    return gain;
  }
  // Whether local search has begun from every city, and from those that were put off.
  bool searched() const { return reach_ >= size() && next_ >= size(); }

  // Returns the gain; negative if losses were accepted.
  double kicks(const KickSchedule &schedule, const StopToken &token) {
    Random random(schedule.seed, schedule.round, schedule.index);
    search_->set_reach(size());
    const int n = size(), window = this->window();
    const long long burst = this->burst();
    double gain = 0;
    int base = 0;
    for (long long k = 0; k < schedule.kicks; k++) {
      if (k % burst == 0) base = schedule.from < 0 ? random.below(n) : (int)((schedule.from + k / burst * window) % n);
      if (k % looks == 0 && token.stopped()) break;
      int c = base + random.below(window);
      if (c >= n) c -= n;
      const double allowance = schedule.temperature > 0 ? -schedule.temperature * std::log(random.unit()) : 0;
      gain += search_->kick(c, random, allowance);
    }
    return gain;
  }

  int size() const { return (int)position_.size(); }
  int window() const { return std::min(size(), kick_window); }
  // Kicks in one window.
  long long burst() const { return std::max<long long>(16, (long long)(window() * kicks_per_window_city)); }
  LkCounters &counters() { return search_->counters; }

 private:
  typename Source::Buffer buffer_;
  Buffer<int> position_, scratch_;
  Buffer<Value> edge_, edge_scratch_, lengths_;
  Buffer<unsigned char> queued_;
  std::unique_ptr<Search> search_;
  int next_ = 0;   // city from which the local search goes on
  int reach_ = 0;  // cells of its moves, at most; above near_cells it goes on from cities that have been put off

  // Goes on from the cities that have been put off, with longer moves.
  void begin_put_off() {
    next_ = 0;
    reach_ = (int)std::min<long long>(size(), farther * (long long)reach_);
    search_->set_reach(reach_);
  }
};

}  // namespace warptsp::lk
