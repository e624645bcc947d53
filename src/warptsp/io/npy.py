"""NumPy files: points or a distance matrix."""

from __future__ import annotations

import io
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warptsp.errors import InvalidProblem, ParseError
from warptsp.problem import Problem

__all__ = ["MAGIC", "array_pieces", "load_npy", "npy_header", "read_array"]

MAGIC = b"\x93NUMPY"


def load_npy(path: str | os.PathLike[str], data: bytes | None = None, asymmetric: bool = False) -> Problem:
    """The instance in a ``.npy`` file: shape (n, 2) or (n, 3) is points, (n, n) is distances.

    Parameters
    ----------
    path : str or os.PathLike
        The file; it is mapped into memory, not copied, where its type allows that.
    data : bytes, optional
        Its contents, if they do not come from a file.
    asymmetric : bool
        Whether distances may be.

    Raises
    ------
    ParseError
        The file is no array of numbers of such a shape.
    """
    array = read_array(path, data)
    try:
        return Problem.from_array(array, asymmetric=asymmetric)
    except InvalidProblem as error:
        raise ParseError(str(error), file=path) from None


def read_array(path: str | os.PathLike[str], data: bytes | None = None) -> NDArray[Any]:
    """The array of numbers in a ``.npy`` file.

    Raises
    ------
    ParseError
        The file is damaged or holds something else.
    """
    try:
        if data is None:
            array = np.load(path, mmap_mode="r", allow_pickle=False)
        else:
            array = np.load(io.BytesIO(data), allow_pickle=False)
    except Exception as error:  # a damaged header can raise anything that Python's parser can
        raise ParseError(f"is no readable .npy file: {error}", file=path) from None
    if not isinstance(array, np.ndarray):
        raise ParseError("is an archive of several arrays: a .npy file of one is needed", file=path)
    if not np.issubdtype(array.dtype, np.integer) and not np.issubdtype(array.dtype, np.floating):
        raise ParseError(f"holds {array.dtype} values: real numbers are needed", file=path)
    return array


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
