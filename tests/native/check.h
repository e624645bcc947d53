// The harness of the native tests. A file holds TEST(name) { ... CHECK(condition); ... } blocks and is a program of
// its own: it runs them all, or those named on its command line, and exits with 1 if a CHECK failed.
#pragma once
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

namespace check {

struct Test {
  const char *name;
  void (*run)();
};
inline std::vector<Test> &tests() {
  static std::vector<Test> all;
  return all;
}
inline int failures = 0;

struct Registered {
  Registered(const char *name, void (*run)()) { tests().push_back({name, run}); }
};

inline void failed(const char *file, int line, const char *condition) {
  // A loop that fails a million times need not say so a million times.
  if (++failures <= 20) std::printf("%s:%d: not true: %s\n", file, line, condition);
}

// Numbers for tests: the same on every machine, and the seed is in the test.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 1) {}
  uint64_t bits() {
    state_ += 0x9e3779b97f4a7c15u;
    uint64_t v = state_;
    v = (v ^ (v >> 30)) * 0xbf58476d1ce4e5b9u;
    v = (v ^ (v >> 27)) * 0x94d049bb133111ebu;
    return v ^ (v >> 31);
  }
  int below(int bound) { return (int)((bits() >> 32) * (uint64_t)bound >> 32); }
  double uniform() { return (double)(bits() >> 11) * 0x1p-53; }

 private:
  uint64_t state_;
};

}  // namespace check

#define CHECK(condition)                                               \
  do {                                                                 \
    if (!(condition)) ::check::failed(__FILE__, __LINE__, #condition); \
  } while (false)

#define TEST(name)                                                        \
  static void test_##name();                                              \
  static const ::check::Registered registered_##name(#name, test_##name); \
  static void test_##name()

int main(int argc, char **argv) {
  for (const check::Test &test : check::tests()) {
    bool wanted = argc == 1;
    for (int i = 1; i < argc; ++i) wanted = wanted || std::strcmp(argv[i], test.name) == 0;
    if (!wanted) continue;
    const int before = check::failures;
    test.run();
    std::printf("%s %s\n", check::failures == before ? "ok    " : "FAILED", test.name);
    std::fflush(stdout);
  }
  return check::failures > 0;
}
