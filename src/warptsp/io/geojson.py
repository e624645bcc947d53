"""GeoJSON (RFC 7946): points as instances, a line as a tour."""

import json
import logging
import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warptsp._words import counted
from warptsp.errors import InvalidProblem
from warptsp.problem import Problem
from warptsp.problem.itinerary import Schedule, Timing, distances, length_of
from warptsp.quantities import finite

from ._json import document_in
from ._text import quoted
from .format import Format, Instance, Pieces, Source
from .lines import Line, line_of
from .places import Place, degrees, is_on_earth, place_problem
from .systems import DEGREES

_log = logging.getLogger(__name__)

_CHUNK = 1 << 12  # points that are written at once
_NAMES = ("name", "label", "title")
_POINTS = ("Point", "MultiPoint")
_COLLECTIONS = ("Feature", "FeatureCollection", "GeometryCollection")
_LINES_AND_AREAS = ("LineString", "MultiLineString", "Polygon", "MultiPolygon")


def is_geojson(document: Any) -> bool:
    """Whether this is GeoJSON, all of whose objects have a type."""
    return isinstance(document, Mapping) and document.get("type") in (
        *_POINTS,
        *_LINES_AND_AREAS,
        *_COLLECTIONS,
    )


def geojson_problem(document: Any, file: str = "GeoJSON") -> Problem:
    """The points of a document as `json` reads it, with great-circle distances; passes over other shapes."""
    found: list[tuple[Place, str]] = []
    others = []
    nowhere = 0  # features without a place
    for where, node, name in _geometries(document, "the document"):
        kind = _kind(node)
        if kind in _POINTS:
            points = [node.get("coordinates")] if kind == "Point" else _list(node, "coordinates", where)
            found += [(_place(point, where), name) for point in points]
        elif node is None:
            nowhere += 1
        else:
            others.append(f"{where} is {quoted(str(kind))}: a Point or a MultiPoint is needed")
            if kind not in _LINES_AND_AREAS:
                raise InvalidProblem(others[-1])
    if nowhere:
        features = counted(nowhere, "feature without a place is", "features without a place are")
        _log.warning("%s: %s left out: the geometry is null", file, features)
    nothing = "holds no points: a FeatureCollection of Points or a MultiPoint is needed"
    return place_problem(found, others[0] if others else nothing)


def _geometries(node: Any, where: str, name: str = "") -> Iterator[tuple[str, Any, str]]:
    """Where each geometry stands, it itself, None where a feature has no place, and its name."""
    kind = _kind(node)
    if kind is not None:
        _check_system(node.get("crs"))
    if kind == "FeatureCollection":
        for number, feature in enumerate(_list(node, "features", where), start=1):
            yield from _geometries(feature, f"feature {number}")
    elif kind == "Feature":
        properties = node.get("properties")
        if isinstance(properties, dict):
            name = next((str(properties[key]) for key in _NAMES if properties.get(key) is not None), "")
        if node.get("geometry", "") is None:  # as RFC 7946, 3.2, allows
            yield where, None, name
        else:
            yield from _geometries(node.get("geometry"), where, name)
    elif kind == "GeometryCollection":
        for geometry in _list(node, "geometries", where):
            yield from _geometries(geometry, where, name)
    else:
        yield where, "" if node is None else node, name


def _check_system(system: Any) -> None:
    """Refuse coordinates in another system than degrees, which older files may name."""
    named = system.get("properties") if isinstance(system, Mapping) else None
    name = named.get("name") if isinstance(named, Mapping) else None
    code = re.search("[:/]([0-9]+)$", name) if isinstance(name, str) else None
    if code is not None and code[1] not in DEGREES:
        raise InvalidProblem(
            f"the coordinates are in {name}, and longitudes and latitudes are needed: convert them to "
            "EPSG:4326"
        )


def _kind(node: Any) -> Any:
    return node.get("type") if isinstance(node, dict) else None


def _list(node: dict[str, Any], key: str, where: str) -> list[Any]:
    value = node.get(key)
    if not isinstance(value, (list, tuple)):  # objects of Python have tuples
        raise InvalidProblem(f"{where} has no list of {key}")
    return list(value)


def _place(point: Any, where: str) -> Place:
    if not isinstance(point, (list, tuple)) or len(point) < 2:
        raise InvalidProblem(f"{where} has no coordinates [longitude, latitude]")
    for value in point[:2]:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise InvalidProblem(f"{where} has the coordinate {quoted(str(value))}: a number is needed")
    try:
        longitude, latitude = float(point[0]), float(point[1])
    except OverflowError:
        raise InvalidProblem(f"{where} has a coordinate too large for a floating-point number") from None
    if not is_on_earth((latitude, longitude)):
        raise InvalidProblem(
            f"{where} lies at [{longitude:.15g}, {latitude:.15g}]: [longitude, latitude] in degrees, from "
            "-180 to 360 and from -90 to 90, is needed"
        )
    return latitude, longitude


def lines_in(document: Any) -> list[Line]:
    """The lines of a document; what else it has, such as points, is passed over."""
    lines: list[Line] = []
    for where, node, _ in _geometries(document, "the document"):
        kind = _kind(node)
        if kind in ("LineString", "MultiLineString"):
            found = _list(node, "coordinates", where)
            parts = [found] if kind == "LineString" else found
            if not all(isinstance(part, (list, tuple)) for part in parts):
                raise InvalidProblem(f"{where} has no list of coordinates")
            lines.append([[_place(point, where) for point in part] for part in parts])
        elif not isinstance(kind, str) and node is not None:
            raise InvalidProblem(
                f"{where} is {quoted(str(kind))}: a LineString or a MultiLineString is needed"
            )
    return lines


def _write_tour(problem: Problem, tour: NDArray[np.int32], timing: Timing) -> Pieces:
    """The tour as a line, closed unless the instance is an open path, and its cities as numbered points.

    Where the line crosses the antimeridian RFC 7946 wants it cut: then it is a MultiLineString.
    """
    parts = [[place[::-1] for place in part] for part in line_of(problem, tour, "GeoJSON")]
    places = degrees(problem, "GeoJSON")[tour]
    schedule, found = Schedule.of(problem, tour, timing), distances(problem, tour)
    properties: dict[str, Any] = {
        "name": problem.name,
        "cities": problem.n,
        "closed": problem.open is None,
        "length": finite(length_of(problem, tour)),
        "unit": problem.unit,
    }
    if problem.labels is not None:
        properties["order"] = [problem.label(city) for city in tour.tolist()]
    line: dict[str, Any] = {"type": "LineString", "coordinates": parts[0]}
    if len(parts) > 1:
        line = {"type": "MultiLineString", "coordinates": parts}
    feature = {"type": "Feature", "properties": properties, "geometry": line}
    yield b'{"type": "FeatureCollection", "features": [\n'
    yield json.dumps(feature, ensure_ascii=False).encode()

    def stop(at: int) -> dict[str, Any]:
        """The Feature of a city, with its place in the tour."""
        city = int(tour[at])
        properties: dict[str, Any] = {"position": at + 1, "id": problem.node_id(city)}
        if problem.labels is not None:
            properties["name"] = problem.labels[city]
        if found is not None:
            (legs, cumulative), unit = found
            properties["distance_from_start"] = finite(cumulative[at].item(), 3)
            if at < len(legs):
                properties["distance_to_next"] = finite(legs[at].item(), 3)
            properties["unit"] = unit
        if schedule is not None:
            properties["seconds_from_start"] = finite(float(schedule.seconds[at]), 1)
            if at < len(schedule.legs):
                properties["seconds_to_next"] = finite(float(schedule.legs[at]), 1)
            if schedule.depart is not None:
                properties["arrival"] = schedule.arrival(at)
        point = {"type": "Point", "coordinates": places[at, ::-1].tolist()}
        return {"type": "Feature", "properties": properties, "geometry": point}

    for begin in range(0, problem.n, _CHUNK):
        points = map(stop, range(begin, min(begin + _CHUNK, problem.n)))
        yield "".join(f",\n{json.dumps(point, ensure_ascii=False)}" for point in points).encode()
    yield b"\n]}\n"


def _read(source: Source, options: object) -> Instance:
    with document_in(source) as document:
        if not is_geojson(document):
            raise InvalidProblem(
                "is no GeoJSON, which has a type such as FeatureCollection: leave the format out"
            )
        return Instance(geojson_problem(document, source.file))


FORMATS = (
    Format(
        name="geojson",
        title="GeoJSON",
        tour_endings=(".geojson", ".json"),
        read=_read,
        write_tour=_write_tour,
        on_maps=True,
    ),
)
