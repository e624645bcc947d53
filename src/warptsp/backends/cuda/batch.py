"""Many small problems on a GPU, a warp for each (``native/lk/warp_batch.h``)."""

import time

import numpy as np
from numpy.typing import NDArray

import warptsp._native as _native
from warptsp._native import AnnealingPlan, Kicks
from warptsp.backends.cuda import records, tuning
from warptsp.backends.cuda.compiler import Source
from warptsp.backends.cuda.device import Device, DeviceArray, Kernel
from warptsp.backends.cuda.launch_plan import lk_defines, shared_bytes_by
from warptsp.problem import Metric

FILE = "lk_batch.cu"


def batch_defines(metric: Metric, n: int) -> dict[str, int]:
    """Return what the file is compiled with for problems of so many cities."""
    depth, first, second, blocks = tuning.FEW_IN_BATCH if n <= tuning.FEW_CITIES else tuning.MANY_IN_BATCH
    return {
        **lk_defines(metric, depth=depth),
        "LK_FIRST_BREADTH": first,
        "LK_SECOND_BREADTH": second,
        "BATCH_BLOCKS": blocks,
    }


def search_problems(
    device: Device,
    rows: NDArray[np.float64] | NDArray[np.float32],
    metric: Metric,
    *,
    tolerances: NDArray[np.float32],
    seeds: NDArray[np.uint64],
    annealing: AnnealingPlan,
    most: int,
    agreeing: int,
    kicks: Kicks,
    token: _native.StopToken,
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.float64], NDArray[np.int32]]:
    """Search m problems of n cities each, 9 to `tuning.MOST_IN_BATCH`.

    The rows are points, float64 of shape (m, n, 2) or (m, n, 3), or matrices of the metric EXPLICIT, float32
    of shape (m, n, n). A gain must exceed the tolerance. `annealing`, `most` and `agreeing`: one annealing,
    how many there are at most, and how many end with one length (`BatchPlan` in ``native/lk/warp_batch.h``).
    The token ends the search; problems that were begun keep their best tour. Returns of each problem its
    tour, the kicks, its share of the time, and a `_native.BatchEnd`.
    """
    count, n = rows.shape[:2]
    of_points = metric.has_coordinates
    module = device.module(Source(FILE, (), batch_defines(metric, n)))
    kernel = module.kernel("search_problems")
    shared = shared_bytes_by(device, module.kernel("shared_bytes"))(n)
    given = device.upload(rows)
    stop = device.zeros(1, np.int32)
    best = device.empty((count, n), np.uint16)
    done, end = device.zeros(count, np.int32), device.zeros(count, np.int32)
    batch = records.BATCH(
        points=given if of_points else None,
        matrices=None if of_points else given,
        problems=count,
        size=n,
        dimensions=rows.shape[2] if of_points else 0,
        seeds=(kept_seeds := device.upload(seeds)),
        tolerances=(kept_tolerances := device.upload(tolerances)),
        local_candidates=(candidates := device.empty((count, n, tuning.CANDIDATES), np.uint16)),
        kept=(kept := device.empty((count, n), np.uint16)),
        best=best,
        kicks=done,
        end=end,
    )
    plan = records.BATCH_PLAN(
        most=most, agreeing=agreeing, stop=stop, **annealing.as_dict(), **kicks.as_dict()
    )
    seconds = np.zeros(count)
    at_once = max(1, kernel.blocks_per_multiprocessor(32, shared) * device.multiprocessors)
    some, first = tuning.BATCH_WAVES * at_once, 0
    while first < count and not token.stopped():
        some = min(some, count - first)
        took = _launched(device, kernel, (some, 32, batch, plan, np.int32(first)), shared, stop, token)
        seconds[first : first + some] = took / some
        first += some
        some = max(at_once, int(tuning.ROUND_SLICE / max(took / some, 1e-9)))
    tours = best.download().astype(np.int32)
    ends = end.download()
    del kept_seeds, kept_tolerances, candidates, kept  # were the kernel's until here
    return tours, done.download().astype(np.int64), seconds, ends


def _launched(
    device: Device,
    kernel: Kernel,
    arguments: tuple[int, int, np.void, np.void, np.int32],
    shared: int,
    stop: DeviceArray,
    token: _native.StopToken,
) -> float:
    """Search some of the problems; returns the seconds, and ends them early when the token says so."""
    with device.timer() as timer:
        kernel.launch(*arguments, shared=shared)
    told = False
    while not timer.is_done:
        if not told and token.stopped():
            stop.upload_beside(np.ones(1, np.int32))
            told = True
        time.sleep(tuning.PAUSE)
    return timer.seconds
