"""Workbooks of Excel (.xlsx): the first sheet that holds anything, read as a table."""

from __future__ import annotations

import logging
import re
import shlex
import warnings
import zipfile
from collections.abc import Iterable, Sequence
from io import BytesIO
from typing import TYPE_CHECKING, Any

from warptsp._words import as_called, did_you_mean
from warptsp.errors import BackendUnavailable, InvalidOption, ParseError, WarpTSPError

from ._files import check_unpacked
from ._text import quoted
from .format import Format, Instance, Source
from .table.reader import read
from .table.rows import TableRows
from .table.text import LONGEST_TITLE

if TYPE_CHECKING:
    from .options import ReadOptions

_log = logging.getLogger(__name__)

_MOST_CELLS = 30_000_000  # a sheet has a million rows at most, and a table of places some columns
_MOST_ROWS = 1_048_576  # of a sheet
_SMALL = 8_000_000  # bytes to which a workbook may unpack in any case: openpyxl reads 10 million a second
_DOCTYPE = re.compile(rb"<\x00?!\x00?D\x00?O\x00?C\x00?T\x00?Y\x00?P\x00?E")
# Programs write such rows where cells have a colour, and openpyxl takes longer for them than for numbers.
_EMPTY_ROW = re.compile(rb"<((?:\w+:)?)row\b[^<>]*(?:/>|(?<!/)>(?:\s|<\1c\b[^<>]*/>)*</\1row\s*>)")
_NOT_MARKUP = re.compile(rb"<!\[CDATA\[|<!--")


def _read(source: Source, options: ReadOptions) -> Instance:
    data, file = source.bytes, source.file
    rows, decimals = _rows(_checked(data, file), file, options.sheet)
    return read(TableRows(rows, file, gaps_are_blank=True, decimals=decimals), options)


def _checked(data: bytes, file: str) -> BytesIO:
    """The same workbook without empty rows and without what is no XML."""
    checked = BytesIO()
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive, zipfile.ZipFile(checked, "w") as copy:
            members = archive.infolist()
            check_unpacked(len(data), sum(member.file_size for member in members), file, _SMALL)
            if not any(member.filename == "[Content_Types].xml" for member in members):
                raise ParseError("is no workbook of Excel: save the sheet as .xlsx or CSV", file=file)
            for member in {member.filename: member for member in members}.values():
                if not member.filename.lower().endswith((".xml", ".rels")):
                    continue
                text = archive.read(member)
                if _DOCTYPE.search(text):
                    raise ParseError(
                        f"{quoted(member.filename)} has a document type: nothing is read", file=file
                    )
                if not _NOT_MARKUP.search(text):
                    text = _EMPTY_ROW.sub(b"", text)
                copy.writestr(member.filename, text)
    except WarpTSPError:
        raise
    except Exception as error:  # a damaged archive fails in a dozen ways
        raise ParseError(f"is damaged: {quoted(str(error))}", file=file) from None
    return checked


def _rows(
    workbook: BytesIO, file: str, wanted: str | int | None = None
) -> tuple[list[tuple[int, list[str]]], set[int]]:
    """The rows of a sheet, or of the first that has any; and which columns have decimals: as `_texts`."""
    try:
        import openpyxl
    except ImportError:
        raise BackendUnavailable(
            f"{file}: workbooks are read with openpyxl, which is not installed: "
            "pip install 'warptsp[excel]', or save the sheet as CSV"
        ) from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about styles and the like
            book = openpyxl.load_workbook(workbook, read_only=True, data_only=True)
            sheets = [sheet for sheet in book.worksheets if sheet.sheet_state == "visible"]
            if wanted is not None:
                sheets = [_sheet(book.worksheets, wanted)]
            most = min(_MOST_CELLS, max(1_000_000, workbook.getbuffer().nbytes))
            for number, sheet in enumerate(sheets):
                sheet.reset_dimensions()  # what it says of its size may be wrong either way
                rows, decimals = _texts(sheet.iter_rows(values_only=True), most, file)
                if rows:
                    _tell(file, sheet.title, [other.title for other in sheets[number + 1 :]])
                    return rows, decimals
    except WarpTSPError:
        raise
    except Exception as error:  # openpyxl checks little: a damaged workbook fails in a dozen ways
        raise ParseError(f"is damaged: {quoted(str(error))}", file=file) from None
    raise ParseError("has no sheet with anything in it: a list of cities is needed", file=file)


def _sheet(sheets: Sequence[Any], wanted: str | int) -> Any:
    """The sheet with this name, or else with this number, counted from 1."""
    text = str(wanted).strip()
    same = [sheet for sheet in sheets if sheet.title.strip().casefold() == text.casefold()]
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


def _text(value: Any) -> str:
    return "" if value is None else " ".join(str(value).split())


def _tell(file: str, title: str, others: list[str]) -> None:
    if others:
        shown = ", ".join(map(quoted, others[:4])) + (", ..." if len(others) > 4 else "")
        _log.info("%s: the sheet %s is read, the others are not: %s", file, quoted(title), shown)


FORMATS = (
    Format(
        name="xlsx",
        title="Excel",
        endings=(".xlsx", ".xlsm"),
        read=_read,
        binary=True,
        has_columns=True,
        has_sheets=True,
    ),
)
