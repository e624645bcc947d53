"""One chain of whole passes on a GPU: every block has the tour, and a pass over all cities is shared by them.

``run_passes`` of ``neighbor.cu``. A pass, its move, and what follows from it, kicks as well, need
no word from the host: the tours are those of the CPU, pass by pass.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from warptsp.backends.cuda import records, tuning
from warptsp.backends.cuda.compiler import Source
from warptsp.papers.neighbor_lists.cuda import BYTES_OF_TOUR, NeighborSearch, defines_of, scaled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warptsp.backends.cuda.device import Device
    from warptsp.backends.instance import SearchInstance
    from warptsp.problem import Problem

KERNELS = ("measure_lists", "run_passes<{three}>")


def kernel_sources(problem: Problem, *, three: bool, next_only: bool) -> list[Source]:
    """Return what is compiled for a problem and these moves."""
    names = tuple(name.format(three=str(three).lower()) for name in KERNELS)
    return [Source("neighbor.cu", names, defines_of(problem, next_only=next_only), fmad=False)]


class PassSearch(NeighborSearch):
    """As `NeighborSearch`, for one chain, whose passes all have the best improvement of all cities."""

    def __init__(
        self,
        device: Device,
        instance: SearchInstance,
        neighbors: NDArray[np.int32],
        tour: NDArray[np.int32],
        length: float,
        *,
        three: bool,
        next_only: bool,
        block: int | None,
    ) -> None:
        blocks = min(device.multiprocessors, math.ceil(len(neighbors) / tuning.CITIES_A_BLOCK))
        super().__init__(
            device,
            instance,
            neighbors,
            tour,
            length,
            three=three,
            next_only=next_only,
            chains=blocks,
            block=block,
            sources=kernel_sources(instance.problem, three=three, next_only=next_only),
        )
        self._words = device.empty(2 * tuning.MOVE_WORDS * blocks, np.uint64)
        self._copy_first()

    def counters(self) -> dict[str, int | float]:
        """What was done, by name."""
        states = self._states
        return {
            "passes": self._passes_made(),
            "evaluations": int(states["evaluations"].sum()),
            "moves": int(states["moves"][0]),
            "kicks": int(states["kicks"][0]),
            "kicks_accepted": int(states["accepted"][0]),
            "kernel_seconds": self.kernel_seconds,
        }

    def descend(self, *, best: bool, many: bool, passes: int, seconds: float) -> bool:
        """Passes for about so many seconds; True at a local optimum, or after so many of them."""
        if not best or many:
            raise NotImplementedError("passes that make other moves than the best one")
        before, moves = self._passes_made(), int(self._states["moves"][0])
        batch = self._passes if passes < 0 else min(self._passes, passes - before)
        if batch <= 0:
            return True
        taken = self._run_passes(records.KICKS(), last=0, passes=batch)
        self._passes = scaled(self._passes, taken, seconds)
        done = self._passes_made()
        return int(self._states["moves"][0]) - moves < done - before or done == passes

    def return_to_best(self) -> None:
        """Let the next descent begin with the best tour."""
        super().return_to_best()
        self._copy_first()

    def _run_kicks(self, plan: np.void, *, last: int) -> float:
        return self._run_passes(plan, last=last, passes=0)

    def _run_passes(self, plan: np.void, *, last: int, passes: int) -> float:
        beside = 2 * tuning.MAX_PAIRS + 4 * tuning.MAX_THIRDS + 64
        shared = self._shared(BYTES_OF_TOUR, beside)
        record = records.CHAINS(
            **self._tours, state=self._device_states, capacity=self.size, inside=shared > beside
        )
        self._words.zero()
        with self.device.timer() as timer:
            self._kernel("run_passes", templated=True).launch(
                self.chains,
                self.block or tuning.CHAIN_THREADS,
                self._instance,
                record,
                plan,
                np.int64(last),
                np.int64(passes),
                self._words,
                shared=shared,
                cooperative=True,
            )
        self.kernel_seconds += timer.seconds
        self._states = self._device_states.download()
        return timer.seconds

    def _passes_made(self) -> int:
        return int(self._states["examined"].sum()) // self.size
