"""KML 2.2, for Google Earth and other maps: points in, a tour out."""

import logging

import numpy as np
from numpy.typing import NDArray

from warptsp._words import counted
from warptsp.problem import Problem
from warptsp.problem.itinerary import Timing

from ._text import quoted
from ._xml import begins_as_xml, is_kml, read_elements, xml_text
from .format import Pieces, Source
from .lines import Line, map_format
from .places import Place, degrees, place_of, place_problem

_log = logging.getLogger(__name__)

_OF_OTHERS = ("coordinates", "coord", "Location")  # of lines, areas, tracks and models, which are no places


def _points(source: Source) -> Problem:
    """The points of the placemarks in a document."""
    places: list[tuple[Place, str]] = []
    found: list[Place] = []
    name = link = ""
    nowhere, is_drawn = 0, False

    def end(path: list[str], attributes: dict[str, str], text: str, line: int) -> None:
        nonlocal name, link, nowhere, is_drawn
        if path[-2:] == ["Placemark", "name"]:
            name = text
        elif path[-2:] == ["Point", "coordinates"] and "Placemark" in path:
            found.append(_place(text, source.file, line))
        elif path[-1] == "Placemark":
            places.extend((place, name) for place in found)
            nowhere += not (found or is_drawn)
            found.clear()
            name, is_drawn = "", False
        elif path[-1] in _OF_OTHERS:
            is_drawn = True
        elif path[-1] == "href" and "NetworkLink" in path:
            link = text

    read_elements(source, end, "kml")
    if nowhere and places:
        words = counted(nowhere, "placemark without a place is", "placemarks without a place are")
        _log.warning("%s: %s left out, such as an address alone", source.file, words)
    nothing = "has no placemarks with a Point: places are needed"
    if link and places:
        _log.warning("%s: links to more places, which are not fetched: %s", source.file, quoted(link, 200))
    elif link:
        nothing = (
            f"has no places but a link to them, which is not fetched, {quoted(link, 200)}: in Google's My "
            "Maps export the map without keeping its data up to date, or download what is linked"
        )
    return place_problem(places, nothing)


def _place(text: str, file: str, line: int) -> Place:
    """The place of a longitude and a latitude with a comma between them."""
    numbers = text.split(",")
    return place_of(numbers[1] if len(numbers) > 1 else "", numbers[0], file, line)


def _lines(source: Source) -> list[Line]:
    lines: list[Line] = []

    def end(path: list[str], attributes: dict[str, str], text: str, line: int) -> None:
        if path[-2:] == ["LineString", "coordinates"]:
            lines.append([[_place(point, source.file, line) for point in text.split()]])

    read_elements(source, end, "kml")
    return lines


def _write_tour(problem: Problem, tour: NDArray[np.int32], timing: Timing) -> Pieces:
    """The tour as a line, closed unless the instance is an open path, and its cities."""
    places = degrees(problem, "KML")[tour].tolist()
    points = [f"{longitude!r},{latitude!r}" for latitude, longitude in places]
    line = [*points, points[0]] if problem.open is None else points
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<kml xmlns="http://www.opengis.net/kml/2.2"><Document>',
        f"<name>{xml_text(problem.name or 'tour')}</name>",
        "<Placemark><name>tour</name><LineString><tessellate>1</tessellate><coordinates>",
        *line,
        "</coordinates></LineString></Placemark>",
        "<Folder><name>cities</name>",
    ]
    for city, point in zip(tour.tolist(), points, strict=True):
        name = xml_text(problem.label(city))
        lines.append(
            f"<Placemark><name>{name}</name><Point><coordinates>{point}</coordinates></Point></Placemark>"
        )
    lines.append("</Folder></Document></kml>\n")
    return ["\n".join(lines).encode()]


FORMATS = (
    map_format(
        "KML",
        (".kml", ".kmz"),
        _points,
        _lines,
        "lines (LineString)",
        sniff=lambda data: begins_as_xml(data) and is_kml(data),
        write_tour=_write_tour,
    ),
)
