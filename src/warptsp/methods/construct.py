"""The start tour and nothing else: for baselines, for speed, and to compare constructions."""

from warptsp.methods.first_tour import start_tour
from warptsp.methods.method import Method, NoParams
from warptsp.methods.protocol import Run
from warptsp.problem import Problem


def run(problem: Problem, run: Run, params: NoParams) -> None:
    """Build the start tour."""
    if problem.asymmetric:
        from warptsp.methods.directed import Doubled

        tour = Doubled(problem).start(run)
    else:
        tour = start_tour(problem, run)
    if tour is not None:
        run.offer(tour)


METHOD = Method(name="construct", summary="the start tour, unchanged", run=run, asymmetric=True, min_cities=1)
