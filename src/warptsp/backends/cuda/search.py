"""Rounds of iterated Lin-Kernighan on the parts of a tour, all of it on a GPU (``native/lk/warp_lk.h``).

In a round the tour is cut into parts of some hundred cities, stretches of it or blobs in the plane, and a
warp improves each of them in shared memory. What blobs hand over is put together on the host: only the ends
of their paths are sent there, some per cent of the cities.

Several GPUs divide the parts of a round among them, and tell each other what they have made of these.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from warptsp import _native
from warptsp.backends.cuda import geometry, records
from warptsp.backends.cuda.cities import ORDERS, is_plain
from warptsp.backends.cuda.compiler import Source
from warptsp.backends.cuda.path_order import PATHS, PathOrder
from warptsp.errors import DeviceOutOfMemory
from warptsp.machine import name_of, ordinals

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warptsp.backends.cuda.cities import Cities
    from warptsp.backends.cuda.device import Device, DeviceArray, Kernel, Timer
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
MOST_WORK = 1.2  # of the mean work of a kick, after which a part's kicks end early: others would wait for it
SHORTER = 5  # each such part has half the kicks and comes last, so that the end of a round is short
LEAST_WAVES = 2.0  # of parts on one GPU from which that is so
SLICE = 0.5  # seconds that one launch should take at most: at its end some multiprocessors have no part left
PAUSE = 1e-4  # seconds between two looks whether a launch has ended
LEAST_ORDERED = 1_000_000  # cities of one tour from which its paths are put in order on the GPU
_THREADS = 256

_COUNTERS = records.LK_COUNTERS.dtype.names or ()


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
    if problem.n >= LEAST_ORDERED:
        sources.append(PATHS)
    if is_plain(problem):
        sources += geometry.candidate_sources(problem.metric, CANDIDATES, PER_QUADRANT)
    return sources


def explain_launch(problem: Problem, device: str) -> str:
    """Say how the main solver's rounds would be spread over the GPUs."""
    from warptsp.backends.cuda.device import Device

    gpus = ordinals(device)
    with Device.open(gpus[0]) as gpu:
        size, dummy = problem.n + has_dummy(problem), has_dummy(problem)
        plan = plan_launch(gpu, problem.metric, size, dummy=dummy)
        lines = [f"launch       {gpu.name}: {plan}"]
    working = min(len(gpus), plan.parts)
    if len(gpus) > 1:
        share = math.ceil(plan.parts / working)
        lines.append(
            f"GPUs         {name_of(gpus[:working])}: {share} parts on each, {plan.waves / working:.2f} waves"
        )
    each = " on each GPU" if working > 1 else ""
    return "\n".join([*lines, f"memory       {needed_bytes(problem) / 1e9:.3f} GB{each}"])


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
    if len(problem.fixed_edges) or problem.open is not None:
        a_city += 8
    if is_plain(problem):
        needed = max(a_city * n, geometry.setup_bytes(n, CANDIDATES))
    else:
        needed = a_city * n + (4 * n * n if problem.matrix is not None else 0)
    return needed + (64 << 20)  # copies of small ones


def pool_bytes(n: int) -> int:
    """Bytes of device memory for one more tour of `PartRounds`, at most."""
    # The tour, positions, lists of the parts, what is handed over, and the paths of it sent to the host.
    return (50 + 2 * CANDIDATES) * n


class _Share:
    """What one GPU does of a round: its share of the parts of one tour, or all parts of its own tours.

    Parameters
    ----------
    cities : Cities
    tours : DeviceArray of int32, shape (tours, n)
    plan : LaunchPlan
    parts : range
        That it improves.
    copies : range
        Of each of these parts, among the copies on all GPUs.
    """

    def __init__(
        self, cities: Cities, tours: DeviceArray, plan: LaunchPlan, parts: range, copies: range
    ) -> None:
        device, n = cities.device, cities.n
        self.cities = cities
        self.device = device
        self.tours = tours
        self.plan = plan
        self.parts = parts
        self.copies = copies
        self.first = parts.start  # of the parts that are left in this round
        self.seconds_a_part = 0.0  # and kick a city
        self._stop = device.zeros(1, np.int32)
        self.sums = device.zeros(len(_COUNTERS), np.uint64)
        self._tour: np.void
        self._round: np.void
        self._timer: Timer
        self._searched = 0.0
        self._position = device.empty(tours.shape, np.int32)
        count = len(copies)
        self._handed = {
            "local_candidates": device.empty((count, n, CANDIDATES), np.uint16),
            "kept": device.empty((count, n), np.uint16),
            "handed_city": device.empty((count, n), np.int32),
            "gain": device.empty((count, plan.parts), np.float64),
            # Each tour's own copy; with one tour the best copy of each part takes its place.
            "chosen": device.upload(np.repeat(np.arange(len(tours), dtype=np.int32), plan.parts)),
        }
        if plan.parts > 1:
            # What blobs need beside.
            self._handed |= {
                "handed_path": device.empty((count, n), np.uint16),
                "handed_offset": device.empty((count, n), np.uint16),
                "paths": device.empty((count, n, 5), np.int32),
                "path_count": device.empty((count, plan.parts), np.int32),
            }
            self._path_begin = device.empty(len(tours) * plan.parts + 1, np.int32)
            self._paths, self._places = np.empty((0, 5), np.int32), np.empty((0, 2), np.int32)
        self.invert()

    def begin(self, order: tuple[DeviceArray | None, DeviceArray | None], **fields: Any) -> None:
        """Take up a round: the order that blobs are cut from and its inverse, and what the kernel is told."""
        cities, plan = self.cities, self.plan
        self._tour = records.TOUR(
            points=cities.points,
            matrix=cities.matrix,
            size=cities.n,
            dimensions=0 if cities.points is None else cities.points.shape[1],
            candidates=cities.candidates,
            fixed=cities.fixed,
            tour=self.tours,
            position=self._position,
            blob_order=order[0],
            blob_rank=order[1],
            **self._handed,
        )
        self._round = records.ROUND(
            parts=plan.parts,
            copies=len(self.copies),
            first_copy=self.copies.start,
            stop=self._stop,
            **fields,
        )
        self._stop.zero()
        self.first = self.parts.start
        self.sums.zero()

    def improve(self, work: float) -> None:
        """Start the search of as many parts as `SLICE` seconds are thought to be enough for."""
        plan, copies, first = self.plan, len(self.copies), self.first
        least = max(1, plan.resident // copies)  # parts that fill the GPU
        if self.seconds_a_part == 0.0:
            most = 2 * least
        else:
            most = max(least, int(SLICE / (self.seconds_a_part * work)))
        count = min(self.parts.stop - first, most)
        self.first += count
        with self.device.timer() as self._timer:
            self._kernel("improve_parts").launch(
                count * copies, 32, self._tour, self._round, np.int32(first), self.sums, shared=plan.shared
            )
        self._searched = count * work

    def is_done(self) -> bool:
        """Tell whether that search has ended."""
        return self._timer.is_done

    def give_up(self) -> None:
        """Let that search end at once; what comes of it is of no use."""
        self._stop.upload_beside(np.ones(1, np.int32))

    def seconds(self) -> float:
        """The time that it took; waits for its end."""
        seconds = self._timer.seconds
        if self._searched > 0:
            self.seconds_a_part = seconds / self._searched
        return seconds

    def take_from(self, giver: _Share, *, blobs: bool, paths: bool) -> None:
        """Copy what another GPU's parts hand over; their paths are for the one who joins them."""
        n, parts, copies = self.cities.n, self.plan.parts, len(self.copies)
        first, stop = giver.parts.start, giver.parts.stop
        by_place, by_part = ["handed_city"], ["gain"]
        if blobs:
            by_place += ["handed_path", "handed_offset", *(["paths"] if paths else [])]
            by_part += ["path_count"]
        for names, size, begin, end in (
            (by_place, n, n * first // parts, n * stop // parts),
            (by_part, parts, first, stop),
        ):
            for name in names:
                own, other = self._handed[name], giver._handed[name]
                flat = copies * size, *own.shape[2:]
                for row in range(0, copies * size, size):
                    piece = slice(row + begin, row + end)
                    own.reshape(*flat)[piece].copy_from(other.reshape(*flat)[piece])

    def choose_copies(self) -> None:
        """Choose the best copy of each part of the one tour."""
        parts = self.plan.parts
        blocks = math.ceil(parts / _THREADS)
        self._kernel("choose_copies").launch(
            blocks, _THREADS, self._tour, np.int32(parts), np.int32(len(self.copies))
        )

    def put_back_stretches(self) -> None:
        """Make the tours of what the stretches handed over."""
        self._put_back("put_back_stretches", np.int32(self._round["rotation"]))

    def arrange(self, graph: Callable[[], _native.PathGraph], threads: int) -> tuple[DeviceArray, ...] | None:
        """Find places on the tours for the paths that blobs handed over.

        Parameters
        ----------
        graph : callable
            Returns what does it where this GPU does not do it alone.
        threads : int

        Returns
        -------
        tuple of DeviceArray or None
            What `put_back_blobs` is told; None if fixed edges alone join some cities, and the round is lost.
        """
        device, plan, tours = self.device, self.plan, len(self.tours)
        parts = np.int32(plan.parts)
        path_begin = self._path_begin
        self._kernel("count_paths").launch(1, 1024, self._tour, parts, np.int32(tours), path_begin)
        begin = np.ascontiguousarray(path_begin.download()[:: plan.parts])
        paths = device.empty((int(begin[-1]), 5), np.int32)
        self._kernel("note_path_ends").launch(tours * plan.parts, 64, self._tour, parts, path_begin)
        self._kernel("link_paths").launch(tours * plan.parts, 64, self._tour, parts, path_begin, paths)
        count = len(paths)
        points, fixed = self.cities.points, self.cities.fixed
        if tours == 1 and self.cities.n >= LEAST_ORDERED and points is not None and fixed is None:
            placed = PathOrder(device, paths, points, self.cities.metric).places()
            if placed is not None:
                return path_begin, placed, paths
        if count > len(self._places):  # memory that is new each time costs more than the copy
            self._paths = np.empty((count * 9 // 8, 5), np.int32)
            self._places = np.empty((len(self._paths), 2), np.int32)
        places = self._places[:count]
        if graph().arrange(paths.download(self._paths[:count]), begin, places, threads) == 0:
            return None
        return path_begin, device.upload(places), paths

    def put_back_blobs(self, arranged: tuple[DeviceArray, ...]) -> None:
        """Make the tours of what the blobs handed over."""
        self._put_back("put_back_parts", *arranged)

    def invert(self) -> None:
        """Find the cities' positions on the tours."""
        self.invert_order(self.tours, self._position)

    def invert_order(self, orders: DeviceArray, ranks: DeviceArray) -> None:
        """Find the places of cities in one order or several."""
        n = self.cities.n
        blocks = (math.ceil(n / _THREADS), orders.size // n)
        self._kernel("invert").launch(blocks, _THREADS, orders, np.int32(n), ranks)

    def _put_back(self, kernel: str, *arguments: DeviceArray | np.generic) -> None:
        blocks = (math.ceil(self.cities.n / _THREADS), len(self.tours))
        self._kernel(kernel).launch(blocks, _THREADS, self._tour, np.int32(self.plan.parts), *arguments)

    def _kernel(self, name: str) -> Kernel:
        return lk_kernel(self.device, self.cities.metric, name, self.cities.dummy)


class PartRounds:
    """Tours of the same cities in the memory of GPUs, and the rounds that shorten all of them at once.

    Several GPUs all have the same one, and each improves its share of the parts; or each has tours of its
    own. What comes of it does not depend on their number.

    Parameters
    ----------
    cities : sequence of Cities
        The same ones on each GPU, with candidate lists, `CANDIDATES` long.
    tours : sequence of DeviceArray of int32, shape (tours, n)
        The search's numbers, for each GPU; the rounds change them.
    one_tour : bool
        Whether they are copies of one tour.
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
        cities: Sequence[Cities],
        tours: Sequence[DeviceArray],
        *,
        one_tour: bool,
        threads: int,
        mean_link: float,
        segment: int,
        walk: int,
        walks: float,
        long_links: float,
    ) -> None:
        lead = cities[0]
        self.cities = lead
        self.mean_link = mean_link
        count = 1 if one_tour else sum(map(len, tours))
        self.plan = plan_launch(lead.device, lead.metric, lead.n, count, dummy=lead.dummy)
        self.rounds = 0
        self._threads = threads
        self._one_tour = one_tour
        self._counts = np.zeros(len(_COUNTERS), np.uint64)
        self._kernel_seconds = 0.0
        self._work = 0.0  # of a kick in the round before, as WarpLkCounters::work counts it
        self._kick_params = {"segment": segment, "walk": walk, "walks": walks, "long_links": long_links}
        self._shares = []
        parts, gpus, first = self.plan.parts, min(len(cities), self.plan.parts), 0
        for k, (own, some) in enumerate(zip(cities, tours, strict=True)):
            if one_tour:
                if k >= gpus:
                    break
                pieces, copies = range(parts * k // gpus, parts * (k + 1) // gpus), range(self.plan.copies)
            else:
                pieces, copies = range(parts), range(first, first + len(some))
                first = copies.stop
            self._shares.append(_Share(own, some, self.plan, pieces, copies))
        self._graph: _native.PathGraph | None = None

    @property
    def gpus(self) -> int:
        """GPUs that work."""
        return len(self._shares)

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
        shares = self._shares[:1] if self._one_tour else self._shares
        return np.concatenate([share.tours.download() for share in shares])

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
        order = number // 2 % ORDERS if blobs else 0
        if not self._have_order(order, token):
            return False
        for share in self._shares:
            share.begin(
                share.cities.orders[order],
                all_copies=plan.copies,
                tours=len(share.tours),
                rotation=np.random.default_rng((seed, number)).integers(cities.n),
                blobs=blobs,
                optimize=optimize,
                every=SHORTER if plan.waves >= LEAST_WAVES else 0,
                kicks_per_city=kicks_per_city,
                temperature=temperature,
                most_work=MOST_WORK * self._work if self._work > 0 else math.inf,
                seed=seed,
                round=number,
                tolerance=max(0.5 * cities.integral, 2e-6 * self.mean_link),
                **self._kick_params,
            )
        complete = self._improve(kicks_per_city + 0.3 * optimize, token)
        if complete:
            self._put_back(blobs)
        counts = np.sum([share.sums.download() for share in self._shares], axis=0)
        self._counts += counts
        done = dict(zip(_COUNTERS, counts, strict=True))
        if not optimize and (kicks := int(done["kicks_made"] + done["kicks_refused"])) > 0:
            self._work = int(2 * done["passes"] + done["steps"]) / kicks
        return complete

    def changed(self) -> None:
        """Take note that somebody else has written the tours; if there is one, that of the first GPU."""
        if self._one_tour:
            self._from_first([share.tours for share in self._shares])
        for share in self._shares:
            share.invert()

    def _improve(self, work: float, token: _native.StopToken) -> bool:
        """Search all parts in launches of no more than `SLICE` seconds, as far as can be foreseen."""
        stopped = token.stopped()
        while not stopped and (left := [share for share in self._shares if share.first < share.parts.stop]):
            for share in left:
                share.improve(work)
            while not (stopped := token.stopped()) and not all(share.is_done() for share in left):
                time.sleep(PAUSE)
            if stopped:
                for share in left:
                    share.give_up()
            self._kernel_seconds += max([share.seconds() for share in left])
        return not stopped

    def _put_back(self, blobs: bool) -> None:
        shares = self._shares
        if self._one_tour:
            self._exchange(blobs)
            for share in shares:
                share.choose_copies()
        if not blobs:
            for share in shares:
                share.put_back_stretches()
        elif self._one_tour:
            arranged = shares[0].arrange(self._path_graph, self._threads)
            if arranged is not None:
                for share, copies in zip(shares, self._copies(arranged), strict=True):
                    share.put_back_blobs(copies)
        else:
            for share in shares:
                if (arranged := share.arrange(self._path_graph, self._threads)) is not None:
                    share.put_back_blobs(arranged)

    def _path_graph(self) -> _native.PathGraph:
        if self._graph is None:
            self._graph = self.cities.path_graph()
        return self._graph

    def _exchange(self, blobs: bool) -> None:
        """Let every GPU know what the others have made of their parts."""
        if len(self._shares) == 1:
            return
        self._meet()
        for share in self._shares:
            for other in self._shares:
                if other is not share:
                    share.take_from(other, blobs=blobs, paths=share is self._shares[0])
        self._meet()

    def _meet(self) -> None:
        """Let no GPU go on before all have come here."""
        for share in self._shares:
            share.device.after(*(other.device for other in self._shares if other is not share))

    def _copies(self, arrays: tuple[DeviceArray, ...]) -> list[tuple[DeviceArray, ...]]:
        """The arrays of the first GPU for each of them."""
        others = self._shares[1:]
        return [arrays, *(tuple(array.copy_to(share.device) for array in arrays) for share in others)]

    def _from_first(self, arrays: Sequence[DeviceArray]) -> None:
        """Overwrite an array of each GPU with that of the first."""
        if len(arrays) > 1:
            self._meet()
            for array in arrays[1:]:
                array.copy_from(arrays[0])
            self._meet()

    def _have_order(self, number: int, token: _native.StopToken) -> bool:
        """Make an order from which blobs are cut, and its inverse, when it is its turn for the first time.

        None for each is the numbering. False if the token stopped it.
        """
        lead = self._shares[0]
        if number not in lead.cities.orders:
            made = lead.cities.second_order(number, token)
            if made is None:
                return False
            inverse = lead.device.empty(lead.cities.n, np.int32)
            lead.invert_order(made, inverse)
            lead.cities.orders[number] = made, inverse
        order, rank = lead.cities.orders[number]
        for share in self._shares[1:]:
            if number not in share.cities.orders:
                assert order is not None
                assert rank is not None
                share.cities.orders[number] = order.copy_to(share.device), rank.copy_to(share.device)
        return True


class TourSearch:
    """One tour, and the best there was.

    Parameters
    ----------
    cities : sequence of Cities
        The same ones on each GPU.
    tour : DeviceArray of int32, shape (n,)
        On the first of them.
    **options
        Those of `PartRounds`.

    Attributes
    ----------
    length, best_length : int or float
        Of the closed tour, and of the best there was; exact for metrics of integers.
    """

    def __init__(
        self,
        cities: Sequence[Cities],
        tour: DeviceArray,
        **options: Any,
    ) -> None:
        lead = cities[0]
        self.cities = lead
        self._tour = tour
        self._best = lead.device.empty(lead.n, np.int32)
        self._best.copy_from(tour)
        self.length = self.best_length = lead.length(tour)
        tours = [tour, *(tour.copy_to(other.device) for other in cities[1:])]
        self.rounds = PartRounds(
            cities,
            [one.reshape(1, lead.n) for one in tours],
            one_tour=True,
            mean_link=abs(self.length) / lead.n,
            **options,
        )

    @property
    def plan(self) -> LaunchPlan:
        """How a round is spread over the GPU."""
        return self.rounds.plan

    def best(self) -> NDArray[np.int32]:
        """The best tour, in the search's numbers."""
        return self._best.download()

    def problems_best(self, room: NDArray[np.int32] | None = None) -> NDArray[np.int32]:
        """The best tour, or path, in the problem's numbers; `room` as for `Cities.problems_own`."""
        return self.cities.problems_own(self._best, room)

    def tour(self) -> DeviceArray:
        """The tour that the search works on, in its numbers."""
        return self._tour

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
