"""What symmetrical 2-opt and annealing share: the start, the device, the reports and the end of a run."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from warptsp.backends.instance import SearchInstance
from warptsp.backends.symmetric import Circle, CpuSymmetricSearch, SymmetricSearch
from warptsp.construct import construct
from warptsp.errors import BackendUnavailable, DeviceFailure, DeviceOutOfMemory

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warptsp.problem import Problem
    from warptsp.run import Run

SLICE = 0.1  # seconds between two reports
CLOCK_CYCLES = 35  # of an iteration of the document's hardware


class SymmetricRun:
    """A run on one device: its tours on the circle, and what is reported of them.

    Attributes
    ----------
    circle : Circle
    search : SymmetricSearch
    """

    def __init__(self, run: Run, circle: Circle, search: SymmetricSearch) -> None:
        self.run = run
        self.circle = circle
        self.search = search

    def tour(self) -> NDArray[np.int32]:
        """The best tour of all chains as they are now."""
        lengths = self.search.lengths()
        return self.circle.tour(self.search.cities(int(np.argmin(lengths))))

    def report(self, phase: str) -> bool:
        """Report the best tour so far; True to stop."""
        run = self.run
        tour = self.tour()
        run.offer(tour)
        assert run.best is not None
        assert run.best_length is not None
        return run.update(
            length=run.best_length, kicks=0, tour=partial(np.copy, run.best), phase=phase, **self.counters()
        )

    def counters(self) -> dict[str, int | float]:
        """What was done; in the document's terms too."""
        counts = self.search.counters()
        steps = int(counts.pop("steps"))
        quiet = int(counts.pop("quiet"))
        size = len(self.circle.cities)
        if not self.circle.hardware:
            return {"rotations": steps, "passes": steps // size, **counts}
        # The document stops one iteration earlier, without another look at the segments of even length of the
        # last iteration that made a move; ours is made and not counted.
        iterations = steps // 2 - (quiet >= 2 * size)
        cycles = CLOCK_CYCLES * iterations
        return {"iterations": iterations, "clock_cycles": cycles, "passes": steps // (2 * size), **counts}

    def finish(self) -> None:
        """Hand over what there is."""
        self.run.offer(self.tour())

    def descend(self) -> None:
        """Go on to 2-optimal tours, or until the run says stop."""
        complete = stop = False
        while not (complete or stop):
            complete = self.search.descend(SLICE, self.run.token)
            stop = self.report("descent")


def run_symmetric(
    problem: Problem,
    run: Run,
    work: Callable[[SymmetricRun], None],
    *,
    hardware: bool = False,
    least_gain: float = 0.0,
    chains: int | None = 1,
    block: int | None = None,
) -> None:
    """Make the start tour, put it on the circle of the run's device, and let `work` shorten it.

    Parameters
    ----------
    chains : int or None
        None: as many as a GPU runs at once, one on the CPU.
    """
    given = run.start if isinstance(run.start, np.ndarray) else None
    run.enter("start tour")
    start = given
    if start is None:
        start = construct(problem, run.start, seed=run.seed, threads=run.threads, token=run.token)
    if start is None:
        return
    run.offer(start)
    instance = SearchInstance.build(problem, run.token)
    if instance is None or run.token.stopped():
        return
    if instance.size < 4:
        return  # every tour is the same
    circle = Circle.of(instance, start, hardware=hardware, least_gain=least_gain)
    if run.device != "cpu":
        from warptsp.backends.cuda.device import Device
        from warptsp.backends.cuda.symmetric import SYMMETRIC_SOURCE, CudaSymmetricSearch
        from warptsp.methods.kernels import kernels_are_there

        try:
            if not kernels_are_there(run, [SYMMETRIC_SOURCE]):
                return
            run.enter("GPU")
            with Device.open(int(run.device.partition(":")[2] or 0)) as device:
                search = CudaSymmetricSearch(device, circle, seed=run.seed, chains=chains, block=block)
                _work(work, SymmetricRun(run, circle, search))
                return
        except (BackendUnavailable, DeviceFailure, DeviceOutOfMemory) as error:
            run.use_cpu(error)
    cpu = CpuSymmetricSearch(circle, seed=run.seed, chains=chains or 1, threads=run.threads)
    _work(work, SymmetricRun(run, circle, cpu))


def _work(work: Callable[[SymmetricRun], None], symmetric: SymmetricRun) -> None:
    work(symmetric)
    symmetric.finish()
