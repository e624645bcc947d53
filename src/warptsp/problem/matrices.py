"""Distance matrices from sparse arrays and from condensed ones."""

import logging
import math
from collections.abc import Callable
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from warptsp._checks import shown
from warptsp._words import as_called
from warptsp.errors import InvalidOption, InvalidProblem
from warptsp.machine import memory
from warptsp.problem.values import check_count, plain_array, real_array

_log = logging.getLogger(__name__)

Distance: TypeAlias = Callable[[NDArray[np.float64], NDArray[np.float64]], float]
_MOST_CALLED = 1000  # points of a function, which is called a million times then


def are_distances(square: NDArray[Any]) -> bool:
    """Whether two rows of two numbers, or three of three, are distances; otherwise they are points.

    Raises `InvalidProblem`: they are no numbers, or may as well be the one as the other.
    """
    given = real_array(square, "the numbers", any_size=True)
    values = given.astype(np.float64)
    diagonal, rest = values.diagonal(), values[~np.eye(len(values), dtype=np.bool_)]
    if np.isinf(values).any() or not np.isfinite(diagonal).any():
        return True  # as no coordinate is
    if not diagonal.any():
        return np.array_equal(given, given.T) or (len(values) == 3 and bool(rest.all()))
    if (diagonal == diagonal[0]).all() and (diagonal[0] > rest.max() or diagonal[0] < 0 <= rest.min()):
        n = len(values)
        distances = as_called('metric="EXPLICIT" (Problem.from_matrix)', "--metric EXPLICIT")
        points = as_called('metric="euclidean" (Problem.from_points)', "--metric euclidean")
        raise InvalidProblem(
            f"{n} rows of {n} numbers with {diagonal[0]:g} on the diagonal may be distances or points: "
            f"{distances} says the one, {points} the other"
        )
    return False


def without_none(square: NDArray[Any]) -> NDArray[Any]:
    """A square with None as missing arcs, as null is in JSON; on the diagonal it means nothing."""
    if square.dtype != np.object_ or square.ndim != 2 or square.shape[0] != square.shape[1]:
        return square
    missing = np.array([[entry is None for entry in row] for row in square])
    filled = np.where(missing, np.inf, square)
    np.fill_diagonal(filled, np.where(missing.diagonal(), 0, square.diagonal()))
    return filled


def dense_matrix(sparse: Any) -> tuple[NDArray[Any], float | None]:
    """All entries of a sparse matrix, and the number that stands for those that are not stored, if any."""
    entries = sparse.tocoo()
    shape = tuple(entries.shape)
    if len(shape) != 2 or shape[0] != shape[1]:
        raise InvalidProblem(f"the sparse matrix has shape {shape}: it must be square")
    check_count(shape[0])
    values = real_array(entries.data, "the matrix's entries", any_size=True)
    return matrix_of_arcs(np.asarray(entries.row), np.asarray(entries.col), values, shape[0])


def matrix_of_arcs(
    rows: NDArray[Any], columns: NDArray[Any], values: NDArray[Any], n: int
) -> tuple[NDArray[Any], float | None]:
    """All entries of a matrix with these, and the number that stands for the others, if there are any."""
    off = rows != columns
    places, where = np.unique(rows[off].astype(np.int64) * n + columns[off], return_inverse=True)
    # Entries of one place are added, which a narrow type might not hold.
    sums = np.zeros(len(places), dtype=np.promote_types(values.dtype, np.int64))
    np.add.at(sums, where.reshape(-1), values[off])
    if not len(places) or sums.dtype.kind == "f":
        missing: Any = np.inf
    else:
        missing = max(int(sums.max()), 0) + 1
    small = sums.dtype.kind != "f" and missing <= np.iinfo(np.int32).max and sums.min(initial=0) >= 0
    dense = _zeros(
        n, np.dtype(np.int32) if small else np.promote_types(sums.dtype, np.min_scalar_type(missing))
    )
    dense[...] = missing
    dense.reshape(-1)[places] = sums
    np.fill_diagonal(dense, 0)
    return dense, missing if len(places) < n * (n - 1) else None


def _zeros(n: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """A matrix of n x n zeros."""
    size = n * n * dtype.itemsize
    try:
        if size > memory():
            raise MemoryError
        return np.zeros((n, n), dtype=dtype)
    except (MemoryError, ValueError):
        raise InvalidProblem(
            f"a matrix of {n} cities takes {size / 1e9:.3g} GB, which this machine does not have: give points"
        ) from None


def matrix_of_function(points: NDArray[np.float64], distance: Distance) -> NDArray[Any]:
    """The distances of a few points by a function of two of them."""
    n = len(points)
    if isinstance(distance, type):
        raise InvalidOption(f"metric: {shown(distance)} is a class: a function of two points is needed")
    if n > _MOST_CALLED:
        raise InvalidProblem(f"{n} points: as metric, a function is called for pairs of up to {_MOST_CALLED}")
    _log.warning("the metric is called for %d pairs, and the instance is the matrix of these", n * (n - 1))
    own = points.copy()
    own.flags.writeable = False

    def between(a: int, b: int) -> float:
        found = distance(own[a], own[b])
        if not isinstance(found, Real):
            raise InvalidProblem(
                f"metric: the function returned {shown(found)} for points {a} and {b}: a number is needed"
            )
        return found

    rows = [[0 if a == b else between(a, b) for b in range(n)] for a in range(n)]
    return plain_array(rows, "the distances of the function")


def square_matrix(condensed: NDArray[Any]) -> NDArray[Any]:
    """The symmetric matrix whose rows above the diagonal these are."""
    n = (1 + math.isqrt(1 + 8 * len(condensed))) // 2
    if n * (n - 1) // 2 != len(condensed) or len(condensed) == 0:
        raise InvalidProblem(
            f"an array of shape {condensed.shape}: points have shape (n, 2) or (n, 3), and a condensed "
            "matrix has n (n - 1) / 2 numbers"
        )
    square = _zeros(n, condensed.dtype)
    begin = 0
    for i in range(n - 1):
        end = begin + n - 1 - i
        square[i, i + 1 :] = square[i + 1 :, i] = condensed[begin:end]
        begin = end
    return square
