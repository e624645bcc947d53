"""Instances and tours as CSV or TSV files."""

import codecs
import csv
import io
from collections.abc import Iterable, Iterator
from itertools import filterfalse
from re import Pattern
from types import NoneType
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from warptsp._native import format_reals
from warptsp.errors import InvalidOption
from warptsp.io._text import whole_if_possible
from warptsp.problem import Metric, Problem
from warptsp.problem.itinerary import Timing, clock
from warptsp.problem.origin import TableStyle

from .fields import THOUSANDS
from .tour_columns import Column, axes_of, tour_columns

_CHUNK = 1 << 12  # rows whose texts a processor keeps in its cache
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")  # also full width


def guarded(name: str) -> str:
    """A name as spreadsheets show it, not compute it: an apostrophe goes before what begins a formula."""
    return f"'{name}" if name.startswith(_FORMULA) else name


def tour_table(
    problem: Problem, tour: NDArray[np.int32], timing: Timing, *, delimiter: str = ","
) -> Iterator[bytes]:
    """The cities in visiting order, a row for each, written as the table that the instance comes from."""
    style = problem.style or TableStyle()
    if delimiter == "," and style.delimiter in (";", "|"):
        delimiter = style.delimiter
    decimal = "." if delimiter == "," else style.decimal
    columns = tour_columns(problem, tour, timing)
    ambiguous = THOUSANDS[decimal] if delimiter != "," and not problem.geographic else None
    header = [column.title for column in columns]
    # Of the texts it only lacks halves of surrogate pairs, which JSON can hold.
    encoder = codecs.getincrementalencoder(_encoding(problem, header, style.encoding, delimiter))("replace")
    yield encoder.encode(_rows([header], delimiter, _quoting(header, delimiter)))
    for begin in range(0, len(tour), _CHUNK):
        end = min(begin + _CHUNK, len(tour))
        written = [_written(column, begin, end, decimal, ambiguous) for column in columns]
        yield encoder.encode(_in_columns(written, delimiter))
    yield encoder.encode("", final=True)


def _written(column: Column, begin: int, end: int, decimal: str, ambiguous: Pattern[str] | None) -> list[str]:
    """The entries of some rows as a text has them."""
    entries = column.entries(begin, end)
    if column.kind in ("time", "arrival"):
        wide = column.kind == "arrival"
        return ["" if entry is None else clock(entry, wide=wide) for entry in entries]
    texts = _texts(entries, decimal)
    if column.kind == "place" and ambiguous is not None:
        # A zero more, and nobody takes the decimals for thousands.
        return [f"{text}0" if ambiguous.fullmatch(text) else text for text in texts]
    return texts


def _encoding(problem: Problem, header: list[str], encoding: str, delimiter: str) -> str:
    """That of the instance's own table, if it holds the texts; with a mark where Excel needs it for UTF-8."""
    texts = list(filterfalse(str.isascii, [*header, *(problem.labels or ())]))
    columns = (problem.extra or {}).values()
    texts += [text for column in columns for text in column if isinstance(text, str) and not text.isascii()]
    if encoding != "utf-8":
        try:
            "".join(texts).encode(encoding)
        except UnicodeEncodeError:
            return "utf-8-sig"
        return encoding
    return "utf-8-sig" if texts and delimiter == ";" else "utf-8"


def problem_table(problem: Problem, delimiter: str = ",") -> Iterator[bytes]:
    """The cities of an instance: id, name if there is one, coordinates; or the rows of a matrix."""
    if problem.metric not in (Metric.EXACT_2D, Metric.EXACT_3D, Metric.GREAT_CIRCLE, Metric.EXPLICIT):
        raise InvalidOption(
            f"a table cannot say that distances are {problem.metric.name}: write a .tsp file, or use EXACT_2D"
        )
    if len(problem.fixed_edges) or problem.open is not None:
        raise InvalidOption("a table cannot hold fixed edges or an open path: write a .tsp file")
    if problem.wall is not None:
        raise InvalidOption("a table cannot say which arcs are missing: write a .npy file")
    if problem.matrix is not None and problem.n < 2:
        raise InvalidOption("a table of one number does not say that it is a distance: write a .npy file")
    if problem.matrix is not None:
        quoting = _quoting(problem.labels or (), delimiter)
        if problem.labels is not None:
            yield _rows([["", *problem.labels]], delimiter, quoting).encode()
        for city, row in enumerate(problem.matrix):
            fields = row.tolist()
            fields = fields if problem.labels is None else [problem.labels[city], *fields]
            yield _rows([fields], delimiter, quoting).encode()
        return
    coordinates = problem.given_coordinates()
    titles = ["id", *(["name"] if problem.labels is not None else []), *axes_of(problem)]
    yield _rows([titles], delimiter).encode()
    for begin in range(0, problem.n, _CHUNK):
        part = coordinates[begin : begin + _CHUNK]
        columns = [_texts(problem.ids_of(np.arange(begin, begin + len(part))).tolist())]
        if problem.labels is not None:
            columns.append(list(problem.labels[begin : begin + len(part)]))
        columns += [_texts(whole_if_possible(column + 0.0).tolist()) for column in part.T]
        yield _in_columns(columns, delimiter).encode()


def _quoting(texts: Iterable[str], delimiter: str) -> Literal[0, 2]:
    """Whether only the fields that need it get quotation marks, or all texts.

    All do if the first line could seem to have another delimiter, or a line to be blank or a comment.
    """
    misleading = {*"\t;|,#"} - {delimiter}
    found = any(
        not text.strip() or text.strip().startswith("sep=") or not misleading.isdisjoint(text)
        for text in texts
    )
    return csv.QUOTE_NONNUMERIC if found else csv.QUOTE_MINIMAL


def _texts(entries: list[Any], decimal: str = ".") -> list[str]:
    """The entries of a column as a text has them, nothing for None."""
    kinds = set(map(type, entries))
    if kinds == {float}:
        return format_reals(np.array(entries)).decode().replace(".", decimal).split("\n")
    texts = entries if kinds == {str} else list(map(str, entries))
    if NoneType in kinds or (float in kinds and decimal != "."):
        for at, entry in enumerate(entries):
            if entry is None or isinstance(entry, float):
                texts[at] = "" if entry is None else texts[at].replace(".", decimal)
    return texts


def _in_columns(columns: list[list[str]], delimiter: str) -> str:
    """The rows of these columns as `_rows` has them, which takes longer."""
    n = len(columns[0])
    text = "\n".join(map(delimiter.join, zip(*columns, strict=True))) + "\n"
    # With no delimiter, quotation mark or line break too many, no field holds one.
    plain = '"' not in text and text.count(delimiter) == n * (len(columns) - 1)
    return text if plain and len(text.splitlines()) == n else _rows(zip(*columns, strict=True), delimiter)


def _rows(rows: Any, delimiter: str, quoting: Literal[0, 2] = csv.QUOTE_MINIMAL) -> str:
    rows = list(rows)
    text = _table(rows, delimiter, quoting)
    if len(text.splitlines()) > len(rows):
        text = _table([[_on_one_line(field) for field in row] for row in rows], delimiter, quoting)
    return text


def _on_one_line(field: Any) -> Any:
    """A text with a blank for each line break, of any kind: a row of a table is one line for every reader."""
    return " ".join(field.splitlines()) if isinstance(field, str) else field


def _table(rows: list[Any], delimiter: str, quoting: Literal[0, 2]) -> str:
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator="\n", quoting=quoting).writerows(rows)
    return text.getvalue()
