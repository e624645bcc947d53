// Combs whose teeth are pairs of sets that few edges leave: blossoms of the support when such sets are shrunk. Host code
// only.
//
// Padberg and Rinaldi, "Facet identification for the symmetric traveling salesman polytope" (1990), shrink sets that
// exactly 2 edges leave. Here neighbours are merged in pairs, again and again, so that teeth of many sizes are seen.
#pragma once
#include <numeric>
#include <unordered_set>
#include <utility>
#include <vector>

#include "common/random.h"
#include "common/stop_token.h"
#include "proof/blossoms.h"

namespace warptsp::proof {

class ShrunkCombs {
 public:
  explicit ShrunkCombs(FoundCuts &found)
      : found_(found), graph_(found.support()), number_(found.support().size(), -1) {}

  void find(Random &random, const StopToken &token) {
    constexpr int levels = 4;
    constexpr double most_leaving = 2.3;
    for (int level = 0; level < levels && !token.stopped() && graph_.merge_pairs(most_leaving, random); ++level)
      find_blossoms();
  }

 private:
  void find_blossoms() {
    const std::vector<int> nodes = graph_.nodes();
    const int k = (int)nodes.size();
    if (k < 6) return;
    for (int i = 0; i < k; ++i) number_[nodes[i]] = i;
    std::vector<int> ends;
    std::vector<double> values;
    for (const int v : nodes)
      for (const Support::Edge &edge : graph_.around(v))
        if (v < edge.to) {
          ends.insert(ends.end(), {number_[v], number_[edge.to]});
          values.push_back(edge.value);
        }
    Support shrunk;
    shrunk.build(k, ends, values.data());
    std::vector<int> any_tour(k);
    std::iota(any_tour.begin(), any_tour.end(), 0);
    const std::unordered_set<uint64_t> none;
    FoundCuts blossoms(shrunk, none, any_tour);
    Blossoms(blossoms).find_by_cuts();
    const int n = graph_.size();
    for (Cut &cut : blossoms.cuts()) {
      const std::vector<uint8_t> of_node = std::move(cut.class_of);
      cut.class_of.resize(n);
      for (int v = 0; v < n; ++v) cut.class_of[v] = of_node[number_[graph_.node_of(v)]];
      make_canonical(cut);
      found_.add(std::move(cut));
    }
  }

  FoundCuts &found_;
  Contraction graph_;
  std::vector<int> number_;  // of each node in the shrunk support
};

}  // namespace warptsp::proof
