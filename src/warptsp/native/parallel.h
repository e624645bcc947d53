// Helpers of the host code: uninitialised memory, and work split over threads. Host code only.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <thread>
#include <type_traits>
#include <vector>

namespace warptsp {

// Memory whose pages are first touched by the loop that fills it: a hundred megabytes of zeros would take longer
// than a caller who has asked to stop is willing to wait.
template <class T>
class Buffer {
  static_assert(std::is_trivially_copyable<T>::value, "a Buffer is never constructed element by element");

 public:
  Buffer() = default;
  explicit Buffer(size_t size) : data_(new T[size]), size_(size) {}
  T *data() { return data_.get(); }
  const T *data() const { return data_.get(); }
  T *begin() { return data_.get(); }
  T *end() { return data_.get() + size_; }
  size_t size() const { return size_; }
  T &operator[](size_t i) { return data_[i]; }
  const T &operator[](size_t i) const { return data_[i]; }
  T *release() { return data_.release(); }

 private:
  std::unique_ptr<T[]> data_;
  size_t size_ = 0;
};

// work(task) for every task in [0, tasks), on `threads` threads that take the next task when they are free.
// `work` must not throw, and must give the same result whichever thread runs it.
template <class Work>
void for_each_task(int threads, int tasks, Work &&work) {
  std::atomic<int> next{0};
  const auto run = [&] {
    for (int task = next.fetch_add(1); task < tasks; task = next.fetch_add(1)) work(task);
  };
  std::vector<std::thread> others;
  for (int t = 1; t < std::min(threads, tasks); ++t) others.emplace_back(run);
  run();
  for (std::thread &thread : others) thread.join();
}

}  // namespace warptsp
