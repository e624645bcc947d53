// The paths that fixed edges make, and the simplest way to respect them. Host code only.
#pragma once
#include <cstdint>

#include "common/parallel.h"
#include "common/stop_token.h"

namespace warptsp::tours {

// At most two fixed edges meet in a city, and no cycle is shorter than the tour: the caller has checked it.
class FixedPaths {
 public:
  bool build(int n, const int *edges, int64_t count, const StopToken &token) {
    n_ = n;
    links_ = Buffer<int>(2 * (size_t)n);
    for (int i = 0; i < n; ++i) {
      if ((i & 0xffff) == 0 && token.stopped()) return false;
      links_[2 * (size_t)i] = links_[2 * (size_t)i + 1] = -1;
    }
    for (int64_t e = 0; e < count; ++e) {
      const int a = edges[2 * e], b = edges[2 * e + 1];
      if (a == b || is_inner(a) || is_inner(b) || links_[2 * (size_t)a] == b) continue;
      links_[2 * (size_t)a + (links_[2 * (size_t)a] >= 0)] = b;
      links_[2 * (size_t)b + (links_[2 * (size_t)b] >= 0)] = a;
    }
    return true;
  }
  bool is_inner(int city) const { return links_[2 * (size_t)city + 1] >= 0; }
  // Whether a fixed edge joins them.
  bool has(int a, int b) const { return links_[2 * (size_t)a] == b || links_[2 * (size_t)a + 1] == b; }

  // The city that follows `city` on a path walked from `previous` (-1: from its start); -1 at the end.
  int after(int city, int previous) const {
    const int *const link = links_.data() + 2 * (size_t)city;
    return link[0] == previous ? link[1] : link[0];
  }

  // An end of the path through a city; the city itself if the path is a cycle.
  int an_end(int city) const {
    int previous = -1, at = city;
    while (is_inner(at)) {
      const int next = after(at, previous);
      previous = at;
      at = next;
      if (at == city) break;
    }
    return at;
  }

  // Calls visit(city) along the path from its end `from`, and returns the other end.
  template <class Visit>
  int walk(int from, const Visit &visit) const {
    int previous = -1, at = from;
    while (true) {
      visit(at);
      const int next = after(at, previous);
      if (next < 0 || next == from) return at;
      previous = at;
      at = next;
    }
  }

 private:
  int n_ = 0;
  Buffer<int> links_;
};

// The cities in the order of `order`, but each path of fixed edges as a whole where its first city comes.
inline bool keep_fixed_edges(const int *order, int n, const int *edges, int64_t count, const StopToken &token,
                             int *tour) {
  FixedPaths paths;
  if (!paths.build(n, edges, count, token)) return false;
  Buffer<bool> placed(n);
  for (int i = 0; i < n; ++i) placed[i] = false;
  int size = 0;
  for (int i = 0; i < n; ++i) {
    if ((i & 0xfff) == 0 && token.stopped()) return false;
    const int city = order[i];
    if (placed[city]) continue;
    paths.walk(paths.is_inner(city) ? paths.an_end(city) : city, [&](int member) {
      placed[member] = true;
      tour[size++] = member;
    });
  }
  return true;
}

}  // namespace warptsp::tours
