"""Instances that tests share, and the slow and obvious ways to their distances and shortest tours."""

import zlib
from pathlib import Path
from typing import Any

import exact
import numpy as np
from numpy.typing import NDArray

from warptsp.problem import Metric, Problem

MATRICES = ("whole", "real", "no triangles")
AWKWARD = ("duplicates", "one place", "line", "far away", "small steps", "huge", "wide")


class Frame:
    """The least that a data frame is: columns by name, and an index if one is given."""

    def __init__(self, index: Any = None, **columns: Any) -> None:
        self._columns = columns
        if index is not None:
            self.index = index

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self._columns)

    def __getitem__(self, name: str) -> Any:
        return self._columns[name]

    def set_geometry(self) -> None:
        """What data frames of pandas have, too, once GeoPandas is imported."""


def drawing(*names: object) -> tuple[np.random.Generator, int]:
    """Random numbers that depend on these names, and their seed."""
    seed = zlib.crc32(" ".join(map(str, names)).encode())
    print("seed", seed, *names)
    return np.random.default_rng(seed), seed


def unit_points(n: int, seed: int = 0) -> NDArray[np.float64]:
    """Random places in the unit square."""
    return np.random.default_rng(seed).random((n, 2))


def whole_points(n: int, seed: int = 0, *, side: int = 1000) -> NDArray[np.float64]:
    """Random places of whole coordinates below `side`."""
    return np.random.default_rng(seed).integers(0, side, (n, 2)).astype(float)


def crowded(
    count: int = 100, times: int = 5, seed: int = 1, metric: str = "EUC_2D", **fields: Any
) -> Problem:
    """Places that each have so many cities, in random order."""
    points = np.repeat(whole_points(count, seed, side=100_000), times, axis=0)
    np.random.default_rng(seed).shuffle(points)
    return Problem.from_points(points, metric, **fields)


def directed(n: int, seed: int = 0, *, real: bool = False, **fields: Any) -> Problem:
    """Whole distances from 1 to 999 that differ by direction, or sevenths of them."""
    matrix = np.random.default_rng(seed).integers(1, 1000, (n, n))
    return Problem.from_matrix(matrix / 7.0 if real else matrix, asymmetric=True, **fields)


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


def awkward(kind: str, n: int, seed: int = 0) -> Problem:
    """Cities in few places, or whose distances single precision cannot tell apart, or does not hold."""
    random = np.random.default_rng((n, seed))
    metric = "EUC_2D" if kind in ("duplicates", "line", "wide") else "EXACT_2D"
    match kind:
        case "duplicates":
            places = random.integers(0, 4, (n, 2)).astype(float)
        case "one place":
            places = np.full((n, 2), 3.25)
        case "line":
            places = np.stack([random.permutation(n), np.zeros(n)], axis=1).astype(float)
        case "far away":
            places = 1e12 + random.integers(0, 10**6, (n, 2))
        case "small steps":
            places = random.random((n, 2)) * 1e-9
        case "huge":
            places = random.random((n, 2)) * 1e30
        case _:
            places = random.integers(0, 10**9, (n, 2)).astype(float)
    return Problem.from_points(places, metric)


def distances(problem: Problem) -> NDArray[Any]:
    """All of them, as a matrix of int64 or float64."""
    every = np.arange(problem.n)
    matrix = np.asarray(problem.distance(every[:, None], every[None]))
    return matrix.astype(np.int64 if problem.integral else np.float64)


def shortest(problem: Problem) -> int | float:
    """The length of the shortest permitted tour or path of up to `exact.MAX_CITIES` cities."""
    path = None if problem.open is None else (problem.open.start, problem.open.end)
    fixed = problem.fixed_edges.tolist()
    found = exact.optimum(distances(problem), open=path, fixed=fixed, directed=problem.asymmetric)
    assert found is not None
    return found[0] if problem.integral and isinstance(found[0], int) else float(found[0])


def mixed(x: int) -> int:
    """The hash that names random numbers: mix64 of native/common/random.h."""
    x &= 2**64 - 1
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & 2**64 - 1
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & 2**64 - 1
    return x ^ (x >> 31)


def write_tsplib(path: Path, points: NDArray[Any]) -> Path:
    """Write whole numbers as an instance of TSPLIB."""
    rows = "\n".join(f"{i} {x:.0f} {y:.0f}" for i, (x, y) in enumerate(points, 1))
    path.write_text(
        f"NAME : {path.stem}\nTYPE : TSP\nDIMENSION : {len(points)}\nEDGE_WEIGHT_TYPE : EUC_2D\n"
        f"NODE_COORD_SECTION\n{rows}\nEOF\n"
    )
    return path
