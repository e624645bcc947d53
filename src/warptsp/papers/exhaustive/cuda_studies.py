"""Passes for studies of launches: 2-opt as document 000 has it (``descent_mapped.cu``), and swaps as the
versions of a tutorial have them (``swap_versions.cu``).

A. R. Brodtkorb, T. R. Hagen, C. Schulz and G. Hasle, "GPU computing in discrete optimization. Part I",
EURO J. Transp. Logist. 2 (2013), appendix A.
"""

from __future__ import annotations

import math
from functools import cached_property
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING

import numpy as np

from warptsp.errors import UnsupportedProblem
from warptsp.papers.exhaustive import cuda_tuning as tuning
from warptsp.papers.exhaustive.cuda_passes import SINGLE, Pass
from warptsp.papers.exhaustive.neighborhood import SWAP, TWO_OPT, Launch

if TYPE_CHECKING:
    import warptsp._native as _native
    from warptsp.backends.cuda.device import Device, DeviceArray, Kernel

_SHARED_TO_SPARE = 2048  # bytes
FIRST_BLOCK, FIRST_GRID = 128, 64  # the document's first version
BLOCK = 192  # of those that fill the chip
CACHE_FROM = 3  # the first version that asks for level 1 cache in place of shared memory
# Cities up to which roots in single precision turn numbers into pairs (move_numbers.h).
MAX_BY_ROOT, MAX_BY_STABLE_ROOT, STABLE, FOLDED = 4098, 5794, 7, 8


def check_size(version: int, n: int) -> None:
    """Raise UnsupportedProblem where a version does not find the pairs of all moves."""
    most = MAX_BY_STABLE_ROOT if version == STABLE else MAX_BY_ROOT
    if version < FOLDED and n > most:
        raise UnsupportedProblem(
            f"method swap: version {version} turns numbers of moves into pairs in single precision, which "
            f"goes wrong above {most} cities, and there are {n}; use version {FOLDED}"
        )


class RangesPass(Pass):
    """2-opt by the numbers of moves, for studies of launches (``descent_mapped.cu``)."""

    precision = SINGLE

    def __init__(self, device: Device, kernel: Kernel, n: int, asked: Launch) -> None:
        self.kernel, self._n = kernel, n
        most = device.shared_memory_per_block - _SHARED_TO_SPARE
        self.shared = (8 if asked.tour_order else 10) * (n + 1)
        fits = self.shared <= most
        if not fits and not asked.tour_order:
            raise UnsupportedProblem(
                "method two-opt: tour_order belongs to a kernel that has the whole tour in shared "
                f"memory: this GPU holds at most {most // 10 - 1} cities, not {n}; leave it out"
            )
        largest = most // 16 - 1
        self._range = asked.range_size or (n if fits else largest)
        if asked.range_size is not None and self._range > largest:
            raise UnsupportedProblem(
                f"method two-opt: range_size: this GPU's shared memory holds two ranges of at most {largest} "
                f"cities, not of {self._range}; give a smaller one, or leave it out"
            )
        moves = TWO_OPT.moves(n)
        if self._range < n:
            self.shared, moves = 16 * (self._range + 1), self._range**2
        self._range = min(self._range, n)
        self.launches = math.comb(math.ceil(n / self._range) + 1, 2)
        self.block = asked.block or tuning.MAPPED_THREADS
        resident = kernel.blocks_per_multiprocessor(self.block, self.shared)
        self.blocks = asked.blocks_for(moves, self.block) or resident * device.multiprocessors

    def run(self, tour: np.void, city: DeviceArray, found: DeviceArray, token: _native.StopToken) -> int:
        """Evaluate one pair of ranges after the other; returns the blocks, 0 if the token stopped it."""
        for a, b in combinations_with_replacement(range(0, self._n, self._range), 2):
            if (a, b) != (0, 0) and token.stopped():
                return 0
            ranges = (np.int32(value) for value in (a, b, self._range, (a, b) == (0, 0)))
            self.kernel.launch(self.blocks, self.block, tour, city, *ranges, found, shared=self.shared)
        return self.blocks


class VersionPass(Pass):
    """Swaps as one version evaluates them."""

    blocks = 1  # which has the best move of all; `grid` of them evaluate

    def __init__(self, device: Device, n: int, asked: Launch, evaluate: Kernel, reduce: Kernel) -> None:
        version = asked.version or FOLDED
        check_size(version, n)
        self._device, self._version = device, version
        self.kernel, self._reduce = evaluate, reduce
        evaluate.prefer_shared(0 if version >= CACHE_FROM else 100)
        first = version == 1
        self.block = asked.block or (FIRST_BLOCK if first else BLOCK)
        resident = device.multiprocessors * evaluate.blocks_per_multiprocessor(self.block)
        planned = FIRST_GRID if first else resident
        self.grid = asked.blocks_for(SWAP.moves(n), self.block) or planned
        at_once = min(self.grid, resident) * self.block
        # Threads on the chip at once while moves are evaluated, as a share of the most that it can hold.
        self.occupancy = at_once / (device.multiprocessors * device.threads_per_multiprocessor)

    @cached_property
    def _best(self) -> DeviceArray:
        return self._device.empty((self.grid * self.block, 2), np.uint64)

    def run(self, tour: np.void, city: DeviceArray, found: DeviceArray, token: _native.StopToken) -> int:
        """Evaluate all moves, and leave the best one."""
        self.kernel.launch(self.grid, self.block, tour, city, self._best)
        count = np.int32(self.grid * self.block)
        self._reduce.launch(1, tuning.REDUCTION_THREADS, tour, self._best, count, found)
        return self.blocks

    def describe(self, moves: int) -> str:
        spread = f"a pass of {moves} moves in {self.grid} blocks with {self.block} threads"
        return f"version {self._version}: {spread}"
