#include "space/curve.h"

#include <algorithm>
#include <cstdlib>

#include "check.h"
#include "clouds.h"
#include "tours.h"

using namespace warptsp;
using namespace warptsp::space;

static std::vector<int> order(const std::vector<double> &points, int dimensions, Curve curve, int threads = 1) {
  const int n = (int)points.size() / dimensions;
  const StopToken token;
  std::vector<int> tour(n);
  CHECK(space_filling_curve(points.data(), n, dimensions, curve, threads, token, tour.data()));
  CHECK(is_tour(tour, n));
  return tour;
}

TEST(radix_sort_is_stable) {
  check::Random random(1);
  const StopToken token;
  for (const int size : {0, 1, 2, 100, 101, 70000, 300000, 300001}) {
    std::vector<CurvePoint> records(size), spare(size);
    // Keys with many equal ones; in one case the lower half of all keys is the same.
    for (int i = 0; i < size; ++i)
      records[i] = {size % 2 == 1 ? random.bits() >> 60 << 40 : random.bits() >> (i % 2 ? 60 : 3), i};
    std::vector<CurvePoint> expected = records;
    std::stable_sort(expected.begin(), expected.end(),
                     [](const CurvePoint &a, const CurvePoint &b) { return a.key < b.key; });
    const auto key_of = [](const CurvePoint &record) { return record.key; };
    const std::vector<CurvePoint> given = records;
    CHECK(radix_sort(records.data(), spare.data(), size, 64, key_of, token));
    for (int i = 0; i < size; ++i) CHECK(records[i].city == expected[i].city);
    records = given;
    CHECK(radix_sort(records.data(), spare.data(), size, 64, key_of, 3, token));
    for (int i = 0; i < size; ++i) CHECK(records[i].city == expected[i].city);
  }
}

// On a full lattice every step of Hilbert's curve goes to a neighbouring cell.
TEST(hilbert_steps_are_short) {
  constexpr int side = 16;
  for (const int dimensions : {2, 3}) {
    std::vector<double> points;
    const int n = dimensions == 2 ? side * side : side * side * side;
    for (int i = 0; i < n; ++i)
      for (int d = 0, rest = i; d < dimensions; ++d, rest /= side) points.push_back(rest % side);
    const std::vector<int> tour = order(points, dimensions, Curve::hilbert);
    for (int k = 1; k < n; ++k) {
      double step = 0.0;
      for (int d = 0; d < dimensions; ++d)
        step += std::fabs(points[(size_t)tour[k] * dimensions + d] - points[(size_t)tour[k - 1] * dimensions + d]);
      CHECK(step == 1.0);
    }
  }
}

// Sierpinski's curve meets a cell in several of its triangles; a step from city to city is still a few cells.
TEST(sierpinski_closes) {
  constexpr int side = 32;
  std::vector<double> points;
  for (int i = 0; i < side * side; ++i) {
    points.push_back(i % side);
    points.push_back(i / side);
  }
  const std::vector<int> tour = order(points, 2, Curve::sierpinski);
  for (size_t k = 0; k < tour.size(); ++k) {
    const int a = tour[k], b = tour[(k + 1) % tour.size()];
    CHECK(std::abs(a % side - b % side) <= 3 && std::abs(a / side - b / side) <= 3);
  }
}

TEST(any_points) {
  check::Random random(3);
  for (int kind = 0; kind < cloud_kinds; ++kind)
    for (const int n : {1, 2, 3, 65, 1000}) {
      order(cloud(kind, n, 2, random), 2, Curve::hilbert);
      order(cloud(kind, n, 2, random), 2, Curve::sierpinski);
      order(cloud(kind, n, 3, random), 3, Curve::hilbert);
    }
  for (const double scale : {1e308, 1e-300, 5e-324}) {
    const std::vector<double> corners = {-scale, -scale, scale, scale, -scale, scale, scale, -scale, 0.0, 0.0};
    order(corners, 2, Curve::hilbert);
    order(corners, 2, Curve::sierpinski);
  }
}

TEST(coincident_cities_keep_their_order) {
  const std::vector<double> points(2 * 1000, 4.0);
  const std::vector<int> tour = order(points, 2, Curve::sierpinski);
  for (int i = 0; i < 1000; ++i) CHECK(tour[i] == i);
}

TEST(sphere) {
  check::Random random(4);
  const StopToken token;
  for (const int n : {1, 2, 500}) {
    const std::vector<double> points = unit_vectors(n, random);
    std::vector<double> chart(2 * (size_t)n);
    CHECK(chart_sphere(points.data(), n, token, chart.data()));
    for (const double x : chart) CHECK(std::isfinite(x));
  }
}
