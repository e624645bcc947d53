// The 32 lanes of a warp on one CPU thread, one after the other, as common/lanes.h has those of CUDA.
#pragma once

namespace warptsp {

struct EmulatedWarp {
  static constexpr int size = 32;
  template <class T>
  struct Var {
    T value[size];
    T &operator[](int lane) { return value[lane]; }
    const T &operator[](int lane) const { return value[lane]; }
  };
  template <class F>
  static void each(F &&f) {
    for (int lane = 0; lane < size; lane++) f(lane);
  }
  template <class T>
  static T get(const Var<T> &v, int lane) {
    return v[lane];
  }
  static unsigned ballot(const Var<bool> &v) {
    unsigned mask = 0;
    for (int lane = 0; lane < size; lane++) mask |= (unsigned)v[lane] << lane;
    return mask;
  }
  static int scan(const Var<int> &v, Var<int> &before) {
    int sum = 0;
    for (int lane = 0; lane < size; lane++) {
      const int own = v[lane];
      before[lane] = sum;
      sum += own;
    }
    return sum;
  }
  static int scan_max(const Var<int> &v, int least, Var<int> &before) {
    for (int lane = 0; lane < size; lane++) {
      const int own = v[lane];
      before[lane] = least;
      if (own > least) least = own;
    }
    return least;
  }
  static int argmax(const Var<float> &v) {
    int best = 0;
    for (int lane = 1; lane < size; lane++)
      if (v[lane] > v[best]) best = lane;
    return best;
  }
  static unsigned reduce_xor(const Var<unsigned> &v) {
    unsigned x = 0;
    for (int lane = 0; lane < size; lane++) x ^= v[lane];
    return x;
  }
  static void set_bits(unsigned *word, unsigned bits) { *word |= bits; }
  static void clear_bits(unsigned *word, unsigned bits) { *word &= ~bits; }
  static int lowest_bit(unsigned v) { return __builtin_ctz(v); }
  static int highest_bit(unsigned v) { return 31 - __builtin_clz(v); }
  static int bits(unsigned v) { return __builtin_popcount(v); }
};

}  // namespace warptsp
