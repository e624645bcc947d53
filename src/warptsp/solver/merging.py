"""Several tours of an instance, joined into one: partition crossover (native/lk/tour_merge.h)."""

import os
import time
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

import warptsp._native as _native
from warptsp._checks import shown
from warptsp._words import as_called, counted
from warptsp.claims import delivered_tour
from warptsp.errors import InvalidOption
from warptsp.interruption import FirstSignal
from warptsp.machine import resolve_threads
from warptsp.problem import Metric, OpenPath, Problem
from warptsp.problem.tours import path_of
from warptsp.result import Result
from warptsp.run.snapshots import turned_to_first
from warptsp.solver.inputs import Instance, given_tour, instance_of, start_of
from warptsp.solver.options import seed_of

_FEWEST = 4  # nodes; all closed tours of fewer are the same


def merge(
    problem: Instance,
    tours: Iterable[str | os.PathLike[str] | ArrayLike | Result],
    *,
    metric: Metric | str | None = None,
    open: bool | OpenPath | None = None,
    asymmetric: bool = False,
    seed: int = 0,
    threads: int | None = None,
) -> Result:
    """Join several tours into one that has no edges but theirs and is no longer than the shortest of them.

    Where tours differ, the better one is taken, as far as the choices together leave one tour:
    partition crossover (D. Whitley, D. Hains and A. Howe, GECCO 2009). It takes seconds for a million cities,
    and is worth most for tours of separate runs. ``solve(merge=...)`` does the same and searches from there.

    Parameters
    ----------
    problem : Problem, array, path or object of another package
        The instance, as `solve` takes it.
    tours : iterable of path, array or Result
        Two tours or more: tour files, such as checkpoints; cities numbered from 0 in visiting order; results.
    metric, open, asymmetric
        As `solve` takes them.
    seed : int
        Seed of the random numbers, 0 to 2**64 - 1. The same seed gives the same tour on any number of
        threads.
    threads : int, optional
        Number of threads; by default all that are available.

    Returns
    -------
    Result
        Its method is ``"merge"``.

    Raises
    ------
    InvalidProblem, InvalidTour, InvalidOption
        If an argument is invalid, fewer than two tours among them.
    NoTourFound
        If the merged tour has an arc that is missing from the matrix.
    KeyboardInterrupt
        By Ctrl-C and other signals as `solve` raises it, with the tour that there is in ``result``.
    """
    started = time.monotonic()
    instance, _ = instance_of(problem, metric=metric, asymmetric=asymmetric, open=open)
    given = tours_of(instance, tours, "tours")
    if len(given) < 2:
        raise InvalidOption(f"tours: {counted(len(given), 'tour', 'tours')} to merge; two or more are needed")
    number, workers = seed_of(seed), resolve_threads(threads)
    token = _native.StopToken()
    with FirstSignal(lambda _: token.request()) as signals:
        tour = merged(instance, given, seed=number, threads=workers, token=token)
    ended = "every choice between the tours is made"
    result = Result(
        tour=tour,
        length=instance.length(tour, threads=workers),
        problem=instance,
        known=instance.known_length,
        history=[],
        counters={"merged": len(given)},
        seconds=time.monotonic() - started,
        stop_reason=ended if signals.caught is None else "interrupted",
        interrupted=signals.caught is not None,
        signal=signals.caught,
        seed=number,
        threads=workers,
        method="merge",
        start="tour",
    )
    further = as_called("solve(merge=...)", "warptsp solve --merge")
    return delivered_tour(instance, result, None, f"{further} searches on")


def tours_of(problem: Problem, tours: Any, option: str) -> list[NDArray[np.int32]]:
    """Return the tours that are given to be merged, checked.

    Raises `InvalidTour`, `InvalidOption`: one of them is no tour of this problem.
    """
    if isinstance(tours, (str, bytes, os.PathLike)) or not isinstance(tours, Iterable):
        raise InvalidOption(f"{option}: {shown(tours)} is no list of tours; put them into [...]")
    return [given_tour(problem, tour, f"{option}: tour {number}")[1] for number, tour in enumerate(tours, 1)]


def start_and_merged(
    problem: Problem,
    start: str | os.PathLike[str] | ArrayLike | None,
    merge: Iterable[str | os.PathLike[str] | ArrayLike | Result] | None,
) -> tuple[str, NDArray[np.int32] | None, tuple[NDArray[np.int32], ...]]:
    """Return the start's name for the record, the start tour if there is one, and what is merged with it.

    Raises `InvalidTour`, `InvalidOption`: one of them is no tour of this problem, or they contradict each
    other.
    """
    name, tour = start_of(problem, start)
    if merge is None:
        return name, tour, ()
    if start is not None and tour is None:
        raise InvalidOption(
            f"start: {shown(start)} and merge: the search begins with the merged tours; leave start out, or "
            "give it a tour"
        )
    given = ([] if tour is None else [tour]) + tours_of(problem, merge, "merge")
    if len(given) < 2:
        also = "" if tour is not None else ", of which start may be one"
        raise InvalidOption(f"merge: {counted(len(given), 'tour', 'tours')}; two or more are needed{also}")
    shortest = min(given, key=problem.length)
    return "merge", shortest, tuple(given)


def merged(
    problem: Problem,
    tours: Sequence[NDArray[np.int32]],
    *,
    seed: int,
    threads: int,
    token: _native.StopToken,
) -> NDArray[np.int32]:
    """Return one tour with edges of these tours only, none of which is shorter.

    If the token stops it, that is what has been joined by then.
    """
    lengths = [problem.length(tour, threads=threads) for tour in tours]
    best = tours[int(np.argmin(np.array(lengths)))]
    nodes = (problem.n + (problem.open is not None)) * (2 if problem.asymmetric else 1)
    if nodes >= _FEWEST and len(tours) > 1:
        # That of a path comes back through one more city.
        dummy = np.array([] if problem.open is None else [problem.n], dtype=np.int32)
        orders = np.stack([np.append(tour, dummy) for tour in tours])
        seen = problem if problem.reduced is None else problem.reduced.problem
        weights = np.stack([_edges(seen, tour) for tour in tours])
        if problem.asymmetric:
            orders, weights = _as_nodes(orders, weights)
        order = _native.merge_tours(orders=orders, lengths=weights, seed=seed, threads=threads, token=token)
        if problem.asymmetric:
            order = _as_cities(order)
        tour = order if problem.open is None else path_of(order, problem.open, problem.n)
        if problem.length(tour, threads=threads) < min(lengths):
            best = tour
    best = np.array(turned_to_first(problem, best))
    problem.check_tour(best)
    best.flags.writeable = False
    return best


def _edges(problem: Problem, tour: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return the lengths of the edges of the closed tour, each from its place to the next."""
    if problem.open is None:
        following = np.roll(tour, -1)
        return np.asarray(problem.distance(tour, following), dtype=np.float64)
    inner = np.asarray(problem.distance(tour[:-1], tour[1:]), dtype=np.float64)
    return np.concatenate([inner, [0.0, 0.0]])


def _as_nodes(
    orders: NDArray[np.int32], weights: NDArray[np.float64]
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Return tours through two nodes a city, 2 c in and 2 c + 1 out, so that edges have no direction."""
    count, n = orders.shape
    nodes = np.empty((count, 2 * n), dtype=np.int32)
    nodes[:, 0::2] = 2 * orders
    nodes[:, 1::2] = 2 * orders + 1
    lengths = np.zeros((count, 2 * n))
    lengths[:, 1::2] = weights
    return nodes, lengths


def _as_cities(nodes: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the cities of such a tour in the direction from in to out."""
    n = len(nodes) // 2
    first = int(np.flatnonzero(nodes == 0)[0])
    forwards = nodes[(first + 1) % len(nodes)] == 1
    nodes = np.roll(nodes, -first) if forwards else np.roll(nodes[::-1], -(2 * n - 1 - first))
    return nodes[0::2] // 2
