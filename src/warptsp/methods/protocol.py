"""What a run is to a method: `warptsp.run.Run`, or one that stands between a method and that.

Every method is typed against `Run`, so that nothing can stand in for a run that lacks what a method calls.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol

from warptsp.errors import WarpTSPError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    import warptsp._native as _native
    from warptsp.machine import Devices
    from warptsp.problem import Problem
    from warptsp.progress import WorkerProgress

__all__ = ["ForwardingRun", "Run", "RunFrom", "best_of"]


class Run(Protocol):
    """What a method may ask of a run, and tell it; `warptsp.run.Run` says what each of it means."""

    @property
    def problem(self) -> Problem:
        """The instance, as the method sees it."""

    @property
    def seed(self) -> int:
        """Of the random numbers."""

    @property
    def threads(self) -> int:
        """Threads of the CPU."""

    @property
    def device(self) -> Devices:
        """Where the search is."""

    @property
    def may_use_cpu(self) -> bool:
        """Whether the GPU was chosen for the user."""

    @property
    def start(self) -> str | NDArray[np.int32]:
        """A construction, or a tour to begin with."""

    @property
    def given(self) -> Sequence[NDArray[np.int32]]:
        """Tours that `start` was merged of."""

    @property
    def token(self) -> _native.StopToken:
        """What native code polls."""

    @property
    def time_limit(self) -> float | None:
        """Seconds to plan for, None if unknown."""

    @property
    def kick_limit(self) -> int | None:
        """Kicks to plan for, None if unknown."""

    @property
    def may_end_early(self) -> bool:
        """Whether the method may end when what is left to gain is unlikely."""

    @property
    def best(self) -> NDArray[np.int32] | None:
        """The best tour that was offered."""

    @property
    def best_length(self) -> int | float | None:
        """Its length."""

    @property
    def counters(self) -> Mapping[str, int | float]:
        """Figures of the method, for the result."""

    @property
    def workers(self) -> Mapping[str, WorkerProgress]:
        """What workers of a cluster do."""

    @property
    def stop_reason(self) -> str | None:
        """Why the search ends, None while it goes on."""

    @property
    def interrupted(self) -> bool:
        """Whether nothing shall follow."""

    def elapsed(self) -> float:
        """Seconds since ``solve`` was called."""

    def remaining(self) -> float | None:
        """Seconds until the method must have returned, None without a time limit."""

    def expect(self, tour: NDArray[np.int32] | None, seconds: float = 0.0) -> None:
        """Say what there would be to hand over if the token stopped the method from now on."""

    def enter(self, phase: str) -> None:
        """Say what comes next."""

    def use_cpu(self, error: WarpTSPError) -> None:
        """Continue on the CPU, because of this error of the GPU."""

    def repeating(
        self, length: int | float, tour: Callable[[], NDArray[np.int32]], phase: str
    ) -> AbstractContextManager[None]:
        """Report this tour now and then while native code that is given the token works."""

    def update(
        self,
        *,
        length: int | float,
        kicks: int,
        tour: Callable[[], NDArray[np.int32]],
        phase: str = "search",
        **counters: int | float,
    ) -> bool:
        """Report the state of the search; returns True when the method should stop now."""

    def offer(self, tour: NDArray[np.int32], *, copy: bool = True) -> None:
        """Keep a tour if it is shorter than the best so far."""

    def save(self) -> None:
        """Write the best tour to the checkpoint now."""

    def report_device(self, device: Devices) -> None:
        """Say where the search is from now on."""

    def report_counters(self, **counters: int | float) -> None:
        """Report figures of the method apart from `update`."""

    def start_over(self, **counters: int | float) -> None:
        """Say that another search begins, and that these are the only figures kept of the one before."""

    def report_worker(self, name: str, progress: WorkerProgress) -> None:
        """Report what a worker of a cluster has done so far."""

    def limit_kicks(self, kicks: int) -> None:
        """Plan for this number of kicks."""

    def report_limit(self, reason: str) -> None:
        """Say that the method ends because it has done as much as it was asked to do: `limit_of`."""

    def report_bound(self, bound: int | float) -> None:
        """Say that no tour is shorter than this."""

    def report_optimal(self) -> None:
        """Say that no tour is shorter than the best one that was offered."""


def best_of(run: Run) -> tuple[NDArray[np.int32], int | float]:
    """Return the best tour that was offered, and its length; for methods that have offered one."""
    tour, length = run.best, run.best_length
    if tour is None or length is None:
        raise WarpTSPError("the method has offered no tour, which is a bug; please report it")
    return tour, length


class ForwardingRun:
    """A run that passes everything on to another one, for those that change some of it.

    Parameters
    ----------
    run : Run
    """

    def __init__(self, run: Run) -> None:
        self._run = run

    @property
    def device(self) -> Devices:
        """Where the search is."""
        return self._run.device

    @property
    def stop_reason(self) -> str | None:
        """Why the search ends."""
        return self._run.stop_reason

    @property
    def problem(self) -> Problem:
        """The instance."""
        return self._run.problem

    @property
    def seed(self) -> int:
        """Of the random numbers."""
        return self._run.seed

    @property
    def threads(self) -> int:
        """Threads of the CPU."""
        return self._run.threads

    @property
    def may_use_cpu(self) -> bool:
        """Whether the GPU was chosen for the user."""
        return self._run.may_use_cpu

    @property
    def start(self) -> str | NDArray[np.int32]:
        """A construction, or a tour to begin with."""
        return self._run.start

    @property
    def given(self) -> Sequence[NDArray[np.int32]]:
        """Tours that `start` was merged of."""
        return self._run.given

    @property
    def token(self) -> _native.StopToken:
        """What native code polls."""
        return self._run.token

    @property
    def time_limit(self) -> float | None:
        """Seconds to plan for."""
        return self._run.time_limit

    @property
    def kick_limit(self) -> int | None:
        """Kicks to plan for."""
        return self._run.kick_limit

    @property
    def may_end_early(self) -> bool:
        """Whether the method may end when what is left to gain is unlikely."""
        return self._run.may_end_early

    @property
    def best(self) -> NDArray[np.int32] | None:
        """The best tour so far."""
        return self._run.best

    @property
    def best_length(self) -> int | float | None:
        """Its length."""
        return self._run.best_length

    @property
    def counters(self) -> Mapping[str, int | float]:
        """Figures of the method."""
        return self._run.counters

    @property
    def workers(self) -> Mapping[str, WorkerProgress]:
        """What workers of a cluster do."""
        return self._run.workers

    @property
    def interrupted(self) -> bool:
        """Whether nothing shall follow."""
        return self._run.interrupted

    def elapsed(self) -> float:
        """Seconds since ``solve`` was called."""
        return self._run.elapsed()

    def remaining(self) -> float | None:
        """Seconds until the method must have returned."""
        return self._run.remaining()

    def expect(self, tour: NDArray[np.int32] | None, seconds: float = 0.0) -> None:
        """Say what there would be to hand over."""
        self._run.expect(tour, seconds)

    def enter(self, phase: str) -> None:
        """Say what comes next."""
        self._run.enter(phase)

    def use_cpu(self, error: WarpTSPError) -> None:
        """Continue on the CPU."""
        self._run.use_cpu(error)

    def repeating(
        self, length: int | float, tour: Callable[[], NDArray[np.int32]], phase: str
    ) -> AbstractContextManager[None]:
        """Report this tour now and then."""
        return self._run.repeating(length, tour, phase)

    def update(
        self,
        *,
        length: int | float,
        kicks: int,
        tour: Callable[[], NDArray[np.int32]],
        phase: str = "search",
        **counters: int | float,
    ) -> bool:
        """Report the state of the search."""
        return self._run.update(length=length, kicks=kicks, tour=tour, phase=phase, **counters)

    def offer(self, tour: NDArray[np.int32], *, copy: bool = True) -> None:
        """Keep a tour if it is shorter than the best so far."""
        self._run.offer(tour, copy=copy)

    def save(self) -> None:
        """Write the best tour to the checkpoint now."""
        self._run.save()

    def report_device(self, device: Devices) -> None:
        """Say where the search is from now on."""
        self._run.report_device(device)

    def report_counters(self, **counters: int | float) -> None:
        """Report figures of the method."""
        self._run.report_counters(**counters)

    def start_over(self, **counters: int | float) -> None:
        """Say that another search begins."""
        self._run.start_over(**counters)

    def report_worker(self, name: str, progress: WorkerProgress) -> None:
        """Report what a worker of a cluster has done so far."""
        self._run.report_worker(name, progress)

    def limit_kicks(self, kicks: int) -> None:
        """Plan for this number of kicks."""
        self._run.limit_kicks(kicks)

    def report_limit(self, reason: str) -> None:
        """Say that the method has done as much as it was asked to do."""
        self._run.report_limit(reason)

    def report_bound(self, bound: int | float) -> None:
        """Say that no tour is shorter than this."""
        self._run.report_bound(bound)

    def report_optimal(self) -> None:
        """Say that no tour is shorter than the best one."""
        self._run.report_optimal()


class RunFrom(ForwardingRun):
    """A run that begins with a tour.

    Parameters
    ----------
    run : Run
    start : ndarray of int32, shape (n,)
    """

    def __init__(self, run: Run, start: NDArray[np.int32]) -> None:
        super().__init__(run)
        self._start = start

    @property
    def start(self) -> NDArray[np.int32]:
        """The tour to begin with."""
        return self._start
