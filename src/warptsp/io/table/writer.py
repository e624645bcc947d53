"""Instances and tours as CSV or TSV files."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from warptsp.errors import InvalidOption
from warptsp.io._text import whole_if_possible
from warptsp.io.places import degrees
from warptsp.problem import Metric, Problem
from warptsp.problem.itinerary import Itinerary, travel_seconds

_CHUNK = 1 << 16
POSITION, PATH_POSITION = "position", "path_position"
"""The first column of a tour: of a closed one, or of an open path."""
FROM_START, TIME, TO_NEXT = "distance_from_start", "time_from_start", "distance_to_next"
OF_TOUR = (POSITION, PATH_POSITION, FROM_START, TIME, TO_NEXT)
"""The columns that say where a city is in a tour, and nothing about the city."""
_OWN = (POSITION, PATH_POSITION, "id", "name", "lat", "lon", "x", "y", "z", FROM_START, TIME, TO_NEXT)
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")  # also full width


def guarded(name: str) -> str:
    """A name as spreadsheets show it, not compute it: an apostrophe goes before what begins a formula."""
    return f"'{name}" if name.startswith(_FORMULA) else name


def tour_table(
    problem: Problem, tour: NDArray[np.int32], speed: float | None = None, *, delimiter: str = ","
) -> Iterator[bytes]:
    """The cities in visiting order, a row for each.

    Position, id, name if there is one, coordinates if there are any, the other columns of the table that the
    instance comes from, the distance from the start, with a `speed` in km/h the time for it, and the distance
    to the next city.
    """
    header = [POSITION if problem.open is None else PATH_POSITION, "id"]
    header += (["name"] if problem.labels is not None else []) + _titles(problem)
    extra = list((problem.extra or {}).items())
    header += [title if title.lower() not in _OWN else f"{title} (2)" for title, _ in extra]
    header += [FROM_START, *([] if speed is None else [TIME]), TO_NEXT]
    coordinates = _coordinates(problem)
    travel = _Travel(problem, tour, speed)
    yield _rows([header], delimiter, _quoting(header, delimiter))
    for begin in range(0, len(tour), _CHUNK):
        cities = tour[begin : begin + _CHUNK]
        columns: list[list[Any]] = [
            list(range(begin + 1, begin + len(cities) + 1)),
            problem.ids_of(cities).tolist(),
        ]
        if problem.labels is not None:
            columns.append([problem.labels[city] for city in cities.tolist()])
        if coordinates is not None:
            columns += [_numbers(column) for column in coordinates[cities].T]
        columns += [_taken(column, cities) for _, column in extra]
        yield _rows(zip(*columns, *travel.columns(begin, begin + len(cities)), strict=True), delimiter)


class _Travel:
    """The columns of a tour that say how far it is."""

    def __init__(self, problem: Problem, tour: NDArray[np.int32], speed: float | None) -> None:
        self._legs, self._cumulative = Itinerary.of(problem, tour)
        self._seconds = None if speed is None else travel_seconds(problem, self._cumulative, speed)
        self._rounded = problem.metric.unit == "m"  # to millimetres

    def columns(self, begin: int, end: int) -> list[list[Any]]:
        """The rows of these positions, counted from 0; nothing behind the end of a path."""
        found = [self._texts(self._cumulative[begin:end])]
        if self._seconds is not None:
            found.append([clock(seconds) for seconds in self._seconds[begin:end].tolist()])
        legs = self._texts(self._legs[begin:end])
        return [*found, legs + [""] * (end - begin - len(legs))]

    def _texts(self, lengths: NDArray[np.int64] | NDArray[np.float64]) -> list[Any]:
        return list((np.round(lengths, 3) if self._rounded else lengths).tolist())


def clock(seconds: float) -> str:
    """A time as spreadsheets read it: ``27:05:00`` for a day and three hours."""
    whole = round(seconds)
    return f"{whole // 3600}:{whole // 60 % 60:02}:{whole % 60:02}"


def problem_table(problem: Problem, delimiter: str = ",") -> Iterator[bytes]:
    """The cities of an instance: id, name if there is one, coordinates; or the rows of a matrix."""
    if problem.metric not in (Metric.EXACT_2D, Metric.EXACT_3D, Metric.GREAT_CIRCLE, Metric.EXPLICIT):
        raise InvalidOption(
            f"a table cannot say that distances are {problem.metric.name}: write a .tsp file, or use EXACT_2D"
        )
    if len(problem.fixed_edges) or problem.open is not None:
        raise InvalidOption("a table cannot hold fixed edges or an open path: write a .tsp file")
    if problem.wall is not None:
        raise InvalidOption("a table cannot say which arcs are missing: write a .npy file")
    if problem.matrix is not None:
        quoting = _quoting(problem.labels or (), delimiter)
        if problem.labels is not None:
            yield _rows([["", *problem.labels]], delimiter, quoting)
        for city, row in enumerate(problem.matrix):
            fields = row.tolist()
            fields = fields if problem.labels is None else [problem.labels[city], *fields]
            yield _rows([fields], delimiter, quoting)
        return
    coordinates = problem.given_coordinates()
    yield _rows([["id"] + (["name"] if problem.labels is not None else []) + _titles(problem)], delimiter)
    for begin in range(0, problem.n, _CHUNK):
        part = coordinates[begin : begin + _CHUNK]
        columns: list[list[Any]] = [problem.ids_of(np.arange(begin, begin + len(part))).tolist()]
        if problem.labels is not None:
            columns.append(list(problem.labels[begin : begin + len(part)]))
        columns += [_numbers(column) for column in part.T]
        yield _rows(zip(*columns, strict=True), delimiter)


def _titles(problem: Problem) -> list[str]:
    if problem.geographic:
        return ["lat", "lon"]
    return ["x", "y", "z"][: problem.metric.dimensions]


def _coordinates(problem: Problem) -> NDArray[np.float64] | None:
    return degrees(problem, "CSV") if problem.geographic else problem.coordinates


def _numbers(column: NDArray[np.float64]) -> list[Any]:
    return list(whole_if_possible(column + 0.0).tolist())


def _taken(column: Sequence[Any], cities: NDArray[np.int32]) -> list[Any]:
    """What a column of the instance has for these cities."""
    if isinstance(column, np.ndarray):
        return list(column[cities].tolist())
    return [column[city] for city in cities.tolist()]


def _quoting(texts: Iterable[str], delimiter: str) -> Literal[0, 2]:
    """Whether only the fields that need it get quotation marks, or all texts.

    All do if the first line could seem to have another delimiter, or a line to be blank or a comment.
    """
    misleading = {*"\t;|,#"} - {delimiter}
    found = any(
        not text.strip() or text.strip().startswith("sep=") or not misleading.isdisjoint(text)
        for text in texts
    )
    return csv.QUOTE_NONNUMERIC if found else csv.QUOTE_MINIMAL


def _rows(rows: Any, delimiter: str, quoting: Literal[0, 2] = csv.QUOTE_MINIMAL) -> bytes:
    rows = list(rows)
    text = _table(rows, delimiter, quoting)
    if len(text.splitlines()) > len(rows):
        text = _table([[_on_one_line(field) for field in row] for row in rows], delimiter, quoting)
    return text.encode()


def _on_one_line(field: Any) -> Any:
    """A text with a blank for each line break, of any kind: a row of a table is one line for every reader."""
    return " ".join(field.splitlines()) if isinstance(field, str) else field


def _table(rows: list[Any], delimiter: str, quoting: Literal[0, 2]) -> str:
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator="\n", quoting=quoting).writerows(rows)
    return text.getvalue()
