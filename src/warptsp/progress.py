"""What a callback is told while a search runs. Drawing it is the caller's affair; nothing is printed here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class WorkerProgress:
    """What one worker of a cluster has done so far.

    Attributes
    ----------
    device : str
        Where its last task was searched.
    tasks, kicks : int
    seconds : float
        Total time during which it had tasks.
    """

    device: str
    tasks: int = 0
    kicks: int = 0
    seconds: float = 0.0

    def plus(self, kicks: int, seconds: float, device: str) -> WorkerProgress:
        """Return this and one more task."""
        return WorkerProgress(device, self.tasks + 1, self.kicks + kicks, self.seconds + seconds)


@dataclass(frozen=True, slots=True)
class Progress:
    """One progress event of a running search.

    Attributes
    ----------
    elapsed : float
        Seconds since ``solve`` was called.
    length : int or float
        Length of the best tour so far; infinite as long as it has missing arcs.
    kicks : int
        Kicks so far, of the method that runs.
    improved : bool
        Whether the best tour is shorter than at the last event.
    phase : str
        What the method is doing, such as ``"search"``.
    time_limit, kick_limit : float, int or None
        The end of the search, as far as it is known.
    known_length : int or float or None
        Optimal or best known length of the instance.
    counters : mapping of str to number
        The method's own figures.
    workers : mapping of str to WorkerProgress
        The workers of a cluster, by name; empty without one.
    device : str
        Where the search runs, such as ``"cpu"``, ``"cuda:0"`` or ``"cluster"``.
    start_length : int or float or None
        Length of the start tour, None while there is none.
    known_length_is_optimal : bool
        Whether the known length is proven to be the optimum.
    lower_bound : int or float or None
        The lower bound that the run has proved so far, if any; it rises as the search goes on.
    unit : str
        That of the lengths, ``"m"``, ``"km"`` or ``"s"``; empty if it is unknown.
    tour : callable
        ``tour()`` returns the best tour so far, 0-based city numbers, as an int32 array of its own.
    """

    elapsed: float
    length: int | float
    kicks: int
    improved: bool
    phase: str
    time_limit: float | None
    kick_limit: int | None
    known_length: int | float | None
    counters: Mapping[str, int | float]
    tour: Callable[[], NDArray[np.int32]]
    workers: Mapping[str, WorkerProgress] = field(default_factory=dict)
    device: str = "cpu"
    start_length: int | float | None = None
    known_length_is_optimal: bool = False
    lower_bound: int | float | None = None
    unit: str = ""

    @property
    def remaining(self) -> float | None:
        """Seconds left, or None without a time limit."""
        return None if self.time_limit is None else max(0.0, self.time_limit - self.elapsed)

    @property
    def gap(self) -> float | None:
        """Length over the known length, minus 1; None if that is not known."""
        return relative_gap(self.length, self.known_length)

    @property
    def bound_gap(self) -> float | None:
        """Length over the lower bound, minus 1: the tour is at most this much longer than the shortest.

        None without a bound.
        """
        return relative_gap(self.length, self.lower_bound)


def relative_gap(length: int | float, known: int | float | None) -> float | None:
    """Return ``length / known - 1``, or None if nothing is known, or if 0 is known and this is more.

    It is 0 for equal lengths only: nearly equal ones have an exact difference.
    """
    if known is None:
        return None
    if known == 0:
        return 0.0 if length == 0 else None
    return (length - known) / known


def in_percent(gap: float | None) -> float | None:
    """Return a gap in per cent, or None if there is none."""
    return None if gap is None else 100.0 * gap
