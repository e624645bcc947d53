// How far a chain of symmetrical moves is, as a block of the GPU knows it. For the device compiler alone.
#pragma once
#include "papers/symmetric/symmetric.h"

namespace warptsp::symmetric {

struct SymmetricState {
  long long step;   // axes so far
  long long quiet;  // of them since the last move
  u64 moves;
};

// What a block knows of its chain, beside the tour: on all threads.
struct Walk {
  const SymmetricInstance &instance;
  SymmetricState state;
  int phase;
  u64 moves = 0;  // on the first lanes

  __device__ Walk(const SymmetricInstance &of, const SymmetricState &from)
      : instance(of), state(from), phase((int)(from.step % axes_of(of))) {}

  __device__ bool is_done() const { return state.quiet >= quiet_enough(instance); }
  __device__ Axis axis() const { return axis_at(instance, phase); }

  // So many axes more, the last of them with moves or not. While it is hot, quiet ones are not counted.
  __device__ void pass(int axes, bool moved, bool cold) {
    const int all = axes_of(instance);
    phase += axes;
    if (phase >= all) phase -= all;
    if (!cold) {
      state.step += axes;
      return;
    }
    skip(instance, axes - moved, state.step, state.quiet);
    if (moved) state.quiet = quiet_after(instance, state.quiet, ++state.step, true);
  }
};

}  // namespace warptsp::symmetric
