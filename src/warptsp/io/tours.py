"""Tours in files: which format, and the readers of the simple ones."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warptsp._native import format_integers, parse_numbers
from warptsp.errors import InvalidTour, ParseError
from warptsp.outputs import atomic_write
from warptsp.problem import Problem

from ._files import named
from ._formats import output_format
from ._text import decode, line_number, looks_like_kml, quoted, read_bytes
from .lines import TourFile, tour_along
from .npy import MAGIC, array_pieces, read_array
from .places import check_geographic
from .raw import RAW_TOUR, read_raw
from .table_writer import PATH_POSITION, POSITION, guarded, tour_table
from .tsplib import looks_like_tsplib, parse_tour
from .tsplib_writer import tour_tsplib

__all__ = ["TOUR_FORMATS", "check_tour_output", "read_tour", "read_tour_file", "tour_format", "write_tour"]

TOUR_FORMATS = {
    "tsplib": (".tour",),
    "csv": (".csv",),
    "tsv": (".tsv",),
    "geojson": (".geojson", ".json"),
    "gpx": (".gpx",),
    "kml": (".kml",),
    "list": (".txt",),
    "npy": (".npy",),
    RAW_TOUR: (f".{RAW_TOUR}",),
}
"""The formats that tours are written in, with the endings that mean them."""

_MAPS = {
    "geojson": "GeoJSON",
    "gpx": "GPX",
    "kml": "KML",
}  # for these an instance needs latitudes and longitudes


def tour_format(path: str | os.PathLike[str], format: str | None = None) -> str:
    """The format that a tour gets: `format` if given, otherwise the one that the ending of `path` means.

    Raises
    ------
    InvalidOption
        There is no such format, or the ending means none.
    """
    return output_format(path, format, TOUR_FORMATS, "tour")


def check_tour_output(path: str | os.PathLike[str], problem: Problem, format: str | None = None) -> None:
    """Make sure, before any work is done, that tours of an instance can be written in this format.

    Raises
    ------
    InvalidOption
        The format is unknown, or one for maps and the instance has no latitudes and longitudes.
    """
    chosen = tour_format(path, format)
    if chosen in _MAPS:
        check_geographic(problem, f"{os.fspath(path)}: {_MAPS[chosen]}")


def write_tour(
    path: str | os.PathLike[str],
    tour: ArrayLike,
    problem: Problem,
    *,
    format: str | None = None,
    csv_safe: bool = False,
) -> None:
    """Write a tour, whole or not at all.

    Parameters
    ----------
    path : str or os.PathLike
    tour : array_like of int
        Cities counted from 0; each once.
    problem : Problem
    format : str, optional
        One of `TOUR_FORMATS`; by default the one that the ending of `path` means.
    csv_safe : bool
        Put an apostrophe before names that a spreadsheet would take for formulas; for ``csv`` and ``tsv``.
        `read_tour` knows what it means.

    Raises
    ------
    InvalidTour
        It is no tour of the instance.
    InvalidOption
        The format is unknown or does not fit the instance.
    OutputError
        The file cannot be written.
    """
    chosen = tour_format(path, format)
    check_tour_output(path, problem, chosen)
    problem.check_tour(tour)
    cities = np.asarray(tour, dtype=np.int32)
    with atomic_write(path) as stream:
        for piece in _pieces(chosen, problem, cities, csv_safe):
            stream.write(piece)


def _pieces(
    format: str, problem: Problem, cities: NDArray[np.int32], csv_safe: bool
) -> Iterable[bytes | memoryview]:
    if format == "tsplib":
        return tour_tsplib(problem, cities)
    if format in ("npy", RAW_TOUR):
        return array_pieces(cities, header=format == "npy")
    if format == "geojson":
        from .geojson import tour_geojson

        return [tour_geojson(problem, cities)]
    if format == "gpx":
        from .gpx import tour_gpx

        return [tour_gpx(problem, cities)]
    if format == "kml":
        from .kml import tour_kml

        return [tour_kml(problem, cities)]
    if format == "list":
        return [format_integers(np.ascontiguousarray(problem.ids_of(cities)[:, np.newaxis]))]
    return tour_table(problem, cities, delimiter="\t" if format == "tsv" else ",", safe=csv_safe)


def read_tour(path: str | os.PathLike[str], problem: Problem) -> NDArray[np.int32]:
    """A tour of an instance from a file; the contents tell the format.

    Parameters
    ----------
    path : str or os.PathLike
        A TSPLIB tour; a table with a column ``id`` or ``name``, as `write_tour` makes it; a line of GeoJSON,
        GPX or KML through the cities; a plain list of node numbers, in which a 0 means that cities are
        counted from 0; or cities counted from 0, as a ``.npy`` array or, if the name ends so, as the bare
        numbers of ``.i32``. ``-`` is standard input.
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
        It is no tour of this instance.
    """
    return read_tour_file(path, problem).cities.astype(np.int32)  # what is mapped is not the caller's


def read_tour_file(path: str | os.PathLike[str], problem: Problem) -> TourFile:
    """A tour from a file, as `read_tour` reads it, and whether the file says that it is an open path."""
    name = named(path)
    numbers = None
    if name.lower().endswith(f".{RAW_TOUR}"):
        numbers = read_raw(path, "<i4", 1)[:, 0]
    elif name.lower().endswith(".npy") and os.path.isfile(name):
        numbers = read_array(path)
    data, file = (b"", name) if numbers is not None else read_bytes(path)
    try:
        found = _parsed(data, file, problem) if numbers is None else TourFile(numbers)
        problem.check_tour(found.cities, constraints=False)
    except InvalidTour as error:
        message = str(error)
        raise InvalidTour(message if message.startswith(file) else f"{file}: {message}") from None
    return found


def _parsed(data: bytes, file: str, problem: Problem) -> TourFile:
    if data.startswith(MAGIC):
        return TourFile(read_array(file, data))
    if looks_like_tsplib(data):
        return parse_tour(data, file, problem)
    if data.lstrip()[:1] in (b"{", b"["):
        from ._json import parse_line

        return tour_along(parse_line(data, file), problem, file)
    if data.lstrip()[:1] == b"<":
        from .gpx import gpx_line
        from .kml import kml_line

        return tour_along((kml_line if looks_like_kml(data) else gpx_line)(data, file), problem, file)
    if _TABLE_LINE.match(data):
        return _read_table(data, file, problem)
    return TourFile(_read_list(data, file, problem))


# A line of names, such as "position,id,x,y".
_TABLE_LINE = re.compile(rb'[\s]*"?[A-Za-z]')


def _read_list(data: bytes, file: str, problem: Problem) -> NDArray[np.int32]:
    data = data.rstrip(b"\x00\x1a \t\r\n")
    numbers, end = parse_numbers(data, 0, problem.n)
    wrong = (numbers != np.floor(numbers)) | (np.abs(numbers) > 2.0**53)
    if end < len(data) or wrong.any():
        offset = end
        if wrong.any():
            offset = next(_offsets(data, int(np.argmax(wrong))))
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
        return ids.astype(np.int32)
    return problem.cities_of(ids)


def _check_counted(cities: NDArray[np.int64], problem: Problem) -> None:
    wrong = (cities < 0) | (cities >= problem.n)
    if wrong.any():
        raise InvalidTour(
            f"there is no city {cities[wrong][0]}: the list has a 0, so it counts from 0 to {problem.n - 1}"
        )


def _offsets(data: bytes, index: int) -> Iterator[int]:
    for place, token in enumerate(re.finditer(rb"\S+", data)):
        if place == index:
            yield token.start()
            return


def _read_table(data: bytes, file: str, problem: Problem) -> TourFile:
    import csv

    lines = decode(data).splitlines()
    delimiter = next((character for character in "\t;," if character in lines[0]), ",")
    rows = csv.reader(lines, delimiter=delimiter, strict=True)
    try:
        titles = [title.strip().lower() for title in next(rows)]
        column = next((titles.index(name) for name in ("id", "node", "name") if name in titles), None)
        if column is None:
            shown = ", ".join(quoted(title) for title in titles[:8])
            raise ParseError(
                f"the first line names the columns {shown}: a column id or name is needed", file=file, line=1
            )
        values = []
        for row in rows:
            if not row:
                continue
            if len(row) <= column:
                raise ParseError(
                    f"{len(row)} fields: column {quoted(titles[column])} is missing",
                    file=file,
                    line=rows.line_num,
                )
            values.append(row[column].strip())
            if titles[column] != "name" and not re.fullmatch(r"\d{1,15}", values[-1]):
                raise ParseError(
                    f"{quoted(values[-1])} in column {titles[column]}: a node number is needed",
                    file=file,
                    line=rows.line_num,
                )
    except csv.Error as error:
        raise ParseError(f"is not a CSV line: {error}", file=file, line=rows.line_num) from None
    said = {POSITION: False, PATH_POSITION: True}.get(titles[0])
    if titles[column] != "name":
        return TourFile(problem.cities_of(np.array([int(value) for value in values], dtype=np.int64)), said)
    return TourFile(_cities_by_name(values, problem), said)


def _cities_by_name(values: list[str], problem: Problem) -> NDArray[np.int32]:
    if problem.labels is None:
        raise InvalidTour("the tour names its cities, and the instance has no names: give it a column id")
    city_of = {label: city for city, label in enumerate(problem.labels)}
    if len(city_of) < problem.n:
        raise InvalidTour("several cities of the instance have the same name: give the tour a column id")
    city_of = {guarded(label): city for label, city in city_of.items()} | city_of
    unknown = next((value for value in values if value not in city_of), None)
    if unknown is not None:
        raise InvalidTour(f"the instance has no city called {quoted(unknown)}")
    return np.array([city_of[value] for value in values], dtype=np.int32)
