"""Whether coordinates of the plane may be degrees though nobody says so."""

from __future__ import annotations

import logging

import numpy as np
from numpy.typing import NDArray

from warptsp._words import as_called

_log = logging.getLogger(__name__)

_HEAD = 1024  # rows that mostly tell already that coordinates are no degrees


def look_like_degrees(points: NDArray[np.float64]) -> bool:
    """Whether coordinates of the plane may well be latitudes and longitudes, in one order or the other.

    They lie in the range of degrees and are mostly no whole numbers. Random and local coordinates often do
    so, too, but these fill a rectangle from the origin or around it, which few regions of the Earth do.
    """
    n = len(points)
    if n < 2 or (n > _HEAD and not _in_range(*_extent(points[:_HEAD]))):
        return False
    low, high = _extent(points)
    if not _in_range(low, high) or max(-low.min(), high.max()) <= 1.0:
        return False
    plane = points[:, :2]
    if np.mean((plane != np.floor(plane)).all(axis=1)) < 0.5:
        return False
    return not _fills_a_box(low, high, n)


def may_be_whole_degrees(points: NDArray[np.float64]) -> bool:
    """The same without a look at decimals: for places with names, which mostly lie on the Earth."""
    low, high = _extent(points)
    return len(points) > 1 and _in_range(low, high) and not _fills_a_box(low, high, len(points))


def warn_of_degrees(
    what: str, points: NDArray[np.float64], order: str = ", latitude before longitude"
) -> None:
    """Say that coordinates look like degrees, where nothing says whether they are."""
    if look_like_degrees(points[:: max(1, len(points) // _HEAD)]):  # of millions a sample tells
        _log.warning(
            "%s: the numbers look like degrees, and distances are those of the plane: %s gives "
            "great circles%s, %s is for x and y",
            what,
            as_called('metric="haversine"', "--metric haversine"),
            order,
            as_called('metric="euclidean"', "--metric euclidean"),
        )


def _extent(points: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    plane = points[:, :2]
    return plane.min(axis=0), plane.max(axis=0)


def _in_range(low: NDArray[np.float64], high: NDArray[np.float64]) -> bool:
    largest = np.maximum(-low, high).tolist()
    return bool(min(largest) <= 90.0 and max(largest) <= 180.0)


def _fills_a_box(low: NDArray[np.float64], high: NDArray[np.float64], n: int) -> bool:
    slack = max(0.1, min(0.5, 3.0 / n))  # few points leave wide margins
    from_origin = (low >= 0.0) & (low <= slack * high)
    around_origin = np.abs(low + high) <= 2.0 * slack * (high - low)
    return bool((from_origin | around_origin).all())
