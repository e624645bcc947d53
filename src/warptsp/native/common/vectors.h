// Loops that are compiled once for each instruction set. Host code only.
//
// vectorised(work) runs the copy of `work` for this processor's set; `work` is a lambda marked WARPTSP_INLINE_LAMBDA
// with plain loops, which the compiler vectorises. All copies do the same operations: no products and sums are fused
// (-ffp-contract=off), so results do not depend on the processor.
#pragma once
#include "common/instruction_sets.h"

#if defined(__GNUC__)
#define WARPTSP_INLINE_LAMBDA __attribute__((always_inline))
#define WARPTSP_RESTRICT __restrict__
#else
#define WARPTSP_INLINE_LAMBDA
#define WARPTSP_RESTRICT __restrict
#endif

namespace warptsp {

#if WARPTSP_HAS_SETS

template <class Work>
WARPTSP_AVX512 void run_avx512(const Work &work) {
  work();
}
template <class Work>
WARPTSP_AVX2 void run_avx2(const Work &work) {
  work();
}
template <class Work>
void vectorised(const Work &work, InstructionSet set = instruction_set()) {
  switch (set) {
    case InstructionSet::avx512: return run_avx512(work);
    case InstructionSet::avx2: return run_avx2(work);
    case InstructionSet::baseline: return work();
  }
}

#else

template <class Work>
void vectorised(const Work &work, InstructionSet = InstructionSet::baseline) {
  work();
}

#endif

}  // namespace warptsp
