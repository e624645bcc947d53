"""Cities in the plane of a page: whole numbers of steps, in Mercator's projection for places on the Earth."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warptsp.io.places import degrees
from warptsp.plotting.plane import city_plane, drawn_on_earth, unrolled
from warptsp.plotting.raster import MIN_EXTENT
from warptsp.problem import Problem

EXACT_BITS = 24  # a float32, which is what graphics cards compute with, holds such integers
BITS = 22  # steps across a picture: 4 million
BITS_OF_HUGE = 20
HUGE = 2_000_000  # cities from which coarser steps do, and keep the page smaller
MERCATOR_LATITUDE = 85.05  # up to here there are map tiles


@dataclass(frozen=True, slots=True)
class Plane:
    """Where the cities are drawn."""

    steps: NDArray[np.int64]  # x to the right, y upwards, from 0; shape (n, 2)
    step: float  # its size in units of the coordinates, or of the world's width for a map
    low: tuple[float, float]  # coordinates at step 0
    exact: bool  # whether ``low + step * steps`` are the coordinates themselves
    mercator: bool  # whether this is Web Mercator's projection, and the world is 1 wide

    @classmethod
    def of(cls, problem: Problem) -> "Plane | None":
        """Return the plane of an instance, None if it has no coordinates to draw."""
        if problem.plot_points is None:
            return None
        mercator = on_map(problem)
        points = _mercator(degrees(problem, "report")) if mercator else city_plane(problem)
        low, high = points.min(axis=0), points.max(axis=0)
        span = float((high - low).max())
        if not mercator and span < 2**EXACT_BITS and np.array_equal(points, np.floor(points)):
            return cls((points - low).astype(np.int64), 1.0, (float(low[0]), float(low[1])), True, False)
        bits = BITS_OF_HUGE if problem.n > HUGE else BITS
        step = span / (2**bits - 1) if span > MIN_EXTENT else 1.0
        steps = np.rint((points - low) / step).astype(np.int64)
        return cls(steps, step, (float(low[0]), float(low[1])), False, mercator)


def on_map(problem: Problem) -> bool:
    """Whether a map of the Earth lies below the cities."""
    if not drawn_on_earth(problem):
        return False
    return bool(np.abs(degrees(problem, "report")[:, 0]).max() <= MERCATOR_LATITUDE)


def _mercator(places: NDArray[np.float64]) -> NDArray[np.float64]:
    latitude = np.radians(places[:, 0])
    north = np.arcsinh(np.tan(latitude)) / (2.0 * np.pi) + 0.5
    return np.column_stack((unrolled(places[:, 1]) / 360.0 + 0.5, north))
