// Distances with a direction as integers of 64 bits, and what is left of them once an assignment has its share.
#pragma once
#include <algorithm>
#include <cstddef>
#include <limits>
#include <type_traits>
#include <vector>

#include "common/parallel.h"
#include "common/stop_token.h"

namespace warptsp::directed {

typedef long long Cost;
constexpr Cost no_cost = std::numeric_limits<Cost>::max();

// A square matrix as it lies in memory, which is never copied: integers as they are; real numbers times `scale`, a
// power of two, rounded to the nearest integer when they are read. The diagonal is never read as a distance. Arcs that
// are missing cost `wall`, and no tour without them costs as much.
template <class Entry>
class Matrix {
 public:
  Matrix(const Entry *entries, int size, double scale, Cost wall = no_cost)
      : entries_(entries), size_(size), scale_(scale), wall_(wall) {}
  int size() const { return size_; }
  Cost wall() const { return wall_; }
  const Entry *row(int from) const { return entries_ + (size_t)from * size_; }
  Cost cost(Entry entry) const {
    if constexpr (std::is_integral_v<Entry>) {
      return entry;
    } else {
      const double scaled = (double)entry * scale_;
      return (Cost)(scaled + (scaled < 0x1p52 ? 0.5 : 0.0));  // beyond, it is whole, and has no room for a half
    }
  }
  Cost operator()(int from, int to) const { return cost(entries_[(size_t)from * size_ + to]); }

 private:
  const Entry *entries_;
  int size_;
  double scale_;
  Cost wall_;
};

// The cost of an arc less the potentials of its ends: not negative, if the potentials are feasible. A tour's length is
// the sum of its reduced costs, plus that of all potentials.
template <class Entry>
struct ReducedCosts {
  Matrix<Entry> matrix;
  std::vector<Cost> leaving, entering;

  explicit ReducedCosts(const Matrix<Entry> &given)
      : matrix(given), leaving(given.size(), 0), entering(given.size(), 0) {}
  int size() const { return matrix.size(); }
  Cost operator()(int from, int to) const { return matrix(from, to) - leaving[from] - entering[to]; }
  Cost total() const {
    Cost sum = 0;
    for (int i = 0; i < size(); i++) sum += leaving[i] + entering[i];
    return sum;
  }
};

// The cities in the order of their successors, from 0 on.
inline std::vector<int> tour_of(const std::vector<int> &next) {
  std::vector<int> cities;
  cities.reserve(next.size());
  int city = 0;
  do {
    cities.push_back(city);
    city = next[city];
  } while (city != 0);
  return cities;
}

// A city and the cost of the arc to it or from it.
struct Arc {
  Cost cost;
  int city;
  bool operator<(const Arc &other) const { return cost < other.cost || (cost == other.cost && city < other.city); }
};

// The `capacity` cheapest arcs of those that were offered, sorted; those of equal cost in the order of the offers.
class Shortlist {
 public:
  Shortlist(Arc *arcs, int capacity) : arcs_(arcs), capacity_(capacity) {
    std::fill(arcs, arcs + capacity, Arc{no_cost, -1});
  }
  void offer(Cost cost, int city) { offer(arcs_, capacity_, cost, city); }
  static void offer(Arc *arcs, int capacity, Cost cost, int city) {
    if (cost >= arcs[capacity - 1].cost) return;
    int p = capacity - 1;
    for (; p > 0 && arcs[p - 1].cost > cost; p--) arcs[p] = arcs[p - 1];
    arcs[p] = {cost, city};
  }

 private:
  Arc *arcs_;
  int capacity_;
};

// Such a list for every city, of the arcs that enter it: part after part of the rows on threads, and the same lists
// however many parts there are.
class EnteringLists {
 public:
  EnteringLists(int size, int capacity, int parts)
      : capacity_(capacity), of_part_((size_t)parts, std::vector<Arc>((size_t)size * capacity, Arc{no_cost, -1})) {}
  void offer(int part, int head, Cost cost, int tail) {
    Shortlist::offer(&of_part_[part][(size_t)head * capacity_], capacity_, cost, tail);
  }
  // Puts those of all parts together.
  void merge() {
    for (size_t part = 1; part < of_part_.size(); part++)
      for (size_t k = 0; k < of_part_[part].size(); k++) {
        const Arc &arc = of_part_[part][k];
        if (arc.city >= 0) offer(0, (int)(k / capacity_), arc.cost, arc.city);
      }
    of_part_.resize(1);
  }
  const Arc *arcs(int head) const { return &of_part_[0][(size_t)head * capacity_]; }

 private:
  int capacity_;
  std::vector<std::vector<Arc>> of_part_;
};

// work(row, part) for every row, where a part is consecutive rows on one thread. False if the token stopped it.
template <class Work>
bool for_each_row(int rows, int parts, const StopToken &token, Work &&work) {
  for_each_task(parts, parts, [&](int part) {
    const auto begin = [&](int p) { return (int)((long long)rows * p / parts); };
    for (int row = begin(part); row < begin(part + 1); row++) {
      if (row % 64 == 0 && token.stopped()) return;
      work(row, part);
    }
  });
  return !token.stopped();
}

}  // namespace warptsp::directed
