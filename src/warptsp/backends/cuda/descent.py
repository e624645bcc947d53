"""Best-improvement descent on a GPU (``native/cuda/descent.cu``): every move of a neighborhood is evaluated,
the best one applied, and nothing but counters comes back before the end.

In the plane 2-opt and 3-opt are searched in single precision first, in integers of 21 bits; what is found is
applied only if double precision agrees, and a pass in double precision confirms the end. All other metrics,
and swaps, are evaluated in double precision throughout. 2-opt descents of tours that fit into shared memory
are one launch (``native/exhaustive/two_opt_resident.h``). A pruned pass skips stretches of the tour between
which no move gains (``native/cuda/descent_pruned.cu``), and is exact.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from warptsp.backends.cuda import records
from warptsp.backends.cuda.compiler import Source
from warptsp.errors import InvalidOption, UnsupportedProblem
from warptsp.problem import Metric

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warptsp import _native
    from warptsp.backends.cuda.device import Device, DeviceArray, Kernel
    from warptsp.problem import Problem

FILE, FAST_FILE, MAPPED_FILE = "descent.cu", "descent_fast.cu", "descent_mapped.cu"
FAST_KERNELS = ("evaluate_pairs", "evaluate_triples", "descend_pairs")
PRUNED_FILE, PRUNED_KERNELS = "descent_pruned.cu", ("measure_stretches", "evaluate_pruned")
MAPPED_KERNELS = ("evaluate_mapped<true>", "evaluate_mapped<false>")
BLOCK = 128  # threads of an evaluation (tile_block of native/exhaustive/descent_state.h)
RESIDENT_BLOCK = 512  # resident_block of native/exhaustive/two_opt_resident.h
MOST_RESIDENT = 1 << 14  # cities
MOVES_OF_BLOCK = 8192  # of a pass, that are worth a block when all blocks have to agree
MAPPED_BLOCK = 1024  # threads, unless something else is asked for
STRETCH = 32  # links of a stretch (stretch_links of native/exhaustive/pruned_pairs.h)
STRETCHES_A_UNIT = 32  # of work of a warp: next to a long link none of them is skipped
PRUNED_A_SLICE = 5e8  # moves of a pruned pass that a multiprocessor evaluates in 50 ms, if none are skipped
LARGEST_GRID = 1 << 20

_SEARCHING, _DOUBTFUL, _COMPLETE = range(3)
PRUNED_LACKS = (
    "method two-opt: pruned needs distances of the plane (EUC_2D, CEIL_2D, FLOOR_2D, EXACT_2D, ATT), a "
    "closed tour and no fixed edges; leave it out"
)
_LARGEST = 2.0**21  # of scaled distances
_COLUMNS_A_CHUNK = 128  # columns_a_chunk of native/exhaustive/two_opt_tiles.h
_REMOVED_BEHIND_THE_END = -(1 << 29)  # removed_of(no_link, 0) there


@dataclass(frozen=True, slots=True)
class Tiles:
    """How warps go over the pairs of a long tour.

    Attributes
    ----------
    rows_of_lane, rows : int
        Positions of a lane, of whose moves with a column the best one is found, and moves of a warp.
    least, most : int
        Columns that a warp takes at a time.
    """

    rows_of_lane: int
    rows: int
    least: int
    most: int


ROW_TILES = Tiles(16, 511, 16, 512)  # native/exhaustive/two_opt_tiles.h
SQUARES_TILES = Tiles(8, 63, 256, 4096)  # native/exhaustive/two_opt_squares.h
COARSE = 0.8  # of the columns; the rest is taken in eighths, so that all warps end together


@dataclass(frozen=True, slots=True)
class Kind:
    """A neighborhood: its C++ names, and how its passes are cut into launches.

    Attributes
    ----------
    name, walk, move : str
    candidates : int
        Moves that one result of the fast pass stands for; 2-opt: see `Tiles`.
    fast : str or None
        The kernel of the fast pass.
    moves_a_slice : float
        That a multiprocessor evaluates in 50 ms or less in the fast pass.
    exact_a_slice : float
        The same in double precision, on a chip with many units for it.
    """

    name: str
    walk: str
    move: str
    candidates: int
    fast: str | None
    moves_a_slice: float
    exact_a_slice: float

    def is_mapped(self, launch: Launch) -> bool:
        """Whether 2-opt moves are found by their numbers, for studies of launches."""
        return self.move == "TwoOpt" and launch.asked

    @property
    def exact_kernels(self) -> tuple[str, ...]:
        """The kernels beside the fast pass."""
        kernels = (f"evaluate_exactly<{self.walk}>", f"choose_move<{self.move}>", f"apply_move<{self.move}>")
        return (*kernels, "limit_swaps") if self.move == "Swap" else kernels


KINDS = (
    Kind("two-opt", "PairWalk", "TwoOpt", 1, "evaluate_pairs", 1e9, 2e7),
    Kind("three-opt", "TripleWalk", "ThreeOpt", 4, "evaluate_triples", 1e8, 2e6),
    Kind("swap", "SwapWalk", "Swap", 1, None, 1e7, 1e7),
)


@dataclass(frozen=True, slots=True)
class Launch:
    """What is asked of the launches of an evaluation; None where it is planned.

    Attributes
    ----------
    block, grid : int or None
        Threads of a block, and blocks.
    jobs : int or None
        Moves (3-opt: triples) of a thread, from which the grid follows.
    tour_order : bool
        2-opt: whether coordinates lie in tour order.
    """

    block: int | None = None
    grid: int | None = None
    jobs: int | None = None
    tour_order: bool = True

    @property
    def asked(self) -> bool:
        """Whether anything differs from what is planned."""
        return self != Launch()


@dataclass(frozen=True, slots=True)
class Scale:
    """How distances become integers of a fast pass: coordinates times `points`, links times `links`, rounded
    to nearest (0), up (1) or down (2)."""

    rounding: int
    points: float
    links: float
    middle: tuple[float, float]

    @classmethod
    def of(cls, problem: Problem) -> Scale | None:
        """Choose it for a problem; None if its metric has no fast pass."""
        if problem.metric.kind > Metric.ATT.kind:
            return None
        points = problem.search_points()
        low, high = points.min(axis=0), points.max(axis=0)
        middle = (float(low[0] + high[0]) / 2, float(low[1] + high[1]) / 2)
        diagonal = float(np.hypot(*(high - low)))
        # What single precision may add to a whole number must not round it up, nor down.
        little = 2.0**-22
        integral = {
            Metric.EUC_2D: (0, 1.0),
            Metric.CEIL_2D: (1, 1.0 - little),
            Metric.FLOOR_2D: (2, 1.0 + little),
            Metric.ATT: (1, (1.0 - little) / math.sqrt(10.0)),
        }
        if problem.metric in integral:
            rounding, factor = integral[problem.metric]
            if diagonal * factor < _LARGEST:
                return cls(rounding, factor, 1.0, middle)
        power = 0 if diagonal == 0 else math.floor(math.log2(_LARGEST / diagonal * (1 - 1e-9)))
        factor = 2.0 ** min(power, 1000)
        unit = factor / math.sqrt(10.0) if problem.metric is Metric.ATT else factor
        return cls(0, unit, factor, middle)


def kernel_sources(
    problem: Problem, neighborhood: int, launch: Launch, *, pruned: bool = False
) -> tuple[Source, ...]:
    """Return what a descent needs: the kernels in double precision, and those of the fast or pruned pass if
    there is one."""
    kind = KINDS[neighborhood]
    mapped = kind.is_mapped(launch)
    block = BLOCK if mapped or launch.block is None else max(BLOCK, launch.block)
    metric = {"METRIC_KIND": int(problem.metric.kind)}
    exact = Source(FILE, kind.exact_kernels, {"EXACT_BLOCK": block, **metric}, fmad=False)
    if pruned:
        return exact, Source(PRUNED_FILE, PRUNED_KERNELS, metric, fmad=False)
    scale = None if kind.fast is None else Scale.of(problem)
    if scale is None:
        return (exact,)
    if mapped:
        defines = {"TILE_ROUNDING": scale.rounding, **metric}
        return exact, Source(MAPPED_FILE, MAPPED_KERNELS, defines, fmad=False)
    defines = {"TILE_ROUNDING": scale.rounding, "RESIDENT_ROWS": 4 if problem.n < 3000 else 8, **metric}
    return exact, Source(FAST_FILE, FAST_KERNELS, defines, fmad=False)


class CudaDescent:
    """One tour on a GPU, and best-improvement descent in a neighborhood; used as `_native.Descent` is."""

    def __init__(
        self,
        device: Device,
        problem: Problem,
        neighborhood: int,
        tour: NDArray[np.int32],
        tolerance: float,
        kept: Iterable[int] = (),
        before: Iterable[tuple[int, int]] = (),
        launch: Launch | None = None,
        *,
        pruned: bool = False,
    ) -> None:
        n = problem.n
        self._asked = Launch() if launch is None else launch
        self.device = device
        self.n = n
        self.kind = KINDS[neighborhood]
        self.start_length = float(problem.length(tour))
        scale = None if self.kind.fast is None else Scale.of(problem)
        self._exact_speed = 1.0 if device.compute_capability in ((8, 0), (9, 0), (10, 0)) else 1 / 32
        self._city = [device.empty(n + 1, np.int32) for _ in range(2)]
        self._city[0][:n].upload(np.ascontiguousarray(tour, np.int32))
        self._state = device.zeros(records.DESCENT_STATE.itemsize, np.uint8)
        self._arrays: dict[str, DeviceArray] = {"links": device.empty(n + 1, np.float64)}
        if problem.matrix is None:
            rows = np.ascontiguousarray(problem.search_points(), np.float64)
            self._arrays["rows"] = device.upload(rows)
            self._arrays["placed"] = device.empty((n + 1, rows.shape[1]), np.float64)
        else:
            kind: Any = np.int32 if problem.integral else np.float64
            name = "int_matrix" if problem.integral else "real_matrix"
            self._arrays[name] = device.upload(np.ascontiguousarray(problem.matrix, kind))
            self._arrays["placed_city"] = device.empty(n + 1, np.int32)
        if scale is not None:
            size = n + 2 * ROW_TILES.rows + 2  # warps read on behind the end
            points = np.zeros((size, 4), np.int32)
            points[n:, 3] = _REMOVED_BEHIND_THE_END + np.arange(n, size) % _COLUMNS_A_CHUNK
            self._arrays["points"] = device.upload(points)
            # As the kernel has it, which is compiled for the device.
            squares = scale.rounding == 0 and device.compute_capability == (9, 0)
            self._tiles = SQUARES_TILES if squares else ROW_TILES
            if squares and self.kind.move == "TwoOpt" and not pruned:
                self._arrays["columns"] = device.zeros((size, 4), np.float64)
        self._kept = np.fromiter(kept, np.int32)
        self._before = np.array([*before], np.int32).reshape(-1, 2)
        self._limited = len(self._kept) + len(self._before) > 0
        if self._limited:
            self._kept_cities = device.upload(np.append(self._kept, np.int32(0)))
            self._before_cities = device.upload(np.vstack([self._before, np.zeros((1, 2), np.int32)]))
            self._position = device.empty(n, np.int32)
            self._arrays["earlier"] = device.empty(n + 1, np.int32)
            self._arrays["later"] = device.empty(n + 1, np.int32)
        fields = {
            "n": n,
            "kind": problem.metric.kind,
            "stride": 0 if problem.matrix is not None else rows.shape[1],
            "has_fast_pass": scale is not None and not pruned,
            "tolerance": tolerance,
            "state": self._state,
            **self._arrays,
        }
        if scale is not None:
            fields |= {
                "middle_x": scale.middle[0],
                "middle_y": scale.middle[1],
                "scale": scale.points,
                "link_scale": scale.links,
            }
        self._tour = records.DESCENT_TOUR(**fields)
        self._scale = scale
        names = self.kind.exact_kernels
        self._sources = kernel_sources(problem, neighborhood, self._asked, pruned=pruned)
        self._exact, self._choose, self._apply = (self._kernel(0, name) for name in names[:3])
        if self._limited:
            self._limit = self._kernel(0, names[3])
        self._fast: Kernel | None = None
        self._resident: Kernel | None = None
        self._pruned: Kernel | None = None
        if pruned:
            self._plan_pruned()
        elif self._mapped:
            self._plan_mapped()
        elif scale is not None and self.kind.fast is not None:
            self._plan_fast()
        self._found = device.empty((self._most_blocks(), 2), np.uint64)
        self._taken = device.zeros(1, np.uint64)
        self._seconds_a_pass = math.inf
        self.kernel_seconds = 0.0
        self._put(whole=True)
        self._read()

    @property
    def length(self) -> float:
        """Length of the tour, in the double precision of its moves."""
        return self.start_length + float(self._figures["gained"])

    def __str__(self) -> str:
        if self._resident is not None:
            return (
                f"{self.kind.name}, all passes in one launch of {len(self._slots) // 2} blocks with "
                f"{RESIDENT_BLOCK} threads and {self._resident_shared} bytes of shared memory for the whole "
                f"tour; {self._resident.registers} registers a thread"
            )
        if self._pruned is not None:
            return (
                f"{self.kind.name}, a pass of {self.moves} moves between {self._stretches} stretches of the "
                f"tour, less those that are skipped, in blocks of {BLOCK} threads; {self._pruned.registers} "
                "registers a thread; single precision, decided in double"
            )
        kernel = self._exact if self._fast is None else self._fast
        if self._mapped:
            blocks, block, launches = self._grid, self._block, 1
        else:
            work, piece, blocks, block = self._work(kernel, exact=self._fast is None)
            launches = math.ceil(work / piece)
        precision = "double precision" if self._fast is None else "single precision, decided in double"
        return (
            f"{self.kind.name}, a pass of {self.moves} moves in {launches} launches of {blocks} blocks with "
            f"{block} threads, {self.moves / (blocks * block):.0f} moves a thread; {kernel.registers} "
            f"registers a thread; {precision}"
        )

    def tour(self) -> NDArray[np.int32]:
        """The cities in their order."""
        return self._city[0][: self.n].download()

    def counters(self) -> dict[str, int | float]:
        """Passes, moves evaluated and applied, and the GPU's seconds."""
        passes = int(self._figures["passes"])
        return {
            "passes": passes,
            "evaluations": passes * self.moves if self._pruned is None else self._evaluated_moves,
            "moves": int(self._figures["moves"]),
            "kernel_seconds": self.kernel_seconds,
        }

    @property
    def moves(self) -> int:
        """Moves of one pass."""
        match self.kind.move:
            case "TwoOpt":
                return self.n * (self.n - 1) // 2
            case "ThreeOpt":
                return 4 * math.comb(self.n, 3)
            case _:
                return (self.n - 1) * (self.n - 2) // 2

    def proceed(self, seconds: float, passes: int, token: _native.StopToken) -> bool:
        """Pass for about so long, and so often (-1: any number); True when no move shortens the tour."""
        count = 1 if math.isinf(self._seconds_a_pass) else int(max(1, seconds / self._seconds_a_pass))
        if self._resident is not None and math.isinf(self._seconds_a_pass):
            count = 1000  # a pass of so few cities takes microseconds
        if passes >= 0:
            count = min(count, passes)
        with self.device.timer() as timer:
            if self._resident is not None:
                self._descend_resident(count)
            else:
                count = min(count, 1000)
                for _ in range(count):
                    if not self._pass(token, exact=self._fast is None):
                        break
        self.kernel_seconds += timer.seconds
        before = int(self._figures["passes"])
        self._read()
        done = int(self._figures["passes"]) - before
        if done > 0:
            # Few launches tell little, and too many would keep the caller waiting.
            self._seconds_a_pass = max(timer.seconds / done, seconds / (8 * count))
        if self._figures["status"] == _DOUBTFUL and not token.stopped():
            with self.device.timer() as timer:
                if self._resident is not None:
                    self._put(whole=True)
                self._pass(token, exact=True)
            self.kernel_seconds += timer.seconds
            self._read()
        return int(self._figures["status"]) == _COMPLETE

    def _pass(self, token: _native.StopToken, *, exact: bool) -> bool:
        """One pass and its move; False if the token stopped it before it was complete."""
        if self._pruned is not None:
            blocks = self._evaluate_pruned(token)
            if blocks == 0:
                return False
            self._choose.launch(1, 256, self._tour, self._found, np.int32(blocks), np.int32(1), np.int32(0))
            self._put()
            return True
        kernel = self._exact if exact else self._fast
        assert kernel is not None
        candidates = 1
        if self._mapped and not exact:
            blocks, block = self._grid, self._block
            shared = self._mapped_shared()
            kernel.launch(blocks, block, self._tour, self._city[0], self._found, shared=shared)
        else:
            work, piece, blocks, block = self._work(kernel, exact=exact)
            for first in range(0, work, piece):
                if first and token.stopped():
                    return False
                end = min(first + piece, work)
                more: tuple[DeviceArray | np.generic, ...] = ()
                if not exact and self.kind.move == "TwoOpt":
                    self._taken.zero()
                    warps, tiles = blocks * (block // 32), self._tiles
                    columns = max(tiles.least, min(tiles.most, (end - first) // (4 * warps)))
                    pieces = (
                        int(COARSE * (end - first)) // columns,
                        columns,
                        max(columns // 8, tiles.least // 2),
                    )
                    more = self._taken, *map(np.int32, pieces)
                ends = np.int64(first), np.int64(end)
                kernel.launch(blocks, block, self._tour, *ends, np.int32(first == 0), self._found, *more)
                if piece < work:
                    self.device.synchronize()
            if not exact:
                candidates = self._tiles.rows_of_lane if self.kind.move == "TwoOpt" else self.kind.candidates
        count = np.int32(blocks), np.int32(candidates), np.int32(not exact)
        self._choose.launch(1, 256, self._tour, self._found, *count)
        self._put()
        return True

    def _evaluate_pruned(self, token: _native.StopToken) -> int:
        """Evaluate what a pruned pass leaves; returns the blocks that found something, 0 if the token stopped
        it."""
        assert self._pruned is not None
        device = self.device
        units = self._stretches * math.ceil(self._stretches / STRETCHES_A_UNIT)
        piece = int(PRUNED_A_SLICE * device.multiprocessors / (STRETCH**2 * STRETCHES_A_UNIT))
        blocks = min(self._most_blocks(), math.ceil(units / (BLOCK // 32)))
        measured = math.ceil(self._stretches / (BLOCK // 32))
        self._measure.launch(measured, BLOCK, self._tour, self._boxes, self._gain)
        for first in range(0, units, piece):
            if first and token.stopped():
                return 0
            ends = np.int64(first), np.int64(min(first + piece, units)), np.int32(STRETCHES_A_UNIT)
            more = np.int32(first == 0), self._found, self._gain, self._evaluated
            self._pruned.launch(blocks, BLOCK, self._tour, self._boxes, *ends, *more)
            if piece < units:
                device.synchronize()
        return blocks

    def _descend_resident(self, passes: int) -> None:
        """So many passes in one launch, or fewer if a move does not hold in double precision."""
        assert self._resident is not None
        self._slots.zero()
        self._resident.launch(
            len(self._slots) // 2,
            RESIDENT_BLOCK,
            self._tour,
            self._city[0],
            np.int64(passes),
            self._slots,
            shared=self._resident_shared,
            cooperative=True,
        )

    @property
    def _mapped(self) -> bool:
        """Whether 2-opt moves are found by their numbers, for studies of launches."""
        return self.kind.is_mapped(self._asked)

    def _mapped_shared(self) -> int:
        return (8 if self._asked.tour_order else 10) * (self.n + 1)

    def _plan_mapped(self) -> None:
        device, asked = self.device, self._asked
        if self._scale is None:
            raise UnsupportedProblem(
                "method two-opt: block, grid, jobs and tour_order are of a kernel for the plane (EUC_2D, "
                "CEIL_2D, FLOOR_2D, EXACT_2D, ATT); leave them out"
            )
        most = device.shared_memory_per_block - 2048
        if self._mapped_shared() > most:
            cities = most // (8 if asked.tour_order else 10) - 1
            raise UnsupportedProblem(
                "method two-opt: block, grid, jobs and tour_order are of a kernel that has the tour in "
                f"shared memory, on this GPU {cities} cities at most, and here are {self.n}; leave them out"
            )
        name = MAPPED_KERNELS[0 if asked.tour_order else 1]
        kernel = self._kernel(1, name)
        self._fast = kernel
        self._block = MAPPED_BLOCK if asked.block is None else asked.block
        resident = kernel.blocks_per_multiprocessor(self._block, self._mapped_shared())
        self._grid = self._asked_grid(self.moves, self._block) or resident * device.multiprocessors

    def _plan_fast(self) -> None:
        assert self.kind.fast is not None
        device = self.device
        rows = int(self._sources[1].defines["RESIDENT_ROWS"])
        self._fast = self._kernel(1, self.kind.fast)
        if self.kind.move != "TwoOpt" or self.n >= MOST_RESIDENT:
            return
        self._resident_shared = 16 * (self.n + 1 + 64 * rows) + 4 * self.n
        kernel = self._kernel(1, "descend_pairs")
        if kernel.blocks_per_multiprocessor(RESIDENT_BLOCK, self._resident_shared) == 0:
            return
        blocks = min(device.multiprocessors, max(1, self.moves // MOVES_OF_BLOCK))
        self._resident = kernel
        self._slots = device.zeros(2 * blocks, np.uint64)

    def _plan_pruned(self) -> None:
        if self._scale is None or self.kind.move != "TwoOpt":
            raise UnsupportedProblem(PRUNED_LACKS)
        self._measure, self._pruned = (self._kernel(1, name) for name in PRUNED_KERNELS)
        self._stretches = math.ceil(self.n / STRETCH)
        self._boxes = self.device.empty((self._stretches, 5), np.float32)
        self._gain = self.device.zeros(1, np.uint32)
        self._evaluated = self.device.zeros(1, np.uint64)

    def _asked_grid(self, jobs: int, block: int) -> int | None:
        """The grid that was asked for, by itself or through the jobs of a thread; None if it was not."""
        asked = self._asked
        grid = asked.grid if asked.jobs is None else math.ceil(jobs / (asked.jobs * block))
        if grid is not None and grid > LARGEST_GRID:
            raise InvalidOption(
                f"grid: {grid} blocks of {block} threads; {LARGEST_GRID} are the most. Take a larger block "
                "or more jobs a thread"
            )
        return grid

    def _most_blocks(self) -> int:
        """Of all evaluations of this descent."""
        if self._pruned is not None:
            return self.device.multiprocessors * self._pruned.blocks_per_multiprocessor(BLOCK)
        most = [self._grid if self._mapped else 1]
        for kernel, exact in ((self._exact, True), (None if self._mapped else self._fast, False)):
            if kernel is not None:
                most.append(self._work(kernel, exact=exact)[2])
        return max(most)

    def _work(self, kernel: Kernel, *, exact: bool) -> tuple[int, int, int, int]:
        """Return (units of a pass, units of a launch, blocks, threads of a block)."""
        n, device = self.n, self.device
        block = BLOCK
        if exact:
            work = self.moves // (4 if self.kind.move == "ThreeOpt" else 1)
            piece = max(1, int(self.kind.exact_a_slice * device.multiprocessors * self._exact_speed))
            least = 256  # units of a warp that are worth starting it
            if not self._mapped and self._asked.block is not None:
                block = self._asked.block
        elif self.kind.move == "TwoOpt":
            rows = self._tiles.rows
            warp_rows = (n - 2) // rows + 1
            work = warp_rows * (n - 1) - rows * (warp_rows * (warp_rows - 1) // 2)
            piece = max(1, int(self.kind.moves_a_slice * device.multiprocessors / rows))
            least = 4
        else:
            groups, rest = divmod(n - 2, 32)
            work = 16 * groups * (groups + 1) + rest * (groups + 1)
            piece = int(self.kind.moves_a_slice * device.multiprocessors / (32 * n / 3)) + 1
            least = 1
        most = device.multiprocessors * kernel.blocks_per_multiprocessor(block)
        blocks = max(1, min(most, min(work, piece) // (least * (block // 32))))
        if not self._mapped:
            blocks = self._asked_grid(work, block) or blocks
        return work, piece, blocks, block

    def _put(self, *, whole: bool = False) -> None:
        """Apply the move that was chosen, or put the tour in place for the first time."""
        blocks = min(math.ceil((self.n + 1) / 256), 8 * self.device.multiprocessors)
        self._apply.launch(blocks, 256, self._tour, self._city[0], self._city[1], np.int32(whole))
        self._city.reverse()
        if self._limited:
            self._limit.launch(
                1,
                1024,
                self._tour,
                self._city[0],
                self._kept_cities,
                np.int32(len(self._kept)),
                self._before_cities,
                np.int32(len(self._before)),
                self._position,
            )

    def _read(self) -> None:
        self._figures = self._state.download().view(records.DESCENT_STATE.dtype)[0]
        if self._pruned is not None:
            self._evaluated_moves = int(self._evaluated.download()[0])

    def _kernel(self, source: int, name: str) -> Kernel:
        wanted = self._sources[source]
        return self.device.module(wanted.file, wanted.names, wanted.defines, fmad=wanted.fmad).kernel(name)
