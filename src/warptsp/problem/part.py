"""Some cities of an instance as an instance of their own."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warptsp.problem.constraints import OpenPath
from warptsp.problem.problem import Problem

_NAMELESS: dict[str, Any] = {
    "comment": "",
    "node_ids": None,
    "labels": None,
    "display": None,
    "display_degrees": False,
    "extra": None,
    "other_weights": None,
    "style": None,
}


def part_of(
    problem: Problem, cities: ArrayLike, place: NDArray[np.int32] | None = None, *, named: bool = True
) -> Problem:
    """Return the instance of some of its cities, k of them.

    `place` has the number there of each city; by default `cities` are in ascending order and have the numbers
    0 to k - 1, and fixed edges of other cities are left out. The given ends of a path are among them. They
    keep their numbers in the file and their names if they are `named`.
    """
    kept = np.asarray(cities)
    if place is None:
        place = np.full(problem.n, -1, dtype=np.int32)
        place[kept] = np.arange(len(kept), dtype=np.int32)
    path, fixed = problem.open, place[problem.fixed_edges]
    ends = () if path is None else (path.start, path.end)
    names = _NAMELESS
    if named:
        extra, other = (problem.extra or {}).items(), problem.other_weights
        if other is not None:
            other = other._replace(matrix=other.matrix[np.ix_(kept, kept)])
        names = {
            "node_ids": problem.ids_of(kept),
            "labels": None if problem.labels is None else [problem.labels[city] for city in kept.tolist()],
            "display": None if problem.display is None else problem.display[kept],
            "other_weights": other,
            "extra": {title: [column[city] for city in kept.tolist()] for title, column in extra} or None,
        }
    return replace(
        problem,
        coordinates=None if problem.coordinates is None else problem.coordinates[kept],
        matrix=None if problem.matrix is None else problem.matrix[np.ix_(kept, kept)],
        fixed_edges=fixed[(fixed >= 0).all(axis=1)],
        open=None if path is None else OpenPath(*(None if end is None else int(place[end]) for end in ends)),
        name="",
        **names,
    )
