// The fast scan of the climbers on a GPU: the best 2-opt move by float distances, with one square root and about eight
// and a half instructions a move. Compiled for the host, too, for tests.
//
// Moves are those of two_opt_scan.h: edges e and e + k, 2 <= k <= n / 2. A thread takes R values of k and a stretch of
// e. From e to e + 1 its R distances d(e, e + k) become d(e + 1, e + k + 1): each is the second of one move and the
// first of the next. It keeps the R cities that it measures to in registers, of which each step replaces one; the loop
// is unrolled R times, so that the registers rotate in place. All threads do the same number of steps.
#pragma once
#include "common/metric.h"

namespace warptsp::exhaustive {

// Distances as the scan adds them up. Rounded ones are integers: 2^23 + d has the rounded d in its low bits, so one
// addition does it; sums below have as many distances added as subtracted, and the bias is gone.
template <Rounding rounding>
struct ScanValue {
  typedef int Type;
  static constexpr int most = 0x7fffffff;
  WARPTSP_FN static int lesser(int a, int b) { return b < a ? b : a; }
  WARPTSP_FN static int from(float d) {
#if defined(__CUDA_ARCH__)
    if (rounding == Rounding::nearest) return __float_as_int(__fadd_rn(d, 8388608.0f));
    if (rounding == Rounding::down) return __float_as_int(__fadd_rd(d, 8388608.0f));
    return __float_as_int(__fadd_ru(d, 8388608.0f));
#else
    if (rounding == Rounding::nearest) return (int)(d + 0.5f);
    const int below = (int)d;
    return rounding == Rounding::down || (float)below == d ? below : below + 1;
#endif
  }
};
template <>
struct ScanValue<Rounding::none> {
  typedef float Type;
  static constexpr float most = 3.0e38f;
  WARPTSP_FN static float lesser(float a, float b) {
#if defined(__CUDA_ARCH__)
    return fminf(a, b);  // one instruction
#else
    return b < a ? b : a;
#endif
  }
  WARPTSP_FN static float from(float d) { return d; }
};

// A position of the tour: where its city is, and the edge that begins there.
template <class Value>
struct alignas(16) Place {
  float x, y;
  Value edge;
  int city;
};

template <Rounding rounding>
struct RingScan {
  typedef typename ScanValue<rounding>::Type Value;
  typedef exhaustive::Place<Value> Place;

  WARPTSP_FN static Value distance(float dx, float dy) {
#if defined(__CUDA_ARCH__)
    float squares = fmaf(dx, dx, dy * dy);
#else
    float squares = dx * dx + dy * dy;
#endif
    if (rounding == Rounding::att) squares *= 0.1f;
    return ScanValue<rounding>::from(approximate_root(squares));
  }
  WARPTSP_FN static Value distance(const Place &a, const Place &b) { return distance(b.x - a.x, b.y - a.y); }

  // What is read past position n - 1.
  WARPTSP_FN static constexpr int past(int R) { return 2 * R; }

  WARPTSP_FN static Place read(const Place *places, int p) {
#if defined(__CUDA_ARCH__)
    // 16 bytes at once, though the city's number is not wanted.
    const float4 v = *reinterpret_cast<const float4 *>(places + p);
    Place place;
    place.x = v.x;
    place.y = v.y;
    if (sizeof(Value) == sizeof(float) && rounding == Rounding::none)
      place.edge = (Value)v.z;
    else
      place.edge = (Value)__float_as_int(v.z);
    place.city = 0;
    return place;
#else
    return places[p];
#endif
  }

  // Moves (edge, reach + r), 0 <= r < R, of `steps` edges from `edge` on, a multiple of R. `best` is replaced by a
  // smaller delta, and `where` by the edge with which its round of R began: the first one of several.
  template <int R>
  WARPTSP_FN static void along(const Place *places, int n, int reach, int edge, int steps, Value &best, int &where) {
    float x[R], y[R];
    Value edges[R], d[R];
    int j = edge + reach < n ? edge + reach : edge + reach - n;
    Place own = read(places, edge);
    WARPTSP_UNROLL
    for (int r = 0; r < R; ++r) {
      const Place other = read(places, j + r);
      x[r] = other.x;
      y[r] = other.y;
      edges[r] = other.edge;
      d[r] = distance(own, other);
    }
    Value own_edge = own.edge;
    for (const int end = edge + steps; edge < end; edge += R) {
      Value round = ScanValue<rounding>::most;
      WARPTSP_UNROLL
      for (int u = 0; u < R; ++u) {
        own = read(places, edge + u + 1);
        const Place coming = read(places, j + R + u);
        Value least = ScanValue<rounding>::most;
        WARPTSP_UNROLL
        for (int r = 0; r < R; ++r) {
          const int at = (u + r + 1) % R;
          const Value other_edge = edges[(u + r) % R];
          if (r == R - 1) {
            x[at] = coming.x;
            y[at] = coming.y;
            edges[at] = coming.edge;
          }
          const Value next = distance(x[at] - own.x, y[at] - own.y);
          const Value delta = d[r] + (next - other_edge);
          least = ScanValue<rounding>::lesser(least, delta);
          d[r] = next;
        }
        least = least - own_edge;
        round = ScanValue<rounding>::lesser(round, least);
        own_edge = own.edge;
      }
      if (round < best) {
        best = round;
        where = edge;
      }
      j = j + R < n ? j + R : j + R - n;
    }
  }

  // The delta of one move, to the last bit as above.
  WARPTSP_FN static Value delta(const Place *places, int n, int edge, int reach) {
    const int j = edge + reach < n ? edge + reach : edge + reach - n;
    const Value d = distance(places[edge], places[j]), next = distance(places[edge + 1], places[j + 1]);
    return (d + (next - places[j].edge)) - places[edge].edge;
  }
};

// The moves in shares: `strips` times R reaches, the last strip moved back to end with n / 2, and `segments` stretches
// of `steps` edges, the last one moved back to end with n - 1. What two shares have in common has one delta. A thread
// takes every so many shares, at least `strips`, so that each of its shares has larger edges than the one before, and of
// equal deltas the first one found is that of the lowest number.
struct RingShares {
  int n, strips, segments, steps;
  WARPTSP_FN bool has(int share) const { return share < strips * segments; }
  template <int R>
  WARPTSP_FN int reach(int share) const {
    const int own = 2 + share % strips * R, last = n / 2 - R + 1;
    return own < last ? own : last;
  }
  WARPTSP_FN int edge(int share) const {
    const int own = share / strips * steps, last = n - steps;
    return own < last ? own : last;
  }
};

// The number of a move, 32 bits for each link.
typedef unsigned long long RingNumber;
constexpr RingNumber no_move = ~(RingNumber)0;
WARPTSP_FN RingNumber ring_number(int edge, int reach) { return (RingNumber)edge << 32 | (RingNumber)reach; }
WARPTSP_FN int ring_edge(RingNumber number) { return (int)(number >> 32); }
WARPTSP_FN int ring_reach(RingNumber number) { return (int)(number & 0xffffffffu); }

// The edges that a move takes out, the one that comes first in the tour first.
WARPTSP_FN void edges_of(RingNumber number, int n, int &first, int &second) {
  const int edge = ring_edge(number), other = edge + ring_reach(number);
  first = other < n ? edge : other - n;
  second = other < n ? other : edge;
}
// The number of the move that takes out edges i and j, i + 2 <= j < n.
WARPTSP_FN RingNumber number_of(int i, int j, int n) {
  return 2 * (j - i) <= n ? ring_number(i, j - i) : ring_number(j, n - (j - i));
}

}  // namespace warptsp::exhaustive
