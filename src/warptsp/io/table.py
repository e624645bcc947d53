"""CSV and TSV files: places with x, y or latitude, longitude and perhaps names; or a distance matrix."""

from __future__ import annotations

import csv
import io
import itertools
import logging
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from warptsp._native import parse_table as parse_numeric_table
from warptsp.errors import InvalidProblem, ParseError
from warptsp.problem import Metric, Problem

from ._columns import (
    Columns,
    Wishes,
    doubt_about_degrees,
    fitting_metric,
    given_places,
    guessed_columns,
    look_like_degrees,
    look_like_positions,
    may_be_whole_degrees,
    named_columns,
    way_out_of_degrees,
)
from ._text import decode, quoted

__all__ = ["parse_table", "read_table"]

_log = logging.getLogger(__name__)

_CHUNK = 1 << 16
_BEGINNING = 1 << 12  # bytes in which a title ends
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_WITH_COMMA = re.compile(r"[+-]?(\d+,\d*|,\d+)([eE][+-]?\d+)?")
_PERHAPS_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")
_ID = re.compile(r"[0-9]{1,15}(\.0*)?")
_DEGREES = re.compile(r".*[°'NSEWO].*")
_WORDS_FOR_NO_NUMBER = re.compile(r"[+-]?(nan|inf(inity)?|n/?a|none|null)?", re.IGNORECASE)


def parse_table(data: bytes, file: str, asymmetric: bool = False, wishes: Wishes | None = None) -> Problem:
    """The instance in the text of a CSV or TSV file; a matrix may be asymmetric if that is said.

    Raises
    ------
    ParseError
        With file, line and column.
    InvalidOption
        The metric that is wished for does not fit.
    """
    return read_table(data, file, asymmetric, wishes)[0]


def read_table(
    data: bytes, file: str, asymmetric: bool = False, wishes: Wishes | None = None
) -> tuple[Problem, Columns | None]:
    """The same, and what its columns were taken for; None if they hold distances."""
    return _Table(data, file, asymmetric, wishes or Wishes()).read()


class _Table:
    def __init__(self, data: bytes, file: str, asymmetric: bool, wishes: Wishes) -> None:
        self.file = file
        self.asymmetric = asymmetric
        self.wishes = wishes
        self.mark: str | None = None  # of decimals, once a coordinate has any: a point or a comma
        self.surely_decimal = False  # whether some comma cannot separate thousands
        self.data = data.rstrip(b"\x00\x1a \t\r\n")
        first = _first_line(self.data)
        if first is None:
            self._fail("has no lines but comments: a list of cities is needed")
        self.first_line, (self.begin, self.first_end), text, above = first
        self.delimiter = _delimiter(text)
        self.first = self._split(self.first_line, text)
        self.titles: list[str] | None = None
        self.after_titles = False  # whether they are the first line, and not a comment above it
        if not look_like_positions(self.first):
            self.titles = self._titles_of_comment(above)
        if self.titles is None and self._names_columns(self.first):
            self.titles, self.after_titles = self.first, True
            self.begin = self.first_end

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

    def _rows(self) -> Iterator[tuple[int, list[str]]]:
        for lines, rows in self._chunks():
            yield from zip(lines, rows, strict=True)

    def _chunks(self) -> Iterator[tuple[list[int], list[list[str]]]]:
        """The fields of some thousand lines at a time, and the numbers of those lines."""
        text = decode(self.data).replace("\r\n", "\n").replace("\r", "\n")
        numbered = (
            (line, content.rstrip("\n"))
            for line, content in enumerate(io.StringIO(text), start=1)  # never all lines at once
            if not _is_blank(content) and not _is_comment(content)
        )
        if self.after_titles:
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

    def _check_commas(self, places: Sequence[int]) -> None:
        """Refuse commas that may as well separate thousands."""
        if self.mark != "," or self.surely_decimal:
            return
        for line, row in self._rows():
            text = next((row[place].strip() for place in places if "," in row[place]), None)
            if text is not None:
                whole, _, rest = text.partition(",")
                self._fail(f"{quoted(text)} may be {whole}.{rest} or {whole}{rest}: write one of them", line)

    # What the table is

    def _names_columns(self, fields: list[str]) -> bool:
        """Whether the first line holds the names of columns, and not the first place."""
        if look_like_positions(fields):
            return True
        if self._wished_titles():
            return True
        try:
            given = given_places(None, len(fields), self.wishes)
        except InvalidProblem:  # where there is no such number, a title may be called so
            return any(column in fields for column in self.wishes.columns.values())
        axes = [fields[place] for role, place in given.items() if role not in ("name", "id")]
        if axes:
            return not any(_is_number(text) or _WORDS_FOR_NO_NUMBER.fullmatch(text) for text in axes)
        return not any(map(_is_number, fields))

    def _wished_titles(self) -> list[str]:
        texts = (str(column).strip() for column in self.wishes.columns.values())
        return [text for text in texts if not re.fullmatch(r"[0-9]+", text)]

    def _titles_of_comment(self, comment: str) -> list[str] | None:
        """The names of columns in the comment above the first line, where `numpy.savetxt` writes them."""
        text = comment.strip().lstrip("#")
        delimiter = _delimiter(text)
        fields = text.split() if delimiter == " " else text.split(delimiter)
        titles = [field.strip(' "') for field in fields]
        fits = len(titles) == len(self.first)
        known = look_like_positions(titles) or not set(titles).isdisjoint(self._wished_titles())
        return titles if fits and known else None

    def read(self) -> tuple[Problem, Columns | None]:
        if not self.wishes.columns and not (self.titles and look_like_positions(self.titles)):
            matrix = None if _is_number(self.first[0]) else self._labelled_matrix()
            if matrix is not None:
                return matrix, None
        if self.titles is not None:
            return self._with_titles()
        if self.wishes.columns.keys() - {"name", "id"}:
            return self._stated()
        return self._guessed()

    def _columns(self, titles: list[str] | None) -> Columns:
        try:
            return named_columns(titles, self.wishes, len(self.first))
        except InvalidProblem as error:
            self._fail(str(error), self.first_line)

    def _with_titles(self) -> tuple[Problem, Columns]:
        assert self.titles is not None
        columns = self._columns(self.titles)
        if not columns.positions:
            shown = ", ".join(quoted(field) for field in self.titles[:8])
            self._fail(
                f"the first line names the columns {shown}: columns x and y, or lat and lon, are needed"
                f"{self._names_below()}; {self.wishes.words(lat='COLUMN', lon='COLUMN')} says which they are",
                self.first_line,
            )
        found = self._places(columns)
        coordinates = found[0].coordinates
        assert coordinates is not None
        if (doubt := doubt_about_degrees(columns, coordinates, self.wishes)) is not None:
            _log.warning("%s: %s", self.file, doubt)
        if columns.metric.geographic and not columns.said and {"x", "y"} <= {t.lower() for t in self.titles}:
            _log.info("%s: the table has x and y as well as lat and lon, which are used", self.file)
        return found

    def _stated(self) -> tuple[Problem, Columns]:
        """A table without titles of which the caller says where the coordinates are."""
        columns = self._columns(None)
        others = [
            place
            for place, text in enumerate(self.first)
            if place not in columns.roles().values() and _is_name(text)
        ]
        if columns.name is None and len(others) == 1:
            columns = replace(columns, name=others[0])
            _log.info("%s: column %d is taken for names", self.file, others[0] + 1)
        return self._places(columns)

    def _names_below(self) -> str:
        """A hint if the names of columns stand below a title."""
        beginning = decode(self.data[:_BEGINNING]).replace("\r\n", "\n").replace("\r", "\n")
        for line, text in enumerate(beginning.split("\n"), start=1):
            titles = [title.strip(' "') for title in text.split(_delimiter(text))]
            if line > self.first_line and look_like_positions(titles):
                return f"; line {line} names them, so what stands above must go"
        return ""

    def _guessed(self) -> tuple[Problem, Columns | None]:
        """A table of which only the numbers tell what they are."""
        given, numeric, name = self._candidates()
        numbers, ids, labels = self._read(numeric, given.get("id"), name)
        if not given and name is None:
            if (matrix := self._square(numbers)) is not None:
                return matrix, None
            if len(numeric) > 3:
                self._fail(
                    f"{len(numbers)} lines of {len(numeric)} numbers: a distance matrix must be square, and "
                    "a list of places needs a line of names that tells which columns are x and y, or lat and "
                    f"lon, or {self.wishes.words(x='COLUMN', y='COLUMN')}",
                    self.first_line,
                )
        try:
            columns = guessed_columns(len(self.first), numbers, numeric, name, self.wishes)
        except InvalidProblem as error:
            self._fail(f"{error}{self._names_below()}", self.first_line)
        coordinates = _chosen(numbers, [numeric.index(place) for place in columns.positions])
        if ids is None and columns.id is not None:
            ids = numbers[:, numeric.index(columns.id)]
        self._check_guess(columns, coordinates)
        return self._points(columns, coordinates, ids, labels), columns

    def _candidates(self) -> tuple[dict[str, int], list[int], int | None]:
        """The columns that the caller named, the other columns of numbers, and that of names."""
        try:
            given = given_places(None, len(self.first), self.wishes)
        except InvalidProblem as error:
            self._fail(str(error), self.first_line)
        rest = [place for place in range(len(self.first)) if place not in given.values()]
        numeric = [place for place in rest if _is_number(self.first[place])]
        others = [place for place in rest if place not in numeric]
        names = [place for place in others if _is_name(self.first[place]) and "name" not in given]
        name = given.get("name", names[0] if names else None)
        unclear = "name" not in given and (others != names or len(names) > 1)
        below_a_title = len(self.first) == 1 and self._names_below()
        if unclear or below_a_title or (name is not None and not 2 <= len(numeric) <= 3):
            self._fail_without_names()
        return given, numeric, name

    def _fail_without_names(self) -> NoReturn:
        way = self.wishes.words(lat="COLUMN", lon="COLUMN")
        self._fail(
            f"{len(self.first)} columns without a line of names: give one that tells which are x and y, "
            f"or lat and lon{self._names_below()}, or say it, such as {way}",
            self.first_line,
        )

    def _check_guess(self, columns: Columns, coordinates: NDArray[np.float64]) -> None:
        """Say what the columns were taken for; refuse names beside what looks like degrees."""
        doubt = ""
        if columns.name is not None and self.wishes.metric is None:
            way = way_out_of_degrees(columns, coordinates, self.wishes)
            if look_like_degrees(coordinates):
                x, y = (place + 1 for place in columns.positions[:2])
                self._fail(
                    f"columns {x} and {y} look like degrees, and no line of names says so: {way}",
                    self.first_line,
                )
            doubt = f"; if these are degrees, {way}" if may_be_whole_degrees(coordinates) else ""
        elif doubt_about_degrees(columns, coordinates, self.wishes) is not None:
            doubt = f"; they look like degrees: {way_out_of_degrees(columns, coordinates, self.wishes)}"
        # Three columns may be another thing; few lines can count by chance.
        sure = len(columns.positions) == 2 and (columns.id is None or len(coordinates) > 3)
        level = logging.INFO if sure and not doubt else logging.WARNING
        _log.log(level, "%s: no line of names: columns are taken for %s%s", self.file, columns, doubt)

    # Points

    def _numeric(self, count: int) -> NDArray[np.float64] | None:
        """All numbers at once, if the table holds nothing else."""
        numbers, end = parse_numeric_table(self.data, self.begin, count, self.delimiter)
        return numbers if end >= len(self.data) and len(numbers) else None

    def _places(self, columns: Columns) -> tuple[Problem, Columns]:
        coordinates, ids, names = self._read(columns.positions, columns.id, columns.name)
        return self._points(columns, coordinates, ids, names), columns

    def _points(
        self,
        columns: Columns,
        coordinates: NDArray[np.float64],
        ids: NDArray[np.float64] | None,
        names: list[str] | None,
    ) -> Problem:
        if not columns.metric.geographic:  # thousands of degrees there are none
            self._check_commas(columns.positions)
        fields: dict[str, object] = {}
        if names is not None:
            fields["labels"] = names
        if ids is not None and not np.array_equal(ids, np.arange(1, len(ids) + 1)):
            self._check_ids(ids, columns)
            fields["node_ids"] = ids.astype(np.int64)
        metric = fitting_metric(columns.metric, self.wishes)
        try:
            return Problem(metric, coordinates=coordinates, **fields)  # type: ignore[arg-type]
        except InvalidProblem as error:
            if not metric.geographic:
                self._fail(str(error))
            self._fail(
                f"{error}{self._exchanged(columns, coordinates)}", self._line_of_bad_degrees(coordinates)
            )

    def _exchanged(self, columns: Columns, coordinates: NDArray[np.float64]) -> str:
        """A hint if latitudes would be longitudes, and the reverse."""
        low, high = coordinates.min(axis=0), coordinates.max(axis=0)
        fits = low[0] >= -180.0 and high[0] <= 360.0 and low[1] >= -90.0 and high[1] <= 90.0
        named = columns.wishes()
        return f"; {self.wishes.words(lat=named['lon'], lon=named['lat'])} exchanges the two" if fits else ""

    def _read(
        self, places: Sequence[int], id: int | None, name: int | None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64] | None, list[str] | None]:
        """The numbers in some columns, the numbers of the places, and their names."""
        numbers = self._numeric(len(self.first)) if name is None else None
        if numbers is None or (
            id is not None and not np.array_equal(numbers[:, id], np.floor(numbers[:, id]))
        ):
            return self._slowly_read(places, id, name)
        return _chosen(numbers, places), None if id is None else numbers[:, id], None

    def _slowly_read(
        self, places: Sequence[int], id: int | None, name: int | None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64] | None, list[str] | None]:
        """Row by row: for tables with names, and to find what is wrong with the others."""
        values: list[NDArray[np.float64]] = []
        ids: list[str] = []
        names: list[str] = []
        for lines, rows in self._chunks():
            found = self._fast_positions(rows, places)
            values.append(self._positions(lines, rows, places) if found is None else found)
            if name is not None:
                names += [row[name].strip() for row in rows]
            if id is not None:
                ids += [row[id].strip() for row in rows]
        if not values:
            self._fail("has no cities below the line of names", self.first_line)
        coordinates = np.concatenate(values)
        if id is None:
            return coordinates, None, names or None
        odd = next((row for row, text in enumerate(ids) if not _ID.fullmatch(text)), None)
        if odd is None:
            return coordinates, np.array([float(text) for text in ids]), names or None
        if "id" in self.wishes.columns:
            line = next(itertools.islice(self._rows(), odd, None))[0]
            self._fail(f"{quoted(ids[odd])} in column {id + 1}: a node number is needed", line)
        if names:
            _log.info("%s: column %d holds no node numbers, and is left out", self.file, id + 1)
        return coordinates, None, names or ids  # what is no number is a name

    def _fast_positions(self, rows: list[list[str]], places: Sequence[int]) -> NDArray[np.float64] | None:
        """The coordinates of these rows, or None if anything about them calls for a closer look."""
        if any(len(row) != len(self.first) for row in rows):
            return None
        texts = [[row[place] for row in rows] for place in places]
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
        self, lines: list[int], rows: list[list[str]], places: Sequence[int]
    ) -> NDArray[np.float64]:
        count = len(self.first)
        titles = self.titles or [str(place + 1) for place in range(count)]
        values = []
        for line, row in zip(lines, rows, strict=True):
            if len(row) != count:
                noun = "field" if len(row) == 1 else "fields"
                quote = self.delimiter == "," and len(row) > count
                hint = "; what has a comma in it stands in quotation marks" if quote else ""
                self._fail(f"{len(row)} {noun} where the first line has {count}{hint}", line)
            values.append([self._number(row[place].strip(), line, titles[place]) for place in places])
        return np.array(values)

    def _check_ids(self, ids: NDArray[np.float64], columns: Columns) -> None:
        name = self.wishes.words(name=columns.wishes()["id"])
        seen: set[float] = set()
        repeated = len(np.unique(ids)) < len(ids)
        for (line, _), value in zip(self._rows(), ids.tolist(), strict=False):
            if value < 0 or value > 2**53:
                self._fail(f"id {value:.15g}: an integer from 0 upwards is needed", line)
            if repeated and value in seen:
                self._fail(f"id {value:.15g} is there for the second time; names may repeat: {name}", line)
            if repeated:
                seen.add(value)
            elif not (ids < 0).any() and not (ids > 2**53).any():
                return

    def _line_of_bad_degrees(self, coordinates: NDArray[np.float64]) -> int | None:
        latitude, longitude = coordinates[:, 0], coordinates[:, 1]
        bad = (np.abs(latitude) > 90.0) | (longitude < -180.0) | (longitude > 360.0)
        if not bad.any():
            return None
        row = int(np.argmax(bad))
        return next((line for place, (line, _) in enumerate(self._rows()) if place == row), None)

    # Matrices

    def _labelled_matrix(self) -> Problem | None:
        """A matrix whose first row and first column hold the same names, or None if it is none."""
        names = self.first[1:]
        count = len(names)
        rows: list[list[str]] = []
        below = self._rows()
        if not self.after_titles:
            next(below)
        for line, row in below:
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
        self._check_commas(range(1, count + 1))
        try:
            fitting_metric(Metric.EXPLICIT, self.wishes)
            return Problem.from_matrix(_integers(matrix), labels=names, asymmetric=self.asymmetric)
        except InvalidProblem as error:
            self._fail(str(error))

    def _square(self, numbers: NDArray[np.float64]) -> Problem | None:
        """The distances in a square of numbers; None if it holds points, or is no square."""
        n, wanted = len(numbers), self.wishes.metric
        small = n in (2, 3)
        if numbers.shape[1] != n or (small and wanted not in (None, Metric.EXPLICIT)):
            return None
        self._check_commas(range(n))
        try:
            make = Problem.from_matrix if wanted is Metric.EXPLICIT else Problem.from_array
            problem = make(_integers(numbers), asymmetric=self.asymmetric)
        except InvalidProblem as error:
            self._fail(str(error))
        if problem.metric is not Metric.EXPLICIT:
            return None
        fitting_metric(Metric.EXPLICIT, self.wishes)
        if small and wanted is None:
            way = self.wishes.words(**{axis: place + 1 for place, axis in enumerate("xyz"[:n])})
            _log.warning(
                "%s: %d lines of %d numbers are taken for distances; %s for places", self.file, n, n, way
            )
        return problem


def _chosen(numbers: NDArray[np.float64], places: Sequence[int]) -> NDArray[np.float64]:
    """Some of the columns, without a copy if they are all."""
    if list(places) == list(range(numbers.shape[1])):
        return numbers
    return np.ascontiguousarray(numbers[:, list(places)])


def _integers(matrix: NDArray[np.float64]) -> NDArray[np.float64] | NDArray[np.int64]:
    """The same numbers as integers, if they are that."""
    whole = np.array_equal(matrix, np.floor(matrix)) and np.abs(matrix).max() <= 2.0**53
    return matrix.astype(np.int64) if whole else matrix


def _first_line(data: bytes) -> tuple[int, tuple[int, int], str, str] | None:
    """The first line that is neither blank nor a comment, and the comment above it.

    Returns
    -------
    tuple of int, tuple of int, str, str
        Its number, the offsets of its first byte and of the next line, its text, and the text of the comment.
    """
    comment = ""
    for line, match in enumerate(re.finditer(rb"([^\r\n]*)(?:\r\n|\r|\n|$)", data), start=1):
        text = decode(match[1])
        if _is_comment(text):
            comment = text
        elif not _is_blank(text):
            return line, match.span(), text, comment
    return None


def _is_number(text: str) -> bool:
    return bool(_NUMBER.fullmatch(text) or _WITH_COMMA.fullmatch(text))


def _is_name(text: str) -> bool:
    """Whether a text can be the name of a place, and not a number that is written in an unknown way."""
    return any(map(str.isalpha, text)) and not _WORDS_FOR_NO_NUMBER.fullmatch(text)


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
