// A balanced tree of boxes over cities numbered along a space-filling curve, for the host compiler and NVRTC alike: no
// standard library. The numbering is the tree: node 1 is the root, node v has the children 2v and 2v + 1, all leaves
// lie on one level, and node k of level l covers the cities [k n / 2^l, (k + 1) n / 2^l).
#pragma once
#include "common/metric.h"

namespace warptsp::space {

template <int D>
struct BoxIn {
  double low[D], high[D];
};

template <int D>
struct TreeIn {
  static constexpr int leaf_size = 8;  // a leaf holds at most one more

  const double *points;   // rows of D
  const BoxIn<D> *boxes;  // by node, of scaled points
  double scale;           // a power of two that brings the largest coordinate to about 1: squares stay in range
  int n, levels;

  WARPTSP_FN static int levels_for(int n) {
    int levels = 0;
    while (n >> levels > leaf_size) ++levels;
    return levels;
  }
  WARPTSP_FN int begin(int level, long long k) const { return (int)(k * n >> level); }

  WARPTSP_FN int first_leaf() const { return 1 << levels; }
  WARPTSP_FN bool is_leaf(int v) const { return v >= first_leaf(); }
  WARPTSP_FN int leaf_begin(int leaf) const { return begin(levels, leaf - first_leaf()); }
  WARPTSP_FN int leaf_end(int leaf) const { return begin(levels, (long long)leaf - first_leaf() + 1); }
  WARPTSP_FN int leaf_of(int city) const { return first_leaf() + (int)(((((long long)city + 1) << levels) - 1) / n); }
  WARPTSP_FN static int level_of(int v) {
#if defined(__CUDA_ARCH__)
    return 31 - __clz(v);
#else
    int level = 0;
    while (v >> level > 1) ++level;
    return level;
#endif
  }
  WARPTSP_FN double at(int city, int d) const { return points[D * (long long)city + d] * scale; }
};

typedef BoxIn<2> Box;
typedef TreeIn<2> PointTree;

// 2^-e for a largest coordinate of about 2^e. In one place, as it decides which squares vanish.
WARPTSP_FN double scale_for(double largest) {
  if (!(largest > 0.0)) return 1.0;
  int exponent = 0;
  WARPTSP_MATH(frexp)(largest, &exponent);
  exponent = -exponent;
  exponent = exponent > 1000 ? 1000 : exponent < -1000 ? -1000 : exponent;
  return WARPTSP_MATH(ldexp)(1.0, exponent);
}

template <int D>
WARPTSP_FN BoxIn<D> enclose(const BoxIn<D> &a, const BoxIn<D> &b) {
  BoxIn<D> box;
  WARPTSP_UNROLL
  for (int d = 0; d < D; ++d) {
    box.low[d] = a.low[d] < b.low[d] ? a.low[d] : b.low[d];
    box.high[d] = a.high[d] > b.high[d] ? a.high[d] : b.high[d];
  }
  return box;
}

template <int D>
WARPTSP_FN BoxIn<D> leaf_box(const TreeIn<D> &tree, int leaf) {
  const int end = tree.leaf_end(leaf);
  BoxIn<D> box;
  for (int city = tree.leaf_begin(leaf), first = city; city < end; ++city) {
    BoxIn<D> own;
    WARPTSP_UNROLL
    for (int d = 0; d < D; ++d) own.low[d] = own.high[d] = tree.at(city, d);
    box = city == first ? own : enclose(box, own);
  }
  return box;
}

}  // namespace warptsp::space
