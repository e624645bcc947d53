// The long links of a tour on their own: the search that sees how clusters hang together. Host code only.
//
// A part of some hundred cities lies within a few clusters, and no search inside it finds a better way from cluster to
// cluster. Here the ends of the longest links are cities of a smaller problem, in which the rest of the tour between two
// of them is a fixed edge. Its tour is the whole tour again when every fixed edge is replaced by the path it stands for.
#pragma once
#include <algorithm>
#include <numeric>
#include <vector>

#include "lk/subproblem.h"
#include "space/candidates.h"
#include "space/spread_candidates.h"

namespace warptsp::lk {

struct LongLinks {
  long long kicks = 0;  // after local search
  unsigned long long seed = 0;
  int candidates = 10, per_quadrant = 2;
};

// How many of a tour's links count as long: a tenth, at least 10 and at most 100 000 (EXP-042).
inline int long_links_of(int links) {
  constexpr int share = 10, least = 10, most = 100'000;
  return std::min(links, std::max(least, std::min(links / share, most)));
}

// The tour's positions at which its long links begin or end, ascending.
template <class Metric>
std::vector<int> ends_of_long_links(const Metric &metric, const std::vector<int> &tour) {
  const int n = (int)tour.size(), count = long_links_of(n);
  std::vector<typename Metric::Value> length(n);
  for (int p = 0; p < n; p++) length[p] = metric(tour[p], tour[p + 1 < n ? p + 1 : 0]);
  std::vector<int> link(n);
  std::iota(link.begin(), link.end(), 0);
  std::nth_element(link.begin(), link.begin() + (count - 1), link.end(),
                   [&](int a, int b) { return length[a] > length[b] || (length[a] == length[b] && a < b); });
  std::vector<char> is_end(n, 0);
  for (int k = 0; k < count; k++) is_end[link[k]] = is_end[link[k] + 1 < n ? link[k] + 1 : 0] = 1;
  std::vector<int> ends;
  for (int p = 0; p < n; p++)
    if (is_end[p]) ends.push_back(p);
  return ends;
}

// Puts the paths between the ends back; `order` are the ends in their new sequence, by number.
inline std::vector<int> with_paths(const std::vector<int> &tour, const std::vector<int> &ends,
                                   const std::vector<int> &order) {
  const int n = (int)tour.size(), size = (int)ends.size();
  const auto behind = [size](int end) { return end + 1 < size ? end + 1 : 0; };
  // Links of the tour from an end to the next.
  const auto links = [&](int end) { return ends[behind(end)] - ends[end] + (end + 1 < size ? 0 : n); };
  std::vector<int> whole;
  whole.reserve(n);
  for (int i = 0; i < size; i++) {
    const int end = order[i], next = order[behind(i)];
    const bool onward = next == behind(end) && links(end) > 1, back = !onward && end == behind(next);
    const int count = onward ? links(end) : back ? links(next) : 1, step = back ? n - 1 : 1;
    for (int k = 0, p = ends[end]; k < count; k++, p = (p + step) % n) whole.push_back(tour[p]);
  }
  return whole;
}

// Rows of candidates among some cities, numbered from 0. False if the token stopped it.
template <class Metric>
bool candidates_of(const PointSource<Metric> &some, int size, const LongLinks &plan, const StopToken &token,
                   int *rows) {
  return space::candidate_lists(some.points.rows, size, some.points.stride, plan.candidates, plan.per_quadrant,
                                (int)facts_of(some.kind).norm, on_sphere(some.kind), 1, token, rows);
}
template <class V>
bool candidates_of(const MatrixSource<V> &some, int size, const LongLinks &plan, const StopToken &token, int *rows) {
  const Matrix<V> metric{some.entries, size};
  return space::candidates_by_distance(size, metric, plan.candidates, plan.per_quadrant, 1, token, rows);
}

// Searches among the longest links of a closed tour without fixed edges. Returns how much shorter it is.
template <class Source>
double improve_long_links(const Source &source, LkParams params, typename Source::Metric::Value tolerance,
                          const LongLinks &plan, std::vector<int> &tour, const StopToken &token) {
  typename Source::Buffer unused, buffer;
  const int n = (int)tour.size();
  const std::vector<int> ends = ends_of_long_links(source.bind(nullptr, n, unused), tour);
  const int size = (int)ends.size();
  std::vector<int> cities(size), fixed(2 * (size_t)size, -1);
  for (int i = 0; i < size; i++) {
    const int next = i + 1 < size ? i + 1 : 0;
    cities[i] = tour[ends[i]];
    if ((ends[i] + 1) % n == ends[next]) continue;
    fixed[2 * (size_t)i + 1] = next;
    fixed[2 * (size_t)next] = i;
  }
  params.candidates = plan.candidates;
  std::vector<int> candidates((size_t)size * plan.candidates);
  const Source small = source.restricted(cities.data(), size, buffer);
  if (!candidates_of(small, size, plan, token, candidates.data())) return 0;
  SubProblem<Source, false> problem;
  problem.order.resize(size);
  std::iota(problem.order.begin(), problem.order.end(), 0);
  problem.prepare(small, nullptr, size, candidates.data(), params, fixed.data(), tolerance);
  double gain = problem.optimize(token);
  gain += problem.kicks({plan.kicks, 0, plan.seed, 0, 0}, token);
  if (gain > 0) tour = with_paths(tour, ends, problem.order);
  return gain;
}

}  // namespace warptsp::lk
