// The random instances of the 8th DIMACS Implementation Challenge (Johnson and McGeoch 2002), bit for bit.
#pragma once

#include <cmath>
#include <vector>

namespace warptsp::instances {

// Knuth's subtractive generator, TAOCP volume 2, section 3.6, with lags 55 and 24.
class SubtractiveGenerator {
 public:
  static constexpr int modulus = 1000000000;

  explicit SubtractiveGenerator(int seed) {
    int last = seed, next = 1;
    state_[0] = last;
    for (int i = 1; i < 55; ++i) {
      const int k = 21 * i % 55;
      state_[k] = next;
      next = last - next;
      if (next < 0) next += modulus;
      last = state_[k];
    }
    for (int i = 0; i < 165; ++i) draw();
  }

  int draw() {
    a_ = (a_ == 0 ? 55 : a_) - 1;
    b_ = (b_ == 0 ? 55 : b_) - 1;
    int value = state_[a_] - state_[b_];
    if (value < 0) value += modulus;
    return state_[a_] = value;
  }

 private:
  int state_[55];
  int a_ = 0, b_ = 24;
};

constexpr int dimacs_side = 1000000;

// Interleaved x and y of n cities.
inline std::vector<double> dimacs_uniform(long long n, int seed) {
  SubtractiveGenerator random(seed);
  std::vector<double> coordinates(static_cast<size_t>(2 * n));
  for (double &coordinate : coordinates) coordinate = random.draw() / (SubtractiveGenerator::modulus / dimacs_side);
  return coordinates;
}

inline std::vector<double> dimacs_clustered(long long n, int seed) {
  SubtractiveGenerator random(seed);
  const double modulus = SubtractiveGenerator::modulus;
  const int clusters = static_cast<int>(n / 100);
  std::vector<int> centers(2 * static_cast<size_t>(clusters));
  for (int &center : centers) center = static_cast<int>(random.draw() / modulus * dimacs_side);

  // The polar method makes two normal deviates; the second waits for the next call.
  bool waiting = false;
  double kept = 0.0;
  const auto normal = [&] {
    if (waiting) {
      waiting = false;
      return kept;
    }
    double v1, v2, q;
    do {
      v1 = 2.0 * random.draw() / modulus - 1.0;
      v2 = 2.0 * random.draw() / modulus - 1.0;
      q = v1 * v1 + v2 * v2;
    } while (q >= 1.0 || q == 0.0);
    const double factor = std::sqrt((-2.0 * std::log(q)) / q);
    kept = v1 * factor;
    waiting = true;
    return v2 * factor;
  };
  // The order of the two multiplications decides the last bit.
  const double scale = 1.0 / std::sqrt(static_cast<double>(n));
  std::vector<double> coordinates(static_cast<size_t>(2 * n));
  for (size_t city = 0; city < static_cast<size_t>(n); ++city) {
    const size_t cluster = static_cast<size_t>(random.draw() / modulus * clusters);
    for (size_t axis = 0; axis < 2; ++axis)
      coordinates[2 * city + axis] = centers[2 * cluster + axis] + static_cast<int>(normal() * scale * dimacs_side);
  }
  return coordinates;
}

}  // namespace warptsp::instances
