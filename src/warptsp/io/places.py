"""Places on the Earth, as the formats for maps want them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from warptsp.errors import InvalidOption
from warptsp.problem import Metric, Problem

__all__ = ["check_geographic", "degrees"]


def check_geographic(problem: Problem, format_name: str) -> None:
    """Accept an instance of latitudes and longitudes.

    Raises
    ------
    InvalidOption
        It is none.
    """
    if problem.coordinates is None or not problem.metric.geographic:
        raise InvalidOption(
            f"{format_name} needs latitudes and longitudes, and the instance has "
            f"{problem.metric.description}: write a .tour or .csv file, or give columns lat and lon"
        )


def degrees(problem: Problem, format_name: str) -> NDArray[np.float64]:
    """Latitude and longitude in decimal degrees, the longitude between -180 and 180; shape (n, 2).

    Raises
    ------
    InvalidOption
        The instance has no latitudes and longitudes.
    """
    check_geographic(problem, format_name)
    assert problem.coordinates is not None
    places = problem.coordinates.copy()
    if problem.metric is Metric.GEO:
        whole = np.trunc(places)
        places = whole + (places - whole) * 5.0 / 3.0  # DDD.MM: the decimals are minutes
    places[:, 1] = np.where(places[:, 1] > 180.0, places[:, 1] - 360.0, places[:, 1])
    return places
