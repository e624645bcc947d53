"""Instances with rows and columns, many equal distances: drilled boards, rows of a chip, grids with defects.

Coordinates are whole numbers; a number of cities always gives the same instance.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

PITCH = 100

Cities = NDArray[np.int64]
Generator = np.random.Generator


def _drawn(n: int, cities: Cities, random: Generator) -> Cities:
    """Return n of the different cities, in random order."""
    different = np.unique(cities, axis=0)
    return different[random.permutation(len(different))[:n]]


def _grid(columns: int, rows: int, pitch: int) -> Cities:
    return np.stack(np.meshgrid(np.arange(columns), np.arange(rows)), axis=-1).reshape(-1, 2) * pitch


def board(n: int, random: Generator) -> Cities:
    """Holes of parts with up to 8 rows of 5 to 40 pins, three pitches, on a raster of half a pitch."""
    side = int(2 * n**0.5)
    fields: list[Cities] = []
    # Parts overlap, and the last one is cut off.
    while sum(map(len, fields)) < 1.15 * n + 400:
        rows, pins = random.integers(1, 9), random.integers(5, 41)
        columns, rows = (pins, rows) if random.random() < 0.5 else (rows, pins)
        corner = random.integers(0, side, 2) * (PITCH // 2)
        fields.append(_grid(columns, rows, random.choice([50, 100, 100, 127])) + corner)
    return _drawn(n, np.concatenate(fields), random)


def chip(n: int, random: Generator) -> Cities:
    """Rows four times as far apart as their cities, which lie on a raster of a fifth of a pitch."""
    side, rows = int(n**0.5 * PITCH), max(1, int(n**0.5 / 2))
    y = random.integers(0, rows, 2 * n) * (side // rows)
    x = random.integers(0, 5 * side // PITCH + 1, 2 * n) * (PITCH // 5)
    return _drawn(n, np.stack([x, y], axis=1), random)


def defects(n: int, random: Generator) -> Cities:
    """A square grid of which one city in ten is missing."""
    side = int((n / 0.9) ** 0.5) + 1
    return _drawn(n, _grid(side, side, PITCH), random)


KINDS: dict[str, Callable[[int, Generator], Cities]] = {"board": board, "chip": chip, "defects": defects}


def make(kind: str, n: int) -> NDArray[np.float64]:
    """Return the coordinates of the instance ``KIND-CITIES``."""
    cities = KINDS[kind](n, np.random.default_rng(n))
    if len(cities) < n:
        raise SystemExit(f"{kind}-{n}: only {len(cities)} different places")
    return cities.astype(np.float64)
