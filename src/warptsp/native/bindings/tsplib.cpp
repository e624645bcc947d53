// The numbers of a TSPLIB section, from text to an array and back.
#include <cstring>
#include <string>

#include "common.h"
#include "tsplib_numbers.h"

using namespace warptsp;

namespace {

bool python_number(const char *text, double &value) {
  value = PyOS_string_to_double(text, nullptr, nullptr);
  if (value == -1.0 && PyErr_Occurred()) throw nb::python_error();
  return std::isfinite(value);
}

// Every number from `begin` up to the first token that is none; and where that token starts.
nb::tuple parse_numbers(nb::bytes text, size_t begin, size_t expected) {
  const char *const data = text.c_str(), *const end = data + text.size();
  const char *p = data + (begin < text.size() ? begin : text.size());
  std::vector<double> numbers;
  // What a file promises is believed only as far as its remaining bytes could hold it.
  const size_t possible = static_cast<size_t>(end - p) / 2 + 1;
  numbers.reserve(expected < possible ? expected : possible);
  for (;;) {
    while (p != end && is_space(*p)) ++p;
    if (p == end) break;
    double value;
    const char *const after = parse_number(p, end, value, python_number);
    if (after == nullptr) break;
    numbers.push_back(value);
    p = after;
    if ((numbers.size() & 0xfffff) == 0 && PyErr_CheckSignals() != 0) throw nb::python_error();
  }
  const size_t count = numbers.size();
  return nb::make_tuple(to_numpy(std::move(numbers), {count}), static_cast<size_t>(p - data));
}

bool is_break(char c) { return c == '\n' || c == '\r'; }

// The numbers of a table from `begin` on, and where the first line starts that does not have exactly `columns` of
// them; blank lines are passed over. The delimiter may be a blank: then any number of blanks separates two fields.
nb::tuple parse_table(nb::bytes text, size_t begin, size_t columns, char delimiter) {
  const char *const data = text.c_str(), *const end = data + text.size();
  const char *line = data + (begin < text.size() ? begin : text.size());
  std::vector<double> numbers;
  size_t rows = 0;
  const auto is_blank = [delimiter](char c) { return c == ' ' || (c == '\t' && delimiter != '\t'); };
  for (;;) {
    while (line != end && is_space(*line)) ++line;
    if (line == end) break;
    const char *p = line;
    size_t column = 0;
    for (;; ++column) {
      while (p != end && is_blank(*p)) ++p;
      if (column == columns || p == end || is_break(*p)) break;
      if (column != 0 && delimiter != ' ') {
        if (*p != delimiter) break;
        ++p;
        while (p != end && is_blank(*p)) ++p;
      }
      double value;
      const char *const after = p == end ? nullptr : parse_number(p, end, value, python_number, delimiter);
      if (after == nullptr) break;
      numbers.push_back(value);
      p = after;
    }
    if (column != columns || (p != end && !is_break(*p))) {
      numbers.resize(rows * columns);
      break;
    }
    line = p;
    if ((++rows & 0xfffff) == 0 && PyErr_CheckSignals() != 0) throw nb::python_error();
  }
  return nb::make_tuple(to_numpy(std::move(numbers), {rows, columns}), static_cast<size_t>(line - data));
}

char *append(char *out, long long value) {
  if (value < 0) *out++ = '-';
  unsigned long long rest = value < 0 ? 0ull - static_cast<unsigned long long>(value) : value;
  char digits[20];
  int count = 0;
  do {
    digits[count++] = static_cast<char>('0' + rest % 10);
    rest /= 10;
  } while (rest != 0);
  while (count != 0) *out++ = digits[--count];
  return out;
}

// Lines of integers separated by blanks.
nb::bytes format_integers(Array<const long long, 2> rows) {
  const size_t count = rows.shape(0), columns = rows.shape(1);
  std::vector<char> text(count * columns * 21 + 1);
  char *out = text.data();
  const long long *value = rows.data();
  for (size_t row = 0; row < count; ++row)
    for (size_t column = 0; column < columns; ++column) {
      out = append(out, *value++);
      *out++ = column + 1 == columns ? '\n' : ' ';
    }
  return nb::bytes(text.data(), static_cast<size_t>(out - text.data()));
}

}  // namespace

void bind_tsplib(nb::module_ &m) {
  m.def("parse_numbers", &parse_numbers, nb::arg("text"), nb::arg("begin"), nb::arg("expected"));
  m.def("parse_table", &parse_table, nb::arg("text"), nb::arg("begin"), nb::arg("columns"), nb::arg("delimiter"));
  m.def("format_integers", &format_integers, nb::arg("rows"));
}
