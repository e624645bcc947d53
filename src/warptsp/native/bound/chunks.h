// Loops over cities in pieces that do not depend on the number of threads. Host code only.
#pragma once
#include <algorithm>
#include <cstdint>

#include "common/team.h"

namespace warptsp::bound {

constexpr int chunk_size = 1 << 12;

inline int chunk_count(int64_t n) { return (int)((n + chunk_size - 1) / chunk_size); }

// work(chunk, begin, end) for every chunk of [0, n). Waking a thread costs some 10 us, as long as a few chunks take.
template <class Work>
void for_chunks(Team &team, int64_t n, const Work &work) {
  constexpr int worthwhile = 4;
  const int chunks = chunk_count(n);
  const auto one = [&](int c) {
    work(c, (int)((int64_t)c * chunk_size), (int)std::min<int64_t>(n, (int64_t)(c + 1) * chunk_size));
  };
  if (chunks < worthwhile) {
    for (int c = 0; c < chunks; ++c) one(c);
  } else {
    team.run(chunks, one);
  }
}

// The sum of work(begin, end) over all chunks, in their order.
template <class Sum, class Work>
Sum sum_chunks(Team &team, int64_t n, const Work &work) {
  std::vector<Sum> sums(chunk_count(n));
  for_chunks(team, n, [&](int c, int begin, int end) { sums[c] = work(begin, end); });
  Sum sum = 0;
  for (const Sum &part : sums) sum += part;
  return sum;
}

}  // namespace warptsp::bound
