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

constexpr int listed_out = 8, listed_in = 5, listed_nearest = 5, most_listed = 14;

// False if the token stopped it.
template <class Entry>
bool find_candidates(const ReducedCosts<Entry> &costs, int threads, const StopToken &token, Candidates &result) {
  const int n = costs.size();
  EnteringLists in(n, listed_in, threads);
  std::vector<std::vector<Arc>> lists(n);
  const bool complete = for_each_row(n, threads, token, [&](int i, int part) {
    Arc out[listed_out], nearest[listed_nearest];
    Shortlist best(out, listed_out), near(nearest, listed_nearest);
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
    for (const Arc &arc : out)
      if (arc.city >= 0) lists[i].push_back(arc);
    for (const Arc &arc : nearest)
      if (arc.city >= 0) lists[i].push_back({costs(i, arc.city), arc.city});
  });
  if (!complete) return false;
  in.merge();
  for (int j = 0; j < n; j++)
    for (int a = 0; a < listed_in; a++) {
      const Arc &arc = in.arcs(j)[a];
      if (arc.city >= 0) lists[arc.city].push_back({arc.cost, j});
    }
  size_t width = 1;
  for (std::vector<Arc> &list : lists) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end(), [](const Arc &a, const Arc &b) { return a.city == b.city; }),
               list.end());
    if (list.size() > most_listed) list.resize(most_listed);
    width = std::max(width, list.size());
  }
  result.width = (int)width;
  result.best_out = std::min(listed_out, (int)width);
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
