// Many small problems, a warp each. See warp_batch.h; it is compiled with what lk.cu is compiled with, and with
// BATCH_BLOCKS, the warps of a multiprocessor that there are registers for.
#include "lk/warp_batch.h"

using namespace warptsp;
using namespace warptsp::lk;

typedef WarpMetric<(MetricKind)LK_METRIC, LK_DUMMY>::Type Metric;
typedef WarpLkArrays<LK_CANDIDATES, Metric::Place> Arrays;

// The problems from `first` on; a block is one warp.
extern "C" __global__ void __launch_bounds__(32, BATCH_BLOCKS)
    search_problems(BatchOnDevice batch, BatchPlan plan, int first) {
  extern __shared__ __align__(16) unsigned char memory[];
  WarpProblem<WarpLanes, Metric, LK_CANDIDATES>(batch, plan, first + blockIdx.x, memory).run();
}

extern "C" __global__ void shared_bytes(int *fixed_and_a_city) {
  fixed_and_a_city[0] = Arrays::bytes(0);
  fixed_and_a_city[1] = Arrays::bytes_a_city;
}
