"""The columns of a table of places: which names mean what, in files and in data frames."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from warptsp.errors import InvalidProblem
from warptsp.problem import Metric

from ._text import quoted

__all__ = ["Columns", "look_like_positions", "named_columns"]

_X = frozenset({"x", "easting"})
_Y = frozenset({"y", "northing"})
_Z = frozenset({"z"})
# Also as public transport (GTFS), biodiversity (Darwin Core) and OurAirports call them.
_LATITUDE = frozenset({"lat", "latitude", "stop_lat", "decimallatitude", "latitude_deg"})
_LONGITUDE = frozenset({"lon", "lng", "long", "longitude", "stop_lon", "decimallongitude", "longitude_deg"})
_NAME = frozenset({"name", "label", "city", "place", "title", "stop_name"})
_ID = frozenset({"id", "node", "index", "number", "nr", "#"})


@dataclass(frozen=True, slots=True)
class Columns:
    """Where things are in a row."""

    count: int
    positions: tuple[int, ...]  # x, y or x, y, z or latitude, longitude; empty if there are none
    metric: Metric
    id: int | None = None
    name: int | None = None


def named_columns(titles: Sequence[str]) -> Columns:
    """What the columns with these names, in any case, hold.

    Raises
    ------
    InvalidProblem
        Two of them mean the same.
    """
    names = [_plain(title) for title in titles]

    def find(accepted: frozenset[str]) -> int | None:
        found = [place for place, name in enumerate(names) if name in accepted]
        if len(found) > 1:
            both = " and ".join(quoted(titles[place]) for place in found[:2])
            raise InvalidProblem(f"columns {both} mean the same: one of them must go")
        return found[0] if found else None

    latitude, longitude = find(_LATITUDE), find(_LONGITUDE)
    x, y, z = find(_X), find(_Y), find(_Z)
    positions: tuple[int, ...] = ()
    metric = Metric.EXACT_2D
    if latitude is not None and longitude is not None:
        positions, metric = (latitude, longitude), Metric.GREAT_CIRCLE
    elif x is not None and y is not None:
        positions = (x, y) if z is None else (x, y, z)
        metric = Metric.EXACT_2D if z is None else Metric.EXACT_3D
    return Columns(len(names), positions, metric, find(_ID), find(_NAME))


def look_like_positions(titles: Sequence[str]) -> bool:
    """Whether these are names of columns, one for each of two directions at least."""
    names = {_plain(title) for title in titles}
    return bool(names & (_X | _LATITUDE)) and bool(names & (_Y | _LONGITUDE))


def _plain(title: str) -> str:
    """A title in lower case, without the unit that coordinates on the globe have anyway."""
    return re.sub(r"\s*[(\[](deg|degrees|decimal degrees|°)[)\]]$", "", title.lower())
