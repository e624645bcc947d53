"""NumPy files: points, a distance matrix, or a tour."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from warptsp._checks import short
from warptsp.errors import InvalidOption, InvalidProblem, ParseError
from warptsp.problem import Metric, Problem
from warptsp.problem.missing import with_infinity

from ._files import named
from .format import Format, Instance, Pieces, Source, TourFile

if TYPE_CHECKING:
    from .options import ReadOptions

__all__ = ["FORMATS", "array_pieces", "bare_numbers", "load_npy", "read_array"]

MAGIC = b"\x93NUMPY"


def load_npy(
    path: str | os.PathLike[str],
    data: bytes | None = None,
    asymmetric: bool = False,
    metric: Metric | str | None = None,
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
    metric : Metric or str, optional
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
        if Metric.parse(metric) is Metric.EXPLICIT:
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
        reason = short(str(error), 200) or type(error).__name__  # it may quote the whole header
        raise ParseError(f"is not a readable .npy file: {reason}", file=name) from None
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
    return [*([_header(little.shape, little.dtype)] if header else []), little.data]


def bare_numbers(problem: Problem, ending: str, dimensions: tuple[int, ...]) -> NDArray[Any]:
    """The points or the matrix of an instance, for a file that says nothing of distances.

    Raises
    ------
    InvalidOption
        Reading the file would not give the instance back.
    """
    fits = [Metric.EXACT_2D, Metric.EXACT_3D, Metric.EXPLICIT]
    array = problem.matrix if problem.coordinates is None else problem.coordinates
    if array is None or problem.metric not in fits or problem.metric.dimensions not in dimensions:
        raise InvalidOption(
            f"a .{ending} file cannot say that distances are {problem.metric.name}: write a .tsp file"
        )
    if array.dtype == np.object_:
        if problem.wall is not None or not array.max() < 2**63:
            raise InvalidOption(
                f"a .{ending} file holds integers below 2**63, and no missing arcs beside them: write "
                "a .tsp file"
            )
        array = array.astype(np.int64)
    return with_infinity(array, problem.wall)


def _header(shape: tuple[int, ...], dtype: np.dtype[Any]) -> bytes:
    """What stands in a ``.npy`` file in front of the numbers, row by row."""
    stream = io.BytesIO()
    description = {
        "descr": np.lib.format.dtype_to_descr(dtype),
        "fortran_order": False,
        "shape": tuple(int(extent) for extent in shape),
    }
    np.lib.format.write_array_header_1_0(stream, description)
    return stream.getvalue()


def _read(source: Source, options: ReadOptions) -> Instance:
    data = None if source.mappable else source.data
    return Instance(load_npy(source.file, data, options.asymmetric, options.asked))


def _write(problem: Problem) -> Pieces:
    return array_pieces(bare_numbers(problem, "npy", (0, 2, 3)), header=True)


def _write_points(n: int, blocks: Iterable[NDArray[np.float64]]) -> Pieces:
    yield _header((n, 2), np.dtype("<f8"))
    for block in blocks:
        yield np.ascontiguousarray(block, dtype="<f8").data


def _read_tour(source: Source, problem: Problem) -> TourFile:
    return TourFile(read_array(source.file, None if source.mappable else source.data))


def _write_tour(problem: Problem, tour: NDArray[np.int32]) -> Pieces:
    return array_pieces(tour, header=True)


FORMATS = (
    Format(
        name="npy",
        endings=(".npy",),
        tour_endings=(".npy",),
        sniff=lambda data: data.startswith(MAGIC),
        read=_read,
        write=_write,
        write_points=_write_points,
        read_tour=_read_tour,
        write_tour=_write_tour,
        bare=True,
    ),
)
