// Distances as whole numbers that never exceed them: floor(2^exponent distance). Host code only.
//
// A lower bound computed from them is one for the distances themselves, and integer arithmetic needs no tolerances.
// Distances of a whole-numbered metric are taken exactly as long as the exponent is not negative. On the sphere the
// search's unit vectors know an angle to a few units in the last place only, so a margin is taken off.
//
// Each class has
//   operator()(a, b)           the whole distance of two cities
//   real(a, b)                 the distance as the search has it
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "common/metric.h"

namespace warptsp::bound {

// Of a matrix, where an entry may be any number of times as long as those of the graph: more are as many, which is far
// beyond every sum of potentials. Rounded down, a bound remains one.
constexpr double most_whole = 0x1p40;

// No whole distance in a graph is longer, and no potential larger: sums of three stay within 31 bits.
constexpr int max_whole_bits = 27;
constexpr int max_potential = 1 << max_whole_bits;

// The exponent for distances up to `longest`: as many bits as there are, and for whole-numbered metrics no more than 8
// behind the point, which is finer than any step of the ascent.
inline int whole_exponent(double longest, bool integral) {
  constexpr int max_fraction_bits = 8;
  if (!(longest > 0.0)) return 0;
  int exponent = 0;
  std::frexp(longest, &exponent);  // longest < 2^exponent
  const int wanted = std::max(-1000, std::min(1000, max_whole_bits - exponent));
  return integral ? std::min(wanted, max_fraction_bits) : wanted;
}

// An angle between unit vectors with this half chord that is certainly not above the true one, nor above what another
// formula finds: the margins cover vectors rounded to 1e-16, and near the antipodes, where the arc sine is steep, the
// chord is cut.
inline double safe_angle(double half_chord) {
  return std::max(0.0, 2.0 * std::asin(std::min(half_chord, 0.999999)) * (1.0 - 1e-11) - 1e-14);
}

// TSPLIB's formula for GEO loses up to 2e-4 km to the arc cosine of nearby places.
inline double safe_sphere_distance(MetricKind kind, double half_chord) {
  if (kind == MetricKind::great_circle) return earth_radius_m * safe_angle(half_chord);
  return std::max(1.0, std::floor(geo_radius_km * safe_angle(half_chord) + 1.0 - 5e-4));
}

template <int D>
struct PointDistances {
  const double *rows;  // D numbers a city
  MetricKind kind;
  double scale;  // 2^exponent

  const double *at(int city) const { return rows + (int64_t)city * D; }
  double real(int a, int b) const { return between(at(a), at(b)); }
  int64_t operator()(int a, int b) const { return whole(real(a, b)); }
  int64_t whole(double distance) const { return (int64_t)(distance * scale); }  // distances are not negative

  double between(const double *p, const double *q) const {
    if (kind == MetricKind::euc_2d) return (double)(int64_t)(euclidean_2d(p, q) + 0.5);  // floor() is a call
    if (D == 3 && on_sphere(kind)) return safe_sphere_distance(kind, 0.5 * euclidean_3d(p, q));
    return coordinate_distance<D>(kind, p, q);
  }
};

template <class V>
struct MatrixDistances {
  const V *entries;
  int64_t size;
  double scale;

  // Of real entries (i, j) and (j, i) may differ in their last place.
  double real(int a, int b) const {
    if constexpr (std::is_integral_v<V>) return (double)entries[a * size + b];
    return std::min((double)entries[a * size + b], (double)entries[b * size + a]);
  }
  int64_t operator()(int a, int b) const { return (int64_t)std::min(real(a, b) * scale, most_whole); }
};

}  // namespace warptsp::bound
