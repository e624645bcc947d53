// Cutting a tour into sub-problems made of paths with fixed ends, and linking the results back. Host code only.
//
// Every city carries the number of its part. A maximal run of consecutive cities of one part is a path of that
// part; its two ends and the order of a part's paths stay as they are whatever the search inside does, so all
// parts can be improved at once and the new tour is the old sequence of runs with new contents.
#pragma once
#include <algorithm>
#include <vector>

#include "common/metric.h"
#include "common/parallel.h"
#include "common/random.h"

namespace warptsp::lk {

struct Run {
  int part, begin;  // index of its first city within the part
};

struct Partition {
  std::vector<int> part;     // [n] part of a city
  std::vector<int> local;    // [n] number of a city inside its part, ascending with the city
  std::vector<int> start;    // [parts + 1] where a part begins in `members`
  std::vector<int> members;  // [n] cities part by part, ascending
  std::vector<int> order;    // [n] local numbers part by part, in tour order; becomes the searches' result
  std::vector<int> path;     // [n] by local number, part by part: which of the part's runs holds a city
  std::vector<Run> runs;     // in tour order

  // `part` is set; the rest follows. The tour is read from position `rotation` on.
  void cut(const std::vector<int> &tour, int parts, int rotation) {
    const int n = (int)tour.size();
    local.resize(n);
    members.resize(n);
    order.resize(n);
    path.resize(n);
    runs.clear();
    start.assign(parts + 1, 0);
    for (int c = 0; c < n; c++) start[part[c] + 1]++;
    for (int b = 0; b < parts; b++) start[b + 1] += start[b];
    std::vector<int> filled(start.begin(), start.end() - 1), run_count(parts, 0);
    for (int c = 0; c < n; c++) {
      const int b = part[c];
      local[c] = filled[b] - start[b];
      members[filled[b]++] = c;
    }
    std::copy(start.begin(), start.end() - 1, filled.begin());
    int previous = -1;
    for (int i = 0, p = rotation; i < n; i++, p = p + 1 < n ? p + 1 : 0) {
      const int c = tour[p], b = part[c];
      if (b != previous) {
        runs.push_back(Run{b, filled[b] - start[b]});
        run_count[b]++;
        previous = b;
      }
      path[start[b] + local[c]] = run_count[b] - 1;
      order[filled[b]++] = local[c];
    }
  }

  // The tour after the searches: `order` holds their results, `path` the run that each city belongs to now.
  void link(std::vector<int> &tour) const {
    std::vector<int> next(start.begin(), start.end() - 1);  // how far each part has been read
    size_t to = 0;
    for (const Run &run : runs) {
      const int b = run.part, end = start[b + 1];
      int q = next[b];
      const int number = path[start[b] + order[q]];
      while (q < end && path[start[b] + order[q]] == number) tour[to++] = members[start[b] + order[q++]];
      next[b] = q;
    }
  }
};

// Parts of consecutive cities of the tour, of nearly equal size.
inline void cut_segments(const std::vector<int> &tour, int parts, int rotation, std::vector<int> &part) {
  const long long n = (long long)tour.size();
  part.resize(n);
  for (long long i = 0, p = rotation; i < n; i++, p = p + 1 < n ? p + 1 : 0) part[tour[p]] = (int)(i * parts / n);
}

// Parts that are boxes of a k-d tree over a sample of the cities. The first cuts are drawn away from the middle
// and the axis at random, so that the seams of one round are not those of the next.
class BoxCutter {
 public:
  // The boxes are as equal as `sampled` cities for each of them say: with 64 they differ by an eighth.
  BoxCutter(const Points &points, int n, int parts, Random random, int sampled = 64) : points_(points) {
    const int wanted = (int)std::min<long long>(n, (long long)sampled * parts);
    std::vector<int> sample;
    for (int i = 0; i < wanted; i++) {
      const int c = (int)((long long)i * n / wanted);
      if (row(c)[0] == row(c)[0]) sample.push_back(c);
    }
    build(sample.data(), (int)sample.size(), parts, random, 0);
  }
  int operator()(int city) const {
    int node = 0;
    while (nodes_[node].axis >= 0)
      node = row(city)[nodes_[node].axis] < nodes_[node].at ? node + 1 : nodes_[node].right;
    return nodes_[node].right;
  }
  int parts() const { return parts_; }
  // Says that this city comes soon.
  void prefetch(int city) const { warptsp::prefetch(row(city)); }

 private:
  struct Node {
    int axis, right;  // axis -1: a leaf, `right` its part
    double at;
  };
  Points points_;
  int parts_ = 0;
  std::vector<Node> nodes_;

  const double *row(int city) const { return points_.rows + (size_t)points_.stride * city; }

  void build(int *sample, int count, int parts, Random &random, int depth) {
    const int node = (int)nodes_.size();
    nodes_.push_back(Node{-1, 0, 0.0});
    if (parts <= 1 || count <= 1) {
      nodes_[node].right = parts_++;
      return;
    }
    int axis = 0;
    double widest = -1;
    for (int d = 0; d < points_.stride; d++) {
      double low = 1e300, high = -1e300;
      for (int i = 0; i < count; i++) {
        low = std::min(low, row(sample[i])[d]);
        high = std::max(high, row(sample[i])[d]);
      }
      // A random factor: squares are cut either way.
      const double extent = (high - low) * (1.0 + 0.5 * random.unit());
      if (extent > widest) widest = extent, axis = d;
    }
    const int left = parts / 2;
    double share = (double)left / parts;
    if (depth < 2) share += (random.unit() - 0.5) * 0.5 / parts * std::max(1, left);
    const int cut = std::min(count - 1, std::max(1, (int)(count * share)));
    std::nth_element(sample, sample + cut, sample + count, [&](int a, int b) {
      const double x = row(a)[axis], y = row(b)[axis];
      return x < y || (x == y && a < b);
    });
    nodes_[node].axis = axis;
    nodes_[node].at = row(sample[cut])[axis];
    build(sample, cut, left, random, depth + 1);
    nodes_[node].right = (int)nodes_.size();
    build(sample + cut, count - cut, parts - left, random, depth + 1);
  }
};

}  // namespace warptsp::lk
