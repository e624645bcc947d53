"""Random-restart 2-opt on a GPU, whole descents without the host.

A climber is a block's (native/cuda/climb.cu) or a thread's (native/cuda/climb_alone.cu).
"""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from warptsp.backends.climb_instance import in_plane
from warptsp.backends.cuda import records
from warptsp.backends.cuda.compiler import Source
from warptsp.errors import DeviceOutOfMemory, InvalidOption, UnsupportedProblem

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warptsp.backends.climb_instance import ClimbInstance
    from warptsp.backends.cuda.device import Device, DeviceArray, Kernel
    from warptsp.backends.cuda.records import Record
    from warptsp.problem import Problem

# Of native/exhaustive/ring_look.h.
ROUNDINGS = {"EXACT_2D": 0, "EUC_2D": 1, "CEIL_2D": 2, "FLOOR_2D": 3, "ATT": 4}
# Reaches of a thread, and the instructions that a move then costs: counted in the machine code, but for 9,
# whose figure is what it takes on an H200. It is for tours with more strips of 7 than a block has threads.
STRIPS = {5: 8.5, 7: 8.1, 9: 8.6}
STRIP_KERNEL = "climb<Strip<{strip}>>"
CLIMB_KERNELS = (*(STRIP_KERNEL.format(strip=strip) for strip in STRIPS), "climb<Intra>", "climb<Tiled>")

ALONE_KERNELS = tuple(f"climb_alone<{name}>" for name in ("SharedMatrix", "GlobalMatrix", "Computed"))
BLOCK_VERSIONS = {"intra": "climb<Intra>", "tiled": "climb<Tiled>", "tuned": "climb<Tiled>"}
THREAD_VERSIONS = dict(zip(("shared-matrix", "global-matrix", "one-thread"), ALONE_KERNELS, strict=True))

MOST_CITIES = 65_535  # the number of a move has 16 bits for a link
# Blocks that load the four schedulers of a multiprocessor alike: 7 warps were as slow as 8 on an H200.
BALANCED_WARPS = (1, 2, 4, 8, 12, 16, 20, 24, 28, 32)
CAPACITY = 1 << 18  # climbers started in a launch at most
CYCLES = 120_000_000  # of a multiprocessor's clock in a launch: 60 ms at 2 GHz

_REGISTERS = 64  # of a thread: kernels are compiled for blocks of up to 1024 threads
_MOST_BLOCKS = 32  # of a multiprocessor
_COMMON_BYTES = 2048  # of shared memory that a block has beside its tour or matrix, and some to spare
_START_STEPS = 2.0  # what it takes to begin a share, in steps
_TILE_THREADS = 128
# What a warp does in a pass beside looking, in instructions: finding the best, checking it, turning cities.
_PASS_INSTRUCTIONS = 450
_ENOUGH_WARPS = 28  # on a multiprocessor, to hide its latencies; with 16 it was a tenth slower

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RingPlan:
    """How the moves of a pass are spread over the threads of a block (RingShares of ring_look.h).

    Attributes
    ----------
    strip : int
        Reaches of a thread.
    strips, segments, steps : int
        Shares side by side over the reaches and over the links, and links of a share.
    block : int
        Threads.
    shared : int
        Bytes of dynamic shared memory.
    blocks : int
        Climbers at once on a multiprocessor.
    rate : float
        Moves a clock and multiprocessor that the model expects.
    """

    strip: int
    strips: int
    segments: int
    steps: int
    block: int
    shared: int
    blocks: int
    rate: float


def ring_shares(n: int, strip: int, segments: int) -> tuple[int, int] | None:
    """Return the strips of reaches and the links of a segment; None if moves cannot be shared so."""
    if n // 2 < strip + 1:
        return None
    steps = strip * math.ceil(math.ceil(n / segments) / strip)
    if steps > n or math.ceil(n / steps) < segments:
        return None
    return math.ceil((n // 2 - 1) / strip), steps


def ring_bytes(n: int, strip: int) -> int:
    """Shared memory of a climber: its tour, and what is read past its end."""
    return records.PLACE.itemsize * (n + 2 * strip)


def plan_ring(n: int, device: Device, block: int | None = None) -> RingPlan | None:
    """Choose strip, segments and block for n cities by a model of instructions; None if nothing fits."""
    best: RingPlan | None = None
    for strip, instructions in STRIPS.items():
        shared = ring_bytes(n, strip)
        if shared + _COMMON_BYTES > device.shared_memory_per_block:
            continue
        for threads in (block,) if block is not None else (32 * warps for warps in BALANCED_WARPS):
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
                look = turns * (steps + _START_STEPS) * strip * instructions
                a_pass = warps * (look + _PASS_INSTRUCTIONS) + 2 * n
                hidden = min(1.0, 0.8 + 0.2 * warps * blocks / _ENOUGH_WARPS, warps * blocks / 8)
                rate = 4 * hidden * (n * (n - 3) / 2) / a_pass
                if best is None or rate > best.rate:
                    best = RingPlan(strip, strips, segments, steps, threads, shared, blocks, rate)
    return best


def at_once(device: Device, threads: int, shared: int) -> int:
    """Return the blocks that a multiprocessor runs at once."""
    return min(
        device.shared_memory_per_multiprocessor // (shared + device.shared_memory_reserved),
        device.registers_per_multiprocessor // (_REGISTERS * threads),
        device.threads_per_multiprocessor // threads,
        _MOST_BLOCKS,
    )


def tuned_block(n: int, device: Device) -> int:
    """Return the document's choice of threads for a block: most of them at work, several rows a thread."""
    busy = {}
    for threads in range(32, 1025, 32):
        blocks = at_once(device, threads, _COMMON_BYTES + tile_bytes(threads))
        busy[threads] = blocks * threads * (n - 2) / (math.ceil((n - 2) / threads) * threads)
    # As good as the best, and with tiles that are read often enough: 32 threads were a tenth slower at 4000.
    good = [threads for threads, score in busy.items() if score >= 0.97 * max(busy.values())]
    return min(good, key=lambda threads: (threads < _TILE_THREADS, abs(threads - _TILE_THREADS)))


def tile_bytes(block: int) -> int:
    """Shared memory for the tile of a block: a place for each thread, and the one behind."""
    return records.PLACE.itemsize * (block + 1)


class Climbers:
    """Climbers on a GPU, and what came of them.

    Attributes
    ----------
    climbers, passes, moves : int
        So far: local optima, neighbourhoods looked at, moves made.
    seconds : float
        In kernels.
    grid, block, shared : int
        Blocks, and threads and bytes of dynamic shared memory of each.
    """

    def __init__(
        self, device: Device, instance: ClimbInstance, seed: int, given: NDArray[np.int32] | None
    ) -> None:
        self.device = device
        self.n = instance.problem.n
        self.climbers = self.passes = self.moves = 0
        self.seconds = 0.0
        self.grid = self.block = self.shared = 0
        self._best: tuple[int, int] | None = None
        self._started = 0
        self._kernel: Kernel
        self._layout: Record
        self._arrays: dict[str, DeviceArray] = {
            "next": device.zeros(1, np.uint64),
            "ended": device.zeros(1, np.uint32),
            "passes": device.zeros(1, np.uint64),
            "moves": device.zeros(1, np.uint64),
        }
        if given is not None:
            self._arrays["given"] = device.upload(np.ascontiguousarray(given, np.int32))
        self._values: dict[str, int | float] = {
            "seed": seed,
            "tolerance": instance.tolerance,
            "scale": instance.scale,
            "n": self.n,
            "kind": instance.problem.metric.kind,
        }

    def proceed(self, limit: int | None, seconds: float) -> NDArray[np.int64]:
        """Climb for a while; waits. Returns the lengths of the new local optima, in no order.

        Parameters
        ----------
        limit : int or None
            Climbers with lower numbers are started.
        seconds : float
            After which the launch should end.
        """
        last = self._started + CAPACITY
        last = last if limit is None else min(last, limit)
        cycles = int(min(CYCLES, max(seconds, 1e-4) * 1.5e9))
        values = self._values | self._arrays | {"limit": last, "cycles": cycles}
        arguments = self._layout(**{name: values[name] for name in self._layout.fields & values.keys()})
        self._arrays["next"].upload(np.array([self._started], np.uint64))
        self._arrays["ended"].zero()
        with self.device.timer() as timer:
            self._kernel.launch(self.grid, self.block, arguments, shared=self.shared)
        self.seconds += timer.seconds
        self._started = min(int(self._arrays["next"].download()[0]), last)
        ended = int(self._arrays["ended"].download()[0])
        lengths = self._arrays["lengths"][:ended].download()
        self.climbers += ended
        self.passes = int(self._arrays["passes"].download()[0])
        self.moves = int(self._arrays["moves"].download()[0])
        return lengths

    def better(self) -> NDArray[np.int32] | None:
        """Return the best tour if it is not the one that was returned before."""
        lengths = self._arrays["best_length"].download()
        climbers = self._arrays["best_climber"].download()
        rows = np.flatnonzero(lengths >= 0)
        if len(rows) == 0:
            return None
        row = rows[np.lexsort((climbers[rows], lengths[rows]))[0]]
        best = int(lengths[row]), int(climbers[row])
        if best == self._best:
            return None
        self._best = best
        return self._row("best_tours", int(row))

    def on_its_way(self) -> NDArray[np.int32] | None:
        """Return the tour of a climber that has not ended."""
        raise NotImplementedError

    def _row(self, name: str, row: int) -> NDArray[np.int32]:
        return np.ascontiguousarray(self._arrays[name][row : row + 1].download()[0], dtype=np.int32)

    def _find_capacity(self, workers: int) -> None:
        self._arrays["lengths"] = self.device.empty(CAPACITY + workers, np.int64)
        self._arrays["climber"] = self.device.upload(np.full(workers, -1, np.int64))


def climbers_of(
    device: Device,
    instance: ClimbInstance,
    version: str,
    *,
    seed: int,
    given: NDArray[np.int32] | None = None,
    block: int | None = None,
) -> Climbers:
    """Return the climbers of a version."""
    kind = ThreadClimbers if version in THREAD_VERSIONS else BlockClimbers
    return kind(device, instance, seed=seed, given=given, version=version, block=block)


class BlockClimbers(Climbers):
    """A climber a block: "auto", and the document's "intra", "tiled" and "tuned".

    Raises
    ------
    InvalidOption
        If a block has too few threads for the tour.
    """

    def __init__(
        self,
        device: Device,
        instance: ClimbInstance,
        *,
        seed: int,
        given: NDArray[np.int32] | None = None,
        version: str = "auto",
        block: int | None = None,
    ) -> None:
        super().__init__(device, instance, seed, given)
        assert instance.near is not None
        assert instance.points is not None
        n = self.n
        self._layout = records.CLIMBING
        self.plan: RingPlan | None = None
        if version == "auto":
            plan = plan_ring(n, device, block)
            assert plan is not None  # as source_of said
            self.plan = plan
            self.block, self.shared = plan.block, plan.shared
            self._values |= {"shares_n": n, "strips": plan.strips, "segments": plan.segments}
            self._values["steps"] = plan.steps
        else:
            self.block = block or min(1024, 32 * math.ceil((n - 2) / 32))
            if version == "tuned" and block is None:
                self.block = tuned_block(n, device)
            self.shared = 0 if version == "intra" else tile_bytes(self.block)
        self._kernel = _kernel(device, source_of(instance, device, version, block))
        blocks = self._kernel.blocks_per_multiprocessor(self.block, self.shared)
        self.grid = blocks * device.multiprocessors
        self._find_capacity(self.grid)
        self._values["margin"] = margin_of(instance)
        self._arrays |= {
            "points": device.upload(instance.points),
            "near": device.upload(instance.near),
            "tours": device.empty((self.grid, n), np.int32),
            "best_length": device.upload(np.full(self.grid, -1, np.int64)),
            "best_climber": device.upload(np.full(self.grid, -1, np.int64)),
            "best_tours": device.empty((self.grid, n), np.int32),
        }
        if version != "auto":
            self._arrays["places"] = device.empty((self.grid, n + 1, records.PLACE.itemsize), np.uint8)

    def on_its_way(self) -> NDArray[np.int32] | None:
        """Return the tour of a climber that has not ended."""
        rows = np.flatnonzero(self._arrays["climber"].download() >= 0)
        return self._row("tours", int(rows[0])) if len(rows) else None


class ThreadClimbers(Climbers):
    """A climber a thread: "shared-matrix", "global-matrix" and "one-thread".

    Raises
    ------
    DeviceOutOfMemory
        If the tours do not fit.
    """

    def __init__(
        self,
        device: Device,
        instance: ClimbInstance,
        *,
        seed: int,
        given: NDArray[np.int32] | None = None,
        version: str,
        block: int | None = None,
    ) -> None:
        super().__init__(device, instance, seed, given)
        problem, n = instance.problem, self.n
        matrix = version != "one-thread"
        whole = instance.int_matrix is not None
        rounding = int(whole) if matrix else ROUNDINGS[problem.metric.name] if instance.rounded else 0
        name = THREAD_VERSIONS[version]
        kernel = device.module("climb_alone.cu", (name,), {"CLIMB_ROUNDING": rounding}, fmad=False).kernel(
            name
        )
        self._kernel, self._layout = kernel, records.LONELY
        if version == "shared-matrix":
            self.shared = 4 * n * n
        self.block = block or (1024 if version == "shared-matrix" else 128)
        self.grid = kernel.blocks_per_multiprocessor(self.block, self.shared) * device.multiprocessors
        a_block = self.block * n * (4 if matrix else 12)
        matrices = _matrix_bytes(instance.problem) if matrix else 0
        free = device.memory_free()
        fits = int(0.9 * free - matrices) // a_block
        if fits <= 0:
            raise DeviceOutOfMemory(
                f"version {version}: {n} cities need {(matrices + a_block) / 1e9:.2f} GB, and "
                f"{free / 1e9:.2f} GB are free on device cuda:{device.ordinal}; use version auto"
            )
        self.grid = min(self.grid, fits)
        threads = self.grid * self.block
        self._find_capacity(threads)
        self._values["threads"] = threads
        self._arrays |= {
            "city": device.empty((n, threads), np.int32),
            "row": device.zeros(threads, np.int32),
            "best": device.zeros(threads, np.float64),
            "found": device.zeros(threads, np.uint32),
            "sure": device.zeros(threads, np.int32),
            "best_length": device.upload(np.full(1, -1, np.int64)),
            "best_climber": device.upload(np.full(1, -1, np.int64)),
            "best_tours": device.empty((1, n), np.int32),
            "lock": device.zeros(1, np.uint32),
        }
        self._arrays["best_tour"] = self._arrays["best_tours"]
        if matrix and instance.int_matrix is not None:
            self._arrays["distances"] = device.upload(instance.int_matrix)
            self._values["margin"] = -1.0
        elif matrix:
            assert instance.real_matrix is not None
            self._arrays["exact"] = device.upload(instance.real_matrix)
            self._arrays["distances"] = device.upload(instance.real_matrix.astype(np.float32))
            # Four distances, rounded to 24 bits, and three sums of theirs.
            self._values["margin"] = float(instance.real_matrix.max()) * 2.0**-20
        else:
            assert instance.near is not None
            assert instance.points is not None
            self._arrays["points"] = device.upload(instance.points)
            self._arrays["near"] = device.upload(instance.near)
            self._arrays["place"] = device.empty((n, threads, 2), np.float32)
            self._values["margin"] = margin_of(instance)

    def on_its_way(self) -> NDArray[np.int32] | None:
        """Return the tour of a climber that has not ended."""
        threads = np.flatnonzero(self._arrays["climber"].download() >= 0)
        if len(threads) == 0:
            return None
        return np.ascontiguousarray(self._arrays["city"].download()[:, int(threads[0])])


def source_of(instance: ClimbInstance, device: Device, version: str, block: int | None = None) -> Source:
    """Return the one kernel that the climbers of a version need; others would only delay the start.

    Raises
    ------
    InvalidOption
        If a block has too few threads for the tour.
    """
    n = instance.problem.n
    rounding = ROUNDINGS[instance.problem.metric.name] if instance.rounded else 0
    file = "climb.cu"
    if version in THREAD_VERSIONS:
        file, name = "climb_alone.cu", THREAD_VERSIONS[version]
        rounding = int(instance.int_matrix is not None) if version.endswith("matrix") else rounding
    elif version == "auto":
        plan = plan_ring(n, device, block)
        if plan is None:
            raise InvalidOption(f"block: {block!r} threads are too few for {n} cities; leave it out")
        name = STRIP_KERNEL.format(strip=plan.strip)
    else:
        name = BLOCK_VERSIONS[version]
    return Source(file, (name,), {"CLIMB_ROUNDING": rounding}, fmad=False)


def climbing_sources(problem: Problem) -> list[Source]:
    """Return what the fastest versions need for problems of this metric, of any size on any GPU."""
    if in_plane(problem):
        strips = [STRIP_KERNEL.format(strip=strip) for strip in STRIPS]
        names, file, rounding = [*strips, BLOCK_VERSIONS["tuned"]], "climb.cu", ROUNDINGS[problem.metric.name]
    else:
        names = [THREAD_VERSIONS[version] for version in ("shared-matrix", "global-matrix")]
        file, rounding = "climb_alone.cu", int(problem.integral)
    return [Source(file, (name,), {"CLIMB_ROUNDING": rounding}, fmad=False) for name in names]


def _kernel(device: Device, source: Source) -> Kernel:
    module = device.module(source.file, source.names, source.defines, fmad=source.fmad)
    return module.kernel(source.names[0])


def margin_of(instance: ClimbInstance) -> float:
    """Return the largest float delta of a move that may shorten the tour in exact arithmetic.

    Coordinates and distances are off by 2^-20 of the largest coordinate at most, a delta by four
    times that and the rounding of its sums; rounded distances by one more each.
    """
    assert instance.near is not None
    reach = float(np.abs(instance.near).max())
    return 4.0 + math.ceil(reach * 2.0**-18) if instance.rounded else reach * 2.0**-17


def best_version(problem: Problem, device: Device) -> str:
    """Return the fastest version for a problem."""
    if not in_plane(problem):
        return "shared-matrix" if problem.n <= most_in_shared_matrix(device) else "global-matrix"
    if problem.n <= most_in_shared(device):
        return "auto"
    logger.info("version tuned: tours of %d cities do not fit into shared memory", problem.n)
    return "tuned"


def check_version(problem: Problem, device: Device, version: str) -> None:
    """Raise an error if a version cannot do a problem: what its limit is, and which version to take.

    Raises
    ------
    UnsupportedProblem
        If there are too many cities, or distances that do not come from coordinates of the plane.
    DeviceOutOfMemory
        If the matrix does not fit into the memory of the device.
    """
    n = problem.n
    shared = device.shared_memory_per_block
    if n > MOST_CITIES:
        raise UnsupportedProblem(
            f"version {version}: {n} cities are too many, {MOST_CITIES} are the most, as moves are numbered "
            "in 32 bits; use the method two-opt or lk"
        )
    if version.endswith("matrix"):
        needed, free = _matrix_bytes(problem), device.memory_free()
        if version == "shared-matrix" and n > most_in_shared_matrix(device):
            raise UnsupportedProblem(
                f"version shared-matrix: the distances of {n} cities do not fit into the {shared} bytes of "
                f"shared memory of a block, those of {most_in_shared_matrix(device)} are the most; use "
                "version auto or global-matrix"
            )
        if needed > 0.8 * free:
            raise DeviceOutOfMemory(
                f"version global-matrix: the distances of {n} cities need {needed / 1e9:.2f} GB, and "
                f"{free / 1e9:.2f} GB are free on device cuda:{device.ordinal}; use version auto"
            )
    elif not in_plane(problem):
        raise UnsupportedProblem(
            f"version {version} computes distances in the plane, and these are {problem.metric.name}; use "
            "version auto or global-matrix"
        )
    elif version == "auto" and n > most_in_shared(device):
        raise UnsupportedProblem(
            f"version auto: the tour of {n} cities does not fit into the {shared} bytes of shared memory of "
            f"a block, {most_in_shared(device)} are the most; use version tuned"
        )


def most_in_shared(device: Device) -> int:
    """Return the cities up to which the tour of a climber fits into shared memory."""
    return (device.shared_memory_per_block - _COMMON_BYTES) // records.PLACE.itemsize - 2 * max(STRIPS)


def most_in_shared_matrix(device: Device) -> int:
    """Return the cities whose distances fit into shared memory."""
    return math.isqrt((device.shared_memory_per_block - _COMMON_BYTES) // 4)


def _matrix_bytes(problem: Problem) -> int:
    """Bytes of a matrix: of integers, or of floats and of exact distances."""
    return (4 if problem.integral else 12) * problem.n**2
