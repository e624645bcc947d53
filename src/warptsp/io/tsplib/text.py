"""The text of a TSPLIB file: cut into keywords and sections, in whatever order they come."""

import logging
import re
from dataclasses import dataclass
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from warptsp._native import parse_numbers
from warptsp._words import counted
from warptsp.errors import ParseError
from warptsp.io._text import decode, line_number, quoted, token_offset
from warptsp.problem.values import EXACT_INTEGERS

_log = logging.getLogger(__name__)

_HEADER = frozenset((
    "NAME", "TYPE", "COMMENT", "DIMENSION", "CAPACITY", "GTSP_SETS", "EDGE_WEIGHT_TYPE", "EDGE_WEIGHT_FORMAT",
    "EDGE_DATA_FORMAT", "NODE_COORD_TYPE", "DISPLAY_DATA_TYPE",
))  # fmt: skip
_SECTIONS = frozenset((
    "NODE_COORD_SECTION", "DEPOT_SECTION", "DEMAND_SECTION", "EDGE_DATA_SECTION", "EDGE_WEIGHT_SECTION",
    "FIXED_EDGES_SECTION", "FIXED_EDGES", "GTSP_SET_SECTION", "DISPLAY_DATA_SECTION", "TOUR_SECTION",
))  # fmt: skip
_ENTRY = re.compile(rb"([A-Za-z][A-Za-z0-9_]*)[ \t]*([:=]?)[ \t]*([^\r\n]*)")
_TOKEN = re.compile(rb"\S+")
_ANY_SECTION = re.compile(rb"_SECTION", re.IGNORECASE)
_LINE = re.compile(rb"[^\r\n]*")


@dataclass(frozen=True, slots=True)
class _Entry:
    value: str
    line: int


@dataclass(frozen=True, slots=True)
class Section:
    keyword: str
    numbers: NDArray[np.float64]
    begin: int  # byte offsets of the text of the numbers
    end: int


def looks_like_tsplib(data: bytes) -> bool:
    """Whether a text begins as a TSPLIB file does, and not as a table with a column "name" does."""
    match = _ENTRY.match(data, _skip_blank(data, 0))
    if match is None:
        return False
    keyword = match[1].upper().decode()
    if keyword in _HEADER:
        return bool(match[2]) or _ANY_SECTION.search(data) is not None
    return keyword in _SECTIONS


def _skip_blank(data: bytes, offset: int) -> int:
    match = _TOKEN.search(data, offset)
    return len(data) if match is None else match.start()


class TsplibText:
    """A file cut into keywords and sections; then each is interpreted, in whatever order they came."""

    def __init__(self, data: bytes, file: str) -> None:
        self.data = data.rstrip(b"\x00\x1a \t\r\n")
        self.file = file
        self.entries: dict[str, _Entry] = {}
        self.sections: dict[str, Section] = {}
        self.comments: list[str] = []
        self._counted = (0, 1)  # a byte offset and its line, so that lines are counted once
        self._unknown = 0
        self._scan()

    # Cutting it up

    def _scan(self) -> None:
        offset = _skip_blank(self.data, 0)
        after_section: str | None = None
        while offset < len(self.data):
            match = _ENTRY.match(self.data, offset)
            keyword = "" if match is None else match[1].upper().decode()
            if keyword == "EOF":
                return
            if match is not None and keyword in _SECTIONS:
                offset = self._scan_section(keyword.removesuffix("_SECTION"), keyword, match)
                after_section = keyword
            elif match is not None and (keyword in _HEADER or match[2]) and self._starts_line(offset):
                self._scan_entry(keyword, match, offset)
                offset = match.end()
                after_section = None
            else:
                self._fail_at_token(offset, after_section)
            offset = _skip_blank(self.data, offset)

    def _scan_entry(self, keyword: str, match: re.Match[bytes], offset: int) -> None:
        value = decode(match[3]).strip()
        if keyword == "COMMENT":
            self.comments.append(value)
            return
        line = self._line_of_next(offset)
        if keyword not in _HEADER:
            self._unknown += 1
            if self._unknown <= 5:
                _log.warning("%s:%d: unknown keyword %s is ignored", self.file, line, quoted(match[1]))
            return
        earlier = self.entries.get(keyword)
        if earlier is not None and earlier.value != value:
            self.fail(
                f"{keyword} is {quoted(value)} here and {quoted(earlier.value)} in line {earlier.line}: "
                "remove one of them",
                offset,
                keyword,
            )
        self.entries.setdefault(keyword, _Entry(value, line))

    def _scan_section(self, name: str, keyword: str, match: re.Match[bytes]) -> int:
        if name in self.sections:
            self.fail(f"a second {keyword}: one is enough", match.start(), keyword)
        begin = match.end(2) if match[2] else match.end(1)
        expected = self._dimension_hint() * (3 if name in ("NODE_COORD", "DISPLAY_DATA") else 1)
        numbers, end = parse_numbers(self.data, begin, expected)
        self.sections[name] = Section(keyword, numbers, begin, end)
        return end

    def _dimension_hint(self) -> int:
        entry = self.entries.get("DIMENSION")
        number = re.match(r"\d{1,10}", entry.value) if entry else None
        return int(number[0]) if number else 0

    def _starts_line(self, offset: int) -> bool:
        while offset > 0 and self.data[offset - 1] in b" \t":
            offset -= 1
        return offset == 0 or self.data[offset - 1] in b"\r\n"

    def _fail_at_token(self, offset: int, section: str | None) -> NoReturn:
        if section is None:
            line = next(_LINE.finditer(self.data, offset))[0]
            self.fail(
                f"{quoted(line.strip())} is not a TSPLIB line: a keyword such as NAME, DIMENSION or "
                "NODE_COORD_SECTION is needed",
                offset,
            )
        token = next(_TOKEN.finditer(self.data, offset))[0]
        if re.fullmatch(rb"[+-]?(nan|inf(inity)?)", token, re.IGNORECASE):
            reason = "finite numbers are needed"
        elif re.fullmatch(rb"[+-]?[\d.]+[eE][+-]?\d+|[+-]?\d{300,}", token):
            reason = "it is too large for a floating-point number"
        else:
            reason = "a number or the next keyword is needed"
        self.fail(f"{quoted(token)} in {section}: {reason}", offset, section)

    # Saying where

    def _line_of_next(self, offset: int) -> int:
        """The line of an offset behind all that were asked for before."""
        earlier, line = self._counted
        self._counted = offset, line + line_number(self.data[earlier:offset], offset) - 1
        return self._counted[1]

    def fail(self, message: str, offset: int | None = None, keyword: str | None = None) -> NoReturn:
        """Raise a `ParseError` at a byte of the text."""
        line = None if offset is None else line_number(self.data, offset)
        raise ParseError(message, file=self.file, line=line, keyword=keyword)

    def fail_entry(self, keyword: str, message: str) -> NoReturn:
        """Raise a `ParseError` in the line of a keyword."""
        raise ParseError(message, file=self.file, line=self.entries[keyword].line, keyword=keyword)

    def fail_number(self, section: Section, index: int, message: str) -> NoReturn:
        """Fail in the line of the section's number `index`."""
        offset = section.begin if index < 0 else token_offset(self.data, index, section.begin)
        self.fail(message, offset, section.keyword)

    def fail_odd_line(self, section: Section, columns: int, what: str, otherwise: str) -> NoReturn:
        """Fail at the first line that does not hold one city, if lines are cities; `otherwise` if not."""
        offset = section.begin
        for line in self.data[section.begin : section.end].splitlines(keepends=True):
            count = len(line.split(None, columns + 1))
            if count not in (0, columns):
                noun = "number" if count == 1 else "numbers"
                held = f"{count} {noun}" if count <= columns else f"more than {columns} numbers"
                self.fail(f"{held} where a city has {columns} ({what})", offset, section.keyword)
            offset += len(line)
        self.fail(otherwise, section.begin, section.keyword)

    # Keywords

    def first_word(self, keyword: str) -> str | None:
        """The value of a keyword without remarks, in upper case; None if there is none."""
        entry = self.entries.get(keyword)
        if entry is None or not entry.value:
            return None
        return re.split(r"[\s(,;]", entry.value, maxsplit=1)[0].upper()

    def dimension(self, found: int | None = None) -> int:
        """The number of cities by the file's word; `found` is how many it has, for messages."""
        entry = self.entries.get("DIMENSION")
        if entry is None:
            hint = "" if found is None else f"; the file has {counted(found)}, so add DIMENSION : {found}"
            self.fail(f"DIMENSION is missing{hint}", keyword="DIMENSION")
        word = entry.value.split()[0] if entry.value.split() else ""
        if not re.fullmatch(r"\+?\d{1,18}", word) or int(word) < 1:
            self.fail_entry("DIMENSION", f"DIMENSION is {quoted(entry.value)}: a number of cities is needed")
        return int(word)

    def name(self) -> str:
        """The instance's name, which may be empty."""
        entry = self.entries.get("NAME")
        return entry.value if entry else ""

    def until_minus_one(self, section: Section) -> NDArray[np.float64]:
        """The node numbers of a section, which a -1 ends."""
        numbers = section.numbers
        ends = np.flatnonzero(numbers == -1.0)
        if len(ends):
            numbers = numbers[: ends[0]]
        wrong = (numbers != np.floor(numbers)) | (numbers < 0) | (numbers >= EXACT_INTEGERS)
        if wrong.any():
            index = int(np.argmax(wrong))
            self.fail_number(
                section, index, f"{numbers[index]:.15g} in {section.keyword}: a node number is needed"
            )
        return numbers
