"""Numbers without a header: coordinates and tours that are mapped into memory as they lie on the disk."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from warptsp.errors import InvalidProblem, ParseError
from warptsp.io._files import contents, named, reading
from warptsp.problem import Metric, Problem

from .format import Format, Instance, Pieces, Source, TourFile
from .npy import array_pieces, bare_numbers

if TYPE_CHECKING:
    from .options import ReadOptions

__all__ = ["FORMATS", "load_raw", "read_raw"]

_POINTS = {"f64": ("<f8", 2), "f32": ("<f4", 2), "f64x3": ("<f8", 3), "f32x3": ("<f4", 3)}
"""The type of a number, little-endian, and how many a city has."""


def load_raw(path: str | os.PathLike[str], format: str, metric: Metric | str | None = None) -> Problem:
    """The instance in a file of coordinates, one city after another; distances are Euclidean, not rounded.

    Parameters
    ----------
    path : str or os.PathLike
        The file; ``f64`` and ``f64x3`` are mapped into memory, not copied. ``-`` is standard input.
    format : str
        ``f64``, ``f32``, ``f64x3`` or ``f32x3``.
    metric : Metric or str, optional
        Another one.

    Raises
    ------
    ParseError
        The file does not hold whole cities, or holds what is no coordinate.
    """
    kind, columns = _POINTS[format]
    numbers = read_raw(path, kind, columns)
    try:
        return Problem.from_points(numbers, metric)
    except InvalidProblem as error:
        raise ParseError(f"{error} (read as {format})", file=path) from None


def read_raw(path: str | os.PathLike[str], kind: str, columns: int) -> NDArray[Any]:
    """The rows of numbers in a file.

    Parameters
    ----------
    path : str or os.PathLike
    kind : str
        NumPy's name of their type, such as ``"<f8"``.
    columns : int
        Numbers in a row.

    Raises
    ------
    ParseError
        It is missing, empty, or no whole number of rows.
    """
    name = named(path)
    dtype = np.dtype(kind)
    row = columns * dtype.itemsize
    with reading(name):
        # A pipe has no size, and cannot be mapped.
        data = None
        if name == "-" or not Path(name).is_file():
            data, name = contents(name)
        size = os.path.getsize(name) if data is None else len(data)
        if size == 0 or size % row:
            raise ParseError(
                f"has {size} bytes: {columns} {dtype.name} numbers per city take {row}, and a whole number "
                "of cities is needed; does the format say what the file holds?",
                file=name,
            )
        if data is None:
            return np.memmap(name, dtype, "r", shape=(size // row, columns)).view(np.ndarray)
        return np.frombuffer(data, dtype).reshape(-1, columns)


def _read(source: Source, options: ReadOptions, *, kind: str) -> Instance:
    return Instance(load_raw(source.path, kind, options.asked))


def _write(problem: Problem, *, kind: str) -> Pieces:
    return array_pieces(bare_numbers(problem, kind, (_POINTS[kind][1],)), header=False)


def _write_points(n: int, blocks: Iterable[NDArray[np.float64]]) -> Pieces:
    return (np.ascontiguousarray(block, dtype="<f8").data for block in blocks)


def _read_tour(source: Source, problem: Problem) -> TourFile:
    return TourFile(read_raw(source.path, "<i4", 1)[:, 0])


def _write_tour(problem: Problem, tour: NDArray[np.int32]) -> Pieces:
    return array_pieces(tour, header=False)


def _points(name: str, *, written: bool) -> Format:
    return Format(
        name=name,
        endings=(f".{name}",),
        read=partial(_read, kind=name),
        write=partial(_write, kind=name) if written else None,
        write_points=_write_points if name == "f64" else None,
        bare=True,
    )


FORMATS = (
    _points("f64", written=True),
    _points("f32", written=False),
    _points("f64x3", written=True),
    _points("f32x3", written=False),
    Format(name="i32", tour_endings=(".i32",), read_tour=_read_tour, write_tour=_write_tour, bare=True),
)
