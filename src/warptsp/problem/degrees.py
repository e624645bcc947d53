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
    # Of many points the first mostly tell. Decimals, which take longest to look at, come last.
    is_long = len(points) > _HEAD
    if not may_be_whole_degrees(points[:_HEAD], are_all=not is_long):
        return False
    if is_long and not may_be_whole_degrees(points):
        return False
    plane = points[:, :2]
    return bool(np.abs(plane).max() > 1.0 and np.mean((plane != np.floor(plane)).all(axis=1)) >= 0.5)


def may_be_whole_degrees(points: NDArray[np.float64], *, are_all: bool = True) -> bool:
    """The same without a look at decimals: for places with names, which mostly lie on the Earth.

    Of points that are not all there are, nobody asks what they fill.
    """
    n = len(points)
    if n < 2:
        return False
    plane = points[:, :2]
    ends = list(zip(plane.min(axis=0).tolist(), plane.max(axis=0).tolist(), strict=True))
    least, most = sorted(max(-low, high) for low, high in ends)
    if not (least <= 90.0 and most <= 180.0):
        return False
    slack = max(0.1, min(0.5, 3.0 / n))  # few points leave wide margins
    fill_a_box = all(
        0.0 <= low <= slack * high or abs(low + high) <= 2.0 * slack * (high - low) for low, high in ends
    )
    return not (are_all and fill_a_box)


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
