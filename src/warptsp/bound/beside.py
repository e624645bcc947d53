"""The bound beside a run: how much of its time it may take, and whether it is worth it."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from warptsp._checks import checked_number, shown
from warptsp.errors import InvalidOption

from .held_karp import lower_bound

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from warptsp.problem import Problem

logger = logging.getLogger(__name__)

SHARE = 0.1
"""Of the time of a run, at most, if nobody asked for more."""
SECONDS_PER_CITY = 3e-5  # one thread; measured from 10 000 to a million cities (docs/performance/bounds.md)
SECONDS_PER_ENTRY = 3e-8  # of a matrix
WORTH = 0.4  # of the time that 100 iterations take: with less the bound is some per cent lower
MAX_CITIES = 2_000_000  # beyond which its memory, 400 bytes a city, is not taken unasked


def checked_bound(bound: object) -> float | str | None:
    """Return what `solve` was told of a bound: ``"auto"``, seconds, or None for none.

    Raises
    ------
    InvalidOption
    """
    if bound is None or bound is False:
        return None
    if isinstance(bound, str) and bound == "auto":
        return bound
    if isinstance(bound, (str, bool)):
        raise InvalidOption(f'bound: {shown(bound)} is not "auto", False or a number of seconds')
    return checked_number("bound", bound, minimum=0.0, what='"auto", False or a number of seconds')


def reserved_seconds(problem: Problem, bound: float | str | None, time_limit: float | None) -> float:
    """Return how much earlier the search ends, so that the bound keeps within the time limit.

    Raises
    ------
    InvalidOption
        The bound would leave no time for the search.
    """
    if bound is None or time_limit is None or problem.asymmetric:
        return 0.0
    if isinstance(bound, str):
        share, needed = 0.9 * SHARE * time_limit, _seconds_needed(problem)
        return 0.0 if share < WORTH * needed or problem.n > MAX_CITIES else min(share, 1.5 * needed)
    if bound >= time_limit:
        raise InvalidOption(
            f"bound: {bound:g} s of a time limit of {time_limit:g} s leave no time for the search"
        )
    return bound


def bound_beside(
    problem: Problem,
    tour: NDArray[np.int32],
    bound: float | str | None,
    *,
    spent: float,
    left: float | None,
    threads: int,
) -> int | float | None:
    """Return a lower bound after a search, or None where there is none.

    Parameters
    ----------
    problem : Problem
    tour : ndarray of int32, shape (n,)
        What the search has found.
    bound : "auto", float or None
        As `checked_bound` returns it.
    spent : float
        Seconds of the search.
    left : float or None
        Seconds of the time limit.
    threads : int
    """
    if bound is None or problem.asymmetric:
        return None
    seconds = SHARE * spent if isinstance(bound, str) else bound
    if left is not None:
        seconds = min(seconds, 0.95 * left)
    if isinstance(bound, str) and (
        problem.n > MAX_CITIES or seconds < WORTH * min(1.0, 2 / threads) * _seconds_needed(problem)
    ):
        return None
    try:
        found = lower_bound(problem, tour, time_limit=seconds, threads=threads)
    except MemoryError:
        logger.warning("there is not enough memory for a lower bound; bound=False does without")
        return None
    return found.value if found.certified else None


def _seconds_needed(problem: Problem) -> float:
    entries = 0 if problem.matrix is None else problem.n**2
    return SECONDS_PER_CITY * problem.n + SECONDS_PER_ENTRY * entries
