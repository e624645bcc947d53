"""What is said of a best tour through missing arcs: that there is no other one, or that none was found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from warptsp.claims import no_tour
from warptsp.errors import NoTourFound

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from warptsp.problem import Problem

__all__ = ["check_is_tour"]


class _Claiming(Protocol):
    """What a search or a proof returns."""

    def without_claims(self) -> object:
        """Return the same, with nothing said of lengths."""


def check_is_tour(
    problem: Problem, tour: NDArray[np.int32], lower_bound: int | float | None, result: _Claiming
) -> None:
    """Accept the best tour of a search or a proof if it has no missing arc.

    Raises
    ------
    NoTourFound
        It has one; in its attribute ``result`` is the result, which claims nothing.
    """
    if problem.wall is None or not len(missing := problem.missing_arcs(tour)):
        return
    tail, head = (problem.label(city) for city in missing[0].tolist())
    words = "arcs are" if len(missing) > 1 else "arc is"
    best = f"{len(missing)} {words} missing from the best tour, such as the one from {tail} to {head}"
    if no_tour(problem, lower_bound):
        error = NoTourFound(f"no tour goes without missing arcs, which is proved: {best}", proved=True)
    else:
        error = NoTourFound(
            f"no tour without missing arcs was found, though there may be one: {best}; more time may help",
            proved=False,
        )
    error.result = result.without_claims()  # type: ignore[attr-defined]
    raise error
