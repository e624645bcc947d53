// What the bindings of the main solver share: how one search is made from what Python gives.
#pragma once
#include <memory>
#include <vector>

#include "distances.h"
#include "lk/tour_search.h"

namespace warptsp {

// A search with a population, for Python.
struct BoundPopulation {
  virtual ~BoundPopulation() = default;
  virtual lk::TourPopulation &population() = 0;
  // Whether a generation takes a few milliseconds.
  virtual bool is_brief() const = 0;
};

// Where distances come from, as native code takes it: points, or one of the two kinds of matrix.
struct Given {
  MetricKind kind;
  Points points;
  const int *integers;
  const double *reals;
};

// The search of an instance, for its metric or matrix; starts from `start`.
std::unique_ptr<lk::TourSearch> make_tour_search(const Given &given, bool small_integers, bool dummy,
                                                 lk::Instance &&instance, std::vector<int> &&start, double tolerance);

// Sums of lengths, and of lengths that no gain can pay for, fit into 32 bits (backends/instance.py).
constexpr int largest_small_distance = 1 << 24;

inline bool is_small_entry(int d) { return d >= -largest_small_distance && d <= largest_small_distance; }

}  // namespace warptsp
