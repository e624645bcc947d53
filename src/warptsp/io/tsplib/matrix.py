"""Distance matrices of TSPLIB files: whole ones, and their triangles in eight orders."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warptsp.io._text import as_integers, quoted

from .text import Section, TsplibText

__all__ = ["weights"]


@dataclass(frozen=True, slots=True)
class _Triangle:
    """Half a matrix, row by row."""

    upper: bool
    diagonal: bool

    def columns(self, i: int, n: int) -> slice:
        """The columns that row `i` holds."""
        if self.upper:
            return slice(i if self.diagonal else i + 1, n)
        return slice(0, i + 1 if self.diagonal else i)

    def begin(self, i: int, n: int) -> int:
        """How many numbers come before row `i`."""
        if self.upper:
            return i * (2 * n - i + (1 if self.diagonal else -1)) // 2
        return i * (i + (1 if self.diagonal else -1)) // 2


# Columns of one triangle are rows of the other.
_TRIANGLES = {
    "UPPER_ROW": _Triangle(upper=True, diagonal=False),
    "LOWER_ROW": _Triangle(upper=False, diagonal=False),
    "UPPER_DIAG_ROW": _Triangle(upper=True, diagonal=True),
    "LOWER_DIAG_ROW": _Triangle(upper=False, diagonal=True),
    "UPPER_COL": _Triangle(upper=False, diagonal=False),
    "LOWER_COL": _Triangle(upper=True, diagonal=False),
    "UPPER_DIAG_COL": _Triangle(upper=False, diagonal=True),
    "LOWER_DIAG_COL": _Triangle(upper=True, diagonal=True),
}


def weights(text: TsplibText, *, may_be_asymmetric: bool) -> NDArray[Any]:
    """The matrix in the section of weights, as integers of 32 bits where they are such.

    Raises
    ------
    ParseError
        It is missing, has another number of entries, or some that are no distances.
    """
    section = text.sections.get("EDGE_WEIGHT")
    if section is None:
        text.fail(
            "EDGE_WEIGHT_SECTION is missing: EDGE_WEIGHT_TYPE EXPLICIT needs it",
            keyword="EDGE_WEIGHT_SECTION",
        )
    n = text.dimension()
    accepted = ", ".join(["FULL_MATRIX", *_TRIANGLES])
    format_ = text.first_word("EDGE_WEIGHT_FORMAT")
    if format_ is None:
        text.fail(f"EDGE_WEIGHT_FORMAT is missing: one of {accepted}", keyword="EDGE_WEIGHT_FORMAT")
    if format_ != "FULL_MATRIX" and format_ not in _TRIANGLES:
        text.fail_entry(
            "EDGE_WEIGHT_FORMAT",
            f"unknown EDGE_WEIGHT_FORMAT {quoted(format_)}: one of {accepted} is needed",
        )
    needed = n * n if format_ == "FULL_MATRIX" else _TRIANGLES[format_].begin(n, n)
    numbers: NDArray[Any] = section.numbers
    if len(numbers) != needed:
        text.fail(
            f"EDGE_WEIGHT_SECTION has {len(numbers)} numbers: {format_} with DIMENSION {n} has {needed}",
            section.begin,
            section.keyword,
        )
    numbers = as_integers(section.numbers, lambda: text.data[section.begin : section.end].decode().split())
    if format_ == "FULL_MATRIX":
        matrix = numbers.reshape(n, n)
        _check_full_matrix(text, section, matrix, may_be_asymmetric)
        return matrix
    _check_triangle(text, section, numbers, n, _TRIANGLES[format_])
    return _filled_triangle(numbers, n, _TRIANGLES[format_])


def _check_full_matrix(
    text: TsplibText, section: Section, matrix: NDArray[Any], may_be_asymmetric: bool
) -> None:
    n = len(matrix)
    for i in range(n):
        row, column = matrix[i], matrix[:, i]
        if np.array_equal(row, column) and (row >= 0).all():
            continue
        real = matrix.dtype == np.float64
        differing = ~np.isclose(row, column, rtol=1e-12, atol=0.0) if real else row != column
        negative = row < 0
        differing[i] = negative[i] = False
        if negative.any():
            j = int(np.argmax(negative))
            text.fail_number(section, i * n + j, _negative(i, j, row[j]))
        if differing.any() and not may_be_asymmetric:
            j = int(np.argmax(differing))
            text.fail_number(
                section,
                i * n + j,
                f"the matrix is not symmetric: {row[j]:.15g} from node {i + 1} to {j + 1}, "
                f"{column[j]:.15g} back; if that is intended, write TYPE : ATSP",
            )


def _check_triangle(
    text: TsplibText, section: Section, numbers: NDArray[Any], n: int, triangle: _Triangle
) -> None:
    negative = numbers < 0
    if triangle.diagonal:
        negative[[triangle.begin(i, n) + (0 if triangle.upper else i) for i in range(n)]] = False
    if not negative.any():
        return
    place = int(np.argmax(negative))
    i = max(row for row in range(n) if triangle.begin(row, n) <= place)
    j = triangle.columns(i, n).start + place - triangle.begin(i, n)
    text.fail_number(section, place, _negative(i, j, numbers[place]))


def _negative(i: int, j: int, value: float) -> str:
    return (
        f"the distance between nodes {i + 1} and {j + 1} is {value:.15g}: distances are not negative; "
        "adding the same number to every distance does not change the best tour"
    )


def _filled_triangle(numbers: NDArray[Any], n: int, triangle: _Triangle) -> NDArray[Any]:
    matrix = np.zeros((n, n), dtype=numbers.dtype)
    for i in range(n):
        begin, columns = triangle.begin(i, n), triangle.columns(i, n)
        row = numbers[begin : begin + columns.stop - columns.start]
        matrix[i, columns] = row
        matrix[columns, i] = row
    return matrix
