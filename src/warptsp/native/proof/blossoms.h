// Blossoms: a handle, and an odd number of edges that leave it as teeth (Edmonds, 1965; Padberg and Rao, 1982).
// Host code only.
//
// Handles are the components of the edges with a weight well between 0 and 1, at several thresholds (Padberg and
// Hong, 1980; Groetschel and Holland, 1987).
#pragma once
#include <cmath>
#include <utility>
#include <vector>

#include "proof/found_cuts.h"

namespace warptsp::proof {

class Blossoms {
 public:
  explicit Blossoms(FoundCuts &found) : found_(found), support_(found.support()) {}

  void find() {
    constexpr size_t most = 150;
    const size_t before = found_.size();
    const int n = support_.size();
    for (const double threshold : {1e-4, 0.05, 0.1, 0.2, 0.3, 0.4}) {
      std::vector<char> seen(n, 0);
      for (int s = 0; s < n; ++s) {
        if (seen[s] != 0) continue;
        std::vector<int> component{s};
        seen[s] = 1;
        for (size_t i = 0; i < component.size(); ++i)
          for (const Support::Edge &edge : support_.around(component[i]))
            if (edge.value > threshold && edge.value < 1.0 - threshold && seen[edge.to] == 0) {
              seen[edge.to] = 1;
              component.push_back(edge.to);
            }
        if (component.size() >= 3 && (int)component.size() <= n - 3) try_handle(component);
        if (found_.size() - before > most) return;
      }
    }
  }

  // Adds the most violated blossom, or subtour constraint, whose handle is about this set.
  bool try_handle(const std::vector<int> &set) {
    constexpr int repairs = 20;
    const int n = support_.size();
    in_.assign(n, 0);
    for (const int v : set) in_[v] = 1;
    for (int round = 0; round < repairs; ++round) {
      if (!choose_teeth()) return false;
      // Teeth that meet outside absorb that city into the handle; those that meet inside push it out.
      const int meets = meeting_city();
      if (meets >= 0) {
        in_[meets] = (char)(1 - in_[meets]);
        continue;
      }
      std::vector<int> handle;
      for (int v = 0; v < n; ++v)
        if (in_[v] != 0) handle.push_back(v);
      if (teeth_.size() == 1) return found_.add_subtour(handle);
      Cut cut;
      return blossom_cut(n, handle, teeth_, cut) && found_.add(std::move(cut));
    }
    return false;
  }

 private:
  // An odd number of edges out of the handle that violate most; false if the violation is too small.
  bool choose_teeth() {
    teeth_.clear();
    double surplus = 0.0, cheapest = 2.0;
    Tooth flipped{-1, -1};
    bool is_tooth = false;
    for (int v = 0; v < (int)in_.size(); ++v) {
      if (in_[v] == 0) continue;
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
    return surplus <= 0.98;
  }

  int meeting_city() {
    count_.assign(in_.size(), 0);
    int met = -1;
    for (const Tooth &tooth : teeth_) {
      if (++count_[tooth.outside] > 1) return tooth.outside;
      if (++count_[tooth.inside] > 1) met = tooth.inside;
    }
    return met;
  }

  FoundCuts &found_;
  const Support &support_;
  std::vector<char> in_;
  std::vector<int> count_;
  std::vector<Tooth> teeth_;
};

}  // namespace warptsp::proof
