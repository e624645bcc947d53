// A balanced k-d tree with tight boxes over cities. Host code only.
//
// J. L. Bentley, "K-d trees for semidynamic point sets", SoCG 1990. The tree is implicit: node 1 is the root, node v
// has the children 2v and 2v + 1, all leaves lie on one level, and node k of level l covers the cities
// [k n / 2^l, (k + 1) n / 2^l) of `points`.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "common/parallel.h"
#include "common/stop_token.h"
#include "space/point_tree.h"

namespace warptsp::space {

template <int D>
struct TreePoint {
  double at[D];
  int city;
};

template <int D>
struct TreeNode {
  double low[D], high[D];
  int first_city, last_city;  // the smallest and the largest index below
};

template <int D>
class KdTree {
 public:
  // `rows` holds `n` rows of D coordinates. False, with an unusable tree, if the token stopped it.
  bool build(const double *rows, int n, int threads, const StopToken &token);

  int size() const { return n_; }
  int first_leaf() const { return 1 << levels_; }
  bool is_leaf(int node) const { return node >= first_leaf(); }
  int leaf_begin(int leaf) const { return begin(levels_, leaf - first_leaf()); }
  int leaf_end(int leaf) const { return begin(levels_, leaf - first_leaf() + 1); }
  const TreeNode<D> &node(int v) const { return nodes_[v]; }
  TreePoint<D> *points() { return points_.data(); }
  const TreePoint<D> *points() const { return points_.data(); }

 private:
  int begin(int level, int k) const { return (int)((int64_t)k * n_ >> level); }
  bool split(int level, int k, int depth, const StopToken &token);
  bool select(TreePoint<D> *from, TreePoint<D> *to, TreePoint<D> *middle, int axis, const StopToken &token);

  int n_ = 0, levels_ = 0;
  Buffer<TreePoint<D>> points_;
  Buffer<TreeNode<D>> nodes_;
};

template <int D>
bool KdTree<D>::build(const double *rows, int n, int threads, const StopToken &token) {
  n_ = n;
  levels_ = PointTree::levels_for(n);
  points_ = Buffer<TreePoint<D>>(n);
  nodes_ = Buffer<TreeNode<D>>((size_t)2 << levels_);

  // A power of two brings the largest coordinate to about 1, exactly, so that squares neither overflow nor vanish.
  constexpr int chunk = 1 << 16;
  double largest = 0.0;
  const bool known = for_each_piece(1, n, chunk, token, [&](int64_t from, int64_t to) {
    for (int64_t i = from * D; i < to * D; ++i) largest = std::max(largest, std::fabs(rows[i]));
  });
  if (!known) return false;
  const double scale = scale_for(largest);
  const bool filled = for_each_piece(threads, n, chunk, token, [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; ++i) {
      for (int d = 0; d < D; ++d) points_[i].at[d] = rows[i * D + d] * scale;
      points_[i].city = (int)i;
    }
  });
  if (!filled) return false;

  // The top of the tree one node after another, then its subtrees side by side.
  int top = 0;
  if (threads > 1)
    while (top < levels_ && top < 10 && (1 << top) < 4 * threads) ++top;
  for (int level = 0; level < top; ++level)
    if (!all_tasks(threads, 1 << level, [&](int k) { return split(level, k, 1, token); })) return false;
  return all_tasks(threads, 1 << top, [&](int k) { return split(top, k, levels_ + 1, token); });
}

// Makes node k of `level` and `depth` - 1 levels below it.
template <int D>
bool KdTree<D>::split(int level, int k, int depth, const StopToken &token) {
  TreePoint<D> *const from = points_.data() + begin(level, k);
  TreePoint<D> *const to = points_.data() + begin(level, k + 1);
  TreeNode<D> node;
  for (int d = 0; d < D; ++d) node.low[d] = node.high[d] = from->at[d];
  node.first_city = node.last_city = from->city;
  for (TreePoint<D> *p = from + 1; p < to; ++p) {
    for (int d = 0; d < D; ++d) {
      node.low[d] = std::min(node.low[d], p->at[d]);
      node.high[d] = std::max(node.high[d], p->at[d]);
    }
    node.first_city = std::min(node.first_city, p->city);
    node.last_city = std::max(node.last_city, p->city);
  }
  nodes_[(1 << level) + k] = node;
  if (level == levels_) return true;

  int axis = 0;
  for (int d = 1; d < D; ++d)
    if (node.high[d] - node.low[d] > node.high[axis] - node.low[axis]) axis = d;
  if (node.high[axis] > node.low[axis]) {
    if (!select(from, to, points_.data() + begin(level + 1, 2 * k + 1), axis, token)) return false;
  } else {
    // Coincident cities: the order of their indices, by which a search can still tell them apart.
    const auto by_city = [](const TreePoint<D> &a, const TreePoint<D> &b) { return a.city < b.city; };
    if (!std::is_sorted(from, to, by_city)) std::sort(from, to, by_city);
  }
  if (depth == 1) return true;
  return split(level + 1, 2 * k, depth - 1, token) && split(level + 1, 2 * k + 1, depth - 1, token);
}

// Puts the element of rank `middle` into its place, smaller ones before and larger ones after it. Long ranges are
// partitioned around a sampled element close to that rank, and poll the token on the way.
template <int D>
bool KdTree<D>::select(TreePoint<D> *from, TreePoint<D> *to, TreePoint<D> *middle, int axis, const StopToken &token) {
  constexpr int samples = 255;
  while (to - from > 8192) {
    if (token.stopped()) return false;
    double sample[samples];
    const int64_t step = (to - from) / samples;
    for (int i = 0; i < samples; ++i) sample[i] = from[i * step].at[axis];
    const int rank = (int)(((middle - from) * (int64_t)samples) / (to - from));
    std::nth_element(sample, sample + rank, sample + samples);
    const double pivot = sample[rank];
    TreePoint<D> *low = from, *high = to - 1;
    int64_t poll = 1 << 16;
    while (true) {
      while (low->at[axis] < pivot) ++low;
      while (high->at[axis] > pivot) --high;
      if (low >= high) break;
      std::swap(*low++, *high--);
      if (--poll == 0) {
        if (token.stopped()) return false;
        poll = 1 << 16;
      }
    }
    // [from, low) is not above the pivot and [low, to) is not below it.
    if (low == from) {  // the pivot was the only smallest element, and is now first
      if (middle == from) return true;
      ++from;
    } else if (middle < low) {
      to = low;
    } else {
      from = low;
    }
  }
  std::nth_element(from, middle, to,
                   [axis](const TreePoint<D> &a, const TreePoint<D> &b) { return a.at[axis] < b.at[axis]; });
  return true;
}

}  // namespace warptsp::space
