// The greedy edge tour: the shortest edge that still fits, again and again. Host code only.
//
// J. L. Bentley, "Fast algorithms for geometric traveling salesman problems", ORSA J. Computing 4 (1992). In rounds,
// each over the edges from every fragment's ends to the nearest other ends, in order of length; at first every city is
// a fragment. A round leaves about a tenth of the ends. Not quite the greedy tour of all edges: an end whose neighbours
// are taken waits for the next round, while others go on to longer edges. In length that makes no difference.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "space/candidates.h"
#include "tours/fragments.h"
#include "common/metric.h"
#include "common/parallel.h"
#include "common/radix_sort.h"
#include "common/stop_token.h"

namespace warptsp::tours {

// Rows of neighbours for `size` cities: entry k of row i stands for the edge from city(i) to city(rows[i * width + k]).
struct EdgeRows {
  const int *rows;
  int size, width;
  const int *cities;  // null: row i is city i
  int city(int i) const { return cities ? cities[i] : i; }
  const int *row(int i) const { return rows + (int64_t)i * width; }
  // Whether row i has j.
  bool lists(int i, int j) const {
    for (int k = 0; k < width; ++k)
      if (row(i)[k] == j) return true;
    return false;
  }
};

// Takes the edges of `edges` in order of length (then of place in the rows), and adds those that still fit. The rows
// must be in order of length, else an edge waits for the longer ones that precede it in its row.
//
// The edges are sorted a band of lengths at a time: most of the longer ones no longer fit when their turn comes, and
// are never stored.
template <class Length>
bool add_shortest_first(Fragments &fragments, const EdgeRows &edges, const Length &length, const StopToken &token) {
  if (edges.size == 0 || edges.width == 0) return true;
  const int width = edges.width;
  const auto length_of = [&](int i, int k) { return (double)length(edges.city(i), edges.city(edges.row(i)[k])); };

  std::vector<float> sample;
  const int stride = std::max(1, edges.size / 1024);
  for (int64_t i = 0; i < edges.size; i += stride)
    for (int k = 0; k < width && edges.row((int)i)[k] >= 0; ++k) sample.push_back((float)length_of((int)i, k));
  if (sample.empty()) return true;
  std::sort(sample.begin(), sample.end());

  // Length in the upper half, as the bits of a float, which rise with its value; place in the rows in the lower half.
  std::vector<uint64_t> band;
  band.reserve((size_t)edges.size + (size_t)edges.size / 2);
  Buffer<uint16_t> next(edges.size);
  for (int i = 0; i < edges.size; ++i) next[i] = 0;
  std::vector<std::pair<double, uint32_t>> equal;
  for (int b = 1; b <= width; ++b) {
    const float limit =
        b == width ? std::numeric_limits<float>::infinity() : sample[(size_t)b * (sample.size() - 1) / width];
    if (b > 1 && b < width && limit == sample[(size_t)(b - 1) * (sample.size() - 1) / width]) continue;
    band.clear();
    for (int i = 0; i < edges.size; ++i) {
      if ((i & 0xfff) == 0 && token.stopped()) return false;
      const int city = edges.city(i);
      if (fragments.is_inner(city)) continue;
      const int *const row = edges.row(i);
      int k = next[i];
      for (; k < width && row[k] >= 0; ++k) {
        const int other = edges.city(row[k]);
        if (!fragments.fits(city, other)) continue;
        const float key = (float)length(city, other);
        if (key > limit) break;
        if (row[k] < i && edges.lists(row[k], i)) continue;
        uint32_t bits;
        std::memcpy(&bits, &key, sizeof bits);
        band.push_back((uint64_t)bits << 32 | ((uint32_t)i * (uint32_t)width + (uint32_t)k));
      }
      next[i] = (uint16_t)k;
    }
    const int64_t size = (int64_t)band.size();
    {
      Buffer<uint64_t> spare(band.size());
      const auto length_bits = [](uint64_t edge) { return edge >> 32; };
      if (!radix_sort(band.data(), spare.data(), size, 32, length_bits, token)) return false;
    }
    const auto add = [&](uint32_t place) {
      const int i = (int)(place / (uint32_t)width);
      const int a = edges.city(i), b = edges.city(edges.rows[place]);
      if (fragments.fits(a, b)) fragments.join(a, b);
    };
    for (int64_t begin = 0, end; begin < size; begin = end) {
      if ((begin & 0xfff) == 0 && token.stopped()) return false;
      for (end = begin + 1; end < size && band[end] >> 32 == band[begin] >> 32;) ++end;
      if (end == begin + 1) {
        add((uint32_t)band[begin]);
        continue;
      }
      // Equal as floats: by their exact lengths.
      equal.clear();
      for (int64_t e = begin; e < end; ++e) {
        if ((e & 0xfff) == 0 && token.stopped()) return false;
        const uint32_t place = (uint32_t)band[e];
        equal.emplace_back(length_of((int)(place / (uint32_t)width), (int)(place % (uint32_t)width)), place);
      }
      if (!std::is_sorted(equal.begin(), equal.end())) std::sort(equal.begin(), equal.end());
      for (const auto &edge : equal) add(edge.second);
    }
  }
  return true;
}

// Takes the edges between any two of `size` cities (null: of all) in order of length, then of the first city, of its
// `nearness` to the other, and of the step to it; and adds those that still fit. The few shortest come first: of the
// others hardly any fits then.
template <class Length, class Nearness>
bool add_all_pairs(Fragments &fragments, const int *cities, int size, const Length &length, const Nearness &nearness,
                   const StopToken &token) {
  struct Pair {
    float length;
    uint16_t first, second;
  };
  constexpr int first_band = 4;  // edges a city
  const auto city = [&](int i) { return cities ? cities[i] : i; };
  const size_t count = (size_t)size * (size - 1) / 2;
  std::vector<float> lengths, sample;
  lengths.reserve(count);
  for (int i = 0; i < size; ++i)
    for (int j = i + 1; j < size; ++j) lengths.push_back((float)length(city(i), city(j)));
  for (size_t k = 0; k < count; k += 1 + count / 1024) sample.push_back(lengths[k]);
  const size_t middle = std::min(sample.size() - 1, sample.size() * 2 * first_band / size);
  std::nth_element(sample.begin(), sample.begin() + (std::ptrdiff_t)middle, sample.end());
  const float limit = sample[middle];
  const auto before = [&](const Pair &p, const Pair &q) {
    if (p.length != q.length) return p.length < q.length;
    const auto a = length(city(p.first), city(p.second)), b = length(city(q.first), city(q.second));
    if (a != b) return a < b;
    if (p.first != q.first) return p.first < q.first;
    const auto c = nearness(city(p.first), city(p.second)), d = nearness(city(q.first), city(q.second));
    return c != d ? c < d : p.second < q.second;
  };
  std::vector<Pair> band;
  for (const bool rest : {false, true}) {
    if (token.stopped()) return false;
    band.clear();
    const float *key = lengths.data();
    for (int i = 0; i < size; ++i) {
      if (fragments.is_inner(city(i))) {
        key += size - 1 - i;
        continue;
      }
      for (int j = i + 1; j < size; ++j, ++key)
        if ((*key > limit) == rest && fragments.fits(city(i), city(j)))
          band.push_back({*key, (uint16_t)i, (uint16_t)j});
    }
    std::sort(band.begin(), band.end(), before);
    for (const Pair &pair : band)
      if (fragments.fits(city(pair.first), city(pair.second))) fragments.join(city(pair.first), city(pair.second));
  }
  return true;
}

// The greedy tour. `nearest(cities, size, width, rows)` fills rows of the `width` nearest others of each of `size`
// cities (as indices into `cities`, which is null for all cities; in order of distance), and returns false if it was
// stopped; `nearness(a, b)` is what it goes by. False if the token stopped it.
//
// Quadrant neighbours have no place in these rows: where the near ones are taken, a long edge to another cluster
// would come before shorter ones that only the next round sees. On clustered instances that costs 8 %.
template <class Length, class Nearest, class Nearness>
bool greedy_edge(int n, const Length &length, const Nearest &nearest, const Nearness &nearness, const int *fixed_edges,
                 int64_t fixed, const StopToken &token, int *tour) {
  constexpr int neighbours = 5, all_pairs = 256;
  Fragments fragments;
  if (!fragments.begin(n, fixed_edges, fixed, token)) return false;
  std::vector<int> ends;
  for (bool first = true; fragments.paths() > 1; first = false) {
    const bool all = first && fixed == 0;
    ends.clear();
    for (int i = 0; i < n && !all; ++i) {
      if ((i & 0xffff) == 0 && token.stopped()) return false;
      if (!fragments.is_inner(i)) ends.push_back(i);
    }
    const int *const cities = all ? nullptr : ends.data();
    const int size = all ? n : (int)ends.size();
    if (size <= all_pairs) {
      if (!add_all_pairs(fragments, cities, size, length, nearness, token)) return false;
      continue;
    }
    // Two neighbours make sure that one belongs to another path.
    Buffer<int> rows((size_t)size * neighbours);
    if (!nearest(cities, size, neighbours, rows.data())) return false;
    if (!add_shortest_first(fragments, EdgeRows{rows.data(), size, neighbours, cities}, length, token)) return false;
  }
  return fragments.write(tour, token);
}

// From coordinates.
inline bool greedy_edge_points(const double *points, int n, int dimensions, MetricKind kind, const int *fixed_edges,
                               int64_t fixed, int threads, const StopToken &token, int *tour) {
  const AnyCoordinates<double> length{Points{points, dimensions}, kind};
  const int norm = (int)facts_of(kind).norm;
  const auto nearest = [&](const int *cities, int size, int width, int *rows) {
    Buffer<double> gathered(cities ? (size_t)size * dimensions : 0);
    for (int i = 0; i < size && cities; ++i) {
      if ((i & 0xfff) == 0 && token.stopped()) return false;
      for (int d = 0; d < dimensions; ++d)
        gathered[(size_t)i * dimensions + d] = points[(size_t)cities[i] * dimensions + d];
    }
    return space::candidate_lists(cities ? gathered.data() : points, size, dimensions, width, 0, norm, false, threads,
                                  token, rows);
  };
  const auto nearness = [&](int a, int b) {
    return space::nearness_in_norm(norm, dimensions, points + (size_t)a * dimensions, points + (size_t)b * dimensions);
  };
  return greedy_edge(n, length, nearest, nearness, fixed_edges, fixed, token, tour);
}

// In tiles: `points` lie along a closed space-filling curve, and each of `tiles` consecutive pieces of it becomes a
// greedy path from its first city to its last. The tiles are compact, so pieces of this tour can be searched alone:
// the fragments of the greedy tour of all cities are joined by edges that cross any piece. R. M. Karp, "Probabilistic
// analysis of partitioning algorithms for the TSP in the plane", Math. Operations Research 2 (1977).
inline bool greedy_tiles_points(const double *points, int n, int dimensions, MetricKind kind, const int *fixed_edges,
                                int64_t fixed, int tiles, int threads, const StopToken &token, int *tour) {
  const auto first = [&](int tile) { return (int)(((int64_t)tile * n + tiles - 1) / tiles); };
  const auto tile_of = [&](int city) { return (int)((int64_t)city * tiles / n); };
  std::vector<std::vector<int>> kept(tiles);
  for (int64_t e = 0; e < fixed; ++e) {
    const int a = fixed_edges[2 * e], b = fixed_edges[2 * e + 1], tile = tile_of(a);
    if (tile != tile_of(b)) continue;
    kept[tile].push_back(a - first(tile));
    kept[tile].push_back(b - first(tile));
  }
  const bool complete = all_tasks(threads, tiles, [&](int tile) {
    const int begin = first(tile), size = first(tile + 1) - begin, last = size - 1;
    std::vector<int> &edges = kept[tile];
    edges.insert(edges.end(), {0, last});
    int *const path = tour + begin;
    if (!greedy_edge_points(points + (int64_t)begin * dimensions, size, dimensions, kind, edges.data(),
                            (int64_t)edges.size() / 2, 1, token, path))
      return false;
    // A closed tour through 0 and `last` side by side.
    if (size > 2 && path[1] == last) std::reverse(path + 1, path + size);
    for (int i = 0; i < size; ++i) path[i] += begin;
    return true;
  });
  if (!complete || fixed == 0) return complete;
  // Fixed edges between tiles.
  const std::vector<int> order(tour, tour + n);
  return keep_fixed_edges(order.data(), n, fixed_edges, fixed, token, tour);
}

// From a full matrix.
template <class V>
bool greedy_edge_matrix(const V *matrix, int n, const int *fixed_edges, int64_t fixed, int threads,
                        const StopToken &token, int *tour) {
  const Matrix<V> length{matrix, n};
  const auto nearest = [&](const int *cities, int size, int width, int *rows) {
    if (cities == nullptr) return space::nearest_by_distance(size, length, width, threads, token, rows);
    const auto distance = [&](int i, int j) { return length(cities[i], cities[j]); };
    return space::nearest_by_distance(size, distance, width, threads, token, rows);
  };
  return greedy_edge(n, length, nearest, length, fixed_edges, fixed, token, tour);
}

}  // namespace warptsp::tours
