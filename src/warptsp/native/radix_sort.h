// A stable sort of records by an unsigned integer key, linear in their number. Host code only.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "stop_token.h"

namespace warptsp {

// Least significant digit first, digits of 11 bits; a digit that all keys share costs no pass. `spare` is room for as
// many records. False, with the records in disorder, if the token stopped it.
template <class Record, class KeyOf>
bool radix_sort(Record *records, Record *spare, int64_t size, int key_bits, const KeyOf &key_of,
                const StopToken &token) {
  constexpr int digit_bits = 11, buckets = 1 << digit_bits;
  constexpr int64_t poll = 1 << 16;
  const int digits = (key_bits + digit_bits - 1) / digit_bits;
  std::vector<int64_t> starts((size_t)digits * buckets, 0);
  for (int64_t begin = 0; begin < size; begin += poll) {
    if (token.stopped()) return false;
    for (int64_t i = begin; i < begin + poll && i < size; ++i) {
      uint64_t key = key_of(records[i]);
      for (int digit = 0; digit < digits; ++digit, key >>= digit_bits)
        ++starts[(size_t)digit * buckets + (key & (buckets - 1))];
    }
  }
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
    for (int64_t begin = 0; begin < size; begin += poll) {
      if (token.stopped()) return false;
      for (int64_t i = begin; i < begin + poll && i < size; ++i)
        to[start[key_of(from[i]) >> (digit * digit_bits) & (buckets - 1)]++] = from[i];
    }
    std::swap(from, to);
  }
  if (from != records)
    for (int64_t begin = 0; begin < size; begin += poll) {
      if (token.stopped()) return false;
      for (int64_t i = begin; i < begin + poll && i < size; ++i) records[i] = from[i];
    }
  return true;
}

}  // namespace warptsp
