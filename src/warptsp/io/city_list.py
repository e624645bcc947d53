"""A tour as a plain list of the cities' numbers."""

import logging
import re

import numpy as np
from numpy.typing import NDArray

from warptsp._native import format_integers, parse_numbers
from warptsp.errors import InvalidTour, ParseError
from warptsp.problem import Problem
from warptsp.problem.itinerary import Timing
from warptsp.problem.values import EXACT_INTEGERS

from ._text import line_number, quoted, token_offset
from .format import Format, Pieces, Source, TourFile

_log = logging.getLogger(__name__)


def parse_list(source: Source, problem: Problem) -> TourFile:
    """The cities in a list of numbers; a 0 among them means that they are counted from 0."""
    data, file = source.data.rstrip(b"\x00\x1a \t\r\n"), source.file
    numbers, end = parse_numbers(data, 0, problem.n)
    if end >= len(data) and len(numbers) == 2 + 3 * problem.n and (numbers[:2] == problem.n).all():
        edges = numbers[2:].reshape(-1, 3)
        return TourFile(_along(edges[:, :2], file), open=False, length=float(edges[:, 2].sum()))
    wrong = (numbers != np.floor(numbers)) | (np.abs(numbers) >= EXACT_INTEGERS)
    if end < len(data) or wrong.any():
        offset = end
        if wrong.any():
            offset = token_offset(data, int(np.argmax(wrong)))
        token = data[offset:].split(None, 1)[0]
        raise ParseError(
            f"{quoted(token)} in a list of cities: an integer is needed",
            file=file,
            line=line_number(data, offset),
        )
    ids = numbers.astype(np.int64)
    if len(ids) == problem.n + 1 and ids[0] == problem.n and (ids[1:] == 0).any():
        ids = ids[1:]  # the list of Concorde: the number of cities, then cities counted from 0
    return cities_in(ids, problem)


def _along(edges: NDArray[np.float64], file: str) -> NDArray[np.int64]:
    """The tour of the edges that Concorde's linkern writes: two cities, counted from 0, and a length."""
    n = len(edges)
    ends = edges.astype(np.int64)
    if not np.array_equal(np.sort(edges, axis=None), np.repeat(np.arange(n), 2)):
        raise ParseError(f"has {n} edges that are no tour: two at each city from 0 to {n - 1}", file=file)
    beside = np.argsort(ends, axis=None, kind="stable").reshape(n, 2)  # where each city stands
    tour, place = [int(ends[0, 0])], 0
    for _ in range(n - 1):
        city = int(ends.flat[place ^ 1])  # the other end of the edge
        tour.append(city)
        first, second = beside[city].tolist()
        place = second if first == place ^ 1 else first
    return np.array(tour, dtype=np.int64)


def cities_in(ids: NDArray[np.int64], problem: Problem) -> TourFile:
    """The cities with these numbers; a 0 among them means that they are counted from 0."""
    if (ids == 0).any() and (problem.node_ids is None or not (problem.node_ids == 0).any()):
        if (wrong := (ids < 0) | (ids >= problem.n)).any():
            raise InvalidTour(
                f"there is no city {ids[wrong][0]}: the list has a 0, so it counts from 0 to {problem.n - 1}"
            )
        cities = ids.astype(np.int32)
    else:
        cities = problem.cities_of(ids)
    if problem.labels is not None and len(ids) and problem.labels[cities[0]].isdigit():
        names, numbers = [problem.labels[city] for city in cities.tolist()], list(map(str, ids.tolist()))
        if names != numbers and set(names) == set(numbers):
            _log.warning("the list is taken for numbers of nodes, not for names, which are such numbers, too")
    return TourFile(cities)


def _write(problem: Problem, tour: NDArray[np.int32], timing: Timing) -> Pieces:
    return [format_integers(np.ascontiguousarray(problem.ids_of(tour)[:, np.newaxis]))]


def _has_no_titles(data: bytes) -> bool:
    """Whether a text begins with no header line, such as ``position,id,x,y``, nor a comment above one."""
    return re.match(rb'(?:\xef\xbb\xbf)?+\s*"?[A-Za-z#\x80-\xff]', data) is None


FORMATS = (
    Format(
        name="list",
        tour_endings=(".txt",),
        sniff=_has_no_titles,
        fallback=True,
        read_tour=parse_list,
        write_tour=_write,
    ),
)
