"""JSON: an instance in any of the forms that objects of Python have, or a tour."""

from typing import Any

import numpy as np

from warptsp.errors import InvalidProblem, InvalidTour
from warptsp.problem import Problem

from ._json import begins_as_json, document_in
from ._text import quoted
from .city_list import cities_in
from .format import Format, Instance, Source, TourFile
from .geojson import is_geojson, lines_in
from .lines import tour_along
from .objects import read_object, told
from .options import ReadOptions
from .table.tours import cities_by_name

_OWN = ("tour", "cities", "metric", "stages")  # in what `warptsp solve --json` writes


def _read(source: Source, options: ReadOptions) -> Instance:
    with document_in(source) as document:
        if isinstance(document, dict) and all(key in document for key in _OWN):
            file = quoted(str(document.get("file")), 200)
            raise InvalidProblem(
                f"is a tour that warptsp found: the places stand in {file}, from which it came"
            )
        return read_object(document, options, source.file)


def _read_tour(source: Source, problem: Problem) -> TourFile:
    """The line of GeoJSON, a list of numbers or names, or the tour of ``warptsp solve --json``."""
    with document_in(source) as document:
        if is_geojson(document):
            return tour_along(lines_in(document), "lines (LineString, MultiLineString)", problem, source.file)
        if isinstance(document, dict) and "tour" in document:
            return _own(document, problem)
        if isinstance(document, list) and document:
            if all(type(city) is int and abs(city) < 2**53 for city in document):
                return cities_in(np.array(document, dtype=np.int64), problem)
            if all(isinstance(city, str) for city in document):
                return TourFile(cities_by_name(document, problem))
        raise InvalidProblem(
            f"{told(document, source.file)} is no tour: a list of node numbers or of names, or "
            "GeoJSON with a line is needed"
        )


def _own(document: dict[str, Any], problem: Problem) -> TourFile:
    tour, closed = document["tour"], document.get("closed")
    if not isinstance(tour, list) or not isinstance(closed, bool):
        raise InvalidProblem("has no list tour, or does not say whether it is closed")
    wrong = next((city for city in tour if type(city) is not int or not 0 <= city < problem.n), None)
    if wrong is not None:
        raise InvalidTour(f"{quoted(str(wrong))} in its tour: cities from 0 to {problem.n - 1} are needed")
    length = document.get("length")
    said = float(length) if isinstance(length, (int, float)) and abs(length) < 1e308 else None
    return TourFile(np.array(tour, dtype=np.int64), not closed, said)


FORMATS = (
    Format(
        name="json",
        title="JSON",
        endings=(".json", ".geojson", ".jsonl", ".ndjson"),
        sniff=begins_as_json,
        read=_read,
        read_tour=_read_tour,
        has_columns=True,
        on_maps=True,
    ),
)
