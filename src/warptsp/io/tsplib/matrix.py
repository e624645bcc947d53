"""Distance matrices of TSPLIB files: whole ones, and their triangles in eight orders."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from warptsp.io._text import as_integers, quoted

from .text import Section, TsplibText

# Whether it is the upper triangle, row by row, and whether it has the diagonal.
_TRIANGLES = {
    "UPPER_ROW": (True, False),
    "LOWER_ROW": (False, False),
    "UPPER_DIAG_ROW": (True, True),
    "LOWER_DIAG_ROW": (False, True),
    # Columns of one triangle are rows of the other.
    "UPPER_COL": (False, False),
    "LOWER_COL": (True, False),
    "UPPER_DIAG_COL": (False, True),
    "LOWER_DIAG_COL": (True, True),
}


def weights(text: TsplibText, *, may_be_asymmetric: bool) -> NDArray[Any]:
    """The matrix in the section of weights, as integers of 32 bits where they are such."""
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
    upper, diagonal = _TRIANGLES.get(format_, (False, True))
    needed = n * n if format_ == "FULL_MATRIX" else n * (n + (1 if diagonal else -1)) // 2
    if len(section.numbers) != needed:
        text.fail(
            f"EDGE_WEIGHT_SECTION has {len(section.numbers)} numbers: {format_} with DIMENSION {n} has "
            f"{needed}",
            section.begin,
            section.keyword,
        )
    numbers = as_integers(section.numbers, lambda: text.data[section.begin : section.end].decode().split())
    if format_ == "FULL_MATRIX":
        matrix = numbers.reshape(n, n)
        _check_distances(text, section, matrix, np.ones((n, n), dtype=np.bool_))
        if not may_be_asymmetric:
            _check_symmetry(text, section, matrix)
        return matrix
    if diagonal:
        _check_order(text, section, numbers, format_, n)
    lower = np.tri(n, k=-1 if upper == diagonal else 0, dtype=np.bool_)
    given = ~lower if upper else lower
    matrix = np.zeros((n, n), dtype=numbers.dtype)
    matrix[given] = numbers
    _check_distances(text, section, matrix, given)
    return np.where(given, matrix, matrix.T)


def _check_order(text: TsplibText, section: Section, numbers: NDArray[Any], format_: str, n: int) -> None:
    """Refuse a triangle whose diagonal has distances where the other one's would have zeros."""
    lengths = np.arange(n)
    lower, upper = np.cumsum(lengths + 1) - 1, np.cumsum(n - lengths) - (n - lengths)
    is_upper, _ = _TRIANGLES[format_]
    here, there = (numbers[at] for at in ((upper, lower) if is_upper else (lower, upper)))
    if here.any() and not there.any():
        other = format_.replace(*(("UPPER", "LOWER") if format_.startswith("UPPER") else ("LOWER", "UPPER")))
        text.fail_number(
            section,
            int((upper if is_upper else lower)[np.argmax(here != 0)]),
            f"a distance in the diagonal, as {format_} has it; {other} would have zeros there",
        )


def _check_distances(
    text: TsplibText, section: Section, matrix: NDArray[Any], given: NDArray[np.bool_]
) -> None:
    """Refuse negative numbers, except in the diagonal; the section has those that are `given`, in order."""
    negative = matrix < 0
    np.fill_diagonal(negative, False)
    if negative.any():
        i, j = np.argwhere(negative)[0].tolist()
        place = int(given[:i].sum()) + int(given[i, :j].sum())
        text.fail_number(
            section,
            place,
            f"the distance between nodes {i + 1} and {j + 1} is {matrix[i, j]:.15g}: distances are not "
            "negative; adding the same number to every distance does not change the best tour",
        )


def _check_symmetry(text: TsplibText, section: Section, matrix: NDArray[Any]) -> None:
    for i, (row, column) in enumerate(zip(matrix, matrix.T, strict=True)):
        if np.array_equal(row, column):
            continue
        real = matrix.dtype == np.float64
        differing = ~np.isclose(row, column, rtol=1e-12, atol=0.0) if real else row != column
        if differing.any():
            j = int(np.argmax(differing))
            text.fail_number(
                section,
                i * len(matrix) + j,
                f"the matrix is not symmetric: {row[j]:.15g} from node {i + 1} to {j + 1}, "
                f"{column[j]:.15g} back; if that is intended, write TYPE : ATSP",
            )
