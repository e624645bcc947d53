// The check of a long tour, on several threads: that it takes each city once, and its exact length. Host code only.
#pragma once
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "common/metric.h"
#include "common/parallel.h"

namespace warptsp::tours {

// Whether the numbers of `tour` are 0 to n - 1 in any order.
inline bool takes_each_once(const int *tour, int n, int threads) {
  static_assert(sizeof(std::atomic<char>) == 1);
  Buffer<char> flags(n);
  std::atomic<char> *const seen = reinterpret_cast<std::atomic<char> *>(flags.data());
  // To begin and to end with on one thread: memory is the limit, and each start of threads costs a millisecond.
  std::memset(flags.data(), 0, n);
  for_each_piece(threads, n, 1 << 17, StopToken(), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++)
      if ((unsigned)tour[i] < (unsigned)n) seen[tour[i]].store(1, std::memory_order_relaxed);
  });
  return std::memchr(flags.data(), 0, n) == nullptr;  // n numbers that are n different ones are no others
}

// Numbers whose exact sum is the length of the path through `count` >= 2 cities, three for each of `edge_pieces(count)`
// pieces of it. Lengths of integer metrics add up without rounding. Real ones are cut into multiples of a large unit, of
// a small unit, and rests below 2^-60 of the largest: multiples of one unit add up without rounding, too (Rump, Ogita and
// Oishi, Accurate floating-point summation, 2008).
constexpr int edges_of_a_piece = 1 << 12;  // what is known of them stays in a core's cache

inline int edge_pieces(int64_t count) { return (int)((count - 1 + edges_of_a_piece - 1) / edges_of_a_piece); }

// Returns whether all cities are below `n`.
inline bool edge_sums(const AnyCoordinates<double> &distance, int64_t n, const int *cities, int64_t count, int threads,
                      double *sums) {
  const bool whole = is_integral(distance.kind);
  std::atomic<bool> known{true};
  for_each_task(threads, edge_pieces(count), [&](int piece) {
    double length[edges_of_a_piece];
    const int64_t begin = (int64_t)piece * edges_of_a_piece;
    const int size = (int)std::min<int64_t>(edges_of_a_piece, count - 1 - begin);
    const int *const own = cities + begin;
    double largest = 0;
    for (int i = 0; i <= size; i++)
      if (own[i] < 0 || own[i] >= n) known = false;
    if (!known) return;
    // The cities' rows lie anywhere in memory, and nothing waits for one of them alone.
    constexpr int ahead = 24;
    for (int i = 0; i < size; i++) {
      prefetch(distance.points.rows + (int64_t)distance.points.stride * own[std::min(i + ahead, size)]);
      length[i] = distance(own[i], own[i + 1]);
    }
    for (int i = 0; i < size; i++) largest = length[i] > largest ? length[i] : largest;
    double *const sum = sums + 3 * (int64_t)piece;
    sum[0] = sum[1] = sum[2] = 0;
    if (largest == 0) return;
    int exponent;
    std::frexp(largest, &exponent);
    // 2^12 addends of up to 2^30 units each stay below 2^53. Whole numbers below 2^53 / 100 leave no rest behind 2^-60.
    for (int k = 0; k < 2; k++) {
      const double shift = std::ldexp(1.5, exponent - 30 * (k + 1) + 52);
      for (int i = 0; i < size; i++) {
        const double multiple = (length[i] + shift) - shift;
        sum[k] += multiple;
        length[i] -= multiple;
      }
    }
    if (!whole)
      for (int i = 0; i < size; i++) sum[2] += length[i];
  });
  return known;
}

}  // namespace warptsp::tours
