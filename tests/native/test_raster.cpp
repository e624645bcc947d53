// Edges drawn into an image, against a slow examination of every pixel.
#include "pictures/raster.h"

#include <vector>

#include "check.h"

using namespace warptsp;
using namespace warptsp::pictures;

namespace {

// Edges among random cities, some of them far outside the picture.
struct Scene {
  explicit Scene(uint64_t seed, double far) {
    check::Random random(seed);
    for (int c = 0; c < 2 * CITIES; ++c) {
      const double share = (double)(random.bits() >> 11) / 9007199254740992.0;
      points.push_back(c % 8 < 2 ? (share - 0.5) * far : share * SIZE);
    }
    for (int e = 0; e < EDGES; ++e) {
      from.push_back((int)(random.bits() % CITIES));
      to.push_back((int)(random.bits() % CITIES));
    }
  }
  DrawnEdges edges() const { return {points.data(), from.data(), to.data(), EDGES}; }

  static constexpr int SIZE = 40, CITIES = 16, EDGES = 12;
  View view{0, 0, 1, 1, 0, 0, SIZE, SIZE};
  StopToken token;
  std::vector<double> points;
  std::vector<int> from, to;
};

double distance_to_edge(double x, double y, const double *p, const double *q) {
  const double dx = q[0] - p[0], dy = q[1] - p[1], square = dx * dx + dy * dy;
  const double t = square > 0 ? std::clamp(((x - p[0]) * dx + (y - p[1]) * dy) / square, 0.0, 1.0) : 0.0;
  return std::hypot(x - p[0] - t * dx, y - p[1] - t * dy);
}

}  // namespace

TEST(thick_lines_cover_what_is_near_them) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const Scene scene(seed, 200.0);
    const double width = 1.0 + (double)(seed % 5);
    std::vector<float> image(Scene::SIZE * Scene::SIZE, 0.0f);
    CHECK(cover(image.data(), scene.edges(), scene.view, width, scene.token));
    for (int row = 0; row < Scene::SIZE; ++row)
      for (int column = 0; column < Scene::SIZE; ++column) {
        double nearest = 1e300;
        for (int e = 0; e < Scene::EDGES; ++e)
          nearest = std::min(nearest, distance_to_edge(column + 0.5, row + 0.5, &scene.points[2 * scene.from[e]],
                                                       &scene.points[2 * scene.to[e]]));
        const double expected = std::clamp(width / 2 + 0.5 - nearest, 0.0, 1.0);
        CHECK(std::fabs(image[row * Scene::SIZE + column] - expected) < 1e-3);
      }
  }
}

TEST(thin_lines_bring_their_length_times_their_width) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Scene scene(seed, 0.0);
    for (double &value : scene.points) value = 2.0 + value * 0.9;  // inside, so that no ink falls off the edge
    double length = 0.0;
    for (int e = 0; e < Scene::EDGES; ++e)
      length += std::hypot(scene.points[2 * scene.from[e]] - scene.points[2 * scene.to[e]],
                           scene.points[2 * scene.from[e] + 1] - scene.points[2 * scene.to[e] + 1]);
    std::vector<float> image(Scene::SIZE * Scene::SIZE, 0.0f);
    CHECK(spread_ink(image.data(), scene.edges(), scene.view, 0.3, scene.token));
    double ink = 0.0;
    for (const float value : image) ink += value;
    CHECK(std::fabs(ink - 0.3 * length) < 1e-3 * length);
    const Survey found = survey(scene.edges(), scene.view, 4.0, scene.token);
    CHECK(std::fabs(found.length - length) < 1e-9 * length);
  }
}

TEST(nothing_is_written_outside_however_far_the_cities_are) {
  for (const double far : {1e3, 1e9, 1e18, 1e300})
    for (const double width : {0.1, 1.0, 9.0}) {
      const Scene scene(7, far);
      std::vector<uint8_t> image(Scene::SIZE * Scene::SIZE, 0);
      CHECK(draw_edges(image.data(), scene.edges(), scene.view, width, scene.token));
      CHECK(std::isfinite(survey(scene.edges(), scene.view, 3.0, scene.token).length));
    }
}

TEST(a_stop_is_obeyed) {
  Scene scene(1, 100.0);
  scene.token.request();
  std::vector<uint8_t> image(Scene::SIZE * Scene::SIZE, 0);
  CHECK(!draw_edges(image.data(), scene.edges(), scene.view, 1.0, scene.token));
  CHECK(!survey(scene.edges(), scene.view, 3.0, scene.token).complete);
}
