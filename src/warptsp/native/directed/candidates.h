// The arcs that a search considers: of each city the best by reduced cost, out of it and into others, and its nearest.
#pragma once
#include <algorithm>
#include <vector>

#include "common/stop_token.h"
#include "directed/costs.h"

namespace warptsp::directed {

// Lists of `width` heads and the reduced costs of the arcs to them, sorted; -1 behind the last one. No arc out of a city is
// cheaper than the first `best_out` of its list, but for missing ones.
struct Candidates {
  int width = 0, best_out = 0;
  std::vector<int> head;
  std::vector<Cost> cost;

  const int *heads(int city) const { return &head[(size_t)city * width]; }
  const Cost *costs(int city) const { return &cost[(size_t)city * width]; }
};

constexpr int most_listed = 16;

struct CandidateCounts {  // each `most_listed` or less
  int out = 8, in = 5, nearest = 5, most = 14;
};

// False if the token stopped it.
template <class Entry>
bool find_candidates(const ReducedCosts<Entry> &costs, const CandidateCounts &counts, int threads,
                     const StopToken &token, Candidates &result) {
  const int n = costs.size();
  EnteringLists in(n, counts.in, threads);
  std::vector<std::vector<Arc>> lists(n);
  const bool complete = for_each_row(n, threads, token, [&](int i, int part) {
    Arc out[most_listed], nearest[most_listed];
    Shortlist best(out, counts.out), near(nearest, counts.nearest);
    const Entry *const row = costs.matrix.row(i);
    const Cost leaving = costs.leaving[i];
    for (int j = 0; j < n; j++) {
      if (j == i) continue;
      const Cost c = costs.matrix.cost(row[j]), r = c - leaving - costs.entering[j];
      if (c >= costs.matrix.wall()) continue;
      best.offer(r, j);
      near.offer(c, j);
      in.offer(part, j, r, i);
    }
    for (int a = 0; a < counts.out; a++)
      if (out[a].city >= 0) lists[i].push_back(out[a]);
    for (int a = 0; a < counts.nearest; a++)
      if (nearest[a].city >= 0) lists[i].push_back({costs(i, nearest[a].city), nearest[a].city});
  });
  if (!complete) return false;
  in.merge();
  for (int j = 0; j < n; j++)
    for (int a = 0; a < counts.in; a++) {
      const Arc &arc = in.arcs(j)[a];
      if (arc.city >= 0) lists[arc.city].push_back({arc.cost, j});
    }
  size_t width = 1;
  for (std::vector<Arc> &list : lists) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end(), [](const Arc &a, const Arc &b) { return a.city == b.city; }),
               list.end());
    if (list.size() > (size_t)counts.most) list.resize((size_t)counts.most);
    width = std::max(width, list.size());
  }
  result.width = (int)width;
  result.best_out = std::min(counts.out, (int)width);
  result.head.assign(n * width, -1);
  result.cost.assign(n * width, no_cost);
  for (int i = 0; i < n; i++)
    for (size_t a = 0; a < lists[i].size(); a++) {
      result.head[i * width + a] = lists[i][a].city;
      result.cost[i * width + a] = lists[i][a].cost;
    }
  return true;
}

}  // namespace warptsp::directed
