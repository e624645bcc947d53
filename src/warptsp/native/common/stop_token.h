// A request to stop, shared by the caller, other threads and every native loop. Host code only.
#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>

namespace warptsp {

// Seconds on the monotonic clock that Python's time.monotonic() reads.
inline double monotonic_seconds() {
  using namespace std::chrono;
  return duration<double>(steady_clock::now().time_since_epoch()).count();
}

class StopToken {
 public:
  StopToken() = default;
  // A slice of another token's time: stops with it, or after `seconds`.
  StopToken(const StopToken &whole, double seconds) : whole_(&whole) {
    set_deadline(std::min(whole.deadline(), monotonic_seconds() + seconds));
  }

  void request() { requested_.store(true, std::memory_order_relaxed); }
  bool requested() const {
    return requested_.load(std::memory_order_relaxed) || (whole_ != nullptr && whole_->requested());
  }
  void set_deadline(double seconds) { deadline_.store(seconds, std::memory_order_relaxed); }
  double deadline() const { return deadline_.load(std::memory_order_relaxed); }

  // Requested or past the deadline. Reads the clock (about 25 ns): call it every few microseconds of work at most.
  bool stopped() const { return requested() || monotonic_seconds() >= deadline(); }

 private:
  const StopToken *whole_ = nullptr;
  std::atomic<bool> requested_{false};
  std::atomic<double> deadline_{std::numeric_limits<double>::infinity()};
};

}  // namespace warptsp
