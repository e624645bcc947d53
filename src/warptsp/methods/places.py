"""Instances with several cities at one place, searched as instances of places.

Candidate lists of cities that share a place are full of edges of length 0, and a search that sees nothing
else is blind. Among places it sees as far as ever, and has less to do. What rounded distances gain where a
tour comes to a place twice, a last local search takes.
"""

from collections.abc import Callable, Collection
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from warptsp.backends.instance import tolerance_of
from warptsp.methods.magnitude import Frame
from warptsp.methods.method import Method
from warptsp.methods.protocol import Run, View, ViewedRun, says_nothing
from warptsp.neighbors import candidate_lists
from warptsp.problem import Problem
from warptsp.problem.places import Places, places_of

P = TypeVar("P")

# Fewer further cities hide little: of C100k.0, where searches as good as before need no places, 1 % are.
WORTH_SHARE, WORTH_AT_ONE = 0.02, 4  # of all cities, or beside the first one of a place
HAND_OVER = 3e-8  # seconds a city to put cities beside each other
FEW = 12  # cities whose integers of any size are all gone through: 0.1 s
NEARBY = 5  # places that a way may be led over
LAST_SEARCH, LAST_SHARE = 2.5e-6, 0.25  # seconds a place for the last local search; of a time limit, at most


class Seen(Protocol):
    """An instance as methods are given it."""

    @property
    def problem(self) -> Problem:
        """What they search."""

    def search(
        self, search: Callable[[Problem, Run, P], None], lengths: Collection[str], run: Run, params: P
    ) -> None:
        """Let a method search; the run is told of the instance itself."""


def seen_by(method: Method[Any], problem: Problem, seconds: float | None = None) -> Seen:
    """Return the instance as this method is given it, with a time limit of so many seconds."""
    if problem.n <= method.any_magnitude and (problem.reduced is None or problem.n <= FEW):
        return Frame(problem)
    if method.places_from is not None and problem.n >= method.places_from:
        places = places_of(problem, seconds)
        if places is not None and _are_worth_it(places):
            return _Places(places)
    return Frame.of(problem)


def _are_worth_it(places: Places) -> bool:
    further = places.further
    return int(further.sum()) >= WORTH_SHARE * len(places.place) or int(further.max()) >= WORTH_AT_ONE


class _Places:
    """The places of an instance, in a frame, as the method lk is given them."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._frame = Frame.of(places.problem)

    @property
    def problem(self) -> Problem:
        """The places, in a frame."""
        return self._frame.problem

    def search(
        self, search: Callable[[Problem, Run, P], None], lengths: Collection[str], run: Run, params: P
    ) -> None:
        """Let a method search among places."""
        places = self._places
        run.report_counters(places=places.problem.n)
        left, needed = run.remaining(), LAST_SEARCH * places.problem.n
        has_time = left is None or needed <= LAST_SHARE * left
        last_search = needed if has_time and not places.exact else 0.0
        found: NDArray[np.int32] | None = None  # the tour that the method offered last

        def offer(tour: NDArray[np.int32]) -> NDArray[np.int32]:
            nonlocal found
            found = np.array(tour)
            return places.expand(tour)

        def expect(tour: NDArray[np.int32] | None, seconds: float = 0.0) -> None:
            seconds += HAND_OVER * len(places.place) + last_search
            run.expect(None if tour is None else places.heads[tour], seconds)

        view = View(
            problem=places.problem,
            start=run.start if isinstance(run.start, str) else places.contract(run.start),
            given=tuple(places.contract(tour) for tour in run.given),
            best=lambda: None if run.best is None else places.contract(run.best),
            offer=offer,
            report=lambda report: report.with_tour(places.expand),
            expect=expect,
            start_over=lambda **counters: run.start_over(places=places.problem.n, **counters),
            # Rounding may make claims of places untrue of cities.
            report_bound=None if places.exact else says_nothing,
            report_optimal=None if places.exact else says_nothing,
        )
        self._frame.search(search, lengths, ViewedRun(run, view), params)
        if last_search and found is not None and not run.interrupted:
            run.offer(places.expand(with_detours(places, found, run.threads)), copy=False)


def with_detours(places: Places, tour: NDArray[np.int32], threads: int) -> NDArray[np.int32]:
    """Return a tour that takes detours over places with cities to spare, where these make it shorter.

    By EUC_2D two edges of 1.4 have the length 2 together, and one of 2.8 has 3.
    """
    problem, spare = places.problem, places.further.copy()
    if problem.n < 3:
        return tour
    near = candidate_lists(problem, min(NEARBY, problem.n - 1), 0, threads=threads)
    assert near is not None  # nobody stops it
    least = tolerance_of(problem)
    is_fixed = np.zeros(problem.n, dtype=bool)
    is_fixed[problem.fixed_edges.reshape(-1)] = True  # also of edges that are not fixed: few
    closed = problem.open is None
    while True:
        ahead = np.roll(tour, -1)
        links = np.flatnonzero(~(is_fixed[tour] & is_fixed[ahead]))
        if not closed:
            links = links[links < len(tour) - 1]
        a, b = tour[links], ahead[links]
        direct = problem.distance(a, b)
        most, over = np.full(len(links), least, dtype=np.float64), np.full(len(links), -1, dtype=np.int32)
        for column in (*near[a].T, *near[b].T):
            some = np.flatnonzero((column >= 0) & (spare[column] > 0) & (direct > 0))
            p = column[some]
            saved = direct[some] - problem.distance(a[some], p) - problem.distance(p, b[some])
            better = saved > most[some]
            most[some[better]], over[some[better]] = saved[better], p[better]
        taken = np.flatnonzero(over >= 0)
        if not len(taken):
            return tour
        # Of the detours over one place the best ones, as many as it has cities to spare.
        taken = taken[np.lexsort((-most[taken], over[taken]))]
        p = over[taken]
        rank = np.arange(len(p)) - np.searchsorted(p, p)
        taken = taken[rank < spare[p]]
        np.subtract.at(spare, over[taken], 1)
        tour = np.insert(tour, links[taken] + 1, over[taken]).astype(np.int32)
