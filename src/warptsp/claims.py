"""The gate for claims: what leaves the package as proved passes here, and is checked by other means.

A claim is a lower bound of all tours, which for an optimal tour is its own length, or that there is no tour.
What makes one has its own arithmetic: whole numbers, or doubles less what rounding may have added. Here a
bound is held against the exact length of the tour, and, of a few cities, against all tours, in the numbers
of the instance. What does not hold is a bug, which costs the claim and never the tour.

Where lengths are real, a claim is one to twelve digits: "optimal" says that no tour is shorter by more than
`SHARE`, and a bound is below the length by that share at least, since both are rounded.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

import warptsp._native as _native
from warptsp._words import counted
from warptsp.errors import NoTourFound
from warptsp.few import STEPS, SUMS, FewCities
from warptsp.interruption import delivered
from warptsp.progress import relative_gap

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warptsp.problem import Problem

logger = logging.getLogger(__name__)

SHARE = 1e-12
"""Of a real length: what a proof does not exclude."""
ROUNDING = 1e-9  # of a real bound: by so much it may be above a length that is rounded, too
FEW = 10  # cities, with one for the ends of a path, whose tours are compared: 20 us of a call of 200
FEW_OF_MANY = 6  # of a call for many problems, each of which takes some us
MOST = 16  # where there is said to be no tour: 10 ms


class _Claiming(Protocol):
    """What a search or a proof returns."""

    @property
    def tour(self) -> NDArray[np.int32]: ...
    @property
    def lower_bound(self) -> int | float | None: ...
    @property
    def signal(self) -> int | None: ...

    def without_claims(self) -> object:
        """Return the same, with nothing said of lengths."""


_T = TypeVar("_T", bound=_Claiming)


def bound_of_optimal(length: int | float) -> int | float:
    """Return the lower bound that an optimal tour of this length is, on the safe side of rounding."""
    return length if isinstance(length, int) else length * (1.0 - SHARE)


def bound_gap(length: int | float, bound: int | float | None) -> float | None:
    """Return by how much a tour can be longer than the shortest, as a fraction; None if no bound tells."""
    optimal = bound is not None and bound >= bound_of_optimal(length)
    return 0.0 if optimal else relative_gap(length, bound)


def confirmed_bound(problem: Problem, length: int | float, bound: int | float | None) -> int | float | None:
    """Return a lower bound as it leaves the package; None if there is none, or if it does not hold.

    The length is the exact one of a tour, and the bound is said to be no longer than any tour.
    """
    if bound is None:
        return None
    if problem.integral:
        holds = bound <= length
    else:
        holds = bound <= length * (1.0 + ROUNDING)
        bound = min(float(bound), bound_of_optimal(float(length)))
    if holds and bound > 0 and problem.n + (problem.open is not None) <= FEW:
        holds = not FewCities.of(problem).has_shorter(bound)
    if holds:
        return bound
    _withdraw(f"a lower bound of {bound!r}, where a tour of {problem.n} cities is {length!r} long or shorter")
    return None


def is_confirmed(problem: Problem, length: int | float) -> bool:
    """Whether a tour of this exact length may be said to be optimal."""
    return confirmed_bound(problem, length, bound_of_optimal(length)) is not None


def are_confirmed(
    distances: NDArray[np.int64] | NDArray[np.float64], lengths: list[int | float]
) -> NDArray[np.bool_]:
    """Whether closed tours of many small matrices, shape (m, n, n), may be said to be optimal."""
    if distances.shape[1] > FEW_OF_MANY:
        return np.ones(len(distances), dtype=np.bool_)
    bounds: Any = np.array(lengths, dtype=distances.dtype)
    if distances.dtype != np.int64:
        bounds *= 1.0 - SHARE - SUMS
    hold = np.asarray(_native.shorter_tours(distances, bounds, STEPS) == 0)
    for number in np.flatnonzero(~hold).tolist():
        _withdraw(f"a tour of length {lengths[number]!r} as an optimal one, where there is a shorter one")
    return hold


def check_is_tour(problem: Problem, found: _Claiming, cure: str = "more time may help") -> None:
    """Accept the best tour of a search or a proof if it has no missing arc.

    Raises `NoTourFound`: it has one; in its attribute ``result`` is the result, which claims nothing. `cure`
    is what may find one without.
    """
    if problem.wall is None or not len(missing := problem.missing_arcs(found.tour)):
        return
    tail, head = (problem.label(city) for city in missing[0].tolist())
    number = counted(len(missing), "arc is", "arcs are")
    best = f"{number} missing from the best tour, such as the one from {tail} to {head}"
    if _no_tour(problem, problem.wall, found.lower_bound):
        error = NoTourFound(f"no tour goes without missing arcs, which is proved: {best}", proved=True)
    else:
        error = NoTourFound(
            f"no tour without missing arcs was found, though there may be one: {best}; {cure}",
            proved=False,
        )
    error.result = found.without_claims()  # type: ignore[attr-defined]
    raise error


def delivered_tour(problem: Problem, found: _T, on_interrupt: str | None, *cure: str) -> _T:
    """Return what a search or a proof has come to, as `interruption.delivered` does.

    Raises `NoTourFound` as `check_is_tour` does, unless a signal is raised.
    """
    try:
        check_is_tour(problem, found, *cure)
    except NoTourFound as error:
        delivered(error.result, found.signal, on_interrupt)  # type: ignore[attr-defined]
        raise
    return delivered(found, found.signal, on_interrupt)


def _no_tour(problem: Problem, wall: int | float, bound: int | float | None) -> bool:
    """Whether it may be said that there is no tour without a missing arc, as a lower bound says it."""
    # Of reals, a wall is more than twice as long as any tour without a missing arc.
    if bound is None or bound < (wall if problem.integral else wall * (1 - 1e-6)):
        return False
    if problem.n <= MOST and FewCities.of(problem).has_shorter(wall):
        _withdraw(f"that {problem.n} cities have no tour, where there is one")
        return False
    return True


def _withdraw(claim: str) -> None:
    logger.warning("a claim was withdrawn, which is a bug; please report it: %s", claim)
