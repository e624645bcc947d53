// Who executes a search: one CPU thread, or the lanes of a warp. An algorithm in this folder is a template over
// this type and uses nothing else to share work, so the CPU runs the very code that a GPU runs.
#pragma once
#include "metric.h"  // WARPTSP_FN

namespace warptsp {

struct HostLane {
  static constexpr int size = 1;
  WARPTSP_FN int rank() const { return 0; }
  WARPTSP_FN void sync() const {}
  template <class T>
  WARPTSP_FN T broadcast(T value, int /*source*/) const { return value; }
  // The lane that holds the largest value; the lowest lane on ties.
  template <class T>
  WARPTSP_FN int argmax(T) const { return 0; }
};

}  // namespace warptsp
