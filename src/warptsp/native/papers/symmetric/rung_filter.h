// Whether a rung is accepted, on a GPU: in single precision wherever that leaves no doubt, else in the exact arithmetic
// of symmetric.h. For the device compiler alone.
#pragma once
#include "cuda/blocks.h"
#include "papers/symmetric/symmetric.h"

namespace warptsp::symmetric {

__device__ __forceinline__ float between(float2 a, float2 b) {
  const float x = a.x - b.x, y = a.y - b.y;
  return approximate_root(__fmaf_rn(x, x, y * y));
}

// About how much the tour grows if edges of this length give way to ac and bd, rounded down.
__device__ __forceinline__ float margin(float ac, float bd, float edges) { return (ac + bd) * less - edges * more; }

// The distance of whole places as the metric rounds it: the one single precision finds, or one beside it. Integers
// decide, without doubt: on a lattice many distances lie just where rounding jumps.
__device__ __forceinline__ int round_whole(MetricKind kind, float2 a, float2 b, float distance) {
  const long long x = (int)(a.x - b.x), y = (int)(a.y - b.y), square = x * x + y * y;
  long long f = (int)(kind == MetricKind::euc_2d ? distance + 0.5f : distance);
  if (kind == MetricKind::euc_2d) return (int)(f + (square > f * f + f) - (f > 0 && square < f * f - f + 1));
  f += (square >= (f + 1) * (f + 1)) - (square < f * f);  // the square root, rounded down
  return (int)(f + (kind == MetricKind::ceil_2d && square > f * f));
}

// The distance as the metric rounds it, if single precision leaves no doubt about that.
__device__ __forceinline__ bool round_surely(const SymmetricInstance &instance, float distance, float &rounded) {
  const float v = instance.kind == MetricKind::euc_2d ? distance + 0.5f : distance;
  const float below = floorf(v), rest = v - below, error = (float)instance.place_error * more + v * (1.0f / (1 << 20));
  const bool up = instance.kind == MetricKind::ceil_2d || instance.kind == MetricKind::att;
  rounded = up ? below + 1.0f : below;
  return rest > error && rest < 1.0f - error;
}

// -ln(u / 2^24), off by no more than draw_error: 24 times 2^-22 of the logarithm, and some to spare.
constexpr float draw_error = 2e-5f;
__device__ __forceinline__ float about_draw(unsigned u) {
  float logarithm;
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(logarithm) : "f"((float)u));
  return (24.0f - logarithm) * 0.69314718f;
}

struct Rung {
  int a, b, c, d;  // cities: of the left side at levels k + 1 and k, of the right side at k and k + 1
  float ab, cd;
};

// As the CPU does it; out of line, so that those who need it not keep their registers.
__device__ __noinline__ double exact_threshold(const SymmetricInstance &instance, double temperature, unsigned u) {
  const Acceptance acceptance{temperature, 0, 0};
  return acceptance.threshold(instance, temperature > 0.0 ? minus_log(u) : 0.0f);
}
// The lengths of the two edges that an accepted rung makes; of one that is not accepted the first is negative.
__device__ __noinline__ float2 decide_exactly(const SymmetricInstance &instance, Rung rung, double temperature,
                                              unsigned u) {
  const float2 refused = {-1, -1};
  if (instance.kept(rung.a, rung.b) || instance.kept(rung.c, rung.d)) return refused;
  double ac, bd;
  const double growth = instance.growth(rung.a, rung.b, rung.c, rung.d, rung.ab, rung.cd, ac, bd);
  return growth < exact_threshold(instance, temperature, u) ? make_float2((float)ac, (float)bd) : refused;
}

// A rung as the filter sees it: the places of its cities, its edges, the distances that would replace them, and by how
// much the tour grows then, at least. Nothing of it is known where the filter does not work.
struct Planar {
  float2 a, b, c, d;
  float ab, cd, ac, bd, about;

  // Whether the tour grows by more than the limit.
  __device__ bool exceeds(float limit) {
    ac = between(a, c);
    bd = between(b, d);
    about = margin(ac, bd, ab + cd);
    return about > limit;
  }
};

constexpr float largest_whole = 1 << 22;  // up to here single precision is off by less than 1

// Whether a rung that the filter let pass is accepted; `cities` looks up those of the rung. Single precision and whole
// numbers decide wherever they leave no doubt; they are a tenth of the latency of what decides then.
template <class Cities>
__device__ __forceinline__ bool accepts(const SymmetricInstance &instance, const Planar &rung,
                                        const Acceptance &acceptance, u64 key, int k, float2 &edges,
                                        const Cities &cities) {
  const bool hot = acceptance.temperature > 0.0;
  const float temperature = (float)acceptance.temperature;
  const unsigned u = hot ? acceptance.number(key, k) : 1u << 24;
  const float draw = hot ? about_draw(u) : 0.0f;
  if (instance.planar) {
    if (hot && rung.about > acceptance.filter(instance, draw + draw_error)) return false;
    if (instance.whole_edges) {
      // An edge that must stay has not come so far.
      bool sure = round_surely(instance, rung.ac, edges.x) && round_surely(instance, rung.bd, edges.y);
      if (!sure && instance.planar == 2 && rung.ac < largest_whole && rung.bd < largest_whole) {
        edges = make_float2((float)round_whole(instance.kind, rung.a, rung.c, rung.ac),
                            (float)round_whole(instance.kind, rung.b, rung.d, rung.bd));
        sure = true;
      }
      if (sure) {
        const int growth = (int)edges.x + (int)edges.y - (int)rung.ab - (int)rung.cd;
        if (!hot) return (double)growth < -instance.tolerance;
        const float spare = temperature * draw - (float)growth;
        if (fabsf(spare) > temperature * draw_error) return spare > 0;
        return (double)growth < exact_threshold(instance, acceptance.temperature, u);
      }
    }
  }
  edges = decide_exactly(instance, cities(), acceptance.temperature, u);
  return edges.x >= 0;
}

}  // namespace warptsp::symmetric
