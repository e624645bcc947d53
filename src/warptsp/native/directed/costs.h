// Distances with a direction as integers of 64 bits, and what is left of them once an assignment has its share.
#pragma once
#include <algorithm>
#include <cstddef>
#include <limits>
#include <type_traits>
#include <vector>

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
    if constexpr (std::is_integral_v<Entry>)
      return entry;
    else
      return (Cost)((double)entry * scale_ + 0.5);
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
  void offer(Cost cost, int city) {
    if (cost >= arcs_[capacity_ - 1].cost) return;
    int p = capacity_ - 1;
    for (; p > 0 && arcs_[p - 1].cost > cost; p--) arcs_[p] = arcs_[p - 1];
    arcs_[p] = {cost, city};
  }

 private:
  Arc *arcs_;
  int capacity_;
};

}  // namespace warptsp::directed
