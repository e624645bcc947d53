"""NumPy files: points or a distance matrix."""

from __future__ import annotations

import io
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warptsp.errors import InvalidProblem, ParseError
from warptsp.problem import Metric, Problem

from ._files import named

__all__ = ["MAGIC", "array_pieces", "load_npy", "npy_header", "read_array"]

MAGIC = b"\x93NUMPY"


def load_npy(
    path: str | os.PathLike[str],
    data: bytes | None = None,
    asymmetric: bool = False,
    metric: Metric | None = None,
) -> Problem:
    """The instance in a ``.npy`` file: shape (n, 2) or (n, 3) is points, (n, n) is distances.

    Parameters
    ----------
    path : str or os.PathLike
        The file; it is mapped into memory, not copied, where its type allows that.
    data : bytes, optional
        Its contents, if they do not come from a file.
    asymmetric : bool
        Whether distances may be.
    metric : Metric, optional
        That of the points; by default the Euclidean distance, not rounded.

    Raises
    ------
    ParseError
        The file is no array of numbers of such a shape.
    """
    array = read_array(path, data)
    try:
        if metric is None:
            return Problem.from_array(array, asymmetric=asymmetric)
        if metric is Metric.EXPLICIT:
            return Problem.from_matrix(array, asymmetric=asymmetric)
        return Problem.from_points(array, metric)
    except InvalidProblem as error:
        raise ParseError(str(error), file=path) from None


def read_array(path: str | os.PathLike[str], data: bytes | None = None) -> NDArray[Any]:
    """The array of numbers in a ``.npy`` file.

    Raises
    ------
    ParseError
        The file is damaged or holds something else.
    """
    name = named(path)
    try:
        array = np.load(name, mmap_mode="r", allow_pickle=False) if data is None else _array_in(data)
    except Exception as error:  # a damaged header can raise anything that Python's parser can
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ParseError(f"is no readable .npy file: {reason}", file=name) from None
    if not isinstance(array, np.ndarray):
        array.close()
        raise ParseError("is an archive of several arrays: a .npy file of one is needed", file=name)
    if array.dtype.kind not in "iuf":
        raise ParseError(f"holds {array.dtype} values: real numbers are needed", file=name)
    return array


def _array_in(data: bytes) -> NDArray[Any]:
    """The array in the bytes of a file, which are not copied: whatever the header says takes no memory."""
    stream = io.BytesIO(data)
    version = np.lib.format.read_magic(stream)
    header = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }.get(version)
    if header is None:
        raise ValueError(f"version {version[0]}.{version[1]} of the format is unknown")
    shape, by_columns, dtype = header(stream)
    if dtype.hasobject:
        raise ValueError("it holds objects")
    return np.ndarray(shape, dtype, data, stream.tell(), order="F" if by_columns else "C")


def array_pieces(array: NDArray[Any], *, header: bool) -> list[bytes | memoryview]:
    """An array as it stands in a file, little-endian; with a header in a ``.npy`` file, else bare."""
    little = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    return [*([npy_header(little.shape, little.dtype)] if header else []), little.data]


def npy_header(shape: tuple[int, ...], dtype: np.dtype[Any]) -> bytes:
    """What stands in a ``.npy`` file in front of the numbers, row by row."""
    stream = io.BytesIO()
    description = {
        "descr": np.lib.format.dtype_to_descr(dtype),
        "fortran_order": False,
        "shape": tuple(int(extent) for extent in shape),
    }
    np.lib.format.write_array_header_1_0(stream, description)
    return stream.getvalue()
