"""The lower bound after a search, in time that the search leaves to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from warptsp.bound.beside import bound_beside, checked_bound, reserved_seconds
from warptsp.stop import MaxRuntime

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from warptsp.problem import Problem
    from warptsp.run import Run
    from warptsp.stop import StoppingCriterion

__all__ = ["BoundPlan"]


@dataclass(frozen=True, slots=True)
class BoundPlan:
    """What `solve` was told of a bound.

    Attributes
    ----------
    bound : "auto", float or None
        As `checked_bound` returns it.
    time_limit : float or None
        Of the whole call, in seconds.
    reserved : float
        Seconds of the time limit that the search does not use.
    """

    bound: str | float | None
    time_limit: float | None
    reserved: float

    @classmethod
    def of(cls, bound: object, problem: Problem, limits: StoppingCriterion | None) -> BoundPlan:
        """Check what `solve` was given.

        Raises
        ------
        InvalidOption
        """
        wanted = checked_bound(bound)
        time_limit = None if limits is None else limits.limit().seconds
        return cls(wanted, time_limit, reserved_seconds(problem, wanted, time_limit))

    def limits_of_search(self, limits: StoppingCriterion | None) -> StoppingCriterion | None:
        """Return the limits of the search, which ends earlier if a bound follows."""
        if limits is None or self.time_limit is None or self.reserved == 0.0:
            return limits
        return limits | _UntilBound(self.time_limit, self.reserved)

    def after(self, run: Run, tour: NDArray[np.int32], length: int | float) -> int | float | None:
        """Return a lower bound beside the tour of a run: its own length if that is proved optimal."""
        if run.proved_optimal:
            return length
        spent = run.elapsed()
        left = None if self.time_limit is None else self.time_limit - spent
        return bound_beside(run.problem, tour, self.bound, spent=spent, left=left, threads=run.threads)


class _UntilBound(MaxRuntime):
    """What a time limit leaves to the search; messages name the whole limit."""

    def __init__(self, time_limit: float, reserved: float) -> None:
        super().__init__(time_limit - reserved)
        self._whole = MaxRuntime(time_limit)

    def __str__(self) -> str:
        return str(self._whole)
