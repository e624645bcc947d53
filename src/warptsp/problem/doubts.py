"""What is doubtful of an instance: coordinates that may be degrees, metrics that round all lengths away."""

import logging

import numpy as np
from numpy.typing import NDArray

from warptsp._words import as_called
from warptsp.problem.distance import coordinate_distances
from warptsp.problem.metric import Metric

_log = logging.getLogger(__name__)

_HEAD = 1024  # rows that mostly tell already that coordinates are no degrees
_SAMPLE = 500  # cities that are looked at
_NEAR = 4.3  # farther apart along an axis, no metric changes a distance by half; ATT is one of d / sqrt(10)
_FINE = 2.0**30  # coordinates this much larger show distances that are as good as not rounded


def look_like_degrees(points: NDArray[np.float64]) -> bool:
    """Whether coordinates of the plane may well be latitudes and longitudes, in one order or the other.

    They lie in the range of degrees and are mostly no whole numbers. Random and local coordinates often do
    so, too, but these fill a rectangle from the origin or around it, which few regions of the Earth do. Of
    ten capitals of the world 2 % of samples are missed; of ten places in squares around it 5 % at most
    seem to be degrees, of those in squares from the origin 8 %.
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
    # Boxes around the origin are mostly squares: this one is the globe.
    is_globe = most > 100.0 and any(low < 0.0 for low, _ in ends)
    return is_globe or not (are_all and fill_a_box)


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
