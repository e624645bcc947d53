// An instance of a few cities, in its own numbers. Host code only.
#pragma once
#include <cstddef>

namespace warptsp::small {

template <class V>
struct FewCities {
  const V *distances;  // [n, n] by row; none is negative
  int n;
  bool open = false;
  int start = -1, end = -1;  // of a path, -1 for any
  const int *fixed = nullptr;
  int fixed_edges = 0;    // rows of `fixed`: pairs of cities
  bool directed = false;  // whether the second must follow the first

  V distance(int a, int b) const { return distances[(size_t)a * n + b]; }

  // Whether tours are closed, and know no direction and no fixed edges.
  bool is_plain() const {
    if (open || fixed_edges > 0) return false;
    for (int i = 0; i < n; i++)
      for (int j = 0; j < i; j++)
        if (distance(i, j) != distance(j, i)) return false;
    return true;
  }
};

}  // namespace warptsp::small
