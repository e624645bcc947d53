"""Instances and tours as TSPLIB files."""

import logging
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warptsp._native import format_integers
from warptsp.errors import InvalidOption
from warptsp.io._text import whole_if_possible
from warptsp.problem import Metric, Problem
from warptsp.problem.itinerary import Timing, length_of
from warptsp.text import printable

_log = logging.getLogger(__name__)
_CHUNK = 1 << 18
OPEN_OR_CLOSED = {"open path": True, "tour": False}
"""How the comment of a tour begins, and whether it is a path: TSPLIB has no word for it."""


def problem_tsplib(problem: Problem) -> Iterator[bytes]:
    """The text of an instance, in pieces. Reading it gives the same instance, but for the cities' names."""
    if problem.open is not None and (problem.open.start is not None or problem.open.end is not None):
        raise InvalidOption("a TSPLIB file cannot fix the ends of a path: write the instance as a closed one")
    if problem.open is not None and problem.asymmetric:
        raise InvalidOption("TSPLIB has no asymmetric open paths: write the instance as a closed one")
    if problem.labels is not None:
        _log.warning("TSPLIB has no place for the names of cities: they are left out")
    if problem.wall is not None:
        _log.warning("TSPLIB has no word for missing arcs: they are written as %s", problem.wall)
    header = [f"NAME : {_one_line(problem.name)}"]
    header += [f"COMMENT : {_one_line(line)}" for line in problem.comment.split("\n") if line.strip()]
    kind = "ATSP" if problem.asymmetric else "TSP"
    header += [f"TYPE : {kind if problem.open is None else 'HPP'}", f"DIMENSION : {problem.n}"]
    header += [f"EDGE_WEIGHT_TYPE : {problem.metric.name}"]
    if problem.metric is Metric.EXPLICIT:
        header += ["EDGE_WEIGHT_FORMAT : FULL_MATRIX"]
    if problem.display is not None:
        header += ["DISPLAY_DATA_TYPE : TWOD_DISPLAY"]
    yield _lines(header)
    if problem.coordinates is not None:
        yield b"NODE_COORD_SECTION\n"
        yield from _node_rows(problem, problem.coordinates)
    else:
        matrix = problem.given_matrix()
        yield b"EDGE_WEIGHT_SECTION\n"
        step = max(1, _CHUNK // problem.n)
        for begin in range(0, problem.n, step):
            yield number_lines(matrix[begin : begin + step])
    if problem.display is not None:
        yield b"DISPLAY_DATA_SECTION\n"
        yield from _node_rows(problem, problem.display)
    if len(problem.fixed_edges):
        yield b"FIXED_EDGES_SECTION\n"
        yield format_integers(np.ascontiguousarray(problem.ids_of(problem.fixed_edges)))
        yield b"-1\n"
    yield b"EOF\n"


def tour_tsplib(problem: Problem, tour: NDArray[np.int32], timing: Timing | None = None) -> Iterator[bytes]:
    """The text of a tour, in pieces."""
    name = _one_line(problem.name) or "tour"
    kind = next(kind for kind, open in OPEN_OR_CLOSED.items() if open == (problem.open is not None))
    yield _lines(
        [
            f"NAME : {name}.tour",
            f"COMMENT : {kind} of length {length_of(problem, tour)}",
            "TYPE : TOUR",
            f"DIMENSION : {problem.n}",
            "TOUR_SECTION",
        ]
    )
    for begin in range(0, len(tour), _CHUNK):
        yield format_integers(
            np.ascontiguousarray(problem.ids_of(tour[begin : begin + _CHUNK])[:, np.newaxis])
        )
    yield b"-1\nEOF\n"


def number_lines(rows: NDArray[Any], ids: NDArray[np.int64] | None = None) -> bytes:
    """Lines of numbers, after an id if there are any; every number reads back as the same one."""
    numbers = rows if rows.dtype == np.object_ else whole_if_possible(rows)
    if numbers.dtype.kind == "i":
        numbers = numbers.astype(np.int64)
        if ids is not None:
            numbers = np.column_stack([ids, numbers])
        return format_integers(np.ascontiguousarray(numbers))
    columns = [map(repr, column) for column in rows.T.tolist()]
    if ids is not None:
        columns.insert(0, map(str, ids.tolist()))
    return ("\n".join(map(" ".join, zip(*columns, strict=True))) + "\n").encode()


def _node_rows(problem: Problem, rows: NDArray[np.float64]) -> Iterator[bytes]:
    for begin in range(0, problem.n, _CHUNK):
        part = rows[begin : begin + _CHUNK]
        yield number_lines(part, problem.ids_of(np.arange(begin, begin + len(part))))


def _one_line(text: str) -> str:
    # TSPLIB has no escapes, and its files are looked at in terminals.
    return printable(" ".join(text.split()))


def _lines(lines: list[str]) -> bytes:
    return ("\n".join(lines) + "\n").encode()
