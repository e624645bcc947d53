"""Numbers without a header: coordinates and tours that are mapped into memory as they lie on the disk."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warptsp.errors import InvalidProblem, ParseError
from warptsp.io._files import contents, named, reading
from warptsp.problem import Metric, Problem

__all__ = ["RAW_POINTS", "RAW_TOUR", "load_raw", "read_raw"]

RAW_POINTS = {"f64": ("<f8", 2), "f32": ("<f4", 2), "f64x3": ("<f8", 3), "f32x3": ("<f4", 3)}
"""The formats of coordinates: the type of a number, little-endian, and how many a city has."""

RAW_TOUR = "i32"
"""The format of tours: cities counted from 0, little-endian."""


def load_raw(path: str | os.PathLike[str], format: str, metric: Metric | None = None) -> Problem:
    """The instance in a file of coordinates, one city after another; distances are Euclidean, not rounded.

    Parameters
    ----------
    path : str or os.PathLike
        The file; ``f64`` and ``f64x3`` are mapped into memory, not copied. ``-`` is standard input.
    format : str
        One of `RAW_POINTS`.
    metric : Metric, optional
        Another one.

    Raises
    ------
    ParseError
        The file does not hold whole cities, or holds what is no coordinate.
    """
    kind, columns = RAW_POINTS[format]
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
                f"has {size} bytes: {columns} {dtype.name} numbers a city take {row}, and a whole number of "
                "cities is needed; does the format say what the file holds?",
                file=name,
            )
        if data is None:
            return np.memmap(name, dtype, "r", shape=(size // row, columns)).view(np.ndarray)
        return np.frombuffer(data, dtype).reshape(-1, columns)
