"""Instances in files: which format, and reading and writing them."""

from __future__ import annotations

import dataclasses
import logging
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from warptsp._checks import shown
from warptsp.errors import InvalidOption, InvalidProblem, ParseError
from warptsp.outputs import atomic_write
from warptsp.problem import Metric, Problem

from ._columns import Columns, Wishes, look_like_degrees
from ._files import named
from ._formats import output_format
from ._text import looks_like_kml, read_bytes
from .npy import MAGIC, array_pieces, load_npy, npy_header
from .raw import RAW_POINTS, load_raw
from .table import read_table
from .table_writer import problem_table
from .tsplib import looks_like_tsplib, parse_problem
from .tsplib_writer import problem_tsplib

__all__ = ["FORMATS", "load", "problem_format", "read_instance", "write_points", "write_problem"]

FORMATS = {
    "tsplib": (".tsp", ".atsp", ".tsplib", ".hpp"),
    "csv": (".csv", ".tsv"),
    "npy": (".npy",),
    "geojson": (".geojson", ".json"),
    "osrm": (),
    "osrm-distances": (),
    "gpx": (".gpx",),
    "kml": (".kml",),
    **{name: (f".{name}",) for name in RAW_POINTS},
}
"""The formats that instances are read in, with the endings that mean them; otherwise the contents decide."""

_WRITTEN = {
    "tsplib": (".tsp",),
    "csv": (".csv",),
    "tsv": (".tsv",),
    "npy": (".npy",),
    "f64": (".f64",),
    "f64x3": (".f64x3",),
}
_BINARY = ("npy", "f64", "f64x3")
_JSON = ("geojson", "osrm", "osrm-distances")


_log = logging.getLogger(__name__)


def load(
    path: str | os.PathLike[str],
    format: str | None = None,
    *,
    asymmetric: bool = False,
    columns: Mapping[str, str | int] | None = None,
    metric: Metric | str | None = None,
) -> Problem:
    """Read an instance.

    Parameters
    ----------
    path : str or os.PathLike
        A TSPLIB file; a CSV or TSV file of places (columns x, y or lat, lon, perhaps names) or of distances;
        a ``.npy`` array of points or distances; bare numbers of points (``.f64``, ``.f32``, and ``.f64x3``,
        ``.f32x3`` in space); GeoJSON points, GPX waypoints, KML placemarks; the
        table of a routing service such as OSRM. A text may be packed by gzip. ``-`` is standard input.
    format : str, optional
        One of `FORMATS`; by default the ending of the name decides, or the contents if that means nothing.
    asymmetric : bool
        Whether a matrix may be asymmetric: entry (i, j), in row i, is the way from i to j. Where the file
        says so itself (TSPLIB's ATSP, tables of OSRM) it may be in any case.
    columns : mapping, optional
        Which column of a table holds what: the keys are some of ``x``, ``y``, ``z``, ``lat``, ``lon``,
        ``name`` and ``id``, the values names in its first line, or numbers counted from 1. By default the
        names in the first line tell, and without them the numbers as far as they leave no doubt.
    metric : Metric or str, optional
        Another one than the file means, for the same kind of coordinates. Points of ``.npy`` files and bare
        numbers may be latitudes and longitudes, in this order, too.

    Returns
    -------
    Problem
        Its name is the file's if the file does not give one.

    Raises
    ------
    ParseError
        With file, line and what would be right.
    InvalidOption
        There is no such format, the file is no table and `columns` are given, or the metric does not fit.
    """
    return read_instance(path, format, asymmetric, Wishes.of(columns, metric))[0]


def read_instance(
    path: str | os.PathLike[str], format: str | None, asymmetric: bool, wishes: Wishes
) -> tuple[Problem, Columns | None]:
    """Read an instance as `load` does; return also what the columns of a table of places were taken for."""
    columns = None
    if format is not None and not isinstance(format, str):
        raise InvalidOption(f"format: {shown(format)} is no name: use one of {', '.join(FORMATS)}")
    if format is not None and format.lower() not in FORMATS and format.lower() != "tsv":
        raise InvalidOption(f"there is no format {shown(format)}: use one of {', '.join(FORMATS)}")
    chosen = "csv" if format is not None and format.lower() == "tsv" else format and format.lower()
    name = named(path)
    if chosen is None:
        bare = name.lower().removesuffix(".gz")
        chosen = next((found for found, endings in FORMATS.items() if bare.endswith(endings)), None)
    if chosen is None and name.lower().endswith(".bin"):
        raise InvalidOption(
            f"{name}: bare numbers do not say what they are: give the format, one of {', '.join(RAW_POINTS)}"
        )
    if chosen in RAW_POINTS:
        problem = load_raw(name, chosen, wishes.metric)
    elif chosen == "npy" and name != "-" and Path(name).is_file():
        problem = load_npy(name, asymmetric=asymmetric, metric=wishes.metric)
    else:
        data, file = read_bytes(name)
        chosen = chosen or _format_of(data)
        # A table under the name of another format, or the reverse, is what its contents say it is.
        if chosen == "csv" and format is None and looks_like_tsplib(data):
            chosen = "tsplib"
        if chosen == "tsplib":
            problem = parse_problem(data, file, asymmetric)
        elif chosen == "npy":
            problem = load_npy(file, data, asymmetric, wishes.metric)
        elif chosen in _JSON:
            from ._json import parse_json

            # What is in a file called .json, its contents say.
            problem = parse_json(data, file, format and chosen)
        elif chosen == "gpx":
            from .gpx import parse_gpx

            problem = parse_gpx(data, file)
        elif chosen == "kml":
            from .kml import parse_kml

            problem = parse_kml(data, file)
        else:
            chosen = "csv"
            problem, columns = read_table(data, file, asymmetric, wishes)
    if chosen != "csv":
        problem = _as_wished(problem, name, chosen, wishes)
    if not problem.name and name != "-":
        problem = dataclasses.replace(problem, name=Path(Path(name).name.removesuffix(".gz")).stem)
    return problem, columns


def _as_wished(problem: Problem, name: str, format: str, wishes: Wishes) -> Problem:
    """The instance in a file that is no table, with the metric that is wished for.

    Raises
    ------
    InvalidOption
        Only tables have columns, or the metric does not fit.
    """
    if wishes.columns:
        raise InvalidOption(
            f"{wishes.words(**wishes.columns)}: only a table has columns, and {name} is read as {format}"
        )
    if format == "npy" or format in RAW_POINTS:
        coordinates = problem.coordinates
        if wishes.metric is None and coordinates is not None and look_like_degrees(coordinates):
            _log.warning(
                "%s: the numbers look like degrees, and distances are those of the plane: %s if they are "
                "latitudes and longitudes in this order, or %s",
                name,
                wishes.metric_words("GREAT_CIRCLE"),
                wishes.metric_words(problem.metric.name),
            )
        return problem
    own, wanted = problem.metric, wishes.metric
    if wanted is None or wanted is own:
        return problem
    # Degrees are another thing for GEO and for GREAT_CIRCLE.
    if own.geographic or wanted.geographic or own.dimensions != wanted.dimensions:
        raise InvalidOption(
            f"{wishes.metric_words(wanted.name)} does not fit {name}, whose metric is {own.name}: "
            f"{own.description}"
        )
    try:
        return dataclasses.replace(problem, metric=wanted)
    except InvalidProblem as error:
        raise ParseError(str(error), file=name) from None


def _format_of(data: bytes) -> str:
    if data.startswith(MAGIC):
        return "npy"
    if data.lstrip()[:1] in (b"{", b"["):
        return "geojson"
    if data.lstrip()[:1] == b"<":
        return "kml" if looks_like_kml(data) else "gpx"
    return "tsplib" if looks_like_tsplib(data) else "csv"


def problem_format(path: str | os.PathLike[str], format: str | None = None) -> str:
    """The format that an instance is written in: `format`, or what the ending of `path` means.

    Raises
    ------
    InvalidOption
        There is no such format, or the ending means none.
    """
    return output_format(path, format, _WRITTEN, "instance")


def write_problem(path: str | os.PathLike[str], problem: Problem, *, format: str | None = None) -> None:
    """Write an instance, whole or not at all.

    Parameters
    ----------
    path : str or os.PathLike
    problem : Problem
    format : str, optional
        ``tsplib``, ``csv``, ``tsv``, ``npy``, ``f64`` or ``f64x3``; by default the one that the ending of
        `path` means.

    Raises
    ------
    InvalidOption
        The format is unknown or cannot hold the instance.
    OutputError
        The file cannot be written.
    """
    chosen = problem_format(path, format)
    with atomic_write(path) as stream:
        for piece in _pieces(chosen, problem):
            stream.write(piece)


def write_points(
    path: str | os.PathLike[str],
    n: int,
    blocks: Iterable[NDArray[np.float64]],
    *,
    format: str | None = None,
) -> None:
    """Write cities that are made piece by piece, whole or not at all.

    Parameters
    ----------
    path : str or os.PathLike
    n : int
        Number of cities.
    blocks : iterable of ndarray of float64, shape (m, 2)
        All of them in order.
    format : str, optional
        ``npy`` or ``f64``; by default the one that the ending of `path` means.

    Raises
    ------
    InvalidOption
        The format is another one.
    OutputError
        The file cannot be written.
    """
    chosen = problem_format(path, format)
    if chosen not in ("npy", "f64"):
        raise InvalidOption(
            f"{os.fspath(path)}: points are written piece by piece as npy or f64, not {chosen}"
        )
    with atomic_write(path) as stream:
        if chosen == "npy":
            stream.write(npy_header((n, 2), np.dtype("<f8")))
        for block in blocks:
            stream.write(np.ascontiguousarray(block, dtype="<f8").data)


def _pieces(format: str, problem: Problem) -> Iterable[bytes | memoryview]:
    if format == "tsplib":
        return problem_tsplib(problem)
    if format in _BINARY:
        return _numbers(format, problem)
    return problem_table(problem, delimiter="\t" if format == "tsv" else ",")


def _numbers(format: str, problem: Problem) -> Iterable[bytes | memoryview]:
    array = problem.matrix if problem.coordinates is None else problem.coordinates
    fits = [Metric.EXACT_2D, Metric.EXACT_3D, Metric.EXPLICIT]
    if format in RAW_POINTS:
        fits = [metric for metric in fits if metric.dimensions == RAW_POINTS[format][1]]
    if problem.metric not in fits:
        raise InvalidOption(
            f"a .{format} file cannot say that distances are {problem.metric.name}: write a .tsp file"
        )
    assert array is not None
    return array_pieces(array, header=format == "npy")
