"""The text of a table: its lines, and the fields in them."""

import csv
import io
import itertools
import logging
import re
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from warptsp._native import parse_table as parse_numeric_table
from warptsp._words import counted
from warptsp.io._text import decode, quoted

from .fields import is_mark, is_number
from .rows import CHUNK, Table, blanks_between, shown_lines

_log = logging.getLogger(__name__)

csv.field_size_limit(1 << 30)  # of characters; 131 072 otherwise, which the outline of a district exceeds
_HEAD = 1 << 16  # bytes in which a line ends
_BEGINNING = 1 << 12  # bytes in which a title ends
MOST_COLUMNS = 100_000  # of a square of distances, 80 GB
LONGEST_TITLE = 32_767  # characters, of which a cell of a spreadsheet has no more

_LINE = re.compile(rb"([^\r\n]*)(?:\r\n|\r|\n|$)")
_BREAK = re.compile(rb"\r\n|\r|\n")
_QUOTED = re.compile(rb'(?<![^,;|\t\r\n]) *+"(?:[^"]++|"")*+("?)')  # a field, closed or not
# Some fields without a line break. Possessive repetitions of a group match too much in Python 3.11.2, not in
# 3.11.7; greedy ones want memory for each.
_PAIRS_IN_LINES = re.compile(rb'(?:[^"]*+"[^"\r\n]*+"){1,5000}')
_BEHIND_A_FIELD = (b"", *(bytes([mark]) for mark in b",;|\t\r\n "))
_SURELY_DECIMAL = re.compile(rb"\.(?!\d{3}(?!\d))|\.\d{3}[eE]|(?<!\d)0\d*\.|\d{4}\.|(?<!\d)\.")


class TableText(Table):
    """A table in a text, cut into lines and fields."""

    def __init__(self, data: bytes, file: str, encoding: str = "utf-8") -> None:
        super().__init__(file)
        self.encoding = encoding  # of the file
        # In UTF-8, with each row on a line of its own. A tab may end an empty field.
        self.data = _on_a_line_each(data.rstrip(b"\x00\x1a \r\n"))
        self._begin_below(0, 1)

    def _begin_below(self, offset: int, line: int) -> None:
        """Take what stands from an offset on, where a line of this number begins."""
        first = _first_line(self.data, offset, line)
        if first is None:
            self.fail("has no lines but comments: a list of cities is needed")
        self.first_line, (self._begin, self._first_end), text, self.above = first
        self.delimiter = _delimiter(text)
        # The first row of a triangle has one field.
        if self.delimiter == " " and (is_number(text.strip()) or is_mark(text.strip())):
            below = _first_line(self.data, self._first_end, 0)
            self.delimiter = " " if below is None else _delimiter(below[2])
        columns = len(text.split()) if self.delimiter == " " else 1 + text.count(self.delimiter)
        if columns > MOST_COLUMNS:
            self.fail(f"{columns} columns: at most {MOST_COLUMNS} are possible", self.first_line)
        self.first = self._split(self.first_line, text)
        if (longest := max(map(len, self.first))) > LONGEST_TITLE:
            self.fail(
                f"a field of {longest} characters: at most {LONGEST_TITLE} are possible in the first line",
                self.first_line,
            )

    def begin_at(self, line: int) -> None:
        while self.first_line < line:
            self._begin_below(self._first_end, self.first_line + 1)

    def _split(self, line: int, text: str) -> list[str]:
        if '"' not in text:
            fields: Sequence[str] = text.split(None if self.delimiter == " " else self.delimiter)
        else:
            try:
                fields = next(self._csv([self._without_blanks_behind(text)]))
            except (csv.Error, StopIteration) as error:
                if self.delimiter == " ":  # perhaps of a title, and what is wrong is said of that
                    return text.split()
                self.fail(
                    f"{quoted(text)} is not a CSV line: {error}; a quotation mark is closed in its line", line
                )
        return [field.strip() for field in fields]

    def _without_blanks_behind(self, text: str) -> str:
        """A line without the blanks between the end of a quoted field and the mark behind it."""
        mark = re.escape(self.delimiter)
        fields = rf'((?:^|{mark}) *"(?:[^"]|"")*+") *(?={mark}|$)|(?:^|{mark})[^{mark}]*'
        return re.sub(fields, lambda field: field[1] or field[0], text)

    def _chunks(self) -> Iterator[tuple[list[int], list[list[str]]]]:
        begin = self.first_line + self.titled
        below = itertools.islice(_lines(self.data), begin - 1, None)
        # Where blanks separate columns, a quotation mark in any row changes what they do in all.
        marked = self.data.find(b'"', self._first_end if self.titled else self._begin) >= 0
        while texts := [text.rstrip("\n") for text in itertools.islice(below, CHUNK)]:
            lines = list(range(begin, begin + len(texts)))
            begin += len(texts)
            if any(map(_may_begin_no_row, {text[:1] for text in texts})):
                kept = [not _is_blank(text) and not _is_comment(text) for text in texts]
                lines, texts = list(itertools.compress(lines, kept)), list(itertools.compress(texts, kept))
            yield lines, self._split_lines(lines, texts, marked)

    def _split_lines(self, lines: list[int], texts: list[str], marked: bool) -> list[list[str]]:
        if not marked:
            return [text.split(None if self.delimiter == " " else self.delimiter) for text in texts]
        try:
            rows = list(self._csv(texts))
        except csv.Error:
            rows = []
        # A quotation mark that is not closed: line by line the fault is found.
        return rows if len(rows) == len(texts) else list(map(self._split, lines, texts))

    def _csv(self, texts: Iterable[str]) -> Iterator[list[str]]:
        """The fields of lines in which there are quotation marks."""
        blanks = self.delimiter == " "  # any number of them between two fields
        texts = (text.strip() for text in texts) if blanks else texts
        return csv.reader(texts, delimiter=self.delimiter, skipinitialspace=True, strict=True)

    def head(self) -> tuple[list[str], list[str]]:
        below = _first_line(self.data[: self._first_end + _HEAD], self._first_end, self.first_line + 1)
        return self.first, self.first if below is None else self._split(below[0], below[2])

    def beginning(self) -> Iterator[tuple[int, list[str]]]:
        lines = list(_numbered(self.data[:_BEGINNING]))
        marked = any(_delimiter(content) != " " for _, content in lines)  # then blanks separate nothing
        for line, content in lines:
            yield line, [content.strip()] if marked and _delimiter(content) == " " else titles_in(content)

    def warn_of_blanks(self, count: int) -> None:
        found = [] if self.titled else list(_numbered(self.data[: self._begin]))
        lines = self.data.count(b"\n") or self.data.count(b"\r")
        if lines + 1 - (self.first_line - 1) > count + self.titled:
            below = list(itertools.islice(_numbered(self.data), self.first_line, None))
            self.tell_of_blanks(blanks_between((line, _is_blank(content)) for line, content in below))
            found += below
        rows = [line for line, content in found if _is_comment(content) and self._is_like_a_row(content)]
        if rows:
            _log.warning(
                "%s: %s a # as comments do, and %s left out: %s; quotation marks make it part of a name",
                self.file,
                counted(len(rows), "row begins with", "rows begin with"),
                "is" if len(rows) == 1 else "are",
                shown_lines(rows),
            )

    def _is_like_a_row(self, text: str) -> bool:
        """Whether a comment has as many fields as the table, and a number in one of them."""
        if self.delimiter == " ":
            fields = [] if text.lstrip().startswith("# ") else text.split()
        else:
            fields = next(csv.reader([text], delimiter=self.delimiter, skipinitialspace=True))
        return len(fields) == len(self.first) and any(is_number(field.strip()) for field in fields[1:])

    def numbers(self, count: int, begin: int = 0) -> NDArray[np.float64] | None:
        begin = self._first_end if self.titled else self._begin
        numbers, end = parse_numeric_table(self.data, begin, count, self.delimiter)
        return numbers if end >= len(self.data) and len(numbers) else None

    def has_codes(self) -> bool:
        data, begin = self.data, self._begin
        exponents = data.find(b"e", begin) >= 0 or data.find(b"E", begin) >= 0
        code = rb"[ \t]*(?:0[0-9]|[0-9]+[eE][0-9])" if exponents else rb"[ \t]*0[0-9]"
        marks = (b"\n", self.delimiter.encode())  # one after the other is faster than both at once
        if re.compile(code).match(data, begin):
            return True
        return any(re.compile(re.escape(mark) + code).search(data, begin) for mark in marks)

    def _look_for_decimals(self) -> None:
        if b"." in self.data:
            self._mark = "."
            self._surely_decimal = _SURELY_DECIMAL.search(self.data, self._begin) is not None


def _lines(data: bytes) -> Iterator[str]:
    """The text of each line, decoded as `decode` does; never all at once."""
    try:
        data.decode()
        encoding = "utf-8"
    except UnicodeDecodeError:
        encoding = "latin-1"
    return io.TextIOWrapper(io.BytesIO(data), encoding)


def _numbered(data: bytes) -> Iterator[tuple[int, str]]:
    """The number of each line, and its text."""
    return enumerate(_lines(data), start=1)


def _has_pairs_in_lines(data: bytes) -> bool:
    """Whether quotation marks come in pairs, none of them around a line break."""
    end = 0
    while found := _PAIRS_IN_LINES.match(data, end):
        end = found.end()
    return data.find(b'"', end) < 0


def _on_a_line_each(data: bytes) -> bytes:
    """A text without the line breaks in quoted fields.

    Empty comments come behind such a row, so that what follows has the same number as before. Behind a mark
    that is not closed everything stays, and is refused.
    """
    if _has_pairs_in_lines(data):
        return data
    pieces: list[bytes] = []
    done = breaks = 0

    def take(end: int) -> None:
        nonlocal done, breaks
        if breaks and (row_end := _BREAK.search(data, done, end)) is not None:
            pieces.append(data[done : row_end.start()] + b"\n#" * breaks)
            done, breaks = row_end.start(), 0
        pieces.append(data[done:end])
        done = end

    for field in _QUOTED.finditer(data):
        if not field[1] or data[field.end() : field.end() + 1] not in _BEHIND_A_FIELD:
            break
        if found := len(_BREAK.findall(field[0])):
            take(field.start())
            pieces.append(_BREAK.sub(b" ", field[0]))
            done, breaks = field.end(), breaks + found
    take(len(data))
    return b"".join(pieces)


def _first_line(data: bytes, begin: int, number: int) -> tuple[int, tuple[int, int], str, str] | None:
    """The first line from an offset on that is neither blank nor a comment; None if there is none.

    Its number, the offsets of its first byte and of the next line, its text, and that of the comment above.
    """
    comment = ""
    for line, match in enumerate(_LINE.finditer(data, begin), start=number):
        text = decode(match[1])
        if _is_comment(text):
            comment = text
        elif not _is_blank(text):
            return line, match.span(), text, comment
    return None


def titles_in(text: str) -> list[str]:
    """What would be the names of columns, if a line held these."""
    delimiter = _delimiter(text)
    plain = delimiter == " " and '"' not in text
    reader = csv.reader([text.strip()], delimiter=delimiter, skipinitialspace=delimiter == " ")
    fields = text.split() if plain else next(reader, [])
    return [field.strip(' "') for field in fields]


def _is_blank(text: str) -> bool:
    """Whether a line is empty, or a row of empty fields as spreadsheets write them below a table."""
    return not text.strip().strip("\t;|, ")


def _may_begin_no_row(character: str) -> bool:
    """Whether a line that begins so, or is empty, can be blank or a comment, and has to be looked at."""
    return not character or character.isspace() or character in "\t;|,#s"


def _is_comment(text: str) -> bool:
    """Whether a line begins with a ``#`` that is not the name of a column, or is Excel's ``sep=;``."""
    text = text.lstrip()
    if text.startswith("#"):
        return not text.startswith(("#,", "#;", "#|", "#\t"))
    return text.startswith("sep=") and len(text.rstrip()) <= 5


def _delimiter(text: str) -> str:
    bare = re.sub(r'"[^"]*"', "", text)
    return next((character for character in "\t;|," if character in bare), " ")
