// Candidate lists: for every city its nearest neighbours, some of them in each quadrant. Host code only.
//
// Quadrant neighbours: D. S. Johnson and L. A. McGeoch, "Experimental analysis of heuristics for the STSP" (2002).
// A city without neighbours to one side is what makes a search fail on clustered instances, so each quadrant is
// searched to its end, not only among the nearest few dozen.
//
// Order among cities at equal distance from city i: (j - i) mod n ascending. Coincident cities then name each other in
// a ring, where "the smallest index first" would have all of them name the same few.
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "space/kd_tree.h"
#include "space/sectors.h"

namespace warptsp::space {

// On the unit sphere: north-east, north-west, south-west and south-east in the plane that touches it at the city.
struct TangentQuadrants {
  static constexpr int size = 4;
  double east[3], north[3];
  void stand_at(const double *p) {
    const double across = std::sqrt(p[0] * p[0] + p[1] * p[1]);
    if (across > 0.0) {
      east[0] = -p[1] / across;
      east[1] = p[0] / across;
    } else {  // a pole: any two directions do
      east[0] = 0.0;
      east[1] = 1.0;
    }
    east[2] = 0.0;
    north[0] = -p[2] * east[1];
    north[1] = p[2] * east[0];
    north[2] = p[0] * east[1] - p[1] * east[0];
  }
  static double dot(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
  // Below and above every dot(a, delta) of the box also in floating point, as products and sums are rounded monotonically.
  static void enclose(const double *a, const Offsets<3> &box, double &low, double &high) {
    double least[3], most[3];
    for (int d = 0; d < 3; ++d) {
      least[d] = std::min(a[d] * box.low[d], a[d] * box.high[d]);
      most[d] = std::max(a[d] * box.low[d], a[d] * box.high[d]);
    }
    low = least[0] + least[1] + least[2];
    high = most[0] + most[1] + most[2];
  }
  int of(const double *delta) const {
    const double x[2] = {dot(east, delta), dot(north, delta)};
    return Quadrants().of(x);
  }
  bool meets(int sector, const Offsets<3> &box, double *least) const {
    for (int d = 0; d < 3; ++d) least[d] = box.nearest(d);
    Offsets<2> plane;
    enclose(east, box, plane.low[0], plane.high[0]);
    enclose(north, box, plane.low[1], plane.high[1]);
    double ignored[2];
    return Quadrants().meets(sector, plane, ignored);
  }
};

// The search of one thread.
template <int D, int Norm, class Sectors>
class CandidateSearch {
 public:
  CandidateSearch(const KdTree<D> &tree, int count, int per_sector)
      : tree_(tree), count_(count), per_sector_(Sectors::size ? per_sector : 0),
        lists_(Sectors::size * per_sector_ + count) {}

  // Candidates of the city at `position` of the tree, `count` of them, -1 where there are no more cities.
  void find(int leaf, int position, int *row) {
    const TreePoint<D> &from = tree_.points()[position];
    for (int d = 0; d < D; ++d) origin_[d] = from.at[d];
    city_ = from.city;
    sectors_.stand_at(origin_);
    for (Neighbour &entry : lists_) entry = Neighbour{std::numeric_limits<double>::infinity(), end_of_list};
    others_ = count_;
    reach_ = std::numeric_limits<double>::infinity();

    scan(leaf);
    for (int v = leaf; v > 1; v >>= 1) {
      const Offsets<D> box = offsets(v ^ 1);
      const double distance = distance_to(box);
      if (useful(v ^ 1, box, distance)) descend(v ^ 1);
    }
    write(row);
  }

 private:
  static constexpr int end_of_list = std::numeric_limits<int>::max();

  struct Neighbour {
    double distance;
    int step;  // (its index - the city's index) mod n
    bool operator<(const Neighbour &other) const {
      return distance < other.distance || (distance == other.distance && step < other.step);
    }
  };

  int step_to(int city) const { return city >= city_ ? city - city_ : city - city_ + tree_.size(); }

  // No larger than the step to any other city below the node.
  int min_step(const TreeNode<D> &node) const {
    if (city_ >= node.first_city && city_ < node.last_city) return 1;
    return step_to(node.first_city);
  }

  Offsets<D> offsets(int v) const {
    const TreeNode<D> &node = tree_.node(v);
    Offsets<D> box;
    for (int d = 0; d < D; ++d) {
      box.low[d] = node.low[d] - origin_[d];
      box.high[d] = node.high[d] - origin_[d];
    }
    return box;
  }

  double distance_to(const Offsets<D> &box) const {
    double least[D];
    for (int d = 0; d < D; ++d) least[d] = box.nearest(d);
    return norm_of<Norm, D>(least);
  }

  Neighbour *sector(int s) { return lists_.data() + s * per_sector_; }
  Neighbour *others() { return sector(Sectors::size); }

  bool useful(int v, const Offsets<D> &box, double distance) {
    if (distance > reach_) return false;
    const int step = min_step(tree_.node(v));
    if (others_ > 0 && Neighbour{distance, step} < others()[others_ - 1]) return true;
    if (per_sector_ == 0) return false;
    for (int s = 0; s < Sectors::size; ++s) {
      const Neighbour &last = sector(s)[per_sector_ - 1];
      double least[D];
      if (!(distance > last.distance) && sectors_.meets(s, box, least) &&
          Neighbour{norm_of<Norm, D>(least), step} < last)
        return true;
    }
    return false;
  }

  void descend(int v) {
    if (tree_.is_leaf(v)) {
      scan(v);
      return;
    }
    int first = 2 * v, second = 2 * v + 1;
    Offsets<D> near = offsets(first), far = offsets(second);
    double near_distance = distance_to(near), far_distance = distance_to(far);
    if (Neighbour{far_distance, min_step(tree_.node(second))} < Neighbour{near_distance, min_step(tree_.node(first))}) {
      std::swap(first, second);
      std::swap(near, far);
      std::swap(near_distance, far_distance);
    }
    if (useful(first, near, near_distance)) descend(first);
    if (useful(second, far, far_distance)) descend(second);
  }

  void scan(int leaf) {
    const TreePoint<D> *const end = tree_.points() + tree_.leaf_end(leaf);
    for (const TreePoint<D> *p = tree_.points() + tree_.leaf_begin(leaf); p < end; ++p) {
      double delta[D];
      for (int d = 0; d < D; ++d) delta[d] = p->at[d] - origin_[d];
      const double distance = norm_of<Norm, D>(delta);
      if (distance > reach_ || p->city == city_) continue;
      Neighbour found{distance, step_to(p->city)};
      bool changed = false;
      if (per_sector_ > 0) {
        Neighbour *const list = sector(sectors_.of(delta));
        if (found < list[per_sector_ - 1]) {
          // The city that it drives out, if any, is one of the others from now on.
          const Neighbour last = list[per_sector_ - 1];
          insert(list, per_sector_, found);
          found = last;
          if (last.step == end_of_list) --others_;
          changed = true;
        }
      }
      if (others_ > 0 && found < others()[others_ - 1]) {
        insert(others(), others_, found);
        changed = true;
      }
      if (changed) {
        reach_ = others_ > 0 ? others()[others_ - 1].distance : 0.0;
        for (int s = 0; s < Sectors::size && per_sector_ > 0; ++s)
          reach_ = std::max(reach_, sector(s)[per_sector_ - 1].distance);
      }
    }
  }

  static void insert(Neighbour *list, int length, const Neighbour &found) {
    int k = length - 1;
    for (; k > 0 && found < list[k - 1]; --k) list[k] = list[k - 1];
    list[k] = found;
  }

  // All lists in one order.
  void write(int *row) {
    std::sort(lists_.begin(), lists_.begin() + Sectors::size * per_sector_ + others_);
    for (int k = 0; k < count_; ++k) row[k] = lists_[k].step != end_of_list ? city_at(lists_[k].step) : -1;
  }
  int city_at(int step) const { return city_ < tree_.size() - step ? city_ + step : city_ + (step - tree_.size()); }

  const KdTree<D> &tree_;
  const int count_, per_sector_;
  Sectors sectors_;
  double origin_[D];
  int city_ = 0;
  double reach_ = 0.0;  // no city farther away than this can enter a list
  // The nearest of each sector, and the nearest of those that are in no sector's list: so many as the sectors' lists
  // leave places.
  std::vector<Neighbour> lists_;
  int others_ = 0;
};

// Rows of `count` candidates for the `n` cities of `points`. False if the token stopped it.
template <int D, int Norm, class Sectors>
bool find_candidates(const double *points, int n, int count, int per_sector, int threads, const StopToken &token,
                     int *rows) {
  if (n == 0) return true;
  KdTree<D> tree;
  if (!tree.build(points, n, threads, token)) return false;
  const int leaves = tree.first_leaf();
  const int leaves_a_task = std::max(1, std::min(32, leaves / (8 * std::min(threads, 4096))));
  // One search a thread would do; one a task keeps the threads apart, and costs one small allocation in 256 cities.
  return for_each_piece(threads, leaves, leaves_a_task, token, [&](int64_t begin, int64_t end) {
    CandidateSearch<D, Norm, Sectors> search(tree, count, per_sector);
    for (int leaf = leaves + (int)begin; leaf < leaves + (int)end; ++leaf)
      for (int position = tree.leaf_begin(leaf); position < tree.leaf_end(leaf); ++position)
        search.find(leaf, position, rows + (int64_t)tree.points()[position].city * count);
  });
}

// `dimensions` 2 or 3; `norm` 2 Euclidean, 1 Manhattan, 0 maximum; `sphere`: rows are unit vectors.
inline bool candidate_lists(const double *points, int n, int dimensions, int count, int per_sector, int norm,
                            bool sphere, int threads, const StopToken &token, int *rows) {
  if (sphere && per_sector > 0)
    return find_candidates<3, 2, TangentQuadrants>(points, n, count, per_sector, threads, token, rows);
  return with_norm(norm, dimensions, [&](auto constants) {
    constexpr int D = constants.D, Norm = constants.Norm;
    typedef std::conditional_t<D == 2, Quadrants, Octants> Sectors;
    const int each = D == 2 ? per_sector : std::min(per_sector, count / Octants::size);
    return each > 0 ? find_candidates<D, Norm, Sectors>(points, n, count, each, threads, token, rows)
                    : find_candidates<D, Norm, NoSectors>(points, n, count, 0, threads, token, rows);
  });
}

// What orders the neighbours of a city there: between two rows of `dimensions` columns.
inline double nearness_in_norm(int norm, int dimensions, const double *p, const double *q) {
  double delta[3] = {};
  for (int d = 0; d < dimensions; ++d) delta[d] = q[d] - p[d];
  return with_norm(norm, dimensions, [&](auto constants) { return norm_of<constants.Norm, constants.D>(delta); });
}

// The same from any distance function, distance(i, j), by looking at every pair; it knows no quadrants.
template <class Distance>
bool nearest_by_distance(int n, const Distance &distance, int count, int threads, const StopToken &token, int *rows) {
  typedef decltype(distance(0, 0)) Value;
  constexpr int rows_a_task = 8;
  return for_each_piece(threads, n, rows_a_task, token, [&](int64_t first, int64_t last) {
    std::vector<Value> nearest(count);
    for (int city = (int)first; city < last; ++city) {
      int *const row = rows + (int64_t)city * count;
      int found = 0;
      for (int step = 1; step < n; ++step) {
        const int other = step < n - city ? city + step : city + (step - n);
        const Value value = distance(city, other);
        if (found == count && !(value < nearest[count - 1])) continue;
        int k = found < count ? found++ : count - 1;
        for (; k > 0 && value < nearest[k - 1]; --k) {
          nearest[k] = nearest[k - 1];
          row[k] = row[k - 1];
        }
        nearest[k] = value;
        row[k] = other;
      }
      for (int k = found; k < count; ++k) row[k] = -1;
    }
  });
}

}  // namespace warptsp::space
