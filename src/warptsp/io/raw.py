"""Numbers without a header: coordinates and tours that are mapped into memory as they lie on the disk."""

import os
from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warptsp.errors import ParseError
from warptsp.problem import Problem

from ._files import of_file, reading
from .format import Format, Instance, Pieces, Source, TourFile
from .npy import array_pieces, bare_numbers
from .options import ReadOptions

_POINTS = {"f64": ("<f8", 2), "f32": ("<f4", 2), "f64x3": ("<f8", 3), "f32x3": ("<f4", 3)}
"""The type of a number, little-endian, and how many a city has."""


def _rows(source: Source, kind: str, columns: int) -> NDArray[Any]:
    """The rows of numbers in a file, which is mapped into memory unless it is a pipe."""
    dtype = np.dtype(kind)
    row = columns * dtype.itemsize
    data = None if source.mappable else source.bytes
    with reading(source.path):
        size = os.path.getsize(source.path) if data is None else len(data)
        if size == 0 or size % row:
            raise ParseError(
                f"has {size} bytes: {columns} {dtype.name} numbers per city take {row}, and a whole number "
                "of cities is needed; does the format say what the file holds?",
                file=source.file,
            )
        if data is None:
            return np.memmap(source.path, dtype, "r", shape=(size // row, columns)).view(np.ndarray)
        return np.frombuffer(data, dtype).reshape(-1, columns)


def _read(source: Source, options: ReadOptions, *, name: str) -> Instance:
    numbers = _rows(source, *_POINTS[name])
    with of_file(source.file, f" (read as {name})"):
        return Instance(Problem.from_points(numbers, options.metric))


def _write_points(n: int, blocks: Iterable[NDArray[np.float64]]) -> Pieces:
    return (np.ascontiguousarray(block, dtype="<f8").data for block in blocks)


def _points(name: str, *, written: bool) -> Format:
    def write(problem: Problem) -> Pieces:
        return array_pieces(bare_numbers(problem, name, (_POINTS[name][1],)), header=False)

    return Format(
        name=name,
        endings=(f".{name}",),
        read=partial(_read, name=name),
        write=write if written else None,
        write_points=_write_points if name == "f64" else None,
        bare=True,
    )


FORMATS = (
    _points("f64", written=True),
    _points("f32", written=False),
    _points("f64x3", written=True),
    _points("f32x3", written=False),
    Format(
        name="i32",
        tour_endings=(".i32",),
        read_tour=lambda source, problem: TourFile(_rows(source, "<i4", 1)[:, 0]),
        write_tour=lambda problem, tour, timing: array_pieces(tour, header=False),
        bare=True,
    ),
)
