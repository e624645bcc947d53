// The arcs that a search considers: of each city the best by reduced cost, out of it and into others, and its nearest.
#pragma once
#include <algorithm>
#include <vector>

#include "common/stop_token.h"
#include "directed/costs.h"

namespace warptsp::directed {

// Lists of `width` heads and the reduced costs of the arcs to them, sorted; -1 behind the last one.
struct Candidates {
  int width = 0;
  std::vector<int> head;
  std::vector<Cost> cost;

  const int *heads(int city) const { return &head[(size_t)city * width]; }
  const Cost *costs(int city) const { return &cost[(size_t)city * width]; }
};

struct CandidateCounts {
  int out = 8, in = 5, nearest = 5, most = 14;
};

// False if the token stopped it.
template <class Entry>
bool find_candidates(const ReducedCosts<Entry> &costs, const CandidateCounts &counts, const StopToken &token,
                     Candidates &result) {
  const int n = costs.size();
  std::vector<Arc> out((size_t)counts.out), nearest((size_t)counts.nearest),
      in((size_t)n * counts.in, Arc{no_cost, -1});
  std::vector<std::vector<Arc>> lists(n);
  for (int i = 0; i < n; i++) {
    Shortlist best(out.data(), counts.out), near(nearest.data(), counts.nearest);
    const Entry *const row = costs.matrix.row(i);
    const Cost leaving = costs.leaving[i];
    for (int j = 0; j < n; j++) {
      if (j == i) continue;
      const Cost c = costs.matrix.cost(row[j]), r = c - leaving - costs.entering[j];
      if (c >= costs.matrix.wall()) continue;
      best.offer(r, j);
      near.offer(c, j);
      Arc *const list = &in[(size_t)j * counts.in];
      if (r >= list[counts.in - 1].cost) continue;
      int p = counts.in - 1;
      for (; p > 0 && list[p - 1].cost > r; p--) list[p] = list[p - 1];
      list[p] = {r, i};
    }
    for (const Arc &arc : out)
      if (arc.city >= 0) lists[i].push_back(arc);
    for (const Arc &arc : nearest)
      if (arc.city >= 0) lists[i].push_back({costs(i, arc.city), arc.city});
    if (i % 64 == 0 && token.stopped()) return false;
  }
  for (int j = 0; j < n; j++)
    for (int a = 0; a < counts.in; a++) {
      const Arc &arc = in[(size_t)j * counts.in + a];
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
