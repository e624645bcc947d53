// How the search of one of many instances ended, on a CPU thread or on a GPU.
#pragma once

namespace warptsp::lk {

enum class BatchEnd : int {
  none,       // it was not begun
  proved,     // no tour is shorter
  settled,    // several searches ended with one length
  all_kicks,  // as many as were asked for
  unsettled,  // no search agreed with another one, or it is a matter for `solve`
  stopped     // by the token
};

}  // namespace warptsp::lk
