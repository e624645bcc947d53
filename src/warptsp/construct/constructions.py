"""The registry of constructions, and a start tour by any of them.

Open paths come by way of closed tours: an edge that closes the path before, and a cut after.
"""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

import warptsp._native as _native
from warptsp._checks import shown
from warptsp._words import listed
from warptsp.construct.construction import Construction
from warptsp.construct.directed_paths import DirectedPaths
from warptsp.construct.patching import PATCHING
from warptsp.construct.simple import SIMPLE
from warptsp.errors import InvalidOption, UnsupportedProblem
from warptsp.problem import OpenPath, Problem
from warptsp.problem.constraints import no_edges

CONSTRUCTIONS: Mapping[str, Construction] = MappingProxyType(
    {construction.name: construction for construction in (*SIMPLE, PATCHING)}
)
"""All constructions, by name."""


def construct(
    problem: Problem,
    start: str | NDArray[np.int32] = "greedy",
    *,
    seed: int = 0,
    threads: int = 1,
    token: _native.StopToken | None = None,
) -> NDArray[np.int32] | None:
    """A start tour with every fixed edge, a path from end to end where the problem is open; None if it was
    stopped.

    `start` is a name in `CONSTRUCTIONS`; a tour is returned as it is. The seed is for "random", and the city
    where "nearest-neighbor" begins; the tour does not depend on the threads. Raises `InvalidOption` if no
    construction has that name; `UnsupportedProblem` if it needs coordinates, and the problem is a matrix, or
    the other way round.
    """
    if not isinstance(start, str):
        return start
    found = CONSTRUCTIONS.get(start)
    if found is None:
        raise InvalidOption(f"unknown start tour {shown(start)}: use one of {listed(CONSTRUCTIONS, start)}")
    if found.coordinates and problem.matrix is not None:
        raise UnsupportedProblem(
            f"start {start!r} needs coordinates, and a distance matrix has none: use 'greedy' or "
            "'nearest-neighbor'"
        )
    if found.matrix and problem.matrix is None:
        raise UnsupportedProblem(
            f"start {start!r} needs a distance matrix, and this problem has coordinates: use 'greedy' or "
            "'space-filling'"
        )
    if problem.asymmetric:
        return _directed(problem, found, seed, threads, token or _native.StopToken())
    as_closed = _closed(problem)
    tour = found.build(as_closed, seed=seed, threads=threads, token=token or _native.StopToken())
    if tour is None or problem.open is None:
        return tour
    return _opened(as_closed, problem.open, tour)


def _directed(
    problem: Problem, found: Construction, seed: int, threads: int, token: _native.StopToken
) -> NDArray[np.int32] | None:
    """A tour without fixed arcs and ends, its cities then in chains of fixed arcs."""
    if found.matrix:  # it minds them itself
        return found.build(problem, seed=seed, threads=threads, token=token)
    free = replace(problem, open=None, fixed_edges=no_edges())
    tour = found.build(free, seed=seed, threads=threads, token=token)
    if tour is None or (problem.open is None and not len(problem.fixed_edges)):
        return tour
    paths = DirectedPaths.of(problem)
    return paths.opened(paths.closed(tour))


def _closed(problem: Problem) -> Problem:
    """The problem of closed tours to which an open one leads: both given ends become neighbours."""
    if problem.open is None:
        return problem
    start, end = problem.open.start, problem.open.end
    fixed = problem.fixed_edges
    if start is not None and end is not None and problem.n > 2:
        fixed = np.concatenate([fixed, np.array([[start, end]], dtype=np.int32)])
    return replace(problem, open=None, fixed_edges=fixed)


def _opened(closed: Problem, path: OpenPath, tour: NDArray[np.int32]) -> NDArray[np.int32]:
    """Cut a tour at the given end, or at its longest edge, and turn it."""
    n = len(tour)
    if n < 2:
        return tour
    if ends := [end for end in (path.start, path.end) if end is not None]:
        end = ends[0]
        at = int(np.flatnonzero(tour == end)[0])
        after, before = int(tour[(at + 1) % n]), int(tour[at - 1])
        if len(ends) == 2:
            cut_after = after == path.end
        else:
            loose_after = not _is_fixed(closed, end, after)
            loose_before = not _is_fixed(closed, end, before)
            longer_after = closed.distance(end, after) > closed.distance(end, before)
            cut_after = loose_after and (longer_after or not loose_before)
        # The city at the cut comes last if the edge behind it goes, else first.
        turned = np.roll(tour, -(at + 1)) if cut_after else np.roll(tour, -at)
        starts = turned[0] == end
        if starts != (path.start is not None):
            turned = turned[::-1]
    else:
        after_each = np.roll(tour, -1)
        edges = np.asarray(closed.distance(tour, after_each), dtype=np.float64)
        if len(closed.fixed_edges):
            place = np.empty(n, dtype=np.int64)
            place[tour] = np.arange(n)
            a, b = place[closed.fixed_edges[:, 0]], place[closed.fixed_edges[:, 1]]
            edges[np.where((a + 1) % n == b, a, b)] = -1.0
        turned = np.roll(tour, -(int(np.argmax(edges)) + 1))
    return np.ascontiguousarray(turned)


def _is_fixed(problem: Problem, a: int, b: int) -> bool:
    edges = problem.fixed_edges
    return bool((((edges[:, 0] == a) & (edges[:, 1] == b)) | ((edges[:, 0] == b) & (edges[:, 1] == a))).any())
