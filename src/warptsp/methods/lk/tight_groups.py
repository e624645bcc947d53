"""Tight groups of cities, such as the rows of one house: their search comes first, then that of the cities.

A tour goes through such a group once, and nearly all of its length lies between groups. But nearly all kicks
and candidates are within them. So each group is one place first, for part of the time, and its cities then
follow one another where that place was. Groups of groups are searched before groups.

A group is what Kruskal's algorithm has joined when the way on is much longer than the whole tree inside
(native/space/tight_groups.h): no scale is given. Of points the edges are those along a space-filling curve,
by which nearly the same groups are found as by candidate lists, in a fifth of the time (EXP-483).
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

import warptsp._native as _native
from warptsp.construct.simple import along_curve
from warptsp.machine import CPU
from warptsp.methods.exact import INSTANT_CITIES
from warptsp.methods.first_search import FirstSearch
from warptsp.methods.lk import tuning
from warptsp.methods.lk.params import LkParams
from warptsp.methods.protocol import Run, View, ViewedRun
from warptsp.neighbors import candidate_lists
from warptsp.problem import Problem
from warptsp.problem.places import Places, constrained, of_groups

PHASE = "tight groups"


def search_with_groups(
    problem: Problem, run: Run, params: LkParams, search: Callable[[Problem, Run, LkParams], None]
) -> None:
    """Search the groups of an instance first, if it has any worth it, and then its cities."""
    groups = None if _is_doubtful(problem, run) else tight_groups(problem, run.threads, run.token)
    if groups is None:
        search(problem, run, params)
        return
    run.report_counters(tight_groups=groups.problem.n)
    seconds, kicks = _limits(run, groups.problem.n)
    first = first_search(run, groups, seconds, kicks)
    search_with_groups(groups.problem, first.run, params, search)
    if first.best is None or run.token.stopped():
        return
    run.start_over(kicks=first.kicks, tight_groups=groups.problem.n)
    if run.stop_reason is not None:
        return
    start, earlier = tour_of_groups(groups, problem, first.best), first.kicks
    view = View(
        start=start,
        kick_limit=lambda: None if run.kick_limit is None else max(0, run.kick_limit - earlier),
        report=lambda report: replace(report, kicks=earlier + report.kicks),
    )
    search(problem, ViewedRun(run, view), params)


def first_search(run: Run, groups: Places, seconds: float | None, kicks: int | None) -> FirstSearch:
    """Return the search of groups, whose tours are too poor for a lower bound."""

    def expect(tour: NDArray[np.int32] | None, seconds: float = 0.0) -> None:
        seconds += tuning.HAND_OVER * len(groups.place)
        run.expect(None if tour is None else groups.heads[tour], seconds)

    # On a GPU that nobody asked for by name, if the groups are enough for it.
    few = run.may_use_cpu and groups.problem.n < tuning.MIN_GPU_CITIES
    return FirstSearch(
        run,
        groups.problem,
        lambda tour: [tour_of_groups(groups, run.problem, tour)],
        seconds=seconds,
        kicks=kicks,
        phase=PHASE,
        device=CPU if few else None,
        expect=expect,
    )


def _limits(run: Run, count: int) -> tuple[float | None, int | None]:
    """Return the seconds and the kicks that a search of so many groups gets, None for what nobody limits."""
    seconds = kicks = None
    if run.time_limit is not None and (remaining := run.remaining()) is not None:
        seconds = min(tuning.GROUPS_SHARE * remaining, tuning.SECONDS_OF_GROUP * count)
    if run.kick_limit is not None or seconds is None:
        kicks = tuning.KICKS_OF_GROUP * count
        if run.kick_limit is not None:
            kicks = min(kicks, round(tuning.GROUPS_SHARE * run.kick_limit))
    return seconds, kicks


def _is_doubtful(problem: Problem, run: Run) -> bool:
    """Whether groups are not even looked for: a given tour, few cities, missing arcs, no kicks, no time."""
    if not isinstance(run.start, str) or problem.n <= tuning.FEW_CITIES or problem.wall is not None:
        return True
    if run.kick_limit == 0:
        return True
    if problem.matrix is None or (remaining := run.remaining()) is None:
        return False
    return tuning.SECONDS_PER_ENTRY * problem.n**2 > tuning.SPREAD_SHARE * remaining


def tight_groups(problem: Problem, threads: int, token: _native.StopToken) -> Places | None:
    """Return the groups of an instance as places; None if they are few, or if the token stopped it."""
    if problem.coordinates is not None and problem.n >= tuning.GROUP_WINDOWS**2 * tuning.CITIES_OF_WINDOW:
        looked_at = groups_in = 0
        for cities in _windows(problem.coordinates):
            window = Problem.from_points(problem.coordinates[cities], problem.metric)
            found = _found_in(window, threads, token)
            looked_at += len(cities)
            groups_in += len(cities) if found is None else len(found[1]) - 1
        if groups_in > tuning.MOST_GROUPS * looked_at:
            return None
    found = _found_in(problem, threads, token)
    if found is None:
        return None
    order, first = found
    if not INSTANT_CITIES < len(first) - 1 <= tuning.MOST_GROUPS * problem.n:
        return None
    return of_groups(problem, order, first[:-1])


def _windows(points: NDArray[np.float64]) -> Iterator[NDArray[np.intp]]:
    """Yield the cities of some windows all over the first two axes, about as many in each."""
    n = len(points)
    side = math.sqrt(tuning.CITIES_OF_WINDOW / n)
    some = points[:: max(1, n // 10_000), 0]
    for number in range(tuning.GROUP_WINDOWS):
        middle = (number + 0.5) / tuning.GROUP_WINDOWS
        low, high = np.quantile(some, [middle - side / 2, middle + side / 2])
        strip = np.flatnonzero((points[:, 0] >= low) & (points[:, 0] <= high))
        across = points[strip, 1]
        # Of the strips one is looked at near its beginning, the next one further on, and so on.
        low, high = np.quantile(across, [middle - side / 2, middle + side / 2])
        yield strip[(across >= low) & (across <= high)]


def _found_in(
    problem: Problem, threads: int, token: _native.StopToken
) -> tuple[NDArray[np.int32], NDArray[np.int32]] | None:
    """Return the cities, those of each group beside one another, and where each group begins."""
    lists = _ways(problem, threads, token)
    if lists is None:
        return None
    alone = constrained(problem)
    if len(alone):
        is_alone = np.zeros(problem.n, dtype=bool)
        is_alone[alone] = True
        lists[is_alone[lists] | is_alone[:, None]] = -1
    from_ = np.arange(problem.n, dtype=np.int32)[:, None]
    lengths = problem.distance(*np.broadcast_arrays(from_, np.where(lists < 0, from_, lists)))
    lengths = lengths.astype(np.float64)
    if problem.integral:
        lengths += 0.5  # 0 is as likely to be a half: not infinitely less than 1
    return _native.tight_groups(lists, lengths, tuning.GROUP_RATIO, token)


def _ways(problem: Problem, threads: int, token: _native.StopToken) -> NDArray[np.int32] | None:
    """Return cities near each one: the next one on the curve, or of a matrix the nearest."""
    if problem.matrix is not None:
        return candidate_lists(problem, tuning.NEAR_IN_MATRIX, 0, threads=threads, token=token)
    curve = along_curve(problem.search_points(), problem.metric, token, threads)
    if curve is None:
        return None
    following = np.empty((problem.n, 1), dtype=np.int32)
    following[curve, 0] = np.append(curve[1:], -1)
    return following


def tour_of_groups(groups: Places, problem: Problem, visits: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the tour of the cities for one of the groups, each in the direction that joins it better."""
    tour = groups.expand(visits)
    counts = np.diff(groups.first)[visits]
    ends = np.cumsum(counts)
    begins = ends - counts
    heads = groups.heads[visits]
    before, after = np.roll(heads, 1), np.roll(heads, -1)
    first, last = tour[begins], tour[ends - 1]
    there = problem.distance(before, first) + problem.distance(last, after)
    back = problem.distance(before, last) + problem.distance(first, after)
    turned = np.repeat(back < there, counts)
    at = np.arange(problem.n)
    mirrored = np.repeat(begins + ends - 1, counts) - at
    whole: NDArray[np.int32] = tour[np.where(turned, mirrored, at)]
    return whole
