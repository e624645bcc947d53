"""GPX 1.1, for navigation devices: waypoints in, a tour out as a route."""

import logging

import numpy as np
from numpy.typing import NDArray

from warptsp._words import counted
from warptsp.problem import Problem
from warptsp.problem.itinerary import Timing

from ._xml import begins_as_xml, is_kml, read_elements, xml_text
from .format import Pieces, Source
from .lines import Line, map_format
from .places import Place, degrees, place_of, place_problem

_log = logging.getLogger(__name__)

_POINTS = ("wpt", "rtept")  # a file with waypoints may have a route through them, too


def _points(source: Source) -> Problem:
    """The waypoints of a document, or else the points of its routes."""
    places: dict[str, list[tuple[Place, str]]] = {kind: [] for kind in _POINTS}
    name = ""

    def end(path: list[str], attributes: dict[str, str], text: str, line: int) -> None:
        nonlocal name
        if path[-1] == "name" and path[-2:-1] != [] and path[-2] in _POINTS:
            name = text
        elif path[-1] in _POINTS:
            places[path[-1]].append((_place(attributes, source.file, line), name))
            name = ""

    read_elements(source, end, "gpx")
    found = places["wpt"] or places["rtept"]
    if others := {place for place, _ in places["rtept"]} - {place for place, _ in found}:
        words = counted(len(others), "point of a route is", "points of routes are")
        _log.warning("%s: %s left out, as no waypoint is there", source.file, words)
    if found is places["rtept"] and len(found) > 1 and found[0][0] == found[-1][0]:
        del found[-1]  # a closed route is in its first place twice
    return place_problem(found, "has no waypoints and no routes: places are needed")


def _place(attributes: dict[str, str], file: str, line: int) -> Place:
    return place_of(attributes.get("lat", ""), attributes.get("lon", ""), file, line)


def _routes(source: Source) -> list[Line]:
    routes: list[list[Place]] = [[]]

    def end(path: list[str], attributes: dict[str, str], text: str, line: int) -> None:
        if path[-1] == "rtept":
            routes[-1].append(_place(attributes, source.file, line))
        elif path[-1] == "rte":
            routes.append([])

    read_elements(source, end, "gpx")
    return [[route] for route in routes]


def _write_tour(problem: Problem, tour: NDArray[np.int32], timing: Timing) -> Pieces:
    """The tour as a route, closed unless the instance is an open path."""
    places = degrees(problem, "GPX").tolist()
    order = tour.tolist()
    if problem.open is None and len(order) > 1:
        order.append(order[0])
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<gpx version="1.1" creator="warptsp" xmlns="http://www.topografix.com/GPX/1/1">',
        f"<rte><name>{xml_text(problem.name or 'tour')}</name>",
    ]
    for city in order:
        latitude, longitude = places[city]
        name = xml_text(problem.label(city))
        lines.append(f'<rtept lat="{latitude!r}" lon="{longitude!r}"><name>{name}</name></rtept>')
    lines.append("</rte></gpx>\n")
    return ["\n".join(lines).encode()]


FORMATS = (
    map_format(
        "GPX",
        (".gpx",),
        _points,
        _routes,
        "routes (rte)",
        sniff=lambda data: begins_as_xml(data) and not is_kml(data),
        write_tour=_write_tour,
    ),
)
