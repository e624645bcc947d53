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

// What the rows of points are: of the plane, of space, unit vectors of places on the sphere, angles of a diffractometer.
enum class Space : int { none, plane, space, sphere, angles };
// The norm that orders cities as the metric does. The numbers are those of space/candidates.h.
enum class Norm : int { maximum = 0, manhattan = 1, euclidean = 2 };
// `att` is up, of a tenth of the squares.
enum class Rounding : int { none = 0, nearest = 1, up = 2, down = 3, att = 4 };

// The table of metrics, in the order of their numbers; problem/metric.py has it, too, and a test compares them. The
// distance of the plane and of space is the norm of the differences, rounded; `distance_of` has the others.
//   X(name, space, norm, rounding)
#define WARPTSP_METRICS(X)                 \
  X(euc_2d, plane, euclidean, nearest)     \
  X(ceil_2d, plane, euclidean, up)         \
  X(floor_2d, plane, euclidean, down)      \
  X(exact_2d, plane, euclidean, none)      \
  X(att, plane, euclidean, att)            \
  X(geo, sphere, euclidean, down)          \
  X(great_circle, sphere, euclidean, none) \
  X(man_2d, plane, manhattan, nearest)     \
  X(max_2d, plane, maximum, nearest)       \
  X(euc_3d, space, euclidean, nearest)     \
  X(exact_3d, space, euclidean, none)      \
  X(man_3d, space, manhattan, nearest)     \
  X(max_3d, space, maximum, nearest)       \
  X(xray1, angles, maximum, nearest)       \
  X(xray2, angles, maximum, nearest)       \
  X(matrix, none, euclidean, nearest)      \
  X(exact_man_2d, plane, manhattan, none)  \
  X(exact_max_2d, plane, maximum, none)    \
  X(exact_man_3d, space, manhattan, none)  \
  X(exact_max_3d, space, maximum, none)

#define WARPTSP_METRIC_NAME(name, space, norm, rounding) name,
enum class MetricKind : int { WARPTSP_METRICS(WARPTSP_METRIC_NAME) count };
#undef WARPTSP_METRIC_NAME

struct MetricFacts {
  Space space;
  Norm norm;
  Rounding rounding;
};

WARPTSP_FN constexpr MetricFacts facts_of(MetricKind kind) {
#define WARPTSP_METRIC_FACTS(name, space, norm, rounding) \
  case MetricKind::name: return {Space::space, Norm::norm, Rounding::rounding};
  switch (kind) {
    WARPTSP_METRICS(WARPTSP_METRIC_FACTS)
    default: return {Space::none, Norm::euclidean, Rounding::none};
  }
#undef WARPTSP_METRIC_FACTS
}

WARPTSP_FN constexpr bool has_coordinates(MetricKind kind) { return facts_of(kind).space != Space::none; }
WARPTSP_FN constexpr bool is_integral(MetricKind kind) { return facts_of(kind).rounding != Rounding::none; }
WARPTSP_FN constexpr bool is_planar(MetricKind kind) { return facts_of(kind).space == Space::plane; }
WARPTSP_FN constexpr bool on_sphere(MetricKind kind) { return facts_of(kind).space == Space::sphere; }

// Euclidean in the plane, rounded or not: what single precision can look for moves with.
WARPTSP_FN constexpr bool is_euclidean(MetricKind kind) {
  return is_planar(kind) && facts_of(kind).norm == Norm::euclidean;
}

template <MetricKind kind>
struct KindConstant {
  static constexpr MetricKind value = kind;
};

// Calls `use` with the constant of a Euclidean metric of the plane.
template <class Use>
WARPTSP_FN auto with_euclidean(MetricKind kind, const Use &use) {
  switch (kind) {
    case MetricKind::euc_2d: return use(KindConstant<MetricKind::euc_2d>());
    case MetricKind::ceil_2d: return use(KindConstant<MetricKind::ceil_2d>());
    case MetricKind::floor_2d: return use(KindConstant<MetricKind::floor_2d>());
    case MetricKind::att: return use(KindConstant<MetricKind::att>());
    default: return use(KindConstant<MetricKind::exact_2d>());
  }
}

// Numbers in a row of points.
WARPTSP_FN constexpr int columns_of(MetricKind kind) { return is_planar(kind) ? 2 : has_coordinates(kind) ? 3 : 0; }

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

// On a GPU one instruction, off by a unit or two of the last place.
WARPTSP_FN float approximate_root(float v) {
#if defined(__CUDA_ARCH__)
  float root;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(v));
  return root;
#else
  return WARPTSP_MATH(sqrt)(v);
#endif
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

template <class T>
WARPTSP_FN T rounded(Rounding rounding, T v) {
  if (rounding == Rounding::nearest) return WARPTSP_MATH(floor)(v + T(0.5));
  if (rounding == Rounding::up || rounding == Rounding::att) return WARPTSP_MATH(ceil)(v);
  return rounding == Rounding::down ? WARPTSP_MATH(floor)(v) : v;
}

template <int D, class T>
WARPTSP_FN T length_in(Norm norm, const T *p, const T *q) {
  if (norm == Norm::euclidean) return D == 2 ? euclidean_2d(p, q) : euclidean_3d(p, q);
  const T x = WARPTSP_MATH(fabs)(p[0] - q[0]), y = WARPTSP_MATH(fabs)(p[1] - q[1]);
  if (D == 2) return norm == Norm::manhattan ? x + y : larger(x, y);
  const T z = WARPTSP_MATH(fabs)(p[D - 1] - q[D - 1]);
  return norm == Norm::manhattan ? x + y + z : larger(x, larger(y, z));
}

template <MetricKind kind, class T>
WARPTSP_FN T distance_of(const T *p, const T *q) {
  constexpr MetricFacts facts = facts_of(kind);
  if constexpr (facts.rounding == Rounding::att) {
    // TSPLIB's nint, plus one where that fell below: the next integer up.
    return WARPTSP_MATH(ceil)(WARPTSP_MATH(sqrt)((square(p[0] - q[0]) + square(p[1] - q[1])) / T(10)));
  } else if constexpr (facts.space == Space::plane) {
    return rounded(facts.rounding, length_in<2>(facts.norm, p, q));
  } else if constexpr (facts.space == Space::space) {
    return rounded(facts.rounding, length_in<3>(facts.norm, p, q));
  } else if constexpr (kind == MetricKind::geo) {  // TSPLIB's kilometres on the idealised sphere, from DDD.MM
    return WARPTSP_MATH(floor)(T(geo_radius_km) * angle_between(p, q) + T(1));
  } else if constexpr (kind == MetricKind::great_circle) {
    return T(earth_radius_m) * angle_between(p, q);
  } else if constexpr (facts.space == Space::angles) {
    T phi = WARPTSP_MATH(fabs)(p[0] - q[0]);
    const T wrapped = WARPTSP_MATH(fabs)(phi - T(360));
    phi = phi < wrapped ? phi : wrapped;
    const T chi = WARPTSP_MATH(fabs)(p[1] - q[1]), two_theta = WARPTSP_MATH(fabs)(p[2] - q[2]);
    const T cost = kind == MetricKind::xray1 ? larger(phi, larger(chi, two_theta))
                                             : larger(phi / T(1.25), larger(chi / T(1.5), two_theta / T(1.15)));
    return WARPTSP_MATH(floor)(T(100) * cost + T(0.5));
  } else {
    return T(0);
  }
}

// Every other metric with coordinates, in double or, where only differences within a small part count, in float. A row
// of NaN is the dummy city of an open path, at distance 0 from all. `D`: only those of so many columns are asked for;
// `whole`: only those of integers. The fewer there are, the smaller is the code, of which there are many copies.
template <int D = 0, bool whole = false, class T>
WARPTSP_FN T coordinate_distance(MetricKind kind, const T *p, const T *q) {
#define WARPTSP_METRIC_DISTANCE(name, space, norm, rounding)                                                  \
  case MetricKind::name:                                                                                      \
    if constexpr ((D != 0 && D != columns_of(MetricKind::name)) || (whole && !is_integral(MetricKind::name))) \
      return T(0);                                                                                            \
    else                                                                                                      \
      return distance_of<MetricKind::name>(p, q);
  switch (kind_here(kind)) {
    WARPTSP_METRICS(WARPTSP_METRIC_DISTANCE)
    default: return T(0);
  }
#undef WARPTSP_METRIC_DISTANCE
}

template <class V>
struct AnyCoordinates {
  typedef V Value;
  Points points;
  MetricKind kind;
  WARPTSP_FN V operator()(int a, int b) const {
    constexpr bool whole = V(0.5) == V(0);
    const double d = coordinate_distance<0, whole>(kind, points.rows + points.stride * (long long)a,
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
