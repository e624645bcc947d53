// The tiles of two_opt_squares.h on the CPU, a thread for each lane of a warp, against all moves of small tours.
#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

#include "check.h"
#include "common/random.h"

// What the header takes from the device compiler.
#define __device__
#define __forceinline__ inline
#define __noinline__
#define __align__(n) alignas(n)

namespace {

using std::max;
using std::min;

struct Index {
  int x;
};
struct int2 {
  int x, y;
};
thread_local Index threadIdx{0};
Index blockIdx{0}, blockDim{32}, gridDim{1};

int2 make_int2(int x, int y) { return {x, y}; }

// Lanes meet here: what one has written before, all others may read behind.
class Meeting {
 public:
  void wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    const int round = round_;
    if (++here_ == 32) {
      here_ = 0;
      ++round_;
      all_here_.notify_all();
    } else {
      all_here_.wait(lock, [&] { return round_ != round; });
    }
  }

 private:
  std::mutex mutex_;
  std::condition_variable all_here_;
  int here_ = 0, round_ = 0;
} meeting;

struct Lane {
  unsigned word;
  double above, below, column;
} lanes[32];

void __syncwarp() { meeting.wait(); }
unsigned exchanged(unsigned value, int from) {
  lanes[threadIdx.x].word = value;
  meeting.wait();
  const unsigned other = lanes[from].word;
  meeting.wait();
  return other;
}
template <class T>
T __shfl_down_sync(unsigned, T value, int reach) {
  return (T)exchanged((unsigned)value, std::min(threadIdx.x + reach, 31));
}
int __all_sync(unsigned, bool holds) {
  lanes[threadIdx.x].word = holds;
  meeting.wait();
  const bool all = std::all_of(lanes, lanes + 32, [](const Lane &lane) { return lane.word != 0; });
  meeting.wait();
  return all;
}
void emulate_multiplication(double (&c)[4], double above, double below, double column) {
  Lane &own = lanes[threadIdx.x];
  own.above = above;
  own.below = below;
  own.column = column;
  meeting.wait();
  const int g = threadIdx.x / 4, t = threadIdx.x % 4;
  for (int v = 0; v < 2; ++v) {
    c[v] = c[2 + v] = 0.0;
    for (int k = 0; k < 4; ++k) {
      c[v] += lanes[4 * g + k].above * lanes[4 * (2 * t + v) + k].column;
      c[2 + v] += lanes[4 * g + k].below * lanes[4 * (2 * t + v) + k].column;
    }
  }
  meeting.wait();
}

template <class To, class From>
To bits(From from) {
  static_assert(sizeof(To) == sizeof(From), "as many bits");
  To to;
  std::memcpy(&to, &from, sizeof(to));
  return to;
}
unsigned __float_as_uint(float v) { return bits<unsigned>(v); }
float __uint_as_float(unsigned v) { return bits<float>(v); }
unsigned __double2loint(double v) { return (unsigned)bits<uint64_t>(v); }
unsigned __double2hiint(double v) { return (unsigned)(bits<uint64_t>(v) >> 32); }
unsigned __funnelshift_l(unsigned low, unsigned high, int by) {
  return (unsigned)(((uint64_t)high << 32 | low) << by >> 32);
}
float __fadd_rn(float a, float b) { return a + b; }
float __fadd_ru(float a, float b) { return a + b; }
float __fadd_rd(float a, float b) { return a + b; }

}  // namespace

#include "papers/exhaustive/two_opt_squares.h"

using namespace warptsp;
using namespace warptsp::exhaustive;

namespace {

constexpr int R = squares_rows_of_lane, rows = SquaresTile<R>::rows;

struct Tour {
  int n;
  std::vector<double> x, y;
  std::vector<int> edge;
  std::vector<TilePoint> points;
  std::vector<double> columns;

  Tour(std::vector<double> xs, std::vector<double> ys)
      : n((int)xs.size()), x(std::move(xs)), y(std::move(ys)), edge(n + 1) {
    x.push_back(x[0]);
    y.push_back(y[0]);
    for (int k = 0; k < n; ++k) edge[k] = distance(k, k + 1);
    edge[n] = edge[0];
    const int size = n + 1024;
    columns.assign(4 * (size_t)size, 0.0);
    for (int k = 0; k < size; ++k) {
      points.push_back(TilePoint{0.0f, 0.0f, 0, removed_of(no_edge, k)});
      if (k > n) continue;
      points[k] = TilePoint{(float)x[k], (float)y[k], edge[k], removed_of(k < n ? edge[k] : no_edge, k)};
      const double numbers[4] = {x[k], y[k], 1.0, x[k] * x[k] + y[k] * y[k]};
      std::copy(numbers, numbers + 4, columns.begin() + 4 * k);
    }
  }
  int distance(int a, int b) const { return (int)std::floor(std::hypot(x[a] - x[b], y[a] - y[b]) + 0.5); }
  int delta(int i, int j) const { return distance(i, j) + distance(i + 1, j + 1) - edge[i] - edge[j]; }
};

// For each group of rows, by the first of them, the best delta that a search in pieces of so many columns reports.
std::vector<int> search(const Tour &tour, int piece) {
  std::vector<int> best(tour.n + 1024, 0);
  std::mutex mutex;
  const long long all = TileColumns<rows>{tour.n}.all();
  std::vector<std::thread> threads;
  for (int lane = 0; lane < 32; ++lane)
    threads.emplace_back([&, lane] {
      threadIdx.x = lane;
      for (long long at = 0; at < all; at += piece)
        search_squares<R>(tour.points.data(), tour.columns.data(), tour.n,
                          TileShare::from<rows>(tour.n, at, std::min(at + piece, all)),
                          [&](int delta, int row, int column) {
                            const std::lock_guard<std::mutex> lock(mutex);
                            best[row] = std::min(best[row], delta);
                            CHECK(row < column && column < tour.n);
                          });
    });
  for (std::thread &thread : threads) thread.join();
  return best;
}

// Single precision may take a distance of a million for the next whole number.
void compare(const Tour &tour, int piece, int off) {
  const std::vector<int> found = search(tour, piece);
  for (int b = 0; b * rows < tour.n; ++b)
    for (int g = 0; g < 8; ++g) {
      const int row = b * rows + g * R;
      int best = 0;
      for (int i = row; i < std::min(row + R - (g == 7), tour.n); ++i)
        for (int j = i + 1; j < tour.n; ++j) best = std::min(best, tour.delta(i, j));
      CHECK(std::abs(found[row] - best) <= off);
    }
}

Tour random_tour(int n, int extent, uint64_t seed) {
  Random random(seed, n, extent);
  std::vector<double> x(n), y(n);
  for (int k = 0; k < n; ++k) x[k] = random.below(extent) - extent / 2.0, y[k] = random.below(extent) - extent / 2.0;
  return Tour(x, y);
}

}  // namespace

TEST(tiles_find_the_best_moves_of_all_rows) {
  compare(random_tour(70, 1000, 1), 97, 0);
  compare(random_tour(129, 1000, 2), 1000, 0);
  compare(random_tour(200, 1000, 3), 256, 0);
  compare(random_tour(150, 1000000, 4), 512, 4);
}

TEST(edges_that_alternate_are_not_folded) {
  Random random(5, 0, 0);
  std::vector<double> x(150), y(150);
  for (int k = 0; k < 150; ++k) x[k] = (k / 2 % 2 ? 700000 : -700000) + random.below(40000), y[k] = random.below(40000);
  compare(Tour(x, y), 300, 4);
}

TEST(cities_in_one_place) { compare(Tour(std::vector<double>(100, 3.0), std::vector<double>(100, -7.0)), 400, 0); }
