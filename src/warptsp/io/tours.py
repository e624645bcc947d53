"""Tours in files: reading and writing them, in any format."""

import logging
import os
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warptsp.errors import InvalidTour
from warptsp.outputs import write_pieces
from warptsp.problem import Problem
from warptsp.problem.itinerary import Timing

from .format import Format, Source, TourFile
from .places import check_geographic
from .registry import format_of_instance, format_of_tour, format_to_write

_log = logging.getLogger(__name__)


def check_tour_output(path: str | os.PathLike[str], problem: Problem, format: str | None = None) -> Format:
    """The format that tours of an instance get, which can hold them: `format`, or what the ending means."""
    chosen = format_to_write(path, format, tour=True)
    if chosen.on_maps:
        check_geographic(problem, f"{os.fspath(path)}: {chosen.title}")
    if chosen.check_tour is not None:
        chosen.check_tour(problem, os.fspath(path))
    return chosen


def write_tour(
    path: str | os.PathLike[str],
    tour: ArrayLike,
    problem: Problem,
    *,
    format: str | None = None,
    csv_safe: bool = False,
    speed: float | None = None,
    stop_time: float = 0.0,
    depart: Any = None,
) -> None:
    """Write a tour, whole or not at all.

    Parameters
    ----------
    path : str or os.PathLike
    tour : array_like of int
        Cities counted from 0; each once.
    problem : Problem
    format : str, optional
        One of ``warptsp.io.TOUR_FORMATS``; by default the one that the ending of `path` means.
    csv_safe : bool
        Put an apostrophe before names that a spreadsheet would take for formulas; for ``csv`` and ``tsv``.
        `read_tour` understands it.
    speed, stop_time, depart
        As `warptsp.Result.schedule` takes them: ``csv``, ``tsv``, ``xlsx`` and ``geojson`` say when the tour
        is where; others leave it out.

    Raises
    ------
    InvalidTour
        It is not a tour of the instance.
    InvalidOption
        The format is unknown or does not fit the instance.
    OutputError
        The file cannot be written.
    """
    chosen = check_tour_output(path, problem, format)
    assert chosen.write_tour is not None
    timing = Timing(speed, stop_time, depart)
    timing.check(problem)
    problem.check_tour(tour)
    cities = np.asarray(tour, dtype=np.int32)
    if csv_safe and chosen.guarded is not None:
        problem = _guarded(problem, chosen.guarded)
    write_pieces(path, chosen.write_tour(problem, cities, timing))


def _guarded(problem: Problem, guard: Callable[[str], str]) -> Problem:
    """The same with texts and titles that no program takes for formulas; numbers stay numbers."""

    def guarded(entry: Any) -> Any:
        return guard(entry) if isinstance(entry, str) and not _is_number(entry) else entry

    labels, extra, style = problem.labels, problem.extra, problem.style
    columns = () if style is None else tuple((guard(title), role) for title, role in style.columns)
    return replace(
        problem,
        labels=None if labels is None else list(map(guard, labels)),
        extra=extra and {guard(title): list(map(guarded, column)) for title, column in extra.items()},
        style=style and style._replace(columns=columns),
    )


def _is_number(text: str) -> bool:
    return re.fullmatch(r"[+-]?\d+([.,]\d*)?", text) is not None


def read_tour(path: str | os.PathLike[str], problem: Problem) -> NDArray[np.int32]:
    """Read a tour of an instance from a file; the contents decide the format.

    Parameters
    ----------
    path : str or os.PathLike
        A TSPLIB tour; a table with a column ``id`` or ``name``, as `write_tour` writes it; a GeoJSON, GPX or
        KML line through the cities; a plain list of node numbers, also as JSON, in which a 0 means that
        cities are counted from 0; or cities counted from 0, as a ``.npy`` array or, if the name ends in
        ``.i32``, as bare numbers. ``-`` is standard input.
    problem : Problem

    Returns
    -------
    ndarray of int32, shape (n,)
        Cities counted from 0, each once.

    Raises
    ------
    ParseError
        The file cannot be read as a tour.
    InvalidTour
        It is not a tour of this instance.
    """
    return read_tour_file(path, problem).cities.astype(np.int32)  # what is mapped is not the caller's


def read_tour_file(path: str | os.PathLike[str], problem: Problem) -> TourFile:
    """A tour from a file, as `read_tour` reads it, and whether the file says that it is an open path."""
    source = Source(path, likely=None if problem.style is None else problem.style.encoding)
    format = format_of_tour(source)
    assert format.read_tour is not None
    try:
        found = format.read_tour(source, problem)
        cities = found.cities
        if len(cities) == problem.n + 1 > 2 and cities[0] == cities[-1] and not found.open:
            found = found._replace(cities=cities[:-1], open=False)  # back where it began
        problem.check_tour(found.cities, constraints=False)
    except InvalidTour as error:
        message, file = str(error), source.file
        raise InvalidTour(message if message.startswith(file) else f"{file}: {message}") from None
    if (told := found.length) is not None and bool(found.open) == (problem.open is not None):
        length = problem.length(found.cities)
        rounding = problem.n if told.is_integer() and not problem.integral else 0
        if abs(length - told) > 1e-9 * told + rounding:
            _log.warning("%s: says that the tour is %.15g long, and here it is %.15g: is it of another "
                         "instance, metric or scale?", source.file, told, length)  # fmt: skip
    return found


def read_own_tour(
    path: str | os.PathLike[str], problem: Problem, format: str | None = None, encoding: str | None = None
) -> TourFile:
    """The tour in the file that the instance comes from: the order of its places, unless it has another one.

    The format is that of the instance, and the encoding that of a text.
    """
    source = Source(path, encoding=encoding)
    chosen = format_of_instance(source, format)
    if chosen.on_maps or not (chosen.has_columns or chosen.bare):
        return read_tour_file(path, problem)
    said = None if chosen.read_order is None else chosen.read_order(source)
    return TourFile(np.arange(problem.n), said)
