// One loop, compiled for several instruction sets, of which the machine's best is chosen at run time. Host code only.
//
//   WARPTSP_FN void loop(...) { ... }                                   // always inlined
//   WARPTSP_AVX512 void loop_avx512(...) { loop(...); }
//   WARPTSP_AVX2 void loop_avx2(...) { loop(...); }
//   if (instruction_set() == InstructionSet::avx512) loop_avx512(...);  // and so on
//
// The compiler vectorises each copy of the loop for its set. Elsewhere than on x86 there is one copy, for what the
// compiler was asked to build for: 64-bit ARM has its vectors always.
#pragma once

#if (defined(__x86_64__) || defined(__i386__)) && defined(__GNUC__)
#define WARPTSP_HAS_SETS 1
#include <cpuid.h>
#else
#define WARPTSP_HAS_SETS 0
#endif

namespace warptsp {

enum class InstructionSet { baseline, avx2, avx512 };

// What processor and system (which must save the wide registers) can do.
inline InstructionSet detect_instruction_set() {
#if WARPTSP_HAS_SETS
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid(1, &a, &b, &c, &d) || (c & bit_OSXSAVE) == 0) return InstructionSet::baseline;
  unsigned low = 0, high = 0;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return InstructionSet::baseline;
  constexpr unsigned ymm = 0x06, zmm = 0xe6;
  const unsigned wide = bit_AVX512F | bit_AVX512DQ | bit_AVX512BW | bit_AVX512VL;
  if ((low & zmm) == zmm && (b & wide) == wide) return InstructionSet::avx512;
  if ((low & ymm) == ymm && (b & bit_AVX2) != 0) return InstructionSet::avx2;
#endif
  return InstructionSet::baseline;
}

inline InstructionSet instruction_set() {
  static const InstructionSet found = detect_instruction_set();
  return found;
}

}  // namespace warptsp

#if WARPTSP_HAS_SETS
#if defined(__clang__)
#define WARPTSP_AVX512 __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl"), min_vector_width(512)))
#else
#define WARPTSP_AVX512 __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,prefer-vector-width=512")))
#endif
#define WARPTSP_AVX2 __attribute__((target("avx2")))
#endif
