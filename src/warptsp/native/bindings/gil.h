// Python's lock, given up and taken again by a thread that Python may end meanwhile.
#pragma once
#include <nanobind/nanobind.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "common/stop_token.h"

#if !defined(_WIN32)
#include <pthread.h>
#endif

namespace nb = nanobind;

namespace warptsp {

// Where a thread stays that Python lets go no further; a search of its ends.
[[noreturn]] inline void rest(void *token) {
  if (token != nullptr) static_cast<StopToken *>(token)->request();
  for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

// Set when the interpreter begins to end, where never_ended cannot hear of it (watch_for_the_end).
inline std::atomic<bool> python_ends{false};

// Has `python_ends` set by Python's `atexit`: the stable ABI has nothing that says it.
inline void watch_for_the_end() {
#if defined(_WIN32)
  nb::module_::import_("atexit").attr("register")(nb::cpp_function([] { python_ends = true; }));
#endif
}

// Whether asking for the lock might end this thread without a word, and the frames with it that its search uses.
inline bool lock_is_deadly() { return python_ends; }

// Runs `use`, which must not throw. If Python ends the thread meanwhile, it rests until the process ends.
//
// An interpreter that ends lets no other thread have its lock. Whoever asks for it, here or anywhere in Python code, is
// ended, until Python 3.13 by pthread_exit, which unwinds or drops the frames that native threads still work with: the
// first noexcept function or joinable std::thread on the way aborts the process. From 3.14 on Python lets such threads
// rest, too. `use` has no objects with destructors, which would be run without the lock.
template <class Use>
void never_ended(const Use &use, StopToken *token) {
#if defined(_WIN32)
  (void)token;  // see lock_is_deadly; an instant between it and the lock remains
  use();
#else
  pthread_cleanup_push(rest, token);
  use();
  pthread_cleanup_pop(0);
#endif
}

// Python's lock is given up for as long as this lives.
class WithoutGil {
 public:
  WithoutGil() : state_(PyEval_SaveThread()) {}
  ~WithoutGil() {
    never_ended([this] { PyEval_RestoreThread(state_); }, nullptr);
  }
  WithoutGil(const WithoutGil &) = delete;
  WithoutGil &operator=(const WithoutGil &) = delete;

  // Takes the lock for `use`, of which never_ended says more.
  template <class Use>
  void with_gil(const Use &use, StopToken &token) {
    never_ended(
        [&] {
          PyEval_RestoreThread(state_);
          use();
          state_ = PyEval_SaveThread();
        },
        &token);
  }

 private:
  PyThreadState *state_;
};

}  // namespace warptsp
