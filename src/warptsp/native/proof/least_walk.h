// The least closed walks through all nodes of a small complete graph with a metric. Host code only.
//
// Held and Karp's dynamic programme (1962): least[S, j] is the shortest path from the last node through the set S to
// its member j. A path is lengthened by all nodes at once, which fills the lanes of a vector register.
#pragma once
#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "common/instruction_sets.h"
#include "common/metric.h"  // WARPTSP_FN

namespace warptsp::proof {

namespace least_walk_detail {

// least [2^inner, Lanes]; from [Lanes, Lanes]: rows of distances between inner nodes, padded; start: to the last node.
template <int Lanes>
WARPTSP_FN void fill(int inner, const float *from, const float *start, float *least) {
  const unsigned sets = 1u << inner;
  for (int j = 0; j < inner; ++j) least[((size_t)1 << j) * Lanes + j] = start[j];
  for (unsigned set = 1; set + 1 < sets; ++set) {
    float best[Lanes];
    for (int k = 0; k < Lanes; ++k) best[k] = 1e30f;
    const float *const here = least + (size_t)set * Lanes;
    for (int j = 0; j < inner; ++j) {
      if ((set >> j & 1u) == 0) continue;
      const float path = here[j];
      const float *const row = from + (size_t)j * Lanes;
      for (int k = 0; k < Lanes; ++k) {
        const float longer = path + row[k];
        best[k] = longer < best[k] ? longer : best[k];
      }
    }
    for (int k = 0; k < inner; ++k)
      if ((set >> k & 1u) == 0) least[(size_t)(set | 1u << k) * Lanes + k] = best[k];
  }
}

template <int Lanes>
inline void fill_baseline(int inner, const float *from, const float *start, float *least) {
  fill<Lanes>(inner, from, start, least);
}

#if WARPTSP_HAS_SETS
template <int Lanes>
WARPTSP_AVX2 void fill_avx2(int inner, const float *from, const float *start, float *least) {
  fill<Lanes>(inner, from, start, least);
}
#endif

}  // namespace least_walk_detail

class LeastWalks {
 public:
  static constexpr int max_nodes = 13;

  struct Walk {
    float length;
    std::vector<int> nodes;
  };

  // The least walk through the nodes with these distances [nodes, nodes], and up to five others that end differently
  // and are no longer than `bound`. Whole distances whose sums stay below 2^24 are added up exactly.
  const std::vector<Walk> &find(int nodes, const double *distance, double bound) {
    constexpr size_t most = 6;
    prepare(nodes, distance);
    const int inner = nodes - 1;
    const unsigned full = (1u << inner) - 1;
    std::vector<std::pair<float, int>> ends;
    for (int j = 0; j < inner; ++j) ends.emplace_back(at(full, j) + start_[j], j);
    std::sort(ends.begin(), ends.end());
    walks_.clear();
    for (size_t e = 0; e < ends.size() && e < most; ++e) {
      if (e > 0 && ends[e].first > bound) break;
      walks_.push_back({ends[e].first, trace(nodes, ends[e].second)});
    }
    return walks_;
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
  float at(unsigned set, int j) const { return least_[(size_t)set * lanes_ + j]; }

  void prepare(int nodes, const double *distance) {
    const int inner = nodes - 1;
    lanes_ = inner <= 8 ? 8 : 16;
    if (least_.empty()) least_.resize((size_t)16 << (max_nodes - 1));
    from_.assign((size_t)lanes_ * lanes_, 0.0f);
    start_.assign(lanes_, 0.0f);
    for (int i = 0; i < inner; ++i) {
      for (int j = 0; j < inner; ++j) from_[(size_t)i * lanes_ + j] = (float)distance[i * nodes + j];
      start_[i] = (float)distance[inner * nodes + i];
    }
    using namespace least_walk_detail;
#if WARPTSP_HAS_SETS
    if (instruction_set() != InstructionSet::baseline) {
      if (lanes_ == 8)
        fill_avx2<8>(inner, from_.data(), start_.data(), least_.data());
      else
        fill_avx2<16>(inner, from_.data(), start_.data(), least_.data());
      return;
    }
#endif
    if (lanes_ == 8)
      fill_baseline<8>(inner, from_.data(), start_.data(), least_.data());
    else
      fill_baseline<16>(inner, from_.data(), start_.data(), least_.data());
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
  std::vector<float> least_, from_, start_;
  std::vector<double> distance_;
  std::vector<Walk> walks_;
};

}  // namespace warptsp::proof
