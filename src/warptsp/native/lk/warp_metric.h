// Distances of the search of a warp: in float, from what a part keeps of each of its cities in shared memory.
//
// A metric has
//   typedef Place;                                        what is kept of a city
//   Place place(const CitiesOnDevice &, int city, int origin)  of a city, in a part one of whose cities is `origin`
//   float operator()(Place, Place)                        a distance
// Coordinates are taken relative to the part, so that float is exact enough: integer lengths up to 2^24 are exact in
// it, others to some 1e-7 of the part's extent. What is reported is summed up elsewhere, in double.
#pragma once
#include "common/metric.h"

namespace warptsp::lk {

struct CitiesOnDevice {
  const double *points;  // [size, dimensions] rows as in Points; null for a matrix
  const float *matrix;   // [size, size]; null for coordinates
  int size, dimensions;
};

struct Xy {
  float x, y;
};

// The plane without a dummy city. The instances that one would take a GPU for.
template <MetricKind kind>
struct PlanarMetric {
  typedef Xy Place;
  PlanarMetric() = default;
  WARPTSP_FN explicit PlanarMetric(const CitiesOnDevice &) {}
  WARPTSP_FN Xy place(const CitiesOnDevice &cities, int city, int origin) const {
    const double *at = cities.points + 2 * (long long)city, *zero = cities.points + 2 * (long long)origin;
    return Xy{(float)(at[0] - zero[0]), (float)(at[1] - zero[1])};
  }
  WARPTSP_FN float operator()(Xy p, Xy q) const {
    constexpr MetricFacts facts = facts_of(kind);
    const float dx = p.x - q.x, dy = p.y - q.y, x = absolute(dx), y = absolute(dy);
    float d = facts.norm == Norm::manhattan ? x + y : x > y ? x : y;
    if (facts.norm == Norm::euclidean) d = root((dx * dx + dy * dy) * (facts.rounding == Rounding::att ? 0.1f : 1.0f));
    if (facts.rounding == Rounding::nearest) return floor_of(d + 0.5f);
    if (facts.rounding == Rounding::down) return floor_of(d);
    return facts.rounding == Rounding::none ? d : -floor_of(-d);
  }

 private:
#if defined(__CUDACC__)
  // A sixth of the cost of the correctly rounded root; a length may be one off where it is within 1e-7 of a half.
  WARPTSP_FN static float root(float v) {
    float r;
    asm("sqrt.approx.f32 %0, %1;" : "=f"(r) : "f"(v));
    return r;
  }
  WARPTSP_FN static float floor_of(float v) { return floorf(v); }
  WARPTSP_FN static float absolute(float v) { return fabsf(v); }
#else
  static float root(float v) { return std::sqrt(v); }
  static float floor_of(float v) { return std::floor(v); }
  static float absolute(float v) { return std::fabs(v); }
#endif
};

struct Xyz {
  float x[3];
};

struct CoordinatePlaces {
  typedef Xyz Place;
  WARPTSP_FN Xyz place(const CitiesOnDevice &cities, int city, int origin) const {
    const double *at = cities.points + cities.dimensions * (long long)city;
    const double *zero = cities.points + cities.dimensions * (long long)origin;
    const bool shifted = zero[0] == zero[0];
    Xyz p;
    WARPTSP_UNROLL
    for (int d = 0; d < 3; d++) p.x[d] = d < cities.dimensions ? (float)(shifted ? at[d] - zero[d] : at[d]) : 0.0f;
    return p;
  }
};

WARPTSP_FN float place_distance(MetricKind kind, const Xyz &p, const Xyz &q) {
  const float d = coordinate_distance(kind, p.x, q.x);
  return d == d ? d : 0.0f;
}

// Any metric with coordinates; a city without them (NaN), the dummy of an open path, is at distance 0 from all.
template <MetricKind kind>
struct CoordinateMetric : CoordinatePlaces {
  CoordinateMetric() = default;
  WARPTSP_FN explicit CoordinateMetric(const CitiesOnDevice &) {}
  WARPTSP_FN float operator()(const Xyz &p, const Xyz &q) const { return place_distance(kind, p, q); }
};

// A matrix stays in device memory.
struct MatrixMetric {
  typedef int Place;
  const float *entries = nullptr;
  long long size = 0;
  MatrixMetric() = default;
  WARPTSP_FN explicit MatrixMetric(const CitiesOnDevice &cities) : entries(cities.matrix), size(cities.size) {}
  WARPTSP_FN int place(const CitiesOnDevice &, int city, int) const { return city; }
  WARPTSP_FN float operator()(int p, int q) const { return entries[p * size + q]; }
};

// The metric of a kind; the plane's own only without a dummy city.
template <MetricKind kind, bool dummy, bool planar = is_planar(kind) && !dummy>
struct WarpMetric {
  typedef CoordinateMetric<kind> Type;
};
template <MetricKind kind, bool dummy>
struct WarpMetric<kind, dummy, true> {
  typedef PlanarMetric<kind> Type;
};
template <bool dummy>
struct WarpMetric<MetricKind::matrix, dummy, false> {
  typedef MatrixMetric Type;
};

}  // namespace warptsp::lk
