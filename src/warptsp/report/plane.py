"""Cities in the plane of a page: whole numbers of steps, in Mercator's projection for places on the Earth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warptsp.problem import Problem

EXACT_BITS = 24  # a float32, which is what graphics cards compute with, holds such integers
BITS = 22  # steps across a picture: 4 million
BITS_OF_HUGE = 20
HUGE = 2_000_000  # cities from which coarser steps do, and keep the page smaller
MERCATOR_LATITUDE = 85.05  # up to here there are map tiles


@dataclass(frozen=True, slots=True)
class Plane:
    """Where the cities are drawn.

    Attributes
    ----------
    steps : ndarray of int64, shape (n, 2)
        x to the right, y upwards, from 0.
    step : float
        Size of a step: in units of the coordinates, or of the world's width for a map.
    low : tuple of float
        Coordinates at step 0.
    exact : bool
        Whether ``low + step * steps`` are the coordinates themselves.
    mercator : bool
        Whether this is Web Mercator's projection, and the world is 1 wide.
    """

    steps: NDArray[np.int64]
    step: float
    low: tuple[float, float]
    exact: bool
    mercator: bool

    @classmethod
    def of(cls, problem: Problem) -> Plane | None:
        """Return the plane of an instance, None if it has no coordinates to draw."""
        mercator = False
        points = problem.plot_points
        if points is None:
            return None
        if problem.display is None and problem.metric.geographic:
            from warptsp.io.places import degrees

            places = degrees(problem, "report")
            mercator = bool(np.abs(places[:, 0]).max() <= MERCATOR_LATITUDE)
            points = _mercator(places) if mercator else _flat(places)
        low, high = points.min(axis=0), points.max(axis=0)
        span = float((high - low).max())
        if not mercator and span < 2**EXACT_BITS and np.array_equal(points, np.floor(points)):
            return cls((points - low).astype(np.int64), 1.0, (float(low[0]), float(low[1])), True, False)
        bits = BITS_OF_HUGE if problem.n > HUGE else BITS
        step = span / (2**bits - 1) if span > 0 else 1.0
        steps = np.rint((points - low) / step).astype(np.int64)
        return cls(steps, step, (float(low[0]), float(low[1])), False, mercator)


def _mercator(places: NDArray[np.float64]) -> NDArray[np.float64]:
    latitude = np.radians(places[:, 0])
    north = np.arcsinh(np.tan(latitude)) / (2.0 * np.pi) + 0.5
    return np.column_stack((_unrolled(places[:, 1]) / 360.0 + 0.5, north))


def _flat(places: NDArray[np.float64]) -> NDArray[np.float64]:
    x = _unrolled(places[:, 1]) * np.cos(np.radians(places[:, 0].mean()))
    return np.column_stack((x, places[:, 0]))


def _unrolled(longitude: NDArray[np.float64]) -> NDArray[np.float64]:
    """Longitudes from the end of the widest band without cities on, so that no short edge goes around."""
    around = np.mod(longitude, 360.0)
    ordered = np.sort(around)
    gaps = np.diff(np.append(ordered, ordered[0] + 360.0))
    west = ordered[(int(np.argmax(gaps)) + 1) % len(ordered)]
    east_of_it = np.where(around >= west, around, around + 360.0)
    return east_of_it - 360.0 if west > 180.0 else east_of_it
