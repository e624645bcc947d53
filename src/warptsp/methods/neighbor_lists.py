"""What the methods on neighbour lists share: the lists, the start tour, and the descent on CPU threads.

J. Fosin, D. Davidović and T. Carić, "A GPU implementation of local search operators for symmetric travelling
salesman problem", Promet - Traffic & Transportation 25 (2013). The moves are in ``native/neighbor_moves.h``.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from warptsp import _native
from warptsp.backends.instance import SearchInstance
from warptsp.errors import InvalidOption

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warptsp.problem import Problem
    from warptsp.run import Run

logger = logging.getLogger(__name__)

MOST_NEIGHBORS = 1000
SLICE = 0.08  # seconds between two looks at what the run says


@dataclass(frozen=True, slots=True)
class DescentParams:
    """Parameters of the descents along neighbour lists.

    Attributes
    ----------
    neighbors : int
        Length m of a city's list: m // 4 from each quadrant around it, the others the nearest of the rest.
    improvement : {"best", "first"}
        "best" looks at the whole neighbourhood in every pass; "first" at the cities whose don't-look bit is
        off, which are the ends of the links that have changed, and at all of them in the end.
    moves : {"one", "many"}
        "one" makes one move at a time: the best of the pass, or with "first" the best of the first city in
        the queue that has one. "many" makes the best move of every city, the largest gain first, if it still
        fits the tour.
    block : int or None
        Threads of a block on a GPU; None chooses.
    passes : int or None
        Passes over the neighbourhood after which to stop; None goes on to the local optimum.
    """

    neighbors: int = 40
    improvement: Literal["best", "first"] = "best"
    moves: Literal["one", "many"] = "many"
    block: int | None = None
    passes: int | None = None

    def __post_init__(self) -> None:
        check_neighbors(self.neighbors)
        check_block(self.block)
        if self.improvement not in ("best", "first"):
            raise InvalidOption(f"improvement: {self.improvement!r} is neither 'best' nor 'first'")
        if self.moves not in ("one", "many"):
            raise InvalidOption(f"moves: {self.moves!r} is neither 'one' nor 'many'")
        if self.passes is not None and self.passes < 0:
            raise InvalidOption(f"passes: {self.passes} is less than 0")


def check_neighbors(neighbors: int) -> None:
    """Raise InvalidOption for an impossible length of a neighbour list."""
    if not 1 <= neighbors <= MOST_NEIGHBORS:
        raise InvalidOption(f"neighbors: {neighbors} is not between 1 and {MOST_NEIGHBORS}")


def check_block(block: int | None) -> None:
    """Raise InvalidOption for an impossible number of threads of a block."""
    if block is not None and (block % 32 or not 32 <= block <= 1024):
        raise InvalidOption(f"block: {block} is not a multiple of 32 between 32 and 1024")


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """An instance in the numbering of the search, with its neighbour lists and a start tour."""

    instance: SearchInstance
    neighbors: NDArray[np.int32]
    tour: NDArray[np.int32]


def prepare(problem: Problem, run: Run, neighbors: int) -> Prepared | None:
    """Number the cities, find the neighbour lists and make the start tour; None if the token stopped it.

    A list longer than all other cities is cut, and the nearest neighbours stand in for quadrants where there
    are no coordinates; both are logged.
    """
    n = problem.n
    if isinstance(run.start, np.ndarray):
        run.offer(run.start)
    if neighbors > n - 1:
        logger.warning("neighbors: %d, of %d other cities: the lists have %d", neighbors, n - 1, n - 1)
    count = min(neighbors, n - 1)
    if problem.matrix is not None:
        logger.warning("a matrix of distances has no quadrants: the lists hold the nearest neighbours")
    run.enter("numbering")
    instance = SearchInstance.build(problem, run.token)
    if instance is None:
        return None
    run.enter("neighbour lists")
    lists = instance.candidates(count + (instance.dummy is not None), count // 4, run.threads, run.token)
    if lists is None:
        return None
    run.enter("start tour")
    tour: NDArray[np.int32] | None
    if isinstance(run.start, np.ndarray):
        tour = instance.close(run.start)
    elif run.start == "greedy":
        tour = instance.greedy(run.threads, run.token)
    else:
        from warptsp.construct import construct

        made = construct(problem, run.start, seed=run.seed, threads=run.threads, token=run.token)
        tour = None if made is None else instance.close(made)
    return None if tour is None else Prepared(instance, lists, np.ascontiguousarray(tour))


class HostSearch:
    """The search on CPU threads, and what it tells the run."""

    def __init__(self, prepared: Prepared, run: Run, *, three: bool) -> None:
        instance = prepared.instance
        self.run = run
        self.instance = instance
        matrix: Any = instance.matrix
        integral = matrix is not None and instance.problem.integral and instance.small_integers
        if matrix is not None:
            matrix = np.ascontiguousarray(matrix, dtype=np.int32 if integral else np.float64)
        self.native = _native.NeighborSearch.create(
            kind=instance.problem.metric.kind,
            points=instance.points,
            int_matrix=matrix if integral else None,
            real_matrix=None if integral else matrix,
            neighbors=prepared.neighbors,
            tour=prepared.tour,
            fixed_edges=instance.fixed_edges,
            tolerance=instance.tolerance,
            three=three,
        )

    def descend(self, *, best: bool, many: bool, passes: int | None = None) -> bool:
        """Go down to a local optimum; False if the run said stop before."""
        stop = self.report("start tour")
        complete = False
        while not (stop or complete):
            complete = self.native.descend(
                best=best,
                many=many,
                passes=-1 if passes is None else passes,
                threads=self.run.threads,
                seconds=SLICE,
                token=self.run.token,
            )
            stop = self.report("local search")
        return not stop

    def report(self, phase: str) -> bool:
        """Tell the run how far the search is; True to stop."""
        counts = self.native.counters()
        kicks = counts.pop("kicks")
        length = self.native.best_length - self.instance.closing
        return self.run.update(length=length, kicks=kicks, tour=self.best, phase=phase, **counts)

    def best(self) -> NDArray[np.int32]:
        """The best tour, as the problem numbers its cities."""
        return self.instance.open(self.native.best())


def descend(problem: Problem, run: Run, params: DescentParams, *, three: bool) -> None:
    """Run a descent with 2-opt or, with `three`, 3-opt moves on the run's device."""
    prepared = prepare(problem, run, params.neighbors)
    if prepared is None:
        return
    search = HostSearch(prepared, run, three=three)
    search.descend(best=params.improvement == "best", many=params.moves == "many", passes=params.passes)
    run.offer(search.best())
