// Decimal numbers in text: correctly rounded, whatever the locale, tens of millions a second.
//
// Up to 15 digits or so with a small power of ten take one multiplication or division of doubles, which are exact;
// everything else goes to a slower function that the caller gives.
#pragma once

#include <cfloat>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace warptsp::instances {

inline bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Reads one number that ends at white space, at `delimiter` or at `end`. Returns where it ends, or nullptr if there
// is no finite number. `slow(begin, end, value)` converts a number in C syntax and returns false if it overflows.
template <class Slow>
const char *parse_number(const char *p, const char *end, double &value, Slow &&slow, char delimiter = ' ') {
  const char *const begin = p;
  bool negative = false;
  if (p != end && (*p == '-' || *p == '+')) negative = *p++ == '-';
  std::uint64_t digits = 0;
  int significant = 0, seen = 0;
  long long exponent = 0;
  for (; p != end && is_digit(*p); ++p, seen = 1) {
    if (significant < 19) {
      digits = 10 * digits + static_cast<std::uint64_t>(*p - '0');
      significant += digits != 0;
    } else {
      significant = 20;
    }
  }
  if (p != end && *p == '.') {
    for (++p; p != end && is_digit(*p); ++p, seen = 1) {
      if (significant < 19) {
        digits = 10 * digits + static_cast<std::uint64_t>(*p - '0');
        significant += digits != 0;
        --exponent;
      } else {
        significant = 20;
      }
    }
  }
  if (!seen) return nullptr;
  if (p != end && (*p == 'e' || *p == 'E')) {
    ++p;
    bool down = false;
    if (p != end && (*p == '-' || *p == '+')) down = *p++ == '-';
    if (p == end || !is_digit(*p)) return nullptr;
    long long written = 0;
    for (; p != end && is_digit(*p); ++p)
      if (written < 1000000) written = 10 * written + (*p - '0');
    exponent += down ? -written : written;
  }
  if (p != end && !is_space(*p) && *p != delimiter) return nullptr;

  const auto is = [&](double magnitude) {
    value = negative ? -magnitude : magnitude;
    return p;
  };
  if (significant < 20 && digits < (1ull << 53)) {
    const double whole = static_cast<double>(digits);
    if (digits == 0 || exponent == 0) return is(whole);
#if FLT_EVAL_METHOD == 0
    // Both operands are exact doubles, so one rounding is left (Clinger 1990).
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (exponent >= -22 && exponent <= 22)
      return is(exponent < 0 ? whole / powers[-exponent] : whole * powers[exponent]);
#endif
  }
  return slow(begin, p, value) ? p : nullptr;
}

// Every number from `p` up to the first token that is none, whose place is returned. `expected` is how many there
// should be; it is believed only as far as the text could hold them. `poll` is called now and then.
template <class Slow, class Poll>
const char *read_numbers(const char *p, const char *end, std::size_t expected, std::vector<double> &numbers,
                         Slow &&slow, Poll &&poll) {
  const std::size_t possible = static_cast<std::size_t>(end - p) / 2 + 1;
  numbers.reserve(expected < possible ? expected : possible);
  for (;;) {
    while (p != end && is_space(*p)) ++p;
    double value;
    const char *const after = p == end ? nullptr : parse_number(p, end, value, slow);
    if (after == nullptr) return p;
    numbers.push_back(value);
    p = after;
    if ((numbers.size() & 0xfffff) == 0) poll();
  }
}

// The numbers of a table of which each line has `columns`; blank lines are passed over. Returns where the first line
// starts that is different. A delimiter ' ' stands for any number of blanks.
template <class Slow, class Poll>
const char *read_table(const char *line, const char *end, std::size_t columns, char delimiter,
                       std::vector<double> &numbers, Slow &&slow, Poll &&poll) {
  const auto is_break = [](char c) { return c == '\n' || c == '\r'; };
  const auto skip_blanks = [&](const char *p) {
    while (p != end && (*p == ' ' || (*p == '\t' && delimiter != '\t'))) ++p;
    return p;
  };
  for (std::size_t rows = 0;;) {
    const char *p = skip_blanks(line);
    if (p == end) return p;
    if (is_break(*p)) {
      line = p + 1;
      continue;
    }
    for (std::size_t column = 0; p != nullptr && column < columns; ++column) {
      if (column != 0 && delimiter != ' ') p = p != end && *p == delimiter ? skip_blanks(p + 1) : nullptr;
      double value;
      if (p != nullptr) p = parse_number(p, end, value, slow, delimiter);
      if (p == nullptr) break;
      numbers.push_back(value);
      p = skip_blanks(p);
    }
    if (p == nullptr || (p != end && !is_break(*p))) {
      numbers.resize(rows * columns);
      return line;
    }
    line = p;
    if ((++rows & 0xfffff) == 0) poll();
  }
}

}  // namespace warptsp::instances
