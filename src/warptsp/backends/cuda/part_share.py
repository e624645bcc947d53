"""What one GPU does of a round of the main solver: its share of the parts of a tour, or tours of its own."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import warptsp._native as _native
from warptsp.backends.cuda import records, tuning
from warptsp.backends.cuda.cities import Cities
from warptsp.backends.cuda.device import DeviceArray, Kernel, Timer
from warptsp.backends.cuda.launch_plan import LaunchPlan, lk_kernel
from warptsp.backends.cuda.path_order import PathOrder

COUNTERS = records.LK_COUNTERS.dtype.names or ()


class PartShare:
    """What one GPU does of a round: its share of the parts of one tour, or all parts of its own tours.

    The tours are int32 of shape (tours, n), `parts` those that it improves, and `copies` those of each of
    these parts, among the copies on all GPUs.
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
        self.sums = device.zeros(len(COUNTERS), np.uint64)
        self._tour: np.void
        self._round: np.void
        self._timer: Timer
        self._searched = 0.0
        self._position = device.empty(tours.shape, np.int32)
        count = len(copies)
        self._handed = {
            "local_candidates": device.empty((count, n, tuning.CANDIDATES), np.uint16),
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
        """Start the search of as many parts as `tuning.ROUND_SLICE` seconds may be enough for."""
        plan, copies, first = self.plan, len(self.copies), self.first
        least = max(1, plan.resident // copies)  # parts that fill the GPU
        if self.seconds_a_part == 0.0:
            most = 2 * least
        else:
            most = max(least, int(tuning.ROUND_SLICE / (self.seconds_a_part * work)))
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

    def take_from(self, giver: "PartShare", *, blobs: bool, paths: bool) -> None:
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
        blocks = math.ceil(parts / tuning.THREADS)
        self._kernel("choose_copies").launch(
            blocks, tuning.THREADS, self._tour, np.int32(parts), np.int32(len(self.copies))
        )

    def put_back_stretches(self) -> None:
        """Make the tours of what the stretches handed over."""
        self._put_back("put_back_stretches", np.int32(self._round["rotation"]))

    def arrange(self, graph: Callable[[], _native.PathGraph], threads: int) -> tuple[DeviceArray, ...] | None:
        """Find places on the tours for the paths that blobs handed over: what `put_back_blobs` is told.

        `graph` returns what does it where this GPU does not do it alone. None if fixed edges alone join some
        cities, and the round is lost.
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
        if tours == 1 and self.cities.n >= tuning.MIN_ORDERED and points is not None and fixed is None:
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
        blocks = (math.ceil(n / tuning.THREADS), orders.size // n)
        self._kernel("invert").launch(blocks, tuning.THREADS, orders, np.int32(n), ranks)

    def _put_back(self, kernel: str, *arguments: DeviceArray | np.generic) -> None:
        blocks = (math.ceil(self.cities.n / tuning.THREADS), len(self.tours))
        self._kernel(kernel).launch(blocks, tuning.THREADS, self._tour, np.int32(self.plan.parts), *arguments)

    def _kernel(self, name: str) -> Kernel:
        return lk_kernel(self.device, self.cities.metric, name, self.cities.dummy, self.plan.depth)
