"""New places in a tour whose order is kept, and places taken out of it.

Cheapest insertion (Rosenkrantz, Stearns and Lewis, 1977): of all places that are left, the one with the least
detour goes where that detour is. Afterwards the surroundings of the new places may be searched, and nothing
beyond them.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warptsp._checks import checked_count, shown
from warptsp._words import counted
from warptsp.errors import InvalidOption, UnsupportedProblem
from warptsp.interruption import FirstSignal, delivered
from warptsp.problem import OpenPath, Problem
from warptsp.problem.part import part_of
from warptsp.problem.values import float_array, integer_array
from warptsp.result import Result
from warptsp.run.snapshots import turned_to_first
from warptsp.solver import solve

_KICKS = 50  # for each city of a stretch that is improved
_BLOCK = 1 << 22  # distances that are computed at once


def insert(
    problem: Problem,
    tour: ArrayLike,
    points: ArrayLike,
    *,
    labels: Iterable[str] | None = None,
    node_ids: ArrayLike | None = None,
    extra: Mapping[str, Sequence[Any]] | None = None,
    improve: int = 0,
    seed: int = 0,
) -> Result:
    """Insert places into a tour with the least detour; the cities that it has keep their order.

    Parameters
    ----------
    problem : Problem
        The instance of the tour, with coordinates.
    tour : array_like of int
        Its cities, counted from 0.
    points : array_like, shape (k, 2) or (k, 3)
        Coordinates as those of the instance.
    labels : iterable of str, optional
        Their names.
    node_ids : array_like of int, shape (k,), optional
        Their numbers. A place whose number a city of the instance has gets one after the last, as all do by
        default.
    extra : mapping of str to sequence, optional
        Their entries in other columns of the instance; columns that it does not have are left out.
    improve : int
        How many cities before and after each new one may change places, too; 0 for none.
    seed : int
        Seed of the search for `improve`.

    Returns
    -------
    Result
        Of an instance with the new cities; its method is ``"insert"``.

    Raises
    ------
    InvalidProblem, InvalidTour, InvalidOption
        If an argument is invalid.
    UnsupportedProblem
        If the instance is a matrix.
    KeyboardInterrupt
        By Ctrl-C and other signals as `warptsp.solve` raises it, with the tour in ``result``.
    """
    started = time.monotonic()
    reach = checked_count("improve", improve, minimum=0, what="a number of cities, 0 or more")
    problem.check_tour(tour)
    whole = _with_places(problem, float_array(points, "the places"), labels, node_ids, extra or {})
    order = _inserted(whole, np.asarray(tour, dtype=np.int32), problem.n)
    kicks, caught = 0, None
    if reach and whole.n > problem.n:
        with FirstSignal() as signals:
            order, kicks = _improved(whole, order, problem.n, reach, seed, signals)
        caught = signals.caught
    result = _result(whole, order, started, "insert", {"kicks": kicks, "inserted": whole.n - problem.n})
    return delivered(replace(result, interrupted=caught is not None, signal=caught), caught)


def remove(problem: Problem, tour: ArrayLike, cities: Iterable[int]) -> Result:
    """Take cities out of a tour; the others keep their order, and are numbered anew without gaps.

    Raises
    ------
    InvalidOption
        If there is no such city, or it is an end of the path or of a fixed edge, or none would be left.
    UnsupportedProblem
        If the instance is a matrix.
    """
    started = time.monotonic()
    _check_coordinates(problem)
    problem.check_tour(tour)
    gone = np.zeros(problem.n, dtype=np.bool_)
    try:
        numbers = iter(cities)
    except TypeError:
        raise InvalidOption(f"cities: {shown(cities)} is no list of numbers of cities, such as [3]") from None
    for city in numbers:
        if isinstance(city, bool) or not isinstance(city, (int, np.integer)) or not 0 <= city < problem.n:
            raise InvalidOption(f"city {shown(city)} cannot be removed: cities are 0 to {problem.n - 1}")
        gone[city] = True
    held = set(problem.fixed_edges[gone[problem.fixed_edges].any(axis=1)].ravel().tolist())
    path = problem.open
    if path is not None:
        held |= {city for city in (path.start, path.end) if city is not None}
    for city in np.flatnonzero(gone).tolist():
        if city in held:
            raise InvalidOption(
                f"node {problem.node_id(city)} cannot be removed: it is an end of the path or of a fixed edge"
            )
    if gone.all():
        raise InvalidOption("every city would be removed: at least one must stay")
    left = part_of(problem, np.flatnonzero(~gone))
    place = np.cumsum(~gone) - 1
    old = np.asarray(tour)
    order = place[old[~gone[old]]].astype(np.int32)
    return _result(left, order, started, "remove", {"removed": int(gone.sum())})


def _check_coordinates(problem: Problem) -> None:
    if problem.coordinates is None:
        raise UnsupportedProblem(
            "a distance matrix has no places to insert or remove: coordinates are needed"
        )


def _with_places(
    problem: Problem,
    points: NDArray[np.float64],
    labels: Iterable[str] | None,
    node_ids: ArrayLike | None,
    extra: Mapping[str, Sequence[Any]],
) -> Problem:
    """The instance with more cities."""
    _check_coordinates(problem)
    old = problem.given_coordinates()
    if points.ndim != 2 or points.shape[1] != old.shape[1]:
        raise InvalidOption(
            f"places have shape {points.shape}: (k, {old.shape[1]}) is needed, as the tour's have"
        )
    count = len(points)
    names = None if labels is None else list(labels)
    ids = None if node_ids is None else integer_array(node_ids, "node_ids").astype(np.int64)
    if names is not None and len(names) != count:
        raise InvalidOption(f"labels: {len(names)} for {count} places; one for each is needed")
    for what, given in {**extra, "node_ids": ids}.items():
        if given is not None and len(given) != count:
            raise InvalidOption(f"{what}: {len(given)} values for {count} places; one for each is needed")
    new_ids = _free_ids(problem, count, ids)
    if names is None and problem.labels is not None:
        names = list(map(str, new_ids.tolist()))
    if names is not None:
        names = [*(problem.label(city) for city in range(problem.n)), *names]
    if problem.extra is not None:
        # New places have nothing in columns that they come without.
        extra = {title: [*column, *extra.get(title, [""] * count)] for title, column in problem.extra.items()}
    all_ids = np.concatenate([problem.ids_of(np.arange(problem.n)), new_ids])
    return replace(
        problem,
        coordinates=np.concatenate([old, points]),
        node_ids=None if np.array_equal(all_ids, np.arange(1, len(all_ids) + 1)) else all_ids,
        labels=names,
        display=None,
        extra=None if problem.extra is None else extra,
        name="",
    )


def _free_ids(problem: Problem, count: int, wanted: NDArray[np.int64] | None) -> NDArray[np.int64]:
    """The numbers of so many new cities: those that are wanted and free, otherwise the next ones."""
    taken = problem.ids_of(np.arange(problem.n))
    if wanted is None:
        return int(taken.max()) + 1 + np.arange(count)
    again = np.isin(wanted, taken)
    first = max(int(taken.max()), int(wanted.max(initial=0))) + 1
    wanted[again] = first + np.arange(int(again.sum()))
    return wanted


def _inserted(whole: Problem, tour: NDArray[np.int32], n: int) -> NDArray[np.int32]:
    """Cheapest insertion of the cities from `n` on.

    For each of them the best edge is kept. An insertion replaces one edge by two, so only cities whose edge
    it was look at all edges again.
    """
    new = np.arange(n, whole.n)
    following = np.full(whole.n + 2, -1, dtype=np.int64)
    # Where edges begin and end; -2 stands for what is before a path and -1 for what is behind it.
    starts = tour.tolist() if whole.open is None else [-2, *tour.tolist()]
    ends = [*starts[1:], starts[0]] if whole.open is None else [*starts[1:], -1]
    edges = {(a, b) for a, b in whole.fixed_edges.tolist()}
    free = np.empty(len(starts), dtype=np.bool_)
    for place, (a, b) in enumerate(zip(starts, ends, strict=True)):
        edge_between = min(a, b), max(a, b)
        free[place] = edge_between not in edges
        edges.discard(edge_between)  # which a tour of two cities has twice: one of them need not stay
    tails, heads = (
        np.append(np.array(of)[free], np.zeros(2 * len(new), dtype=np.int64)) for of in (starts, ends)
    )
    following[np.array(starts)] = np.array(ends)
    best = np.empty(len(new), dtype=np.int64)
    detour = np.empty(len(new))
    count = int(free.sum())

    def choose(rows: NDArray[np.intp]) -> None:
        step = max(1, _BLOCK // max(count, 1))
        for begin in range(0, len(rows), step):
            block = rows[begin : begin + step]
            costs = _detours(whole, tails[:count], heads[:count], new[block])
            best[block] = costs.argmin(axis=1)
            detour[block] = costs[np.arange(len(block)), best[block]]

    choose(np.arange(len(new)))
    left = np.ones(len(new), dtype=np.bool_)
    for _ in range(len(new)):
        row = int(np.where(left, detour, np.inf).argmin())
        left[row] = False
        city, edge = int(new[row]), int(best[row])
        tail, head = int(tails[edge]), int(heads[edge])
        following[tail], following[city] = city, head
        tails[edge], heads[edge] = tail, city
        tails[count], heads[count] = city, head
        count += 1
        choose(np.flatnonzero(left & (best == edge)))
        others = np.flatnonzero(left)
        pair = np.array([edge, count - 1])
        costs = _detours(whole, tails[pair], heads[pair], new[others])
        nearer = costs.min(axis=1) < detour[others]
        best[others[nearer]] = pair[costs[nearer].argmin(axis=1)]
        detour[others[nearer]] = costs[nearer].min(axis=1)
    first = int(tour[0]) if whole.open is None else int(following[-2])
    order = np.empty(whole.n, dtype=np.int32)
    for place in range(whole.n):
        order[place] = first
        first = int(following[first])
    return order


def _detours(
    whole: Problem, tails: NDArray[np.int64], heads: NDArray[np.int64], cities: NDArray[np.int64]
) -> NDArray[np.float64]:
    """How much longer each edge becomes by each city, shape (cities, edges); a free end loses no edge."""
    outer, inner = tails < 0, heads < 0
    path = whole.open
    one, two = np.maximum(tails, 0), np.maximum(heads, 0)
    to = np.where(outer, 0.0, whole.distance(one[None], cities[:, None]))
    on = np.where(inner, 0.0, whole.distance(cities[:, None], two[None]))
    lost = np.where(outer | inner, 0.0, whole.distance(one, two))
    detours: NDArray[np.float64] = to + on - lost
    if path is not None:  # nothing comes before a given start, nor behind a given end
        detours[:, outer if path.start is not None else np.zeros_like(outer)] = np.inf
        detours[:, inner if path.end is not None else np.zeros_like(inner)] = np.inf
    return detours


def _improved(
    whole: Problem, order: NDArray[np.int32], n: int, reach: int, seed: int, signals: FirstSignal
) -> tuple[NDArray[np.int32], int]:
    """Search stretches of so many cities around the new ones, each between its neighbours."""
    size = len(order)
    places = np.flatnonzero(order >= n)
    near = np.zeros(size, dtype=np.bool_)
    for shift in range(-reach, reach + 1):
        at = places + shift
        near[at % size if whole.open is None else at[(at >= 0) & (at < size)]] = True
    if whole.open is None and not near.all():
        still = int(np.flatnonzero(~near)[0])
        order, near = np.roll(order, -still), np.roll(near, -still)
    elif near.all():
        found = solve(
            whole, start=order, kicks=_KICKS * size, seed=seed, threads=1, device="cpu", bound=False
        )
        return found.tour, found.kicks
    edges = np.flatnonzero(np.diff(np.concatenate([[0], near.astype(np.int8), [0]])))
    kicks = 0
    for begin, end in edges.reshape(-1, 2).tolist():
        # With the city before and the one behind, which stay where they are.
        low, high = max(begin - 1, 0), min(end + 1, size)
        wraps = end == size and whole.open is None
        cities = np.concatenate([order[low:high], order[:1] if wraps else order[:0]])
        if len(cities) < 4 or signals.caught is not None:
            continue
        stretch, made = _stretch(whole, cities, begin > 0, end < size or wraps, seed)
        order[low:high] = stretch[: high - low]
        kicks += made
    return order, kicks


def _stretch(
    whole: Problem, cities: NDArray[np.int32], held_start: bool, held_end: bool, seed: int
) -> tuple[NDArray[np.int32], int]:
    """The best order found of cities of a path between its ends, where these are held."""
    path = whole.open
    start = 0 if held_start or (path is not None and path.start is not None) else None
    end = len(cities) - 1 if held_end or (path is not None and path.end is not None) else None
    edges = {(a, b) for a, b in whole.fixed_edges.tolist()}
    # Those within the stretch: one that the tour has elsewhere, from its end to its start, stays by itself.
    pairs = enumerate(pairwise(cities.tolist()))
    fixed = [(place, place + 1) for place, (a, b) in pairs if (min(a, b), max(a, b)) in edges]
    part = Problem(
        whole.metric,
        coordinates=whole.given_coordinates()[cities],
        fixed_edges=np.array(fixed, dtype=np.int32).reshape(-1, 2),
        open=OpenPath(start, end),
    )
    given = np.arange(len(cities), dtype=np.int32)
    found = solve(
        part, start=given, kicks=_KICKS * len(cities), seed=seed, threads=1, device="cpu", bound=False
    )
    return cities[found.tour], found.kicks


def _result(
    problem: Problem, order: NDArray[np.int32], started: float, method: str, counters: dict[str, Any]
) -> Result:
    order = np.array(turned_to_first(problem, order))  # as every closed tour of a result
    problem.check_tour(order)
    order.flags.writeable = False
    done = counted(counters.get("inserted", counters.get("removed", 0)), "place", "places")
    return Result(
        tour=order,
        length=problem.length(order),
        problem=problem,
        known=problem.known_length,
        history=[],
        counters=counters,
        seconds=time.monotonic() - started,
        stop_reason=f"{done} {'inserted' if method == 'insert' else 'removed'}",
        method=method,
        start="tour",
    )
