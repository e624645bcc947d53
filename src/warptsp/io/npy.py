"""NumPy files: points, a distance matrix, or a tour."""

import io
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warptsp._checks import short
from warptsp.errors import InvalidOption, ParseError
from warptsp.problem import Metric, Problem
from warptsp.problem.missing import with_infinity

from ._files import of_file
from .format import Format, Instance, Pieces, Source, TourFile
from .options import ReadOptions

MAGIC = b"\x93NUMPY"


def array_in(source: Source) -> NDArray[Any]:
    """The array of numbers in a file, which is mapped into memory where that is possible."""
    data = None if source.mappable else source.data
    try:
        array = np.lib.format.open_memmap(source.path, mode="r") if data is None else _array_of(data)
    except Exception as error:  # a damaged header can raise anything that Python's parser can
        reason = short(str(error), 200) or type(error).__name__  # it may quote the whole header
        raise ParseError(f"is not a readable .npy file: {reason}", file=source.file) from None
    if array.dtype.kind not in "iuf":
        raise ParseError(f"holds {array.dtype} values: real numbers are needed", file=source.file)
    return array


def _array_of(data: bytes) -> NDArray[Any]:
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
    """The points or the matrix of an instance, for a file that says nothing of distances."""
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
    """Shape (n, 2) or (n, 3) is points, (n, n) is distances; where both fit, the metric says what it is."""
    array, metric = array_in(source), options.metric
    with of_file(source.file):
        if metric is None:
            return Instance(Problem.from_array(array, asymmetric=options.asymmetric))
        if Metric.parse(metric) is Metric.EXPLICIT:
            return Instance(Problem.from_matrix(array, asymmetric=options.asymmetric))
        return Instance(Problem.from_points(array, metric))


def _write_points(n: int, blocks: Iterable[NDArray[np.float64]]) -> Pieces:
    yield _header((n, 2), np.dtype("<f8"))
    for block in blocks:
        yield np.ascontiguousarray(block, dtype="<f8").data


FORMATS = (
    Format(
        name="npy",
        endings=(".npy",),
        tour_endings=(".npy",),
        sniff=lambda data: data.startswith(MAGIC),
        read=_read,
        write=lambda problem: array_pieces(bare_numbers(problem, "npy", (0, 2, 3)), header=True),
        write_points=_write_points,
        read_tour=lambda source, problem: TourFile(array_in(source)),
        write_tour=lambda problem, tour, timing: array_pieces(tour, header=True),
        bare=True,
    ),
)
