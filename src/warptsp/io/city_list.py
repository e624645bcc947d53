"""A tour as a plain list of the cities' numbers."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from warptsp._native import format_integers, parse_numbers
from warptsp.errors import InvalidTour, ParseError
from warptsp.problem import Problem
from warptsp.problem.itinerary import Timing

from ._text import line_number, quoted, token_offset
from .format import Format, Pieces, Source, TourFile


def parse_list(source: Source, problem: Problem) -> TourFile:
    """The cities in a list of numbers; a 0 among them means that they are counted from 0."""
    data, file = source.data.rstrip(b"\x00\x1a \t\r\n"), source.file
    numbers, end = parse_numbers(data, 0, problem.n)
    wrong = (numbers != np.floor(numbers)) | (np.abs(numbers) > 2.0**53)
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
    if (ids == 0).any() and (problem.node_ids is None or not (problem.node_ids == 0).any()):
        _check_counted(ids, problem)
        return TourFile(ids.astype(np.int32))
    return TourFile(problem.cities_of(ids))


def _check_counted(cities: NDArray[np.int64], problem: Problem) -> None:
    wrong = (cities < 0) | (cities >= problem.n)
    if wrong.any():
        raise InvalidTour(
            f"there is no city {cities[wrong][0]}: the list has a 0, so it counts from 0 to {problem.n - 1}"
        )


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
