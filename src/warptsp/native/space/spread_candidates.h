// Candidate lists from distances alone that reach to all sides of a city, as quadrants do for points. Host code only.
//
// S. Arya and D. M. Mount, "Approximate nearest neighbor queries in fixed dimensions" (1993). The other cities are gone
// through by distance, and one is taken unless cities that were taken before it cover it: unless so many of them are
// nearer to it than the city is whose list is made, or coincide with both. A cluster's cities cover one another, so the
// list goes on to other clusters, where a list of the nearest cities never leaves its own.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "space/candidates.h"

namespace warptsp::space {

// The search of one thread.
template <class Distance>
class SpreadSearch {
 public:
  typedef decltype(std::declval<Distance>()(0, 0)) Value;

  // `covers`: so many taken cities cover another.
  SpreadSearch(int n, const Distance &distance, int count, int covers)
      : n_(n), count_(count), covers_(covers), distance_(distance), covered_(n), left_(n) {}

  // `row` holds the city's nearest neighbours, and gets the taken cities, then the nearest of the others, all by
  // distance.
  void find(int city, int *row) {
    taken_.clear();
    for (int k = 0; k < std::min(covers_, count_) && row[k] >= 0; ++k)
      taken_.push_back({distance_(city, row[k]), row[k]});
    std::fill(covered_.begin(), covered_.end(), 0);
    for (const Taken &taken : taken_) {
      int *const covered = covered_.data();
      for (int other = 0; other < n_; ++other)
        covered[other] += covers(distance_(taken.city, other), distance_(city, other));
    }
    for (const Taken &taken : taken_) covered_[taken.city] = covers_;
    int left = 0;
    // From the next number on, so that of cities at equal distance the one is taken first that a list has first.
    const auto look_at = [&](int begin, int end) {
      for (int other = begin; other < end; ++other) {
        left_[left] = {distance_(city, other), other, covered_[other]};
        left += covered_[other] < covers_;  // no branch: it would be guessed wrong half the time
      }
    };
    if ((int)taken_.size() < count_) {
      look_at(city + 1, n_);
      look_at(0, city);
    }
    while (left > 0 && (int)taken_.size() < count_) {
      int next = 0;
      for (int k = 1; k < left; ++k)
        if (left_[k].distance < left_[next].distance) next = k;
      const Taken taken{left_[next].distance, left_[next].city};
      taken_.push_back(taken);
      const int size = left;
      left = 0;
      for (int k = 0; k < size; ++k) {
        Other other = left_[k];
        other.covered += covers(distance_(taken.city, other.city), other.distance);
        left_[left] = other;
        left += (other.city != taken.city) & (other.covered < covers_);
      }
    }
    write(city, row);
  }

 private:
  static constexpr Value least = std::is_integral_v<Value> ? 1 : std::numeric_limits<Value>::denorm_min();

  static bool covers(Value from_taken, Value distance) { return from_taken < std::max(distance, least); }

  struct Taken {
    Value distance;
    int city;
  };
  struct Other {
    Value distance;
    int city, covered;
  };

  void write(int city, int *row) {
    const auto is_taken = [&](int other) {
      return std::any_of(taken_.begin(), taken_.end(), [&](const Taken &taken) { return taken.city == other; });
    };
    for (int k = 0, end = (int)taken_.size(); end < count_ && k < count_ && row[k] >= 0; ++k) {
      if (is_taken(row[k])) continue;
      taken_.push_back({distance_(city, row[k]), row[k]});
      ++end;
    }
    const auto step_to = [&](int other) { return other > city ? other - city : other - city + n_; };
    std::sort(taken_.begin(), taken_.end(), [&](const Taken &a, const Taken &b) {
      return a.distance < b.distance || (a.distance == b.distance && step_to(a.city) < step_to(b.city));
    });
    for (int k = 0; k < count_; ++k) row[k] = k < (int)taken_.size() ? taken_[k].city : -1;
  }

  const int n_, count_, covers_;
  const Distance &distance_;
  std::vector<Taken> taken_;
  std::vector<int> covered_;
  std::vector<Other> left_;
};

// Rows of candidates from any distance function: the nearest cities, or, where so many cover another one, such lists. False
// if the token stopped it.
template <class Distance>
bool candidates_by_distance(int n, const Distance &distance, int count, int covers, int threads, const StopToken &token,
                            int *rows) {
  if (!nearest_by_distance(n, distance, count, threads, token, rows)) return false;
  constexpr int rows_a_task = 16;
  return covers == 0 || for_each_piece(threads, n, rows_a_task, token, [&](int64_t begin, int64_t end) {
           SpreadSearch<Distance> search(n, distance, count, covers);
           for (int city = (int)begin; city < end; ++city) search.find(city, rows + (int64_t)city * count);
         });
}

}  // namespace warptsp::space
