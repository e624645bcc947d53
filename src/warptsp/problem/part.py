"""Some cities of an instance as an instance of their own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from warptsp.problem.open_path import OpenPath
from warptsp.problem.problem import Problem

__all__ = ["part_of"]


def part_of(problem: Problem, cities: ArrayLike) -> Problem:
    """Return the instance of some of its cities, which keep their numbers in the file and their names.

    They are in ascending order, and have the numbers 0 to k - 1 then. The given ends of a path are among
    them. Fixed edges of other cities are left out.
    """
    kept = np.asarray(cities)
    place = np.full(problem.n, -1)
    place[kept] = np.arange(len(kept))

    def moved(city: int | None) -> int | None:
        return None if city is None else int(place[city])

    path, fixed = problem.open, place[problem.fixed_edges]
    extra = problem.extra
    return replace(
        problem,
        coordinates=None if problem.coordinates is None else problem.coordinates[kept],
        matrix=None if problem.matrix is None else problem.matrix[np.ix_(kept, kept)],
        node_ids=problem.ids_of(kept),
        labels=None if problem.labels is None else [problem.labels[city] for city in kept.tolist()],
        display=None if problem.display is None else problem.display[kept],
        extra=None
        if extra is None
        else {title: [column[city] for city in kept.tolist()] for title, column in extra.items()},
        fixed_edges=fixed[(fixed >= 0).all(axis=1)].astype(np.int32),
        open=None if path is None else OpenPath(moved(path.start), moved(path.end)),
        name="",
    )
