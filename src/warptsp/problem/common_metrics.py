"""Metrics by the names that SciPy, scikit-learn and geographers use, beside TSPLIB's."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from warptsp._words import as_called
from warptsp.errors import InvalidOption

from .metric import COMMON, Metric

__all__ = ["check_common", "metric_in"]


def metric_in(name: Metric | str, dimensions: int) -> Metric:
    """The metric of this name for points of so many coordinates.

    ``euclidean`` and its like mean a metric in the plane or one in space; TSPLIB's names say which they are.

    Raises
    ------
    InvalidOption
        No metric has that name.
    """
    found = COMMON.get(name.strip().lower(), ()) if isinstance(name, str) else ()
    fitting = [metric for metric in found if metric.dimensions == dimensions]
    return fitting[0] if fitting else Metric.parse(name)


def check_common(name: Metric | str | None, metric: Metric, coordinates: NDArray[np.float64]) -> None:
    """Accept a metric by its common name for these coordinates.

    Raises
    ------
    InvalidOption
        The common name means distances that are not rounded, as the metric does, which matters here.
    """
    if not isinstance(name, str) or name.strip().lower() not in COMMON or not metric.integral:
        return
    broken = (coordinates != np.floor(coordinates)).any(axis=1)
    if broken.any():
        row = int(np.argmax(broken))
        place = ", ".join(f"{value:.6g}" for value in coordinates[row])
        called = as_called(f'metric="{metric.name}"', f"--metric {metric.name}")
        raise InvalidOption(
            f"metric {name}: distances are whole numbers in this metric, and city {row} (counted from 0) "
            f"lies at {place}: multiply the coordinates by a power of ten, or round each distance: {called}"
        )
