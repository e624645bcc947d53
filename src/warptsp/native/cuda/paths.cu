// The places of the paths of one tour: see path_order.h. A thread an end, or a path.
#include "lk/path_order.h"

using namespace warptsp;
using namespace warptsp::lk;

extern "C" __global__ void begin_paths(PathOrder order) {
  const int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e < 2 * order.count) order.begin(e);
}

extern "C" __global__ void ways_round(PathOrder order, PathWay *ways) {
  const int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e < 2 * order.count) ways[e] = order.way_round(e);
}

extern "C" __global__ void jump_round(int count, const PathWay *from, PathWay *to) {
  const int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e < 2 * count) to[e] = PathOrder::jump_round(from, e);
}

// `named`: how many closed tours, and the paths that name them.
extern "C" __global__ void name_tours(PathOrder order, const PathWay *ways, int *named) {
  const int path = blockIdx.x * blockDim.x + threadIdx.x;
  if (path >= order.count || !order.name(ways, path)) return;
  named[1 + atomicAdd(named, 1)] = path;
}

extern "C" __global__ void clear_joins(PathOrder order) {
  const int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e < 2 * order.count) order.clear(e);
}

extern "C" __global__ void look_for_joins(PathOrder order) {
  const int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e < 2 * order.count) order.find_join(e);
}

extern "C" __global__ void settle_joins(PathOrder order) {
  const int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e < 2 * order.count) order.settle(e);
}

extern "C" __global__ void write_joins(PathOrder order, const int *named, int count, JoinOfTours *joins) {
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k < count) joins[k] = order.join(named[1 + k]);
}

extern "C" __global__ void link_ends(PathOrder order, const int *pairs, int count) {
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k < count) order.link[pairs[2 * k]] = pairs[2 * k + 1];
}

extern "C" __global__ void note_names(PathOrder order, const int *pairs, int count) {
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k < count) order.note_name(pairs[2 * k], pairs[2 * k + 1]);
}

extern "C" __global__ void rename_tours(PathOrder order) {
  const int path = blockIdx.x * blockDim.x + threadIdx.x;
  if (path < order.count) order.rename(path);
}

extern "C" __global__ void ways_back(PathOrder order, PathWay *ways) {
  const int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e < 2 * order.count) ways[e] = order.way_back(e);
}

extern "C" __global__ void jump_back(int count, const PathWay *from, PathWay *to) {
  const int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e < 2 * count) to[e] = PathOrder::jump_back(from, e);
}

extern "C" __global__ void write_places(int count, const PathWay *ways, PathPlace *places) {
  const int path = blockIdx.x * blockDim.x + threadIdx.x;
  if (path < count) places[path] = PathOrder::place(ways, path);
}
