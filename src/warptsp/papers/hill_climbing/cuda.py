"""Random-restart 2-opt on a GPU, whole descents without the host.

A climber is a block's (climb.cu) or a thread's (climb_alone.cu): the document compares the two. One kernel
cannot be both at their speed: a block passes barriers at every step, which the threads of the other would
wait at for each other's climbers, and keeps one tour together, where the other interleaves a thousand.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warptsp.backends.cuda.device import Device, DeviceArray
from warptsp.backends.cuda.records import Record
from warptsp.errors import DeviceOutOfMemory
from warptsp.papers.hill_climbing import cuda_records as records
from warptsp.papers.hill_climbing import cuda_tuning as tuning
from warptsp.papers.hill_climbing.cuda_plan import (
    THREAD_VERSIONS,
    TOUR_OF,
    margin_of,
    matrix_bytes,
    plan_ring,
    source_of,
    tile_bytes,
    tuned_block,
)
from warptsp.papers.hill_climbing.instance import ClimbInstance


class Climbers:
    """Climbers on a GPU, and what came of them.

    `climbers`, `passes` and `moves` are the local optima, the neighbourhoods looked at and the moves so far.
    """

    _layout: Record
    grid: int  # blocks
    block: int  # threads of each
    shared: int  # bytes of dynamic shared memory of each

    def __init__(
        self,
        device: Device,
        instance: ClimbInstance,
        version: str,
        *,
        seed: int,
        given: NDArray[np.int32] | None = None,
        block: int | None = None,
    ) -> None:
        self.device, self.n = device, instance.problem.n
        self.climbers = self.passes = self.moves = 0
        self.seconds = 0.0  # in kernels
        self._best: tuple[int, int] | None = None
        self._started = 0
        self._arrays: dict[str, DeviceArray] = {
            name: device.zeros(1, np.uint32 if name == "ended" else np.uint64)
            for name in ("next", "ended", "passes", "moves")
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
        self._source = source_of(instance, device, version, block)
        self._kernel = device.module(self._source).kernel(self._source.names[0])
        workers = self._prepare(instance, version, block)
        self._arrays["lengths"] = device.empty(tuning.CLIMBERS_A_LAUNCH + workers, np.int64)
        self._arrays["climber"] = device.upload(np.full(workers, -1, np.int64))
        self._arrays["unfinished"] = device.zeros((workers, records.UNFINISHED.itemsize), np.uint8)

    def _prepare(self, instance: ClimbInstance, version: str, block: int | None) -> int:
        """Plan the launches, and make the arrays; return how many climb at once."""
        raise NotImplementedError

    def _plan_grid(self, version: str, for_all: int, each: int) -> None:
        """Take as many blocks as run at once, if the memory holds what all share and what each has."""
        device, free = self.device, self.device.memory_free()
        fits = int(0.9 * free - for_all) // each
        if fits <= 0:
            others = "version auto" if version in THREAD_VERSIONS else "the method lk"
            raise DeviceOutOfMemory(
                f"version {version}: {self.n} cities need {(for_all + each) / 1e9:.2f} GB, and "
                f"{free / 1e9:.2f} GB are free on device cuda:{device.ordinal}; use {others}"
            )
        blocks = self._kernel.blocks_per_multiprocessor(self.block, self.shared)
        self.grid = min(blocks * device.multiprocessors, fits)

    def _keep_best(self, rows: int) -> None:
        """Make the arrays of so many best tours."""
        device = self.device
        for name in ("best_length", "best_climber"):
            self._arrays[name] = device.upload(np.full(rows, -1, np.int64))
        self._arrays["best_tours"] = device.empty((rows, self.n), np.int32)

    def proceed(self, limit: int | None, seconds: float) -> NDArray[np.int64]:
        """Climb for about so many seconds; waits. Returns the lengths of the new local optima, in no order.

        Climbers with numbers below the limit are started.
        """
        last = self._started + tuning.CLIMBERS_A_LAUNCH
        last = last if limit is None else min(last, limit)
        cycles = int(min(tuning.CLIMB_CYCLES, max(seconds, 1e-4) * 1.5e9))
        arguments = self._arguments(limit=last, cycles=cycles)
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

    def _arguments(self, **more: int) -> np.void:
        values = self._values | self._arrays | more
        return self._layout(**{name: values[name] for name in self._layout.fields & values.keys()})

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
        unfinished = self._arrays["unfinished"].download().view(records.UNFINISHED.dtype)[:, 0]
        begun = (self._arrays["climber"].download() >= 0) & (unfinished["started"] >= self.n)
        return self._tour_of(int(np.argmax(begun))) if begun.any() else None

    def _tour_of(self, worker: int) -> NDArray[np.int32]:
        raise NotImplementedError

    def _row(self, name: str, row: int) -> NDArray[np.int32]:
        return np.ascontiguousarray(self._arrays[name][row : row + 1].download()[0], dtype=np.int32)


class BlockClimbers(Climbers):
    """A climber a block: "auto", and the document's "intra", "tiled" and "tuned"."""

    _layout = records.CLIMBING

    def _prepare(self, instance: ClimbInstance, version: str, block: int | None) -> int:
        device, n = self.device, self.n
        in_shared = version == "auto"
        if in_shared:
            plan = plan_ring(n, device, block)
            self.block, self.shared = plan.block, plan.shared
            self._values |= {"shares_n": n, "strips": plan.strips, "segments": plan.segments}
            self._values["steps"] = plan.steps
        else:
            self.block = block or min(1024, 32 * math.ceil((n - 2) / 32))
            if version == "tuned" and block is None:
                self.block = tuned_block(n, device)
            self.shared = 0 if version == "intra" else tile_bytes(self.block)
        a_tour = n * 4 if in_shared else (n + 1) * records.PLACE.itemsize
        self._plan_grid(version, instance.rows.nbytes + instance.near.nbytes, a_tour + 4 * n)
        self._values["margin"] = margin_of(instance)
        self._keep_best(self.grid)
        self._arrays |= {
            "points": device.upload(instance.rows),
            "near": device.upload(instance.near),
        }
        if in_shared:
            self._arrays["tours"] = device.empty((self.grid, n), np.int32)
        else:
            self._arrays["places"] = device.empty((self.grid, n + 1, records.PLACE.itemsize), np.uint8)
        return self.grid

    def _tour_of(self, worker: int) -> NDArray[np.int32]:
        if "tours" in self._arrays:
            return self._row("tours", worker)
        places = self._arrays["places"][worker : worker + 1].download()[0].view(records.PLACE.dtype)
        return np.ascontiguousarray(places["city"][: self.n, 0])


class ThreadClimbers(Climbers):
    """A climber a thread: those of `cuda_plan.THREAD_VERSIONS`."""

    _layout = records.LONELY

    def _prepare(self, instance: ClimbInstance, version: str, block: int | None) -> int:
        device, n, rows = self.device, self.n, instance.rows
        matrix = version != "one-thread"
        in_shared = version == "shared-matrix"
        self.shared = 4 * n * n if in_shared else 0
        self.block = block or (1024 if in_shared else 128)
        for_all = matrix_bytes(instance.problem) if matrix else rows.nbytes + instance.near.nbytes
        self._plan_grid(version, for_all, self.block * n * (4 if matrix else 12))
        threads = self.grid * self.block
        self._values["threads"] = threads
        self._keep_best(1)
        self._arrays |= {
            "city": device.empty((n, threads), np.int32),
            "best": device.zeros(threads, np.float64),
            "lock": device.zeros(1, np.uint32),
            "best_tour": self._arrays["best_tours"],
        }
        if matrix and instance.whole:
            self._arrays["distances"] = device.upload(rows)
            self._values["margin"] = -1.0
        elif matrix:
            self._arrays["exact"] = device.upload(rows)
            self._arrays["distances"] = device.upload(rows.astype(np.float32))
            # Four distances, rounded to 24 bits, and three sums of theirs.
            self._values["margin"] = float(rows.max()) * 2.0**-20
        else:
            self._arrays["points"] = device.upload(rows)
            self._arrays["near"] = device.upload(instance.near)
            self._arrays["place"] = device.empty((n, threads, 2), np.float32)
            self._values["margin"] = margin_of(instance)
        return threads

    def _tour_of(self, worker: int) -> NDArray[np.int32]:
        tour = self.device.empty(self.n, np.int32)
        # Its cities lie apart, and all tours together are tens of gigabytes.
        kernel = self.device.module(self._source).kernel(TOUR_OF)
        kernel.launch(self.device.multiprocessors, 256, self._arguments(), np.int32(worker), tour)
        return tour.download()


def climbers_of(
    device: Device, instance: ClimbInstance, version: str, *, seed: int, **options: Any
) -> Climbers:
    """Return the climbers of a version; `options` are those of `Climbers`."""
    kind = ThreadClimbers if version in THREAD_VERSIONS else BlockClimbers
    return kind(device, instance, version, seed=seed, **options)
