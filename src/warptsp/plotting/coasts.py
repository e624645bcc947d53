"""Coastlines and borders of Natural Earth, 1:110 million (public domain), as `.ci/world` has packed them."""

from __future__ import annotations

import base64
import zlib
from importlib import resources
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

DEGREE = 20  # steps
COARSE = 30_000  # pixels of the world's width from which these lines are too coarse to be of use


def packed_world() -> list[str]:
    """Return the lines of the file: longitudes, latitudes (differences, in steps), sizes of rings."""
    return resources.files("warptsp.plotting").joinpath("world.txt").read_text("utf-8").split()


def coasts(low: NDArray[np.float64], high: NDArray[np.float64], degree: float) -> list[NDArray[np.float64]]:
    """Return what is to be seen of the land in a part of the plane.

    Parameters
    ----------
    low, high : ndarray of float64, shape (2,)
        Corners of that part.
    degree : float
        The width of a degree of longitude where one of latitude is 1 high.

    Returns
    -------
    list of ndarray of float64, shape (k, 2)
        Rings. What lies farther outside than the part is large is drawn in to there.
    """
    east, north, sizes = map(_integers, packed_world())
    found = []
    for turn in (-360, 0, 360):
        lines = np.column_stack(((np.cumsum(east) / DEGREE + turn) * degree, np.cumsum(north) / DEGREE))
        for ring in np.split(lines, np.cumsum(sizes)[:-1]):
            if (ring.max(axis=0) >= low).all() and (ring.min(axis=0) <= high).all():
                found.append(np.clip(ring, 2 * low - high, 2 * high - low))
    return found


def _integers(text: str) -> NDArray[np.int64]:
    """The inverse of `warptsp.report.arrays.packed_integers`, but for the sum of differences."""
    planes = np.frombuffer(zlib.decompress(base64.b64decode(text)), dtype=np.uint8).reshape(4, -1)
    zigzag = np.ascontiguousarray(planes.T).view("<u4")[:, 0].astype(np.int64)
    values: NDArray[np.int64] = (zigzag >> 1) ^ -(zigzag & 1)
    return values
