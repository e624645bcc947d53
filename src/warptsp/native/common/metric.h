// Distance functions, for the host compiler and NVRTC alike: no standard library.
//
// A Metric is a small value type with
//   typedef Value;                          int (TSPLIB's integers) or a floating-point type
//   Value operator()(int a, int b) const;   the distance between two cities
// TSPLIB's definitions follow Reinelt, TSPLIB 95 (1995); see docs/formats.md for the extensions.
#pragma once

#if defined(__CUDACC__)
#define WARPTSP_FN __host__ __device__ __forceinline__
#elif defined(_MSC_VER)
#define WARPTSP_FN __forceinline
#else
#define WARPTSP_FN inline __attribute__((always_inline))
#endif

// In front of a loop of known length that indexes arrays: on a GPU they then stay in registers.
#if defined(__CUDACC__)
#define WARPTSP_UNROLL _Pragma("unroll")
#define WARPTSP_LOOP _Pragma("unroll 1")
#else
#define WARPTSP_UNROLL
#define WARPTSP_LOOP
#endif

#if defined(__CUDACC_RTC__)
#define WARPTSP_MATH(f) ::f
#else
#include <cmath>
#define WARPTSP_MATH(f) std::f
#endif

namespace warptsp {

typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

// The numbers are part of the interface to Python (problem/metric.py).
enum class MetricKind : int {
  euc_2d = 0,        // nint of the Euclidean distance
  ceil_2d = 1,       // rounded up
  floor_2d = 2,      // rounded down
  exact_2d = 3,      // not rounded
  att = 4,           // pseudo-Euclidean
  geo = 5,           // TSPLIB's kilometres on the idealised sphere, from DDD.MM
  great_circle = 6,  // metres on the sphere of radius 6 371 008.8 m, from decimal degrees (lat, lon)
  man_2d = 7,
  max_2d = 8,
  euc_3d = 9,
  exact_3d = 10,
  man_3d = 11,
  max_3d = 12,
  xray1 = 13,
  xray2 = 14,
  matrix = 15,
  count,  // of the kinds, which are numbered without gaps
};

WARPTSP_FN constexpr bool has_coordinates(MetricKind kind) {
  return (int)kind >= 0 && kind < MetricKind::count && kind != MetricKind::matrix;
}

WARPTSP_FN bool is_integral(MetricKind kind) {
  return kind != MetricKind::exact_2d && kind != MetricKind::exact_3d && kind != MetricKind::great_circle;
}

// Euclidean in the plane, rounded or not: what single precision can look for moves with. Metric.euclidean and
// Metric.planar in Python are these two sets; every kernel is compiled with a check of that.
WARPTSP_FN constexpr bool is_euclidean(MetricKind kind) {
  return kind == MetricKind::euc_2d || kind == MetricKind::ceil_2d || kind == MetricKind::floor_2d ||
         kind == MetricKind::exact_2d || kind == MetricKind::att;
}

WARPTSP_FN constexpr bool is_planar(MetricKind kind) {
  return is_euclidean(kind) || kind == MetricKind::man_2d || kind == MetricKind::max_2d;
}

// Numbers in a row of points: three for places on the sphere and angles of a diffractometer, too.
WARPTSP_FN constexpr int columns_of(MetricKind kind) {
  return is_planar(kind) ? 2 : kind == MetricKind::matrix ? 0 : 3;
}

// Coordinates of the search, one row of `stride` doubles a city. GEO and great-circle rows hold
// (cos lat cos lon, cos lat sin lon, sin lat): the unit vector, so that no distance needs more than one arc cosine.
struct Points {
  const double *rows;
  int stride;
};

constexpr double geo_radius_km = 6378.388;
constexpr double earth_radius_m = 6371008.8;

template <class T>
WARPTSP_FN T square(T v) {
  return v * v;
}
template <class T>
WARPTSP_FN T larger(T a, T b) {  // NaN stays NaN
  return a > b || a != a ? a : b;
}

template <class T>
WARPTSP_FN T euclidean_2d(const T *p, const T *q) {
  return WARPTSP_MATH(sqrt)(square(p[0] - q[0]) + square(p[1] - q[1]));
}
template <class T>
WARPTSP_FN T euclidean_3d(const T *p, const T *q) {
  return WARPTSP_MATH(sqrt)(square(p[0] - q[0]) + square(p[1] - q[1]) + square(p[2] - q[2]));
}
// Angle between two unit vectors; the half-chord form keeps its precision for neighbours a metre apart.
template <class T>
WARPTSP_FN T angle_between(const T *p, const T *q) {
  const T half_chord = T(0.5) * euclidean_3d(p, q);
  return T(2) * WARPTSP_MATH(asin)(half_chord > T(1) ? T(1) : half_chord);  // NaN stays NaN
}

struct EuclideanRounded {
  typedef int Value;
  const double *xy;
  WARPTSP_FN int operator()(int a, int b) const {
    return (int)(euclidean_2d(xy + 2 * (long long)a, xy + 2 * (long long)b) + 0.5);
  }
};

struct EuclideanExact {
  typedef double Value;
  const double *xy;
  WARPTSP_FN double operator()(int a, int b) const {
    return euclidean_2d(xy + 2 * (long long)a, xy + 2 * (long long)b);
  }
};

// METRIC_KIND is given where kernels are compiled for one problem: what other metrics would need falls away, which is
// most of such a kernel, and of the time that it takes the compiler.
#if defined(METRIC_KIND)
WARPTSP_FN constexpr MetricKind kind_here(MetricKind) { return (MetricKind)METRIC_KIND; }
#else
WARPTSP_FN constexpr MetricKind kind_here(MetricKind kind) { return kind; }
#endif

// Every other metric with coordinates, in double or, where only differences within a small part count, in float. A row
// of NaN is the dummy city of an open path, at distance 0 from all.
template <class T>
WARPTSP_FN T coordinate_distance(MetricKind kind, const T *p, const T *q) {
  switch (kind_here(kind)) {
    case MetricKind::euc_2d: return WARPTSP_MATH(floor)(euclidean_2d(p, q) + T(0.5));
    case MetricKind::ceil_2d: return WARPTSP_MATH(ceil)(euclidean_2d(p, q));
    case MetricKind::floor_2d: return WARPTSP_MATH(floor)(euclidean_2d(p, q));
    case MetricKind::exact_2d: return euclidean_2d(p, q);
    case MetricKind::att: {
      const T r = WARPTSP_MATH(sqrt)((square(p[0] - q[0]) + square(p[1] - q[1])) / T(10));
      return WARPTSP_MATH(ceil)(r);  // nint, plus one where nint fell below r: the next integer up
    }
    case MetricKind::geo: return WARPTSP_MATH(floor)(T(geo_radius_km) * angle_between(p, q) + T(1));
    case MetricKind::great_circle: return T(earth_radius_m) * angle_between(p, q);
    case MetricKind::man_2d:
      return WARPTSP_MATH(floor)(WARPTSP_MATH(fabs)(p[0] - q[0]) + WARPTSP_MATH(fabs)(p[1] - q[1]) + T(0.5));
    case MetricKind::max_2d:
      return larger(WARPTSP_MATH(floor)(WARPTSP_MATH(fabs)(p[0] - q[0]) + T(0.5)),
                    WARPTSP_MATH(floor)(WARPTSP_MATH(fabs)(p[1] - q[1]) + T(0.5)));
    case MetricKind::euc_3d: return WARPTSP_MATH(floor)(euclidean_3d(p, q) + T(0.5));
    case MetricKind::exact_3d: return euclidean_3d(p, q);
    case MetricKind::man_3d:
      return WARPTSP_MATH(floor)(WARPTSP_MATH(fabs)(p[0] - q[0]) + WARPTSP_MATH(fabs)(p[1] - q[1]) +
                                 WARPTSP_MATH(fabs)(p[2] - q[2]) + T(0.5));
    case MetricKind::max_3d:
      return larger(WARPTSP_MATH(floor)(WARPTSP_MATH(fabs)(p[0] - q[0]) + T(0.5)),
                    larger(WARPTSP_MATH(floor)(WARPTSP_MATH(fabs)(p[1] - q[1]) + T(0.5)),
                           WARPTSP_MATH(floor)(WARPTSP_MATH(fabs)(p[2] - q[2]) + T(0.5))));
    case MetricKind::xray1:
    case MetricKind::xray2: {
      T phi = WARPTSP_MATH(fabs)(p[0] - q[0]);
      const T wrapped = WARPTSP_MATH(fabs)(phi - T(360));
      phi = phi < wrapped ? phi : wrapped;
      const T chi = WARPTSP_MATH(fabs)(p[1] - q[1]), two_theta = WARPTSP_MATH(fabs)(p[2] - q[2]);
      const T cost = kind_here(kind) == MetricKind::xray1
                         ? larger(phi, larger(chi, two_theta))
                         : larger(phi / T(1.25), larger(chi / T(1.5), two_theta / T(1.15)));
      return WARPTSP_MATH(floor)(T(100) * cost + T(0.5));
    }
    default: return T(0);
  }
}

template <class V>
struct AnyCoordinates {
  typedef V Value;
  Points points;
  MetricKind kind;
  WARPTSP_FN V operator()(int a, int b) const {
    const double d = coordinate_distance(kind, points.rows + points.stride * (long long)a,
                                         points.rows + points.stride * (long long)b);
    return d == d ? (V)d : V(0);
  }
};

// A full square matrix, row major.
template <class V>
struct Matrix {
  typedef V Value;
  const V *entries;
  long long size;
  WARPTSP_FN V operator()(int a, int b) const { return entries[a * size + b]; }
};

}  // namespace warptsp
