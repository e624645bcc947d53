"""Best-improvement descent on a GPU (``descent.cu``): every move of a neighborhood is evaluated,
the best one applied, and nothing but counters comes back before the end.

In the plane 2-opt and 3-opt are searched in single precision first, in integers of 21 bits; what is found is
applied only if double precision agrees, and a pass in double precision confirms the end. All other metrics,
and swaps, are evaluated in double precision throughout. 2-opt descents of tours that fit into shared memory
are one launch (``two_opt_resident.h``). A pruned pass skips stretches of the tour between
which no move gains (``descent_pruned.cu``), and is exact. The versions of a tutorial's
swaps are in ``native/papers/exhaustive/swap_versions.cu``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING

import numpy as np

from warptsp.backends.cuda import records, tuning
from warptsp.backends.instance import exact_rows, fixed_partners
from warptsp.errors import UnsupportedProblem
from warptsp.papers.exhaustive.cuda_plan import (
    KINDS,
    MAPPED_KERNELS,
    PRUNED_KERNELS,
    PRUNED_LACKS,
    Launch,
    Scale,
    kernel_sources,
)
from warptsp.papers.exhaustive.cuda_pruned import PrunedPass
from warptsp.papers.exhaustive.cuda_swap_versions import SwapVersion

if TYPE_CHECKING:
    from numpy.typing import NDArray

    import warptsp._native as _native
    from warptsp.backends.cuda.device import Device, DeviceArray, Kernel
    from warptsp.backends.instance import SearchInstance
    from warptsp.problem import Problem

__all__ = ["CudaDescent", "Launch", "Scale", "kernel_sources"]

_SEARCHING, _DOUBTFUL, _COMPLETE = range(3)
_REMOVED_BEHIND_THE_END = -(1 << 29)  # removed_of(no_edge, 0) there


class CudaDescent:
    """One tour on a GPU, and best-improvement descent in a neighborhood; used as `_native.Descent` is.

    `version` is the pass of a version of swaps, None where none is asked for.
    """

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
        instance: SearchInstance | None = None,
    ) -> None:
        n = problem.n if instance is None else instance.size
        self._asked = Launch() if launch is None else launch
        self.device = device
        self.n = n
        self.kind = KINDS[neighborhood]
        plain = instance is None
        self.start_length = float(problem.length(tour if instance is None else instance.open(tour)))
        self.start_length += 0.0 if instance is None else instance.closing
        scale = Scale.of(problem) if plain and self.kind.fast is not None else None
        self._chip = tuning.architecture(device.compute_capability)
        self._city = [device.empty(n + 1, np.int32) for _ in range(2)]
        self._city[0][:n].upload(np.ascontiguousarray(tour, np.int32))
        self._state = device.zeros(records.DESCENT_STATE.itemsize, np.uint8)
        self._arrays: dict[str, DeviceArray] = {"edges": device.empty(n + 1, np.float64)}
        rows = problem.search_rows() if instance is None else instance.rows
        rows = exact_rows(problem.metric, rows, whole=problem.integral)
        if instance is not None and len(instance.fixed_edges):
            self._arrays["fixed"] = device.upload(fixed_partners(n, instance.fixed_edges))
        self._arrays[records.field_of_rows(problem.metric, rows, points="rows")] = device.upload(rows)
        if problem.matrix is None:
            self._arrays["placed"] = device.empty((n + 1, rows.shape[1]), np.float64)
        else:
            self._arrays["placed_city"] = device.empty(n + 1, np.int32)
        if scale is not None:
            size = n + 2 * tuning.ROW_TILES.rows + 2  # warps read on behind the end
            points = np.zeros((size, 4), np.int32)
            points[n:, 3] = _REMOVED_BEHIND_THE_END + np.arange(n, size) % tuning.COLUMNS_A_CHUNK
            self._arrays["points"] = device.upload(points)
            # As the kernel has it, which is compiled for the device.
            squares = scale.rounding == 0 and self._chip.squares
            self._tiles = tuning.SQUARES_TILES if squares else tuning.ROW_TILES
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
                "edge_scale": scale.links,
            }
        self._tour = records.DESCENT_TOUR(**fields)
        self._scale = scale
        names = self.kind.exact_kernels
        self._sources = kernel_sources(problem, neighborhood, self._asked, pruned=pruned, plain=plain)
        self._exact, self._choose, self._apply = (self._kernel(0, name) for name in names[:3])
        if self._limited:
            self._limit = self._kernel(0, names[3])
        self._fast: Kernel | None = None
        self._resident: Kernel | None = None
        self._pruned: PrunedPass | None = None
        self.version: SwapVersion | None = None
        if self._asked.version is not None:
            evaluate, reduce = (self._kernel(1, name) for name in self._sources[1].names)
            self.version = SwapVersion(device, n, self._asked, evaluate, reduce)
        elif pruned:
            if scale is None or self.kind.move != "TwoOpt":
                raise UnsupportedProblem(PRUNED_LACKS)
            self._pruned = PrunedPass(device, n, *(self._kernel(1, name) for name in PRUNED_KERNELS))
        elif self._mapped:
            self._plan_mapped()
        elif scale is not None and self.kind.fast is not None:
            self._plan_fast(self.kind.fast)
        self._found = device.empty((self._max_blocks(), 2), np.uint64)
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
                f"{tuning.RESIDENT_THREADS} threads and {self._resident_shared} bytes of shared memory for "
                f"the whole tour; {self._resident.registers} registers a thread"
            )
        if self.version is not None:
            plan = self.version
            return (
                f"{self.kind.name}, version {plan.version}: a pass of {self.moves} moves in {plan.grid} "
                f"blocks with {plan.block} threads; {plan.evaluate.registers} registers a thread; double "
                "precision"
            )
        if self._pruned is not None:
            return (
                f"{self.kind.name}, a pass of {self.moves} moves between {self._pruned.stretches} stretches "
                f"of the tour, less those that are skipped, in blocks of {tuning.DESCENT_THREADS} threads; "
                f"{self._pruned.evaluate.registers} registers a thread; single precision, decided in double"
            )
        kernel = self._exact if self._fast is None else self._fast
        if self._mapped:
            ranges = 1 if self._range is None else math.ceil(self.n / self._range)
            blocks, block, launches = self._grid, self._block, math.comb(ranges + 1, 2)
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
                self._descend_resident(self._resident, count)
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
                self._pass(token, exact=True)
            self.kernel_seconds += timer.seconds
            self._read()
        return int(self._figures["status"]) == _COMPLETE

    def _pass(self, token: _native.StopToken, *, exact: bool) -> bool:
        """One pass and its move; False if the token stopped it before it was complete."""
        if self._pruned is not None:
            blocks = self._pruned.run(self._tour, self._found, token)
            if blocks == 0:
                return False
            self._choose.launch(1, 256, self._tour, self._found, np.int32(blocks), np.int32(1), np.int32(0))
            self._put()
            return True
        kernel = self._exact if exact or self._fast is None else self._fast
        candidates = 1
        if self.version is not None:
            self.version.run(self._tour, self._city[0], self._found)
            blocks = 1
        elif self._mapped and self._range is not None and not exact:
            blocks = self._grid
            if not self._pass_ranges(kernel, self._range, token):
                return False
        elif self._mapped and not exact:
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
                    columns = max(tiles.min_columns, min(tiles.max_columns, (end - first) // (4 * warps)))
                    pieces = (
                        int(tuning.COARSE * (end - first)) // columns,
                        columns,
                        max(columns // 8, tiles.min_columns // 2),
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

    def _pass_ranges(self, kernel: Kernel, size: int, token: _native.StopToken) -> bool:
        """One pair of ranges of the tour after the other; False if the token stopped it before the last."""
        starts = range(0, self.n, size)
        for a, b in combinations_with_replacement(starts, 2):
            if (a, b) != (0, 0) and token.stopped():
                return False
            ranges = (np.int32(value) for value in (a, b, size, (a, b) == (0, 0)))
            shared = 16 * (size + 1)
            kernel.launch(self._grid, self._block, self._tour, *ranges, self._found, shared=shared)
        return True

    def _descend_resident(self, kernel: Kernel, passes: int) -> None:
        """So many passes in one launch, or fewer if a move does not hold in double precision."""
        self._slots.zero()
        kernel.launch(
            len(self._slots) // 2,
            tuning.RESIDENT_THREADS,
            self._tour,
            self._city[0],
            np.int64(passes),
            self._slots,
            shared=self._resident_shared,
            cooperative=True,
        )
        self._put(whole=True)  # only the cities came back from shared memory

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
                "method two-opt: block, grid, jobs, tour_order and range_size belong to a kernel for the "
                "plane (EUC_2D, CEIL_2D, FLOOR_2D, EXACT_2D, ATT), closed tours and no fixed edges; leave "
                "them out"
            )
        most = device.shared_memory_per_block - 2048
        fits = self._mapped_shared() <= most
        if not fits and not asked.tour_order:
            raise UnsupportedProblem(
                "method two-opt: tour_order belongs to a kernel that has the whole tour in shared "
                f"memory: this GPU holds at most {most // 10 - 1} cities, not {self.n}; leave it out"
            )
        largest = most // 16 - 1
        self._range = asked.range_size
        if self._range is None and not fits:
            self._range = largest
        if self._range is not None and self._range > largest:
            raise UnsupportedProblem(
                f"method two-opt: range_size: this GPU's shared memory holds two ranges of at most {largest} "
                f"cities, not of {self._range}; give a smaller one, or leave it out"
            )
        name = MAPPED_KERNELS[2 if self._range else 0 if asked.tour_order else 1]
        kernel = self._kernel(1, name)
        self._fast = kernel
        self._block = tuning.MAPPED_THREADS if asked.block is None else asked.block
        shared = self._mapped_shared() if self._range is None else 16 * (self._range + 1)
        resident = kernel.blocks_per_multiprocessor(self._block, shared)
        moves = self.moves if self._range is None else self._range**2
        self._grid = asked.blocks_for(moves, self._block) or resident * device.multiprocessors

    def _plan_fast(self, name: str) -> None:
        device = self.device
        rows = int(self._sources[1].defines["RESIDENT_ROWS"])
        self._fast = self._kernel(1, name)
        if self.kind.move != "TwoOpt" or self.n >= tuning.MAX_RESIDENT:
            return
        self._resident_shared = 16 * (self.n + 1 + 64 * rows) + 4 * self.n
        kernel = self._kernel(1, "descend_pairs")
        if kernel.blocks_per_multiprocessor(tuning.RESIDENT_THREADS, self._resident_shared) == 0:
            return
        blocks = min(device.multiprocessors, max(1, self.moves // tuning.MOVES_OF_BLOCK))
        self._resident = kernel
        self._slots = device.zeros(2 * blocks, np.uint64)

    def _max_blocks(self) -> int:
        """Of all evaluations of this descent."""
        if self._pruned is not None:
            return self._pruned.max_blocks
        if self.version is not None:
            return 1
        most = [self._grid if self._mapped else 1]
        for kernel, exact in ((self._exact, True), (None if self._mapped else self._fast, False)):
            if kernel is not None:
                most.append(self._work(kernel, exact=exact)[2])
        return max(most)

    def _work(self, kernel: Kernel, *, exact: bool) -> tuple[int, int, int, int]:
        """Return (units of a pass, units of a launch, blocks, threads of a block)."""
        n, device = self.n, self.device
        fast, double = tuning.MOVES_A_SLICE[self.kind.name]
        block = tuning.DESCENT_THREADS
        if exact:
            work = self.moves // (4 if self.kind.move == "ThreeOpt" else 1)
            piece = max(1, int(double * device.multiprocessors * self._chip.double_rate))
            least = 256  # units of a warp that are worth starting it
            if not self._mapped and self._asked.block is not None:
                block = self._asked.block
        elif self.kind.move == "TwoOpt":
            rows = self._tiles.rows
            warp_rows = (n - 2) // rows + 1
            work = warp_rows * (n - 1) - rows * (warp_rows * (warp_rows - 1) // 2)
            piece = max(1, int(fast * device.multiprocessors / rows))
            least = 4
        else:
            groups, rest = divmod(n - 2, 32)
            work = 16 * groups * (groups + 1) + rest * (groups + 1)
            piece = int(fast * device.multiprocessors / (32 * n / 3)) + 1
            least = 1
        most = device.multiprocessors * kernel.blocks_per_multiprocessor(block)
        blocks = max(1, min(most, min(work, piece) // (least * (block // 32))))
        if not self._mapped:
            blocks = self._asked.blocks_for(work, block) or blocks
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
            self._evaluated_moves = self._pruned.evaluated()

    def _kernel(self, source: int, name: str) -> Kernel:
        wanted = self._sources[source]
        return self.device.module(wanted).kernel(name)
