// Candidate lists of cities in the plane and in space, one city at a time, for the host compiler and NVRTC alike: no standard
// library. The lists are those of candidates.h, which says what is in them and in which order; here their lengths are
// known to the compiler, so that a GPU keeps them in registers.
#pragma once
#include "space/point_tree.h"
#include "space/sectors.h"

namespace warptsp::space {

// The `Length` nearest so far, in order of distance, then of the step from the searching city.
template <int Length>
struct NearestList {
  static constexpr int no_step = 0x7fffffff;
  static constexpr double beyond = 1e300;  // scaled points lie within 8 of each other, squared

  double distance[Length];
  int step[Length];

  WARPTSP_FN static bool before(double distance_a, int step_a, double distance_b, int step_b) {
    return distance_a < distance_b || (distance_a == distance_b && step_a < step_b);
  }
  WARPTSP_FN void clear() {
    WARPTSP_UNROLL
    for (int k = 0; k < Length; ++k) {
      distance[k] = beyond;
      step[k] = no_step;
    }
  }
  // Puts the pair into its place; what falls out at the end takes its place.
  WARPTSP_FN void insert(double &new_distance, int &new_step) {
    WARPTSP_UNROLL
    for (int k = 0; k < Length; ++k) {
      const bool here = before(new_distance, new_step, distance[k], step[k]);
      const double pushed_distance = distance[k];
      const int pushed_step = step[k];
      distance[k] = here ? new_distance : distance[k];
      step[k] = here ? new_step : step[k];
      new_distance = here ? pushed_distance : new_distance;
      new_step = here ? pushed_step : new_step;
    }
  }
};

template <int D>
struct SectorsIn {
  typedef Quadrants Type;
};
template <>
struct SectorsIn<3> {
  typedef Octants Type;
};

template <int Count, int PerSector, int Norm, int D>
class NearCandidates {
  typedef typename SectorsIn<D>::Type Sectors;
  static_assert(Count >= 1 && PerSector >= 0 && Sectors::size * PerSector <= Count,
                "all sectors' cities are in the list");

 public:
  WARPTSP_FN explicit NearCandidates(const TreeIn<D> &tree) : tree_(tree) {}

  // Fills the row of `Count` candidates of the city; -1 where there are no more cities.
  WARPTSP_FN void find(int city, int *row) {
    city_ = city;
    WARPTSP_UNROLL
    for (int d = 0; d < D; ++d) origin_[d] = tree_.at(city, d);
    WARPTSP_UNROLL
    for (int s = 0; s < sectors; ++s) sector_[s].clear();
    others_.clear();
    room_ = Count;
    note_last();
    const int leaf = tree_.leaf_of(city);
    scan(leaf);
    for (int v = leaf; v > 1; v >>= 1) descend(v ^ 1);
    write(row);
  }

 private:
  static constexpr int sectors = PerSector > 0 ? Sectors::size : 0;
  static constexpr int places = PerSector > 0 ? PerSector : 1;
  static constexpr int deepest = 32;

  WARPTSP_FN int step_to(int city) const { return city >= city_ ? city - city_ : city - city_ + tree_.n; }

  // No larger than the step to any other city below the node.
  WARPTSP_FN int min_step(int v) const {
    const int level = TreeIn<D>::level_of(v);
    const long long k = v - (1 << level);
    const int first = tree_.begin(level, k);
    if (city_ >= first && city_ < tree_.begin(level, k + 1) - 1) return 1;
    return step_to(first);
  }
  WARPTSP_FN Offsets<D> offsets(int v) const {
    const BoxIn<D> box = tree_.boxes[v];
    Offsets<D> offsets;
    WARPTSP_UNROLL
    for (int d = 0; d < D; ++d) {
      offsets.low[d] = box.low[d] - origin_[d];
      offsets.high[d] = box.high[d] - origin_[d];
    }
    return offsets;
  }
  WARPTSP_FN double distance_to(const Offsets<D> &box) const {
    double least[D];
    WARPTSP_UNROLL
    for (int d = 0; d < D; ++d) least[d] = box.nearest(d);
    return norm_of<Norm, D>(least);
  }
  WARPTSP_FN bool useful(int v) const {
    const Offsets<D> box = offsets(v);
    const double distance = distance_to(box);
    if (distance > reach_) return false;
    const int step = min_step(v);
    if (others_.before(distance, step, last_distance_, last_step_)) return true;
    bool wanted = false;
    WARPTSP_UNROLL
    for (int s = 0; s < sectors; ++s) {
      const double last = sector_[s].distance[places - 1];
      double least[D];
      if (!(distance > last) && Sectors().meets(s, box, least))
        wanted = wanted || others_.before(norm_of<Norm, D>(least), step, last, sector_[s].step[places - 1]);
    }
    return wanted;
  }

  WARPTSP_FN void descend(int v) {
    int waiting[deepest], size = 0;
    while (true) {
      if (useful(v)) {
        if (tree_.is_leaf(v)) {
          scan(v);
        } else {
          int near = 2 * v, far = 2 * v + 1;
          const double near_distance = distance_to(offsets(near)), far_distance = distance_to(offsets(far));
          if (others_.before(far_distance, min_step(far), near_distance, min_step(near))) {
            near = 2 * v + 1;
            far = 2 * v;
          }
          waiting[size++] = far;
          v = near;
          continue;
        }
      }
      if (size == 0) return;
      v = waiting[--size];
    }
  }

  WARPTSP_FN void scan(int leaf) {
    const int end = tree_.leaf_end(leaf);
    for (int city = tree_.leaf_begin(leaf); city < end; ++city) {
      double delta[D];
      WARPTSP_UNROLL
      for (int d = 0; d < D; ++d) delta[d] = tree_.at(city, d) - origin_[d];
      double distance = norm_of<Norm, D>(delta);
      if (distance > reach_ || city == city_) continue;
      int step = step_to(city);
      // The city that a new one drives out of its sector's list is one of the others from now on.
      if (sectors > 0) {
        const int sector = Sectors().of(delta);
        WARPTSP_UNROLL
        for (int s = 0; s < sectors; ++s)
          if (s == sector) {
            sector_[s].insert(distance, step);
            if (step == others_.no_step) --room_;
          }
      }
      others_.insert(distance, step);
      note_last();
    }
  }

  WARPTSP_FN void note_last() {
    last_distance_ = -1.0;
    last_step_ = -1;
    WARPTSP_UNROLL
    for (int k = 0; k < Count; ++k) {
      last_distance_ = k < room_ ? others_.distance[k] : last_distance_;
      last_step_ = k < room_ ? others_.step[k] : last_step_;
    }
    reach_ = last_distance_;
    WARPTSP_UNROLL
    for (int s = 0; s < sectors; ++s)
      reach_ = sector_[s].distance[places - 1] > reach_ ? sector_[s].distance[places - 1] : reach_;
  }

  // All lists in one order; together they have `Count` entries at most.
  WARPTSP_FN void write(int *row) {
    WARPTSP_UNROLL
    for (int k = 0; k < Count; ++k) {
      others_.distance[k] = k < room_ ? others_.distance[k] : others_.beyond;
      others_.step[k] = k < room_ ? others_.step[k] : others_.no_step;
    }
    WARPTSP_UNROLL
    for (int s = 0; s < sectors; ++s) {
      WARPTSP_UNROLL
      for (int k = 0; k < places; ++k) others_.insert(sector_[s].distance[k], sector_[s].step[k]);
    }
    WARPTSP_UNROLL
    for (int k = 0; k < Count; ++k) {
      const int step = others_.step[k];
      row[k] = step == others_.no_step ? -1 : city_ < tree_.n - step ? city_ + step : city_ + (step - tree_.n);
    }
  }

  const TreeIn<D> tree_;
  double origin_[D];
  int city_ = 0;
  NearestList<places> sector_[Sectors::size];
  NearestList<Count> others_;  // the nearest of those that are in no sector's list
  int room_ = 0;               // how many of them the sectors' lists leave room for
  // The last of these; before which another must come to be one of them.
  double last_distance_ = 0.0;
  int last_step_ = 0;
  double reach_ = 0.0;  // no city farther away than this can enter a list
};

}  // namespace warptsp::space
