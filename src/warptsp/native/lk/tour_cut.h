// A tour cut into parts that are improved elsewhere, and the tour that their answers make. Host code only.
//
// As in partition.h, a maximal run of consecutive cities of one part is a path of that part, and the edge from the end
// of a path to the start of the part's next one stands for the tour outside. An answer keeps those edges, but may join
// the ends of its paths in other pairs. The gaps between paths then make one closed tour of all answers, or several,
// which path_graph.h joins. Gaps are numbered by the path in front of them, not by position as on a GPU: memory goes
// with the paths, which are a few thousandths of the cities where parts are large.
//
// A fixed edge is a gap, too: nothing else keeps it.
//
// Bytes: 4 a city, and 4 more while the tour is cut; 12 a path, and about 150 while parts are linked.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "tours/fragments.h"
#include "common/parallel.h"
#include "lk/partition.h"
#include "lk/path_graph.h"
#include "common/stop_token.h"

namespace warptsp::lk {

class TourCut {
 public:
  // The tour is read from position `rotation` on. False, with an unusable object, if the token stopped it.
  bool cut_stretches(const int *tour, int n, int parts, int rotation, const int *fixed, int64_t fixed_count,
                     int threads, const StopToken &token) {
    const auto part_of = [&](int, int i) { return (int)((int64_t)i * parts / n); };
    return cut(tour, n, parts, rotation, part_of, [](int) {}, fixed, fixed_count, threads, token);
  }

  // Parts are the boxes of `box` that have cities.
  bool cut_boxes(const BoxCutter &box, const int *tour, int n, int rotation, const int *fixed, int64_t fixed_count,
                 int threads, const StopToken &token) {
    const auto part_of = [&](int city, int) { return box(city); };
    const auto ahead = [&](int city) { box.prefetch(city); };
    return cut(tour, n, box.parts(), rotation, part_of, ahead, fixed, fixed_count, threads, token);
  }

  int parts() const { return (int)start_.size() - 1; }
  int cities() const { return start_.back(); }
  int size(int b) const { return start_[b + 1] - start_[b]; }
  // The cities of part b, in tour order; of its answer once there is one.
  const int *cities(int b) const { return members_.data() + start_[b]; }
  int path_count(int b) const { return first_path_[b + 1] - first_path_[b]; }
  int path_count() const { return first_path_.back(); }
  // Where path j of part b begins among its cities.
  int path_begin(int b, int j) const { return j < path_count(b) ? paths_[first_path_[b] + j].begin : size(b); }

  // Takes the answer of part b: its cities, numbered as in cities(b), along a closed tour that has every edge from the
  // end of a path to the start of the next. Says what is wrong with it, and leaves all as it was; or nothing.
  std::string put(int b, const int *order, int count) {
    if (answered_[b].exchange(true)) return "part " + std::to_string(b) + " has its answer already";
    std::string wrong = take(b, order, count);
    if (!wrong.empty()) answered_[b] = false;
    return wrong;
  }

  // The cities at head and tail of every path.
  void ends(int *cities) const {
    for (int b = 0; b < parts(); b++)
      for (int j = 0; j < path_count(b); j++) {
        const int64_t path = first_path_[b] + j;
        cities[2 * path] = members_[start_[b] + (int64_t)path_begin(b, j)];
        cities[2 * path + 1] = members_[start_[b] + (int64_t)path_begin(b, j + 1) - 1];
      }
  }

  enum class Linked { done, stopped, impossible };

  // `order`: the ends (numbered as `ends` writes them) along a space-filling curve; length(a, b): the distance of two
  // ends. `closed` is how many closed tours there were.
  template <class Length>
  Linked link(const int *order, Length &&length, int *tour, int *closed, int threads, const StopToken &token) const {
    const int count = path_count();
    std::vector<LinkedPath> linked(count);
    std::vector<PathPlace> places(count);
    std::vector<int> end_at(2 * (size_t)count);  // by side
    for (int i = 0; i < count; i++) {
      end_at[paths_[i].head] = 2 * i;
      end_at[paths_[i].tail] = 2 * i + 1;
    }
    for (int b = 0; b < parts(); b++)
      for (int j = 0; j < path_count(b); j++) {
        const Path &path = paths_[first_path_[b] + j];
        LinkedPath &own = linked[first_path_[b] + j];
        own.link[0] = end_at[path.head ^ 1];
        own.link[1] = end_at[path.tail ^ 1];
        own.length = path_begin(b, j + 1) - path.begin;
      }
    for (int64_t rank = 0; rank < 2 * (int64_t)count; rank++)
      linked[order[rank] >> 1].city[order[rank] & 1] = (int)rank;
    if (token.stopped()) return Linked::stopped;
    const auto between = [&](int p, int q) {
      return is_fixed(end_city(order[p]), end_city(order[q])) ? -PathGraph::kept : length(order[p], order[q]);
    };
    *closed = PathGraph().arrange(linked.data(), count, places.data(), between);
    if (*closed == 0) return Linked::impossible;
    constexpr int64_t piece = 1 << 16;
    std::atomic<bool> complete{true};
    for_each_task(threads, parts(), [&](int b) {
      for (int j = 0; j < path_count(b); j++) {
        const int64_t path = first_path_[b] + j, length = linked[path].length;
        const int *const from = members_.data() + start_[b] + path_begin(b, j);
        int *const to = tour + places[path].begin;
        for (int64_t begin = 0; begin < length; begin += piece) {
          if (begin > 0 || j % 256 == 0)
            if (token.stopped()) {
              complete = false;
              return;
            }
          const int64_t end = std::min(begin + piece, length);
          if (places[path].turned)
            std::reverse_copy(from + begin, from + end, to + length - end);
          else
            std::copy(from + begin, from + end, to + begin);
        }
      }
    });
    return complete ? Linked::done : Linked::stopped;
  }

 private:
  struct Path {
    int begin;       // among the cities of its part
    int head, tail;  // sides: 2 p is the left one of the gap behind the tour's path p, 2 p + 1 the right one
  };
  std::vector<int> start_;       // [parts + 1] where a part begins in members_
  std::vector<int> first_path_;  // [parts + 1] where a part begins in paths_
  Buffer<int> members_;          // [n] part by part, in tour order, or in that of the answer
  Buffer<Path> paths_;
  std::unique_ptr<std::atomic<bool>[]> answered_;
  tours::Fragments fixed_;
  bool has_fixed_ = false;

  bool is_fixed(int a, int b) const { return has_fixed_ && fixed_.has(a, b); }
  // The city of an end as `ends` numbers them.
  int end_city(int end) const {
    const int path = end >> 1;
    const int b = (int)(std::upper_bound(first_path_.begin(), first_path_.end(), path) - first_path_.begin()) - 1;
    const int j = path - first_path_[b];
    return members_[start_[b] + (int64_t)(end & 1 ? path_begin(b, j + 1) - 1 : path_begin(b, j))];
  }

  template <class PartOf, class Ahead>
  bool cut(const int *tour, int n, int parts, int rotation, const PartOf &part_of, const Ahead &ahead, const int *fixed,
           int64_t fixed_count, int threads, const StopToken &token) {
    constexpr int64_t poll = 1 << 14;
    constexpr int prefetched = 16;  // cities of a random part of memory that a core fetches at a time
    has_fixed_ = fixed_count > 0;
    if (has_fixed_ && !fixed_.begin(n, fixed, fixed_count, token)) return false;
    const auto city_at = [&](int64_t i) { return tour[i + rotation < n ? i + rotation : i + rotation - n]; };
    const int chunks = (int)std::max<int64_t>(1, std::min<int64_t>(8 * (int64_t)threads, n / poll));
    const auto chunk_begin = [&](int c) { return (int64_t)n * c / chunks; };
    Buffer<int> label(n);
    // Of a chunk, and then where they begin: cities and paths by part.
    std::vector<int> cities((size_t)chunks * parts), paths((size_t)chunks * parts);
    std::atomic<bool> complete{true};
    const auto begins_path = [&](int64_t i, int previous, int own) {
      return i == 0 || own != previous || is_fixed(city_at(i - 1), city_at(i));
    };
    // Calls each(i, city, part, whether a path begins there) along a chunk.
    const auto for_chunk = [&](int c, const auto &part_at, const auto &each) {
      const int64_t end = chunk_begin(c + 1);
      int previous = c > 0 ? part_at(chunk_begin(c) - 1) : -1;
      for (int64_t begin = chunk_begin(c); begin < end; begin += poll) {
        if (token.stopped()) {
          complete = false;
          return;
        }
        for (int64_t i = begin; i < std::min(begin + poll, end); i++) {
          const int own = part_at(i);
          each(i, own, begins_path(i, previous, own));
          previous = own;
        }
      }
    };
    for_each_task(threads, chunks, [&](int c) {
      int *const city_count = cities.data() + (size_t)c * parts, *const path_count = paths.data() + (size_t)c * parts;
      const auto part_at = [&](int64_t i) {
        if (i + prefetched < n) ahead(city_at(i + prefetched));
        return part_of(city_at(i), (int)i);
      };
      for_chunk(c, part_at, [&](int64_t i, int own, bool begins) {
        label[i] = own;
        city_count[own]++;
        path_count[own] += begins;
      });
    });
    if (!complete) return false;

    std::vector<int> first_in_tour(chunks + 1, 0);  // number of a chunk's first path along the tour
    for (int c = 0; c < chunks; c++)
      first_in_tour[c + 1] =
          std::accumulate(paths.begin() + (size_t)c * parts, paths.begin() + (size_t)(c + 1) * parts, first_in_tour[c]);
    start_.assign(1, 0);
    first_path_.assign(1, 0);
    std::vector<int> part_start(parts);  // of every part, empty ones included
    for (int b = 0; b < parts; b++) {
      part_start[b] = start_.back();
      int next_city = start_.back(), next_path = first_path_.back();
      for (int c = 0; c < chunks; c++) {
        const size_t at = (size_t)c * parts + b;
        const int city_count = cities[at], path_count = paths[at];
        cities[at] = next_city;
        paths[at] = next_path;
        next_city += city_count;
        next_path += path_count;
      }
      if (next_city == start_.back()) continue;
      start_.push_back(next_city);
      first_path_.push_back(next_path);
    }
    const int count = first_path_.back();
    if (count >= 1 << 30) throw std::overflow_error("more than 2^30 paths have no numbers");
    members_ = Buffer<int>(n);
    paths_ = Buffer<Path>(count);
    answered_ = std::make_unique<std::atomic<bool>[]>(this->parts());
    for (int b = 0; b < this->parts(); b++) answered_[b] = false;
    for_each_task(threads, chunks, [&](int c) {
      int *const next_city = cities.data() + (size_t)c * parts, *const next_path = paths.data() + (size_t)c * parts;
      int number = first_in_tour[c];
      for_chunk(
          c, [&](int64_t i) { return label[i]; },
          [&](int64_t i, int own, bool begins) {
            if (begins) {
              paths_[next_path[own]++] =
                  Path{next_city[own] - part_start[own], 2 * (number > 0 ? number - 1 : count - 1) + 1, 2 * number};
              number++;
            }
            members_[next_city[own]++] = city_at(i);
          });
    });
    return complete;
  }

  std::string take(int b, const int *order, int count) {
    const int n = size(b), paths = path_count(b);
    const auto answer = [&] { return "the answer of part " + std::to_string(b); };
    if (count != n) return answer() + " has " + std::to_string(count) + " cities, the part has " + std::to_string(n);
    std::vector<char> seen(n, 0);
    for (int q = 0; q < n; q++) {
      if (order[q] < 0 || order[q] >= n)
        return answer() + " has city " + std::to_string(order[q]) + ": they are counted from 0 to " +
               std::to_string(n - 1);
      if (seen[order[q]]) return answer() + " has city " + std::to_string(order[q]) + " twice";
      seen[order[q]] = 1;
    }
    if (n < 4) return {};  // there is one tour only, and with fewer than three cities an edge has a twin

    Path *const own = paths_.data() + first_path_[b];
    // The edge that must stay leads from the city in front of a path to the path's first one.
    std::vector<int> begins(n, -1);  // path that begins at a city
    for (int j = 0; j < paths; j++) begins[own[j].begin] = j;
    const auto after = [&](int city) { return city + 1 < n ? city + 1 : 0; };
    const auto kept = [&](int p, int q) {
      return (q == after(p) && begins[q] >= 0) || (p == after(q) && begins[p] >= 0);
    };
    int found = 0, first = -1;
    for (int q = 0; q < n; q++)
      if (kept(order[q > 0 ? q - 1 : n - 1], order[q])) {
        if (first < 0) first = q;
        found++;
      }
    if (found < paths)
      return answer() + " lacks " + std::to_string(paths - found) + " of the " + std::to_string(paths) +
             " edges between its paths";

    const auto left = [&](int city) { return own[begins[after(city)] > 0 ? begins[after(city)] - 1 : paths - 1].tail; };
    const auto right = [&](int city) { return own[begins[city]].head; };
    std::vector<int> cities(n);
    std::vector<Path> made;
    made.reserve(paths);
    for (int i = 0, q = first; i < n; i++, q = q + 1 < n ? q + 1 : 0) {
      const int before = order[q > 0 ? q - 1 : n - 1], city = order[q], next = order[q + 1 < n ? q + 1 : 0];
      cities[i] = members_[start_[b] + (int64_t)city];
      // It lies at the right side of the gap that `before` is in front of, or the other way round.
      if (kept(before, city)) made.push_back(Path{i, city == after(before) ? right(city) : left(city), -1});
      if (kept(city, next)) made.back().tail = next == after(city) ? left(city) : right(city);
    }
    std::copy(cities.begin(), cities.end(), members_.data() + start_[b]);
    std::copy(made.begin(), made.end(), own);
    return {};
  }
};

}  // namespace warptsp::lk
