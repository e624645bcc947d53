"""GeoJSON (RFC 7946): points as instances, a line as a tour."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from warptsp.errors import InvalidProblem, ParseError
from warptsp.problem import Metric, Problem
from warptsp.problem.itinerary import Itinerary, length_of, travel_seconds
from warptsp.quantities import finite

from ._json import begins_as_json, document_of, reading_json
from ._text import quoted
from .format import Pieces, Source
from .lines import Place, cut, map_format
from .osrm import is_osrm_table, osrm_problem
from .places import degrees

__all__ = ["FORMATS", "geojson_problem", "parse_json"]

_log = logging.getLogger(__name__)

_CHUNK = 1 << 12  # points that are written at once
_NAMES = ("name", "label", "title")
_LINES_AND_AREAS = ("LineString", "MultiLineString", "Polygon", "MultiPolygon")
Fail = Callable[[str], NoReturn]


def parse_json(data: bytes, file: str, *, geojson: bool = False) -> Problem:
    """The instance in a JSON text: the points of GeoJSON or, unless it is said to be that, an OSRM table.

    Raises
    ------
    ParseError
        The text is no JSON, or holds something else.
    """

    def fail(message: str) -> NoReturn:
        raise ParseError(message, file=file)

    document = document_of(data, file)
    with reading_json(file):
        if not geojson and is_osrm_table(document):
            return osrm_problem(document)
        return geojson_problem(document, fail, file)


def geojson_problem(document: Any, fail: Fail, file: str = "GeoJSON") -> Problem:
    """The points of a GeoJSON document, with great-circle distances; its lines and areas are passed over.

    Parameters
    ----------
    document : object
        As `json` reads it.
    fail : callable
        Is called with what is wrong, if the document is no GeoJSON, or has no points.
    file : str
        Its name, for warnings.
    """
    positions: list[tuple[float, float]] = []
    names: list[str] = []
    others: dict[str, str] = {}
    for where, point, name in _points(document, "the document", "", others, fail):
        positions.append(_latitude_longitude(point, where, fail))
        names.append(name)
    shapes = [(where, kind) for where, kind in others.items() if kind]
    if not positions and shapes:
        where, kind = shapes[0]
        fail(f"{where} is {quoted(kind)}: a Point or a MultiPoint is needed")
    if not positions:
        fail("holds no points: a FeatureCollection of Points or a MultiPoint is needed")
    nowhere = len(others) - len(shapes)
    if nowhere:
        left_out = (
            "1 feature without a place is" if nowhere == 1 else f"{nowhere} features without a place are"
        )
        _log.warning("%s: %s left out: the geometry is null", file, left_out)
    try:
        return Problem(
            Metric.GREAT_CIRCLE,
            coordinates=np.array(positions, dtype=np.float64),
            labels=names if any(names) else None,
        )
    except InvalidProblem as error:
        fail(str(error))


def _points(
    node: Any, where: str, name: str, others: dict[str, str], fail: Fail
) -> Iterator[tuple[str, Any, str]]:
    """Where each point stands, its coordinates, and its name.

    In `others` comes what is passed over, by where it stands: a line or an area, or nothing for a feature
    that has no place.
    """
    kind = node.get("type") if isinstance(node, dict) else None
    if kind == "FeatureCollection":
        for number, feature in enumerate(_list(node, "features", where, fail), start=1):
            yield from _points(feature, f"feature {number}", "", others, fail)
    elif kind == "Feature" and node.get("geometry", "") is None:  # as RFC 7946, 3.2, allows
        others[where] = ""
    elif kind == "Feature":
        properties = node.get("properties")
        if isinstance(properties, dict):
            name = next((str(properties[key]) for key in _NAMES if properties.get(key) is not None), "")
        yield from _points(node.get("geometry"), where, name, others, fail)
    elif kind == "GeometryCollection":
        for geometry in _list(node, "geometries", where, fail):
            yield from _points(geometry, where, name, others, fail)
    elif kind == "MultiPoint":
        for point in _list(node, "coordinates", where, fail):
            yield where, point, name
    elif kind == "Point":
        yield where, node.get("coordinates"), name
    elif kind in _LINES_AND_AREAS:
        others.setdefault(where, kind)
    else:
        fail(f"{where} is {quoted(str(kind))}: a Point or a MultiPoint is needed")


def _list(node: dict[str, Any], key: str, where: str, fail: Fail) -> list[Any]:
    value = node.get(key)
    if isinstance(value, tuple):  # as objects of Python have them
        return list(value)
    return value if isinstance(value, list) else fail(f"{where} has no list of {key}")


def _latitude_longitude(point: Any, where: str, fail: Fail) -> tuple[float, float]:
    if not isinstance(point, (list, tuple)) or len(point) < 2:
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


def _line(document: Any, fail: Fail) -> list[list[Place]]:
    """The parts of the one line in a GeoJSON document, as latitudes and longitudes.

    Parameters
    ----------
    document : object
        As `json` reads it.
    fail : callable
        Is called with what is wrong, if the document is no GeoJSON, or has no line, or several.
    """
    lines = list(_lines(document, "the document", fail))
    if len(lines) != 1:
        fail(f"has {len(lines)} lines: one LineString or MultiLineString through all cities is needed")
    ((where, parts),) = lines
    found = []
    for part in parts:
        if not isinstance(part, list):
            fail(f"{where} has no list of coordinates")
        found.append([_latitude_longitude(point, where, fail) for point in part])
    return found


def _lines(node: Any, where: str, fail: Fail) -> Iterator[tuple[str, list[Any]]]:
    """The lines of a document; what else it has, such as points, is passed over."""
    kind = node.get("type") if isinstance(node, dict) else None
    if kind == "FeatureCollection":
        for number, feature in enumerate(_list(node, "features", where, fail), start=1):
            yield from _lines(feature, f"feature {number}", fail)
    elif kind == "Feature":
        yield from _lines(node.get("geometry"), where, fail)
    elif kind == "GeometryCollection":
        for geometry in _list(node, "geometries", where, fail):
            yield from _lines(geometry, where, fail)
    elif kind == "LineString":
        yield where, [_list(node, "coordinates", where, fail)]
    elif kind == "MultiLineString":
        yield where, _list(node, "coordinates", where, fail)
    elif not isinstance(kind, str) and node is not None:
        fail(f"{where} is {quoted(str(kind))}: a LineString or a MultiLineString is needed")


def _write_tour(problem: Problem, tour: NDArray[np.int32], speed: float | None) -> Pieces:
    """The tour as a line, closed unless the instance is an open path, and its cities as numbered points.

    The line is a LineString, or a MultiLineString if it crosses the antimeridian, where RFC 7946 wants it
    cut.

    Raises
    ------
    InvalidOption
        The cities have no latitude and longitude.
    """
    itinerary = Itinerary.of(problem, tour)
    places = degrees(problem, "GeoJSON")[tour]
    if problem.open is None or len(places) == 1:
        places = np.concatenate((places, places[:1]))
    line = [(latitude, longitude) for latitude, longitude in places.tolist()]
    crosses = bool((np.abs(np.diff(places[:, 1])) > 180.0).any())
    parts = [
        [[longitude, latitude] for latitude, longitude in part] for part in (cut(line) if crosses else [line])
    ]
    properties: dict[str, Any] = {
        "name": problem.name,
        "cities": problem.n,
        "closed": problem.open is None,
        "length": finite(length_of(problem, tour)),
        "unit": problem.metric.unit,
    }
    if problem.labels is not None:
        properties["order"] = [problem.label(city) for city in tour.tolist()]
    feature = {
        "type": "Feature",
        "properties": properties,
        "geometry": {"type": "MultiLineString", "coordinates": parts}
        if len(parts) > 1
        else {"type": "LineString", "coordinates": parts[0]},
    }
    seconds = None if speed is None else travel_seconds(problem, itinerary.cumulative, speed)
    yield b'{"type": "FeatureCollection", "features": [\n'
    yield json.dumps(feature, ensure_ascii=False).encode()
    for begin in range(0, problem.n, _CHUNK):
        points = (
            _stop(problem, int(tour[at]), at, places[at], itinerary, seconds)
            for at in range(begin, min(begin + _CHUNK, problem.n))
        )
        yield "".join(f",\n{json.dumps(point, ensure_ascii=False)}" for point in points).encode()
    yield b"\n]}\n"


def _stop(
    problem: Problem,
    city: int,
    at: int,
    place: NDArray[np.float64],
    itinerary: Itinerary,
    seconds: NDArray[np.float64] | None,
) -> dict[str, Any]:
    """The Feature of a city, with its place in the tour."""
    properties: dict[str, Any] = {"position": at + 1, "id": problem.node_id(city)}
    if problem.labels is not None:
        properties["name"] = problem.labels[city]
    properties["distance_from_start"] = finite(itinerary.cumulative[at].item(), 3)
    if seconds is not None:
        properties["seconds_from_start"] = finite(float(seconds[at]), 1)
    if at < len(itinerary.legs):
        properties["distance_to_next"] = finite(itinerary.legs[at].item(), 3)
    return {
        "type": "Feature",
        "properties": properties,
        "geometry": {"type": "Point", "coordinates": [float(place[1]), float(place[0])]},
    }


def _points_in(source: Source) -> Problem:
    return parse_json(source.text, source.file, geojson=source.by_name)


def _line_in(source: Source) -> list[list[Place]]:
    def fail(message: str) -> NoReturn:
        raise ParseError(message, file=source.file)

    with reading_json(source.file):
        return _line(document_of(source.text, source.file), fail)


FORMATS = (
    map_format(
        "GeoJSON",
        endings=(".geojson", ".json"),
        sniff=begins_as_json,
        points=_points_in,
        line=_line_in,
        write_timed_tour=_write_tour,
    ),
)
