// Numbers of moves against loops.
#include "papers/exhaustive/descent.h"

#include "check.h"

using namespace warptsp;
using namespace warptsp::exhaustive;

// Whether every swap of n cities comes from its number in lexicographic order; the ends of rows alone if `ends`.
template <bool Stable>
bool root_finds_all(int n, bool ends) {
  MoveNumber first = 0;
  for (int x = 1; x + 1 < n; first += n - 1 - x++)
    for (int y = x + 1; y < n; y += ends && y < n - 1 ? n - 1 - y : 1) {
      const Pair p = swap_by_root<Stable>(first + (y - x - 1), n);
      if (p.i != x || p.j != y) return false;
    }
  return true;
}

TEST(swaps_by_a_root_in_single_precision) {
  for (int n = 3; n < 300; ++n) CHECK(root_finds_all<false>(n, false) && root_finds_all<true>(n, false));
  for (int n = 300; n <= 5794; n += n < 5700 ? 97 : 1) {
    CHECK(root_finds_all<true>(n, true));
    CHECK(n > 4098 || root_finds_all<false>(n, true));
  }
  for (int n = 4000; n <= 4098; ++n) CHECK(root_finds_all<false>(n, true));
  CHECK(!root_finds_all<false>(4099, true));
  CHECK(!root_finds_all<true>(5795, true));
}

TEST(numbers_of_moves) {
  MoveNumber number = 0;
  for (int j = 1; j < 500; ++j)
    for (int i = 0; i < j; ++i, ++number) {
      const Pair p = pair_of(number);
      CHECK(p.i == i && p.j == j && number_of(p) == number);
    }
  number = 0;
  for (int k = 2; k < 120; ++k)
    for (int j = 1; j < k; ++j)
      for (int i = 0; i < j; ++i, ++number) {
        const Triple t = triple_of(number);
        CHECK(t.i == i && t.j == j && t.k == k && number_of(t) == number);
      }
  for (int n = 4; n < 40; ++n) {
    number = 0;
    for (int position = 0; position < n; ++position)
      for (int over = 1; over <= n - 3; ++over, ++number) {
        const Relocation r = relocation_of(number, n);
        CHECK(r.position == position && r.over == over && number_of(r, n) == number);
      }
    CHECK(number == relocations_of(n));
  }
}

TEST(swaps_have_one_number_each) {
  for (int n : {3, 4, 5, 6, 7, 100, 101}) {
    std::vector<int> seen((size_t)n * n, 0);
    for (MoveNumber number = 0; number < swaps_of(n); ++number) {
      const Pair p = swap_of(number, n);
      CHECK(1 <= p.i && p.i < p.j && p.j < n && ++seen[(size_t)p.i * n + p.j] == 1);
    }
  }
}

// Beyond what loops reach: the first and the last number of rows.
TEST(numbers_at_the_ends_of_rows) {
  for (int j = 3; j < 30000000; j += 1 + j / 400) {
    const Pair first = pair_of(pairs_below(j)), last = pair_of(pairs_below(j) - 1);
    CHECK(first.i == 0 && first.j == j && last.i == j - 2 && last.j == j - 1);
    if (j > 2000000) continue;  // triples of so many no longer fit 64 bits
    const Triple begin = triple_of(triples_below(j)), end = triple_of(triples_below(j) - 1);
    CHECK(begin.i == 0 && begin.j == 1 && begin.k == j && end.i == j - 3 && end.j == j - 2 && end.k == j - 1);
  }
  const int many = 2000000000;
  for (MoveNumber p = 0; p < many; p += 1 + p / 400) {
    const Relocation first = relocation_of(p * (many - 3), many), last = relocation_of(p * (many - 3) + many - 4, many);
    CHECK(first.position == (int)p && first.over == 1 && last.position == (int)p && last.over == many - 3);
  }
  for (int n : {10000, 99999, 1000000}) {
    const int m = n - 1, width = m - 1 + m % 2;
    for (int row = 0; row < m / 2; row += 1 + row / 100) {
      const MoveNumber begin = (MoveNumber)row * width;
      const Pair first = swap_of(begin, n), last = swap_of(begin + m - 2 - row, n),
                 next = swap_of(begin + width - 1, n);
      CHECK(first.i == row + 1 && first.j == row + 2 && last.i == row + 1 && last.j == n - 1);
      // The row's second half belongs to the position that has as many swaps as are missing.
      CHECK(row == 0 && m % 2 == 0 ? next.i == 1 : n - 1 - next.i == width - (m - 1 - row) && next.j == n - 1);
    }
  }
}
