// Counter-based random numbers: a stream is named by (seed, round, index), so no two sub-problems share one and
// the order in which threads run cannot matter.
#pragma once
#include "common/metric.h"  // WARPTSP_FN

#if !defined(__CUDACC_RTC__)
#include <cstring>
#endif

namespace warptsp {

// SplitMix64's finaliser (Steele, Lea, Flood 2014).
WARPTSP_FN u64 mix64(u64 z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

// -ln(u / 2^24) for u from 1 to 2^24, to about 1e-6, and more than 0: with the basic operations of single precision,
// whose results are the same on every processor, which a library's logarithm is not.
WARPTSP_FN float minus_log(unsigned u) {
  const float value = (float)u;  // exact
#if defined(__CUDA_ARCH__)
  const int bits = __float_as_int(value);
  const float m = __int_as_float((bits & 0x7fffff) | 0x3f800000);
#else
  int bits;
  memcpy(&bits, &value, sizeof bits);
  const int mantissa = (bits & 0x7fffff) | 0x3f800000;
  float m;
  memcpy(&m, &mantissa, sizeof m);
#endif
  const int exponent = (bits >> 23) - 127;  // value = m 2^exponent, m from 1 to 2
  const float z = (m - 1.0f) / (m + 1.0f), zz = z * z;
  const float series = 1.0f + zz * (1.0f / 3 + zz * (1.0f / 5 + zz * (1.0f / 7 + zz * (1.0f / 9 + zz * (1.0f / 11)))));
  const float w = (float)(24 - exponent) * 0.69314718f - 2.0f * z * series;
  return w > 1e-8f ? w : 1e-8f;  // so that what costs nothing is always accepted
}

class Random {
 public:
  WARPTSP_FN Random(u64 seed, u64 round, u64 index) : state_(mix64(mix64(mix64(seed) + round) + index)) {}
  WARPTSP_FN u64 next() { return mix64(state_ += 0x9e3779b97f4a7c15ull); }
  // Uniform in [0, bound), bound > 0.
  WARPTSP_FN int below(int bound) { return (int)(((next() >> 32) * (u64)bound) >> 32); }
  // Uniform in (0, 1].
  WARPTSP_FN float unit() { return (float)((next() >> 40) + 1) * (1.0f / 16777216.0f); }
  // -ln of that.
  WARPTSP_FN float minus_log() { return warptsp::minus_log((unsigned)(next() >> 40) + 1u); }

 private:
  u64 state_;
};

}  // namespace warptsp
