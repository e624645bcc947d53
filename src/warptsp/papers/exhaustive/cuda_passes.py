"""The passes of a best-improvement descent on a GPU: how a neighborhood's moves are spread over threads.

Each evaluates all moves and leaves the best one of each block. In the plane 2-opt and 3-opt are searched in
single precision first, in integers of 21 bits; all other metrics and moves, and what that finds, in double
precision. Passes are planned from the limits of a GPU and the registers of a kernel, so that a plan can be
told where there is no GPU, and take memory when they first run.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from warptsp._words import counted
from warptsp.papers.exhaustive import cuda_tuning as tuning
from warptsp.papers.exhaustive.neighborhood import THREE_OPT, TWO_OPT, Launch, Neighborhood

if TYPE_CHECKING:
    import warptsp._native as _native
    from warptsp.backends.cuda.device import Device, DeviceArray, Kernel

SINGLE = "single precision, decided in double"
DOUBLE = "double precision"


class Pass:
    """An evaluation of all moves of a neighborhood."""

    candidates = 1  # moves that one result stands for
    launches = 1  # of a pass
    shared = 0  # bytes of dynamic shared memory of a block
    precision = DOUBLE
    kernel: Kernel
    blocks: int
    block: int  # threads of each

    def run(self, tour: np.void, city: DeviceArray, found: DeviceArray, token: _native.StopToken) -> int:
        """Evaluate; returns the blocks that found something, 0 if the token stopped it."""
        raise NotImplementedError

    def describe(self, moves: int) -> str:
        """Return how so many moves are spread."""
        launches = "a launch" if self.launches == 1 else f"{self.launches} launches"
        each = counted(math.ceil(moves / (self.blocks * self.block)), "move", "moves")
        return (
            f"a pass of {moves} moves in {launches} of {self.blocks} blocks with {self.block} threads, "
            f"{each} a thread"
        )


class SlicedPass(Pass):
    """Units of work [0, work), in launches of `piece` units; a warp is worth starting for `least` of them."""

    def __init__(
        self, device: Device, kernel: Kernel, work: int, piece: float, least: int, asked: Launch
    ) -> None:
        self._device, self.kernel = device, kernel
        self._work, self._piece = work, max(1, int(piece))
        self.launches = math.ceil(work / self._piece)
        most = device.multiprocessors * kernel.blocks_per_multiprocessor(self.block)
        planned = max(1, min(most, min(work, self._piece) // (least * (self.block // 32))))
        self.blocks = asked.blocks_for(work, self.block) or planned

    def run(self, tour: np.void, city: DeviceArray, found: DeviceArray, token: _native.StopToken) -> int:
        for first in range(0, self._work, self._piece):
            if first and token.stopped():
                return 0
            end = min(first + self._piece, self._work)
            which = np.int64(first), np.int64(end), np.int32(first == 0)
            self.kernel.launch(self.blocks, self.block, tour, *which, found, *self._more(end - first))
            if self._piece < self._work:
                self._device.synchronize()
        return self.blocks

    def _more(self, units: int) -> tuple[DeviceArray | np.generic, ...]:
        """What the kernel takes beside these, for a launch of so many units."""
        return ()


class ExactPass(SlicedPass):
    """Every move in double precision."""

    def __init__(
        self, device: Device, kernel: Kernel, neighborhood: Neighborhood, n: int, asked: Launch
    ) -> None:
        self.block = tuning.DESCENT_THREADS if asked.block is None else asked.block
        work = neighborhood.moves(n) // (4 if neighborhood is THREE_OPT else 1)
        double = tuning.MOVES_A_SLICE[neighborhood.name][1]
        rate = double * tuning.architecture(device.compute_capability).double_rate
        super().__init__(device, kernel, work, rate * device.multiprocessors, 256, asked)


class TriplesPass(SlicedPass):
    """3-opt in the plane (``three_opt_tiles.h``)."""

    candidates, precision, block = 4, SINGLE, tuning.DESCENT_THREADS

    def __init__(self, device: Device, kernel: Kernel, n: int, asked: Launch) -> None:
        groups, rest = divmod(n - 2, 32)
        work = 16 * groups * (groups + 1) + rest * (groups + 1)
        fast = tuning.MOVES_A_SLICE[THREE_OPT.name][0]
        piece = int(fast * device.multiprocessors / (32 * n / 3)) + 1
        super().__init__(device, kernel, work, piece, 1, asked)


class TilesPass(SlicedPass):
    """2-opt in the plane (``two_opt_tiles.h``, ``two_opt_squares.h``)."""

    precision, block = SINGLE, tuning.DESCENT_THREADS

    def __init__(self, device: Device, kernel: Kernel, n: int, *, squares: bool) -> None:
        self.tiles = tuning.SQUARES_TILES if squares else tuning.ROW_TILES
        self.candidates = self.tiles.rows_of_lane
        rows = self.tiles.rows
        warp_rows = (n - 2) // rows + 1
        work = warp_rows * (n - 1) - rows * (warp_rows * (warp_rows - 1) // 2)
        fast = tuning.MOVES_A_SLICE[TWO_OPT.name][0]
        super().__init__(device, kernel, work, fast * device.multiprocessors / rows, 4, Launch())

    @cached_property
    def _taken(self) -> DeviceArray:
        return self._device.zeros(1, np.uint64)

    def _more(self, units: int) -> tuple[DeviceArray | np.generic, ...]:
        self._taken.zero()
        least, most = self.tiles.min_columns, self.tiles.max_columns
        columns = max(least, min(most, units // (4 * self.blocks * (self.block // 32))))
        pieces = int(tuning.COARSE * units) // columns, columns, max(columns // 8, least // 2)
        return self._taken, *map(np.int32, pieces)


class ResidentPass(Pass):
    """Many passes of 2-opt in one launch, of a tour that fits into shared memory (``two_opt_resident.h``)."""

    precision, block = SINGLE, tuning.RESIDENT_THREADS

    def __init__(self, device: Device, kernel: Kernel, n: int, rows: int) -> None:
        self._device, self.kernel = device, kernel
        self.shared = 16 * (n + 1 + 64 * rows) + 4 * n
        moves, fast = TWO_OPT.moves(n), tuning.MOVES_A_SLICE[TWO_OPT.name][0]
        self.blocks = min(device.multiprocessors, max(1, moves // tuning.MOVES_OF_BLOCK))
        self._passes = max(1, min(1000, int(fast * device.multiprocessors / moves)))

    @property
    def fits(self) -> bool:
        """Whether the tour does."""
        return self.kernel.blocks_per_multiprocessor(self.block, self.shared) > 0

    @cached_property
    def _slots(self) -> DeviceArray:
        return self._device.empty(2 * self.blocks, np.uint64)

    def run(self, tour: np.void, city: DeviceArray, found: DeviceArray, token: _native.StopToken) -> int:
        """Descend until a move does not hold in double precision, or for some time."""
        self._slots.zero()
        more = np.int64(self._passes), self._slots
        self.kernel.launch(self.blocks, self.block, tour, city, *more, shared=self.shared, cooperative=True)
        return self.blocks

    def describe(self, moves: int) -> str:
        return (
            f"all passes in one launch of {self.blocks} blocks with {self.block} threads and {self.shared} "
            "bytes of shared memory for the whole tour"
        )
