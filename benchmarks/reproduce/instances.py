"""The random instances that stand in for those of document 000 and 001, and parts of TSPLIB instances.

The documents do not give theirs. Ours are of the same sizes and kind: whole-number points, uniform in a
square, and distances cut to whole numbers, as the code of document 000 does. The side of 1000 is ours: the
lengths cannot be compared with the published ones, but numbers of moves and times can.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from warptsp.problem import Problem

SIDE = 1000


def random_cities(cities: int, metric: str = "FLOOR_2D") -> Problem:
    """Return uniform whole-number points in a square; the same for the same number of cities."""
    from warptsp.problem import Problem

    points = np.random.default_rng(cities).integers(0, SIDE, size=(cities, 2))
    return Problem.from_points(points.astype(float), metric, name=f"random{cities}")


def unrounded(problem: Problem) -> Problem:
    """Return the same cities with distances that are not rounded."""
    from warptsp.problem import Metric

    return replace(problem, metric=Metric.EXACT_2D)


def first_cities(folder: Path, name: str, cities: int) -> Problem:
    """Return the first cities of a TSPLIB instance, as document 002 takes them from d18512."""
    from benchmarks.reproduce.harness import instance
    from warptsp.problem import Problem

    whole = instance(folder, name)
    assert whole.coordinates is not None
    return Problem.from_points(whole.coordinates[:cities], whole.metric, name=f"{name}[:{cities}]")
