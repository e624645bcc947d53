"""The optimal tour of a few cities (`native/small/`).

Closed tours of symmetric distances by branch and bound on 1-trees; all others, and those with which that
would take long, by dynamic programming over sets of cities. In the numbers of the instance, however large
and different they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from warptsp.few import FewCities
from warptsp.methods.method import Method, NoParams

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    import warptsp._native as _native
    from warptsp.methods.protocol import Run
    from warptsp.problem import Problem

MAX_CITIES = 16
INSTANT_CITIES = 12  # up to here it takes less than a millisecond, which no limit is short for


def run(problem: Problem, run: Run, params: NoParams) -> None:
    """Find an optimal tour, or path, that has all fixed edges."""
    prove(problem, run)


def prove(problem: Problem, run: Run) -> None:
    """Offer an optimal tour, and say that it is one."""
    tour = optimal_tour(problem, run.token if problem.n > INSTANT_CITIES else None)
    if tour is not None:
        run.offer(tour)
        run.report_optimal()


def optimal_tour(problem: Problem, token: _native.StopToken | None = None) -> NDArray[np.int32] | None:
    """Return an optimal tour, a path in its own direction, of up to `MAX_CITIES` cities; None if stopped."""
    return FewCities.of(problem).optimal_tour(token)


METHOD = Method(
    name="exact",
    summary=f"the optimum of up to {MAX_CITIES} cities, by branch and bound or dynamic programming",
    run=run,
    asymmetric=True,
    min_cities=1,
    max_cities=MAX_CITIES,
    any_magnitude=MAX_CITIES,
)
