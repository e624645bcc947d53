"""Some two hundred searches whose tours are recorded: what a change that moves code must leave as they are.

Methods, threads, metrics and constraints; each search has a fixed amount of work, so that no clock and no
load decides. `same_tours.txt` has a hash of each tour. After a change that is meant to find other tours::

    PYTHONPATH=tests python tests/same_tours.py

records them again, and the difference of that file says which searches have changed.
"""

import hashlib
import platform
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from instances import MATRICES, directed, problem_of, unit_points, whole_points
from numpy.typing import NDArray

import warptsp
from warptsp import Problem
from warptsp.methods import METHODS
from warptsp.problem import Metric, OpenPath

RECORD = Path(__file__).with_name("same_tours.txt")
# Distances on the globe, and temperatures, come from the sine and the logarithm of the C library.
KIND = f"{platform.machine()} {platform.libc_ver()[0] or platform.system()}"

SHAPES: dict[str, dict[str, Any]] = {
    "closed": {},
    "open": {"open": OpenPath()},
    "ends": {"open": OpenPath(3, 7)},
    "fixed": {"fixed_edges": [[0, 9], [9, 4], [2, 11]]},
    "fixed from": {"open": OpenPath(3, None), "fixed_edges": [[3, 11], [5, 6]]},
}
# Metrics that came later stand behind the others, so that what was recorded stays.
FIRST = [*(m for m in Metric if m.kind < Metric.EXPLICIT.kind), *MATRICES, "directed"]
KINDS = [*FIRST, *(m for m in Metric if m.kind > Metric.EXPLICIT.kind)]


class Search(NamedTuple):
    """One call, by its name."""

    name: str
    tours: Callable[[], Any]  # an array, or several
    slow: bool = False


def _problem(kind: Metric | str, n: int, shape: str) -> Problem:
    made = directed if kind == "directed" else lambda n, seed, **fields: problem_of(kind, n, seed, **fields)
    return made(n, 5, **SHAPES[shape])


def _solve(problem: Any, **options: Any) -> Callable[[], NDArray[np.int32]]:
    def tour() -> NDArray[np.int32]:
        made = problem() if callable(problem) else problem
        given = {"seed": 3, "device": "cpu", "bound": False, "prove": False, **options}
        return warptsp.solve(made, **given).tour

    return tour


def _of_kinds() -> Iterator[Search]:
    """Every metric and matrix, in every shape, by the main solver."""
    for at, kind in enumerate(KINDS):
        name = kind if isinstance(kind, str) else kind.name
        for step, shape in enumerate(SHAPES):
            threads = 1 + (at + step) % 2
            yield Search(
                f"lk {name} {shape} {threads}",
                _solve(lambda k=kind, s=shape: _problem(k, 200, s), kicks=60, threads=threads),
            )


# What each other method is given to do.
WORK: dict[str, dict[str, Any]] = {
    "three-opt": {"n": 30},
    "vnd": {"n": 24},
    "relocate": {"n": 60},
    "ils": {"kicks": 120},
    "symmetric-three-opt": {"n": 40},
    "symmetric-annealing": {"n": 24, "params": {"chains": 2, "rotations": 300}},
    "hill-climbing": {"n": 24, "kicks": 12},
    "exact": {"n": 12},
    "construct": {"n": 300, "start": "nearest-neighbor"},
}


def _of_methods() -> Iterator[Search]:
    for name in METHODS:
        if name == "lk":
            continue
        options = dict(WORK.get(name, {}))
        n = options.pop("n", 80)
        start = {} if name in ("hill-climbing", "exact", "construct") else {"start": "random"}
        shapes = ["closed"] if name == "hill-climbing" else ["closed", "ends", "fixed"]
        for at, kind in enumerate((Metric.EUC_2D, Metric.EXACT_2D, Metric.MAN_3D, "whole", "real")):
            label = kind if isinstance(kind, str) else kind.name
            threads, shape = 1 + at % 2, shapes[at % len(shapes)]
            yield Search(
                f"{name} {label} {shape} {threads}",
                _solve(
                    lambda k=kind, n=n, s=shape: _problem(k, n, s),
                    method=name,
                    threads=threads,
                    **start,
                    **options,
                ),
            )


def _of_main_solver() -> Iterator[Search]:
    """Its parameters, the ends of its runs, and its ways with longer tours."""
    points = unit_points(400, 7)  # so few kicks that none of these finds an optimal tour
    for params in (
        {"candidates": 5, "per_quadrant": 0},
        {"candidates": 14, "per_quadrant": 3},
        {"depth": 3, "breadth": (8, 2)},
        {"depth": 30, "breadth": (1,)},
        {"segment": 3, "walks": 0.0, "long_links": 0.0},
        {"walks": 1.0, "walk": 2},
        {"long_links": 1.0, "walks": 0.0},
        {"temperature": 0.0},
        {"population": 0},
    ):
        label = " ".join(f"{name}={value}".replace(" ", "") for name, value in params.items())
        yield Search(f"lk {label}", _solve(points, kicks=300, threads=1, params=params))
    for n in (9, 20, 31):  # proved, and by populations
        for threads in (1, 2):
            yield Search(f"lk {n} cities to the end {threads}", _solve(unit_points(n, n), threads=threads))
    yield Search("lk a matrix to the end", _solve(lambda: problem_of("whole", 31), threads=1))
    yield Search("lk a directed matrix to the end", _solve(lambda: directed(20), threads=1))
    for start in ("greedy", "space-filling", "nearest-neighbor", "random"):
        yield Search(f"lk from {start}", _solve(points, kicks=200, start=start, threads=2))
    for threads in (1, 2):
        yield Search(
            f"lk crossover {threads}", _solve(whole_points(250, 2, side=10**5), kicks=2500, threads=threads)
        )
    yield Search("lk then ils", _solve(points, kicks=200, then="ils", threads=1))
    rows = np.round(whole_points(400, 4, side=20))
    yield Search("lk cities at one point", _solve(rows, kicks=300, threads=1))
    yield Search("lk clusters", _solve(lambda: _clusters(600), kicks=600, threads=2))
    yield Search("lk parts", _solve(lambda: unit_points(8500, 1), kicks=1500, threads=2), slow=True)
    yield Search("lk clusters in parts", _solve(lambda: _clusters(21_000), kicks=9000, threads=2), slow=True)
    yield Search("lk large population", _solve(unit_points(1500, 2), kicks=12_000, threads=2), slow=True)
    yield Search("lk 200 cities to the end", _solve(unit_points(200, 3), threads=2), slow=True)
    yield Search("lk directed population", _solve(lambda: directed(150), kicks=6000, threads=1), slow=True)
    yield Search("ils chains", _solve(points, method="ils", kicks=200, params={"chains": 5}, threads=2))


def _clusters(n: int) -> NDArray[np.float64]:
    centers = 100 * unit_points(12, 3)
    return centers[np.arange(n) % 12] + unit_points(n, 4)


def _many(problems: Callable[[], Any], **options: Any) -> Callable[[], list[NDArray[np.int32]]]:
    def tours() -> list[NDArray[np.int32]]:
        found = warptsp.solve_many(problems(), seed=3, device="cpu", **options)
        return [np.asarray(tour) for tour in found.tours]

    return tours


def _of_many() -> Iterator[Search]:
    def matrices(dtype: str) -> NDArray[Any]:
        return np.stack([problem_of("no triangles", 70, seed).matrix for seed in range(4)]).astype(dtype)

    def mixed() -> list[Problem]:
        return [
            _problem(kind, 40 + 3 * at, shape)
            for at, (kind, shape) in enumerate(zip(FIRST, 4 * list(SHAPES), strict=False))
        ]

    for threads in (1, 2):
        for kicks in (None, 20):
            more = {"kicks": kicks, "threads": threads}
            end = f"{'to the end' if kicks is None else 'kicks'} {threads}"
            yield Search(
                f"many points {end}", _many(lambda: unit_points(6 * 90, 1).reshape(6, 90, 2), **more)
            )
            yield Search(f"many integers {end}", _many(lambda: matrices("int32"), **more))
            yield Search(f"many reals {end}", _many(lambda: matrices("float64") / 7, **more))
            if kicks is not None:  # where nothing limits it, time may end a search that `solve` does alone
                yield Search(f"many problems {end}", _many(mixed, **more))


def every() -> list[Search]:
    """All searches; their names are unique."""
    searches = [*_of_kinds(), *_of_methods(), *_of_main_solver(), *_of_many()]
    assert len({search.name for search in searches}) == len(searches)
    return searches


def hash_of(search: Search) -> str:
    """Hash of what it finds."""
    found = search.tours()
    digest = hashlib.sha256()
    for tour in found if isinstance(found, list) else [found]:
        digest.update(np.asarray(tour, dtype="<i4").tobytes() + b"|")
    return digest.hexdigest()[:12]


def recorded() -> tuple[str, dict[str, str]]:
    """The kind of machine that they were recorded on, and the hash for each name."""
    first, *lines = RECORD.read_text(encoding="utf-8").splitlines()
    return first, {name: hashed for hashed, name in (line.split(" ", 1) for line in lines)}


if __name__ == "__main__":
    lines = [KIND, *(f"{hash_of(search)} {search.name}" for search in every())]
    RECORD.write_text("\n".join(lines) + "\n", encoding="utf-8")
