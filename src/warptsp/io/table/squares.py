"""Squares of distances: with and without names, whole or as a triangle, some arcs missing."""

import logging
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from warptsp.errors import InvalidProblem
from warptsp.io._text import as_integers, quoted
from warptsp.io.options import ReadOptions, as_columns
from warptsp.problem import Metric, Problem
from warptsp.problem.matrices import are_distances

from .arcs import names_arcs
from .columns import fitting_metric
from .fields import HOLE, is_counted, is_infinite, is_mark, is_name, is_number
from .rows import Table
from .titles import look_like_positions

_log = logging.getLogger(__name__)

_AT_ONCE = 16  # columns from which on a table of numbers alone is rather a square than a list of places


class _Square(NamedTuple):
    """What may be a square: its rows, and the names above and beside it."""

    body: list[list[str]]
    above: list[str] | None
    beside: list[str] | None
    column: int = 0  # of the table, in which the square begins


def square_in(table: Table, options: ReadOptions) -> Problem | None:
    """The instance in a square of distances; None for any other table."""
    for column in (0,) if table.titles is None else (0, 1):
        at_once = table.titles is not None or len(table.first) > _AT_ONCE
        numbers = table.numbers(len(table.first), column) if at_once else None
        if numbers is not None and len(numbers) == numbers.shape[1]:
            above = table.titles if table.titles is None else table.titles[column:]
            beside = table.row_names if not column else [row[0] for _, row in table.rows()]
            if table.titles is None:
                numbers = as_integers(numbers, lambda: [text for _, row in table.rows() for text in row])
            found = _problem(table, _Square([], above, beside, column), numbers, options)
            if found is not None:
                return found
    rows = _few_rows(table)
    if not rows:
        return None
    lines, fields = [line for line, _ in rows], [row for _, row in rows]
    for square in _readings(table, fields):
        grid = _aligned(square, max(len(names or ()) for names in (*square[1:3], square.body)))
        below = lines[-len(square.body) :]
        if len(below) < len(square.body):  # a triangle without diagonal, which has a row more
            below = [lines[0], *lines] if not square.body[0] else [*lines, lines[-1]]
        found = None if grid is None else _read(table, square, grid, below, options)
        if found is not None:
            return found
    return None


def _few_rows(table: Table) -> list[tuple[int, list[str]]] | None:
    """All rows, with their fields; None if they are more than a square of their fields has."""
    rows: list[tuple[int, list[str]]] = []
    width = len(table.first)
    if table.count is not None and table.count > width + 1:
        return None
    for line, row in table.rows():
        rows.append((line, [field.strip() for field in row]))
        width = max(width, len(row))
        if len(rows) > width + 1:
            return None
    return rows


def _readings(table: Table, fields: list[list[str]]) -> Iterator[_Square]:
    """What the rows may be, with names above or beside them or both, the surest first."""
    # Perhaps there is no diagonal.
    bare = [_Square(rows, None, None) for rows in (fields, [[], *fields], [*fields, []])]
    corner = fields[0][0] if fields[0] else ""
    above, body = (table.titles, fields) if table.titles is not None else (fields[0], fields[1:])
    beside, inner = [row[0] for row in body if row], [row[1:] for row in body]
    named = any(is_name(name) and not is_mark(name) for name in beside)
    whole = _aligned(bare[0], max(map(len, fields))) if table.titles is None and is_mark(corner) else None
    marked = whole is not None and all(is_mark(row[i]) for i, row in enumerate(whole))
    counted = is_counted(beside)
    two_ways = counted if corner else not counted or beside[0] != "0"  # from 0 on, as a frame counts rows
    if above[1:] == beside and marked and all(map(is_number, beside)) and two_ways:
        table.fail(
            "the first row and the first column may be names or distances: give the diagonal zeros",
            table.first_line,
        )
    if table.titles is None and corner and (is_number(corner) or (marked and not named)):
        # The first row of a symmetric matrix is its first column, and no names.
        yield from bare
        yield _Square(fields[1:], fields[0], None)
        return
    if table.row_names is not None:
        yield _Square(body, above, table.row_names)
    if above[1:] != beside and not named:
        if len(above) == len(body) + 1:  # a triangle without diagonal begins or ends with a blank row
            yield from (_Square(rows, above, None) for rows in ([[], *body], [*body, []]))
        if not is_counted(beside) and not is_counted(above[1:]):
            yield _Square(body, above, None)
            yield from bare if table.titles is None and (marked or not corner) else ()
    if all(body):
        if len(above) == len(body):  # nothing stands in the corner
            yield _Square(inner, above, beside, 1)
        yield _Square(inner, above[1:], beside, 1)
    yield _Square(body, above, None)
    if table.titles is None:
        yield _Square([row[1:] for row in fields], None, [row[0] for row in fields], 1)
        yield from bare


def _aligned(square: _Square, n: int) -> list[list[str]] | None:
    """The fields of n rows of n, nothing where a triangle has none; None if they have another form."""
    body = square.body
    if n < 2 or any(len(part) != n for part in (body, square.above, square.beside) if part is not None):
        return None
    lengths = [len(row) for row in body]
    if lengths == [n] * n:
        return body
    if sorted(lengths) == [0] + [n] * (n - 1) and n > (3 if square.above is None else 2):
        return [row or [""] * n for row in body]
    for first, step in ((1, 1), (0, 1), (n, -1), (n - 1, -1)):
        if lengths == list(range(first, first + step * n, step)):
            if first in (0, n - 1) and square.above is None and n < 4:
                return None  # perhaps points, of which the last one is cut
            gaps = [[""] * (n - length) for length in lengths]
            return [row + gap if step > 0 else gap + row for row, gap in zip(body, gaps, strict=True)]
    return None


def _is_sure(table: Table, square: _Square) -> bool:
    """Whether rows and columns have the same names, and not because a frame counts both."""
    above = square.above
    return above is not None and above == square.beside and (table.titles is None or not is_counted(above))


def _read(
    table: Table, square: _Square, grid: list[list[str]], lines: list[int], options: ReadOptions
) -> Problem | None:
    n = len(grid)
    sure = _is_sure(table, square)
    holes = np.array([[bool(HOLE.fullmatch(field)) for field in row] for row in grid])
    for i in range(n):
        holes[i, i] |= is_mark(grid[i][i])
    infinite = np.array([[is_infinite(field) for field in row] for row in grid])
    known = holes | infinite
    texts = [["0" if known[i, j] else field for j, field in enumerate(row)] for i, row in enumerate(grid)]
    if not sure and not all(is_number(field) for row in texts for field in row):
        return None
    numbers = table.fast_numbers(texts, range(n), n)
    if numbers is None:
        titles = square.above or [str(square.column + 1 + j) for j in range(n)]
        pairs = zip(texts, lines, strict=True)
        numbers = np.array(
            [[table.number(f, line, titles[j]) for j, f in enumerate(row)] for row, line in pairs]
        )
    numbers[infinite] = np.inf
    upper, lower = np.triu(np.ones((n, n), dtype=np.bool_), 1), np.tril(np.ones((n, n), dtype=np.bool_), -1)
    matrix = as_integers(numbers, lambda: [field for row in texts for field in row])
    is_triangle = any(len(row) < n for row in square.body)  # with a row more, if it has no diagonal
    is_marked = square.above is square.beside is None and known.diagonal().any()  # where there are no names
    for half, other in ((upper, lower), (lower, upper)):
        if holes[half].all() and not holes[other].any():
            matrix = np.where(half, matrix.T, matrix)
            holes, is_triangle = holes & ~half, True
    if (is_triangle or is_marked) and matrix.diagonal().any(where=~infinite.diagonal()):
        return None
    if [] in square.body and not known.diagonal().all():
        return None  # with a diagonal no row is missing: the first column has names
    first = [row[0] for row in square.body if row and row[0]]
    if [] in square.body and square.above is None and len(first) > 2 and is_counted(first):
        table.fail(
            "the first column may count the cities or hold distances: write the diagonal, too", lines[0]
        )
    if [] in square.body:
        _log.info("%s: the rows are taken for a triangle of distances of %d cities", table.file, n)
    off = np.argwhere(holes & (upper | lower))
    if len(off):
        without = square.above is None and known.diagonal().any()  # nothing says that it is a matrix
        if not sure and (n < 4 or matrix.diagonal().any() or without or [] in square.body):
            return None
        i, j = off[0].tolist()
        what = quoted(grid[i][j]) if grid[i][j] else "nothing"
        table.fail(
            f"{what} in row {i + 1}, column {j + 1} of the matrix: a distance is needed, inf for a gap",
            lines[i],
        )
    return _problem(table, square, matrix, options, holes=bool(holes.any()))


def _problem(
    table: Table, square: _Square, matrix: NDArray[Any], options: ReadOptions, *, holes: bool = False
) -> Problem | None:
    """The instance of a square, if that is what it is and no list of places."""
    n, above, beside = len(matrix), square.above, square.beside
    bare = above is None and beside is None
    said = options.asymmetric or options.parsed is Metric.EXPLICIT
    sure = _is_sure(table, square)
    try:
        if bare:
            # Two or three rows of numbers alone may be points.
            fits = n > 3 or (
                options.parsed in (None, Metric.EXPLICIT) and (said or holes or are_distances(matrix))
            )
        else:
            fits = sure or _fits(square, matrix, options, holes)
    except InvalidProblem as error:
        table.fail(str(error))
    shuffled = above != beside and sorted(above or []) == sorted(beside or [])
    if not fits and not shuffled:
        return None
    if above is not None and beside is not None and above != beside:
        if shuffled or not (is_counted(above) or is_counted(beside)):
            at = next(i for i, pair in enumerate(zip(above, beside, strict=True)) if len(set(pair)) > 1)
            table.fail(
                f"row {at + 1} of the matrix is called {quoted(beside[at])}, and column {at + 1} "
                f"{quoted(above[at])}: rows and columns have the same names, in the same order"
            )
        above = beside if is_counted(above) else above
    table.check_thousands(range(square.column, square.column + n))
    labels = above or beside
    named: dict[str, Any] = {} if labels is None else {"labels": labels}
    try:
        problem = Problem.from_matrix(matrix, asymmetric=options.asymmetric, **named, style=table.style())
    except InvalidProblem as error:
        table.fail(str(error))
    fitting_metric(Metric.EXPLICIT, options)
    if bare and n <= 3 and not said and not holes:
        way = as_columns(**{axis: place + 1 for place, axis in enumerate("xyz"[:n])})
        _log.warning(
            "%s: %d lines of %d numbers are taken for distances; %s for places", table.file, n, n, way
        )
    return problem


def _fits(square: _Square, matrix: NDArray[Any], options: ReadOptions, holes: bool) -> bool:
    """Whether a square with names on one side, or with names that differ, can be nothing but distances."""
    above, beside, n = square.above, square.beside, len(matrix)
    if above is None:
        if n < 3 or not all(map(is_name, beside or ())):
            return False
    else:
        numbered = beside is None and any(map(is_number, above)) and not is_counted(above)
        if numbered or not all(above) or look_like_positions(above) or names_arcs(above):
            return False
    diagonal = np.asarray(matrix.diagonal(), dtype=np.float64)
    if options.parsed not in (None, Metric.EXPLICIT) or diagonal.any(where=np.isfinite(diagonal)):
        return False
    return holes or n > 3 or are_distances(matrix)
