// The nearest neighbour tour: always on to the nearest city not visited yet. Host code only.
//
// J. L. Bentley, "Fast algorithms for geometric traveling salesman problems", ORSA J. Computing 4 (1992): a k-d tree
// from which visited cities are deleted.
#pragma once
#include <cstdint>
#include <limits>
#include <utility>

#include "space/candidates.h"
#include "tours/fragments.h"
#include "space/kd_tree.h"

namespace warptsp::tours {

// The cities not visited yet, by coordinates.
template <int D, int Norm>
class UnvisitedPoints {
 public:
  bool build(const double *points, int n, int threads, const StopToken &token) {
    if (!tree_.build(points, n, threads, token)) return false;
    const int first_leaf = tree_.first_leaf();
    left_ = Buffer<int>(2 * (size_t)first_leaf);
    place_ = Buffer<int>(n);
    for (int v = first_leaf; v < 2 * first_leaf; ++v) {
      if ((v & 0xfff) == 0 && token.stopped()) return false;
      left_[v] = tree_.leaf_end(v) - tree_.leaf_begin(v);
      for (int k = tree_.leaf_begin(v); k < tree_.leaf_end(v); ++k) place_[tree_.points()[k].city] = k;
    }
    for (int v = first_leaf - 1; v >= 1; --v) left_[v] = left_[2 * v] + left_[2 * v + 1];
    return true;
  }

  // The cities left in a leaf are its first ones.
  void remove(int city) {
    const int leaf = leaf_of(place_[city]);
    space::TreePoint<D> *const points = tree_.points();
    const int from = place_[city], to = tree_.leaf_begin(leaf) + left_[leaf] - 1;
    std::swap(points[from], points[to]);
    place_[points[from].city] = from;
    place_[points[to].city] = to;
    for (int v = leaf; v >= 1; v >>= 1) --left_[v];
  }

  // The nearest of those left, of several the one with the smallest index; -1 if there is none.
  int nearest(int city) {
    const space::TreePoint<D> &from = tree_.points()[place_[city]];
    for (int d = 0; d < D; ++d) origin_[d] = from.at[d];
    best_ = -1;
    distance_ = std::numeric_limits<double>::infinity();
    const int leaf = leaf_of(place_[city]);
    descend(leaf, 0.0);
    for (int v = leaf; v > 1; v >>= 1) descend(v ^ 1, distance_to(v ^ 1));
    return best_;
  }

 private:
  int leaf_of(int place) const {
    const int64_t leaves = tree_.first_leaf();
    return (int)(leaves + (((int64_t)place + 1) * leaves + tree_.size() - 1) / tree_.size() - 1);
  }

  double distance_to(int v) const {
    const space::TreeNode<D> &node = tree_.node(v);
    double least[D];
    for (int d = 0; d < D; ++d) least[d] = std::max(std::max(node.low[d] - origin_[d], origin_[d] - node.high[d]), 0.0);
    return space::norm_of<Norm, D>(least);
  }

  void descend(int v, double distance) {
    if (left_[v] == 0 || distance > distance_) return;
    // Of coincident cities the smallest index; a node that holds none of these need not be opened.
    if (distance == distance_ && tree_.node(v).first_city > best_) return;
    if (tree_.is_leaf(v)) {
      const space::TreePoint<D> *p = tree_.points() + tree_.leaf_begin(v);
      for (const space::TreePoint<D> *const end = p + left_[v]; p < end; ++p) {
        double delta[D];
        for (int d = 0; d < D; ++d) delta[d] = p->at[d] - origin_[d];
        const double found = space::norm_of<Norm, D>(delta);
        if (found < distance_ || (found == distance_ && p->city < best_)) {
          distance_ = found;
          best_ = p->city;
        }
      }
      return;
    }
    const double left = distance_to(2 * v), right = distance_to(2 * v + 1);
    if (left <= right) {
      descend(2 * v, left);
      descend(2 * v + 1, right);
    } else {
      descend(2 * v + 1, right);
      descend(2 * v, left);
    }
  }

  space::KdTree<D> tree_;
  Buffer<int> left_;   // unvisited cities below a node
  Buffer<int> place_;  // of a city in the tree
  double origin_[D];
  double distance_ = 0.0;
  int best_ = -1;
};

// The same from a full matrix.
template <class V>
class UnvisitedRows {
 public:
  UnvisitedRows(const V *matrix, int n) : matrix_(matrix), n_(n), cities_(n), place_(n), left_(n) {
    for (int i = 0; i < n; ++i) cities_[i] = place_[i] = i;
  }
  void remove(int city) {
    const int from = place_[city], last = cities_[--left_];
    cities_[from] = last;
    place_[last] = from;
  }
  int nearest(int city) const {
    const V *const row = matrix_ + (int64_t)city * n_;
    int best = -1;
    for (int k = 0; k < left_; ++k) {
      const int other = cities_[k];
      if (best < 0 || row[other] < row[best] || (row[other] == row[best] && other < best)) best = other;
    }
    return best;
  }

 private:
  const V *matrix_;
  int n_;
  Buffer<int> cities_, place_;
  int left_;
};

// From `start` on (or from an end of the path of fixed edges that it lies on), whole paths at a time.
template <class Unvisited>
bool nearest_neighbor_tour(int n, int start, const int *fixed_edges, int64_t fixed, Unvisited &unvisited,
                           const StopToken &token, int *tour) {
  Fragments paths;
  if (!paths.begin(n, fixed_edges, fixed, token)) return false;
  // A path is entered at its ends only.
  for (int i = 0; i < n && fixed > 0; ++i) {
    if ((i & 0xfff) == 0 && token.stopped()) return false;
    if (paths.is_inner(i)) unvisited.remove(i);
  }
  int city = paths.an_end(start);
  for (int size = 0, polled = 0; size < n;) {
    if (size >= polled) {
      if (token.stopped()) return false;
      polled = size + 256;
    }
    const int first = city;
    city = paths.walk(first, [&](int member) { tour[size++] = member; });
    unvisited.remove(first);
    if (city != first) unvisited.remove(city);
    if (size < n) city = unvisited.nearest(city);
  }
  return true;
}

// `norm` as in space::candidate_lists.
inline bool nearest_neighbor_points(const double *points, int n, int dimensions, int norm, int start,
                                    const int *fixed_edges, int64_t fixed, int threads, const StopToken &token,
                                    int *tour) {
  return space::with_norm(norm, dimensions, [&](auto constants) {
    UnvisitedPoints<constants.D, constants.Norm> unvisited;
    return unvisited.build(points, n, threads, token) &&
           nearest_neighbor_tour(n, start, fixed_edges, fixed, unvisited, token, tour);
  });
}

}  // namespace warptsp::tours
