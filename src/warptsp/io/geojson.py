"""GeoJSON (RFC 7946): points in, a line out."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from warptsp.errors import InvalidProblem
from warptsp.problem import Metric, Problem

from ._text import quoted
from .places import degrees

__all__ = ["geojson_problem", "tour_geojson"]

_NAMES = ("name", "label", "title")


def geojson_problem(document: Any, fail: Callable[[str], NoReturn]) -> Problem:
    """The points of a GeoJSON document, with great-circle distances.

    Parameters
    ----------
    document : object
        As `json` reads it.
    fail : callable
        Is called with what is wrong, if the document is no GeoJSON, or holds other geometries than Point and
        MultiPoint.
    """
    positions: list[tuple[float, float]] = []
    names: list[str] = []
    for where, point, name in _points(document, "the document", "", fail):
        positions.append(_latitude_longitude(point, where, fail))
        names.append(name)
    if not positions:
        fail("holds no points: a FeatureCollection of Points or a MultiPoint is needed")
    try:
        return Problem(
            Metric.GREAT_CIRCLE,
            coordinates=np.array(positions, dtype=np.float64),
            labels=names if any(names) else None,
        )
    except InvalidProblem as error:
        fail(str(error))


def _points(node: Any, where: str, name: str, fail: Any) -> Iterator[tuple[str, Any, str]]:
    kind = node.get("type") if isinstance(node, dict) else None
    if kind == "FeatureCollection":
        for number, feature in enumerate(_list(node, "features", where, fail), start=1):
            yield from _points(feature, f"feature {number}", "", fail)
    elif kind == "Feature":
        properties = node.get("properties")
        if isinstance(properties, dict):
            name = next((str(properties[key]) for key in _NAMES if properties.get(key) is not None), "")
        yield from _points(node.get("geometry"), where, name, fail)
    elif kind == "GeometryCollection":
        for geometry in _list(node, "geometries", where, fail):
            yield from _points(geometry, where, name, fail)
    elif kind == "MultiPoint":
        for point in _list(node, "coordinates", where, fail):
            yield where, point, name
    elif kind == "Point":
        yield where, node.get("coordinates"), name
    else:
        fail(f"{where} is {quoted(str(kind))}: a Point or a MultiPoint is needed")


def _list(node: dict[str, Any], key: str, where: str, fail: Any) -> list[Any]:
    value = node.get(key)
    if not isinstance(value, list):
        fail(f"{where} has no list of {key}")
    assert isinstance(value, list)
    return value


def _latitude_longitude(point: Any, where: str, fail: Any) -> tuple[float, float]:
    if not isinstance(point, list) or len(point) < 2:
        fail(f"{where} has no coordinates [longitude, latitude]")
    for value in point[:2]:
        if isinstance(value, bool) or not isinstance(value, int | float):
            fail(f"{where} has the coordinate {quoted(str(value))}: a number is needed")
    try:
        longitude, latitude = float(point[0]), float(point[1])
    except OverflowError:
        fail(f"{where} has a coordinate too large for a floating-point number")
    if not (-90.0 <= latitude <= 90.0 and -180.0 <= longitude <= 360.0):
        fail(
            f"{where} lies at [{longitude:.15g}, {latitude:.15g}]: [longitude, latitude] in degrees is needed"
        )
    return latitude, longitude


def tour_geojson(problem: Problem, tour: NDArray[np.int32]) -> bytes:
    """A Feature with the tour as a LineString, closed unless the instance is an open path.

    Raises
    ------
    InvalidOption
        The cities have no latitude and longitude.
    """
    places = degrees(problem, "GeoJSON")[tour]
    line = [[longitude, latitude] for latitude, longitude in places.tolist()]
    if problem.open is None or len(line) == 1:
        line.append(line[0])
    properties: dict[str, Any] = {
        "name": problem.name,
        "cities": problem.n,
        "closed": problem.open is None,
        "length": problem.length(tour),
        "unit": problem.metric.unit,
    }
    if problem.labels is not None:
        properties["order"] = [problem.label(city) for city in tour.tolist()]
    feature = {
        "type": "Feature",
        "properties": properties,
        "geometry": {"type": "LineString", "coordinates": line},
    }
    return json.dumps(feature, ensure_ascii=False).encode() + b"\n"
