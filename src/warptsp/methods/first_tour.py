"""The start tour of a run, and one that costs next to nothing, for the time until it is there."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

import numpy as np
from numpy.typing import NDArray

import warptsp._native as _native
from warptsp.backends.instance import SearchInstance
from warptsp.methods.protocol import Run
from warptsp.problem import Problem

LONG = 100_000  # cities from which set-up takes so long that it is reported
QUICKLY_ORDERED = 100_000  # cities that are in the order of a curve within a few hundredths of a second


def start_tour(
    problem: Problem,
    run: Run,
    start: str | NDArray[np.int32] | None = None,
    token: _native.StopToken | None = None,
) -> NDArray[np.int32] | None:
    """Return the start tour of a run, or another one by name; None if the token, by default the run's,
    stopped it."""
    from warptsp.construct import construct

    run.enter("start tour")
    start = run.start if start is None else start
    return construct(problem, start, seed=run.seed, threads=run.threads, token=token or run.token)


def start_in_search(
    instance: SearchInstance, run: Run, start: str | NDArray[np.int32] | None = None, parts: int = 1
) -> NDArray[np.int32] | None:
    """Return that tour closed, and in the numbers of a search; None if the token stopped it.

    A greedy one is made in these numbers, which is faster; in so many `parts`, each greedy by itself.
    """
    start = run.start if start is None else start
    if isinstance(start, str) and start == "greedy":
        run.enter("start tour")
        return instance.greedy(run.threads, run.token, parts)
    tour = start_tour(instance.problem, run, start)
    return None if tour is None else instance.close(tour)


def plain_tour(problem: Problem, instance: SearchInstance | None) -> NDArray[np.int32] | None:
    """The cities along the curve, or as in the file; None where there are fixed edges."""
    if len(problem.fixed_edges):
        return None
    tour = np.arange(problem.n, dtype=np.int32) if instance is None else instance.city
    opened = problem.open
    if opened is None:
        return tour
    ends = [c for c in (opened.start, opened.end) if c is not None]
    first = [] if opened.start is None else [opened.start]
    last = [] if opened.end is None else [opened.end]
    return np.concatenate([first, tour[~np.isin(tour, ends)], last]).astype(np.int32)


def fall_back(problem: Problem, run: Run, instance: SearchInstance | None) -> None:
    """Offer what a stopped set-up has: the order along the curve, or the file's where that takes long."""
    if run.best is not None:
        return
    from warptsp.construct import construct

    tour = None
    if instance is None and problem.metric.has_coordinates and problem.n <= QUICKLY_ORDERED:
        tour = construct(problem, "space-filling", seed=0, threads=1, token=None)
    if tour is None:
        tour = plain_tour(problem, instance)
    if tour is None:
        tour = construct(problem, "given", seed=0, threads=1, token=None)
    if tour is not None:
        run.offer(tour)


def numbered(
    problem: Problem,
    run: Run,
    lists: Callable[[SearchInstance], NDArray[np.int32] | None],
    start: str | NDArray[np.int32] | None = None,
    parts: int = 1,
) -> tuple[SearchInstance, NDArray[np.int32], NDArray[np.int32]] | None:
    """Return the instance of a search, candidate lists and a start tour in its numbers; None if the token
    stopped it, and then what there is has been offered."""
    from warptsp.backends.instance import SearchInstance

    run.enter("numbering")
    instance = SearchInstance.build(problem, run.token, run.threads)
    if instance is not None:
        run.expect(instance.city)
        with telling(problem, run, instance):
            run.enter("candidate lists")
            rows = lists(instance)
            tour = None if rows is None else start_in_search(instance, run, start, parts)
        if rows is not None and tour is not None:
            return instance, rows, tour
    fall_back(problem, run, instance)
    return None


def telling(problem: Problem, run: Run, instance: SearchInstance) -> AbstractContextManager[None]:
    """Report a tour of a long instance through its set-up: the user's, or the cities along the curve."""
    if problem.n < LONG:
        return nullcontext()
    if run.best is None and (tour := plain_tour(problem, instance)) is not None:
        run.offer(tour)
    best, length = run.best, run.best_length
    if best is None or length is None:
        return nullcontext()
    # Stopped before there is a better one, nothing is left to check.
    run.expect(None)
    return run.repeating(length, lambda: best, "set-up")
