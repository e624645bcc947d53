// What the bindings of the main solver share: how one search is made from what Python gives.
#pragma once
#include "distances.h"
#include "lk/tour_search.h"

namespace warptsp {

lk::MakeTourSearch make_tour_search;

// Sums of lengths, and of lengths that no gain can pay for, fit into 32 bits (backends/instance.py). The bound by
// coordinates is a rough one; that of ATT is more than three times as long.
constexpr int largest_small_distance = 1 << 24;

inline void check_small_points(double longest) {
  require(longest <= 4.0 * largest_small_distance, "distances are too long for small integers");
}
inline void check_small_entries(const int *entries, size_t count) {
  const auto is_small = [](int d) { return d >= -largest_small_distance && d <= largest_small_distance; };
  require(std::all_of(entries, entries + count, is_small), "distances are too long for small integers");
}

}  // namespace warptsp
