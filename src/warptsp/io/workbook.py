"""Workbooks of Excel (.xlsx): the first sheet that holds anything, read as a table; tours as a sheet."""

import logging
import math
import re
import shlex
import warnings
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warptsp._checks import not_installed
from warptsp._words import as_called, counted, did_you_mean, folded
from warptsp.errors import InvalidOption, ParseError
from warptsp.problem import Problem
from warptsp.problem.itinerary import Timing

from ._files import check_unpacked, undamaged
from ._text import check_not_old, quoted
from .format import Format, Pieces, Source
from .table.reader import read
from .table.rows import TableRows
from .table.text import LONGEST_TITLE
from .table.tour_columns import Column, tour_columns
from .table.tours import order_in, tour_in

_log = logging.getLogger(__name__)

_MOST_CELLS = 30_000_000  # a sheet has a million rows at most, and a table of places some columns
_MOST_ROWS = 1_048_576  # of a sheet
_CHUNK = 1 << 12  # rows that are written at once
_FORMATS = {"distance": "0.0##", "time": "[h]:mm:ss", "arrival": "[hh]:mm"}
_PLAIN_NUMBER = re.compile(r"0|-?[1-9]\d{0,14}|-?(0|[1-9]\d{0,8})\.\d{0,5}[1-9]")
_CODE = re.compile(r"0\d+|\d{16,}")  # digits that are no number: of a postcode, an article, a card
_PADDED = re.compile("0{2,20}")  # the format of a number that is shown with zeros in front
_MOST_DIGITS = 10**15  # of numbers that Excel keeps
_SMALL = 8_000_000  # bytes to which a workbook may unpack in any case: openpyxl reads 10 million a second
_DOCTYPE = re.compile(rb"<\x00?!\x00?D\x00?O\x00?C\x00?T\x00?Y\x00?P\x00?E")
# Programs write such rows where cells have a colour, and openpyxl takes longer for them than for numbers.
_EMPTY_ROW = re.compile(rb"<((?:\w+:)?)row\b[^<>]*(?:/>|(?<!/)>(?:\s|<\1c\b[^<>]*/>)*</\1row\s*>)")
_HIDDEN_ROW = re.compile(rb"<(?:\w+:)?row\b[^<>]*\bhidden=['\"](?:1|true)['\"]")
_NO_VALUE = re.compile(rb"</(?:\w+:)?f>\s*(?:<(?:\w+:)?v\s*/>|<(?:\w+:)?v>\s*</(?:\w+:)?v>)?\s*</(?:\w+:)?c>")
_ESCAPED = re.compile("_x([0-9A-Fa-f]{4})_")  # a character that XML does not hold, as Office writes it
_TO_ESCAPE = re.compile("[\x00-\x08\x0b-\x1f\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")
_NOT_MARKUP = re.compile(rb"<!\[CDATA\[|<!--")


def _table(source: Source, sheet: str | int | None = None) -> TableRows:
    data, file = source.bytes, source.file
    rows, decimals = _rows(_checked(data, file), file, sheet)
    table = TableRows(rows, file, gaps_are_blank=True, decimals=decimals)
    # In a text of the same places Excel needs a mark to see that it is UTF-8.
    table.encoding = "utf-8" if all(text.isascii() for _, row in rows for text in row) else "utf-8-sig"
    return table


def _checked(data: bytes, file: str) -> BytesIO:
    """The same workbook without empty rows and without what is no XML."""
    checked = BytesIO()
    check_not_old(data, file)
    with undamaged(file), zipfile.ZipFile(BytesIO(data)) as archive, zipfile.ZipFile(checked, "w") as copy:
        members = archive.infolist()
        check_unpacked(len(data), sum(member.file_size for member in members), file, _SMALL)
        if not any(member.filename == "[Content_Types].xml" for member in members):
            raise ParseError("is no workbook of Excel: save the sheet as .xlsx or CSV", file=file)
        for member in {member.filename: member for member in members}.values():
            if not member.filename.lower().endswith((".xml", ".rels")):
                continue
            text = archive.read(member)
            if _DOCTYPE.search(text):
                raise ParseError(f"{quoted(member.filename)} has a document type: nothing is read", file=file)
            if not _NOT_MARKUP.search(text):
                text = _EMPTY_ROW.sub(b"", text)
            copy.writestr(member.filename, text)
    return checked


def _rows(
    workbook: BytesIO, file: str, wanted: str | int | None = None
) -> tuple[list[tuple[int, list[str]]], set[int]]:
    """The rows of a sheet, or of the first that has any; and which columns have decimals: as `_texts`."""
    openpyxl = _openpyxl(file)
    with undamaged(file), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about styles and the like
        book = openpyxl.load_workbook(workbook, read_only=True, data_only=True)
        sheets = [sheet for sheet in book.worksheets if sheet.sheet_state == "visible"]
        if wanted is not None:
            sheets = [_sheet(book.worksheets, wanted)]
        padded = any(map(_PADDED.fullmatch, book._number_formats))
        most = min(_MOST_CELLS, max(1_000_000, workbook.getbuffer().nbytes))
        for number, sheet in enumerate(sheets):
            sheet.reset_dimensions()  # what it says of its size may be wrong either way
            values: Iterable[Sequence[Any]] = sheet.iter_rows(values_only=not padded)
            if padded:
                values = ([_shown(cell) for cell in row] for row in values)
            rows, decimals = _texts(values, most, file)
            if rows:
                _tell_of_cells(file, book._archive.read(sheet._worksheet_path))
                _tell(file, sheet.title, [other.title for other in sheets[number + 1 :]])
                return rows, decimals
    raise ParseError("has no sheet with anything in it: a list of cities is needed", file=file)


def _sheet(sheets: Sequence[Any], wanted: str | int) -> Any:
    """The sheet with this name, or else with this number, counted from 1."""
    text = str(wanted).strip()
    same = [sheet for sheet in sheets if folded(sheet.title) == folded(text)]
    if same and isinstance(wanted, str):
        return same[0]
    if re.fullmatch(r"[0-9]{1,9}", text) and 1 <= int(text) <= len(sheets):
        return sheets[int(text) - 1]
    there = ", ".join(quoted(sheet.title) for sheet in sheets[:8])
    more = (", ..." if len(sheets) > 8 else "") + did_you_mean(text, [sheet.title for sheet in sheets])
    option = as_called(f"sheet: {text!r}", f"--sheet {shlex.quote(text)}")
    raise InvalidOption(f"{option}: there is no such sheet; the sheets are {there}{more}")


def _texts(
    rows: Iterable[Sequence[Any]], most: int, file: str
) -> tuple[list[tuple[int, list[str]]], set[int]]:
    """The rows that hold anything, all as wide as the last column that does, with their numbers.

    Beside them: the columns in which a cell is a number with decimals, whose point separates no thousands.
    """
    found: list[tuple[int, list[str]]] = []
    decimals: set[int] = set()
    width = 0
    for line, row in enumerate(rows, start=1):
        if line > _MOST_ROWS:
            raise ParseError(f"has a row beyond {_MOST_ROWS}, the last one of a sheet", file=file)
        texts = [_text(value) for value in row]
        while texts and not texts[-1]:
            texts.pop()
        if not texts:
            continue
        if (longest := max(map(len, texts))) > LONGEST_TITLE:
            raise ParseError(
                f"has a cell of {longest} characters: at most {LONGEST_TITLE} are possible",
                file=file,
                line=line,
            )
        decimals.update(at for at, value in enumerate(row) if isinstance(value, float) and value % 1)
        found.append((line, texts))
        width = max(width, len(texts))
        if len(found) * width > most:
            raise ParseError(
                f"has more than {len(found)} rows of {width} columns: save the columns that count as CSV",
                file=file,
            )
    return [(line, row + [""] * (width - len(row))) for line, row in found], decimals


def _openpyxl(file: str) -> Any:
    try:
        import openpyxl
    except ImportError:
        raise not_installed(f"{file}: workbooks need openpyxl", "excel", ", or use CSV") from None
    return openpyxl


def _shown(cell: Any) -> Any:
    """The value of a cell, with the zeros that its format puts in front."""
    value = cell.value
    padded = type(value) is int and value >= 0 and _PADDED.fullmatch(cell.number_format)
    return str(value).zfill(len(cell.number_format)) if padded else value


def _text(value: Any) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        return str(value).removesuffix(" 00:00:00")  # a date is no midnight
    return " ".join(_ESCAPED.sub(lambda found: chr(int(found[1], 16)), value).split())


def _tell(file: str, title: str, others: list[str]) -> None:
    if others:
        shown = ", ".join(map(quoted, others[:4])) + (", ..." if len(others) > 4 else "")
        option = as_called("sheet=", "--sheet")
        words = "%s: the sheet %s is read, the others are not: %s; %s names one of them"
        _log.info(words, file, quoted(title), shown, option)


def _tell_of_cells(file: str, sheet: bytes) -> None:
    """Say what a reader of the sheet sees otherwise."""
    if hidden := len(_HIDDEN_ROW.findall(sheet)):
        rows = counted(
            hidden, "row that is hidden or filtered out is", "rows that are hidden or filtered out are"
        )
        _log.warning("%s: %s read like the others: delete what does not count", file, rows)
    if lacking := len(_NO_VALUE.findall(sheet)):
        cells = counted(lacking, "formula has", "formulas have")
        _log.warning(
            "%s: %s no value, as if nothing stood there: open the file in Excel and save it", file, cells
        )


def _check_tour(problem: Problem, path: str) -> None:
    """Make sure, before a search, that a sheet will hold its tour."""
    _openpyxl(path)
    if problem.n >= _MOST_ROWS:
        raise InvalidOption(
            f"{path}: {problem.n} cities, and a sheet has {_MOST_ROWS - 1} below its first row: "
            "write a .csv file"
        )
    longest = max((len(text) for column in _texts_of(problem) for text in column), default=0)
    if longest > LONGEST_TITLE:
        raise InvalidOption(
            f"{path}: a text of {longest} characters, and a cell has at most {LONGEST_TITLE}: "
            "write a .csv file"
        )


def _texts_of(problem: Problem) -> Iterator[Sequence[str]]:
    yield problem.labels or ()
    for title, column in (problem.extra or {}).items():
        yield [title, *(entry for entry in column if isinstance(entry, str))]


def _write_tour(problem: Problem, tour: NDArray[np.int32], timing: Timing) -> Pieces:
    """The tour as the only sheet of a workbook: texts as texts, whatever they begin with, times as times.

    openpyxl makes the workbook with an empty sheet; writing the rows here takes a sixth of the time.
    """
    openpyxl = _openpyxl("the tour")
    columns = [
        column._replace(kind="code") if column.kind == "text" and _has_codes(column, len(tour)) else column
        for column in tour_columns(problem, tour, timing)
    ]
    decimal = "." if problem.style is None else problem.style.decimal
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Tour"
    sheet.freeze_panes = "A2"
    sheet.cell(len(tour) + 1, len(columns))  # how large it is
    begins = []
    for number, column in enumerate(columns, start=1):
        letters = openpyxl.utils.get_column_letter(number)
        first = [column.title, *map(str, column.entries(0, min(100, len(tour))))]
        widest = max(map(len, first if column.kind in ("name", "text", "code") else first[:1]))
        sheet.column_dimensions[letters].width = min(50, widest + 2)
        cell = sheet.cell(1, number)
        cell.number_format = _FORMATS.get(column.kind, "General")
        begins.append((f'<c r="{letters}', f'" s="{cell.style_id}"'))
    empty, written = BytesIO(), BytesIO()
    with zipfile.ZipFile(empty, "w") as archive:  # closed whatever happens: the disk may be full
        openpyxl.writer.excel.ExcelWriter(book, archive).save()
    with zipfile.ZipFile(empty) as archive, zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as copy:
        for member in archive.infolist():
            if member.filename != "xl/worksheets/sheet1.xml":
                copy.writestr(member, archive.read(member))
                continue
            front, _, behind = archive.read(member).partition(b"<sheetData>")
            with copy.open("xl/worksheets/sheet1.xml", "w") as stream:
                titles = [
                    f'{begin}1"{_text_cell(c.title)}' for (begin, _), c in zip(begins, columns, strict=True)
                ]
                stream.write(
                    front + f'<sheetData><row r="1">{"".join(titles)}</row>'.encode(errors="replace")
                )
                for begin in range(0, len(tour), _CHUNK):
                    end = min(begin + _CHUNK, len(tour))
                    cells = [
                        _cells(column, marks, begin, end, decimal)
                        for column, marks in zip(columns, begins, strict=True)
                    ]
                    rows = enumerate(zip(*cells, strict=True), start=begin + 2)
                    text = "".join(f'<row r="{row}">{"".join(found)}</row>' for row, found in rows)
                    stream.write(text.encode(errors="replace"))  # halves of surrogate pairs
                stream.write(b"</sheetData>" + behind.partition(b"</sheetData>")[2])
    yield written.getbuffer()


def _cells(column: Column, marks: tuple[str, str], begin: int, end: int, decimal: str) -> list[str]:
    """What stands in a column of some rows."""
    front, style = marks
    entries = column.entries(begin, end)
    if column.kind in ("time", "arrival"):
        entries = [None if t is None or not math.isfinite(t) else round(t) / 86400.0 for t in entries]
    elif column.kind == "text":
        entries = [_number_in(entry, decimal) if isinstance(entry, str) else entry for entry in entries]
    return [
        "" if entry is None or entry == "" else f"{front}{row}{style}{_content(entry)}"
        for row, entry in enumerate(entries, start=begin + 2)
    ]


def _content(entry: Any) -> str:
    """The rest of a cell with a number, a truth value or a text."""
    if isinstance(entry, bool):
        return f' t="b"><v>{entry:d}</v></c>'
    if isinstance(entry, (int, float)) and abs(entry) < _MOST_DIGITS:
        return f"><v>{entry!r}</v></c>"
    return _text_cell(str(entry))


def _text_cell(text: str) -> str:
    text = _TO_ESCAPE.sub(lambda found: f"_x{ord(found[0]):04X}_", text)
    return f' t="inlineStr"><is><t xml:space="preserve">{escape(text, quote=False)}</t></is></c>'


def _has_codes(column: Column, count: int) -> bool:
    """Whether a column has texts of digits that are no numbers, so that the others are none either."""
    return any(isinstance(entry, str) and _CODE.fullmatch(entry) for entry in column.entries(0, count))


def _number_in(text: str, decimal: str) -> Any:
    """The number that a text of a table is and nothing but that, such as no postcode; or else the text."""
    if not _PLAIN_NUMBER.fullmatch(text if decimal == "." else text.replace(".", "x").replace(decimal, ".")):
        return text
    return float(text.replace(decimal, ".")) if decimal in text else int(text)


FORMATS = (
    Format(
        name="xlsx",
        title="Excel",
        endings=(".xlsx", ".xlsm"),
        tour_endings=(".xlsx",),
        read=lambda source, options: read(_table(source, options.sheet), options),
        read_tour=lambda source, problem: tour_in(_table(source), problem),
        read_order=lambda source: order_in(_table(source)),
        write_tour=_write_tour,
        check_tour=_check_tour,
        binary=True,
        has_columns=True,
        has_sheets=True,
    ),
)
