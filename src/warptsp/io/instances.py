"""Instances in files: reading and writing them, in any format."""

import dataclasses
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from warptsp._words import as_called
from warptsp.errors import InvalidOption
from warptsp.outputs import write_pieces
from warptsp.problem import Metric, Problem
from warptsp.problem.doubts import warn_of_degrees

from ._files import of_file
from .format import Instance, Source
from .options import ReadOptions, other_metric
from .registry import format_of_instance, format_to_write, formats


def load(
    path: str | os.PathLike[str],
    format: str | None = None,
    *,
    asymmetric: bool = False,
    columns: Mapping[str, str | int] | None = None,
    metric: Metric | str | None = None,
    sheet: str | int | None = None,
    encoding: str | None = None,
    skip_incomplete: bool = False,
) -> Problem:
    """Read an instance.

    Parameters
    ----------
    path : str or os.PathLike
        A TSPLIB file; a CSV or TSV file of places (columns x, y or lat, lon, optionally names) or of
        distances; a workbook of Excel or a Parquet file, as such a table; a ``.npy`` array of points or
        distances; points as bare numbers (``.f64``, ``.f32``, and ``.f64x3``, ``.f32x3`` in space); JSON of
        places, distances or rows, GeoJSON points, GPX waypoints, KML placemarks; the table of a routing
        service such as OSRM. Text may
        be compressed with gzip. ``-`` is standard input.
    format : str, optional
        One of ``warptsp.io.FORMATS``; by default the ending of the name decides, or the contents if that
        means nothing.
    asymmetric : bool
        Whether a matrix may be asymmetric: entry (i, j), in row i, is the distance from i to j. Files that
        say so themselves (TSPLIB's ATSP, OSRM tables) need no such argument.
    columns : mapping, optional
        Which column of a table holds what: the keys are some of ``x``, ``y``, ``z``, ``lat``, ``lon``,
        ``name`` and ``id``, the values names in its first line, or numbers counted from 1. By default the
        names in the first line decide, and without them the numbers, as far as they leave no doubt.
    metric : Metric or str, optional
        A metric other than the file's, for the same kind of coordinates. Points of ``.npy`` files and bare
        numbers may also be latitudes and longitudes, in this order.
    sheet : str or int, optional
        The sheet of a workbook, by its name or its number from 1; by default the first that holds anything.
    encoding : str, optional
        The encoding of a text, such as ``cp1250``; by default UTF-8, UTF-16 or Windows-1252, as it looks. A
        byte order mark counts more.
    skip_incomplete : bool
        Whether rows of a table without coordinates are left out, with a warning; otherwise they are refused.

    Returns
    -------
    Problem
        Named after the file unless the file contains a name.

    Raises
    ------
    ParseError
        With file, line and what would be accepted.
    InvalidOption
        The format is unknown, `columns` are given for a file that is not a table, or the metric does not fit.
    """
    options = ReadOptions(
        {} if columns is None else columns,
        metric,
        asymmetric,
        sheet=sheet,
        encoding=encoding,
        skip_incomplete=skip_incomplete,
    )
    return read_instance(path, format, options).problem


def read_instance(path: str | os.PathLike[str], format: str | None, options: ReadOptions) -> Instance:
    """Read an instance as `load` does; say also what the columns of a table of places were taken for."""
    source = Source(path, encoding=options.encoding)
    chosen = format_of_instance(source, format)
    if not chosen.has_columns:
        options.check_no_table(source.file, chosen.name)
    if options.sheet is not None and not chosen.has_sheets:
        option = as_called("sheet", "--sheet")
        raise InvalidOption(
            f"{option}: only a workbook has sheets, and {source.file} is read as {chosen.name}"
        )
    assert chosen.read is not None
    problem, columns = chosen.read(source, options)
    if options.encoding is not None and source.encoding is not None:
        option = as_called("encoding", "--encoding")
        raise InvalidOption(
            f"{option}: only tables and JSON need one, and {source.file} is read as {chosen.name}"
        )
    if chosen.bare:
        if options.parsed is None and problem.coordinates is not None:
            warn_of_degrees(source.file, problem.coordinates)
    elif not chosen.has_columns:
        problem = _with_metric(problem, source, options)
    if not problem.name and source.path != "-":
        name = Path(Path(source.path).name.removesuffix(".gz")).stem
        problem = dataclasses.replace(problem, name=name)
    return Instance(problem, columns)


def _with_metric(problem: Problem, source: Source, options: ReadOptions) -> Problem:
    """The instance in a file that says what its metric is, with another one for the same coordinates."""
    own, name = problem.metric, options.metric
    if name is None or (wanted := Metric.parse(name, own.dimensions)) is own:
        return problem
    # Degrees are another thing for GEO and for GREAT_CIRCLE.
    if own.geographic or wanted.geographic or own.dimensions != wanted.dimensions:
        raise other_metric(wanted.name, source.file, own)
    with of_file(source.file):
        return dataclasses.replace(problem, metric=wanted.of(name, problem.given_coordinates()))


def write_problem(path: str | os.PathLike[str], problem: Problem, *, format: str | None = None) -> None:
    """Write an instance, whole or not at all.

    The `format` is ``tsplib``, ``csv``, ``tsv``, ``npy``, ``f64`` or ``f64x3``; by default the one that the
    ending of `path` means. Raises InvalidOption if it is unknown or cannot hold the instance, OutputError if
    the file cannot be written.
    """
    chosen = format_to_write(path, format, tour=False)
    assert chosen.write is not None
    write_pieces(path, chosen.write(problem))


def write_points(
    path: str | os.PathLike[str],
    n: int,
    blocks: Iterable[NDArray[np.float64]],
    *,
    format: str | None = None,
) -> None:
    """Write n cities that are generated in blocks of shape (m, 2), whole or not at all.

    The `format` is ``npy`` or ``f64``; by default the one that the ending of `path` means. Raises as
    `write_problem`.
    """
    chosen = format_to_write(path, format, tour=False)
    if chosen.write_points is None:
        names = " or ".join(found.name for found in formats() if found.write_points is not None)
        raise InvalidOption(
            f"{os.fspath(path)}: points are written piece by piece as {names}, not {chosen.name}"
        )
    write_pieces(path, chosen.write_points(n, blocks))
