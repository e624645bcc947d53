// Paths that grow by edges, and the simplest way to respect fixed ones. Host code only.
#pragma once
#include <cstdint>
#include <vector>

#include "common/parallel.h"
#include "common/stop_token.h"

namespace warptsp::tours {

// A city alone is a path, too.
class Fragments {
 public:
  // Begins with the paths of these edges, in their order as far as they fit; of a whole tour the last one closes it. False
  // if the token stopped it.
  bool begin(int n, const int *edges, int64_t count, const StopToken &token) {
    n_ = paths_ = n;
    links_ = Buffer<int>(2 * (size_t)n);
    far_end_ = Buffer<int>(n);
    const bool complete = for_each_piece(1, n, 1 << 16, token, [&](int64_t from, int64_t to) {
      for (int64_t i = from; i < to; ++i) {
        links_[2 * i] = links_[2 * i + 1] = -1;
        far_end_[i] = (int)i;
      }
    });
    for (int64_t e = 0; complete && e < count; ++e)
      if (fits(edges[2 * e], edges[2 * e + 1])) join(edges[2 * e], edges[2 * e + 1]);
    return complete;
  }
  bool is_inner(int city) const { return links_[2 * (size_t)city + 1] >= 0; }
  bool has(int a, int b) const { return links_[2 * (size_t)a] == b || links_[2 * (size_t)a + 1] == b; }
  bool fits(int a, int b) const { return !is_inner(a) && !is_inner(b) && far_end_[a] != b && a != b; }
  int paths() const { return paths_; }

  void join(int a, int b) {
    links_[2 * (size_t)a + (links_[2 * (size_t)a] >= 0)] = b;
    links_[2 * (size_t)b + (links_[2 * (size_t)b] >= 0)] = a;
    const int left = far_end_[a], right = far_end_[b];
    far_end_[left] = right;
    far_end_[right] = left;
    --paths_;
  }

  // Calls visit(city) along the path from its end `from`, and returns the other end.
  template <class Visit>
  int walk(int from, const Visit &visit) const {
    for (int previous = -1, at = from;;) {
      visit(at);
      const int next = after(at, previous);
      if (next < 0) return at;
      previous = at;
      at = next;
    }
  }
  // An end of the path through a city.
  int an_end(int city) const {
    int previous = -1;
    while (is_inner(city)) {
      const int next = after(city, previous);
      previous = city;
      city = next;
    }
    return city;
  }

  // The tour that closes the one path that is left, from city 0 on.
  bool write(int *tour, const StopToken &token) {
    for (int i = 0; i < n_ && n_ <= 2; ++i) tour[i] = i;
    if (n_ <= 2) return true;
    int first = 0;
    while (is_inner(first)) ++first;
    const int last = far_end_[first];
    links_[2 * (size_t)first + 1] = last;
    links_[2 * (size_t)last + 1] = first;
    int previous = -1, city = 0;
    return for_each_piece(1, n_, 1 << 12, token, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        tour[i] = city;
        const int *const link = links_.data() + 2 * (size_t)city;
        const int next = link[link[0] == previous];
        previous = city;
        city = next;
      }
    });
  }

 private:
  int n_ = 0;
  Buffer<int> links_;    // two neighbours a city, -1 for none; the first is filled first
  Buffer<int> far_end_;  // of a path's end: its other end
  int paths_ = 0;

  // The city that follows `city` on a path walked from `previous` (-1: from its start); -1 at the end.
  int after(int city, int previous) const {
    const int *const link = links_.data() + 2 * (size_t)city;
    return link[0] == previous ? link[1] : link[0];
  }
};

// The cities in the order of `order`, but each path of fixed edges as a whole where its first city comes.
inline bool keep_fixed_edges(const int *order, int n, const int *edges, int64_t count, const StopToken &token,
                             int *tour) {
  Fragments paths;
  if (!paths.begin(n, edges, count, token)) return false;
  std::vector<bool> placed(n);
  int size = 0;
  for (int i = 0; i < n; ++i) {
    if ((i & 0xfff) == 0 && token.stopped()) return false;
    if (placed[order[i]]) continue;
    paths.walk(paths.an_end(order[i]), [&](int member) {
      placed[member] = true;
      tour[size++] = member;
    });
  }
  return true;
}

}  // namespace warptsp::tours
