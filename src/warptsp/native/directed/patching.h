// From cycles to a tour (R. M. Karp, "A patching algorithm for the nonsymmetric traveling-salesman problem", SIAM
// Journal on Computing 8 (1979) 561-573), and tours of cheap arcs to begin with.
#pragma once
#include <algorithm>
#include <numeric>
#include <queue>
#include <utility>
#include <vector>

#include "directed/candidates.h"

namespace warptsp::directed {

// Joins the cycle of the fewest cities to another one by the cheapest exchange of two arcs until one is left. Arcs are
// sought among the candidates, and in the whole rows of a cycle that no candidate leaves.
template <class Entry>
std::vector<int> patched(std::vector<int> head, const ReducedCosts<Entry> &costs, const Candidates &candidates) {
  const int n = costs.size();
  std::vector<int> cycle_of(n, -1), tail(n);
  for (int i = 0; i < n; i++) tail[head[i]] = i;
  std::vector<std::vector<int>> cycles;
  for (int i = 0; i < n; i++) {
    if (cycle_of[i] >= 0) continue;
    cycles.emplace_back();
    for (int a = i; cycle_of[a] < 0; a = head[a]) {
      cycle_of[a] = (int)cycles.size() - 1;
      cycles.back().push_back(a);
    }
  }
  typedef std::pair<int, int> Sized;
  std::priority_queue<Sized, std::vector<Sized>, std::greater<>> shortest;
  for (size_t c = 0; c < cycles.size(); c++) shortest.push({(int)cycles[c].size(), (int)c});
  while (shortest.size() > 1) {
    const auto [size, c] = shortest.top();
    shortest.pop();
    if ((int)cycles[c].size() != size || size == 0) continue;
    Cost least = no_cost;
    int from = -1, to = -1;
    const auto look = [&](int i, int d, int own) {
      if (cycle_of[d] == own) return;
      const int j = tail[d];
      const Cost c = costs(i, d) + costs(j, head[i]) - costs(i, head[i]) - costs(j, d);
      if (c < least) {
        least = c;
        from = i;
        to = j;
      }
    };
    for (const int i : cycles[c])
      for (int a = 0; a < candidates.width && candidates.heads(i)[a] >= 0; a++) look(i, candidates.heads(i)[a], c);
    if (from < 0)
      for (const int i : cycles[c])
        for (int d = 0; d < n; d++) look(i, d, c);
    if (from < 0) break;  // it is the only one
    const int other = cycle_of[to];
    std::swap(head[from], head[to]);
    tail[head[from]] = from;
    tail[head[to]] = to;
    for (const int a : cycles[c]) cycle_of[a] = other;
    cycles[other].insert(cycles[other].end(), cycles[c].begin(), cycles[c].end());
    cycles[c].clear();
    shortest.push({(int)cycles[other].size(), other});
  }
  return tour_of(head);
}

// Paths of candidates, each taken if it fits, in the order of their costs plus `base`, times up to 1 + `noise`; what is
// left is joined in the order of costs.
template <class Entry, class Numbers>
std::vector<int> greedy_tour(const ReducedCosts<Entry> &costs, const Candidates &candidates, Cost base, double noise,
                             Numbers &random) {
  const int n = costs.size();
  std::vector<int> head(n, -1), tail(n, -1), other_end(n);
  std::iota(other_end.begin(), other_end.end(), 0);  // of the path that a city is an end of
  const auto take = [&](int i, int j) {
    if (head[i] >= 0 || tail[j] >= 0 || other_end[i] == j) return;
    head[i] = j;
    tail[j] = i;
    const int first = other_end[i], last = other_end[j];
    other_end[first] = last;
    other_end[last] = first;
  };
  struct Link {
    double cost;
    int from, to;
    bool operator<(const Link &o) const {
      return cost != o.cost ? cost < o.cost : from != o.from ? from < o.from : to < o.to;
    }
  };
  std::vector<Link> links;
  for (int i = 0; i < n; i++)
    for (int a = 0; a < candidates.width && candidates.heads(i)[a] >= 0; a++)
      links.push_back(
          {(double)(candidates.costs(i)[a] + base) * (1.0 + noise * random.unit()), i, candidates.heads(i)[a]});
  std::sort(links.begin(), links.end());
  for (const Link &link : links) take(link.from, link.to);
  std::vector<int> tails, heads;
  for (int i = 0; i < n; i++) {
    if (head[i] < 0) tails.push_back(i);
    if (tail[i] < 0) heads.push_back(i);
  }
  // Few paths are left: all links between them.
  links.clear();
  for (const int i : tails)
    for (const int j : heads)
      if (i != j) links.push_back({(double)costs(i, j), i, j});
  std::sort(links.begin(), links.end());
  for (const Link &link : links) take(link.from, link.to);
  int begin = 0;
  for (int i = 0; i < n; i++)
    if (tail[i] < 0) begin = i;
  std::vector<int> tour;
  tour.reserve(n);
  for (int a = begin; a >= 0; a = head[a]) tour.push_back(a);
  return tour;
}

}  // namespace warptsp::directed
