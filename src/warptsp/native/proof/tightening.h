// Cuts made stronger for a solution by moving single cities between their classes. Host code only.
//
// Applegate, Bixby, Chvatal and Cook, "TSP cuts which do not conform to the template paradigm" (2001), tighten single
// sets of a cut in this way; with classes there is only one kind of step.
#pragma once
#include <cmath>
#include <utility>
#include <vector>

#include "proof/cut.h"

namespace warptsp::proof {

class Tightening {
 public:
  explicit Tightening(const Support &support)
      : support_(support), listed_(support.size()), waits_(support.size()), moved_(support.size()) {}

  // Whether cities were moved, and the cut is now violated by so much; by `violation`, or less than 0, before.
  bool tighten(const Cut &given, double violation, double least_violation, Cut &cut) {
    constexpr int passes = 6;
    given_ = &given;
    class_of_ = given.class_of;
    count_ = given.count;
    violation_ = violation;
    list_.clear();
    for (const int v : given.members)
      for (const Support::Edge &edge : support_.around(v))
        if (class_of_[edge.to] != class_of_[v]) {
          enlist(v);
          enlist(edge.to);
        }
    bool any = false;
    for (int pass = 0; pass < passes; ++pass) {
      bool changed = false;
      for (size_t i = 0; i < list_.size(); ++i)
        if (waits_[list_[i]] != 0) changed = move(list_[i], pass > 0) || changed;
      any = any || changed;
      if (!changed && pass > 0) break;  // the next pass would be the same
    }
    for (const int v : list_) listed_[v] = waits_[v] = moved_[v] = 0;
    if (!any || violation_ < least_violation) return false;
    cut = given;
    cut.class_of = class_of_;
    cut.rest = {};
    make_canonical(cut);
    return true;
  }

 private:
  void enlist(int v) {
    waits_[v] = 1;
    if (listed_[v] != 0) return;
    listed_[v] = 1;
    list_.push_back(v);
  }

  // Moves a city to the class of a neighbour where that gains most; once, if allowed, also where it gains nothing.
  bool move(int v, bool may_be_even) {
    const Cut &cut = *given_;  // but for the classes of cities
    const int from = class_of_[v];
    waits_[v] = 0;
    if (count_[from] <= 1) return false;
    constexpr int most = 8;
    int tried[most], count = 0, best = -1;
    double most_gained = 1e-6;
    bool even = false;
    for (const Support::Edge &edge : support_.around(v)) {
      const int to = class_of_[edge.to];
      if (to == from || count == most) continue;
      bool is_new = true;
      for (int k = 0; k < count; ++k) is_new = is_new && tried[k] != to;
      if (!is_new) continue;
      tried[count++] = to;
      double gained = 0.0;
      for (const Support::Edge &other : support_.around(v)) {
        const int c = class_of_[other.to];
        gained += other.value * (cut.between(from, c) - cut.between(to, c));
      }
      if (gained > most_gained) {
        most_gained = gained;
        best = to;
        even = false;
      } else if (best < 0 && moved_[v] == 0 && std::fabs(gained) < 1e-6) {
        if (may_be_even) {
          best = to;
          even = true;
        } else {
          waits_[v] = 1;
        }
      }
    }
    if (best < 0) return false;
    --count_[from];
    ++count_[best];
    class_of_[v] = (uint8_t)best;
    if (even)
      moved_[v] = 1;
    else
      violation_ += most_gained;
    waits_[v] = 1;
    for (const Support::Edge &edge : support_.around(v)) enlist(edge.to);
    return true;
  }

  const Support &support_;
  const Cut *given_ = nullptr;
  std::vector<uint8_t> class_of_;
  std::vector<char> listed_, waits_, moved_;  // of each city: in the list, to be looked at, moved for nothing
  std::vector<int> list_, count_;
  double violation_ = 0.0;
};

}  // namespace warptsp::proof
