"""Metrics that round distances to whole numbers, where that leaves nothing of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from warptsp._words import as_called
from warptsp.problem.distance import coordinate_distances
from warptsp.problem.metric import Metric

_SAMPLE = 500  # cities that are looked at
_NEAR = 4.3  # farther apart along an axis, no metric changes a distance by half; ATT is one of d / sqrt(10)
_FINE = 2.0**30  # coordinates this much larger show distances that are as good as not rounded


def doubt_about_rounding(metric: Metric, coordinates: NDArray[np.float64]) -> str | None:
    """What is doubtful of a metric that rounds, or None: most distances between neighbours are lost.

    They are where rounding changes them by more than half, and coordinates are not whole numbers, as those of
    published instances with cities close together.
    """
    if not metric.integral or metric.geographic or metric.angular:
        return None
    n = len(coordinates)
    sample = coordinates[:: -(-n // _SAMPLE)]
    # Among fewer cities, neighbours lie farther apart.
    nearer = (len(sample) / n) ** (1.0 / sample.shape[1])
    along = np.sort(nearer * sample[:, 0])
    if 4 * np.count_nonzero(along[1:] - along[:-1] < _NEAR) <= len(sample):  # which is seen at once
        return None
    if (sample == np.floor(sample)).all():
        return None
    sample = nearer * sample
    fine = coordinate_distances(metric, _FINE * sample[:, None], _FINE * sample[None]) / _FINE
    fine[fine == 0.0] = np.inf  # of a city to itself, and to others at the same place
    nearest = fine.argmin(axis=1)
    true = fine[np.arange(len(sample)), nearest]
    apart = np.isfinite(true)
    if not apart.any():
        return None
    true = true[apart]
    rounded = coordinate_distances(metric, sample[apart], sample[nearest[apart]])
    if np.count_nonzero(np.abs(rounded - true) > 0.5 * true) <= len(true) // 2:
        return None
    exact = metric.unrounded.name
    cure = "multiply the coordinates by a power of ten"
    if metric.unrounded is not metric:
        cure = f"{as_called(f'metric={exact!r}', f'--metric {exact}')} does not round"
    return (
        f"{metric.name} rounds distances to whole numbers, and most neighbours lie closer together than "
        f"one: {cure}"
    )
