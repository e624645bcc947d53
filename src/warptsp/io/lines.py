"""Tours as lines on a map: cut at the antimeridian, joined again, their cities known by where they lie."""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warptsp.errors import InvalidTour, ParseError
from warptsp.problem import Problem

from ._files import of_file
from .format import Format, Instance, Source, TourFile
from .places import Place, degrees

Line = Sequence[Sequence[Place]]
"""A line in one part, or in several where it crosses the antimeridian."""

_DIGITS = 6  # that programs for maps keep: a tenth of a metre


def map_format(
    title: str,
    endings: tuple[str, ...],
    points: Callable[[Source], Problem],
    lines: Callable[[Source], Sequence[Line]],
    called: str,
    **more: Any,
) -> Format:
    """A format of programs for maps: points in, and tours as the only one of the lines in a file.

    `called` is what these lines are called there, and `more` what else a `Format` has.
    """

    def read_tour(source: Source, problem: Problem) -> TourFile:
        return tour_along(lines(source), called, problem, source.file)

    def read(source: Source, options: object) -> Instance:
        with of_file(source.file):
            return Instance(points(source))

    return Format(
        name=title.lower(),
        title=title,
        endings=endings,
        tour_endings=endings[:1],
        read=read,
        read_tour=read_tour,
        on_maps=True,
        **more,
    )


def cut(places: Sequence[Place]) -> list[list[Place]]:
    """A line in parts of which none crosses the antimeridian, as RFC 7946, 3.1.9, asks for.

    A part ends at a longitude of 180 degrees, and the next one begins there, on the other side.
    """
    on_it = {latitude for latitude, longitude in places if abs(longitude) == 180.0}
    parts = [[places[0]]]
    for onward, away in places[1:]:
        latitude, longitude = parts[-1][-1]
        side = 180.0 if longitude > 0.0 else -180.0
        if abs(away) == 180.0 and away * side < 0.0 and abs(longitude) > 0.0:
            away = side  # a place on the antimeridian is on both sides of it
        elif abs(away - longitude) > 180.0:  # the short way leads over it
            share = (side - longitude) / (away + 2.0 * side - longitude)
            crossing = latitude + share * (onward - latitude)
            if longitude != side:
                while crossing in on_it:  # so that reading it does not find that city here
                    crossing = math.nextafter(crossing, 0.0 if crossing else 90.0)
                parts[-1].append((crossing, side))
            parts.append([(crossing, -side)])
        parts[-1].append((onward, away))
    # A part of one place is a city on the antimeridian, where the parts before and behind it end as well.
    return [part for part in parts if len(part) > 1] or [[places[0], places[-1]]]


def line_of(problem: Problem, tour: NDArray[np.int32], format_name: str) -> list[list[Place]]:
    """The places of a tour in its order, the first again at the end unless it is an open path.

    In parts, as `cut` has them, where the line crosses the antimeridian.
    """
    places = degrees(problem, format_name)[tour]
    if problem.open is None or len(places) == 1:
        places = np.concatenate((places, places[:1]))
    line = [(latitude, longitude) for latitude, longitude in places.tolist()]
    return cut(line) if (np.abs(np.diff(places[:, 1])) > 180.0).any() else [line]


def tour_along(lines: Sequence[Line], called: str, problem: Problem, file: str) -> TourFile:
    """The tour that goes through the places of the only line; one that ends where it began is closed."""
    found = [line for line in lines if any(line)]
    if len(found) != 1:
        raise ParseError(f"has {len(found)} {called}: one is needed, through all cities in order", file=file)
    parts = found[0]
    if not (problem.geographic or problem.crs):
        raise InvalidTour(
            f"{file}: a line on a map has latitudes and longitudes, and the instance has "
            f"{problem.metric.description}"
        )
    cities_at = _Places(degrees(problem, file))
    stops = [place for place, certain in _stops(parts) if certain or cities_at.any(place)]
    closed = len(stops) == problem.n + 1 and _same(stops[0], stops[-1])
    cities = [cities_at.take(place, file) for place in stops[: len(stops) - closed]]
    return TourFile(np.array(cities, dtype=np.int64), not closed)


def _stops(parts: Line) -> Iterator[tuple[Place, bool]]:
    """The places of all parts, and whether each must be that of a city: where two parts meet, perhaps not."""
    lines = [list(part) for part in parts if part]
    for number, part in enumerate(lines):
        meets = number > 0 and _same(lines[number - 1][-1], part[0])
        met = number + 1 < len(lines) and _same(part[-1], lines[number + 1][0])
        for place in part[int(meets) : len(part) - met]:
            yield place, True
        if met:
            yield part[-1], False


def _same(a: Place, b: Place) -> bool:
    return a[0] == b[0] and (a[1] - b[1]) % 360.0 == 0.0


class _Places:
    """The cities by place: exactly, or to some digits where no two cities are then alike."""

    def __init__(self, places: NDArray[np.float64]) -> None:
        self._exact: dict[Place, list[int]] = {}
        self._rounded: dict[Place, list[int]] = {}
        for city in range(len(places) - 1, -1, -1):
            place = float(places[city, 0]), float(places[city, 1])
            self._exact.setdefault(_exact(place), []).append(city)
            self._rounded.setdefault(_rounded(place), []).append(city)

    def any(self, place: Place) -> bool:
        return _exact(place) in self._exact

    def take(self, place: Place, file: str) -> int:
        """The next city at a place: of several, each once."""
        cities = self._at(place)
        if cities is None:
            raise InvalidTour(
                f"{file}: the instance has no city at latitude {place[0]:.15g} and longitude {place[1]:.15g}"
            )
        return cities.pop() if len(cities) > 1 else cities[0]

    def _at(self, place: Place) -> list[int] | None:
        found = self._exact.get(_exact(place))
        if found is None:
            found = self._rounded.get(_rounded(place))
            found = found if found is not None and len(found) == 1 else None
        return found


def _exact(place: Place) -> Place:
    return place[0], place[1] - 360.0 if place[1] >= 180.0 else place[1]


def _rounded(place: Place) -> Place:
    latitude, longitude = _exact(place)
    return round(latitude, _DIGITS), round(longitude, _DIGITS)
