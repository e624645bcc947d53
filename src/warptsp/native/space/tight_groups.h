// Groups of cities at every scale, such as the rows of one house. Host code only.
//
// Kruskal's algorithm joins components by the shortest edge between two of them. A component can be a group if its
// spanning tree is so much shorter than the edge by which it is joined to others: a tour has no reason to come twice,
// and what it does inside hardly matters to the way from group to group. No length is given, so every scale is seen. Of
// a component and those within it, those are groups by which more cities are set off more clearly: the sum over cities
// of the logarithm of that ratio is the largest possible.
#pragma once
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "common/disjoint_sets.h"
#include "common/stop_token.h"

namespace warptsp::space {

struct TightGroups {
  std::vector<int> order;  // cities, those of each group beside one another, those of each part of it, too, and so on
  std::vector<int> first;  // where in `order` each group begins, and the end; a city alone is a group
};

// `lists`: n rows of `count` cities, negative where there is none, with the lengths of the ways there. False if the token
// stopped it.
inline bool tight_groups(const int *lists, const double *lengths, int n, int count, double ratio, StopToken &token,
                         TightGroups &found) {
  constexpr double least = 1e-3;  // of the way out; what is shorter makes a group no clearer
  struct Edge {
    double length;
    int a, b;
  };
  std::vector<Edge> edges;
  edges.reserve((size_t)n * count / 2);
  for (int a = 0; a < n; ++a) {
    for (int k = 0; k < count; ++k) {
      const int b = lists[(size_t)a * count + k];
      if (b < 0 || b == a) continue;
      const int *const back = lists + (size_t)b * count;
      if (b < a && std::find(back, back + count, a) != back + count) continue;  // b has named it
      edges.push_back({lengths[(size_t)a * count + k], std::min(a, b), std::max(a, b)});
    }
    if (a % 4096 == 0 && token.stopped()) return false;
  }
  std::sort(edges.begin(), edges.end(), [](const Edge &x, const Edge &y) {
    return x.length != y.length ? x.length < y.length : x.a != y.a ? x.a < y.a : x.b < y.b;
  });
  if (token.stopped()) return false;

  struct Component {
    int size, last;
    double tree;   // the length of its spanning tree
    double clear;  // how clearly the groups within it are set off
  };
  std::vector<Component> components(n);
  std::vector<int> next(n, -1), span(n, 1);  // of a component: its cities in a chain; of a group's first city: its size
  std::vector<int> above(n);
  std::iota(above.begin(), above.end(), 0);
  for (int v = 0; v < n; ++v) components[v] = {1, v, 0.0, 0.0};
  // Of a component its first city is the root.
  for (const Edge &edge : edges) {
    int a = root_of(above, edge.a), b = root_of(above, edge.b);
    if (a == b) continue;
    for (const int v : {a, b}) {
      Component &inside = components[v];
      if (inside.size == 1 || inside.tree * ratio >= edge.length) continue;
      const double clear = inside.size * std::log(edge.length / std::max(inside.tree, least * edge.length));
      if (clear < inside.clear) continue;
      inside.clear = clear;
      span[v] = inside.size;
    }
    if (components[a].size < components[b].size) std::swap(a, b);
    next[components[a].last] = b;
    components[a].last = components[b].last;
    components[a].size += components[b].size;
    components[a].tree += components[b].tree + edge.length;
    components[a].clear += components[b].clear;
    above[b] = a;
  }
  found.order.clear();
  found.order.reserve(n);
  for (int v = 0; v < n; ++v)
    if (above[v] == v)
      for (int city = v; city >= 0; city = next[city]) found.order.push_back(city);
  found.first.clear();
  for (int p = 0; p < n; p += span[found.order[p]]) found.first.push_back(p);
  found.first.push_back(n);
  return true;
}

}  // namespace warptsp::space
