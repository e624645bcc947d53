"""TSPLIB files: instances and tours.

The format is that of Reinelt, *TSPLIB 95* (1995), read as it occurs in the wild: keywords in any case and
order, numbers as tokens that may wrap anywhere, a missing ``EOF``, remarks after a value. ``docs/formats.md``
lists what is accepted.
"""

from __future__ import annotations

import dataclasses
import logging
import re
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from warptsp._native import parse_numbers
from warptsp._words import counted as _counted
from warptsp.errors import InvalidProblem, InvalidTour, ParseError
from warptsp.problem import Metric, OpenPath, Problem

from ._text import decode, line_number, quoted
from .lines import TourFile
from .tsplib_writer import OPEN_OR_CLOSED

__all__ = ["looks_like_tsplib", "parse_problem", "parse_tour"]

_log = logging.getLogger(__name__)

_HEADER = frozenset(
    {
        "NAME",
        "TYPE",
        "COMMENT",
        "DIMENSION",
        "CAPACITY",
        "EDGE_WEIGHT_TYPE",
        "EDGE_WEIGHT_FORMAT",
        "EDGE_DATA_FORMAT",
        "NODE_COORD_TYPE",
        "DISPLAY_DATA_TYPE",
    }
)
_SECTIONS = frozenset(
    {
        "NODE_COORD_SECTION",
        "DEPOT_SECTION",
        "DEMAND_SECTION",
        "EDGE_DATA_SECTION",
        "EDGE_WEIGHT_SECTION",
        "FIXED_EDGES_SECTION",
        "FIXED_EDGES",
        "DISPLAY_DATA_SECTION",
        "TOUR_SECTION",
    }
)
_ENTRY = re.compile(rb"([A-Za-z][A-Za-z0-9_]*)[ \t]*([:=]?)[ \t]*([^\r\n]*)")
_TOKEN = re.compile(rb"\S+")
_ANY_SECTION = re.compile(rb"_SECTION", re.IGNORECASE)
_LINE = re.compile(rb"[^\r\n]*")
_EXACT_INTEGERS = 2.0**53
_WEIGHT_TYPES = ", ".join(metric.name for metric in Metric)


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


@dataclass(frozen=True, slots=True)
class _Entry:
    value: str
    line: int


@dataclass(frozen=True, slots=True)
class _Section:
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


def parse_problem(data: bytes, file: str, asymmetric: bool = False) -> Problem:
    """The instance in the text of a TSPLIB file.

    Raises
    ------
    ParseError
        With file, line and keyword.
    """
    return _Text(data, file).problem(asymmetric)


def parse_tour(data: bytes, file: str, problem: Problem) -> TourFile:
    """The first tour in the text of a TSPLIB file, and what its comment says of its ends.

    Raises
    ------
    ParseError
        The text is no TSPLIB tour.
    InvalidTour
        It is one for another instance.
    """
    return _Text(data, file).tour(problem)


def _skip_blank(data: bytes, offset: int) -> int:
    match = _TOKEN.search(data, offset)
    return len(data) if match is None else match.start()


class _Text:
    """A file cut into keywords and sections; then each is interpreted, in whatever order they came."""

    def __init__(self, data: bytes, file: str) -> None:
        self.data = data.rstrip(b"\x00\x1a \t\r\n")
        self.file = file
        self.entries: dict[str, _Entry] = {}
        self.sections: dict[str, _Section] = {}
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
            self._fail(
                f"{keyword} is {quoted(value)} here and {quoted(earlier.value)} in line {earlier.line}: "
                "one of them must go",
                offset,
                keyword,
            )
        self.entries.setdefault(keyword, _Entry(value, line))

    def _scan_section(self, name: str, keyword: str, match: re.Match[bytes]) -> int:
        if name in self.sections:
            self._fail(f"a second {keyword}: one is enough", match.start(), keyword)
        begin = match.end(2) if match[2] else match.end(1)
        expected = self._dimension_hint() * (3 if name in ("NODE_COORD", "DISPLAY_DATA") else 1)
        numbers, end = parse_numbers(self.data, begin, expected)
        self.sections[name] = _Section(keyword, numbers, begin, end)
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
        token = _TOKEN.match(self.data, offset)
        assert token is not None
        if section is None:
            line = _LINE.match(self.data, offset)
            assert line is not None
            self._fail(
                f"{quoted(line[0].strip())} is no TSPLIB line: a keyword such as NAME, DIMENSION or "
                "NODE_COORD_SECTION is needed",
                offset,
            )
        if re.fullmatch(rb"[+-]?(nan|inf(inity)?)", token[0], re.IGNORECASE):
            reason = "finite numbers are needed"
        elif re.fullmatch(rb"[+-]?[\d.]+[eE][+-]?\d+|[+-]?\d{300,}", token[0]):
            reason = "it is too large for a floating-point number"
        else:
            reason = "a number or the next keyword is needed"
        self._fail(f"{quoted(token[0])} in {section}: {reason}", offset, section)

    # Saying where

    def _line(self, offset: int) -> int:
        return line_number(self.data, offset)

    def _line_of_next(self, offset: int) -> int:
        """The line of an offset behind all that were asked for before."""
        earlier, line = self._counted
        self._counted = offset, line + line_number(self.data[earlier:offset], offset) - 1
        return self._counted[1]

    def _fail(self, message: str, offset: int | None = None, keyword: str | None = None) -> NoReturn:
        line = None if offset is None else self._line(offset)
        raise ParseError(message, file=self.file, line=line, keyword=keyword)

    def _fail_entry(self, keyword: str, message: str) -> NoReturn:
        raise ParseError(message, file=self.file, line=self.entries[keyword].line, keyword=keyword)

    def _fail_number(self, section: _Section, index: int, message: str) -> NoReturn:
        """Fail in the line of the section's number `index`."""
        offset = section.begin
        for place, token in enumerate(_TOKEN.finditer(self.data, section.begin, section.end)):
            if place == index:
                offset = token.start()
                break
        self._fail(message, offset, section.keyword)

    def _fail_odd_line(self, section: _Section, columns: int, what: str, otherwise: str) -> NoReturn:
        """Fail at the first line that does not hold one city, if lines are cities; `otherwise` if not."""
        offset = section.begin
        for line in self.data[section.begin : section.end].splitlines(keepends=True):
            count = len(line.split(None, columns + 1))
            if count not in (0, columns):
                noun = "number" if count == 1 else "numbers"
                held = f"{count} {noun}" if count <= columns else f"more than {columns} numbers"
                self._fail(f"{held} where a city has {columns} ({what})", offset, section.keyword)
            offset += len(line)
        self._fail(otherwise, section.begin, section.keyword)

    # Keywords

    def _first_word(self, keyword: str) -> str | None:
        entry = self.entries.get(keyword)
        if entry is None or not entry.value:
            return None
        return re.split(r"[\s(,;]", entry.value, maxsplit=1)[0].upper()

    def _dimension(self, counted: int | None = None) -> int:
        entry = self.entries.get("DIMENSION")
        if entry is None:
            hint = (
                "" if counted is None else f"; the file has {_counted(counted)}, so add DIMENSION : {counted}"
            )
            self._fail(f"DIMENSION is missing{hint}", keyword="DIMENSION")
        word = entry.value.split()[0] if entry.value.split() else ""
        if not re.fullmatch(r"\+?\d{1,18}", word) or int(word) < 1:
            self._fail_entry("DIMENSION", f"DIMENSION is {quoted(entry.value)}: a number of cities is needed")
        return int(word)

    def _metric(self) -> Metric:
        word = self._first_word("EDGE_WEIGHT_TYPE")
        if word is None:
            self._fail(f"EDGE_WEIGHT_TYPE is missing: one of {_WEIGHT_TYPES}", keyword="EDGE_WEIGHT_TYPE")
        if word not in Metric.__members__:
            self._fail_entry(
                "EDGE_WEIGHT_TYPE",
                f"unknown EDGE_WEIGHT_TYPE {quoted(word)}: one of {_WEIGHT_TYPES} is needed",
            )
        return Metric[word]

    def _name(self) -> str:
        entry = self.entries.get("NAME")
        return entry.value if entry else ""

    # The instance

    def problem(self, asymmetric: bool) -> Problem:
        kind = self._first_word("TYPE") or ("TOUR" if set(self.sections) == {"TOUR"} else "TSP")
        if kind == "TOUR":
            self._fail("is a tour, not an instance: give it as the start tour", keyword="TYPE")
        if kind not in ("TSP", "ATSP", "HPP"):
            self._fail_entry(
                "TYPE",
                f"TYPE is {quoted(kind)}: warptsp reads TSP (symmetric), ATSP (asymmetric) and HPP (open "
                "path) instances",
            )
        if not self.sections:
            self._fail("has no cities: NODE_COORD_SECTION or EDGE_WEIGHT_SECTION is missing")
        metric = self._metric()
        fields: dict[str, Any] = {"name": self._name(), "comment": "\n".join(self.comments)}
        if kind == "HPP":
            fields["open"] = OpenPath()
        if metric is Metric.EXPLICIT:
            fields["asymmetric"] = asymmetric or kind == "ATSP"
            fields["matrix"], node_ids = self._weights(fields["asymmetric"]), None
            fields["display"] = self._display(len(fields["matrix"]), None)
        else:
            fields["coordinates"], node_ids = self._coordinates(metric)
            fields["display"] = self._display(len(fields["coordinates"]), node_ids)
        fields["node_ids"] = node_ids
        section = "EDGE_WEIGHT" if metric is Metric.EXPLICIT else "NODE_COORD"
        try:
            problem = Problem(metric, **fields)
        except InvalidProblem as error:
            self._fail(str(error), self.sections[section].begin, self.sections[section].keyword)
        return self._with_fixed_edges(problem)

    def _coordinates(self, metric: Metric) -> tuple[NDArray[np.float64], NDArray[np.int64] | None]:
        declared = self._first_word("NODE_COORD_TYPE")
        accepted = "THREED_COORDS" if metric.dimensions == 3 else "TWOD_COORDS"
        if declared not in (None, accepted):
            self._fail_entry(
                "NODE_COORD_TYPE",
                f"NODE_COORD_TYPE is {quoted(declared)}: EDGE_WEIGHT_TYPE {metric.name} needs {accepted}",
            )
        section = self.sections.get("NODE_COORD")
        if section is None:
            self._fail(
                f"NODE_COORD_SECTION is missing: EDGE_WEIGHT_TYPE {metric.name} needs it",
                keyword="NODE_COORD_SECTION",
            )
        axes = "x, y, z" if metric.dimensions == 3 else "x, y"
        return self._node_rows(section, metric.dimensions, f"node, {axes}")

    def _node_rows(
        self, section: _Section, dimensions: int, what: str
    ) -> tuple[NDArray[np.float64], NDArray[np.int64] | None]:
        """The coordinates and, if they are not 1, 2, ..., the node ids of a section."""
        columns = 1 + dimensions
        count, rest = divmod(len(section.numbers), columns)
        dimension = self._dimension(count if rest == 0 else None)
        if rest or count == 0:
            self._fail_odd_line(
                section,
                columns,
                what,
                f"{section.keyword} has {len(section.numbers)} numbers: a city has {columns} ({what})",
            )
        rows = section.numbers.reshape(count, columns)
        ids = self._node_ids(section, rows, what)
        if count != dimension:
            line = self.entries["DIMENSION"].line
            message = f"DIMENSION is {dimension} (line {line}) but {section.keyword} has {_counted(count)}"
            known = np.arange(1, count + 1) if ids is None else ids
            if count < dimension <= 2 * count + 100:
                missing = np.setdiff1d(np.arange(1, dimension + 1), known)
                if len(missing) == dimension - count:
                    more = f" and {len(missing) - 1} more are" if len(missing) > 1 else " is"
                    message += f": node {missing[0]}{more} missing"
            self._fail_odd_line(section, columns, what, message)
        return np.ascontiguousarray(rows[:, 1:]), ids

    def _node_ids(self, section: _Section, rows: NDArray[np.float64], what: str) -> NDArray[np.int64] | None:
        count, columns = rows.shape
        given = rows[:, 0]
        if given[0] == 1.0 and np.array_equal(given, np.arange(1, count + 1)):
            return None
        fractional = (given != np.floor(given)) | (given < 0) | (given > _EXACT_INTEGERS)
        if fractional.any():
            row = int(np.argmax(fractional))
            message = f"node number {given[row]:.15g}: it must be an integer from 0 upwards"
            self._fail_at_row(section, row, columns, what, message)
        ids: NDArray[np.int64] = given.astype(np.int64)
        order = np.argsort(ids, kind="stable")
        repeated = ids[order[1:]] == ids[order[:-1]]
        if repeated.any():
            row = int(order[1:][repeated].min())
            self._fail_at_row(section, row, columns, what, f"node {ids[row]} is there for the second time")
        return ids

    def _fail_at_row(self, section: _Section, row: int, columns: int, what: str, message: str) -> NoReturn:
        # A number too few or too many shifts all that follow: then that line is the fault to tell.
        text = self.data[section.begin : section.end]
        regular = all(len(line.split(None, columns + 1)) in (0, columns) for line in text.splitlines())
        if regular:
            self._fail_number(section, row * columns, f"{message} in {section.keyword}")
        self._fail_odd_line(section, columns, what, message)

    def _display(self, n: int, node_ids: NDArray[np.int64] | None) -> NDArray[np.float64] | None:
        section = self.sections.get("DISPLAY_DATA")
        if section is None and self._first_word("EDGE_WEIGHT_TYPE") == "EXPLICIT":
            section = self.sections.get("NODE_COORD")
        if section is None or self._first_word("DISPLAY_DATA_TYPE") == "NO_DISPLAY":
            return None
        dimensions = 3 if self._first_word("NODE_COORD_TYPE") == "THREED_COORDS" else 2
        if section.keyword == "DISPLAY_DATA_SECTION":
            dimensions = 2
        rows, ids = self._node_rows(section, dimensions, "node, x, y" + ", z" * (dimensions - 2))
        own = np.arange(1, n + 1) if node_ids is None else node_ids
        shown = np.arange(1, n + 1) if ids is None else ids
        order, shown_order = np.argsort(own, kind="stable"), np.argsort(shown, kind="stable")
        if not np.array_equal(own[order], shown[shown_order]):
            stranger = np.setdiff1d(shown, own)[0]
            self._fail(
                f"{section.keyword} names node {stranger}, which the instance does not have",
                section.begin,
                section.keyword,
            )
        display = np.empty((n, 2))
        display[order] = rows[shown_order, :2]
        return display

    # Matrices

    def _weights(self, may_be_asymmetric: bool) -> NDArray[Any]:
        section = self.sections.get("EDGE_WEIGHT")
        if section is None:
            self._fail(
                "EDGE_WEIGHT_SECTION is missing: EDGE_WEIGHT_TYPE EXPLICIT needs it",
                keyword="EDGE_WEIGHT_SECTION",
            )
        n = self._dimension()
        accepted = ", ".join(["FULL_MATRIX", *_TRIANGLES])
        format_ = self._first_word("EDGE_WEIGHT_FORMAT")
        if format_ is None:
            self._fail(f"EDGE_WEIGHT_FORMAT is missing: one of {accepted}", keyword="EDGE_WEIGHT_FORMAT")
        if format_ != "FULL_MATRIX" and format_ not in _TRIANGLES:
            self._fail_entry(
                "EDGE_WEIGHT_FORMAT",
                f"unknown EDGE_WEIGHT_FORMAT {quoted(format_)}: one of {accepted} is needed",
            )
        needed = n * n if format_ == "FULL_MATRIX" else _TRIANGLES[format_].begin(n, n)
        numbers = section.numbers
        if len(numbers) != needed:
            self._fail(
                f"EDGE_WEIGHT_SECTION has {len(numbers)} numbers: {format_} with DIMENSION {n} has {needed}",
                section.begin,
                section.keyword,
            )
        largest = float(np.abs(numbers).max(initial=0.0))
        if largest <= np.iinfo(np.int32).max and np.array_equal(numbers, np.floor(numbers)):
            numbers = numbers.astype(np.int32)
        if format_ == "FULL_MATRIX":
            matrix = numbers.reshape(n, n)
            self._check_full_matrix(section, matrix, may_be_asymmetric)
            return matrix
        self._check_triangle(section, numbers, n, _TRIANGLES[format_])
        return _filled_triangle(numbers, n, _TRIANGLES[format_])

    def _check_full_matrix(self, section: _Section, matrix: NDArray[Any], may_be_asymmetric: bool) -> None:
        n = len(matrix)
        for i in range(n):
            row, column = matrix[i], matrix[:, i]
            if np.array_equal(row, column) and (row >= 0).all():
                continue
            differing = ~np.isclose(row, column, rtol=1e-12, atol=0.0)
            negative = row < 0
            differing[i] = negative[i] = False
            if negative.any():
                j = int(np.argmax(negative))
                self._fail_number(section, i * n + j, _negative(i, j, row[j]))
            if differing.any() and not may_be_asymmetric:
                j = int(np.argmax(differing))
                self._fail_number(
                    section,
                    i * n + j,
                    f"the matrix is not symmetric: {row[j]:.15g} from node {i + 1} to {j + 1}, "
                    f"{column[j]:.15g} back; if that is meant, write TYPE : ATSP",
                )

    def _check_triangle(self, section: _Section, numbers: NDArray[Any], n: int, triangle: _Triangle) -> None:
        negative = numbers < 0
        if triangle.diagonal:
            negative[[triangle.begin(i, n) + (0 if triangle.upper else i) for i in range(n)]] = False
        if not negative.any():
            return
        place = int(np.argmax(negative))
        i = max(row for row in range(n) if triangle.begin(row, n) <= place)
        j = triangle.columns(i, n).start + place - triangle.begin(i, n)
        self._fail_number(section, place, _negative(i, j, numbers[place]))

    # Fixed edges and tours

    def _with_fixed_edges(self, problem: Problem) -> Problem:
        section = self.sections.get("FIXED_EDGES")
        if section is None:
            return problem
        numbers = self._until_minus_one(section)
        if len(numbers) % 2:
            self._fail_number(section, len(numbers) - 1, "the last fixed edge has one end: it needs two")
        try:
            edges = problem.cities_of(numbers.astype(np.int64)).reshape(-1, 2)
        except InvalidTour as error:
            known = problem.ids_of(np.arange(problem.n))
            index = int(np.argmin(np.isin(numbers, known)))
            self._fail_number(section, index, f"a fixed edge names an unknown node: {error}")
        try:
            return dataclasses.replace(problem, fixed_edges=edges)
        except InvalidProblem as error:
            self._fail(str(error), section.begin, section.keyword)

    def _until_minus_one(self, section: _Section) -> NDArray[np.float64]:
        numbers = section.numbers
        ends = np.flatnonzero(numbers == -1.0)
        if len(ends):
            numbers = numbers[: ends[0]]
        wrong = (numbers != np.floor(numbers)) | (numbers < 0) | (numbers > _EXACT_INTEGERS)
        if wrong.any():
            index = int(np.argmax(wrong))
            self._fail_number(
                section, index, f"{numbers[index]:.15g} in {section.keyword}: a node number is needed"
            )
        return numbers

    def tour(self, problem: Problem) -> TourFile:
        section = self.sections.get("TOUR")
        if section is None:
            self._fail("has no TOUR_SECTION: it is no tour", keyword="TOUR_SECTION")
        numbers = self._until_minus_one(section)
        if "DIMENSION" in self.entries and self._dimension() != problem.n:
            called = f" {problem.name}" if problem.name else ""
            raise InvalidTour(
                f"{self.file}: a tour of {self._dimension()} cities (DIMENSION, line "
                f"{self.entries['DIMENSION'].line}) for an instance{called} of {problem.n}"
            )
        if len(section.numbers) > problem.n + 2:
            _log.info("%s: more than one tour; the first is taken", self.file)
        kinds = [OPEN_OR_CLOSED.get(comment.partition(" of length ")[0]) for comment in self.comments]
        said = next((kind for kind in kinds if kind is not None), None)
        return TourFile(problem.cities_of(numbers.astype(np.int64)), said)


def _negative(i: int, j: int, value: float) -> str:
    return (
        f"the distance between nodes {i + 1} and {j + 1} is {value:.15g}: distances are not negative; "
        "adding the same number to every distance leaves the best tour as it is"
    )


def _filled_triangle(numbers: NDArray[Any], n: int, triangle: _Triangle) -> NDArray[Any]:
    matrix = np.zeros((n, n), dtype=numbers.dtype)
    for i in range(n):
        begin, columns = triangle.begin(i, n), triangle.columns(i, n)
        row = numbers[begin : begin + columns.stop - columns.start]
        matrix[i, columns] = row
        matrix[columns, i] = row
    return matrix
