"""Places on the Earth, as the formats for maps want them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from warptsp.errors import InvalidOption, InvalidProblem, ParseError
from warptsp.problem import Metric, Problem

from ._text import quoted

Place = tuple[float, float]
"""Latitude and longitude in decimal degrees."""


def is_on_earth(place: Place) -> bool:
    """Whether these are degrees of a latitude and a longitude."""
    return -90.0 <= place[0] <= 90.0 and -180.0 <= place[1] <= 360.0


def place_of(latitude: str, longitude: str, file: str, line: int) -> Place:
    """Latitude and longitude from texts in decimal degrees."""
    try:
        place = float(latitude), float(longitude)
    except ValueError:
        place = (np.nan, np.nan)
    if not is_on_earth(place):
        raise ParseError(
            f"a place has latitude {quoted(latitude)} and longitude {quoted(longitude)}: degrees, "
            "from -90 to 90 and from -180 to 360, are needed",
            file=file,
            line=line,
        )
    return place


def place_problem(places: Sequence[tuple[Place, str]], needed: str) -> Problem:
    """The instance of places on the Earth, with great-circle distances; names if there are any."""
    if not places:
        raise InvalidProblem(needed)
    names = [name for _, name in places]
    return Problem(
        Metric.GREAT_CIRCLE,
        coordinates=np.array([place for place, _ in places], dtype=np.float64),
        labels=names if any(names) else None,
    )


def check_geographic(problem: Problem, format_name: str) -> None:
    """Accept an instance of latitudes and longitudes."""
    if not problem.geographic:
        raise InvalidOption(
            f"{format_name} needs latitudes and longitudes, and the instance has "
            f"{problem.metric.description}: write a .tour or .csv file, or give columns lat and lon"
        )


def degrees(problem: Problem, format_name: str) -> NDArray[np.float64]:
    """Latitude and longitude in decimal degrees, the longitude between -180 and 180; shape (n, 2)."""
    check_geographic(problem, format_name)
    if problem.display is not None and not problem.metric.geographic:
        places = problem.display[:, ::-1].copy()
    else:
        places = problem.given_coordinates().copy()
    if problem.metric is Metric.GEO:
        whole = np.trunc(places)
        places = whole + (places - whole) * 5.0 / 3.0  # DDD.MM: the decimals are minutes
    places[:, 1] = np.where(places[:, 1] > 180.0, places[:, 1] - 360.0, places[:, 1])
    return places
