"""Instances and tours as CSV or TSV files."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from warptsp.errors import InvalidOption
from warptsp.io.places import degrees
from warptsp.problem import Metric, Problem

__all__ = ["PATH_POSITION", "POSITION", "guarded", "problem_table", "tour_table"]

_CHUNK = 1 << 16
POSITION, PATH_POSITION = "position", "path_position"
"""The first column of a tour: of a closed one, or of an open path."""
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")  # also full width


def guarded(name: str) -> str:
    """A name as spreadsheets show it, not compute it: an apostrophe goes before what begins a formula."""
    return f"'{name}" if name.startswith(_FORMULA) else name


def tour_table(problem: Problem, tour: NDArray[np.int32], delimiter: str = ",") -> Iterator[bytes]:
    """The cities in visiting order: position, id, name if there is one, coordinates if there are any."""
    header = [POSITION if problem.open is None else PATH_POSITION, "id"]
    header += (["name"] if problem.labels is not None else []) + _titles(problem)
    coordinates = _coordinates(problem)
    yield _rows([header], delimiter)
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
        yield _rows(zip(*columns, strict=True), delimiter)


def problem_table(problem: Problem, delimiter: str = ",") -> Iterator[bytes]:
    """The cities of an instance: id, name if there is one, coordinates; or the rows of a matrix.

    Raises
    ------
    InvalidOption
        Reading the table would not give the instance back: its metric is not the one that a table means.
    """
    if problem.metric not in (Metric.EXACT_2D, Metric.EXACT_3D, Metric.GREAT_CIRCLE, Metric.EXPLICIT):
        raise InvalidOption(
            f"a table cannot say that distances are {problem.metric.name}: write a .tsp file, or use EXACT_2D"
        )
    if len(problem.fixed_edges) or problem.open is not None:
        raise InvalidOption("a table cannot hold fixed edges or an open path: write a .tsp file")
    if problem.matrix is not None:
        if problem.labels is not None:
            yield _rows([["", *problem.labels]], delimiter)
        for city, row in enumerate(problem.matrix):
            fields = row.tolist()
            yield _rows([fields if problem.labels is None else [problem.labels[city], *fields]], delimiter)
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
    """Whole numbers without a point, the others so that they read back as the same."""
    whole = np.array_equal(column, np.floor(column)) and np.abs(column).max(initial=0.0) <= 2.0**53
    return list(column.astype(np.int64).tolist() if whole else column.tolist())


def _rows(rows: Any, delimiter: str) -> bytes:
    rows = list(rows)
    text = _table(rows, delimiter, csv.QUOTE_MINIMAL)
    if "\r" in text:  # which the module leaves without quotes, and every reader takes for the end of a line
        text = _table(rows, delimiter, csv.QUOTE_NONNUMERIC)
    return text.encode()


def _table(rows: list[Any], delimiter: str, quoting: Literal[0, 2]) -> str:
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator="\n", quoting=quoting).writerows(rows)
    return text.getvalue()
