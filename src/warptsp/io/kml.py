"""KML 2.2, for Google Earth and other maps: points in, a tour out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from warptsp.problem import Problem

from ._xml import begins_as_xml, is_kml, read_elements, xml_text
from .format import Format, Instance, Pieces, Source, TourFile
from .lines import Place, one_line, tour_along
from .places import degrees, place_of, place_problem

if TYPE_CHECKING:
    from .options import ReadOptions

__all__ = ["FORMATS"]


def _points(data: bytes, file: str) -> Problem:
    """The points of the placemarks in a KML document, with great-circle distances.

    Raises
    ------
    ParseError
        The text is no KML, or has no placemarks with points.
    """
    places: list[tuple[float, float]] = []
    names: list[str] = []
    found: list[tuple[float, float]] = []
    name = ""

    def end(path: list[str], attributes: dict[str, str], text: str, line: int) -> None:
        nonlocal name
        if path[-2:] == ["Placemark", "name"]:
            name = text
        elif path[-2:] == ["Point", "coordinates"] and "Placemark" in path:
            numbers = text.split(",")
            found.append(place_of(numbers[1] if len(numbers) > 1 else "", numbers[0], file, line))
        elif path[-1] == "Placemark":
            places.extend(found)
            names.extend([name] * len(found))
            found.clear()
            name = ""

    read_elements(data, file, end, "kml")
    return place_problem(places, names, file, "placemarks with a Point")


def _line(data: bytes, file: str) -> list[list[Place]]:
    """The places along the one LineString in a KML document.

    Raises
    ------
    ParseError
        The text is no KML, or has no line, or several.
    """
    lines: list[list[Place]] = []

    def end(path: list[str], attributes: dict[str, str], text: str, line: int) -> None:
        if path[-2:] == ["LineString", "coordinates"]:
            points = [point.split(",") for point in text.split()]
            lines.append(
                [place_of(point[1] if len(point) > 1 else "", point[0], file, line) for point in points]
            )

    read_elements(data, file, end, "kml")
    return [one_line([line for line in lines if line], file, "lines (LineString)")]


def _write_tour(problem: Problem, tour: NDArray[np.int32]) -> Pieces:
    """A KML document with the tour as a line, closed unless the instance is an open path, and its cities.

    Raises
    ------
    InvalidOption
        The cities have no latitude and longitude.
    """
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


def _read(source: Source, options: ReadOptions) -> Instance:
    return Instance(_points(source.data, source.file))


def _read_tour(source: Source, problem: Problem) -> TourFile:
    return tour_along(_line(source.data, source.file), problem, source.file)


FORMATS = (
    Format(
        name="kml",
        title="KML",
        endings=(".kml",),
        tour_endings=(".kml",),
        sniff=lambda data: begins_as_xml(data) and is_kml(data),
        read=_read,
        read_tour=_read_tour,
        write_tour=_write_tour,
        on_maps=True,
    ),
)
