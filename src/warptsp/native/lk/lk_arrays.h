// What the search of a CPU thread works on: its limits, parameters and counters, and the arrays of a sub-problem. No
// standard library, plain arrays.
#pragma once
#include "common/metric.h"
#include "lk/counters.h"
#include "lk/kick_kinds.h"

namespace warptsp::lk {

constexpr int lk_max_depth = 30;      // exchange steps
constexpr int lk_max_intervals = 48;  // of a tentative path: at most depth + 1, padded
constexpr int lk_max_breadth = 8;
constexpr int lk_wide_levels = 5;        // levels with a breadth above 1, at most
constexpr int lk_queue_capacity = 1024;  // a power of two
constexpr int lk_log_capacity = 4096;    // words of the undo log
// What `queued` says of a city: that it is in the queue, and that a move was left out for its many cells.
constexpr unsigned char lk_in_queue = 1, lk_put_off = 2;

struct LkParams {
  int candidates = 0;                             // K, cities in a candidate list: as many as the lists have
  int depth = 25;                                 // exchange steps of a move, at most
  int breadth[lk_wide_levels] = {5, 3, 1, 1, 1};  // the rest: 1
  int alternate[2] = {2, 2};                      // edges that close a cycle at the first step, and that open it again
  Kicks kicks;
};

// The arrays of a sub-problem of `size` cities. Cities and positions are numbered from 0.
template <class Value>
struct LkArrays {
  int size;
  int *order;             // [size] city at a position
  int *position;          // [size] position of a city
  Value *edge;            // [size] length of the edge from a position to the next, or unbreakable
  int *path;              // [size] number of a city's path, ascending along the array; null for a whole tour
  const int *candidates;  // [size, K] nearest first
  const Value *lengths;   // [size, K] distance to each candidate; padding holds the largest Value
  int *scratch;           // [size]
  Value *edge_scratch;    // [size]
  unsigned char *queued;  // [size] lk_in_queue, lk_put_off

  WARPTSP_FN int wrap(int p) const { return p >= size ? p - size : p < 0 ? p + size : p; }
};

template <class Value>
struct LkLimits;
template <>
struct LkLimits<int> {
  static constexpr int unbreakable = -(1 << 30), padding = 1 << 30;
};
template <>
struct LkLimits<double> {
  static constexpr double unbreakable = -1e300, padding = 1e300;
};

}  // namespace warptsp::lk
