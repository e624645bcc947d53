// What threads do for a generation of crossover: three steps for each pair of tours, with as little waiting as there can be.
// Host code only.
//
// Some pairs have ten times as many sets of cycles to try as others, so that all threads share these. A pair goes on as
// soon as it can: sets are tried once its cycles are known; then A becomes its child, once the pair that A is the other
// tour of has found its own cycles.
#pragma once
#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <vector>

#include "lk/edge_assembly.h"

namespace warptsp::lk {

class GenerationTasks {
 public:
  enum class Step { begin, try_sets, finish };
  struct Task {
    Step step;
    int pair;
    size_t first = 0, end = 0;  // of the promising sets that are to be tried
  };

  // Tour B of each pair is tour A of the next one.
  explicit GenerationTasks(std::vector<Crossing> &pairs) : pairs_(pairs), of_pair_(pairs.size()), left_(pairs.size()) {
    for (int k = 0; k < (int)pairs.size(); k++) ready_.push_back({Step::begin, k});
  }

  // Takes a task, waiting for one if need be; false when there will be none.
  bool take(Task &task) {
    std::unique_lock<std::mutex> lock(mutex_);
    change_.wait(lock, [&] { return !ready_.empty() || left_ == 0; });
    if (left_ == 0) return false;
    task = ready_.front();
    ready_.pop_front();
    return true;
  }

  // Says that a task is done; `end_tries(pair)` is called where all sets that were to be tried have been.
  template <class EndTries>
  void done(const Task &task, EndTries &&end_tries) {
    const int k = task.pair;
    OfPair &own = of_pair_[k];
    if (task.step == Step::try_sets) {
      std::unique_lock<std::mutex> lock(mutex_);
      if (--own.tries > 0) return;
      lock.unlock();
      end_tries(k);
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    if (task.step == Step::finish) {
      if (left_ > 0) left_--;
    } else {
      if (task.step == Step::begin) {
        own.begun = true;
        finish_if_ready(k + 1 < (int)pairs_.size() ? k + 1 : 0);
      }
      add_tries(k);
    }
    change_.notify_all();
  }

  // Ends all: no more tasks are taken.
  void stop() {
    const std::lock_guard<std::mutex> lock(mutex_);
    left_ = 0;
    change_.notify_all();
  }

 private:
  struct OfPair {
    bool begun = false, tried = false;
    int tries = 0;  // that are not done
  };
  std::vector<Crossing> &pairs_;
  std::vector<OfPair> of_pair_;
  size_t left_;  // pairs that are not finished
  std::deque<Task> ready_;
  std::mutex mutex_;
  std::condition_variable change_;

  void add_tries(int k) {
    constexpr size_t sets_at_once = 100;
    const Crossing &pair = pairs_[k];
    OfPair &own = of_pair_[k];
    for (size_t first = pair.tried; first < pair.trying; first += sets_at_once, own.tries++)
      ready_.push_back({Step::try_sets, k, first, std::min(first + sets_at_once, pair.trying)});
    own.tried = own.tries == 0;
    finish_if_ready(k);
  }
  void finish_if_ready(int k) {
    const int before = k > 0 ? k - 1 : (int)pairs_.size() - 1;
    if (of_pair_[k].tried && of_pair_[before].begun) ready_.push_front({Step::finish, k});
  }
};

}  // namespace warptsp::lk
