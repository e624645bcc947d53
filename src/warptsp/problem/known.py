"""Optimal and best known lengths of the public benchmark instances.

``known_lengths.csv`` holds, for each instance of TSPLIB and of the DIMACS challenge, its optimal or best
known length, and a digest of its cities in file order: an instance that has the name but other cities, if
only one that has moved a little, is not recognised.
"""

import re
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warptsp.errors import InvalidOption
from warptsp.problem.lattice import grid_optimal_length
from warptsp.problem.metric import Metric
from warptsp.progress import relative_gap

FixedEdges = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class KnownLength:
    """The optimal or best known length of an instance.

    Attributes
    ----------
    name : str
        The instance's name as published, or as the user gave it.
    n : int
        Number of cities.
    metric : Metric
    length : int or float
        A whole number for published instances.
    proven : bool
        True if no shorter tour exists; otherwise the best that anyone has published.
    """

    name: str
    n: int
    metric: Metric
    length: int | float
    proven: bool
    fixed_edges: FixedEdges = ()
    digest: str | None = None

    def gap(self, length: float) -> float | None:
        """How much longer `length` is, as a fraction: 0.01 is one per cent; None if only this one is 0."""
        return relative_gap(length, self.length)


def known_grid(name: str, coordinates: NDArray[np.float64]) -> KnownLength | None:
    """The optimal length of a grid made by `warptsp.generate.grid`, if these are its cities."""
    match = re.fullmatch(r"grid(\d{1,9})x(\d{1,9})", name)
    if match is None:
        return None
    rows, columns = int(match[1]), int(match[2])
    spacing = float(coordinates[-1, 0]) / max(1, columns - 1)
    if not spacing.is_integer() or rows * columns != len(coordinates):
        return None
    y, x = np.divmod(np.arange(rows * columns), columns)
    if not np.array_equal(coordinates, spacing * np.stack([x, y], axis=1)):
        return None
    try:
        length = grid_optimal_length(rows, columns, spacing=int(spacing))
    except InvalidOption:  # it is too small, or wider than `grid` makes them
        return None
    return KnownLength(name, len(coordinates), Metric.EUC_2D, length, proven=True)


def digest_of(cities: NDArray[Any]) -> str:
    """A digest of coordinates, or of a matrix but for its diagonal."""
    import hashlib  # few instances have a known name

    numbers = np.array(cities, dtype="<f8", order="C")
    numbers += 0.0  # there is one zero only
    if len(numbers) == numbers.shape[1]:
        np.fill_diagonal(numbers, 0.0)
    return hashlib.blake2b(numbers.data, digest_size=8).hexdigest()


# The challenge's generators call their instances by number of cities and seed.
_DIMACS_FILE = re.compile(r"port(c?)gen-(\d+)-(\d+)")


def known_length_by_name(name: str, fixed_edges: FixedEdges = ()) -> KnownLength | None:
    """The entry for an instance called `name`, in any case, with or without the ending ``.tsp``.

    Parameters
    ----------
    name : str
    fixed_edges : tuple of pairs of node numbers
        linhp318 is lin318 with one, also by name.
    """
    key = name.strip().lower().removesuffix(".tsp")
    dimacs = _DIMACS_FILE.fullmatch(key)
    if dimacs:
        n, seed = int(dimacs[2]), int(dimacs[3])
        number = 0 if seed == n else seed - 10 * n
        sizes = (entry for entry in _table().values() if entry.n == n and entry.name.endswith(f".{number}"))
        prefix = "C" if dimacs[1] else "E"
        return next((entry for entry in sizes if entry.name.startswith(prefix)), None)
    return _table().get((key, fixed_edges))


@cache
def _table() -> dict[tuple[str, FixedEdges], KnownLength]:
    import csv  # with what it needs, this would be a twentieth of the import of all that `solve` needs
    from importlib import resources

    text = resources.files(__package__).joinpath("known_lengths.csv").read_text(encoding="utf-8")
    found = {}
    for row in csv.DictReader(text.splitlines()):
        n, length = int(row["n"]), int(row["length"])
        pairs = (pair.split("-") for pair in row["fixed_edges"].split())
        edges = tuple((int(a), int(b)) for a, b in pairs)
        metric, proven = Metric[row["metric"]], row["proven"] == "1"
        entry = KnownLength(row["name"], n, metric, length, proven, edges, row["digest"])
        found[row["name"].lower(), edges] = entry
    return found
