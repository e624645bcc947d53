"""Instances that tests share, and the slow and obvious ways to their distances and shortest tours."""

from __future__ import annotations

import functools
import itertools
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warptsp.problem import Metric, Problem

MATRICES = ("whole", "real", "no triangles")


def unit_points(n: int, seed: int = 0) -> NDArray[np.float64]:
    """Random places in the unit square."""
    return np.random.default_rng(seed).random((n, 2))


def whole_points(n: int, seed: int = 0, *, side: int = 1000) -> NDArray[np.float64]:
    """Random places of whole coordinates below `side`."""
    return np.random.default_rng(seed).integers(0, side, (n, 2)).astype(float)


def directed(n: int, seed: int = 0, **fields: Any) -> Problem:
    """Whole distances from 1 to 999 that differ by direction."""
    matrix = np.random.default_rng(seed).integers(1, 1000, (n, n))
    return Problem.from_matrix(matrix, asymmetric=True, **fields)


def problem_of(kind: Metric | str, n: int, seed: int = 0, *, side: int = 1000, **fields: Any) -> Problem:
    """Random cities of a metric, all over the globe or of whole coordinates below `side`; or a matrix."""
    random = np.random.default_rng((n, seed))
    if kind in MATRICES or kind is Metric.EXPLICIT:
        half = np.triu(random.integers(0, 1_000_000 if kind == "no triangles" else 100, (n, n)), 1)
        matrix = half + half.T
        return Problem.from_matrix(matrix / 7 if kind == "real" else matrix.astype(np.int32), **fields)
    metric = Metric.parse(kind) if isinstance(kind, str) else kind
    if metric.geographic:
        places = np.column_stack([random.integers(-90, 91, n), random.integers(-180, 181, n)])
    else:
        places = random.integers(0, side, (n, metric.dimensions))
    return Problem.from_points(places.astype(float), metric, **fields)


def distances(problem: Problem) -> NDArray[Any]:
    """All of them, as a matrix of int64 or float64."""
    every = np.arange(problem.n)
    matrix = np.asarray(problem.distance(every[:, None], every[None]))
    return matrix.astype(np.int64 if problem.integral else np.float64)


@functools.cache
def _orders(n: int) -> NDArray[np.int8]:
    return np.array(list(itertools.permutations(range(n))), dtype=np.int8)


def shortest(problem: Problem) -> float:
    """The length of the shortest permitted tour or path, by trying every one."""
    n, path = problem.n, problem.open
    if path is None:
        orders = np.insert(_orders(n - 1) + 1, 0, 0, axis=1)
    else:
        orders = _orders(n)
        if path.start is not None:
            orders = orders[orders[:, 0] == path.start]
        if path.end is not None:
            orders = orders[orders[:, -1] == path.end]
    if len(problem.fixed_edges):
        places = np.argsort(orders, axis=1)
        for a, b in problem.fixed_edges:
            onward = places[:, b] - places[:, a]
            closing = path is None
            keep = (onward == 1) | ((onward == 1 - n) & closing)
            if not problem.asymmetric:
                keep |= (onward == -1) | ((onward == n - 1) & closing)
            orders, places = orders[keep], places[keep]
    length = distances(problem)
    sums = length[orders[:, :-1], orders[:, 1:]].sum(axis=1)
    if path is None:
        sums = sums + length[orders[:, -1], orders[:, 0]]
    return problem.length(orders[np.argmin(sums)].astype(np.int32))


def write_tsplib(path: Path, points: NDArray[Any]) -> Path:
    """Write whole numbers as an instance of TSPLIB."""
    rows = "\n".join(f"{i} {x:.0f} {y:.0f}" for i, (x, y) in enumerate(points, 1))
    path.write_text(
        f"NAME : {path.stem}\nTYPE : TSP\nDIMENSION : {len(points)}\nEDGE_WEIGHT_TYPE : EUC_2D\n"
        f"NODE_COORD_SECTION\n{rows}\nEOF\n"
    )
    return path
