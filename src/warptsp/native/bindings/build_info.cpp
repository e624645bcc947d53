// How this module was built, for bug reports (`warptsp devices`).
#include <nanobind/stl/string.h>

#include <string>

#include "common.h"

namespace {

std::string compiler() {
#if defined(__clang__)
  return "Clang " __clang_version__;
#elif defined(__GNUC__)
  return "GCC " __VERSION__;
#elif defined(_MSC_VER)
  return "MSVC " + std::to_string(_MSC_VER);
#else
  return "unknown";
#endif
}

std::string instruction_set() {
#if defined(__AVX512F__)
  return "AVX-512";
#elif defined(__AVX2__)
  return "AVX2";
#elif defined(__AVX__)
  return "AVX";
#elif defined(__SSE2__) || defined(_M_X64)
  return "SSE2";
#elif defined(__ARM_NEON)
  return "NEON";
#else
  return "generic";
#endif
}

const char *sanitizers() {
#if defined(__SANITIZE_ADDRESS__)
  return "address";
#else
  return "none";
#endif
}

}  // namespace

void bind_build_info(nb::module_ &m) {
  m.def(
      "build_info",
      [] {
        nb::typed<nb::dict, nb::str, nb::str> info;
        info["compiler"] = compiler();
        info["instructions"] = instruction_set();
        info["sanitizers"] = sanitizers();
        return info;
      },
      "How this module was built: compiler, instruction set that it was compiled for, sanitizers.");
}
