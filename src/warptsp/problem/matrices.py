"""Distance matrices from sparse arrays and from condensed ones."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warptsp.errors import InvalidProblem

from .values import MAX_CITIES, real_array

__all__ = ["dense_matrix", "square_matrix"]


def dense_matrix(sparse: Any) -> NDArray[Any]:
    """All entries of a sparse matrix, each of which must be there."""
    entries = sparse.tocoo()
    shape = tuple(entries.shape)
    if len(shape) != 2 or shape[0] != shape[1]:
        raise InvalidProblem(f"the sparse matrix has shape {shape}: it must be square")
    values = real_array(entries.data, "the matrix's entries")
    _check_complete(np.asarray(entries.row), np.asarray(entries.col), shape[0])
    # Entries of one place are added, which a narrow type might not hold.
    dense = _zeros(shape[0], np.promote_types(values.dtype, np.int64))
    np.add.at(dense, (entries.row, entries.col), values)
    return dense


def _check_complete(rows: NDArray[Any], columns: NDArray[Any], n: int) -> None:
    """Accept the places of a sparse matrix's entries if none is missing, before n x n numbers are made."""
    if n > MAX_CITIES:
        raise InvalidProblem(f"{n} cities: at most {MAX_CITIES} are possible")
    off = rows != columns
    there = np.unique(rows[off].astype(np.int64) * n + columns[off])
    missing = n * (n - 1) - len(there)
    if not missing:
        return
    count = np.arange(len(there), dtype=np.int64)
    row, column = count // (n - 1), count % (n - 1)
    wanted = row * n + column + (column >= row)
    gap = int(np.argmin(np.append(there == wanted, False)))
    i, j = divmod(gap, n - 1)
    raise InvalidProblem(
        f"the sparse matrix has no entry ({i}, {j + (j >= i)}), and {missing} are missing in all: every "
        "distance is needed; scipy.sparse.csgraph.shortest_path fills in the paths through other cities, "
        "and a large number stands for a forbidden one"
    )


def _zeros(n: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """A matrix of n x n zeros."""
    try:
        return np.zeros((n, n), dtype=dtype)
    except (MemoryError, ValueError):
        size = n * n * dtype.itemsize / 1e9
        raise InvalidProblem(
            f"a matrix of {n} cities takes {size:.3g} GB, which this machine does not have: give points"
        ) from None


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
