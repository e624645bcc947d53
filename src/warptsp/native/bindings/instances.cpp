// The numbers of a TSPLIB section, from text to an array and back, and the random instances of DIMACS.
#include "arrays.h"
#include "instances/dimacs.h"
#include "instances/tsplib_numbers.h"

#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

using namespace warptsp;
using namespace warptsp::instances;

namespace {

bool any_number(const char *begin, const char *end, double &value) {
#ifdef __cpp_lib_to_chars  // of reals, too: not before macOS 13.3
  if (std::from_chars(begin + (*begin == '+'), end, value).ec == std::errc()) return true;  // if not, it may vanish
#endif
  value = PyOS_string_to_double(std::string(begin, end).c_str(), nullptr, nullptr);
  if (value == -1.0 && PyErr_Occurred()) throw nb::python_error();
  return std::isfinite(value);
}

void serve_signals() {
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

const char *at(const nb::bytes &text, size_t offset) {
  return text.c_str() + (offset < text.size() ? offset : text.size());
}

std::tuple<NumpyArray<double>, size_t> parse_numbers(nb::bytes text, size_t begin, size_t expected) {
  std::vector<double> numbers;
  const char *const end = text.c_str() + text.size();
  const char *const after = read_numbers(at(text, begin), end, expected, numbers, any_number, serve_signals);
  return std::make_tuple(to_numpy(std::move(numbers)), static_cast<size_t>(after - text.c_str()));
}

std::tuple<NumpyArray<double>, size_t> parse_table(nb::bytes text, size_t begin, size_t columns, char delimiter) {
  if (columns == 0) throw nb::value_error("a table has at least one column");
  std::vector<double> numbers;
  const char *const end = text.c_str() + text.size();
  const char *const after = read_table(at(text, begin), end, columns, delimiter, numbers, any_number, serve_signals);
  const size_t rows = numbers.size() / columns;
  return std::make_tuple(to_numpy(std::move(numbers), {rows, columns}), static_cast<size_t>(after - text.c_str()));
}

// Lines of integers separated by blanks.
nb::bytes format_integers(Array<const long long, 2> rows) {
  const size_t count = rows.shape(0), columns = rows.shape(1);
  std::vector<char> text(count * columns * 21 + 1);
  char *out = text.data(), *const end = out + text.size();
  const long long *value = rows.data();
  for (size_t row = 0; row < count; ++row)
    for (size_t column = 0; column < columns; ++column) {
      out = std::to_chars(out, end, *value++).ptr;
      *out++ = column + 1 == columns ? '\n' : ' ';
    }
  return nb::bytes(text.data(), static_cast<size_t>(out - text.data()));
}

// Reals as Python's repr has them, each on a line of its own.
nb::bytes format_reals(Array<const double, 1> values) {
  std::string text;
  for (size_t at = 0; at < values.shape(0); ++at) {
    const double value = values.data()[at];
    if (at > 0) text += '\n';
#ifdef __cpp_lib_to_chars  // of reals, too: not before macOS 13.3
    const double size = std::fabs(value);
    if (size == 0.0 || (size >= 1e-4 && size < 1e15)) {  // others may have exponents
      char digits[32];
      char *const end = std::to_chars(digits, digits + sizeof digits, value, std::chars_format::fixed).ptr;
      text.append(digits, end);
      if (std::find(digits, end, '.') == end) text += ".0";
      continue;
    }
#endif
    char *const digits = PyOS_double_to_string(value, 'r', 0, Py_DTSF_ADD_DOT_0, nullptr);
    if (digits == nullptr) throw nb::python_error();
    text += digits;
    PyMem_Free(digits);
  }
  return nb::bytes(text.data(), text.size());
}

template <class Draw>
auto drawn(Draw draw, long long least) {
  return [draw, least](long long n, int seed) {
    require(n >= least && n < 0x7fffffff, "n is " + std::to_string(n));
    require(seed >= 0 && seed < SubtractiveGenerator::modulus, "seed is " + std::to_string(seed));
    return to_numpy(draw(n, seed), {size_t(n), 2});
  };
}

}  // namespace

void bind_instances(nb::module_ &m) {
  m.def("dimacs_uniform", drawn(dimacs_uniform, 0), "n"_a, "seed"_a);
  m.def("dimacs_clustered", drawn(dimacs_clustered, 100), "n"_a, "seed"_a);
  m.def("parse_numbers", &parse_numbers, "text"_a, "begin"_a, "expected"_a);
  m.def("parse_table", &parse_table, "text"_a, "begin"_a, "columns"_a, "delimiter"_a);
  m.def("format_integers", &format_integers, "rows"_a);
  m.def("format_reals", &format_reals, "values"_a);
}
