// The least closed walks through all nodes of a small complete graph with a metric. Host code only.
//
// Held and Karp's dynamic programme (1962): onward[S, k] is the shortest path from the last node through the set S and
// then to the node k. All k of a set at once fill the lanes of vector registers.
#pragma once
#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "common/instruction_sets.h"
#include "common/metric.h"  // WARPTSP_FN

namespace warptsp::proof {

namespace least_walk_detail {

// onward [2^inner, Lanes]; from [Lanes, Lanes]: rows of distances between inner nodes, padded; start [Lanes]: to the
// last node. A row is Lanes / Width registers.
template <int Lanes, int Width>
WARPTSP_FN void fill(int inner, const float *from, const float *start, float *onward) {
  // The compiler takes loops over the lanes apart before it would vectorise them, hence its vector type; one that is
  // wider than the registers it would take apart to single numbers (GCC 14: 28 times slower).
  typedef float Vector __attribute__((vector_size(Width * sizeof(float)), aligned(sizeof(float)), may_alias));
  constexpr int parts = Lanes / Width;
  const auto at = [](auto *first, size_t row, int part) { return first + row * Lanes + part * Width; };
  Vector to_last[parts];
  for (int p = 0; p < parts; ++p) to_last[p] = *(const Vector *)at(start, 0, p);
  // Four sets that differ in the first two nodes go through their other members together.
  constexpr int low = 2, together = 1 << low;
  const unsigned sets = 1u << std::max(low, inner);
  for (unsigned first = 0; first < sets; first += together) {
    Vector best[together][parts];
    for (auto &row : best)
      for (int p = 0; p < parts; ++p) row[p] = to_last[p] + 1e30f;
    const auto take = [&](unsigned s, int j) {
      const float so_far = onward[(size_t)((first + s) ^ 1u << j) * Lanes + j];
      for (int p = 0; p < parts; ++p) {
        const Vector longer = *(const Vector *)at(from, j, p) + so_far;
        best[s][p] = longer < best[s][p] ? longer : best[s][p];
      }
    };
    for (unsigned left = first; left != 0; left &= left - 1) {
      const int j = __builtin_ctz(left);
      for (unsigned s = 0; s < together; ++s) take(s, j);
    }
    if (first == 0)
      for (int p = 0; p < parts; ++p) best[0][p] = to_last[p];
    for (unsigned s = 0; s < together; ++s) {
      for (int j = 0; j < low; ++j)
        if ((s >> j & 1u) != 0) take(s, j);
      for (int p = 0; p < parts; ++p) *(Vector *)at(onward, first + s, p) = best[s][p];
    }
  }
}

#if WARPTSP_HAS_SETS
template <int Lanes>
WARPTSP_AVX512 void fill_avx512(int inner, const float *from, const float *start, float *onward) {
  fill<Lanes, Lanes>(inner, from, start, onward);
}
template <int Lanes>
WARPTSP_AVX2 void fill_avx2(int inner, const float *from, const float *start, float *onward) {
  fill<Lanes, 8>(inner, from, start, onward);
}
#endif

template <int Lanes>
void fill_best(int inner, const float *from, const float *start, float *onward) {
#if WARPTSP_HAS_SETS
  if (instruction_set() == InstructionSet::avx512) return fill_avx512<Lanes>(inner, from, start, onward);
  if (instruction_set() == InstructionSet::avx2) return fill_avx2<Lanes>(inner, from, start, onward);
#endif
  fill<Lanes, 4>(inner, from, start, onward);
}

}  // namespace least_walk_detail

class LeastWalks {
 public:
  static constexpr int max_nodes = 16;

  // The least walk through the nodes with these distances [nodes, nodes], and up to five others that end differently
  // and are no longer than `bound`. Whole distances whose sums stay below 2^24 are added up exactly.
  std::vector<std::vector<int>> find(int nodes, const double *distance, double bound) {
    constexpr size_t most = 6;
    prepare(nodes, distance);
    const int inner = nodes - 1;
    const unsigned full = (1u << inner) - 1;
    std::vector<std::pair<float, int>> ends;
    for (int j = 0; j < inner; ++j) ends.emplace_back(at(full, j) + start_[j], j);
    std::sort(ends.begin(), ends.end());
    std::vector<std::vector<int>> walks;
    for (size_t e = 0; e < ends.size() && e < most && (e == 0 || ends[e].first <= bound); ++e)
      walks.push_back(trace(nodes, ends[e].second));
    return walks;
  }

  // Its length alone, of whole distances.
  int least(int nodes, const std::vector<int> &distance) {
    distance_.assign(distance.begin(), distance.end());
    prepare(nodes, distance_.data());
    const int inner = nodes - 1;
    float best = std::numeric_limits<float>::max();
    for (int j = 0; j < inner; ++j) best = std::min(best, at((1u << inner) - 1, j) + start_[j]);
    return (int)best;
  }

 private:
  // The shortest path from the last node through a set to its member j.
  float at(unsigned set, int j) const { return onward_[(size_t)(set ^ 1u << j) * lanes_ + j]; }

  void prepare(int nodes, const double *distance) {
    const int inner = nodes - 1;
    lanes_ = inner <= 8 ? 8 : 16;
    if (onward_.size() < (size_t)lanes_ << inner) onward_.resize((size_t)lanes_ << inner);
    from_.assign((size_t)lanes_ * lanes_, 0.0f);
    start_.assign(lanes_, 0.0f);
    for (int i = 0; i < inner; ++i) {
      for (int j = 0; j < inner; ++j) from_[(size_t)i * lanes_ + j] = (float)distance[i * nodes + j];
      start_[i] = (float)distance[inner * nodes + i];
    }
    const auto fill = lanes_ == 8 ? least_walk_detail::fill_best<8> : least_walk_detail::fill_best<16>;
    fill(inner, from_.data(), start_.data(), onward_.data());
  }

  std::vector<int> trace(int nodes, int end) const {
    const int inner = nodes - 1;
    std::vector<int> walk{inner};
    unsigned set = (1u << inner) - 1;
    for (int j = end;;) {
      walk.push_back(j);
      set ^= 1u << j;
      if (set == 0) return walk;
      int before = -1;
      float best = std::numeric_limits<float>::max();
      for (int q = 0; q < inner; ++q) {
        if ((set >> q & 1u) == 0) continue;
        const float longer = at(set, q) + from_[(size_t)q * lanes_ + j];
        if (longer < best) {
          best = longer;
          before = q;
        }
      }
      j = before;
    }
  }

  int lanes_ = 8;
  std::vector<float> onward_, from_, start_;
  std::vector<double> distance_;
};

}  // namespace warptsp::proof
