// Helpers of the host code: uninitialised memory, prefetching, and work split over threads. Host code only.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "common/stop_token.h"

namespace warptsp {

constexpr size_t page_alignment = 64;

// Large ones lie on huge pages where the system has them: ten million cities' worth of small pages take a tenth of a second
// to give back, and crossover of a million cities is 6 % faster with them (EXP-363).
inline void *allocate_pages(size_t bytes) {
  constexpr size_t huge_page = (size_t)2 << 20;
  void *const data = ::operator new(bytes, std::align_val_t{page_alignment});
#if defined(__linux__)
  const size_t begin = (reinterpret_cast<size_t>(data) + huge_page - 1) / huge_page * huge_page;
  const size_t end = (reinterpret_cast<size_t>(data) + bytes) / huge_page * huge_page;
  // Only whole pages, and only a wish: a system without them says no, and nothing is lost.
  if (bytes >= 4 * huge_page && begin < end) madvise(reinterpret_cast<void *>(begin), end - begin, MADV_HUGEPAGE);
#endif
  return data;
}
inline void free_pages(void *data) { ::operator delete(data, std::align_val_t{page_alignment}); }

// New elements are left as they are, unless they have a constructor.
template <class T>
struct PageAllocator {
  typedef T value_type;
  PageAllocator() = default;
  template <class U>
  PageAllocator(const PageAllocator<U> &) {}
  T *allocate(size_t count) { return static_cast<T *>(allocate_pages(count * sizeof(T))); }
  void deallocate(T *data, size_t) { free_pages(data); }
  template <class U>
  void construct(U *place) {
    ::new (static_cast<void *>(place)) U;
  }
  template <class U, class... Given>
  void construct(U *place, Given &&...given) {
    ::new (static_cast<void *>(place)) U(std::forward<Given>(given)...);
  }
  template <class U>
  bool operator==(const PageAllocator<U> &) const {
    return true;
  }
  template <class U>
  bool operator!=(const PageAllocator<U> &) const {
    return false;
  }
};

// Memory whose pages are first touched by the loop that fills it: a hundred megabytes of zeros would take longer
// than a caller who has asked to stop is willing to wait.
template <class T>
using Buffer = std::vector<T, PageAllocator<T>>;

// A word to the memory system that an address is read soon.
inline void prefetch(const void *address) {
#if defined(__GNUC__)
  __builtin_prefetch(address);
#else
  (void)address;
#endif
}

// run(work, task, thread) for every task in [0, tasks): what for_each_task makes of any work, compiled once.
typedef void (*TaskRun)(void *work, int task, int thread);
inline void run_tasks(int threads, int tasks, TaskRun run, void *work) {
  std::atomic<int> next{0};
  std::exception_ptr failure;
  std::mutex mutex;
  const auto serve = [&](int thread) {
    try {
      for (int task; (task = next.fetch_add(1)) < tasks;) run(work, task, thread);
    } catch (...) {
      const std::lock_guard<std::mutex> lock(mutex);
      if (!failure) failure = std::current_exception();
      next = tasks;
    }
  };
  std::vector<std::thread> others;
  others.reserve(std::max(0, std::min(threads, tasks)));
  try {
    for (int t = 1; t < std::min(threads, tasks); ++t) others.emplace_back(serve, t);
  } catch (const std::system_error &) {
    // The system grants no more threads: those there are do it all.
  }
  serve(0);
  for (std::thread &thread : others) thread.join();
  if (failure) std::rethrow_exception(failure);
}

// work(task), or work(task, thread), for every task in [0, tasks), on `threads` threads that take the next task when
// they are free.
// `work` must give the same result whichever thread runs it. The first exception ends the rest, and is rethrown.
template <class Work>
void for_each_task(int threads, int tasks, Work &&work) {
  typedef std::remove_reference_t<Work> Own;
  const TaskRun run = [](void *own, int task, int thread) {
    (void)thread;
    Own &each = *static_cast<Own *>(own);
    if constexpr (std::is_invocable_v<Own &, int, int>)
      each(task, thread);
    else
      each(task);
  };
  run_tasks(threads, tasks, run, const_cast<void *>(static_cast<const void *>(&work)));
}

// Whether work(task) is true of every task in [0, tasks).
template <class Work>
bool all_tasks(int threads, int tasks, const Work &work) {
  std::atomic<bool> all{true};
  for_each_task(threads, tasks, [&](int task) {
    if (!work(task)) all = false;
  });
  return all;
}

// piece(begin, end), or piece(begin, end, thread), for pieces of [0, size) of so many each. False, with some left out, if
// the token stopped it.
template <class Piece>
bool for_each_piece(int threads, int64_t size, int64_t of_piece, const StopToken &token, Piece &&piece) {
  std::atomic<bool> complete{true};
  for_each_task(threads, (int)((size + of_piece - 1) / of_piece), [&](int p, int thread) {
    (void)thread;
    if (!complete.load(std::memory_order_relaxed) || token.stopped()) {
      complete = false;
      return;
    }
    const int64_t begin = p * of_piece, end = std::min(size, begin + of_piece);
    if constexpr (std::is_invocable_v<Piece &, int64_t, int64_t, int>)
      piece(begin, end, thread);
    else
      piece(begin, end);
  });
  return complete;
}

}  // namespace warptsp
