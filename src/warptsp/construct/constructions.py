"""The registry of constructions, and a start tour by any of them."""

from __future__ import annotations

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
from warptsp.construct.open_paths import closed, opened
from warptsp.construct.patching import PATCHING
from warptsp.construct.simple import SIMPLE
from warptsp.errors import InvalidOption, UnsupportedProblem
from warptsp.problem import Problem
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
    as_closed = closed(problem)
    tour = found.build(as_closed, seed=seed, threads=threads, token=token or _native.StopToken())
    if tour is None or problem.open is None:
        return tour
    return opened(as_closed, problem.open, tour)


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
