// Points of many kinds, among them those that break k-d trees.
#pragma once
#include <cmath>
#include <vector>

#include "check.h"

inline std::vector<double> unit_vectors(int n, check::Random &random) {
  std::vector<double> points(3 * (size_t)n);
  for (int i = 0; i < n; ++i) {
    double sum = 0.0;
    for (int d = 0; d < 3; ++d) {
      points[3 * i + d] = random.uniform() - 0.5;
      sum += points[3 * i + d] * points[3 * i + d];
    }
    for (int d = 0; d < 3; ++d) points[3 * i + d] /= std::sqrt(sum);
  }
  return points;
}

constexpr int cloud_kinds = 7;
inline std::vector<double> cloud(int kind, int n, int dimensions, check::Random &random) {
  std::vector<double> points((size_t)n * dimensions);
  for (int i = 0; i < n; ++i) {
    const double along = random.below(n);
    for (int d = 0; d < dimensions; ++d) {
      double &x = points[(size_t)i * dimensions + d];
      switch (kind) {
        case 0: x = random.uniform(); break;
        case 1: x = random.below(6); break;  // a lattice, with duplicates
        case 2: x = 1e12 * (1.0 + random.uniform()); break;
        case 3: x = 1e-9 * along; break;                        // a line
        case 4: x = d == 0 ? 3.0 : random.below(2 * n); break;  // upright
        case 5: x = -7.25; break;                               // one place
        default: x = std::exp(60.0 * (random.uniform() - 0.5)); break;
      }
    }
  }
  return points;
}
