#include "instances/tsplib_numbers.h"

#include <cmath>
#include <cstdlib>
#include <memory>
#include <string>

#include "check.h"

using namespace warptsp;
using namespace warptsp::instances;

// The C library rounds correctly too, and the C locale has the point.
static bool library(const char *begin, const char *end, double &value) {
  value = std::strtod(std::string(begin, end).c_str(), nullptr);
  return std::isfinite(value);
}
static void no_poll() {}

// Text in a block of exactly its size, so that the address sanitizer sees a step too far.
struct Text {
  explicit Text(const std::string &text) : size(text.size()), data(new char[text.size()]) {
    std::memcpy(data.get(), text.data(), size);
  }
  const char *begin() const { return data.get(); }
  const char *end() const { return data.get() + size; }
  size_t size;
  std::unique_ptr<char[]> data;
};

static std::string random_number(check::Random &random) {
  std::string text;
  if (random.below(3) == 0) text += "+-"[random.below(2)];
  const int before = random.below(24), after = random.below(24);
  for (int i = 0; i < before; ++i) text += (char)('0' + random.below(10));
  if (random.below(2) || before == 0) {
    text += '.';
    for (int i = 0; i < after + (before == 0); ++i) text += (char)('0' + random.below(10));
  }
  if (random.below(2)) text += (random.below(2) ? "e-" : "E") + std::to_string(random.below(60));
  return text;
}

TEST(numbers_are_rounded_as_the_library_rounds) {
  check::Random random(1);
  for (int round = 0; round < 300000; ++round) {
    const Text text(random_number(random));
    double value = 0.0;
    const char *const after = parse_number(text.begin(), text.end(), value, library);
    CHECK(after == text.end());
    const double expected = std::strtod(std::string(text.begin(), text.size).c_str(), nullptr);
    CHECK(std::memcmp(&value, &expected, sizeof value) == 0);
  }
}

TEST(halfway_cases_go_to_the_even_neighbour) {
  check::Random random(2);
  for (int round = 0; round < 100000; ++round) {
    // Odd integers of 54 bits lie halfway between two doubles; also shifted by powers of ten and off by one.
    const uint64_t odd = (random.bits() >> 10) | (uint64_t(1) << 53) | 1;
    const std::string digits = std::to_string(odd + (uint64_t)random.below(3) - 1);
    const Text text(digits + "e" + std::to_string(random.below(8) - 4));
    double value = 0.0;
    CHECK(parse_number(text.begin(), text.end(), value, library) == text.end());
    CHECK(value == std::strtod(std::string(text.begin(), text.size).c_str(), nullptr));
  }
}

TEST(what_is_no_number_is_refused) {
  for (const char *text : {"", ".", "-", "+.", "e1", "1e", "1e+", "1x", "--1", "1.2.3", "1,5", "nan", "inf", "1e999"}) {
    const Text exact(text);
    double value;
    CHECK(parse_number(exact.begin(), exact.end(), value, library) == nullptr);
  }
}

TEST(any_bytes_are_read_within_their_bounds) {
  check::Random random(3);
  const std::string alphabet = "0123456789999+-..eE  \n\r\t,;x\xff";
  for (int round = 0; round < 200000; ++round) {
    std::string bytes;
    for (int i = random.below(40); i > 0; --i) bytes += alphabet[(size_t)random.below((int)alphabet.size())];
    const Text text(bytes);
    std::vector<double> numbers;
    const char *after = read_numbers(text.begin(), text.end(), (size_t)-1, numbers, library, no_poll);
    CHECK(after >= text.begin() && after <= text.end());
    for (const char delimiter : {' ', ',', ';', '\t'}) {
      const size_t columns = 1 + (size_t)random.below(3);
      std::vector<double> table;
      after = read_table(text.begin(), text.end(), columns, delimiter, table, library, no_poll);
      CHECK(after >= text.begin() && after <= text.end());
      CHECK(table.size() % columns == 0);
    }
  }
}

TEST(tables_end_at_the_first_odd_line) {
  const auto rows = [](const std::string &content, char delimiter) {
    const Text text(content);
    std::vector<double> numbers;
    const char *const after = read_table(text.begin(), text.end(), 2, delimiter, numbers, library, no_poll);
    return std::to_string(numbers.size() / 2) + "@" + std::to_string(after - text.begin());
  };
  CHECK(rows("1,2\n3,4", ',') == "2@7");
  CHECK(rows("1 , 2\r\n\r\n 3,4 \n", ',') == "2@15");
  CHECK(rows("1,2\n3\n", ',') == "1@4");
  CHECK(rows("1,2\n3,4,5\n", ',')[0] == '1');
  CHECK(rows("1,2\n3,,5\n", ',')[0] == '1');
  CHECK(rows("1,2\n,3\n", ',')[0] == '1');
  CHECK(rows("1\t2\n\t3\t4\n", '\t')[0] == '1');
  CHECK(rows("1\t2\n3\t4\n", '\t')[0] == '2');
  CHECK(rows(" 1\t 2 \n3 4", ' ')[0] == '2');
}
