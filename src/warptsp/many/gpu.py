"""Batches of small problems on a GPU, which some threads of the host hand over in turn."""

from __future__ import annotations

import queue
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from warptsp.backends.cuda import tuning
from warptsp.errors import UnsupportedProblem
from warptsp.machine import name_of, ordinals

if TYPE_CHECKING:
    from numpy.typing import NDArray

    import warptsp._native as _native
    from warptsp.backends.cuda.device import Device
    from warptsp.problem import Metric


class BatchGpu:
    """A GPU that searches blocks of problems; several threads may use it, each of them in turn."""

    def __init__(self, ordinal: int, devices: list[Device]) -> None:
        self.name = name_of([ordinal])
        self._free: queue.SimpleQueue[Device] = queue.SimpleQueue()
        for device in devices:
            self._free.put(device)

    @classmethod
    @contextmanager
    def open(cls, device: str) -> Iterator[BatchGpu]:
        """Take a GPU into use.

        Raises `InvalidOption` for anything that is no device; `UnsupportedProblem` for several GPUs;
        `BackendUnavailable` if the GPU cannot be used: what is missing, and what to do.
        """
        wanted = ordinals(device)
        if len(wanted) > 1:
            raise UnsupportedProblem(
                f"device {device}: many problems are searched on one GPU; name one, as in cuda:{wanted[0]}"
            )
        from warptsp.backends.cuda.device import Device as Gpu

        with ExitStack() as opened:
            devices = [opened.enter_context(Gpu.open(wanted[0])) for _ in range(tuning.BATCH_DEVICES)]
            yield cls(wanted[0], devices)

    def search(
        self, rows: NDArray[Any], metric: Metric, token: _native.StopToken, **options: Any
    ) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.float64], NDArray[np.int32]]:
        """Search problems of one size, as `backends.cuda.batch.search_problems` does."""
        from warptsp.backends.cuda.batch import search_problems

        device = self._free.get()
        try:
            given: NDArray[Any] = rows.astype(np.float64 if metric.has_coordinates else np.float32)
            return search_problems(device, given, metric, token=token, **options)
        finally:
            self._free.put(device)
