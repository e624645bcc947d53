"""The registry of constructions, and what is common to them: fixed edges and open paths."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from warptsp import _native
from warptsp._checks import shown
from warptsp.errors import InvalidOption

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warptsp.problem import OpenPath, Problem

__all__ = ["CONSTRUCTIONS", "Construction", "construct"]

Construction = Callable[..., "NDArray[np.int32] | None"]

#: Name of each construction, and the module whose ``build(problem, *, seed, threads, token)`` makes it: a
#: closed tour with the problem's fixed edges, or None if the token stopped it.
CONSTRUCTIONS: Mapping[str, str] = MappingProxyType(
    {
        "greedy": "greedy",
        "space-filling": "space_filling",
        "nearest-neighbor": "nearest_neighbor",
        "random": "random",
        "given": "given",
    }
)


def construct(
    problem: Problem,
    start: str | NDArray[np.int32] = "greedy",
    *,
    seed: int = 0,
    threads: int = 1,
    token: _native.StopToken | None = None,
) -> NDArray[np.int32] | None:
    """A start tour.

    Parameters
    ----------
    problem : Problem
    start : str or ndarray of int32
        A name in `CONSTRUCTIONS`; a tour is returned as it is.
    seed : int
        For "random", and the city where "nearest-neighbor" begins.
    threads : int
        The tour does not depend on it.
    token : _native.StopToken, optional

    Returns
    -------
    ndarray of int32, shape (n,), or None
        A tour with every fixed edge (a path from end to end where the problem is open); None if the token
        stopped it.

    Raises
    ------
    InvalidOption
        No construction has that name.
    UnsupportedProblem
        The construction needs coordinates, and the problem is a matrix.
    """
    if not isinstance(start, str):
        return start
    if start not in CONSTRUCTIONS:
        raise InvalidOption(f"unknown start tour {shown(start)}: use one of {', '.join(CONSTRUCTIONS)}")
    build: Construction = import_module(f"warptsp.construct.{CONSTRUCTIONS[start]}").build
    closed = _closed(problem)
    tour = build(closed, seed=seed, threads=threads, token=token or _native.StopToken())
    if tour is None or problem.open is None:
        return tour
    return _opened(closed, problem.open, tour)


def keep_fixed_edges(
    problem: Problem, order: NDArray[np.int32] | None, token: _native.StopToken
) -> NDArray[np.int32] | None:
    """The order, with each path of fixed edges as a whole where its first city comes."""
    if order is None or len(problem.fixed_edges) == 0:
        return order
    return _native.keep_fixed_edges(order, problem.fixed_edges, token)


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
    """Cut a tour at the given end, or at its longest link, and turn it."""
    n = len(tour)
    if n < 2:
        return tour
    if path.start is not None or path.end is not None:
        end = path.end if path.start is None else path.start
        assert end is not None
        at = int(np.flatnonzero(tour == end)[0])
        after, before = int(tour[(at + 1) % n]), int(tour[at - 1])
        both = path.start is not None and path.end is not None
        if both:
            cut_after = after == path.end
        else:
            loose_after = not _is_fixed(closed, end, after)
            loose_before = not _is_fixed(closed, end, before)
            longer_after = closed.distance(end, after) > closed.distance(end, before)
            cut_after = loose_after and (longer_after or not loose_before)
        # The city at the cut comes last if the link behind it goes, else first.
        opened = np.roll(tour, -(at + 1)) if cut_after else np.roll(tour, -at)
        starts = opened[0] == end
        if starts != (path.start is not None):
            opened = opened[::-1]
    else:
        after_each = np.roll(tour, -1)
        links = np.asarray(closed.distance(tour, after_each), dtype=np.float64)
        if len(closed.fixed_edges):
            place = np.empty(n, dtype=np.int64)
            place[tour] = np.arange(n)
            a, b = place[closed.fixed_edges[:, 0]], place[closed.fixed_edges[:, 1]]
            links[np.where((a + 1) % n == b, a, b)] = -1.0
        opened = np.roll(tour, -(int(np.argmax(links)) + 1))
    return np.ascontiguousarray(opened)


def _is_fixed(problem: Problem, a: int, b: int) -> bool:
    edges = problem.fixed_edges
    return bool((((edges[:, 0] == a) & (edges[:, 1] == b)) | ((edges[:, 0] == b) & (edges[:, 1] == a))).any())
