// Symmetrical 3-opt descents of one tour, on CPU threads. Host code only; see triples.h.
#pragma once
#include <cmath>
#include <stdexcept>

#include "papers/symmetric/symmetric_search.h"
#include "papers/symmetric/triples.h"

namespace warptsp::symmetric {

class TripleTour : public CircleSearch {
 public:
  TripleTour(const SymmetricInstance &instance, std::vector<int> circle)
      : CircleSearch(instance, std::move(circle)), rows_(rows_of(n_)), next_(n_) {
    const size_t room = 2 * (size_t)n_ + 4 * levels;
    x_.resize(room);
    y_.resize(room);
    edge_.resize(room);
    load();
  }

  // A row with a move is examined again; steps are rows without one.
  bool descend(int threads, const StopToken &slice) override {
    while (quiet_ < rows_ && !slice.stopped()) {
      long long count = std::min<long long>(rows_ - quiet_, 16);
      if (threads > 1) count = std::min(rows_ - quiet_, std::max<long long>(count, std::min(quiet_, 4096LL)));
      const bool shared = threads > 1 && count > 16;
      unsigned accepted = 0;
      const long long first =
          first_of(counters_.steps, count, shared ? threads : 1, shared ? 4 * threads : 1, [&](long long s) {
            unsigned found;
            return first_group(triple_row(n_, s % rows_), found) != 0;
          });
      const long long passed = first - counters_.steps;
      counters_.steps += passed;
      quiet_ += passed;
      if (passed == count) continue;
      const TripleRow row = triple_row(n_, counters_.steps % rows_);
      const int group = first_group(row, accepted);
      apply(exchange_of(row, n_, group, accepted));
      quiet_ = 0;
    }
    return quiet_ >= rows_;
  }

  void anneal(Cooling, long long, const StopToken &) override {
    throw std::invalid_argument("triples are not annealed");
  }

 private:
  // The first group of a row with rungs that shorten the tour, and which; 0 if there is none.
  int first_group(const TripleRow &row, unsigned &accepted) const {
    int valid = 0;
    while (valid < levels && has_edges(row, n_, valid)) valid++;
    if (valid == 0) return 0;
    const int groups = groups_of(row);
    if (!instance_.planar) {
      for (int group = 1; group <= groups; group++)
        if ((accepted = decide(row, group, valid)) != 0) return group;
      return 0;
    }
    // What is the same for all groups: the edges of A and C, and the edge from C to A.
    const float limit = triple_limit(instance_);
    float base[levels], end_x[levels], end_y[levels], last_x[levels], last_y[levels];
    bool some = false;
    const float *x = x_.data() + levels, *y = y_.data() + levels, *edge = edge_.data() + levels;
    for (int t = 0; t < valid; t++) {
      const int i = row.begin + t, k = i + row.apart;
      const float ux = x[k] - x[i + 1], uy = y[k] - y[i + 1];
      base[t] = std::sqrt(ux * ux + uy * uy) * less - (edge[i] + edge[k]) * more;
      end_x[t] = x[i], end_y[t] = y[i], last_x[t] = x[k + 1], last_y[t] = y[k + 1];
      some |= !(base[t] - longest_ * more > limit);
    }
    for (int t = valid; t < levels; t++) base[t] = 1e30f, end_x[t] = end_y[t] = last_x[t] = last_y[t] = 0;
    if (!some) return 0;  // no edge of B is long enough
    for (int group = 1; group <= groups; group++) {
      // Where there is no triple at a rung, some other edges are looked at, for nothing.
      const int j = row.begin + group;
      const float *px = x + j, *py = y + j, *pe = edge + j;
      int any = 0;
      if (row.turned) {
        for (int t = 0; t < levels; t++)
          any |= !(margin(base[t], end_x[t] - px[-t], end_y[t] - py[-t], px[1 - t] - last_x[t], py[1 - t] - last_y[t],
                          pe[-t]) > limit);
      } else {
        for (int t = 0; t < levels; t++)
          any |= !(margin(base[t], end_x[t] - px[t + 1], end_y[t] - py[t + 1], px[t] - last_x[t], py[t] - last_y[t],
                          pe[t]) > limit);
      }
      if (any && (accepted = decide(row, group, valid)) != 0) return group;
    }
    return 0;
  }

  static float margin(float base, float ux, float uy, float vx, float vy, float edge) {
    return base + (std::sqrt(ux * ux + uy * uy) + std::sqrt(vx * vx + vy * vy)) * less - edge * more;
  }

  // Which rungs of a group shorten the tour.
  unsigned decide(const TripleRow &row, int group, int valid) const {
    unsigned accepted = 0;
    for (int t = 0; t < valid; t++) {
      if (!is_triple(row, n_, group, t)) continue;
      if (shortens(instance_, triple_at(row, n_, group, t), row.turned, city_.data(), edge_.data() + levels))
        accepted |= 1u << t;
    }
    return accepted;
  }

  void apply(const Exchange &exchange) {
    for (int place = 0; place < n_; place++)
      next_[(exchange.first + place) % n_] = city_[(exchange.first + exchange.source(place)) % n_];
    city_.swap(next_);
    counters_.moves += Exchange::count_bits(exchange.applied);
    load();
  }

  void load() {
    longest_ = 0;
    const int room = (int)x_.size();
    for (int at = 0; at < room; at++) {
      const int p = ((at - levels) % n_ + n_) % n_, city = city_[p];
      if (instance_.planar) x_[at] = instance_.plane_x(city), y_[at] = instance_.plane_y(city);
      if (at < n_)
        edge_[at] = instance_.edge(city, city_[p + 1 == n_ ? 0 : p + 1]);
      else
        edge_[at] = edge_[at - n_];
      longest_ = std::max(longest_, edge_[at]);
    }
  }

  const long long rows_;
  std::vector<int> next_;     // cities by position
  std::vector<float> x_, y_;  // by position, from `levels` before the first one to twice around and some more
  std::vector<float> edge_;   // to the next position, the same
  float longest_ = 0;         // edge
};

}  // namespace warptsp::symmetric
