"""Instances: of TSPLIB, parts of them, and random ones that stand in for those of documents 000 and 001.

Those documents do not give theirs. Ours are of the same sizes and kind: whole-number points, uniform in a
square, and distances cut to whole numbers, as the code of document 000 does. The side of 1000 is ours: the
lengths cannot be compared with the published ones, but numbers of moves and times can.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.common import DIMACS

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
    from warptsp.problem import Problem

    whole = instance(folder, name)
    assert whole.coordinates is not None
    return Problem.from_points(whole.coordinates[:cities], whole.metric, name=f"{name}[:{cities}]")


def instance(folder: Path, name: str) -> Problem:
    """Return a TSPLIB instance of the folder."""
    from warptsp.io import load

    return load(folder / f"{name}.tsp")


def known_instances(metric: str | None = None) -> list[tuple[str, int]]:
    """Return (name, cities) of the TSPLIB instances with a length on record, smallest first."""
    import csv
    from importlib.resources import files

    lines = files("warptsp.problem").joinpath("known_lengths.csv").read_text(encoding="utf-8").splitlines()
    rows = [row for row in csv.DictReader(lines) if DIMACS.fullmatch(row["name"]) is None]
    found = {(row["name"], int(row["n"])) for row in rows if metric is None or row["metric"] == metric}
    return sorted(found, key=lambda row: (row[1], row[0]))
