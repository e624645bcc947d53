// Checks and results of the bindings that fill an array of cities or take one.
#pragma once
#include <stdexcept>
#include <string>

#include "common.h"
#include "common/parallel.h"

namespace warptsp {

typedef Array<const int, 2> Edges;

inline void require(bool holds, const std::string &message) {
  if (!holds) throw std::invalid_argument(message);
}

inline void check_threads(int threads) {
  require(threads >= 1, "threads is " + std::to_string(threads) + "; at least 1 is needed");
}

inline void check_fixed_edges(const Edges &edges, size_t n) {
  require(edges.shape(1) == 2, "fixed edges have " + std::to_string(edges.shape(1)) + " columns; 2 are needed");
  for (size_t i = 0; i < 2 * edges.shape(0); ++i)
    require(edges.data()[i] >= 0 && edges.data()[i] < (int)n,
            "fixed edge to " + std::to_string(edges.data()[i]) + ", which is not a city");
}

// A NumPy array that owns the memory; no copy.
template <class T>
nb::object to_numpy(Buffer<T> &&values, std::initializer_list<size_t> shape) {
  T *const data = values.release();
  nb::capsule owner(data, [](void *p) noexcept { typename Buffer<T>::Free()(static_cast<T *>(p)); });
  return nb::cast(nb::ndarray<nb::numpy, T>(data, shape, owner));
}

// Runs `fill(result)` so that signals are served; the array of that shape, or None if the token stopped it.
template <class Fill>
nb::object fill_array(std::initializer_list<size_t> shape, StopToken &token, const Fill &fill) {
  size_t size = 1;
  for (const size_t extent : shape) size *= extent;
  Buffer<int> result(size);
  bool complete = false;
  interruptible(token, [&] { complete = fill(result.data()); });
  if (!complete) return nb::none();
  return to_numpy(std::move(result), shape);
}

}  // namespace warptsp
