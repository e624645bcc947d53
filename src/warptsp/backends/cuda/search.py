"""Rounds of iterated Lin-Kernighan on the parts of a tour, all of it on a GPU (``native/warp_lk.h``).

In a round the tour is cut into parts of some hundred cities, stretches of it or blobs in the plane, and a
warp improves each of them in shared memory. What blobs hand over is put together on the host: only the ends
of their paths are sent there, some per cent of the cities.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from warptsp import _native
from warptsp.backends.cuda import geometry
from warptsp.backends.cuda.cities import ORDERS, is_plain
from warptsp.backends.cuda.compiler import Source
from warptsp.errors import DeviceOutOfMemory

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warptsp.backends.cuda.cities import Cities
    from warptsp.backends.cuda.device import Device, DeviceArray, Kernel
    from warptsp.problem import Metric, Problem

KERNELS = (
    "improve_parts",
    "choose_copies",
    "put_back_stretches",
    "count_paths",
    "note_path_ends",
    "link_paths",
    "put_back_parts",
    "invert",
    "shared_bytes",
)
CANDIDATES, PER_QUADRANT = 8, 2

LEAST_PART, LARGEST_PART = 400, 760  # cities; shared memory holds more, and then fewer parts at once
MOST_COPIES = 8  # searches of the same part with different kicks, of which the best counts
SLICE = 0.08  # seconds that one launch should take at most
_THREADS = 256

_POINTER = np.dtype("u8")
_TOUR = np.dtype(
    [
        *((name, _POINTER) for name in ("points", "matrix")),
        *((name, "i4") for name in ("size", "dimensions")),
        *(
            (name, _POINTER)
            for name in (
                "candidates",
                "fixed",
                "tour",
                "position",
                "blob_order",
                "blob_rank",
                "local_candidates",
                "kept",
                "handed_city",
                "handed_path",
                "handed_offset",
                "paths",
                "path_count",
                "gain",
                "chosen",
            )
        ),
    ],
    align=True,
)
_ROUND = np.dtype(
    [
        *((name, "i4") for name in ("parts", "copies", "tours", "rotation", "blobs", "optimize")),
        *((name, "f4") for name in ("kicks_per_city", "temperature")),
        *((name, "u8") for name in ("seed", "round")),
        *((name, "i4") for name in ("segment", "walk")),
        *((name, "f4") for name in ("walks", "long_links", "tolerance")),
    ],
    align=True,
)
_COUNTERS = (
    "kicks_made",
    "kicks_refused",
    "kicks_restored",
    "kicks_accepted",
    "kicks_improving",
    "passes",
    "branches",
    "chains",
    "steps",
    "moves",
    "cells_written",
)


@dataclass(frozen=True, slots=True)
class LaunchPlan:
    """How a round is spread over a GPU.

    Attributes
    ----------
    parts : int
        Sub-problems.
    copies : int
        Searches of each part, a warp each.
    cities : int
        The most that a part has.
    shared : int
        Bytes of shared memory of a part.
    blocks : int
        Warps at once on a multiprocessor.
    multiprocessors : int
    registers, local_bytes : int
        Of a thread.
    """

    parts: int
    copies: int
    cities: int
    shared: int
    blocks: int
    multiprocessors: int
    registers: int
    local_bytes: int

    @property
    def resident(self) -> int:
        """Warps at once on the GPU."""
        return self.blocks * self.multiprocessors

    @property
    def waves(self) -> float:
        """How often the GPU is filled by a round."""
        return self.parts * self.copies / self.resident

    def __str__(self) -> str:
        return (
            f"{self.parts} parts of up to {self.cities} cities, {self.copies} warps for each with "
            f"{self.shared} bytes of shared memory; {self.blocks} at once on each of {self.multiprocessors} "
            f"multiprocessors, {self.waves:.2f} waves; {self.registers} registers and {self.local_bytes} "
            "bytes of local memory a thread"
        )


def lk_defines(metric: Metric, dummy: bool = False) -> dict[str, int]:
    """What lk.cu is compiled with for a metric, and for a dummy city or none."""
    return {"LK_CANDIDATES": CANDIDATES, "LK_METRIC": metric.kind, "LK_DUMMY": int(dummy)}


def lk_kernel(device: Device, metric: Metric, name: str, dummy: bool = False) -> Kernel:
    """A kernel of lk.cu, compiled for the metric."""
    return device.module("lk.cu", KERNELS, lk_defines(metric, dummy)).kernel(name)


def plan_launch(device: Device, metric: Metric, n: int, tours: int = 1, *, dummy: bool = False) -> LaunchPlan:
    """Choose the size of parts: large ones lose less at their seams, small ones fill the GPU.

    As many multiprocessors as can be have a part, and the last wave should not be a small one. With several
    tours each has its own parts, a warp for each; with one there may be several warps for each part.
    """
    kernel = lk_kernel(device, metric, "improve_parts", dummy)
    sizes = device.empty(2, np.int32)
    lk_kernel(device, metric, "shared_bytes", dummy).launch(1, 1, sizes)
    fixed, per_city = (int(v) for v in sizes.download())
    wanted = min(max(n * tours // device.multiprocessors, LEAST_PART), LARGEST_PART)
    best: tuple[float, LaunchPlan] | None = None
    for cities in range(wanted, max(LEAST_PART, 3 * wanted // 4) - 1, -8):
        parts = max(1, math.ceil(n / cities))
        most = math.ceil(n / parts)
        shared = fixed + per_city * (math.ceil(most / 8) * 8)
        blocks = kernel.blocks_per_multiprocessor(32, shared)
        if blocks == 0:
            continue
        copies = min(max(1, blocks * device.multiprocessors // parts), MOST_COPIES) if tours == 1 else tours
        plan = LaunchPlan(
            parts, copies, most, shared, blocks, device.multiprocessors, kernel.registers, kernel.local_bytes
        )
        # The share of the waves that is filled, and a little for every city that a part has.
        filled = plan.waves / math.ceil(plan.waves) if plan.waves > 1 else 1.0
        score = filled + 0.2 * cities / wanted
        if best is None or score > best[0]:
            best = score, plan
    if best is None:
        raise DeviceOutOfMemory(
            f"{device.name}: {device.shared_memory_per_block} bytes of shared memory a block are too few for "
            f"a part of {LEAST_PART} cities; use device cpu"
        )
    return best[1]


def kernel_sources(problem: Problem) -> list[Source]:
    """What a run of the main solver compiles, if it is not in the cache."""
    sources = [Source("lk.cu", KERNELS, lk_defines(problem.metric, has_dummy(problem)))]
    if problem.matrix is None:
        sources.append(Source("geometry.cu", geometry.GEOMETRY_KERNELS, fmad=False))
    if is_plain(problem):
        sources += geometry.candidate_sources(problem.metric, CANDIDATES, PER_QUADRANT)
    return sources


def explain_launch(problem: Problem, device: str) -> str:
    """Say how the main solver's rounds would be spread over a GPU."""
    from warptsp.backends.cuda.device import Device

    with Device.open(int(device.partition(":")[2] or 0)) as gpu:
        size, dummy = problem.n + has_dummy(problem), has_dummy(problem)
        plan = plan_launch(gpu, problem.metric, size, dummy=dummy)
        return f"launch       {gpu.name}: {plan}\nmemory       {needed_bytes(problem) / 1e9:.3f} GB"


def has_dummy(problem: Problem) -> bool:
    """Tell whether the search needs a dummy city: for an open path with a free end."""
    return problem.open is not None and None in (problem.open.start, problem.open.end)


def needed_bytes(problem: Problem) -> int:
    """Bytes of device memory that set-up or search have at once, at most."""
    n = problem.n + has_dummy(problem)
    a_city = (
        8 * problem.metric.dimensions  # points
        + 4 * CANDIDATES
        + 4 * 3  # the tour, positions, the best tour
        + 4  # the problem's numbers
        + 8 * (ORDERS - 1)
        + 2 * CANDIDATES
        + 2  # of the parts
        + 28  # handed over
        + 16  # and sent to the host; ten million cities took 142 bytes each
    )
    if is_plain(problem):
        needed = max(a_city * n, geometry.setup_bytes(n, CANDIDATES))
    else:
        fixed = 8 if len(problem.fixed_edges) or problem.open is not None else 0
        needed = (a_city + fixed) * n + (4 * n * n if problem.matrix is not None else 0)
    return needed + (64 << 20)  # copies of small ones


def pool_bytes(n: int) -> int:
    """Bytes of device memory for one more tour of `PartRounds`, at most."""
    # The tour, positions, lists of the parts, what is handed over, and the paths of it sent to the host.
    return (50 + 2 * CANDIDATES) * n


class PartRounds:
    """Tours of the same cities in the memory of a GPU, and the rounds that shorten all of them at once.

    Parameters
    ----------
    cities : Cities
        With candidate lists, `CANDIDATES` long.
    tours : DeviceArray of int32, shape (tours, n)
        The search's numbers; the rounds change them.
    threads : int
        Of the CPU, to put parts together.
    segment, walk, walks, long_links
        See `methods.lk.LkParams`.

    Attributes
    ----------
    mean_link : float
        For what is rounding noise in metrics without rounding.
    """

    def __init__(
        self,
        cities: Cities,
        tours: DeviceArray,
        *,
        threads: int,
        mean_link: float,
        segment: int,
        walk: int,
        walks: float,
        long_links: float,
    ) -> None:
        device, n = cities.device, cities.n
        self.cities = cities
        self.device = device
        self.mean_link = mean_link
        self.count = tours.shape[0]
        self.plan = plan_launch(device, cities.metric, n, self.count, dummy=cities.dummy)
        self.rounds = 0
        self._threads = threads
        self._tours = tours
        self._position = device.empty((self.count, n), np.int32)
        self.changed()
        self._sums = device.zeros(len(_COUNTERS), np.uint64)
        self._counts = np.zeros(len(_COUNTERS), np.uint64)
        self._kernel_seconds = 0.0
        self._kick_params = {"segment": segment, "walk": walk, "walks": walks, "long_links": long_links}
        self._seconds_a_part = 0.0
        parts, copies = self.plan.parts, self.plan.copies
        self._handed = {
            "local_candidates": device.empty((copies, n, CANDIDATES), np.uint16),
            "kept": device.empty((copies, n), np.uint16),
            "handed_city": device.empty((copies, n), np.int32),
            "gain": device.empty((copies, parts), np.float64),
            # Each tour's own copy; with one tour the best copy of each part takes its place.
            "chosen": device.upload(np.repeat(np.arange(self.count, dtype=np.int32), parts)),
        }
        if self.plan.parts > 1:
            # What blobs need beside.
            self._handed |= {
                "handed_path": device.empty((copies, n), np.uint16),
                "handed_offset": device.empty((copies, n), np.uint16),
                "paths": device.empty((copies, n, 5), np.int32),
                "path_count": device.empty((copies, parts), np.int32),
            }
            self._path_begin = device.empty(self.count * parts + 1, np.int32)
            self._graph = cities.path_graph()
            self._paths, self._places = np.empty((0, 5), np.int32), np.empty((0, 2), np.int32)

    @property
    def kicks(self) -> int:
        """Kicks so far, the refused ones included."""
        return int(self._counts[0] + self._counts[1])

    def counters(self) -> dict[str, int | float]:
        """What was done, by name; and the seconds that the search's kernel took."""
        counts: dict[str, int | float] = {
            name: int(count) for name, count in zip(_COUNTERS, self._counts, strict=True)
        }
        return {**counts, "kernel_seconds": self._kernel_seconds}

    def tours(self) -> NDArray[np.int32]:
        """The tours as they are, in the search's numbers, shape (tours, n)."""
        return self._tours.download()

    def round(
        self,
        *,
        optimize: bool,
        kicks_per_city: float,
        temperature: float,
        seed: int,
        token: _native.StopToken,
    ) -> bool:
        """Improve all parts of one cut; cuts into stretches and blobs take turns.

        Parameters
        ----------
        optimize : bool
            Local search from every city first.
        kicks_per_city, temperature : float
            A loss is accepted with the probability exp(-loss / temperature).
        seed : int
            With the number of the round it names the random numbers.
        token : _native.StopToken
            Polled between launches.

        Returns
        -------
        bool
            False if the token stopped it; the tours are those before then.
        """
        cities, plan = self.cities, self.plan
        number, self.rounds = self.rounds, self.rounds + 1
        blobs = plan.parts > 1 and number % 2 == 1
        order = self._order(number // 2 % ORDERS if blobs else 0, token)
        if order is None:
            return False
        tour = geometry.struct(
            _TOUR,
            points=cities.points,
            matrix=cities.matrix,
            size=cities.n,
            dimensions=0 if cities.points is None else cities.points.shape[1],
            candidates=cities.candidates,
            fixed=cities.fixed,
            tour=self._tours,
            position=self._position,
            blob_order=order[0],
            blob_rank=order[1],
            **self._handed,
        )
        record = geometry.struct(
            _ROUND,
            parts=plan.parts,
            copies=plan.copies,
            tours=self.count,
            rotation=np.random.default_rng((seed, number)).integers(cities.n),
            blobs=blobs,
            optimize=optimize,
            kicks_per_city=kicks_per_city,
            temperature=temperature,
            seed=seed,
            round=number,
            tolerance=max(0.5 * cities.integral, 2e-6 * self.mean_link),
            **self._kick_params,
        )
        self._sums.zero()
        complete = self._improve(tour, record, token)
        if complete:
            self._put_back(tour, blobs, int(record["rotation"]))
        self._counts += self._sums.download()
        return complete

    def _improve(self, tour: np.void, record: np.void, token: _native.StopToken) -> bool:
        """Search all parts in launches of no more than `SLICE` seconds, as far as can be foreseen."""
        plan = self.plan
        kernel = self._kernel("improve_parts")
        first = 0
        least = max(1, plan.resident // plan.copies)  # parts that fill the GPU
        work = float(record["kicks_per_city"]) + 0.3 * float(record["optimize"])
        while first < plan.parts:
            if token.stopped():
                return False
            count = plan.parts - first
            if self._seconds_a_part == 0.0:
                count = min(count, 2 * least)
            else:
                count = min(count, max(least, int(SLICE / (self._seconds_a_part * work))))
            with self.device.timer() as timer:
                kernel.launch(
                    count * plan.copies, 32, tour, record, np.int32(first), self._sums, shared=plan.shared
                )
            self._kernel_seconds += timer.seconds
            if work > 0:
                self._seconds_a_part = timer.seconds / count / work
            first += count
        return True

    def _put_back(self, tour: np.void, blobs: bool, rotation: int) -> None:
        device, plan, n, tours = self.device, self.plan, self.cities.n, self.count
        kernel = self._kernel
        parts, blocks = np.int32(plan.parts), (math.ceil(n / _THREADS), tours)
        if tours == 1:
            kernel("choose_copies").launch(
                math.ceil(plan.parts / _THREADS), _THREADS, tour, parts, np.int32(plan.copies)
            )
        if not blobs:
            kernel("put_back_stretches").launch(blocks, _THREADS, tour, parts, np.int32(rotation))
            return
        kernel("count_paths").launch(1, 1024, tour, parts, np.int32(tours), self._path_begin)
        begin = np.ascontiguousarray(self._path_begin.download()[:: plan.parts])
        paths = device.empty((int(begin[-1]), 5), np.int32)
        kernel("note_path_ends").launch(tours * plan.parts, 64, tour, parts, self._path_begin)
        kernel("link_paths").launch(tours * plan.parts, 64, tour, parts, self._path_begin, paths)
        count = paths.shape[0]
        if count > len(self._places):  # memory that is new each time costs more than the copy
            self._paths = np.empty((count * 9 // 8, 5), np.int32)
            self._places = np.empty((len(self._paths), 2), np.int32)
        places = self._places[:count]
        if self._graph.arrange(paths.download(self._paths[:count]), begin, places, self._threads) == 0:
            return  # fixed edges alone join some cities: the round is lost
        placed = device.upload(places)
        kernel("put_back_parts").launch(blocks, _THREADS, tour, parts, self._path_begin, placed, paths)

    def changed(self) -> None:
        """Take note that somebody else has written the tours."""
        self._invert(self._tours, self._position)

    def _order(
        self, number: int, token: _native.StopToken
    ) -> tuple[DeviceArray | None, DeviceArray | None] | None:
        """An order from which blobs are cut, and its inverse, made when it is its turn for the first time.

        None for each is the numbering; None for both if the token stopped it.
        """
        orders = self.cities.orders
        if number not in orders:
            order = self.cities.second_order(number, token)
            if order is None:
                return None
            rank = self.device.empty(self.cities.n, np.int32)
            self._invert(order, rank)
            orders[number] = order, rank
        return orders[number]

    def _invert(self, orders: DeviceArray, ranks: DeviceArray) -> None:
        n = self.cities.n
        blocks = (math.ceil(n / _THREADS), orders.size // n)
        self._kernel("invert").launch(blocks, _THREADS, orders, np.int32(n), ranks)

    def _kernel(self, name: str) -> Kernel:
        return lk_kernel(self.device, self.cities.metric, name, self.cities.dummy)


class TourSearch:
    """One tour, and the best there was.

    Parameters
    ----------
    cities, **options
        Those of `PartRounds`.
    tour : DeviceArray of int32, shape (n,)

    Attributes
    ----------
    length, best_length : int or float
        Of the closed tour, and of the best there was; exact for metrics of integers.
    """

    def __init__(
        self,
        cities: Cities,
        tour: DeviceArray,
        **options: Any,
    ) -> None:
        self.cities = cities
        self._tour = tour
        self._best = cities.device.empty(cities.n, np.int32)
        self._best.copy_from(tour)
        self.length = self.best_length = cities.length(tour)
        self.rounds = PartRounds(
            cities, tour.reshape(1, cities.n), mean_link=abs(self.length) / cities.n, **options
        )

    @property
    def plan(self) -> LaunchPlan:
        """How a round is spread over the GPU."""
        return self.rounds.plan

    def best(self) -> NDArray[np.int32]:
        """The best tour, in the search's numbers."""
        return self._best.download()

    def tour(self) -> NDArray[np.int32]:
        """The tour that the search works on, in its numbers."""
        return self._tour.download()

    def go_on_from(self, tour: NDArray[np.int32]) -> None:
        """Work on another tour, in the search's numbers."""
        self._tour.upload(tour)
        self._changed()

    def return_to_best(self) -> None:
        """Go on from the best tour."""
        self._tour.copy_from(self._best)
        self._changed()

    def round(self, **options: Any) -> bool:
        """`PartRounds.round`, and a look whether the tour is the best one now."""
        complete = self.rounds.round(**options)
        self._measure()
        return complete

    def _changed(self) -> None:
        self.rounds.changed()
        self._measure()

    def _measure(self) -> None:
        rounds = self.rounds
        self.length = self.cities.length(self._tour)
        rounds.mean_link = abs(self.length) / self.cities.n
        if self.length < self.best_length:
            self.best_length = self.length
            self._best.copy_from(self._tour)
