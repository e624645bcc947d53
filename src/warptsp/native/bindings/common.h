// What every binding shares: array types, and native work that Ctrl-C can end.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "common/stop_token.h"

namespace nb = nanobind;

namespace warptsp {

template <class T, int Dimensions>
using Array = nb::ndarray<T, nb::ndim<Dimensions>, nb::c_contig, nb::device::cpu>;

// A NumPy array that owns the vector's memory; no copy.
template <class T>
nb::ndarray<nb::numpy, T> to_numpy(std::vector<T> &&values, std::initializer_list<size_t> shape) {
  auto *owned = new std::vector<T>(std::move(values));
  nb::capsule owner(owned, [](void *p) noexcept { delete static_cast<std::vector<T> *>(p); });
  return nb::ndarray<nb::numpy, T>(owned->data(), shape, owner);
}

// The other ends of a city's fixed edges, [n, 2], -1 for none; empty without any.
inline std::vector<int> fixed_partners(const Array<const int, 2> &edges, int n) {
  std::vector<int> partners;
  if (edges.shape(0) == 0) return partners;
  if (edges.shape(1) != 2) throw nb::value_error("a fixed edge has two ends");
  partners.assign(2 * (size_t)n, -1);
  for (size_t e = 0; e < edges.shape(0); ++e)
    for (int s = 0; s < 2; ++s) {
      const int a = edges(e, s), b = edges(e, 1 - s);
      if (a < 0 || a >= n || b < 0 || b >= n) throw nb::value_error("a fixed edge names no city");
      const size_t slot = 2 * (size_t)a;
      partners[slot + (partners[slot] >= 0)] = b;
    }
  return partners;
}

inline void serve_caller(const StopToken &token) {
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
  const nb::object bound = nb::find(token);
  if (!bound.is_valid()) return;
  const nb::object poll = nb::getattr(bound, "poll", nb::none());
  if (!poll.is_none()) poll();
}

// Runs `work` on a thread of its own with the GIL released, while the calling thread goes on serving Python's
// signal handlers, and the function in the token's attribute `poll` if it has one, every 20 ms. What raises (Ctrl-C
// without a handler of ours) requests the stop; the exception is raised once the work has ended. `work` must poll
// `token`.
template <class Work>
void interruptible(StopToken &token, Work &&work) {
  std::mutex mutex;
  std::condition_variable finished;
  bool done = false;
  std::exception_ptr failure;
  bool signal_raised = false;
  {
    nb::gil_scoped_release release;
    std::thread thread([&] {
      try {
        work();
      } catch (...) {
        failure = std::current_exception();
      }
      std::lock_guard<std::mutex> lock(mutex);
      done = true;
      finished.notify_one();
    });
    std::unique_lock<std::mutex> lock(mutex);
    while (!finished.wait_for(lock, std::chrono::milliseconds(20), [&] { return done; })) {
      if (signal_raised) continue;
      lock.unlock();
      {
        nb::gil_scoped_acquire acquire;
        try {
          serve_caller(token);
        } catch (nb::python_error &error) {
          error.restore();
          signal_raised = true;  // the Python error stays set on this thread until it is raised below
          token.request();
        }
      }
      lock.lock();
    }
    lock.unlock();
    thread.join();
  }
  if (signal_raised) throw nb::python_error();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace warptsp
