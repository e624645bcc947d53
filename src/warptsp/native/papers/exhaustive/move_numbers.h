// Numbers of moves: which pair or triple of positions a number stands for, exact for every tour length.
//
// The formulas with roots in the literature (K. Rocki and R. Suda, 2012) go wrong where floating-point numbers are
// too coarse: a published one for triples fails from number 454 on. Here a root gives the first guess, and integers
// decide. Swaps need no root at all: their triangle is folded into a rectangle.
#pragma once
#include "common/metric.h"  // WARPTSP_FN, WARPTSP_MATH

namespace warptsp::exhaustive {

typedef unsigned long long MoveNumber;

// How many pairs 0 <= i < j and triples 0 <= i < j < k there are below j and k.
WARPTSP_FN constexpr MoveNumber pairs_below(MoveNumber j) { return j * (j - 1) / 2; }
WARPTSP_FN constexpr MoveNumber triples_below(MoveNumber k) {
  // One of three consecutive numbers is divisible by three, and one of two by two: no overflow before the result's.
  return k < 3                     ? 0
         : k % 3 == 0              ? k / 3 * pairs_below(k - 1)
         : pairs_below(k) % 3 == 0 ? pairs_below(k) / 3 * (k - 2)
                                   : pairs_below(k) * ((k - 2) / 3);
}

struct Pair {
  int i, j;  // 0 <= i < j
};
struct Triple {
  int i, j, k;  // 0 <= i < j < k
};

WARPTSP_FN MoveNumber number_of(Pair p) { return pairs_below((MoveNumber)p.j) + (MoveNumber)p.i; }
WARPTSP_FN MoveNumber number_of(Triple t) {
  return triples_below((MoveNumber)t.k) + pairs_below((MoveNumber)t.j) + (MoveNumber)t.i;
}

// Pairs in the order (0,1) (0,2) (1,2) (0,3) ...
WARPTSP_FN Pair pair_of(MoveNumber number) {
  MoveNumber j = (MoveNumber)((1.0 + WARPTSP_MATH(sqrt)(1.0 + 8.0 * (double)number)) / 2.0);
  while (pairs_below(j) > number) --j;
  while (pairs_below(j + 1) <= number) ++j;
  return {(int)(number - pairs_below(j)), (int)j};
}

// Triples in the order (0,1,2) (0,1,3) (0,2,3) (1,2,3) (0,1,4) ...
WARPTSP_FN Triple triple_of(MoveNumber number) {
  MoveNumber k = (MoveNumber)WARPTSP_MATH(cbrt)(6.0 * (double)number) + 1;
  while (triples_below(k) > number) --k;
  while (triples_below(k + 1) <= number) ++k;
  const Pair p = pair_of(number - triples_below(k));
  return {p.i, p.j, (int)k};
}

// Swaps of positions 1 <= x < y < n: (n - 1)(n - 2) / 2 of them. Row r of a rectangle holds the pairs of position
// r + 1 and, behind them, those of the position that has as many as are missing. Integers only.
// C. Schulz, "Efficient local search on the GPU", J. Parallel Distrib. Comput. 73 (2013).
WARPTSP_FN MoveNumber swaps_of(int n) { return n < 3 ? 0 : pairs_below((MoveNumber)n - 1); }
WARPTSP_FN Pair swap_of(MoveNumber number, int n) {
  const int m = n - 1, odd = m & 1, width = m - 1 + odd;
  const int row = (int)(number / (MoveNumber)width), column = (int)(number % (MoveNumber)width);
  const int own = m - 1 - row;  // pairs of position row + 1
  if (column < own) return {row + 1, row + 2 + column};
  const int other = m - row - odd;
  return {other, other + 1 + column - own};
}

// The same moves in lexicographic order by a root in single precision, as C. Schulz and others had it first: right up to
// 4098 cities, and up to 5794 where the formula subtracts no nearly equal numbers (`Stable`).
template <bool Stable>
WARPTSP_FN Pair swap_by_root(MoveNumber number, int n) {
  const int m = n - 1;
  const float b = (float)(2 * m - 1), k = (float)number, root = WARPTSP_MATH(sqrt)(b * b - 8.0f * k);
  const long long row = (long long)(Stable ? 4.0f * k / (b + root) : (b - root) / 2.0f);
  return {(int)row + 1, (int)(row + 2 + (long long)number - row * (2 * m - 1 - row) / 2)};
}

// Relocations of a tour of n cities: the city at position p passes over the next `over` positions, 1 <= over <= n - 3,
// and so comes into the edge p + over, counted round the circle. Over n - 2 it would stand before the position before
// it, which is that city's move over 1: n (n - 3) moves, no two of which make the same tour.
struct Relocation {
  int position, over;
};
WARPTSP_FN MoveNumber relocations_of(int n) { return n < 4 ? 0 : (MoveNumber)n * (MoveNumber)(n - 3); }
WARPTSP_FN Relocation relocation_of(MoveNumber number, int n) {
  const MoveNumber row = (MoveNumber)(n - 3);
  return {(int)(number / row), (int)(number % row) + 1};
}
WARPTSP_FN MoveNumber number_of(Relocation r, int n) {
  return (MoveNumber)r.position * (MoveNumber)(n - 3) + (MoveNumber)(r.over - 1);
}

}  // namespace warptsp::exhaustive
