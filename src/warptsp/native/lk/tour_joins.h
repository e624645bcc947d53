// Which joins of closed tours can all be made: the host's part of path_order.h.
#pragma once
#include <algorithm>
#include <utility>
#include <vector>

#include "common/disjoint_sets.h"
#include "lk/path_order.h"

namespace warptsp::lk {

struct ChosenJoins {
  std::vector<int> links;  // pairs: an end, and what it is linked to from now on; four for each join
  std::vector<int> names;  // pairs: a closed tour, and its name from now on
};

// Chooses the cheapest first, no gap twice, none within one tour. Some of `joins` may be there several times.
inline ChosenJoins choose_joins(std::vector<JoinOfTours> joins) {
  ChosenJoins chosen;
  int last = -1;  // of the ends, by which tours are named, too
  for (const JoinOfTours &join : joins)
    last = std::max({last, join.tour, join.other, join.a, join.a_link, join.b, join.b_link});
  // By end; of a million ends only those of the joins are read.
  thread_local std::vector<int> above;
  thread_local std::vector<char> taken;
  if ((int)above.size() <= last) above.resize(last + 1), taken.resize(last + 1);
  std::vector<int> tours;
  for (const JoinOfTours &join : joins) {
    above[join.tour] = join.tour;
    tours.push_back(join.tour);
    if (!join.found) continue;
    above[join.other] = join.other;
    for (const int end : {join.a, join.a_link, join.b, join.b_link}) taken[end] = 0;
  }
  joins.erase(std::remove_if(joins.begin(), joins.end(), [](const JoinOfTours &join) { return !join.found; }),
              joins.end());
  std::sort(joins.begin(), joins.end(), [](const JoinOfTours &one, const JoinOfTours &other) {
    return std::make_pair(one.added, one.a) < std::make_pair(other.added, other.a);
  });
  for (const JoinOfTours &join : joins) {
    const int ends[4] = {join.a, join.a_link, join.b, join.b_link};
    const int own = root_of(above, join.tour), other = root_of(above, join.other);
    if (own == other || std::any_of(ends, ends + 4, [&](int end) { return taken[end]; })) continue;
    above[own] = other;
    for (const int end : ends) taken[end] = 1;
    const int to_a = join.crossed ? join.b_link : join.b, to_a_link = join.crossed ? join.b : join.b_link;
    for (const int end : {join.a, to_a, to_a, join.a, join.a_link, to_a_link, to_a_link, join.a_link})
      chosen.links.push_back(end);
  }
  for (const int tour : tours) chosen.names.insert(chosen.names.end(), {tour, root_of(above, tour)});
  return chosen;
}

}  // namespace warptsp::lk
