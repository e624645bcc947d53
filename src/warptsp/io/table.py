"""CSV and TSV files: places with x, y or latitude, longitude and perhaps names; or a distance matrix."""

from __future__ import annotations

import csv
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from warptsp._native import parse_table as parse_numeric_table
from warptsp.errors import InvalidProblem, ParseError
from warptsp.problem import Metric, Problem

from ._columns import Columns, look_like_positions, named_columns
from ._text import decode, quoted

__all__ = ["parse_table"]

_CHUNK = 1 << 16
_BEGINNING = 1 << 12  # bytes in which a title ends
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_WITH_COMMA = re.compile(r"[+-]?(\d+,\d*|,\d+)([eE][+-]?\d+)?")
_PERHAPS_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")
_DEGREES = re.compile(r".*[°'NSEWO].*")
_WORDS_FOR_NO_NUMBER = re.compile(r"[+-]?(nan|inf(inity)?|n/?a|none|null)?", re.IGNORECASE)


def parse_table(data: bytes, file: str, asymmetric: bool = False) -> Problem:
    """The instance in the text of a CSV or TSV file; a matrix may be asymmetric if that is said.

    Raises
    ------
    ParseError
        With file, line and column.
    """
    return _Table(data, file, asymmetric).problem()


class _Table:
    def __init__(self, data: bytes, file: str, asymmetric: bool) -> None:
        self.file = file
        self.asymmetric = asymmetric
        self.mark: str | None = None  # of decimals, once a coordinate has any: a point or a comma
        self.surely_decimal = False  # whether some comma cannot separate thousands
        self.data = data.rstrip(b"\x00\x1a \t\r\n")
        first = _first_line(self.data)
        if first is None:
            self._fail("has no lines but comments: a list of cities is needed")
        self.first_line, self.first_end, text = first
        self.delimiter = _delimiter(text)
        self.first = self._split(self.first_line, text)

    # Lines and fields

    def _fail(self, message: str, line: int | None = None, column: str | None = None) -> NoReturn:
        raise ParseError(message, file=self.file, line=line, keyword=column)

    def _split(self, line: int, text: str) -> list[str]:
        if self.delimiter == " ":
            fields: Sequence[str] = text.split()
        elif '"' not in text:
            fields = text.split(self.delimiter)
        else:
            try:
                fields = next(csv.reader([text], delimiter=self.delimiter, strict=True))
            except (csv.Error, StopIteration) as error:
                self._fail(
                    f"{quoted(text)} is not a CSV line: {error}; a quotation mark is closed in its line", line
                )
        return [field.strip() for field in fields]

    def _rows(self, after_header: bool) -> Iterator[tuple[int, list[str]]]:
        for lines, rows in self._chunks(after_header):
            yield from zip(lines, rows, strict=True)

    def _chunks(self, after_header: bool) -> Iterator[tuple[list[int], list[list[str]]]]:
        """The fields of some thousand lines at a time, and the numbers of those lines."""
        text = decode(self.data).replace("\r\n", "\n").replace("\r", "\n")
        numbered = (
            (line, content)
            for line, content in enumerate(text.split("\n"), start=1)
            if not _is_blank(content) and not _is_comment(content)
        )
        if after_header:
            next(numbered)
        while chunk := list(itertools.islice(numbered, _CHUNK)):
            yield [line for line, _ in chunk], self._split_lines(chunk)

    def _split_lines(self, chunk: list[tuple[int, str]]) -> list[list[str]]:
        texts = [text for _, text in chunk]
        if self.delimiter == " ":
            return [text.split() for text in texts]
        if not any('"' in text for text in texts):
            return [text.split(self.delimiter) for text in texts]
        try:
            rows = list(csv.reader(texts, delimiter=self.delimiter, strict=True))
        except csv.Error:
            rows = []
        # A quoted field that goes on in the next line is none of ours; line by line the fault is found.
        return rows if len(rows) == len(texts) else [self._split(line, text) for line, text in chunk]

    def _number(self, text: str, line: int, column: str) -> float:
        if _WORDS_FOR_NO_NUMBER.fullmatch(text):
            what = "nothing" if text == "" else quoted(text)
            self._fail(f"{what} in column {column}: a finite number is needed", line, column)
        mark = "," if _WITH_COMMA.fullmatch(text) else "." if "." in text else None
        number = text.replace(",", ".") if mark == "," else text
        if not _NUMBER.fullmatch(number):
            hint = " (decimal degrees, such as 52.52)" if _DEGREES.fullmatch(text) else ""
            self._fail(f"{quoted(text)} in column {column}: a number is needed{hint}", line, column)
        if not self._takes(mark, [text]):
            hint = f" (decimals above have a {'point' if mark == ',' else 'comma'})"
            self._fail(f"{quoted(text)} in column {column}: a number is needed{hint}", line, column)
        value = float(number)
        if abs(value) == float("inf"):
            self._fail(f"{quoted(text)} is too large for a floating-point number", line, column)
        return value

    def _takes(self, mark: str | None, texts: Iterable[str]) -> bool:
        """Whether numbers with this decimal mark go with those above: a table has one."""
        if mark is None:
            return True
        if self.mark not in (None, mark):
            return False
        self.mark = mark
        if mark == "," and not self.surely_decimal:
            self.surely_decimal = any(
                "," in text and not _PERHAPS_THOUSANDS.fullmatch(text.strip()) for text in texts
            )
        return True

    def _check_commas(self, places: Sequence[int], after_header: bool) -> None:
        """Refuse commas that may as well separate thousands."""
        if self.mark != "," or self.surely_decimal:
            return
        for line, row in self._rows(after_header):
            text = next((row[place].strip() for place in places if "," in row[place]), None)
            if text is not None:
                whole, _, rest = text.partition(",")
                self._fail(f"{quoted(text)} may be {whole}.{rest} or {whole}{rest}: write one of them", line)

    # What the table is

    def problem(self) -> Problem:
        if look_like_positions(self.first):
            return self._with_header()
        if not any(_NUMBER.fullmatch(field) for field in self.first):
            return self._labelled_matrix() or self._with_header()
        return self._without_header()

    def _with_header(self) -> Problem:
        try:
            columns = named_columns(self.first)
        except InvalidProblem as error:
            self._fail(str(error), self.first_line)
        if not columns.positions:
            shown = ", ".join(quoted(field) for field in self.first[:8])
            self._fail(
                f"the first line names the columns {shown}: columns x and y, or lat and lon, are needed"
                f"{self._names_below()}",
                self.first_line,
            )
        return self._points(columns, after_header=True)

    def _names_below(self) -> str:
        """A hint if the names of columns stand below a title."""
        beginning = decode(self.data[:_BEGINNING]).replace("\r\n", "\n").replace("\r", "\n")
        for line, text in enumerate(beginning.split("\n"), start=1):
            titles = [title.strip(' "') for title in text.split(_delimiter(text))]
            if line > self.first_line and look_like_positions(titles):
                return f"; line {line} names them, so what stands above must go"
        return ""

    def _without_header(self) -> Problem:
        matrix = self._numeric(len(self.first), after_header=False)
        if matrix is not None and matrix.shape[0] == matrix.shape[1]:
            square = self._square(matrix)
            if square.metric is Metric.EXPLICIT:
                return square
        numeric = [place for place, field in enumerate(self.first) if _NUMBER.fullmatch(field)]
        others = sorted(set(range(len(self.first))) - set(numeric))
        if matrix is not None and len(numeric) > 3:
            self._fail(
                f"{len(matrix)} lines of {len(numeric)} numbers: a distance matrix must be square, and a "
                "list of places needs a line of names that tells which columns are x and y, or lat and lon",
                self.first_line,
            )
        if len(others) > 1 or len(numeric) not in (2, 3):
            self._fail(
                f"{len(self.first)} columns without a line of names: give one that tells which are x and y, "
                "or lat and lon",
                self.first_line,
            )
        name = others[0] if others else None
        if len(numeric) == 3 and matrix is not None and _counts_rows(matrix[:, 0]):
            columns = Columns(3, (1, 2), Metric.EXACT_2D, id=0)
        else:
            metric = Metric.EXACT_2D if len(numeric) == 2 else Metric.EXACT_3D
            columns = Columns(len(self.first), tuple(numeric), metric, name=name)
        return self._points(columns, after_header=False)

    # Points

    def _numeric(self, count: int, after_header: bool) -> NDArray[np.float64] | None:
        """All numbers at once, if the table holds nothing else."""
        begin = 0
        if after_header:
            begin = self.first_end
        numbers, end = parse_numeric_table(self.data, begin, count, self.delimiter)
        return numbers if end >= len(self.data) and len(numbers) else None

    def _points(self, columns: Columns, after_header: bool) -> Problem:
        fields: dict[str, object] = {}
        numbers = self._numeric(columns.count, after_header) if columns.name is None else None
        if numbers is not None:
            coordinates = np.ascontiguousarray(numbers[:, columns.positions])
            ids = None if columns.id is None else numbers[:, columns.id]
            if ids is not None and not (ids == np.floor(ids)).all():
                ids = None
                numbers = None
        if numbers is None:
            coordinates, ids, names = self._slow_points(columns, after_header)
            if names is not None:
                fields["labels"] = names
        if ids is not None and not np.array_equal(ids, np.arange(1, len(ids) + 1)):
            self._check_ids(ids, columns, after_header)
            fields["node_ids"] = ids.astype(np.int64)
        try:
            return Problem(columns.metric, coordinates=coordinates, **fields)  # type: ignore[arg-type]
        except InvalidProblem as error:
            line = self._line_of_bad_degrees(coordinates, after_header) if columns.metric.geographic else None
            self._fail(str(error), line)

    def _slow_points(
        self, columns: Columns, after_header: bool
    ) -> tuple[NDArray[np.float64], NDArray[np.float64] | None, list[str] | None]:
        """Row by row: for tables with names, and to find what is wrong with the others."""
        titles = self.first if after_header else [str(place + 1) for place in range(columns.count)]
        values: list[NDArray[np.float64]] = []
        ids: list[str] = []
        names: list[str] = []
        for lines, rows in self._chunks(after_header):
            found = self._fast_positions(rows, columns)
            values.append(self._positions(lines, rows, columns, titles) if found is None else found)
            if columns.name is not None:
                names += [row[columns.name].strip() for row in rows]
            if columns.id is not None:
                ids += [row[columns.id].strip() for row in rows]
        if not values:
            self._fail("has no cities below the line of names", self.first_line)
        if not columns.metric.geographic:  # thousands of degrees there are none
            self._check_commas(columns.positions, after_header)
        coordinates = np.concatenate(values)
        if not ids:
            return coordinates, None, names or None
        if all(re.fullmatch(r"\d{1,15}", text) for text in ids):
            return coordinates, np.array([float(text) for text in ids]), names or None
        return coordinates, None, names or ids  # what is no number is a name

    def _fast_positions(self, rows: list[list[str]], columns: Columns) -> NDArray[np.float64] | None:
        """The coordinates of these rows, or None if anything about them calls for a closer look."""
        if any(len(row) != columns.count for row in rows):
            return None
        texts = [[row[place] for row in rows] for place in columns.positions]
        # Python's float takes more than we do: underscores, other digits, words.
        together = "".join(map("".join, texts))
        if "_" in together or not together.isascii():
            return None
        commas, points = "," in together, "." in together
        if commas and points:
            return None
        if not self._takes("," if commas else "." if points else None, itertools.chain(*texts)):
            return None
        if commas:
            texts = [[text.replace(",", ".") for text in column] for column in texts]
        try:
            positions = np.array([list(map(float, column)) for column in texts]).T
        except ValueError:
            return None
        return positions if np.isfinite(positions).all() else None

    def _positions(
        self, lines: list[int], rows: list[list[str]], columns: Columns, titles: list[str]
    ) -> NDArray[np.float64]:
        values = []
        for line, row in zip(lines, rows, strict=True):
            if len(row) != columns.count:
                noun = "field" if len(row) == 1 else "fields"
                quote = self.delimiter == "," and len(row) > columns.count
                hint = "; what has a comma in it stands in quotation marks" if quote else ""
                self._fail(f"{len(row)} {noun} where the first line has {columns.count}{hint}", line)
            values.append(
                [self._number(row[place].strip(), line, titles[place]) for place in columns.positions]
            )
        return np.array(values)

    def _check_ids(self, ids: NDArray[np.float64], columns: Columns, after_header: bool) -> None:
        assert columns.id is not None
        seen: set[float] = set()
        repeated = len(np.unique(ids)) < len(ids)
        for (line, _), value in zip(self._rows(after_header), ids.tolist(), strict=False):
            if value < 0 or value > 2**53:
                self._fail(f"id {value:.15g}: an integer from 0 upwards is needed", line)
            if repeated and value in seen:
                self._fail(f"id {value:.15g} is there for the second time", line)
            if repeated:
                seen.add(value)
            elif not (ids < 0).any() and not (ids > 2**53).any():
                return

    def _line_of_bad_degrees(self, coordinates: NDArray[np.float64], after_header: bool) -> int | None:
        latitude, longitude = coordinates[:, 0], coordinates[:, 1]
        bad = (np.abs(latitude) > 90.0) | (longitude < -180.0) | (longitude > 360.0)
        if not bad.any():
            return None
        row = int(np.argmax(bad))
        return next((line for place, (line, _) in enumerate(self._rows(after_header)) if place == row), None)

    # Matrices

    def _labelled_matrix(self) -> Problem | None:
        """A matrix whose first row and first column hold the same names, or None if it is none."""
        names = self.first[1:]
        count = len(names)
        rows: list[list[str]] = []
        for line, row in self._rows(after_header=True):
            if len(rows) >= count or len(row) != count + 1 or row[0].strip() != names[len(rows)]:
                return None
            rows.append([str(line), *row[1:]])
        if not rows or len(rows) != count:
            return None
        matrix = np.array(
            [
                [
                    self._number(text.strip(), int(row[0]), name)
                    for text, name in zip(row[1:], names, strict=True)
                ]
                for row in rows
            ]
        )
        self._check_commas(range(1, count + 1), after_header=True)
        try:
            return Problem.from_matrix(_integers(matrix), labels=names, asymmetric=self.asymmetric)
        except InvalidProblem as error:
            self._fail(str(error))

    def _square(self, matrix: NDArray[np.float64]) -> Problem:
        try:
            return Problem.from_array(_integers(matrix), asymmetric=self.asymmetric)
        except InvalidProblem as error:
            self._fail(str(error))


def _integers(matrix: NDArray[np.float64]) -> NDArray[np.float64] | NDArray[np.int64]:
    """The same numbers as integers, if they are that."""
    whole = np.array_equal(matrix, np.floor(matrix)) and np.abs(matrix).max() <= 2.0**53
    return matrix.astype(np.int64) if whole else matrix


def _counts_rows(values: NDArray[np.float64]) -> bool:
    """Whether a column is 1, 2, 3, ... or 0, 1, 2, ...: node numbers, not coordinates."""
    first = values[0]
    return first in (0.0, 1.0) and len(values) > 1 and np.array_equal(values, first + np.arange(len(values)))


def _first_line(data: bytes) -> tuple[int, int, str] | None:
    """Number, byte offset of the end, and text of the first line that is neither blank nor a comment."""
    for line, match in enumerate(re.finditer(rb"([^\r\n]*)(?:\r\n|\r|\n|$)", data), start=1):
        text = decode(match[1])
        if not _is_blank(text) and not _is_comment(text):
            return line, match.end(), text
    return None


def _is_blank(text: str) -> bool:
    """Whether a line is empty, or a row of empty fields as spreadsheets write them below a table."""
    return not text.strip().strip("\t;|, ")


def _is_comment(text: str) -> bool:
    """Whether a line begins with a ``#`` that is not the name of a column, or is Excel's ``sep=;``."""
    text = text.lstrip()
    if text.startswith("#"):
        return not text.startswith(("#,", "#;", "#|", "#\t"))
    return text.startswith("sep=") and len(text.rstrip()) <= 5


def _delimiter(text: str) -> str:
    bare = re.sub(r'"[^"]*"', "", text)
    return next((character for character in "\t;|," if character in bare), " ")
