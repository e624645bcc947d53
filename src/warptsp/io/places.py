"""Places on the Earth, as the formats for maps want them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from warptsp.errors import InvalidOption, InvalidProblem, ParseError
from warptsp.problem import Metric, Problem

from ._text import quoted

__all__ = ["check_geographic", "degrees", "place_of", "place_problem"]


def place_of(latitude: str, longitude: str, file: str, line: int) -> tuple[float, float]:
    """Latitude and longitude from texts in decimal degrees.

    Raises
    ------
    ParseError
        They are no degrees.
    """
    try:
        place = float(latitude), float(longitude)
    except ValueError:
        place = (np.nan, np.nan)
    if not (-90.0 <= place[0] <= 90.0 and -180.0 <= place[1] <= 360.0):
        raise ParseError(
            f"a place has latitude {quoted(latitude)} and longitude {quoted(longitude)}: degrees are needed",
            file=file,
            line=line,
        )
    return place


def place_problem(places: list[tuple[float, float]], names: list[str], file: str, needed: str) -> Problem:
    """The instance of places on the Earth, with great-circle distances; names if there are any.

    Raises
    ------
    ParseError
        There are none.
    """
    if not places:
        raise ParseError(f"has no {needed}: places are needed", file=file)
    labels = names if any(names) else None
    try:
        return Problem(Metric.GREAT_CIRCLE, coordinates=np.array(places, dtype=np.float64), labels=labels)
    except InvalidProblem as error:
        raise ParseError(str(error), file=file) from None


def check_geographic(problem: Problem, format_name: str) -> None:
    """Accept an instance of latitudes and longitudes.

    Raises
    ------
    InvalidOption
        It is none.
    """
    if not problem.geographic:
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
    if problem.display is not None and not problem.metric.geographic:
        places = problem.display[:, ::-1].copy()
    else:
        places = problem.given_coordinates().copy()
    if problem.metric is Metric.GEO:
        whole = np.trunc(places)
        places = whole + (places - whole) * 5.0 / 3.0  # DDD.MM: the decimals are minutes
    places[:, 1] = np.where(places[:, 1] > 180.0, places[:, 1] - 360.0, places[:, 1])
    return places
