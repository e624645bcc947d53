// Which edges a double bridge cuts: the parameters that both searches have, on CPU threads and on a GPU.
#pragma once

namespace warptsp::lk {

// The usual values are those of CPU threads (EXP-012, EXP-013).
struct Kicks {
  int segment = 50;         // longest segment of a double bridge
  int walk = 10;            // steps between two of a walk's four edges
  float walks = 0.45f;      // share of the kicks that are random walks
  float long_links = 0.1f;  // share of the kicks that cut long edges
};

}  // namespace warptsp::lk
