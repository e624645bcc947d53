// Symmetrical 2-opt moves, for the host compiler and NVRTC alike. I. Mavroidis, "Algorithm mapping to reconfigurable
// systems and systems with multiple embedded processors", Technical University of Crete (2011), chapters 4 to 6.
//
// The tour lies on a circle of positions. Segments with one centre, each inside the next, are an Axis: level k is the
// pair of positions left - k and right + k, which mirror each other, and rung k the choice whether the segment up to
// level k is reversed. Reversing it replaces the two edges between the levels k and k + 1 and no other, so the rungs
// of an axis can be decided one by one, and all that were accepted be applied at once: the cities of level k change
// places iff an odd number of the rungs k, k + 1, ... were accepted.
//
// All decisions are made in the exact arithmetic of the metric. In front of it stands a filter in single precision:
// a rung whose edges would be longer by more than any rounding can explain need not be examined again.
#pragma once
#include "common/random.h"

namespace warptsp::symmetric {

constexpr float kept_edge = -1e30f;     // the length of an edge that must stay: no rung can pay for it
constexpr float largest_draw = 16.64f;  // -ln of the smallest random number, rounded up

// Distances and edges in single precision are off by a few units of the last place: with these factors their
// difference is no larger than it should be.
constexpr float less = 1.0f - 1.0f / (1 << 19), more = 1.0f + 1.0f / (1 << 21);

struct SymmetricInstance {
  int size;  // positions on the circle
  MetricKind kind;
  int stride;             // of a row of points
  int elements;           // of the hardware, for its order; 0 for that of the threads
  int random;             // segments at random, one after another
  const double *points;   // null for a matrix
  const int *int_matrix;  // one of the two matrices, or null
  const double *real_matrix;
  long long matrix_size;
  const int *fixed;  // the cities that each city is fixed to, two a city, -1 for none; or null
  double tolerance;  // a gain must exceed it
  // The filter; for metrics in the plane.
  int planar;       // 2 if all places are whole numbers, so that single precision holds them
  int whole_edges;  // the lengths of edges are integers that single precision holds
  double center_x, center_y, scale;
  double slack;        // by how much rounded distances, from rounded places, may make two edges shorter
  double place_error;  // by how much rounded places may change a distance

  WARPTSP_FN double distance(int a, int b) const {
    if (int_matrix != nullptr) return int_matrix[a * matrix_size + b];
    if (real_matrix != nullptr) return real_matrix[a * matrix_size + b];
    const double d = coordinate_distance(kind, points + stride * (long long)a, points + stride * (long long)b);
    return d == d ? d : 0.0;
  }

  // Whether the edge of two cities must stay: a fixed edge, or that of a city with its duplicate.
  WARPTSP_FN bool kept(int a, int b) const {
    return a == b || (fixed != nullptr && (fixed[2 * a] == b || fixed[2 * a + 1] == b));
  }

  WARPTSP_FN float edge(int a, int b) const { return kept(a, b) ? kept_edge : (float)distance(a, b); }

  WARPTSP_FN float plane_x(int city) const { return (float)((points[2 * (long long)city] - center_x) * scale); }
  WARPTSP_FN float plane_y(int city) const { return (float)((points[2 * (long long)city + 1] - center_y) * scale); }

  // By how much the tour grows if the edges ab and cd give way to ac and bd, whose lengths are told too.
  WARPTSP_FN double growth(int a, int b, int c, int d, float ab, float cd, double &ac, double &bd) const {
    const double edges = whole_edges ? (double)ab + (double)cd : distance(a, b) + distance(c, d);
    ac = distance(a, c);
    bd = distance(b, d);
    return ac + bd - edges;
  }
};

struct Axis {
  int left, right;  // level k is left - k and right + k, modulo the size
  int rungs;        // the last one
  int first = 1;    // those before it are not examined
};

// Axes of an iteration: in the order of the hardware two for each part of the segments, since an array of fewer
// elements than every fourth city needs takes the longer ones in turn.
WARPTSP_FN int axes_an_iteration(const SymmetricInstance &instance) {
  return instance.elements == 0 ? 1 : 2 * ((instance.size / 4 + instance.elements - 1) / instance.elements);
}

// How many axes hold every segment.
WARPTSP_FN int axes_of(const SymmetricInstance &instance) { return axes_an_iteration(instance) * instance.size; }

// After how many axes without a move a descent ends: the tour is 2-optimal then. Of segments at random as many are
// examined as the document has it; one that would shorten the tour may not have come up.
WARPTSP_FN long long quiet_enough(const SymmetricInstance &instance) {
  return instance.random ? (long long)instance.size * instance.size : axes_of(instance);
}

WARPTSP_FN int wrapped(int position, int size) {
  return position < 0 ? position + size : position >= size ? position - size : position;
}

// The order of the threads (figure 11), for an odd number of cities: all segments around each city in turn. That of
// the hardware (figure 4), which has an element for every fourth city: the segments of even length around a gap
// between two cities, those of odd length around the city behind it, and on to the gap before. The phase is the number
// of the axis modulo axes_of, or up to axes_of more; left and right are not wrapped. With fewer elements (figure 5) the
// cities to the right are shifted on, past as many cities as the segments before were long, and what lies between is
// reversed with them.
WARPTSP_FN Axis unwrapped_axis(const SymmetricInstance &instance, int phase) {
  const int n = instance.size, elements = instance.elements;
  if (elements == 0) {
    const int center = (n - 1) / 2 + phase;
    return {center, center, (n - 1) / 2 - 1};
  }
  const int each = axes_an_iteration(instance), turn = phase / each, part = phase - turn * each;
  const int inside = part / 2 * elements, behind = elements + inside - turn, most = n / 4;
  return {behind, behind - 1 + part % 2, inside + elements < most ? inside + elements : most, inside + 1};
}
WARPTSP_FN Axis axis_at(const SymmetricInstance &instance, int phase) {
  const Axis axis = unwrapped_axis(instance, phase);
  return {wrapped(axis.left, instance.size), wrapped(axis.right, instance.size), axis.rungs, axis.first};
}

// A segment at random, every one as likely as the others, as the only rung of an axis. It is the shorter of what is
// reversed and what is not.
WARPTSP_FN Axis random_axis(const SymmetricInstance &instance, u64 seed, u64 chain, long long step) {
  const int n = instance.size;
  const u64 number = mix64(mix64(mix64(~seed) + (u64)step) + chain);
  int begin = (int)((number >> 32) * (u64)n >> 32), length = 2 + (int)((number & 0xffffffff) * (u64)(n - 3) >> 32);
  if (2 * length > n) {
    begin = wrapped(begin + length - n, n);
    length = n - length;
  }
  const int rung = length / 2;
  return {wrapped(begin + rung - n, n), wrapped(begin + rung - 1 + length % 2 - n, n), rung, rung};
}

// The axes since the last move, after one more. An iteration of the hardware is quiet if all its axes are.
WARPTSP_FN long long quiet_after(const SymmetricInstance &instance, long long quiet, long long steps, bool moved) {
  const long long more = moved ? 0 : quiet + 1;
  const int each = axes_an_iteration(instance);
  return each > 1 && more < each && steps % each == 0 ? 0 : more;
}

// The same after more axes without a move.
WARPTSP_FN void skip(const SymmetricInstance &instance, long long more, long long &steps, long long &quiet) {
  for (const int each = axes_an_iteration(instance); more > 0 && quiet < each; more--)
    quiet = quiet_after(instance, quiet, ++steps, false);
  steps += more;
  quiet += more;
}

// A position below 0 is a large number without its sign, so that the smaller of two numbers is the one on the circle.
WARPTSP_FN int left_of(const Axis &axis, int level, int size) {
  const unsigned position = (unsigned)(axis.left - level), around = position + (unsigned)size;
  return (int)(position < around ? position : around);
}
WARPTSP_FN int right_of(const Axis &axis, int level, int size) {
  const unsigned position = (unsigned)(axis.right + level), around = position - (unsigned)size;
  return (int)(position < around ? position : around);
}

// What decides about growth at a temperature: Metropolis' rule, exp(-growth / T) > R, or growth < -T ln R.
struct Acceptance {
  double temperature;  // 0 for a descent
  u64 seed;
  u64 chain;

  // Names the random numbers of an axis.
  WARPTSP_FN u64 key(long long step) const {
    return temperature > 0.0 ? mix64(mix64(mix64(seed) + (u64)step) + chain) : 0;
  }
  // R of a rung, from 1 to 2^24, and -ln R / 2^24.
  WARPTSP_FN unsigned number(u64 key, int rung) const {
    return (unsigned)(mix64(key + (u64)rung * 0x9e3779b97f4a7c15ull) >> 40) + 1u;
  }
  WARPTSP_FN float draw(u64 key, int rung) const { return temperature > 0.0 ? minus_log(number(key, rung)) : 0.0f; }
  // The rung is accepted if its growth is smaller than this.
  WARPTSP_FN double threshold(const SymmetricInstance &instance, float draw) const {
    return temperature > 0.0 ? temperature * (double)draw : -instance.tolerance;
  }
  // What `margin` may be for growth that is smaller than the threshold.
  WARPTSP_FN float filter(const SymmetricInstance &instance, float draw) const {
    return (float)temperature * draw * 1.000002f + (float)instance.slack;
  }
  WARPTSP_FN float most(const SymmetricInstance &instance) const { return filter(instance, largest_draw); }
};

// The temperature falls by a factor after every so many axes.
struct Cooling {
  double temperature, factor;
  long long iterations;  // axes at each temperature
  long long spent;       // of them at the present one

  WARPTSP_FN void advance(int axes = 1) {
    for (spent += axes; spent >= iterations; spent -= iterations) temperature *= factor;
  }
};

}  // namespace warptsp::symmetric
