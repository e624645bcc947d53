"""Distances in NumPy, in the exact arithmetic of each metric.

They are written from the definitions and share nothing with ``native/common/metric.h``, so that each is a
check of the other. Integer metrics are evaluated in float64 as TSPLIB prescribes and are integers below
2**53.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from warptsp.problem.metric import Metric

Rows = NDArray[np.float64]

GEO_PI = 3.141592
"""TSPLIB's value; a better one gives other lengths."""
GEO_RADIUS_KM = 6378.388
EARTH_RADIUS_M = 6371008.8
"""Mean radius of the Earth (IUGG), for GREAT_CIRCLE."""


def coordinate_distances(metric: Metric, p: Rows, q: Rows) -> Rows:
    """Distance between each row of `p` and the same row of `q`, shape (..., metric.dimensions), as the
    instance holds them; whole numbers for an integral metric. Any metric but EXPLICIT.
    """
    other = _OTHERS.get(metric)
    return _ROUNDINGS[metric.rounding](_NORMS[metric.norm](p, q)) if other is None else other(p, q)


def geo_radians(coordinates: Rows) -> Rows:
    """TSPLIB's conversion of DDD.MM (degrees, minutes) to radians: the degrees are truncated, not rounded."""
    degrees = np.trunc(coordinates)
    minutes = coordinates - degrees
    return GEO_PI * (degrees + 5.0 * minutes / 3.0) / 180.0


def unit_vectors(metric: Metric, coordinates: Rows) -> Rows:
    """Points on the unit sphere, shape (n, 3), of GEO or GREAT_CIRCLE coordinates."""
    radians = geo_radians(coordinates) if metric is Metric.GEO else np.radians(coordinates)
    latitude, longitude = radians[:, 0], radians[:, 1]
    cosine = np.cos(latitude)
    return np.stack([cosine * np.cos(longitude), cosine * np.sin(longitude), np.sin(latitude)], axis=1)


def _nearest_integer(values: Rows) -> Rows:
    return np.floor(values + 0.5)


def _euclidean(p: Rows, q: Rows) -> Rows:
    total = np.square(p[..., 0] - q[..., 0])
    for axis in range(1, p.shape[-1]):
        total += np.square(p[..., axis] - q[..., axis])
    return np.asarray(np.sqrt(total))


def _manhattan(p: Rows, q: Rows) -> Rows:
    total = np.abs(p[..., 0] - q[..., 0])
    for axis in range(1, p.shape[-1]):
        total += np.abs(p[..., axis] - q[..., axis])
    return np.asarray(total)


def _maximum(p: Rows, q: Rows) -> Rows:
    return np.asarray(np.abs(p - q).max(axis=-1))


def _pseudo_euclidean(p: Rows, q: Rows) -> Rows:
    r = np.sqrt((np.square(p[..., 0] - q[..., 0]) + np.square(p[..., 1] - q[..., 1])) / 10.0)
    t = _nearest_integer(r)
    return np.where(t < r, t + 1.0, t)


def _geo(p: Rows, q: Rows) -> Rows:
    a, b = geo_radians(p), geo_radians(q)
    q1 = np.cos(a[..., 1] - b[..., 1])
    q2 = np.cos(a[..., 0] - b[..., 0])
    q3 = np.cos(a[..., 0] + b[..., 0])
    # Rounding may take the cosine of a tiny angle past 1.
    cosine = np.clip(0.5 * ((1.0 + q1) * q2 - (1.0 - q1) * q3), -1.0, 1.0)
    return np.floor(GEO_RADIUS_KM * np.arccos(cosine) + 1.0)


def _great_circle(p: Rows, q: Rows) -> Rows:
    # The haversine h and its complement 1 - h, each a sum of squares: accurate for neighbours a millimetre
    # apart (where acos fails) and for antipodes (where asin fails).
    a, b = np.radians(p), np.radians(q)
    half = 0.5 * (a - b)
    middle = 0.5 * (a[..., 0] + b[..., 0])
    cosines = np.cos(a[..., 0]) * np.cos(b[..., 0])
    h = np.square(np.sin(half[..., 0])) + cosines * np.square(np.sin(half[..., 1]))
    complement = np.square(np.sin(middle)) + cosines * np.square(np.cos(half[..., 1]))
    return np.asarray(2.0 * EARTH_RADIUS_M * np.arctan2(np.sqrt(h), np.sqrt(complement)))


def _xray(p: Rows, q: Rows, scale: tuple[float, float, float]) -> Rows:
    phi = np.abs(p[..., 0] - q[..., 0])
    phi = np.minimum(phi, np.abs(phi - 360.0))
    chi = np.abs(p[..., 1] - q[..., 1])
    two_theta = np.abs(p[..., 2] - q[..., 2])
    cost = np.maximum(phi / scale[0], np.maximum(chi / scale[1], two_theta / scale[2]))
    return _nearest_integer(100.0 * cost)


_NORMS: tuple[Callable[[Rows, Rows], Rows], ...] = (_maximum, _manhattan, _euclidean)  # by their numbers
_ROUNDINGS: dict[str, Callable[[Rows], Rows]] = {
    "nearest": _nearest_integer,
    "up": np.ceil,
    "down": np.floor,
    "none": lambda values: values,
}
_OTHERS: dict[Metric, Callable[[Rows, Rows], Rows]] = {
    Metric.ATT: _pseudo_euclidean,
    Metric.GEO: _geo,
    Metric.GREAT_CIRCLE: _great_circle,
    Metric.XRAY1: lambda p, q: _xray(p, q, (1.0, 1.0, 1.0)),
    Metric.XRAY2: lambda p, q: _xray(p, q, (1.25, 1.5, 1.15)),
}
