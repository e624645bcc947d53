"""2-opt on a GPU that skips stretches between which no move gains (``descent_pruned.cu``)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from warptsp.backends.cuda import tuning

if TYPE_CHECKING:
    import warptsp._native as _native
    from warptsp.backends.cuda.device import Device, DeviceArray, Kernel


class PrunedPass:
    """The pass, and what it needs beside the tour.

    Parameters
    ----------
    device : Device
    n : int
        Cities.
    measure, evaluate : Kernel
        Those of descent_pruned.cu.

    Attributes
    ----------
    stretches : int
    max_blocks : int
        That an evaluation has at most.
    evaluate : Kernel
    """

    def __init__(self, device: Device, n: int, measure: Kernel, evaluate: Kernel) -> None:
        self._device = device
        self._measure, self.evaluate = measure, evaluate
        self.stretches = math.ceil(n / tuning.STRETCH)
        self.max_blocks = device.multiprocessors * evaluate.blocks_per_multiprocessor(tuning.DESCENT_THREADS)
        self._boxes = device.empty((self.stretches, 5), np.float32)
        self._gain = device.zeros(1, np.uint32)
        self._evaluated = device.zeros(1, np.uint64)

    def run(self, tour: np.void, found: DeviceArray, token: _native.StopToken) -> int:
        """Evaluate what is not skipped; returns the blocks that did, 0 if the token stopped it."""
        device, threads = self._device, tuning.DESCENT_THREADS
        units = self.stretches * math.ceil(self.stretches / tuning.STRETCHES_A_UNIT)
        moves_a_unit = tuning.STRETCH**2 * tuning.STRETCHES_A_UNIT
        piece = int(tuning.PRUNED_A_SLICE * device.multiprocessors / moves_a_unit)
        blocks = min(self.max_blocks, math.ceil(units / (threads // 32)))
        measured = math.ceil(self.stretches / (threads // 32))
        self._measure.launch(measured, threads, tour, self._boxes, self._gain)
        for first in range(0, units, piece):
            if first and token.stopped():
                return 0
            ends = np.int64(first), np.int64(min(first + piece, units)), np.int32(tuning.STRETCHES_A_UNIT)
            more = np.int32(first == 0), found, self._gain, self._evaluated
            self.evaluate.launch(blocks, threads, tour, self._boxes, *ends, *more)
            if piece < units:
                device.synchronize()
        return blocks

    def evaluated(self) -> int:
        """Return the moves evaluated in all passes; waits."""
        return int(self._evaluated.download()[0])
