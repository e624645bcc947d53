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

#include "stop_token.h"

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
