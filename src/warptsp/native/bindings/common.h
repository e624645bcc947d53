// What every binding shares: array types, and native work that Ctrl-C can end.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#if !defined(_WIN32)
#include <unistd.h>
#endif

#include "common/stop_token.h"
#include "gil.h"

namespace nb = nanobind;
using namespace nanobind::literals;

namespace warptsp {

template <class T, int Dimensions>
using Array = nb::ndarray<T, nb::ndim<Dimensions>, nb::c_contig, nb::device::cpu>;

template <class T>
using NumpyArray = nb::ndarray<nb::numpy, T>;

// What was counted, by name.
typedef nb::typed<nb::dict, nb::str, nb::int_> Counts;

inline Counts counts_of(std::initializer_list<std::pair<const char *, long long>> named) {
  Counts counts;
  for (const auto &[name, count] : named) counts[name] = count;
  return counts;
}

// A NumPy array that owns the vector's memory; no copy.
template <class T, class Allocator>
NumpyArray<T> to_numpy(std::vector<T, Allocator> values, std::initializer_list<size_t> shape) {
  typedef std::vector<T, Allocator> Vector;
  auto *owned = new Vector(std::move(values));
  nb::capsule owner(owned, [](void *p) noexcept { delete static_cast<Vector *>(p); });
  return NumpyArray<T>(owned->data(), shape, owner);
}
template <class T>
NumpyArray<T> to_numpy(std::vector<T> values) {
  const size_t count = values.size();
  return to_numpy(std::move(values), {count});
}

// 0 where processes do not fork.
inline long long this_process() {
#if defined(_WIN32)
  return 0;
#else
  return getpid();
#endif
}

// Where a token of Python keeps its attribute `poll`.
inline constexpr const char *poll_of_token = "_poll";

// False if a signal's handler or `poll` (None: there is none) raised; the exception stays set.
inline bool serve_caller(PyObject *poll) {
  if (PyErr_CheckSignals() != 0) return false;
  if (poll == Py_None) return true;
  PyObject *const answer = PyObject_CallNoArgs(poll);
  Py_XDECREF(answer);
  return answer != nullptr;
}

// Cities up to which a step of a search, or of its set-up, is brief.
constexpr size_t brief_cities = 1000;

// Work on a thread of its own. Lies on the heap, so that it can be left alone in a process where its thread is not.
class Job {
 public:
  // False if the system grants no thread.
  bool begin(const std::function<void()> &work) {
    try {
      thread_ = std::thread([this, &work] {
        try {
          work();
        } catch (...) {
          failure_ = std::current_exception();
        }
        const std::lock_guard<std::mutex> lock(mutex_);
        done_ = true;
        finished_.notify_one();
      });
    } catch (const std::system_error &) {
      return false;
    }
    return true;
  }
  // Whether it ended in this time.
  bool wait(std::chrono::milliseconds time) {
    std::unique_lock<std::mutex> lock(mutex_);
    return finished_.wait_for(lock, time, [this] { return done_; });
  }
  void join() { thread_.join(); }
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  std::mutex mutex_;
  std::condition_variable finished_;
  bool done_ = false;
  std::exception_ptr failure_;
  std::thread thread_;
};

// What `work` returns, called with the GIL released.
template <class Work>
auto without_gil(const Work &work) {
  const WithoutGil unlocked;
  return work();
}

// Runs `work` on a thread of its own with the GIL released, while the calling thread goes on serving Python's
// signal handlers, and the function that is in the token's attribute `poll`, every 20 ms. What raises (Ctrl-C
// without a handler of ours) requests the stop; the exception is raised once the work has ended. `work` must poll
// `token`.
//
// `brief` work, which takes some milliseconds at most, stays on the calling thread: to begin a thread and to wait for
// it takes longer than many a small instance. Python serves a signal when it returns.
inline void run_interruptible(StopToken &token, const std::function<void()> &work, bool brief) {
  if (brief) return without_gil(work);
  const nb::object bound = nb::find(token);
  const nb::object poll = bound.is_valid() ? nb::getattr(bound, poll_of_token, nb::none()) : nb::none();
  auto job = std::make_unique<Job>();
  const long long process = this_process();
  bool raised = false, forked = false;
  {
    WithoutGil unlocked;
    if (!job->begin(work)) {
      work();
      return;
    }
    while (!job->wait(std::chrono::milliseconds(20))) {
      if (raised || lock_is_deadly()) continue;
      unlocked.with_gil([&] { raised = !serve_caller(poll.ptr()); }, token);
      forked = this_process() != process;
      if (forked) break;
      if (raised) token.request();
    }
    if (!forked) job->join();
  }
  if (forked) {
    job.release();  // its thread is in the parent only, and whatever it held is held for ever
    throw std::runtime_error("a process forked by the callback of a search cannot go on with the search");
  }
  if (raised) throw nb::python_error();
  job->rethrow();
}

// The same; returns what `work` does.
template <class Work>
auto interruptible(StopToken &token, Work &&work, bool brief = false) {
  if constexpr (std::is_void_v<decltype(work())>) {
    run_interruptible(token, std::ref(work), brief);
  } else {
    decltype(work()) result{};
    run_interruptible(token, [&] { result = work(); }, brief);
    return result;
  }
}

// Of a search's method whose last argument, behind those Given, is the token: a function that calls it so.
template <class... Given>
struct Interruptible {
  template <class Search, class Result>
  static auto call(Result (Search::*method)(Given..., const StopToken &)) {
    return [method](Search &search, Given... given, StopToken &token) {
      return interruptible(token, [&] { return (search.*method)(given..., token); });
    };
  }
};

}  // namespace warptsp
