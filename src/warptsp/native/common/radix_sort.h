// A stable sort of records by an unsigned integer key, linear in their number. Host code only.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/parallel.h"
#include "common/stop_token.h"

namespace warptsp {

// Least significant digit first, digits of 11 bits; a digit that all keys share costs no pass. `spare` is space for as
// many records. False, with the records in disorder, if the token stopped it.
template <class Record, class KeyOf>
bool radix_sort(Record *records, Record *spare, int64_t size, int key_bits, const KeyOf &key_of,
                const StopToken &token) {
  constexpr int digit_bits = 11, buckets = 1 << digit_bits;
  constexpr int64_t poll = 1 << 16;
  const int digits = (key_bits + digit_bits - 1) / digit_bits;
  std::vector<int64_t> starts((size_t)digits * buckets, 0);
  const bool counted = for_each_piece(1, size, poll, token, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      uint64_t key = key_of(records[i]);
      for (int digit = 0; digit < digits; ++digit, key >>= digit_bits)
        ++starts[(size_t)digit * buckets + (key & (buckets - 1))];
    }
  });
  if (!counted) return false;
  Record *from = records, *to = spare;
  for (int digit = 0; digit < digits; ++digit) {
    int64_t *const start = starts.data() + (size_t)digit * buckets;
    int64_t sum = 0;
    bool shared = false;
    for (int b = 0; b < buckets; ++b) {
      shared = shared || start[b] == size;
      const int64_t members = start[b];
      start[b] = sum;
      sum += members;
    }
    if (shared) continue;
    const bool moved = for_each_piece(1, size, poll, token, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        to[start[key_of(from[i]) >> (digit * digit_bits) & (buckets - 1)]++] = from[i];
    });
    if (!moved) return false;
    std::swap(from, to);
  }
  return from == records || for_each_piece(1, size, poll, token, [&](int64_t begin, int64_t end) {
           std::copy(from + begin, from + end, records + begin);
         });
}

// The same by many threads: records go into buckets of about as many, by keys drawn from all over, and each bucket is
// sorted on its own.
template <class Record, class KeyOf>
bool radix_sort(Record *records, Record *spare, int64_t size, int key_bits, const KeyOf &key_of, int threads,
                const StopToken &token) {
  constexpr int64_t worthwhile = 1 << 18, poll = 1 << 16;
  if (threads == 1 || size < worthwhile) return radix_sort(records, spare, size, key_bits, key_of, token);
  constexpr int sampled = 16;
  const int buckets = 8 * threads, chunks = 8 * threads;
  std::vector<uint64_t> sample((size_t)sampled * buckets), splitters;
  for (size_t i = 0; i < sample.size(); ++i) sample[i] = key_of(records[(int64_t)i * size / (int64_t)sample.size()]);
  std::sort(sample.begin(), sample.end());
  for (int b = 1; b < buckets; ++b) splitters.push_back(sample[(size_t)sampled * b]);
  const auto bucket_of = [&](const Record &record) {
    return std::upper_bound(splitters.begin(), splitters.end(), key_of(record)) - splitters.begin();
  };
  std::atomic<bool> complete{true};
  const auto for_chunk = [&](int c, const auto &each) {
    const int64_t end = size * (c + 1) / chunks;
    for (int64_t begin = size * c / chunks; begin < end; begin += poll) {
      if (token.stopped()) {
        complete = false;
        return;
      }
      for (int64_t i = begin; i < std::min(begin + poll, end); ++i) each(records[i]);
    }
  };
  std::vector<int64_t> counts((size_t)chunks * buckets, 0), starts(buckets + 1, 0);
  for_each_task(threads, chunks, [&](int c) {
    std::vector<int64_t> own(buckets, 0);
    for_chunk(c, [&](const Record &record) { ++own[bucket_of(record)]; });
    std::copy(own.begin(), own.end(), counts.begin() + (size_t)c * buckets);
  });
  if (!complete) return false;
  int64_t sum = 0;
  for (int b = 0; b < buckets; ++b) {
    for (int c = 0; c < chunks; ++c) {
      const int64_t members = counts[(size_t)c * buckets + b];
      counts[(size_t)c * buckets + b] = sum;
      sum += members;
    }
    starts[b + 1] = sum;
  }
  for_each_task(threads, chunks, [&](int c) {
    std::vector<int64_t> next(counts.begin() + (size_t)c * buckets, counts.begin() + (size_t)(c + 1) * buckets);
    for_chunk(c, [&](const Record &record) { spare[next[bucket_of(record)]++] = record; });
  });
  if (!complete) return false;
  for_each_task(threads, buckets, [&](int b) {
    const int64_t begin = starts[b], members = starts[b + 1] - begin;
    if (!radix_sort(spare + begin, records + begin, members, key_bits, key_of, token)) {
      complete = false;
      return;
    }
    std::copy(spare + begin, spare + begin + members, records + begin);
  });
  return complete;
}

}  // namespace warptsp
