"""Metrics by the names that SciPy, scikit-learn and geographers use, beside TSPLIB's."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from warptsp.problem.metric import COMMON, Metric

__all__ = ["metric_in", "metric_of"]

_WHOLE_UP_TO = 2.0**30  # coordinates whose lengths of tours are integers of 64 bits


def metric_in(name: Metric | str, dimensions: int) -> Metric:
    """The metric of this name for points of so many coordinates.

    ``euclidean`` and its like mean a metric in the plane or one in space; TSPLIB's names say which they are.
    Raises `InvalidOption`: no metric has that name.
    """
    found = COMMON.get(name.strip().lower(), ()) if isinstance(name, str) else ()
    fitting = [metric for metric in found if metric.dimensions == dimensions]
    return fitting[0] if fitting else Metric.parse(name)


def metric_of(name: Metric | str | None, metric: Metric, coordinates: NDArray[np.float64]) -> Metric:
    """The metric that `name`, which means `metric` by `metric_in`, is for these coordinates.

    ``manhattan`` and ``chebyshev`` of whole numbers are whole numbers, so that they are TSPLIB's metrics, in
    which bounds are rounded up.
    """
    if not isinstance(name, str) or name.strip().lower() not in COMMON or metric.norm == 2:
        return metric
    if np.abs(coordinates).max(initial=0.0) > _WHOLE_UP_TO or (coordinates != np.floor(coordinates)).any():
        return metric
    return metric.rounded
