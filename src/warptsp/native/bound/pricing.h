// Which pairs of cities, of all there are, a spanning tree has wrongly left out. Host code only.
//
// A pair is violated if its length is less than the longest edge between its cities on the tree. By the cycle property
// the shortest spanning tree of the complete graph is that of the tree's edges and all violated pairs. Points: a k-d
// tree is joined with itself, and two boxes are left alone if their distance and smallest potentials add up to no less
// than the longest edge between any of their cities. A matrix is looked through.
#pragma once
#include <atomic>
#include <cmath>
#include <vector>

#include "bound/path_maxima.h"
#include "bound/whole_distances.h"
#include "space/point_tree.h"

namespace warptsp::bound {

// What was found: all violated pairs, ascending, or some of them if they were too many.
struct Violated {
  std::vector<uint64_t> pairs;
  bool complete = true;
};

// What work(task, add, full) adds, by add(a, b), until full(). Each task has an equal share of the limit, which is about
// the largest number of pairs wanted, so that the threads do not matter. Not complete if the token stops it.
template <class Work>
Violated violated_by_task(int tasks, int64_t limit, int threads, const StopToken &token, const Work &work) {
  std::vector<std::vector<uint64_t>> found(tasks);
  const size_t share = (size_t)std::max<int64_t>(4096, limit / std::max(1, tasks));
  std::atomic<bool> complete{true};
  for_each_task(threads, tasks, [&](int task) {
    std::vector<uint64_t> &own = found[task];
    const auto full = [&] { return own.size() >= share; };
    if (!complete.load(std::memory_order_relaxed) || token.stopped())
      complete = false;
    else
      work(task, [&](int a, int b) { own.push_back(edge_key(a, b)); }, full);
  });
  Violated all;
  all.complete = complete;
  for (const std::vector<uint64_t> &part : found) {
    all.pairs.insert(all.pairs.end(), part.begin(), part.end());
    if (part.size() >= share) all.complete = false;
  }
  std::sort(all.pairs.begin(), all.pairs.end());
  return all;
}

// The two shortest edges at a city, and where they lead.
struct TwoShortest {
  int64_t first = INT64_MAX, second = INT64_MAX;
  int first_to = -1, second_to = -1;
  void add(int64_t length, int to) {
    if (length < first) {
      second = first;
      second_to = first_to;
      first = length;
      first_to = to;
    } else if (length < second) {
      second = length;
      second_to = to;
    }
  }
};

// Cities numbered by the leaves of a k-d tree: node k of level l covers [k n / 2^l, (k + 1) n / 2^l), as in point_tree.h.
template <int D>
class PointPricing {
 public:
  PointPricing(const PointDistances<D> &distances, int n)
      : distances_(distances), tree_{distances.rows, nullptr, 1.0, n, space::TreeIn<D>::levels_for(n)},
        nodes_(2 * (size_t)tree_.first_leaf()) {
    for (int v = (int)nodes_.size() - 1; v >= 1; --v) {
      space::BoxIn<D> &box = nodes_[v];
      box = tree_.is_leaf(v) ? leaf_box(tree_, v) : space::enclose<D>(nodes_[2 * v], nodes_[2 * v + 1]);
    }
  }

  const PointDistances<D> &distances() const { return distances_; }

  Violated price(const int *potential, const PathMaxima &maxima, int64_t limit, int threads, const StopToken &token) {
    potential_ = potential;
    maxima_ = &maxima;
    refresh();
    const std::vector<Pair> pairs = tasks();
    return violated_by_task((int)pairs.size(), limit, threads, token, [&](int task, const auto &add, const auto &full) {
      join(pairs[task].a, pairs[task].b, add, full);
    });
  }

  // The shortest edges from `city` to all others but `left_out`; after price() with the same potentials.
  TwoShortest shortest(int city, int left_out) const {
    TwoShortest found;
    look(1, city, left_out, found);
    return found;
  }

 private:
  struct Node : space::BoxIn<D> {
    int potential;                // the smallest
    int first_place, last_place;  // of the tree's order
  };
  struct Pair {
    int a, b;
  };

  void refresh() {
    for (int v = (int)nodes_.size() - 1; v >= 1; --v) {
      Node &node = nodes_[v];
      if (tree_.is_leaf(v)) {
        node.potential = node.first_place = INT_MAX;
        node.last_place = -1;
        for (int city = tree_.leaf_begin(v); city < tree_.leaf_end(v); ++city) {
          node.potential = std::min(node.potential, potential_[city]);
          node.first_place = std::min(node.first_place, maxima_->place(city));
          node.last_place = std::max(node.last_place, maxima_->place(city));
        }
      } else {
        const Node &left = nodes_[2 * v], &right = nodes_[2 * v + 1];
        node.potential = std::min(left.potential, right.potential);
        node.first_place = std::min(left.first_place, right.first_place);
        node.last_place = std::max(left.last_place, right.last_place);
      }
    }
  }

  // No city of one box is nearer to one of the other, in whole numbers.
  int64_t box_distance(const double *low, const double *high, const Node &b) const {
    double gap[D];
    const double origin[D] = {};
    for (int d = 0; d < D; ++d) gap[d] = std::max(0.0, std::max(low[d] - b.high[d], b.low[d] - high[d]));
    const MetricKind kind = distances_.kind;
    if (D == 3 && (facts_of(kind).space == Space::angles)) {
      // The first angle is one of a circle: either end of the range of differences may be the nearer one.
      const double widest = std::max(high[0] - b.low[0], b.high[0] - low[0]);
      const auto around = [](double angle) { return std::min(angle, std::fabs(angle - 360.0)); };
      gap[0] = gap[0] <= 360.0 && widest >= 360.0 ? 0.0 : std::min(around(gap[0]), around(widest));
    }
    if (D == 3 && on_sphere(kind))  // the arc sine may fail to be monotone in its last place
      for (int d = 0; d < D; ++d) gap[d] *= 1.0 - 1e-12;
    return distances_.whole(distances_.between(origin, gap));
  }

  bool may_hold(int a, int b) const {
    const Node &p = nodes_[a], &q = nodes_[b];
    const int from = std::min(p.first_place, q.first_place), to = std::max(p.last_place, q.last_place);
    return from < to && box_distance(p.low, p.high, q) + p.potential + q.potential < maxima_->between(from, to);
  }

  // Pairs of nodes some levels down whose joins, side by side, are all the work.
  std::vector<Pair> tasks() const {
    constexpr size_t enough = 256;
    std::vector<Pair> pairs{{1, 1}}, next;
    for (int level = 0; level < tree_.levels && pairs.size() < enough; ++level) {
      next.clear();
      for (const Pair &pair : pairs)
        split(pair, [&](int a, int b) {
          if (may_hold(a, b)) next.push_back({a, b});
        });
      pairs.swap(next);
    }
    return pairs;
  }

  template <class Visit>
  void split(const Pair &pair, const Visit &visit) const {
    const int a = pair.a, b = pair.b;
    visit(2 * a, 2 * b);
    visit(2 * a, 2 * b + 1);
    if (a != b) visit(2 * a + 1, 2 * b);
    visit(2 * a + 1, 2 * b + 1);
  }

  template <class Add, class Full>
  void join(int a, int b, const Add &add, const Full &full) const {
    if (full() || !may_hold(a, b)) return;
    if (!tree_.is_leaf(a)) {
      split({a, b}, [&](int c, int d) { join(c, d, add, full); });
      return;
    }
    const Node &q = nodes_[b];
    for (int i = tree_.leaf_begin(a); i < tree_.leaf_end(a); ++i) {
      const int place = maxima_->place(i);
      const int from = std::min(place, q.first_place), to = std::max(place, q.last_place);
      if (from >= to) continue;
      const double *const p = distances_.at(i);
      const int longest = maxima_->between(from, to);
      if (box_distance(p, p, q) + potential_[i] + q.potential >= longest) continue;
      for (int j = a == b ? i + 1 : tree_.leaf_begin(b); j < tree_.leaf_end(b); ++j) {
        const int64_t length = distances_(i, j) + potential_[i] + potential_[j];
        if (length < longest && length < maxima_->between_cities(i, j)) add(i, j);
      }
    }
  }

  void look(int v, int city, int left_out, TwoShortest &found) const {
    const Node &node = nodes_[v];
    const double *const p = distances_.at(city);
    if (box_distance(p, p, node) + potential_[city] + node.potential >= found.second) return;
    if (!tree_.is_leaf(v)) {
      int near = 2 * v, far = near + 1;
      if (box_distance(p, p, nodes_[far]) < box_distance(p, p, nodes_[near])) std::swap(near, far);
      look(near, city, left_out, found);
      look(far, city, left_out, found);
      return;
    }
    for (int j = tree_.leaf_begin(v); j < tree_.leaf_end(v); ++j)
      if (j != city && j != left_out) found.add(distances_(city, j) + potential_[city] + potential_[j], j);
  }

  const PointDistances<D> distances_;
  const space::TreeIn<D> tree_;
  std::vector<Node> nodes_;
  const int *potential_ = nullptr;
  const PathMaxima *maxima_ = nullptr;
};

template <class V>
class MatrixPricing {
 public:
  MatrixPricing(const MatrixDistances<V> &distances, int n) : distances_(distances), n_(n) {}

  const MatrixDistances<V> &distances() const { return distances_; }

  Violated price(const int *potential, const PathMaxima &maxima, int64_t limit, int threads, const StopToken &token) {
    potential_ = potential;
    constexpr int rows = 16;
    return violated_by_task((n_ + rows - 1) / rows, limit, threads, token,
                            [&](int task, const auto &add, const auto &full) {
                              for (int i = task * rows; i < std::min(n_, (task + 1) * rows) && !full(); ++i)
                                for (int j = i + 1; j < n_; ++j)
                                  if (distances_(i, j) + potential[i] + potential[j] < maxima.between_cities(i, j))
                                    add(i, j);
                            });
  }

  TwoShortest shortest(int city, int left_out) const {
    TwoShortest found;
    for (int j = 0; j < n_; ++j)
      if (j != city && j != left_out) found.add(distances_(city, j) + potential_[city] + potential_[j], j);
    return found;
  }

 private:
  const MatrixDistances<V> distances_;
  const int n_;
  const int *potential_ = nullptr;
};

}  // namespace warptsp::bound
