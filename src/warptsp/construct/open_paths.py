"""Open paths by way of closed tours: an edge that closes the path before, and a cut after."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from warptsp.problem import OpenPath, Problem


def closed(problem: Problem) -> Problem:
    """The problem of closed tours to which an open one leads: both given ends become neighbours."""
    if problem.open is None:
        return problem
    start, end = problem.open.start, problem.open.end
    fixed = problem.fixed_edges
    if start is not None and end is not None and problem.n > 2:
        fixed = np.concatenate([fixed, np.array([[start, end]], dtype=np.int32)])
    return replace(problem, open=None, fixed_edges=fixed)


def opened(closed: Problem, path: OpenPath, tour: NDArray[np.int32]) -> NDArray[np.int32]:
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
        opened = np.roll(tour, -(at + 1)) if cut_after else np.roll(tour, -at)
        starts = opened[0] == end
        if starts != (path.start is not None):
            opened = opened[::-1]
    else:
        after_each = np.roll(tour, -1)
        edges = np.asarray(closed.distance(tour, after_each), dtype=np.float64)
        if len(closed.fixed_edges):
            place = np.empty(n, dtype=np.int64)
            place[tour] = np.arange(n)
            a, b = place[closed.fixed_edges[:, 0]], place[closed.fixed_edges[:, 1]]
            edges[np.where((a + 1) % n == b, a, b)] = -1.0
        opened = np.roll(tour, -(int(np.argmax(edges)) + 1))
    return np.ascontiguousarray(opened)


def _is_fixed(problem: Problem, a: int, b: int) -> bool:
    edges = problem.fixed_edges
    return bool((((edges[:, 0] == a) & (edges[:, 1] == b)) | ((edges[:, 0] == b) & (edges[:, 1] == a))).any())
