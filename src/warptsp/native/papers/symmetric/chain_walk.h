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
  Cooling cooling;
  Acceptance acceptance;
  const bool cold = cooling.temperature <= 0;  // a descent
  const int all = axes_of(instance);
  int phase = (int)(state.step % all);
  float limit = acceptance.most(instance);  // of what the filter lets pass
  u64 moves = 0;                            // on the first lanes

  __device__ __forceinline__ Walk(const SymmetricInstance &of, const SymmetricState &from, const Cooling &cooling,
                                  u64 seed, u64 chain)
      : instance(of), state(from), cooling(cooling), acceptance{cooling.temperature, seed, chain} {}

  __device__ bool is_done() const { return cold && state.quiet >= quiet_enough(instance); }
  __device__ Axis axis() const { return axis_at(instance, phase); }
  // So many axes on.
  __device__ Axis axis_ahead(int axes) const {
    return axis_at(instance, phase + axes >= all ? phase + axes - all : phase + axes);
  }

  // So many axes more, at most all, the last of them with moves or not. While it is hot, quiet ones are not counted.
  __device__ void pass(int axes, bool moved) {
    phase += axes;
    if (phase >= all) phase -= all;
    if (cold) {
      skip(instance, axes - moved, state.step, state.quiet);
      if (moved) state.quiet = quiet_after(instance, state.quiet, ++state.step, true);
      return;
    }
    state.step += axes;
    cooling.advance(axes);
    if (cooling.temperature == acceptance.temperature) return;
    acceptance.temperature = cooling.temperature;
    limit = acceptance.most(instance);
  }

  // Of several blocks that have walked together one hands back the rest.
  __device__ void hand_back(SymmetricState *states, bool rest = true) const {
    if (moves != 0) atomicAdd(&states->moves, moves);
    if (!rest || threadIdx.x != 0) return;
    states->step = state.step;
    states->quiet = cold ? state.quiet : 0;
  }
};

}  // namespace warptsp::symmetric
