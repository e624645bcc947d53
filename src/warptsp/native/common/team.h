// Threads that wait for their next loop. Host code only.
#pragma once
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace warptsp {

// For work of many short loops, each of which would be over before a new thread has begun. The thread that calls
// takes part; one that wakes up too late to find a task is not waited for.
class Team {
 public:
  explicit Team(int threads) : threads_(std::max(1, threads)) {
    try {
      for (int t = 1; t < threads_; ++t) others_.emplace_back([this] { serve(); });
    } catch (const std::system_error &) {
      // The system grants no more threads: those there are do it all.
    }
  }
  ~Team() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      over_ = true;
    }
    wake_.notify_all();
    for (std::thread &thread : others_) thread.join();
  }
  Team(const Team &) = delete;
  Team &operator=(const Team &) = delete;

  int threads() const { return threads_; }

  // work(task) for every task in [0, tasks); it must give the same result whichever thread runs it. The first exception
  // ends the rest, and is rethrown.
  template <class Work>
  void run(int tasks, const Work &work) {
    if (others_.empty() || tasks < 2) {
      for (int task = 0; task < tasks; ++task) work(task);
      return;
    }
    const Loop loop = {[](const void *what, int task) { (*static_cast<const Work *>(what))(task); }, &work, tasks};
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      loop_ = loop;
      next_ = 0;
      failure_ = nullptr;
      ++loops_;
    }
    wake_.notify_all();
    take(loop);
    std::unique_lock<std::mutex> lock(mutex_);
    loop_.work = nullptr;
    done_.wait(lock, [&] { return busy_ == 0; });
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  struct Loop {
    void (*call)(const void *, int) = nullptr;
    const void *work = nullptr;  // none: there is nothing to do
    int tasks = 0;
  };

  void serve() {
    std::unique_lock<std::mutex> lock(mutex_);
    for (unsigned seen = 0;;) {
      wake_.wait(lock, [&] { return over_ || (loop_.work != nullptr && loops_ != seen); });
      if (over_) return;
      seen = loops_;
      ++busy_;
      const Loop loop = loop_;
      lock.unlock();
      take(loop);
      lock.lock();
      if (--busy_ == 0) done_.notify_one();
    }
  }

  void take(const Loop &loop) {
    try {
      for (int task; (task = next_.fetch_add(1)) < loop.tasks;) loop.call(loop.work, task);
    } catch (...) {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
      next_ = loop.tasks;
    }
  }

  const int threads_;
  std::vector<std::thread> others_;
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  Loop loop_;
  int busy_ = 0;
  unsigned loops_ = 0;
  bool over_ = false;
  std::atomic<int> next_{0};
  std::exception_ptr failure_;
};

}  // namespace warptsp
