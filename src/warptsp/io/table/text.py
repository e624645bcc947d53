"""The text of a table: its lines, their fields, and the numbers in them."""

from __future__ import annotations

import csv
import io
import itertools
import logging
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from warptsp._native import parse_table as parse_numeric_table
from warptsp.errors import ParseError
from warptsp.io._text import decode, quoted

from .angles import angle_of, hint_of_angle

__all__ = [
    "WORDS_FOR_NO_NUMBER",
    "TableRows",
    "TableText",
    "is_name",
    "is_node_number",
    "is_number",
    "titles_in",
]

_log = logging.getLogger(__name__)

csv.field_size_limit(1 << 30)  # of characters; 131 072 otherwise, which the outline of a district exceeds
_CHUNK = 1 << 16
_HEAD = 1 << 16  # bytes in which a line ends
_BEGINNING = 1 << 12  # bytes in which a title ends
MOST_COLUMNS = 100_000  # of a square of distances, 80 GB
LONGEST_TITLE = 32_767  # characters, of which a cell of a spreadsheet has no more

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_WITH_COMMA = re.compile(r"[+-]?(\d+,\d*|,\d+)([eE][+-]?\d+)?")
_PERHAPS_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")
WORDS_FOR_NO_NUMBER = re.compile(r"[+-]?(nan|inf(inity)?|n/?a|none|null)?", re.IGNORECASE)


class TableText:
    """A table cut into lines and fields.

    Attributes
    ----------
    file : str
        Its name, for messages.
    data : bytes
    first_line : int
        The number, counted from 1, of the first line that is neither blank nor a comment.
    first : list of str
        The fields of that line.
    above : str
        The comment above it.
    titled : bool
        Whether it names the columns, and so is none of the `rows`.

    Raises
    ------
    ParseError
        It has nothing but comments.
    """

    def __init__(self, data: bytes, file: str) -> None:
        self.file = file
        self.data = data.rstrip(b"\x00\x1a \r\n")  # a tab may end an empty field
        self._mark: str | None = None  # of decimals, once a coordinate has any: a point or a comma
        self._surely_decimal = False  # whether some comma cannot separate thousands
        first = _first_line(self.data)
        if first is None:
            self.fail("has no lines but comments: a list of cities is needed")
        self.first_line, (self._begin, self._first_end), text, self.above = first
        self.delimiter = _delimiter(text)
        columns = len(text.split()) if self.delimiter == " " else 1 + text.count(self.delimiter)
        if columns > MOST_COLUMNS:
            self.fail(f"{columns} columns: at most {MOST_COLUMNS} are possible", self.first_line)
        self.first = self._split(self.first_line, text)
        if (longest := max(map(len, self.first))) > LONGEST_TITLE:
            self.fail(
                f"a field of {longest} characters: at most {LONGEST_TITLE} are possible in the first line",
                self.first_line,
            )
        self.titled = False

    def fail(self, message: str, line: int | None = None, column: str | None = None) -> NoReturn:
        """Raise a `ParseError` that names the file."""
        raise ParseError(message, file=self.file, line=line, keyword=column)

    def _split(self, line: int, text: str) -> list[str]:
        if '"' not in text:
            fields: Sequence[str] = text.split(None if self.delimiter == " " else self.delimiter)
        else:
            try:
                fields = next(self._csv([text]))
            except (csv.Error, StopIteration) as error:
                if self.delimiter == " ":  # perhaps of a title, and what is wrong is said of that
                    return text.split()
                self.fail(
                    f"{quoted(text)} is not a CSV line: {error}; a quotation mark is closed in its line", line
                )
        return [field.strip() for field in fields]

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """The number of each line, and its fields."""
        for lines, rows in self.chunks():
            yield from zip(lines, rows, strict=True)

    def chunks(self) -> Iterator[tuple[list[int], list[list[str]]]]:
        """The fields of some thousand lines at a time, and the numbers of those lines."""
        text = decode(self.data).replace("\r\n", "\n").replace("\r", "\n")
        numbered = (
            (line, content.rstrip("\n"))
            for line, content in enumerate(io.StringIO(text), start=1)  # never all lines at once
            if not _is_blank(content) and not _is_comment(content)
        )
        if self.titled:
            next(numbered)
        while chunk := list(itertools.islice(numbered, _CHUNK)):
            yield [line for line, _ in chunk], self._split_lines(chunk)

    def _split_lines(self, chunk: list[tuple[int, str]]) -> list[list[str]]:
        texts = [text for _, text in chunk]
        if not any('"' in text for text in texts):
            return [text.split(None if self.delimiter == " " else self.delimiter) for text in texts]
        try:
            rows = list(self._csv(texts))
        except csv.Error:
            rows = []
        # A quoted field that goes on in the next line is none of ours; line by line the fault is found.
        return rows if len(rows) == len(texts) else [self._split(line, text) for line, text in chunk]

    def _csv(self, texts: Iterable[str]) -> Iterator[list[str]]:
        """The fields of lines in which there are quotation marks."""
        blanks = self.delimiter == " "  # any number of them between two fields
        texts = (text.strip() for text in texts) if blanks else texts
        return csv.reader(texts, delimiter=self.delimiter, skipinitialspace=blanks, strict=True)

    def head(self) -> tuple[list[str], list[str]]:
        """The fields of the first line and of the one below it; twice the same if there is no other."""
        below = _first_line(self.data[self._first_end : self._first_end + _HEAD])
        return self.first, self.first if below is None else self._split(self.first_line + below[0], below[2])

    def beginning(self) -> Iterator[tuple[int, list[str]]]:
        """The first lines as names of columns, and the number of each."""
        text = decode(self.data[:_BEGINNING]).replace("\r\n", "\n").replace("\r", "\n")
        return ((line, titles_in(content)) for line, content in enumerate(text.split("\n"), start=1))

    def warn_of_blanks(self, count: int) -> None:
        """Say which rows are left out, blank or like a comment, if any stand between the `count` others."""
        lines = self.data.count(b"\n") or self.data.count(b"\r")
        if lines + 1 - (self.first_line - 1) <= count + self.titled:
            return
        text = decode(self.data).replace("\r\n", "\n").replace("\r", "\n")
        below = list(itertools.islice(enumerate(io.StringIO(text), start=1), self.first_line, None))
        self._tell_of_blanks((line, _is_blank(content)) for line, content in below)
        rows = [line for line, content in below if _is_comment(content) and self._is_like_a_row(content)]
        if rows:
            _log.warning(
                "%s: %s a # as comments do, and %s left out: %s; quotation marks make it part of a name",
                self.file,
                "1 row begins with" if len(rows) == 1 else f"{len(rows)} rows begin with",
                "is" if len(rows) == 1 else "are",
                _shown(rows),
            )

    def _is_like_a_row(self, text: str) -> bool:
        """Whether a comment has as many fields as the table."""
        return self.delimiter != " " and text.count(self.delimiter) == len(self.first) - 1 > 0

    def _tell_of_blanks(self, lines: Iterable[tuple[int, bool]]) -> None:
        found: list[int] = []
        below: list[int] = []  # which there are below every table that a spreadsheet has written
        for line, blank in lines:
            if blank:
                below.append(line)
            else:
                found, below = found + below, []
        self._warn_of(found)

    def _warn_of(self, found: list[int]) -> None:
        """Say which rows are left out because they are blank."""
        if found:
            noun, verb = ("row", "is") if len(found) == 1 else ("rows", "are")
            _log.warning("%s: %d blank %s %s left out: %s", self.file, len(found), noun, verb, _shown(found))

    def number(self, text: str, line: int, column: str, letters: str = "") -> float:
        """The number in a field, of which `line` and `column` are for messages.

        With `letters`, ``NS`` or ``EW``, it may be an angle in degrees, minutes and seconds.
        """
        if letters and (angle := angle_of(text, letters)) is not None:
            return angle
        if WORDS_FOR_NO_NUMBER.fullmatch(text):
            what = "nothing" if text == "" else quoted(text)
            self.fail(f"{what} in column {column}: a finite number is needed", line, column)
        mark = "," if _WITH_COMMA.fullmatch(text) else "." if "." in text else None
        number = text.replace(",", ".") if mark == "," else text
        if not _NUMBER.fullmatch(number):
            hint = hint_of_angle(text, letters)
            self.fail(f"{quoted(text)} in column {column}: a number is needed{hint}", line, column)
        if not self.takes(mark, [text]):
            hint = f" (decimals above have a {'point' if mark == ',' else 'comma'})"
            self.fail(f"{quoted(text)} in column {column}: a number is needed{hint}", line, column)
        value = float(number)
        if abs(value) == float("inf"):
            self.fail(f"{quoted(text)} is too large for a floating-point number", line, column)
        return value

    def takes(self, mark: str | None, texts: Iterable[str]) -> bool:
        """Whether numbers with this decimal mark go with those above: a table has one."""
        if mark is None:
            return True
        if self._mark not in (None, mark):
            return False
        self._mark = mark
        if mark == "," and not self._surely_decimal:
            self._surely_decimal = any(
                "," in text and not _PERHAPS_THOUSANDS.fullmatch(text.strip()) for text in texts
            )
        return True

    def check_commas(self, places: Sequence[int]) -> None:
        """Refuse commas that may as well separate thousands."""
        if self._mark != "," or self._surely_decimal:
            return
        for line, row in self.rows():
            text = next((row[place].strip() for place in places if "," in row[place]), None)
            if text is not None:
                whole, _, rest = text.partition(",")
                self.fail(f"{quoted(text)} may be {whole}.{rest} or {whole}{rest}: write one of them", line)

    def numbers(self, count: int) -> NDArray[np.float64] | None:
        """All numbers at once, if the table holds nothing else."""
        begin = self._first_end if self.titled else self._begin
        numbers, end = parse_numeric_table(self.data, begin, count, self.delimiter)
        return numbers if end >= len(self.data) and len(numbers) else None

    def positions(
        self,
        lines: list[int],
        rows: list[list[str]],
        places: Sequence[int],
        titles: Sequence[str] | None,
        letters: Sequence[str],
    ) -> NDArray[np.float64]:
        """The numbers in some columns of some rows, shape (m, k).

        Lines and titles are for messages; `letters` has those of `number` for each of the columns.
        """
        if (found := self._fast_positions(rows, places)) is not None:
            return found
        count = len(self.first)
        titles = titles or [str(place + 1) for place in range(count)]
        values = []
        for line, row in zip(lines, rows, strict=True):
            if len(row) != count:
                noun = "field" if len(row) == 1 else "fields"
                quote = self.delimiter == "," and len(row) > count
                hint = "; what has a comma in it stands in quotation marks" if quote else ""
                self.fail(f"{len(row)} {noun} where the first line has {count}{hint}", line)
            values.append(
                [
                    self.number(row[place].strip(), line, titles[place], letter)
                    for place, letter in zip(places, letters, strict=True)
                ]
            )
        return np.array(values)

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
        if not self.takes("," if commas else "." if points else None, itertools.chain(*texts)):
            return None
        if commas:
            texts = [[text.replace(",", ".") for text in column] for column in texts]
        try:
            positions = np.array([list(map(float, column)) for column in texts]).T
        except ValueError:
            return None
        return positions if np.isfinite(positions).all() else None


class TableRows(TableText):
    """A table whose fields are known already, as those of a workbook's sheet are.

    Parameters
    ----------
    rows : list of (int, list of str)
        The number of each row and its fields, as many in each; none if all of them are blank.
    file : str
        Its name, for messages.
    titles : list of str, optional
        The names of the columns, where no row holds them.
    gaps_are_blank : bool
        Whether the numbers that no row has are those of blank rows.
    """

    def __init__(
        self,
        rows: Sequence[tuple[int, list[str]]],
        file: str,
        titles: list[str] | None = None,
        *,
        gaps_are_blank: bool = False,
    ) -> None:
        self.file, self.data = file, b""
        self._mark: str | None = None
        self._surely_decimal = False
        self.delimiter, self.above = "\t", ""
        self._all, self._gaps_are_blank = rows, gaps_are_blank
        self._rows = [(line, row) for line, row in rows if any(row)]
        if not self._rows:
            self.fail("is empty: a list of cities is needed")
        self.first_line, self.first = self._rows[0]
        self._named = titles is not None
        if titles is not None:
            self.first = titles
        self.titled = self._named

    def chunks(self) -> Iterator[tuple[list[int], list[list[str]]]]:
        """The fields of some thousand rows at a time, and the numbers of those rows."""
        rows = self._rows[1:] if self.titled and not self._named else self._rows
        for begin in range(0, len(rows), _CHUNK):
            part = rows[begin : begin + _CHUNK]
            yield [line for line, _ in part], [row for _, row in part]

    def numbers(self, count: int) -> NDArray[np.float64] | None:
        """None: row by row they are read from the fields."""
        return None

    def head(self) -> tuple[list[str], list[str]]:
        """The fields of the first row and of the one below it; twice the same if there is no other."""
        return self._rows[0][1], self._rows[min(1, len(self._rows) - 1)][1]

    def beginning(self) -> Iterator[tuple[int, list[str]]]:
        """The first rows as names of columns, and the number of each."""
        return itertools.islice(iter(self._rows), 20)

    def warn_of_blanks(self, count: int) -> None:
        """Say which rows are blank, if there are any between the `count` rows that are not."""
        if self._gaps_are_blank:
            kept = (line for line, _ in self._rows)
            self._warn_of([line for a, b in itertools.pairwise(kept) for line in range(a + 1, b)])
        else:
            self._tell_of_blanks((line, not any(row)) for line, row in self._all if line > self.first_line)


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


def _shown(lines: Sequence[int]) -> str:
    """The numbers of lines, the first ones of many."""
    shown = ", ".join(map(str, lines[:5])) + (", ..." if len(lines) > 5 else "")
    return f"{'line' if len(lines) == 1 else 'lines'} {shown}"


def titles_in(text: str) -> list[str]:
    """What would be the names of columns, if a line held these."""
    delimiter = _delimiter(text)
    fields = text.split() if delimiter == " " else text.split(delimiter)
    return [field.strip(' "') for field in fields]


def is_number(text: str) -> bool:
    """Whether a text is a number, with a decimal point or comma."""
    return bool(_NUMBER.fullmatch(text) or _WITH_COMMA.fullmatch(text))


def is_node_number(text: str) -> bool:
    """Whether a text is a whole number from 0 upwards, perhaps as a spreadsheet writes it: ``7.0``."""
    return re.fullmatch(r"[0-9]{1,15}(\.0*)?", text) is not None


def is_name(text: str) -> bool:
    """Whether a text can be the name of a place, and not a number that is written in an unknown way."""
    return any(map(str.isalpha, text)) and not WORDS_FOR_NO_NUMBER.fullmatch(text)


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
