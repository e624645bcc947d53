"""The optimal tour of a few cities (`native/small/`).

Closed tours of symmetric distances by branch and bound on 1-trees; all others, and those with which that
would take long, by dynamic programming over sets of cities. In the numbers of the instance, however large
and different they are.
"""

from warptsp.few import FewCities
from warptsp.methods.method import Method
from warptsp.methods.protocol import Run
from warptsp.problem import Problem

MAX_CITIES = 16
INSTANT_CITIES = 12  # up to here it takes less than a millisecond, which no limit is short for


def prove(problem: Problem, run: Run, params: object = None) -> None:
    """Offer an optimal tour, or path, that has all fixed edges, and say that it is one."""
    tour = FewCities.of(problem).optimal_tour(run.token if problem.n > INSTANT_CITIES else None)
    if tour is not None:
        run.offer(tour)
        run.report_optimal()


METHOD = Method(
    name="exact",
    summary=f"the optimum of up to {MAX_CITIES} cities, by branch and bound or dynamic programming",
    run=prove,
    asymmetric=True,
    min_cities=1,
    max_cities=MAX_CITIES,
    any_magnitude=MAX_CITIES,
)
