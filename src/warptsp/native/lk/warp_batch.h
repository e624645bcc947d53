// Many small problems in device memory, each searched by a warp from its cities to its tour: candidate lists, a tour of
// nearest neighbours, local search, and annealings of kicks, each from the best tour, until some of them end with one
// length. All that is touched often lies in shared memory, so that thousands run at once.
//
// The search needs one edge that is never taken out, at the array's end. Before every change of the temperature the tour
// is turned by a random number of cities, so that it is another one.
#pragma once
#include "lk/batch_end.h"
#include "lk/warp_lk.h"

namespace warptsp::lk {

struct BatchOnDevice {
  const double *points;   // [problems, size, dimensions]; null for matrices
  const float *matrices;  // [problems, size, size]; null for points
  int problems, size, dimensions;
  const u64 *seeds;         // [problems]
  const float *tolerances;  // [problems] a gain must exceed it
  u64 *local_candidates;    // [problems, size, K / 4]
  u16 *kept;                // [problems, size]
  u16 *best;                // [problems, size] the best tour
  int *kicks;               // [problems]
  BatchEnd *end;            // [problems] `none` before
};

struct BatchPlan {
  int kicks, step, most;  // of an annealing, at one temperature (AnnealingPlan), and of annealings
  int agreeing;           // annealings that end with one length, after which there are no more
  float start, cold;
  const int *stop;  // not 0 when the host gives up
  WarpLkParams params;
};

template <class Lanes, class Metric, int K>
class WarpProblem {
  template <class T>
  using Var = typename Lanes::template Var<T>;
  typedef typename Metric::Place Place;
  typedef WarpLk<Lanes, Metric, K> Search;

 public:
  WARPTSP_FN WarpProblem(const BatchOnDevice &batch, const BatchPlan &plan, int number, unsigned char *memory)
      : batch_(batch), plan_(plan), number_(number), cities_(cities_of(batch, number)), metric_(cities_),
        a_(WarpLkArrays<K, Place>::in(memory, batch.size,
                                      batch.local_candidates + (long long)number * batch.size * (K / warp_lk_chunk),
                                      batch.kept + (long long)number * batch.size)),
        best_(batch.best + (long long)number * batch.size) {
    plan_.params.tolerance = batch.tolerances[number];
    plan_.params.fitting = 1;  // of 50 cities most kicks would be refused
  }

  WARPTSP_FN void run() {
    if (given_up<Lanes>(plan_.stop)) return;
    Random random(batch_.seeds[number_], 0, 0);
    take_cities();
    find_candidates();
    visit_nearest();
    Search search(a_, metric_, plan_.params);
    typedef typename Search::From From;
    search.begin();
    search.search(From::every_city, random, 0);
    double length = measured(), best_length = length;
    keep_best();
    int done = 0, agreed = 0;
    BatchEnd end = BatchEnd::none;
    for (int number = 0; end == BatchEnd::none; number++) {
      const double before = best_length;
      const float mean_edge = (float)(best_length / a_.size);
      if (number > 0) take_tour(best_, 0);
      for (int k = 0; k < plan_.kicks && end == BatchEnd::none;) {
        if (given_up<Lanes>(plan_.stop)) {
          end = BatchEnd::stopped;
          break;
        }
        turn(random.below(a_.size));
        search.begin();
        const float temperature = plan_.start * mean_edge * cooled((float)k / (float)plan_.kicks, plan_.cold);
        const int until = k + plan_.step < plan_.kicks ? k + plan_.step : plan_.kicks;
        for (; k < until; k++, done++) search.search(From::kick, random, temperature * random.minus_log());
        length = measured();
        if (length < best_length - plan_.params.tolerance) {
          best_length = length;
          keep_best();
        }
      }
      if (end != BatchEnd::none) break;
      const double difference = length - before;
      const bool same = difference < plan_.params.tolerance && -difference < plan_.params.tolerance;
      agreed = same ? agreed + 1 : length < before ? 1 : agreed;
      if (plan_.most > 1 && agreed >= plan_.agreeing)
        end = BatchEnd::settled;
      else if (number + 1 >= plan_.most)
        end = plan_.most > 1 ? BatchEnd::unsettled : BatchEnd::all_kicks;
    }
    Lanes::each([&](int lane) {
      if (lane > 0) return;
      batch_.kicks[number_] = done;
      batch_.end[number_] = end;
    });
  }

 private:
  BatchOnDevice batch_;
  BatchPlan plan_;
  int number_;
  CitiesOnDevice cities_;
  Metric metric_;
  WarpLkArrays<K, Place> a_;
  u16 *best_;

  WARPTSP_FN static CitiesOnDevice cities_of(const BatchOnDevice &batch, int number) {
    const long long size = batch.size;
    return {batch.points ? batch.points + number * size * batch.dimensions : nullptr,
            batch.matrices ? batch.matrices + number * size * size : nullptr, batch.size, batch.dimensions};
  }
  WARPTSP_FN float distance(int a, int b) const { return metric_(a_.place[a], a_.place[b]); }

  WARPTSP_FN void take_cities() {
    Lanes::each([&](int lane) {
      for (int c = lane; c < a_.size; c += 32) a_.place[c] = metric_.place(cities_, c, 0);
    });
  }

  // Which quadrant around a city another one lies in; of a matrix there is one.
  WARPTSP_FN static int quadrant(const Xy &from, const Xy &to) { return (to.x < from.x) + 2 * (to.y < from.y); }
  WARPTSP_FN static int quadrant(const Xyz &from, const Xyz &to) {
    return (to.x[0] < from.x[0]) + 2 * (to.x[1] < from.x[1]);
  }
  WARPTSP_FN static int quadrant(int, int) { return 0; }

  // The `Count` nearest so far, nearest first; of equals the first that came.
  template <int Count>
  struct Nearest {
    float distance[Count];
    int city[Count];
    WARPTSP_FN void clear() {
      for (int k = 0; k < Count; k++) distance[k] = 3e38f, city[k] = -1;
    }
    WARPTSP_FN void add(float d, int c) {
      if (!(d < distance[Count - 1])) return;
      WARPTSP_UNROLL
      for (int k = 0; k < Count; k++)
        if (d < distance[k]) {
          const float other = distance[k];
          const int other_city = city[k];
          distance[k] = d, city[k] = c;
          d = other, c = other_city;
        }
    }
    WARPTSP_FN bool has(int c) const {
      bool found = false;
      for (int k = 0; k < Count; k++) found |= city[k] == c;
      return found;
    }
  };
  // Two from each quadrant, and the nearest of the others: with the nearest alone tours of clusters are poor.
  WARPTSP_FN void find_candidates() {
    constexpr int of_quadrant = K / 4;
    Lanes::each([&](int lane) {
      for (int c = lane; c < a_.size; c += 32) {
        const Place from = a_.place[c];
        Nearest<K> all, chosen;
        Nearest<of_quadrant> quadrants[4];
        all.clear(), chosen.clear();
        for (int q = 0; q < 4; q++) quadrants[q].clear();
        for (int other = 0; other < a_.size; other++) {
          if (other == c) continue;
          const float d = metric_(from, a_.place[other]);
          all.add(d, other);
          quadrants[quadrant(from, a_.place[other])].add(d, other);
        }
        int count = 0;
        for (int q = 0; q < 4; q++)
          for (int k = 0; k < of_quadrant; k++)
            if (quadrants[q].city[k] >= 0) chosen.add(quadrants[q].distance[k], quadrants[q].city[k]), count++;
        for (int k = 0; k < K && count < K; k++)
          if (all.city[k] >= 0 && !chosen.has(all.city[k])) chosen.add(all.distance[k], all.city[k]), count++;
        for (int chunk = 0; chunk < K / warp_lk_chunk; chunk++) {
          u64 word = 0;
          for (int k = 0; k < warp_lk_chunk; k++) {
            const int city = chosen.city[chunk * warp_lk_chunk + k];
            word |= (u64)(city >= 0 ? city : c) << 16 * k;
          }
          a_.four_candidates(c, chunk) = word;
        }
      }
    });
  }

  // The tour that always goes on to the nearest city, the first of equals.
  WARPTSP_FN void visit_nearest() {
    u32 *const visited = a_.work->queued;
    Lanes::each([&](int lane) { visited[lane] = 0; });
    int at = 0;
    for (int p = 0; p < a_.size; p++) {
      Lanes::each([&](int lane) {
        if (lane > 0) return;
        a_.order[p] = (u16)at;
        visited[at >> 5] |= 1u << (at & 31);
      });
      Var<float> closeness;
      Var<int> nearest;
      Lanes::each([&](int lane) {
        closeness[lane] = -3e38f;
        nearest[lane] = 0;
        for (int c = lane; c < a_.size; c += 32) {
          if (visited[c >> 5] >> (c & 31) & 1) continue;
          const float d = -distance(at, c);
          if (d > closeness[lane]) closeness[lane] = d, nearest[lane] = c;
        }
      });
      at = Lanes::get(nearest, Lanes::argmax(closeness));
    }
    keep_last_edge();
  }

  WARPTSP_FN void keep_last_edge() {
    Lanes::each([&](int lane) {
      for (int c = lane; c < a_.size; c += 32) a_.follower[c] = no_city;
    });
    Lanes::each([&](int lane) {
      if (lane == 0) a_.follower[a_.order[a_.size - 1]] = a_.order[0];
    });
  }
  // A tour in slower memory, from its position `first` on.
  WARPTSP_FN void take_tour(const u16 *tour, int first) {
    Lanes::each([&](int lane) {
      for (int p = lane; p < a_.size; p += 32)
        a_.order[p] = tour[first + p < a_.size ? first + p : first + p - a_.size];
    });
    keep_last_edge();
  }
  WARPTSP_FN void turn(int first) {
    Lanes::each([&](int lane) {
      for (int p = lane; p < a_.size; p += 32) a_.kept[p] = a_.order[p];
    });
    take_tour(a_.kept, first);
  }
  WARPTSP_FN void keep_best() {
    Lanes::each([&](int lane) {
      for (int p = lane; p < a_.size; p += 32) best_[p] = a_.order[p];
    });
  }
  WARPTSP_FN double measured() const {
    Var<double> sum;
    Lanes::each([&](int lane) {
      sum[lane] = 0;
      for (int p = lane; p < a_.size; p += 32)
        sum[lane] += (double)distance(a_.order[p], a_.order[p + 1 < a_.size ? p + 1 : 0]);
    });
    double length = 0;
    for (int lane = 0; lane < 32; lane++) length += Lanes::get(sum, lane);
    return length;
  }
};

}  // namespace warptsp::lk
