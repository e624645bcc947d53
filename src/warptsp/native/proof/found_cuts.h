// The violated cuts of one round. Host code only.
#pragma once
#include <stdexcept>
#include <unordered_set>
#include <utility>
#include <vector>

#include "proof/cut.h"

namespace warptsp::proof {

// A cut that a tour violates is a fault of this program, and must not become a proof.
inline void check_cut(const Cut &cut, const std::vector<int> &tour) {
  int64_t value = 0;
  for (size_t i = 0; i < tour.size(); ++i) value += cut.coefficient(tour[i], tour[(i + 1) % tour.size()]);
  if (value < cut.bound) throw std::logic_error("a cut does not let the best tour pass, which is a bug");
}

class FoundCuts {
 public:
  // `present`: the hashes of the cuts that the linear program has; `tour`: any tour, which every cut must let pass.
  FoundCuts(const Support &support, const std::unordered_set<uint64_t> &present, const std::vector<int> &tour)
      : support_(support), present_(present), tour_(tour) {}

  const Support &support() const { return support_; }
  size_t size() const { return cuts_.size(); }
  std::vector<Cut> &cuts() { return cuts_; }

  // Of the same solution, and none yet.
  FoundCuts empty() const { return FoundCuts(support_, present_, tour_); }

  // Adds what others have found and this one has not.
  void take(FoundCuts &others) {
    for (Cut &cut : others.cuts_)
      if (hashes_.insert(cut.hash).second) cuts_.push_back(std::move(cut));
  }

  // Whether it is violated by so much, and new.
  bool add(Cut &&cut, double least_violation = 0.02) {
    if (present_.count(cut.hash) != 0 || hashes_.count(cut.hash) != 0) return false;
    cut.violation = cut.bound - value_of(cut, support_);
    if (cut.violation < least_violation) return false;
    check_cut(cut, tour_);
    cut.idle_rounds = 0;
    hashes_.insert(cut.hash);
    cuts_.push_back(std::move(cut));
    return true;
  }

  bool add_subtour(const std::vector<int> &set) {
    const int n = support_.size();
    if ((int)set.size() < 2 || (int)set.size() > n - 2) return false;
    return add(subtour_cut(n, set));
  }

 private:
  const Support &support_;
  const std::unordered_set<uint64_t> &present_;
  const std::vector<int> &tour_;
  std::vector<Cut> cuts_;
  std::unordered_set<uint64_t> hashes_;
};

}  // namespace warptsp::proof
