// Which joins of closed tours can all be made: the host's part of path_order.h.
#pragma once
#include <algorithm>
#include <unordered_set>
#include <utility>
#include <vector>

#include "lk/path_order.h"

namespace warptsp {

struct ChosenJoins {
  std::vector<int> links;  // pairs: an end, and what it is linked to from now on; four for each join
  std::vector<int> names;  // pairs: a closed tour, and its name from now on
};

// Chooses the cheapest first, no gap twice, none within one tour. Some of `joins` may be there several times.
inline ChosenJoins choose_joins(std::vector<JoinOfTours> joins) {
  ChosenJoins chosen;
  std::vector<int> tours;
  for (const JoinOfTours &join : joins) {
    tours.push_back(join.tour);
    if (join.found) tours.push_back(join.other);
  }
  std::sort(tours.begin(), tours.end());
  tours.erase(std::unique(tours.begin(), tours.end()), tours.end());
  std::vector<int> above(tours.size());
  for (size_t t = 0; t < above.size(); t++) above[t] = (int)t;
  const auto root = [&](int tour) {
    int t = (int)(std::lower_bound(tours.begin(), tours.end(), tour) - tours.begin());
    while (above[t] != t) t = above[t] = above[above[t]];
    return t;
  };

  joins.erase(std::remove_if(joins.begin(), joins.end(), [](const JoinOfTours &join) { return !join.found; }),
              joins.end());
  std::sort(joins.begin(), joins.end(), [](const JoinOfTours &one, const JoinOfTours &other) {
    return std::make_pair(one.added, one.a) < std::make_pair(other.added, other.a);
  });
  std::unordered_set<int> taken;
  for (const JoinOfTours &join : joins) {
    const int ends[4] = {join.a, join.a_link, join.b, join.b_link};
    const int own = root(join.tour), other = root(join.other);
    if (own == other || std::any_of(ends, ends + 4, [&](int end) { return taken.count(end) > 0; })) continue;
    above[own] = other;
    taken.insert(ends, ends + 4);
    const int to_a = join.crossed ? join.b_link : join.b, to_a_link = join.crossed ? join.b : join.b_link;
    for (const int end : {join.a, to_a, to_a, join.a, join.a_link, to_a_link, to_a_link, join.a_link})
      chosen.links.push_back(end);
  }
  for (const int tour : tours) {
    chosen.names.push_back(tour);
    chosen.names.push_back(tours[root(tour)]);
  }
  return chosen;
}

}  // namespace warptsp
