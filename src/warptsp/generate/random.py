"""Random instances of any size."""

from __future__ import annotations

import numpy as np

from warptsp.errors import InvalidOption
from warptsp.problem import Metric, Problem

__all__ = ["clustered", "uniform"]


def uniform(n: int, *, seed: int = 0, side: int = 1_000_000) -> Problem:
    """Cities drawn uniformly from the integer points of a square.

    Parameters
    ----------
    n : int
        Number of cities.
    seed : int
        The same seed gives the same instance.
    side : int
        Coordinates are 0, 1, ..., side - 1.

    Raises
    ------
    InvalidOption
        A number is out of range.
    """
    random = _generator(n, seed, side)
    coordinates = random.integers(0, side, size=(n, 2)).astype(np.float64)
    return Problem(
        Metric.EUC_2D,
        coordinates=coordinates,
        name=f"uniform{n}",
        comment=f"uniform in a square of side {side}, seed {seed}",
    )


def clustered(
    n: int, *, seed: int = 0, side: int = 1_000_000, clusters: int | None = None, spread: float | None = None
) -> Problem:
    """Cities drawn from normal distributions around uniformly drawn centres.

    Parameters
    ----------
    n : int
        Number of cities.
    seed : int
        The same seed gives the same instance.
    side : int
        The centres have coordinates 0, 1, ..., side - 1; cities may lie beyond.
    clusters : int, optional
        Number of centres; by default one for each hundred cities.
    spread : float, optional
        Standard deviation of each coordinate; by default side / sqrt(n).

    Raises
    ------
    InvalidOption
        A number is out of range.
    """
    random = _generator(n, seed, side)
    count = max(1, n // 100) if clusters is None else clusters
    if count < 1:
        raise InvalidOption(f"clusters: {clusters} is not possible, at least 1 is needed")
    deviation = side / n**0.5 if spread is None else spread
    if not 0.0 <= deviation < 1e12:
        raise InvalidOption(f"spread: {spread} is not possible, it must lie between 0 and 1e12")
    centers = random.integers(0, side, size=(count, 2))
    coordinates = random.standard_normal((n, 2))
    coordinates *= deviation
    coordinates += centers[random.integers(0, count, size=n)]
    np.rint(coordinates, out=coordinates)
    return Problem(
        Metric.EUC_2D,
        coordinates=coordinates,
        name=f"clustered{n}",
        comment=f"{count} normal clusters of spread {deviation:.6g} in a square of side {side}, seed {seed}",
    )


def _generator(n: int, seed: int, side: int) -> np.random.Generator:
    limits = (("n", n, 1, 2**31 - 1), ("side", side, 1, 10**12), ("seed", seed, 0, 2**63))
    for name, value, least, most in limits:
        if not least <= value <= most:
            raise InvalidOption(f"{name}: {value} is not possible, it must lie between {least} and {most}")
    return np.random.Generator(np.random.PCG64(seed))
