// Drawing, for Python: warptsp.plotting.raster calls it.
#include "pictures/raster.h"

#include <nanobind/stl/array.h>

#include <algorithm>
#include <array>

#include "arrays.h"

using namespace warptsp;
using namespace warptsp::pictures;

namespace {

typedef Array<const double, 2> Places;
typedef Array<const int, 1> Cities;

DrawnEdges checked_edges(const Places &points, const Cities &from, const Cities &to, long long stride) {
  require(points.shape(1) == 2, "points have " + std::to_string(points.shape(1)) + " columns; 2 are needed");
  require(from.shape(0) == to.shape(0), "edges have as many ends as beginnings");
  require(stride >= 1, "stride is " + std::to_string(stride) + "; at least 1 is needed");
  for (const Cities &cities : {from, to}) check_cities(cities.data(), cities.shape(0), 0, points.shape(0), "an edge");
  return {points.data(), from.data(), to.data(), (int64_t)from.shape(0), stride};
}

View make_view(const std::array<double, 6> &t, size_t width, size_t height) {
  require(width >= 1 && height >= 1 && width < 1 << 16 && height < 1 << 16, "a picture has 1 to 65535 pixels a side");
  return {t[0], t[1], t[2], t[3], t[4], t[5], (int)width, (int)height};
}

}  // namespace

void bind_pictures(nb::module_ &m) {
  m.def(
      "survey_edges",
      [](Places points, Cities from, Cities to, std::array<double, 6> transform, size_t width, size_t height,
         double block, long long stride, StopToken &token) -> std::optional<std::tuple<double, double>> {
        const DrawnEdges edges = checked_edges(points, from, to, stride);
        const View view = make_view(transform, width, height);
        require(block >= 1.0, "a block has a pixel at least");
        const Survey found = interruptible(token, [&] { return survey(edges, view, block, token); });
        if (!found.complete) return std::nullopt;
        return std::make_tuple(found.length, found.area);
      },
      "points"_a, "begins"_a, "ends"_a, "transform"_a, "width"_a, "height"_a, "block"_a, "stride"_a, "token"_a);
  m.def(
      "draw_edges",
      [](Array<uint8_t, 2> opacity, Places points, Cities from, Cities to, std::array<double, 6> transform,
         double width, long long stride, StopToken &token) {
        const DrawnEdges edges = checked_edges(points, from, to, stride);
        const View view = make_view(transform, opacity.shape(1), opacity.shape(0));
        require(width >= 0.0 && width < 1 << 16, "a line is 0 to 65535 pixels wide");
        return interruptible(token, [&] { return draw_edges(opacity.data(), edges, view, width, token); });
      },
      "opacity"_a, "points"_a, "begins"_a, "ends"_a, "transform"_a, "line_width"_a, "stride"_a, "token"_a);
}
