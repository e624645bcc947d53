"""One place of each group, and a short tour through these: generalized problems.

Which entry of a block, which of several parking places, which shop of each kind. The transformation of C.
Noon and J. Bean, "An efficient transformation of the generalized traveling salesman problem", INFOR 31 (1993)
39-44, makes them problems with directions, which the method ``lk`` searches. The places of a group are a
cycle of arcs that cost nothing. A tour that enters a group at a place follows that cycle to the place before,
and what leaves there has the cost of leaving the place where it was entered. Every arc between groups is so
much longer than all of a tour that there are as many of them as groups, and no more. At the end the places
are chosen once more for the order of the groups that was found, the best ones: a shortest path through the
groups as layers.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from warptsp._checks import checked_number, shown
from warptsp.claims import bound_of_optimal, is_confirmed
from warptsp.errors import InvalidOption, InvalidProblem, NoTourFound, UnsupportedProblem
from warptsp.interruption import FirstSignal
from warptsp.machine import resolve_threads
from warptsp.problem import Problem
from warptsp.problem.part import part_of
from warptsp.problem.values import EXACT_INTEGERS
from warptsp.result import Result
from warptsp.run import COMPLETE, PROVED
from warptsp.solver import solve
from warptsp.solver.inputs import as_problem
from warptsp.solver.options import seed_of
from warptsp.solver.stages import signal_name
from warptsp.stop import MaxRuntime
from warptsp.stop.deadline import token_until
from warptsp.stop.share import Share

if TYPE_CHECKING:
    from numpy.typing import NDArray

    import warptsp._native as _native
    from warptsp.problem import Metric
    from warptsp.progress import Progress
    from warptsp.solver.inputs import Instance

__all__ = ["Choice", "choose"]

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

_SECONDS_OF_STEP, _SECONDS_OF_PAIR = 4e-6, 2e-9
"""From group to group, and from place to place, where the best places for an order are chosen at the end."""
_CHOICE_SHARE = 0.1  # of the time, at most, for that

_PATIENCE = 0.02  # seconds between two looks at whether the set-up is to be given up

_T = TypeVar("_T")

_LONGEST_SUM = 1e280  # of reals; sums of walls for missing arcs, too, are numbers then


_NO_TOUR = "no tour was found that goes through each group once without missing arcs"


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
        Ctrl-C during the call ends it with the best choice so far.

    Raises
    ------
    InvalidProblem, InvalidOption
        A place is in no group or in two, a group is empty, or the distances of so many groups are too long.
    UnsupportedProblem
        There are too many places, or fixed edges.
    NoTourFound
        Every tour that was found has an arc that is missing from the matrix.
    """
    started = time.monotonic()
    instance = _read(problem, metric, asymmetric=asymmetric)
    owner = _owners(instance, groups)
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
        nearest = _nearest(seen, owner)

        def search(begin: Callable[[], None]) -> tuple[NDArray[np.int32] | None, Result | None]:
            order = np.argsort(owner, kind="stable")
            between = _distances(seen, order, token)
            if between is None:
                return nearest, None
            cycles = _Cycles(seen, owner, order, between)
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
                raise NoTourFound(_NO_TOUR, proved=error.proved) from None
            return cycles.entered(found.tour, token), found

        places, found = _unless_stopped(search, token) or (nearest, None)
    if places is None:
        raise NoTourFound(_NO_TOUR, proved=False)
    if found is not None:
        found = replace(found, interrupted=signals.caught is not None, signal=signals.caught)
        return _choice(instance, places, found, time.monotonic() - started)
    return _early_choice(instance, places, str(given), signals.caught, seed, threads, started)


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
    counters = {
        name: kicked.counters.get(name, 0) + found.counters.get(name, 0)
        for name in {**kicked.counters, **found.counters}
    }
    return replace(found, counters=counters)


def _nearest(problem: Problem, owner: NDArray[np.intp]) -> NDArray[np.int32] | None:
    """Return a place of each group, from place to nearest place; None where that meets no arc."""
    start, end = (None, None) if problem.open is None else (problem.open.start, problem.open.end)
    last = np.zeros(problem.n, dtype=bool) if end is None else owner == owner[end]
    here = start if start is not None else end if last.all() and end is not None else int(np.argmin(last))
    places, left = [here], owner != owner[here]
    while left.any():
        ways = _distances_from(problem, here, np.arange(problem.n))
        ways[~left] = np.inf
        if end is not None:  # its group comes last, and nothing else of it
            ways[last if (left & ~last).any() else np.arange(problem.n) != end] = np.inf
        here = int(ways.argmin())
        if not np.isfinite(ways[here]):
            return None
        left &= owner != owner[here]
        places.append(here)
    back = np.array(places[:1])
    closes = problem.open is not None or len(places) == 1
    if (closes or np.isfinite(_distances_from(problem, here, back)[0])) and end in (None, here):
        return np.array(places, dtype=np.int32)
    return None


def _read(problem: Instance, metric: Metric | str | None, *, asymmetric: bool) -> Problem:
    if not isinstance(problem, (str, os.PathLike)):
        return as_problem(problem, metric=metric, asymmetric=asymmetric)
    from warptsp.io.instances import read_instance
    from warptsp.io.options import ReadOptions

    return read_instance(problem, None, ReadOptions({}, metric, asymmetric, groups=True)).problem


def _owners(problem: Problem, groups: str | Sequence[Any]) -> NDArray[np.intp]:
    """Return the group of each place, numbered from 0."""
    if isinstance(groups, str):
        columns = problem.extra or {}
        if groups not in columns:
            there = ", ".join(columns) or "none"
            raise InvalidOption(
                f"groups: there is no column {shown(groups)}; columns beside the places: {there}"
            )
        groups = list(columns[groups])
    if not isinstance(groups, Iterable):
        raise InvalidOption(f"groups: {shown(groups)} is no list of groups")
    given = list(groups)
    if given and all(
        isinstance(group, Collection) and not isinstance(group, (str, bytes)) for group in given
    ):
        return _of_lists(problem, given)
    if len(given) != problem.n:
        raise InvalidOption(f"groups: {len(given)} for {problem.n} places; one for each is needed")
    numbers: dict[Any, int] = {}
    owner = np.empty(problem.n, dtype=np.intp)
    for place, group in enumerate(given):
        name = group.strip() if isinstance(group, str) else group
        if isinstance(name, (float, np.floating)) and name == np.floor(name):
            name = int(name)  # a column of numbers with gaps
        if name is None or name == "" or (isinstance(name, (float, np.floating)) and name != name):
            raise InvalidOption(f"groups: place {problem.label(place)} is in no group")
        if isinstance(name, bool) or not isinstance(name, (str, int, np.integer)):
            raise InvalidOption(
                f"groups: that of place {problem.label(place)} is {shown(group)}: a text or an integer "
                "is needed"
            )
        owner[place] = numbers.setdefault(name, len(numbers))
    return owner


def _of_lists(problem: Problem, groups: list[Collection[Any]]) -> NDArray[np.intp]:
    owner = np.full(problem.n, -1, dtype=np.intp)
    for number, group in enumerate(groups):
        if not len(group):
            raise InvalidOption(f"groups: group {number} (counted from 0) is empty")
        for place in group:
            whole = isinstance(place, (int, np.integer)) and not isinstance(place, bool)
            if not whole or not 0 <= place < problem.n:
                raise InvalidOption(
                    f"groups: group {number} has place {shown(place)}: places are 0 to {problem.n - 1}"
                )
            if owner[place] >= 0:
                raise InvalidOption(
                    f"groups: place {problem.label(int(place))} is twice in groups, {owner[place]} and "
                    f"{number} (counted from 0)"
                )
            owner[place] = number
    if (owner < 0).any():
        raise InvalidOption(f"groups: place {problem.label(int(np.argmin(owner)))} is in no group")
    return owner


class _Cycles:
    """Places, group by group, each a cycle; a path has one more group, the way from its end to its start."""

    def __init__(
        self,
        problem: Problem,
        owner: NDArray[np.intp],
        order: NDArray[np.intp],
        between: NDArray[np.float64],
    ) -> None:
        self.order = order
        self.owner = owner[order]
        self.between = between
        if problem.open is not None:
            self.order = np.append(self.order, problem.n)
            self.owner = np.append(self.owner, len(np.unique(owner)))
            self.between = np.pad(self.between, ((0, 1), (0, 1)))
            for end, ways in (
                (problem.open.start, self.between[-1]),
                (problem.open.end, self.between[:, -1]),
            ):
                if end is not None:
                    ways[self.order != end] = np.inf
        self.closed = problem.open is None
        same = self.owner[:, np.newaxis] == self.owner
        self.between[same] = np.inf
        first = np.flatnonzero(np.diff(self.owner, prepend=-1))
        self.before = np.arange(len(self.order)) - 1
        self.before[first] = np.append(first[1:], len(self.order)) - 1
        self.count = len(first)
        self.first = first
        self.integral = problem.integral

    def directed(self) -> Problem:
        """The problem with directions that has the same tours."""
        finite = np.where(np.isfinite(self.between), self.between, 0.0)
        longest = float(np.maximum.reduceat(finite.max(axis=1), self.first).sum())
        toll = longest + 1.0 if self.integral else 2.0 * longest or 1.0
        total = (self.count + 1) * (toll + float(finite.max()))
        if not total <= (EXACT_INTEGERS if self.integral else _LONGEST_SUM):
            raise InvalidProblem(
                f"distances up to {finite.max():.6g} between {self.count} groups: arcs between groups must "
                "be longer than a tour, and sums of these are too large; give the distances in a larger unit"
            )
        matrix = np.empty_like(self.between)
        matrix[self.before] = self.between + toll
        rest = np.arange(len(self.order))
        matrix[self.before, rest] = 0.0
        np.fill_diagonal(matrix, 0.0)
        problem = Problem.from_matrix(matrix, asymmetric=True)
        try:
            problem.check_connected()
        except InvalidProblem:  # names nodes of its own
            raise NoTourFound(_NO_TOUR, proved=True) from None
        return problem

    def tour_of(self, places: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the tour that enters each group at one of these places, in their order."""
        number = np.empty(len(self.order), dtype=np.intp)
        number[self.order] = np.arange(len(self.order))
        entered = number[places if self.closed else np.insert(places, 0, len(self.order) - 1)]
        return np.concatenate([self._cycle(place) for place in entered]).astype(np.int32)

    def seconds_of_choice(self) -> float:
        """Estimate how long it takes to choose the best places for an order of the groups."""
        sizes = np.diff(self.first, append=len(self.order))
        pairs = len(self.order) ** 2 / self.count
        return float(sizes.min()) * (_SECONDS_OF_STEP * self.count + _SECONDS_OF_PAIR * pairs)

    def _cycle(self, place: int) -> NDArray[np.intp]:
        """The places of a group from the one where it is entered."""
        begin, end = np.searchsorted(self.owner, [self.owner[place], self.owner[place] + 1])
        return np.roll(np.arange(begin, end), begin - place)

    def entered(self, tour: NDArray[np.int32], token: _native.StopToken) -> NDArray[np.int32]:
        """The best places of the instance for the order in which a tour enters the groups.

        The best ones found by the time the token stops it.

        Raises
        ------
        NoTourFound
            It enters a group twice.
        """
        groups = self.owner[tour]
        enters = groups != np.roll(groups, 1)
        if self.count == 1:
            enters = np.arange(len(tour)) == 0
        if np.count_nonzero(enters) != self.count:
            raise NoTourFound(_NO_TOUR, proved=False)
        places = self.order[self._best_of(tour[enters], token)]
        if not self.closed:
            places = np.roll(places, -int(np.argmax(places)) - 1)[:-1]
        return places.astype(np.int32)

    def _best_of(self, entries: NDArray[np.int32], token: _native.StopToken) -> NDArray[np.intp]:
        """The places of the shortest tour that goes through the groups of these places in their order."""
        layers = [np.flatnonzero(self.owner == group) for group in self.owner[entries]]
        smallest = int(np.argmin([len(layer) for layer in layers]))
        layers = layers[smallest:] + layers[:smallest]
        layers[0] = np.roll(layers[0], -int(np.argmax(layers[0] == entries[smallest])))  # for a start
        if len(layers) == 1:
            return layers[0][:1]
        steps = [self.between[np.ix_(here, there)] for here, there in pairwise([*layers, layers[0]])]
        best, length = layers[0], np.inf
        for first in range(len(layers[0])):
            if first > 0 and token.stopped():
                break
            costs, come_from = np.where(np.arange(len(layers[0])) == first, 0.0, np.inf), []
            for step in steps:
                ways = costs[:, np.newaxis] + step
                come_from.append(ways.argmin(axis=0))
                costs = ways.min(axis=0)
            if costs[first] < length:
                length, last, chosen = costs[first], first, []
                for layer, before in zip(reversed(layers), reversed(come_from), strict=True):
                    last = int(before[last])
                    chosen.append(layer[last])
                best = np.array(chosen[::-1])
        return best


def _distances(
    problem: Problem, order: NDArray[np.intp], token: _native.StopToken
) -> NDArray[np.float64] | None:
    """Return the distances between places in an order, infinite where the arc is missing; None if stopped."""
    found = np.empty((len(order), len(order)))
    for row, place in zip(found, order, strict=True):
        if token.stopped():
            return None
        row[:] = _distances_from(problem, place, order)
    return found


def _distances_from(problem: Problem, place: int, others: NDArray[np.intp]) -> NDArray[np.float64]:
    if problem.matrix is None:
        return np.array(problem.distance(np.full(len(others), place), others), dtype=np.float64)
    found: NDArray[np.float64] = problem.matrix[place, others].astype(np.float64)
    if problem.wall is not None:
        found[found >= problem.wall] = np.inf
    return found


def _early_choice(
    problem: Problem,
    places: NDArray[np.int32],
    limit: str,
    caught: int | None,
    seed: int,
    threads: int,
    started: float,
) -> Choice:
    """Return what there is before the search has begun."""
    found = Result(
        tour=places,
        length=0,
        problem=problem,
        known=None,
        history=[],
        counters={"kicks": 0},
        seconds=0.0,
        stop_reason=limit if caught is None else signal_name(caught),
        interrupted=caught is not None,
        signal=caught,
        seed=seed,
        threads=threads,
    )
    return _choice(problem, places, found, time.monotonic() - started)


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
