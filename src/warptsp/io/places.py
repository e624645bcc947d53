"""Places on the Earth, as the formats for maps want them."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warptsp._checks import not_installed
from warptsp.errors import InvalidOption, InvalidProblem, ParseError
from warptsp.problem import Metric, Problem
from warptsp.problem.names import words_for

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
    """Accept an instance of latitudes and longitudes, or of a plane that is known to be a map's."""
    if problem.geographic:
        return
    if problem.crs is None or problem.coordinates is None:
        raise InvalidOption(
            f"{format_name} needs latitudes and longitudes, and the instance has "
            f"{problem.metric.description}: write a .tour or .csv file, or give columns lat and lon"
        )
    _to_degrees(problem.crs)


def degrees(problem: Problem, format_name: str) -> NDArray[np.float64]:
    """Latitude and longitude in decimal degrees, the longitude between -180 and 180; shape (n, 2)."""
    check_geographic(problem, format_name)
    if problem.metric.geographic:
        places = problem.given_coordinates().copy()
    elif problem.display_degrees and problem.display is not None:
        places = problem.display[:, ::-1].copy()
    else:
        given = problem.given_coordinates()
        longitude, latitude = _to_degrees(problem.crs)(given[:, 0], given[:, 1])
        places = np.column_stack([latitude, longitude])
        if not np.isfinite(places).all():
            city = int(np.argmin(np.isfinite(places).all(axis=1)))
            raise InvalidOption(
                f"{format_name}: {words_for(problem, city)} has no latitude and longitude in {problem.crs}"
            )
    if problem.metric is Metric.GEO:
        whole = np.trunc(places)
        places = whole + (places - whole) * 5.0 / 3.0  # DDD.MM: the decimals are minutes
    places[:, 1] = np.where(places[:, 1] > 180.0, places[:, 1] - 360.0, places[:, 1])
    return places


def _to_degrees(system: str | None) -> Callable[..., Any]:
    """The function from x and y in a coordinate reference system to longitudes and latitudes."""
    try:
        import pyproj
    except ImportError:
        raise not_installed(f"coordinates in {system} are put on maps by pyproj", "geo") from None
    try:
        transform: Callable[..., Any] = pyproj.Transformer.from_crs(
            system, "EPSG:4326", always_xy=True
        ).transform
    except pyproj.exceptions.ProjError:
        raise InvalidOption(
            f"{quoted(str(system))} is no coordinate reference system, such as EPSG:25833"
        ) from None
    return transform
