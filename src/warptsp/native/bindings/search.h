// What the bindings of the main solver share: how one search is made from what Python gives.
#pragma once
#include "distances.h"
#include "lk/tour_search.h"

namespace warptsp {

lk::MakeTourSearch make_tour_search;

// Sums of lengths, and of lengths that no gain can pay for, fit into 32 bits (backends/instance.py).
constexpr int largest_small_distance = 1 << 24;

inline bool is_small_entry(int d) { return d >= -largest_small_distance && d <= largest_small_distance; }

}  // namespace warptsp
