#include "space/candidates.h"

#include <algorithm>

#include "check.h"
#include "clouds.h"

using namespace warptsp;
using namespace warptsp::space;

// All others in order of distance and of the step to them; then what the definition says.
template <int D, int Norm, class Sectors>
static std::vector<int> reference(const std::vector<double> &points, int n, int city, int count, int per_sector) {
  struct Other {
    double distance;
    int step, city, sector;
  };
  std::vector<Other> others;
  Sectors sectors;
  double largest = 0.0;  // the tree's scale, which changes nothing but where squares vanish
  for (const double x : points) largest = std::max(largest, std::fabs(x));
  int exponent = 0;
  if (largest > 0.0) std::frexp(largest, &exponent);
  const double scale = std::ldexp(1.0, -exponent);
  double from[D];
  for (int d = 0; d < D; ++d) from[d] = points[(size_t)city * D + d] * scale;
  sectors.stand_at(from);
  for (int j = 0; j < n; ++j) {
    if (j == city) continue;
    double delta[D];
    for (int d = 0; d < D; ++d) delta[d] = points[(size_t)j * D + d] * scale - from[d];
    others.push_back({norm_of<Norm, D>(delta), (j - city + n) % n, j, sectors.of(delta)});
  }
  const auto before = [](const Other &a, const Other &b) {
    return a.distance < b.distance || (a.distance == b.distance && a.step < b.step);
  };
  std::sort(others.begin(), others.end(), before);
  std::vector<Other> chosen;
  std::vector<bool> taken(n, false);
  for (int s = 0; s < Sectors::size; ++s) {
    int left = per_sector;
    for (const Other &other : others)
      if (other.sector == s && left > 0) {
        chosen.push_back(other);
        taken[other.city] = true;
        --left;
      }
  }
  for (const Other &other : others)
    if ((int)chosen.size() < count && !taken[other.city]) chosen.push_back(other);
  std::sort(chosen.begin(), chosen.end(), before);
  std::vector<int> row(count, -1);
  for (size_t k = 0; k < chosen.size(); ++k) row[k] = chosen[k].city;
  return row;
}

template <int D, int Norm, class Sectors>
static void check_lists(const std::vector<double> &points, int count, int per_sector, int threads) {
  const int n = (int)points.size() / D;
  const StopToken token;
  std::vector<int> rows((size_t)n * count);
  CHECK((find_candidates<D, Norm, Sectors>(points.data(), n, count, per_sector, threads, token, rows.data())));
  for (int city = 0; city < n; ++city) {
    const std::vector<int> expected = reference<D, Norm, Sectors>(points, n, city, count, per_sector);
    CHECK(std::equal(expected.begin(), expected.end(), rows.begin() + (size_t)city * count));
  }
}

TEST(plane) {
  check::Random random(1);
  for (int trial = 0; trial < 12; ++trial)
    for (int kind = 0; kind < cloud_kinds; ++kind) {
      const std::vector<double> points = cloud(kind, 1 + random.below(150), 2, random);
      check_lists<2, 2, Quadrants>(points, 10, 2, 1 + trial % 3);
      check_lists<2, 1, Quadrants>(points, 4, 1, 2);
      check_lists<2, 0, Quadrants>(points, 8, 2, 1);
      check_lists<2, 2, NoSectors>(points, 6, 0, 1);
    }
}

TEST(space) {
  check::Random random(2);
  for (int trial = 0; trial < 8; ++trial)
    for (int kind = 0; kind < cloud_kinds; ++kind) {
      const std::vector<double> points = cloud(kind, 1 + random.below(120), 3, random);
      check_lists<3, 2, Octants>(points, 10, 1, 1 + trial % 3);
      check_lists<3, 1, Octants>(points, 16, 2, 1);
      check_lists<3, 0, NoSectors>(points, 5, 0, 1);
    }
}

TEST(sphere) {
  check::Random random(3);
  for (int trial = 0; trial < 20; ++trial) {
    std::vector<double> points = unit_vectors(2 + random.below(120), random);
    points[0] = points[1] = 0.0;  // a pole
    points[2] = trial % 2 ? 1.0 : -1.0;
    check_lists<3, 2, TangentQuadrants>(points, 10, 2, 1 + trial % 3);
  }
}

TEST(matrix) {
  check::Random random(4);
  const StopToken token;
  for (int trial = 0; trial < 40; ++trial) {
    const int n = 1 + random.below(40), count = 1 + random.below(12);
    std::vector<int> matrix((size_t)n * n);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j <= i; ++j) matrix[i * n + j] = matrix[j * n + i] = random.below(9);
    std::vector<int> rows((size_t)n * count);
    const auto distance = [&](int i, int j) { return matrix[i * n + j]; };
    CHECK(nearest_by_distance(n, distance, count, 1 + trial % 3, token, rows.data()));
    for (int i = 0; i < n; ++i)
      for (int k = 0; k < count; ++k) {
        const int city = rows[i * count + k];
        CHECK((city < 0) == (k >= n - 1));
        if (city < 0) continue;
        CHECK(city != i);
        if (k > 0) CHECK(distance(i, rows[i * count + k - 1]) <= distance(i, city));
        int nearer = 0;
        for (int j = 0; j < n; ++j) nearer += j != i && distance(i, j) < distance(i, city);
        CHECK(nearer <= k);
      }
  }
}

TEST(stops_at_any_moment) {
  check::Random random(6);
  const std::vector<double> points = cloud(0, 20000, 2, random);
  std::vector<int> rows(points.size() / 2 * 10), complete(rows.size());
  const StopToken never;
  CHECK(candidate_lists(points.data(), 20000, 2, 10, 2, 2, false, 2, never, complete.data()));
  for (int trial = 0; trial < 12; ++trial) {
    StopToken token;
    token.set_deadline(monotonic_seconds() + 0.02 * random.uniform());
    if (candidate_lists(points.data(), 20000, 2, 10, 2, 2, false, 2, token, rows.data())) CHECK(rows == complete);
  }
}
