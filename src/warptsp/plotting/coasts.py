"""Coastlines and borders of Natural Earth, 1:110 million (public domain), as `.ci/world` has packed them."""

from importlib import resources

import numpy as np
from numpy.typing import NDArray

from warptsp.plotting.packed import unpacked_integers

DEGREE = 20  # steps
COARSE = 30_000  # pixels of the world's width from which these lines are too coarse to be of use


def packed_world() -> list[str]:
    """Return the lines of the file: longitudes, latitudes (differences, in steps), sizes of rings."""
    return resources.files("warptsp.plotting").joinpath("world.txt").read_text("utf-8").split()


def coasts(low: NDArray[np.float64], high: NDArray[np.float64], degree: float) -> list[NDArray[np.float64]]:
    """Return the rings of the land that is to be seen between two corners of the plane.

    `degree` is the width of a degree of longitude where one of latitude is 1 high. What lies farther outside
    than that part is large is drawn in to there.
    """
    east, north, sizes = packed_world()
    degrees = [unpacked_integers(line, differences=True) / DEGREE for line in (east, north)]
    ends = unpacked_integers(sizes, differences=False).cumsum()
    found = []
    for turn in (-360, 0, 360):
        lines = np.column_stack(((degrees[0] + turn) * degree, degrees[1]))
        for ring in np.split(lines, ends[:-1]):
            if (ring.max(axis=0) >= low).all() and (ring.min(axis=0) <= high).all():
                found.append(np.clip(ring, 2 * low - high, 2 * high - low))
    return found
