// Blossoms: a handle, and an odd number of edges that leave it as teeth (Edmonds, 1965; Padberg and Rao, 1982).
// Host code only.
//
// Handles are the components of the edges with a weight well between 0 and 1, at several thresholds (Padberg and
// Hong, 1980; Groetschel and Holland, 1987), and then the sides of a cut tree, which misses none that is violated
// (Letchford, Reinelt and Theis, 2004).
#pragma once
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "proof/cut_tree.h"
#include "proof/found_cuts.h"

namespace warptsp::proof {

class Blossoms {
 public:
  explicit Blossoms(FoundCuts &found)
      : found_(found), support_(found.support()), in_(support_.size(), 0), count_(support_.size(), 0) {}

  void find(size_t scale) {
    const size_t most = 150 * scale;
    const size_t before = found_.size();
    const int n = support_.size();
    for (const double threshold : {1e-4, 0.05, 0.1, 0.2, 0.3, 0.4})
      for (const std::vector<int> &set :
           components(support_, [&](double value) { return value > threshold && value < 1.0 - threshold; })) {
        if (set.size() >= 3 && (int)set.size() <= n - 3) try_handle(set);
        if (found_.size() - before > most) return;
      }
  }

  // Looks at every set that could be the handle of the most violated one: a blossom's violation is less than 1 minus
  // the weight of its handle's cut, where an edge weighs its distance from 0 or 1.
  void find_by_cuts() {
    const int n = support_.size();
    std::vector<int> begin{0};
    std::vector<Support::Edge> arcs;
    for (int v = 0; v < n; ++v) {
      for (const Support::Edge &edge : support_.around(v)) {
        const double weight = std::min(edge.value, 1.0 - edge.value);
        if (weight > 1e-6) arcs.push_back({edge.to, weight});
      }
      begin.push_back((int)arcs.size());
    }
    CutTree(begin, arcs).for_cuts_below(1.0 - least_violation, [&](const std::vector<int> &side) {
      if (side.size() >= 3 && (int)side.size() <= n - 3) try_handle(side);
    });
  }

  // Adds the most violated blossom, or subtour constraint, whose handle is about this set.
  bool try_handle(const std::vector<int> &set) {
    constexpr int repairs = 20;
    handle_ = set;
    for (const int v : handle_) in_[v] = 1;
    bool is_added = false;
    for (int round = 0; round < repairs && choose_teeth(); ++round) {
      // Teeth that meet outside absorb that city into the handle; those that meet inside push it out.
      const int meets = meeting_city();
      if (meets < 0) {
        is_added = add();
        break;
      }
      in_[meets] = (char)(1 - in_[meets]);
      if (in_[meets] != 0)
        handle_.push_back(meets);
      else
        handle_.erase(std::find(handle_.begin(), handle_.end(), meets));
    }
    for (const int v : handle_) in_[v] = 0;
    return is_added;
  }

 private:
  static constexpr double least_violation = 0.02;

  struct Tooth {
    int inside, outside;  // of the handle
  };

  bool add() {
    if (teeth_.size() == 1) return found_.add_subtour(handle_);
    if (2 * (int)teeth_.size() + 2 > max_classes) return false;
    // What is outside of a handle is as good a one.
    std::vector<int> tooth_of(support_.size(), 0), level(support_.size(), 0), weight{0};
    for (const int v : handle_) level[v] = 1;
    for (const Tooth &tooth : teeth_) {
      tooth_of[tooth.inside] = tooth_of[tooth.outside] = (int)weight.size();
      weight.push_back(1);
    }
    return found_.add(star_cut(1, tooth_of, level, weight));
  }

  // An odd number of edges out of the handle that violate most; false if the violation is too small.
  bool choose_teeth() {
    teeth_.clear();
    double surplus = 0.0, cheapest = 2.0;
    Tooth flipped{-1, -1};
    bool is_tooth = false;
    for (const int v : handle_)
      for (const Support::Edge &edge : support_.around(v)) {
        if (in_[edge.to] != 0) continue;
        const bool more = edge.value > 0.5;
        if (more) teeth_.push_back({v, edge.to});
        surplus += more ? 1.0 - edge.value : edge.value;
        const double change = std::fabs(2.0 * edge.value - 1.0);
        if (change < cheapest) {
          cheapest = change;
          flipped = {v, edge.to};
          is_tooth = more;
        }
      }
    if (teeth_.size() % 2 == 0) {
      if (flipped.inside < 0) return false;
      surplus += cheapest;
      if (is_tooth)
        teeth_.erase(std::find_if(teeth_.begin(), teeth_.end(), [&](const Tooth &tooth) {
          return tooth.inside == flipped.inside && tooth.outside == flipped.outside;
        }));
      else
        teeth_.push_back(flipped);
    }
    return surplus <= 1.0 - least_violation;
  }

  // A city in two teeth, one outside of the handle first; -1 for none.
  int meeting_city() {
    int met = -1;
    for (const Tooth &tooth : teeth_) {
      if (++count_[tooth.inside] > 1) met = tooth.inside;
      ++count_[tooth.outside];
    }
    for (const Tooth &tooth : teeth_)
      if (count_[tooth.outside] > 1) met = tooth.outside;
    for (const Tooth &tooth : teeth_) count_[tooth.inside] = count_[tooth.outside] = 0;
    return met;
  }

  FoundCuts &found_;
  const Support &support_;
  std::vector<char> in_;  // of each city: in the handle
  std::vector<int> handle_;
  std::vector<int> count_;  // of each city: teeth that it is in
  std::vector<Tooth> teeth_;
};

}  // namespace warptsp::proof
