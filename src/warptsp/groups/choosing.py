"""The search for a place of each group, and a short tour through these."""

import os
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

import warptsp._native as _native
from warptsp._checks import checked_number
from warptsp.claims import bound_of_optimal, is_confirmed
from warptsp.errors import NoTourFound, UnsupportedProblem
from warptsp.groups.cycles import NO_TOUR, Cycles, distances_between, nearest_places
from warptsp.groups.owners import check_ends, owners_of
from warptsp.interruption import FirstSignal, delivered
from warptsp.machine import resolve_threads
from warptsp.problem import Metric, Problem
from warptsp.problem.part import part_of
from warptsp.progress import Progress
from warptsp.result import Result
from warptsp.run import COMPLETE, PROVED
from warptsp.solver import solve
from warptsp.solver.inputs import Instance, as_problem
from warptsp.solver.options import seed_of
from warptsp.solver.stages import signal_name, summed_counters
from warptsp.stop import MaxRuntime
from warptsp.stop.default import Share
from warptsp.stop.limits import token_until

MOST_PLACES = 5_000
"""The matrix of so many takes 200 MB."""

_KICKS_SHARE = 0.2
"""Of the time, before a population begins: its new members visit groups in pieces. Kicks alone, a population
alone, and both, after 10 CPU s: pcb442 22800, 21985, 21920; d657 24727, 23840, 24115; pr1002 118677, 129631,
119043; lin318 after 4 s 20859, 20878, 20765."""
_SECONDS_OF_CROSSOVER = 8e-6
"""Times the square of the places, below which there are only kicks. A population alone and kicks alone: d657
after 1 s 26524 and 25664, after 4 s 24296 and 24894; rat783 after 4 s 3566 and 3467, after 10 s 3448 and
3466."""
_MEMBERS = 100  # at most, as for other instances

_SECONDS_OF_SETUP = 1.2e-7
"""Times the square of the places: from their distances to the search."""
_CHOICE_SHARE = 0.1  # of the time, at most, for that

_PATIENCE = 0.02  # seconds between two looks at whether the set-up is to be given up

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Choice:
    """A place of each group, in an order with little travel.

    Attributes
    ----------
    places : ndarray of int32, shape (m,)
        One of each of the m groups, in visiting order, numbered from 0 as in the instance. Read-only.
    result : Result
        The tour through these places alone, whose `problem` has them as its cities: for pictures, files and
        names. Its length is exact, in the distances of the instance.
    """

    places: NDArray[np.int32]
    result: Result

    @property
    def length(self) -> int | float:
        """The length of the tour."""
        return self.result.length


def choose(
    problem: Instance,
    groups: str | Sequence[Any] = "group",
    *,
    metric: Metric | str | None = None,
    asymmetric: bool = False,
    time_limit: float | None = None,
    kicks: int | None = None,
    seed: int = 0,
    threads: int | None = None,
) -> Choice:
    """Find a short tour through one place of each group.

    Parameters
    ----------
    problem : Problem, array, path or object of another package
        The places, as `warptsp.solve` takes an instance, closed or an open path with free or given ends; also
        a file of GTSPLIB (TYPE: GTSP). At most 5000 places, without fixed edges.
    groups : str or sequence
        The groups: the title of a column of the table that the places come from, ``"group"`` for the sets of
        a GTSPLIB file; the group of each place, as texts or integers; or for each group the list of its
        places, numbered from 0. Each place is in one group.
    metric, asymmetric, time_limit, kicks, seed, threads
        As `warptsp.solve` takes them.

    Returns
    -------
    Choice

    Raises
    ------
    InvalidProblem, InvalidOption
        A place is in no group or in two, a group is empty, a path begins and ends in the same one, or the
        distances of so many groups are too long.
    UnsupportedProblem
        There are too many places, or fixed edges.
    NoTourFound
        Every tour that was found has an arc that is missing from the matrix.
    KeyboardInterrupt
        By Ctrl-C and other signals as `warptsp.solve` raises it, with the best choice so far in ``result``.
    """
    started = time.monotonic()
    instance = _read(problem, metric, asymmetric=asymmetric)
    owner = owners_of(instance, groups)
    check_ends(instance, owner)
    if len(instance.fixed_edges):
        raise UnsupportedProblem("fixed edges and groups: which of their places are visited is open")
    if instance.n > MOST_PLACES:
        raise UnsupportedProblem(
            f"{instance.n} places in groups: at most {MOST_PLACES} are searched, as a matrix with directions"
        )
    if time_limit is not None:
        time_limit = checked_number("time_limit", time_limit, minimum=0.0, what="a number of seconds")
    given = None if time_limit is None else MaxRuntime(time_limit)
    seed, threads = seed_of(seed), resolve_threads(threads)
    with (
        token_until(None, started, time_limit) as token,
        FirstSignal(lambda number: token.request()) as signals,
    ):
        seen = instance if instance.reduced is None else instance.reduced.problem
        nearest = nearest_places(seen, owner)

        def search(begin: Callable[[], None]) -> tuple[NDArray[np.int32] | None, Result | None]:
            order = np.argsort(owner, kind="stable")
            between = distances_between(seen, order, token)
            if between is None:
                return nearest, None
            cycles = Cycles(seen, owner, order, between)
            tour = None if nearest is None else cycles.tour_of(nearest)
            left = token.deadline() - time.monotonic()
            if token.requested() or left <= _SECONDS_OF_SETUP * instance.n**2:
                return nearest if tour is None else cycles.entered(tour, token), None
            directed = cycles.directed()

            def told(progress: Progress) -> str | None:
                begin()
                return None if signals.caught is None else signal_name(signals.caught)

            def searched(start: NDArray[np.int32] | None, seconds: float, population: int) -> Result:
                return solve(
                    directed,
                    start=start,
                    stop=None if given is None else Share(MaxRuntime(seconds), str(given)),
                    kicks=kicks,
                    seed=seed,
                    threads=threads,
                    device="cpu",
                    params={"population": population},
                    bound=False,
                    callback=told,
                )

            left = token.deadline() - time.monotonic()
            until = token.deadline() - min(_CHOICE_SHARE * left, cycles.seconds_of_choice())
            crossed = kicks is None and _has_time(instance.n, until)
            try:
                found = _searched(tour, until, searched, token, crossed=crossed)
            except NoTourFound as error:
                raise NoTourFound(NO_TOUR, proved=error.proved) from None
            return cycles.entered(found.tour, token), found

        places, found = _unless_stopped(search, token) or (nearest, None)
    if places is None:
        raise NoTourFound(NO_TOUR, proved=False)
    if found is None:  # there was no time for a search
        found = Result(
            tour=places,
            length=0,
            problem=instance,
            known=None,
            history=[],
            counters={"kicks": 0},
            seconds=0.0,
            stop_reason=str(given) if signals.caught is None else signal_name(signals.caught),
            seed=seed,
            threads=threads,
        )
    found = replace(found, interrupted=signals.caught is not None, signal=signals.caught)
    return delivered(_choice(instance, places, found, time.monotonic() - started), signals.caught)


def _unless_stopped(work: Callable[[Callable[[], None]], _T], token: _native.StopToken) -> _T | None:
    """Return what comes of work in a thread of its own; None if it is stopped before it says that it begins.

    Until then it makes matrices of all pairs of places, which polls nothing; such a thread ends by itself.
    From then on it heeds the token.
    """
    answers: SimpleQueue[tuple[_T | None, BaseException | None]] = SimpleQueue()
    begun = threading.Event()

    def run() -> None:
        try:
            answers.put((work(begun.set), None))
        except BaseException as error:
            answers.put((None, error))

    threading.Thread(target=run, name="warptsp choice", daemon=True).start()
    while True:
        try:
            found, error = answers.get(timeout=_PATIENCE)
        except Empty:
            if token.stopped() and not begun.is_set():
                return None
        else:
            if error is not None:
                raise error
            return found


def _has_time(places: int, until: float) -> bool:
    """Whether crossover is worth its time."""
    left = until - time.monotonic()
    return np.isfinite(left) and left >= _SECONDS_OF_CROSSOVER * places**2


def _searched(
    start: NDArray[np.int32] | None,
    until: float,
    search: Callable[[NDArray[np.int32] | None, float, int], Result],
    token: _native.StopToken,
    *,
    crossed: bool,
) -> Result:
    """Kicks, and then a population that has their tour as a member, if there is time for one."""

    def left() -> float:
        return max(0.0, until - time.monotonic())

    if not crossed:
        return search(start, left(), 0)
    kicked = search(start, _KICKS_SHARE * left(), 0)
    if kicked.proved_optimal or token.requested():
        return kicked
    found = search(kicked.tour, left(), _MEMBERS)
    return replace(found, counters=summed_counters([kicked, found]))


def _read(problem: Instance, metric: Metric | str | None, *, asymmetric: bool) -> Problem:
    if not isinstance(problem, (str, os.PathLike)):
        return as_problem(problem, metric=metric, asymmetric=asymmetric)
    from warptsp.io.instances import read_instance
    from warptsp.io.options import ReadOptions

    return read_instance(problem, None, ReadOptions({}, metric, asymmetric, groups=True)).problem


def _choice(problem: Problem, places: NDArray[np.int32], found: Result, seconds: float) -> Choice:
    kept = np.sort(places)
    if problem.open is None:  # as every closed tour of a result
        places = np.roll(places, -int(np.argmin(places)))
    part = part_of(problem, kept)
    tour = np.searchsorted(kept, places).astype(np.int32)
    part.check_tour(tour)
    length = part.length(tour)
    # Of longer sums the proof leaves out less than 1e-12, which may be a whole unit.
    exact = problem.integral and (problem.reduced is None or problem.reduced.exact)
    proved = found.proved_optimal and exact and found.length < 1e12
    proved = (proved and is_confirmed(part, length)) or length == 0
    for array in (places, tour):
        array.flags.writeable = False
    result = replace(
        found,
        tour=tour,
        length=length,
        problem=part,
        known=None,
        lower_bound=bound_of_optimal(length) if proved else None,
        proved_optimal=proved,
        history=[],
        snapshots=(),
        stages=(),
        start="nearest-neighbor",
        seconds=seconds,
        stop_reason=COMPLETE if found.stop_reason == PROVED and not proved else found.stop_reason,
    )
    return Choice(places, result)
