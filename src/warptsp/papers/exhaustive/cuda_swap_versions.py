"""Swaps on a GPU as the versions of a tutorial have them, for studies (``swap_versions.cu``).

A. R. Brodtkorb, T. R. Hagen, C. Schulz and G. Hasle, "GPU computing in discrete optimization. Part I",
EURO J. Transp. Logist. 2 (2013), appendix A.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from warptsp.backends.cuda import tuning
from warptsp.errors import UnsupportedProblem

if TYPE_CHECKING:
    from warptsp.backends.cuda.device import Device, DeviceArray, Kernel
    from warptsp.papers.exhaustive.cuda_plan import Launch

FIRST_BLOCK, FIRST_GRID = 128, 64  # the document's first version
BLOCK = 192  # of those that fill the chip
CACHE_FROM = 3  # the first version that asks for level 1 cache in place of shared memory
# Cities up to which roots in single precision turn numbers into pairs (move_numbers.h).
MAX_BY_ROOT, MAX_BY_STABLE_ROOT, STABLE, FOLDED = 4098, 5794, 7, 8


def check_size(version: int, n: int) -> None:
    """Check that a version finds the pairs of all moves.

    Raises
    ------
    UnsupportedProblem
        If there are too many.
    """
    most = MAX_BY_STABLE_ROOT if version == STABLE else MAX_BY_ROOT
    if version < FOLDED and n > most:
        raise UnsupportedProblem(
            f"method swap: version {version} turns numbers of moves into pairs in single precision, which "
            f"goes wrong above {most} cities, and there are {n}; use version {FOLDED}"
        )


class SwapVersion:
    """The pass of one version.

    Attributes
    ----------
    version, grid, block : int
    evaluate : Kernel
    occupancy : float
        Threads on the chip at once while moves are evaluated, as a share of the most that it can hold.
    """

    def __init__(self, device: Device, n: int, asked: Launch, evaluate: Kernel, reduce: Kernel) -> None:
        version = asked.version or FOLDED
        check_size(version, n)
        self.version = version
        self.evaluate, self._reduce = evaluate, reduce
        evaluate.prefer_shared(0 if version >= CACHE_FROM else 100)
        first = version == 1
        self.block = asked.block or (FIRST_BLOCK if first else BLOCK)
        resident = device.multiprocessors * evaluate.blocks_per_multiprocessor(self.block)
        self.grid = asked.grid or (FIRST_GRID if first else resident)
        at_once = min(self.grid, resident) * self.block
        self.occupancy = at_once / (device.multiprocessors * device.threads_per_multiprocessor)
        self._found = device.empty((self.grid * self.block, 2), np.uint64)

    def run(self, tour: np.void, city: DeviceArray, result: DeviceArray) -> None:
        """Evaluate all moves, and leave the best in `result`."""
        self.evaluate.launch(self.grid, self.block, tour, city, self._found)
        count = np.int32(self.grid * self.block)
        self._reduce.launch(1, tuning.REDUCTION_THREADS, tour, self._found, count, result)
