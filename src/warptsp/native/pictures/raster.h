// Edges between cities, drawn into an image. Host only.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "common/parallel.h"
#include "common/stop_token.h"

namespace warptsp::pictures {

// From the plane to pixels of a picture: x to the right, y downwards; the centre of the first pixel is (0.5, 0.5).
struct View {
  double origin_x, origin_y, scale_x, scale_y, shift_x, shift_y;
  int width, height;

  double x(const double *point) const { return (point[0] - origin_x) * scale_x + shift_x; }
  double y(const double *point) const { return (point[1] - origin_y) * scale_y + shift_y; }
};

// Pairs of cities; `stride` takes every so many-th of them.
struct DrawnEdges {
  const double *points;
  const int *from, *to;
  int64_t count;
  int64_t stride = 1;
};

// Liang and Barsky's clipping of a segment to the rectangle that lies `margin` around the picture; false if nothing is
// left. Coordinates may be far outside, where float would not do.
inline bool clip(const View &view, double margin, double (&p)[2], double (&q)[2]) {
  double first = 0.0, last = 1.0;
  const double high[2] = {view.width + margin, view.height + margin};
  for (int axis = 0; axis < 2; ++axis) {
    const double step = q[axis] - p[axis];
    const double below = -margin - p[axis], above = high[axis] - p[axis];
    if (step == 0.0) {
      if (below > 0.0 || above < 0.0) return false;
      continue;
    }
    const double enter = (step > 0.0 ? below : above) / step, leave = (step > 0.0 ? above : below) / step;
    first = std::max(first, enter);
    last = std::min(last, leave);
  }
  if (!(first <= last)) return false;
  for (int axis = 0; axis < 2; ++axis) {
    const double begin = p[axis], step = q[axis] - p[axis];
    // Far away, doubles are coarser than pixels.
    if (first > 0.0) p[axis] = std::clamp(begin + first * step, -margin, high[axis]);
    if (last < 1.0) q[axis] = std::clamp(begin + last * step, -margin, high[axis]);
    if (!std::isfinite(p[axis] + q[axis])) return false;  // the view itself may overflow
  }
  return true;
}

// std::hypot guards against overflow, which clipped numbers need not fear, and takes ten times as long.
inline double length_of(double dx, double dy) { return std::sqrt(dx * dx + dy * dy); }

// Calls `draw(x0, y0, x1, y1)` with what of each edge lies in the picture, in pixels; false if the token stopped it.
template <class Draw>
bool for_each_visible(const DrawnEdges &edges, const View &view, double margin, const StopToken &token,
                      const Draw &draw) {
  constexpr int64_t CHUNK = 1 << 14, AHEAD = 16;
  for (int64_t e = 0, next_poll = 0; e < edges.count; e += edges.stride) {
    if (e >= next_poll) {
      if (token.stopped()) return false;
      next_poll = e + CHUNK;
    }
    // Cities that follow each other in a tour lie anywhere in memory.
    const int64_t later = e + AHEAD * edges.stride;
    if (later < edges.count) {
      prefetch(edges.points + 2 * (int64_t)edges.from[later]);
      prefetch(edges.points + 2 * (int64_t)edges.to[later]);
    }
    const double *a = edges.points + 2 * (int64_t)edges.from[e], *b = edges.points + 2 * (int64_t)edges.to[e];
    double p[2] = {view.x(a), view.y(a)}, q[2] = {view.x(b), view.y(b)};
    if (clip(view, margin, p, q)) draw(p[0], p[1], q[0], q[1]);
  }
  return true;
}

// What there is to draw: the length of the edges inside the picture, in pixels, and the area that they are spread over,
// in squares of `block` pixels that hold the begin or the middle of an edge.
struct Survey {
  double length = 0.0;
  double area = 0.0;
  bool complete = true;
};

inline Survey survey(const DrawnEdges &edges, const View &view, double block, const StopToken &token) {
  const int columns = (int)(view.width / block) + 1, rows = (int)(view.height / block) + 1;
  std::vector<uint8_t> taken((size_t)columns * rows, 0);
  Survey found;
  found.complete = for_each_visible(edges, view, 0.0, token, [&](double x0, double y0, double x1, double y1) {
    found.length += length_of(x1 - x0, y1 - y0);
    const auto take = [&](double x, double y) {
      const int column = std::min((int)(x / block), columns - 1), row = std::min((int)(y / block), rows - 1);
      taken[(size_t)row * columns + column] = 1;
    };
    take(x0, y0);
    take(0.5 * (x0 + x1), 0.5 * (y0 + y1));
  });
  found.length *= (double)edges.stride;
  for (const uint8_t one : taken) found.area += one;
  found.area = std::min(found.area * block * block, (double)view.width * view.height);
  return found;
}

// Lines of a pixel's width or more: how much of each pixel the widest cover of any edge takes, 0 to 1. Ends are round,
// and an edge of length 0 is a disc.
inline bool cover(float *image, const DrawnEdges &edges, const View &view, double width, const StopToken &token) {
  const double reach = width / 2 + 0.5;
  return for_each_visible(edges, view, reach, token, [&](double x0, double y0, double x1, double y1) {
    const double dx = x1 - x0, dy = y1 - y0, square = dx * dx + dy * dy, length = std::sqrt(square);
    const bool steep = std::fabs(dy) > std::fabs(dx);
    // Along the longer axis, pixel by pixel; across it no further than the line is wide there.
    const double a0 = steep ? y0 : x0, a1 = steep ? y1 : x1, b0 = steep ? x0 : y0;
    const double longer = steep ? dy : dx, shorter = steep ? dx : dy;
    const double slope = longer != 0.0 ? shorter / longer : 0.0;
    const double half = length > 0.0 ? reach * length / std::fabs(longer) : reach;
    const int along_end = steep ? view.height : view.width, across_end = steep ? view.width : view.height;
    const double low = std::min(a0, a1), high = std::max(a0, a1);
    const int begin = std::max(0, (int)std::floor(low - reach)), end = std::min(along_end, (int)(high + reach) + 1);
    for (int i = begin; i < end; ++i) {
      const double a = i + 0.5, b = b0 + slope * (std::clamp(a, low, high) - a0);
      const int first = std::max(0, (int)std::floor(b - half)), last = std::min(across_end, (int)(b + half) + 1);
      for (int j = first; j < last; ++j) {
        const double x = steep ? j + 0.5 : a, y = steep ? a : j + 0.5;
        const double t = square > 0.0 ? std::clamp(((x - x0) * dx + (y - y0) * dy) / square, 0.0, 1.0) : 0.0;
        const double distance = length_of(x - x0 - t * dx, y - y0 - t * dy);
        const float covered = (float)std::min(1.0, reach - distance);
        float &pixel = image[steep ? (size_t)i * view.width + j : (size_t)j * view.width + i];
        if (covered > pixel) pixel = covered;
      }
    }
  });
}

// Lines thinner than a pixel: the ink of all edges in each pixel, the line's width for each pixel of length. An edge's
// ink is its width times its length, wherever it lies, so that the picture does not depend on how it is cut up.
inline bool spread_ink(float *image, const DrawnEdges &edges, const View &view, double width, const StopToken &token) {
  constexpr float STEP = 1.0f;  // pixels between two drops, at most
  return for_each_visible(edges, view, 1.0, token, [&](double x0, double y0, double x1, double y1) {
    const float length = (float)length_of(x1 - x0, y1 - y0);
    const int drops = std::max(1, (int)std::ceil(length / STEP));
    const float drop = (float)(width * (double)edges.stride) * length / (float)drops;
    const float step_x = (float)(x1 - x0) / (float)drops, step_y = (float)(y1 - y0) / (float)drops;
    // Shifted by half a pixel, since pixels are points here, and by one so that none is negative.
    const float begin_x = (float)x0 + 0.5f + 0.5f * step_x, begin_y = (float)y0 + 0.5f + 0.5f * step_y;
    for (int i = 0; i < drops; ++i) {
      const float x = begin_x + (float)i * step_x, y = begin_y + (float)i * step_y;
      const int column = (int)std::floor(x) - 1, row = (int)std::floor(y) - 1;
      const float right = x - (float)(column + 1), below = y - (float)(row + 1);
      const auto put = [&](int r, int c, float share) {
        if (r >= 0 && r < view.height && c >= 0 && c < view.width) image[(size_t)r * view.width + c] += drop * share;
      };
      put(row, column, (1 - right) * (1 - below));
      put(row, column + 1, right * (1 - below));
      put(row + 1, column, (1 - right) * below);
      put(row + 1, column + 1, right * below);
    }
  });
}

// Draws the edges with lines of this width, in pixels, as opacities 0 to 255; false if the token stopped it.
inline bool draw_edges(uint8_t *opacity, const DrawnEdges &edges, const View &view, double width,
                       const StopToken &token) {
  const size_t pixels = (size_t)view.width * view.height;
  std::vector<float> image(pixels, 0.0f);
  const bool thin = width < 1.0;
  if (!(thin ? spread_ink(image.data(), edges, view, width, token) : cover(image.data(), edges, view, width, token)))
    return false;
  for (size_t i = 0; i < pixels; ++i) {
    if (image[i] <= 0.0f) continue;  // most of the paper
    const float share = thin ? 1.0f - std::exp(-image[i]) : image[i];
    opacity[i] = (uint8_t)(255.0f * share + 0.5f);
  }
  return true;
}

}  // namespace warptsp::pictures
