"""Squares of distances in tables, in which an arc that is missing is infinite."""

from __future__ import annotations

import itertools
import math
import re
from typing import TYPE_CHECKING

import numpy as np

from .text import is_number

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .text import TableText

__all__ = ["distance", "infinite_square", "is_infinite"]

_INFINITE = re.compile(r"\+?inf(inity)?", re.IGNORECASE)


def is_infinite(field: str) -> bool:
    """Whether a field stands for an arc that is missing."""
    return bool(_INFINITE.fullmatch(field.strip()))


def distance(text: TableText, field: str, line: int, title: str) -> float:
    """The number in a field, which may be infinite.

    Raises
    ------
    ParseError
        With line and column.
    """
    return math.inf if is_infinite(field) else text.number(field, line, title)


def infinite_square(text: TableText) -> NDArray[np.float64] | None:
    """The numbers of a table that has as many rows as columns, some of them infinite; None for any other."""
    n = len(text.first)
    rows = list(itertools.islice(text.rows(), n + 1))
    fields = [field.strip() for _, row in rows for field in row]
    if len(rows) != n or any(len(row) != n for _, row in rows) or not any(map(is_infinite, fields)):
        return None
    if not all(is_number(field) or is_infinite(field) for field in fields):
        return None
    return np.array(
        [
            [distance(text, field.strip(), line, str(column)) for column, field in enumerate(row, 1)]
            for line, row in rows
        ]
    )
