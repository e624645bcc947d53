"""A table: titles, columns, and the numbers of its rows, wherever they come from."""

import itertools
import logging
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from warptsp._words import as_called, counted
from warptsp.errors import ParseError
from warptsp.io._text import quoted, whole_if_possible
from warptsp.problem.origin import TableStyle

from .angles import angle_of, hint_of_angle
from .columns import Columns
from .fields import (
    GROUPED,
    HINT_OF_THOUSANDS,
    MINUS,
    NODE_NUMBERS,
    NUMBER,
    THOUSANDS,
    WITH_COMMA,
    WORDS_FOR_NO_NUMBER,
)

_log = logging.getLogger(__name__)

CHUNK = 512  # rows at a time: beyond 700 lists Python's garbage collector walks through them, again and again
_LOOKED_AT = 100  # rows, for a note
COUNTED = ("row", "rows", " (counted from 0)")  # what rows are called that are no lines


class Cells(NamedTuple):
    """What stands in the rows of a table."""

    positions: NDArray[np.float64]  # (n, k)
    ids: NDArray[np.float64] | list[str] | None  # the numbers of the places, or the texts that stand there
    names: list[str] | None
    rest: dict[int, Any]  # what is in the other columns


class Table:
    """A table cut into rows and fields."""

    first_line: int  # of the first row that holds anything: in a text its line, counted from 1
    first: list[str]  # the fields of that row, or the titles if no row holds them
    rows_called = ("line", "lines", "")
    delimiter = "\t"
    above = ""  # the comment above it
    titles: list[str] | None = None  # the names of the columns, where no row holds them
    titled = False  # whether the first row names the columns, and so is none of the `rows`
    called: list[str | int] | None = None  # what the file calls the columns, where others were made of these
    row_names: list[str] | None = None  # what rows are called, where no column holds that
    rows_are_named = False  # whether these are names and no numbers
    rows_are_numbered = False  # whether these are numbers that somebody has chosen: names, if nothing else is
    by_number = True  # whether a caller names columns by their numbers, too
    count: int | None = None  # of rows, if that is known before they are read
    encoding = "utf-8"  # of the file
    decimals: frozenset[int] = frozenset()  # columns whose points surely do not separate thousands

    def __init__(self, file: str) -> None:
        self.file = file
        self._mark: str | None = None  # of decimals, once a coordinate has any: a point or a comma
        self._surely_decimal = False  # whether some mark cannot separate thousands
        self._needed: Sequence[int] = ()
        self.incomplete: dict[int, list[str]] = {}  # rows that lack a coordinate and are left out

    # What the rows are

    def _chunks(self) -> Iterator[tuple[list[int], list[list[str]]]]:
        """The fields of some hundred rows at a time, and the numbers of those rows."""
        raise NotImplementedError

    def numbers(self, count: int, begin: int = 0) -> NDArray[Any] | None:
        """All numbers of columns from `begin` to `count`; None if they are to be read row by row."""
        return None

    def has_codes(self) -> bool:
        """Whether there is what is no number but a code (007, 12E4), which `numbers` would forget."""
        return False

    def head(self) -> tuple[list[str], list[str]]:
        """The fields of the first row and of the one below it; twice the same if there is no other."""
        raise NotImplementedError

    def beginning(self) -> Iterator[tuple[int, list[str]]]:
        """The first rows as names of columns, and the number of each."""
        raise NotImplementedError

    def begin_at(self, line: int) -> None:
        """Leave out what stands above a row, of which `beginning` has told."""
        raise NotImplementedError

    def warn_of_blanks(self, count: int) -> None:
        """Say which rows are left out, blank or like a comment, if any stand between the `count` others."""

    def fail(self, message: str, line: int | None = None, column: str | None = None) -> NoReturn:
        """Raise a `ParseError` that names the file, and the row as the table calls it."""
        if self.rows_called is COUNTED and line is not None:
            message = f"{shown_lines([line], COUNTED)}: {message}" if line >= 0 else message
            line = None
        raise ParseError(message, file=self.file, line=line, keyword=column)

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """The number of each row, and its fields."""
        for lines, rows in self.chunks():
            yield from zip(lines, rows, strict=True)

    def chunks(self) -> Iterator[tuple[list[int], list[list[str]]]]:
        """The rows, some hundred at a time; incomplete ones are left out if `skip_incomplete` said so."""
        for lines, rows in self._chunks():
            if self._needed:
                pairs = [pair for pair in zip(lines, rows, strict=True) if self._is_complete(*pair)]
                lines, rows = [line for line, _ in pairs], [row for _, row in pairs]
            if rows:
                yield lines, rows

    def skip_incomplete(self, places: Sequence[int]) -> None:
        """Leave out rows that hold nothing in one of these columns; they are kept in `incomplete`."""
        self._needed = places

    def _is_complete(self, line: int, row: list[str]) -> bool:
        if all(p < len(row) and not WORDS_FOR_NO_NUMBER.fullmatch(row[p].strip()) for p in self._needed):
            return True
        self.incomplete[line] = row
        return False

    def with_columns(self, place: int, titles: Sequence[str], rows: list[tuple[int, list[str]]]) -> "Table":
        """The same with other columns in place of one: their titles, and the fields of each row."""
        split = TableRows(rows, self.file, list(titles))
        split.incomplete = self.incomplete
        return split

    def cells(self, columns: Columns) -> Cells:
        """What stands in all rows: the numbers in the columns of coordinates, and the texts in others."""
        places, id = list(columns.positions), columns.id
        numbers = self.numbers(len(self.first)) if columns.name is None else None
        if numbers is None:
            return self._cells_by_rows(columns)
        all_places = list(range(numbers.shape[1]))
        others = [place for place in all_places if place not in places]
        lost = any((np.abs(numbers[:, place]) >= NODE_NUMBERS).any() for place in others)
        if lost or (id is not None and not is_whole(numbers[:, id])) or (others and self.has_codes()):
            return self._cells_by_rows(columns)
        self._look_for_decimals()
        self.warn_of_blanks(len(numbers))
        return Cells(
            numbers if places == all_places else np.ascontiguousarray(numbers[:, places]),
            None if id is None else numbers[:, id],
            None,
            {p: whole_if_possible(numbers[:, p] + 0.0) for p in others if p != id},
        )

    def _cells_by_rows(self, columns: Columns) -> Cells:
        """Row by row: for tables with names, and to find what is wrong with the others."""
        places, id, name = columns.positions, columns.id, columns.name
        values: list[NDArray[np.float64]] = []
        texts: dict[int, list[str]] = {p: [] for p in range(len(self.first)) if p == name or p not in places}
        for lines, rows in self.chunks():
            values.append(self.positions(lines, rows, places, columns.titles, columns.letters))
            for place, column in texts.items():
                column += [row[place].strip() for row in rows]
        if not values:
            self.fail("has no cities below the header line", self.first_line)
        coordinates = np.concatenate(values)
        self.warn_of_blanks(len(coordinates) + len(self.incomplete))
        ids, names = (None if place is None else texts[place] for place in (id, name))
        rest = {place: column for place, column in texts.items() if place not in (id, name)}
        return Cells(coordinates, ids, names, rest)

    # Numbers

    def number(self, text: str, line: int, column: str, letters: str = "") -> float:
        """The number in a field, of which `line` and `column` are for messages.

        With `letters`, ``NS`` or ``EW``, it may be an angle in degrees, minutes and seconds.
        """
        if letters and (angle := angle_of(text, letters)) is not None:
            if ":" in text and self._mark is not None:
                self.fail(
                    f"{quoted(text)} in column {column} may be a time, as decimals stand above", line, column
                )
            return angle
        if WORDS_FOR_NO_NUMBER.fullmatch(text):
            what = "nothing" if text == "" else quoted(text)
            self.fail(f"{what} in column {column}: a finite number is needed{self.way_out()}", line, column)
        mark = "," if WITH_COMMA.fullmatch(text) else "." if "." in text else None
        number = (text.replace(",", ".") if mark == "," else text).replace(MINUS, "-")
        if not NUMBER.fullmatch(number):
            hint = HINT_OF_THOUSANDS if GROUPED.fullmatch(text) else hint_of_angle(text, letters)
            self.fail(f"{quoted(text)} in column {column}: a number is needed{hint}", line, column)
        if not self.takes(mark, [text]):
            hint = f" (decimals above have a {'point' if mark == ',' else 'comma'})"
            self.fail(f"{quoted(text)} in column {column}: a number is needed{hint}", line, column)
        value = float(number)
        if abs(value) == float("inf"):
            self.fail(f"{quoted(text)} is too large for a floating-point number", line, column)
        return value

    def way_out(self) -> str:
        """How rows without a number can be left out, for the end of a message."""
        return f"; {as_called('skip_incomplete=True', '--skip-incomplete')} leaves such rows out"

    def takes(self, mark: str | None, texts: Iterable[str]) -> bool:
        """Whether numbers with this decimal mark go with those above: a table has one."""
        if mark is None:
            return True
        if self._mark not in (None, mark):
            return False
        self._mark = mark
        if not self._surely_decimal:
            thousands = THOUSANDS[mark]
            self._surely_decimal = any(
                mark in text and not thousands.fullmatch(text.strip()) for text in texts
            )
        return True

    def _look_for_decimals(self) -> None:
        """See to what `takes` knows, where the numbers were read all at once."""

    def style(self, columns: Iterable[tuple[str, str]] = ()) -> TableStyle:
        """How the table is written: its columns as `TableStyle` has them, its marks, its encoding."""
        mark = self._mark or ("," if self.delimiter == ";" else ".")
        return TableStyle(tuple(columns), self.delimiter, mark, self.encoding)

    def check_thousands(self, places: Sequence[int]) -> None:
        """Refuse numbers whose mark may as well separate thousands: one text for two meanings.

        A comma always may; a point where semicolons, tabs or bars separate columns, as where commas are
        decimal marks, and whole numbers below a thousand stand beside, which would else have decimals, too.
        """
        mark = self._mark
        if mark is None or self._surely_decimal:
            return
        if mark == "." and not self.decimals.isdisjoint(places):
            return
        found, whole = None, mark == ","
        american = mark == "." and self.delimiter not in ";\t|"
        for line, row in itertools.islice(self.rows(), _LOOKED_AT if american else None):
            texts = [row[place].strip() for place in places if place < len(row)]
            found = found or next(((line, text) for text in texts if mark in text), None)
            whole = whole or any(text.lstrip(f"+-{MINUS}").isdecimal() and len(text) <= 4 for text in texts)
            if found and whole and not american:
                front, _, rest = found[1].partition(mark)
                self.fail(
                    f"{quoted(found[1])} may be {front}.{rest} or {front}{rest}: write one of them"
                    f"{'' if mark == ',' else f' ({front}.{rest}0 is surely the first)'}",
                    found[0],
                )
        if found and whole == american:
            _log.info("%s: numbers such as %s have decimals, not thousands", self.file, found[1])

    def positions(
        self,
        lines: Sequence[int],
        rows: list[list[str]],
        places: Sequence[int],
        titles: Sequence[str] | None,
        letters: Sequence[str],
    ) -> NDArray[np.float64]:
        """The numbers in some columns of some rows, shape (m, k).

        Lines and titles are for messages; `letters` has those of `number` for each of the columns.
        """
        count = len(self.first)
        if (found := self.fast_numbers(rows, places, count)) is not None:
            return found
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

    def fast_numbers(
        self, rows: list[list[str]], places: Sequence[int], count: int
    ) -> NDArray[np.float64] | None:
        """The coordinates of these rows, or None if anything about them calls for a closer look."""
        if set(map(len, rows)) != {count}:
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

    def tell_of_blanks(self, found: Sequence[int]) -> None:
        """Say which rows are left out because they are blank."""
        if found:
            rows = counted(len(found), "blank row is", "blank rows are")
            _log.warning("%s: %s left out: %s", self.file, rows, shown_lines(found))

    def tell_of_incomplete(self, name: int | None, lacking: str = "coordinates") -> None:
        """Say which rows were left out because they lack something."""
        if self.incomplete:
            names = [
                quoted(row[name].strip())
                for row in self.incomplete.values()
                if name is not None and name < len(row)
            ]
            more = ", ..." if len(names) > 5 else ""
            _log.warning(
                "%s: %s left out: %s%s",
                self.file,
                counted(len(self.incomplete), f"row without {lacking} is", f"rows without {lacking} are"),
                shown_lines(list(self.incomplete), self.rows_called),
                f" ({', '.join(names[:5])}{more})" if names else "",
            )


class TableRows(Table):
    """A table whose fields are known already, as those of a workbook's sheet are.

    Where `gaps_are_blank`, numbers that no row has are those of blank rows.
    """

    def __init__(
        self,
        rows: Sequence[tuple[int, list[str]]],
        file: str,
        titles: list[str] | None = None,
        *,
        gaps_are_blank: bool = False,
        decimals: Iterable[int] = (),
    ) -> None:
        super().__init__(file)
        self.decimals = frozenset(decimals)
        self._all, self._gaps_are_blank = rows, gaps_are_blank
        self._rows = [(line, row) for line, row in rows if any(row)]
        if not self._rows:
            self.fail("is empty: a list of cities is needed")
        self.titles = titles
        self.first_line, first = self._rows[0]
        self.first = first if titles is None else titles
        self.titled = titles is not None

    def _chunks(self) -> Iterator[tuple[list[int], list[list[str]]]]:
        rows = self._rows[1:] if self.titled and self.titles is None else self._rows
        for begin in range(0, len(rows), CHUNK):
            part = rows[begin : begin + CHUNK]
            yield [line for line, _ in part], [row for _, row in part]

    def head(self) -> tuple[list[str], list[str]]:
        return self._rows[0][1], self._rows[min(1, len(self._rows) - 1)][1]

    def beginning(self) -> Iterator[tuple[int, list[str]]]:
        return itertools.islice(iter(self._rows), 20)

    def begin_at(self, line: int) -> None:
        self._rows = [(number, row) for number, row in self._rows if number >= line]
        self.first_line, self.first = self._rows[0]

    def warn_of_blanks(self, count: int) -> None:
        if self._gaps_are_blank:
            kept = (line for line, _ in self._rows)
            self.tell_of_blanks([line for a, b in itertools.pairwise(kept) for line in range(a + 1, b)])
        else:
            self.tell_of_blanks(
                blanks_between((line, not any(row)) for line, row in self._all if line > self.first_line)
            )


def is_whole(column: NDArray[Any]) -> bool:
    """Whether these are integers, be it as floats, which a column becomes in which some were missing."""
    if column.dtype.kind == "f":
        return bool(np.isfinite(column).all() and (column == np.floor(column)).all())
    return column.dtype.kind in "iu"


def blanks_between(lines: Iterable[tuple[int, bool]]) -> list[int]:
    """Which lines are blank, but for those below every table that a spreadsheet has written."""
    found: list[int] = []
    below: list[int] = []
    for line, blank in lines:
        if blank:
            below.append(line)
        else:
            found, below = found + below, []
    return found


def shown_lines(lines: Sequence[int], called: tuple[str, str, str] = Table.rows_called) -> str:
    """The numbers of lines, the first ones of many."""
    shown = ", ".join(map(str, lines[:5])) + (", ..." if len(lines) > 5 else "")
    return f"{called[len(lines) > 1]} {shown}{called[2]}"
