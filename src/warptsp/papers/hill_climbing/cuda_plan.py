"""Plans of random-restart 2-opt on a GPU: the version for a problem, its kernel, shares of threads."""

import logging
import math
from dataclasses import dataclass

import numpy as np

from warptsp.backends.cuda.compiler import Source
from warptsp.backends.cuda.device import Device
from warptsp.backends.cuda.occupancy import Occupancy, Used
from warptsp.errors import DeviceOutOfMemory, InvalidOption, UnsupportedProblem
from warptsp.papers.hill_climbing import cuda_records as records
from warptsp.papers.hill_climbing import cuda_tuning as tuning
from warptsp.papers.hill_climbing.instance import ClimbInstance, in_plane
from warptsp.problem import Problem

STRIP_KERNEL = "climb<Strip<{strip}>>"
THREAD_VERSIONS = {
    "shared-matrix": "climb_alone<SharedMatrix>",
    "global-matrix": "climb_alone<GlobalMatrix>",
    "read-only-matrix": "climb_alone<ReadOnlyMatrix>",
    "one-thread": "climb_alone<Computed>",
}
TOUR_OF = "tour_of"
BLOCK_VERSIONS = {"intra": "climb<Intra>", "tiled": "climb<Tiled>", "tuned": "climb<Tiled>"}

MAX_CITIES = 2**30 - 1  # the sum of two positions has 32 bits; memory ends before
_CLIMBER = Used(tuning.CLIMB_REGISTERS)
_COMMON_BYTES = 2048  # of shared memory that a block has beside its tour or matrix, and some to spare

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RingPlan:
    """How the moves of a pass are spread over the threads of a block (RingShares of ring_scan.h)."""

    strip: int  # reaches of a thread
    strips: int  # shares side by side over the reaches
    segments: int  # and over the links
    steps: int  # links of a share
    block: int  # threads
    shared: int  # bytes of dynamic shared memory
    rate: float  # moves a clock and multiprocessor that the model expects


def ring_shares(n: int, strip: int, segments: int) -> tuple[int, int] | None:
    """Return the strips of reaches and the links of a segment; None if moves cannot be shared so."""
    if n // 2 < strip + 1:
        return None
    steps = strip * math.ceil(math.ceil(n / segments) / strip)
    if steps > n or math.ceil(n / steps) < segments:
        return None
    return math.ceil((n // 2 - 1) / strip), steps


def plan_ring(n: int, device: Device, block: int | None = None) -> RingPlan:
    """Choose strip, segments and block for n cities by a model of instructions; InvalidOption if a block of
    so many threads has too few for the tour."""
    best: RingPlan | None = None
    for strip, instructions in tuning.STRIPS.items():
        shared = records.PLACE.itemsize * (n + 2 * strip)  # the tour, and what is read past its end
        if shared + _COMMON_BYTES > device.shared_memory_per_block:
            continue
        for threads in (block,) if block is not None else (32 * warps for warps in tuning.BALANCED_WARPS):
            blocks = at_once(device, threads, shared + _COMMON_BYTES)
            if blocks == 0:
                continue
            for segments in range(1, n // strip + 1):
                shares = ring_shares(n, strip, segments)
                if shares is None:
                    continue
                strips, steps = shares
                turns = math.ceil(strips * segments / threads)
                if turns > 1 and strips > threads:
                    continue
                warps = threads // 32
                look = turns * (steps + tuning.START_STEPS) * strip * instructions
                a_pass = warps * (look + tuning.PASS_INSTRUCTIONS) + 2 * n
                hidden = min(1.0, 0.8 + 0.2 * warps * blocks / tuning.ENOUGH_WARPS, warps * blocks / 8)
                rate = 4 * hidden * (n * (n - 3) / 2) / a_pass
                if best is None or rate > best.rate:
                    best = RingPlan(strip, strips, segments, steps, threads, shared, rate)
    if best is None:
        raise InvalidOption(f"block: {block!r} threads are too few for {n} cities; leave it out")
    return best


def at_once(device: Device, threads: int, shared: int) -> int:
    """Return the blocks that a multiprocessor runs at once."""
    return Occupancy.of(device, _CLIMBER, threads, shared).blocks


def tuned_block(n: int, device: Device) -> int:
    """Return the document's choice of threads for a block: most of them at work, several rows a thread."""
    busy = {}
    for threads in range(32, 1025, 32):
        blocks = at_once(device, threads, _COMMON_BYTES + tile_bytes(threads))
        busy[threads] = blocks * threads * (n - 2) / (math.ceil((n - 2) / threads) * threads)
    # As good as the best, and with tiles that are read often enough: 32 threads were a tenth slower at 4000.
    good = [threads for threads, score in busy.items() if score >= 0.97 * max(busy.values())]
    return min(good, key=lambda threads: (threads < tuning.TILE_THREADS, abs(threads - tuning.TILE_THREADS)))


def tile_bytes(block: int) -> int:
    """Shared memory for the tile of a block: a place for each thread, and the one behind."""
    return records.PLACE.itemsize * (block + 1)


def source_of(instance: ClimbInstance, device: Device, version: str, block: int | None = None) -> Source:
    """Return what the climbers of a version need, their kernel first; more would only delay the start."""
    n = instance.problem.n
    rounding = tuning.ROUNDINGS[instance.problem.metric.rounding] if instance.rounded else 0
    if version in THREAD_VERSIONS:
        rounding = int(instance.whole) if version.endswith("matrix") else rounding
        return _alone(version, rounding)
    if version == "auto":
        name = STRIP_KERNEL.format(strip=plan_ring(n, device, block).strip)
    else:
        name = BLOCK_VERSIONS[version]
    return Source("climb.cu", (name,), {"CLIMB_ROUNDING": rounding}, fmad=False)


def climbing_sources(problem: Problem) -> list[Source]:
    """Return what the fastest versions need for problems of this metric, of any size on any GPU."""
    if in_plane(problem):
        names = [*(STRIP_KERNEL.format(strip=strip) for strip in tuning.STRIPS), BLOCK_VERSIONS["tuned"]]
        rounding = tuning.ROUNDINGS[problem.metric.rounding]
        return [Source("climb.cu", (name,), {"CLIMB_ROUNDING": rounding}, fmad=False) for name in names]
    return [_alone(version, int(problem.integral)) for version in ("shared-matrix", "global-matrix")]


def _alone(version: str, rounding: int) -> Source:
    names = (THREAD_VERSIONS[version], TOUR_OF)
    return Source("climb_alone.cu", names, {"CLIMB_ROUNDING": rounding}, fmad=False)


def margin_of(instance: ClimbInstance) -> float:
    """Return the largest float delta of a move that may shorten the tour in exact arithmetic.

    Coordinates and distances are off by 2^-20 of the largest coordinate at most, a delta by four
    times that and the rounding of its sums; rounded distances by one more each.
    """
    reach = float(np.abs(instance.near).max())
    return 4.0 + math.ceil(reach * 2.0**-18) if instance.rounded else reach * 2.0**-17


def best_version(problem: Problem, device: Device) -> str:
    if not in_plane(problem):
        return "shared-matrix" if problem.n <= max_in_shared_matrix(device) else "global-matrix"
    if problem.n <= max_in_shared(device):
        return "auto"
    logger.info("version tuned: tours of %d cities do not fit into shared memory", problem.n)
    return "tuned"


def check_version(problem: Problem, device: Device, version: str) -> None:
    """Raise an error if a version cannot do a problem: what its limit is, and which version to take."""
    n = problem.n
    shared = device.shared_memory_per_block
    if version.endswith("matrix"):
        needed, free = matrix_bytes(problem), device.memory_free()
        if version == "shared-matrix" and n > max_in_shared_matrix(device):
            raise UnsupportedProblem(
                f"version shared-matrix: the distances of {n} cities do not fit into the {shared} bytes of "
                f"shared memory of a block, which holds {max_in_shared_matrix(device)} cities; use "
                "version auto or global-matrix"
            )
        if needed > 0.8 * free:
            raise DeviceOutOfMemory(
                f"version {version}: the distances of {n} cities need {needed / 1e9:.2f} GB, and "
                f"{free / 1e9:.2f} GB are free on device cuda:{device.ordinal}; use version auto"
            )
    elif not in_plane(problem):
        raise UnsupportedProblem(
            f"version {version} computes distances in the plane, and these are {problem.metric.name}; use "
            "version auto or global-matrix"
        )
    elif version == "auto" and n > max_in_shared(device):
        raise UnsupportedProblem(
            f"version auto: the tour of {n} cities does not fit into the {shared} bytes of shared memory of "
            f"a block, which holds {max_in_shared(device)}; use version tuned"
        )


def max_in_shared(device: Device) -> int:
    """Return the cities up to which the tour of a climber fits into shared memory."""
    return (device.shared_memory_per_block - _COMMON_BYTES) // records.PLACE.itemsize - 2 * max(tuning.STRIPS)


def max_in_shared_matrix(device: Device) -> int:
    """Return the cities whose distances fit into shared memory."""
    return math.isqrt((device.shared_memory_per_block - _COMMON_BYTES) // 4)


def matrix_bytes(problem: Problem) -> int:
    """Bytes of a matrix: of integers, or of floats and of exact distances."""
    return (4 if problem.integral else 12) * problem.n**2
