"""Workbooks of Excel (.xlsx): the first sheet that holds anything, read as a table."""

from __future__ import annotations

import logging
import re
import warnings
import zipfile
from collections.abc import Iterable, Sequence
from io import BytesIO
from typing import TYPE_CHECKING, Any

from warptsp.errors import BackendUnavailable, ParseError, WarpTSPError

from ._files import check_unpacked
from ._text import quoted
from .format import Format, Instance, Source
from .table.reader import read_text
from .table.text import TableRows

if TYPE_CHECKING:
    from .options import ReadOptions

__all__ = ["FORMATS"]

_log = logging.getLogger(__name__)

_MOST_CELLS = 30_000_000  # a sheet has a million rows at most, and a table of places some columns
_DOCTYPE = re.compile(rb"<\x00?!\x00?D\x00?O\x00?C\x00?T\x00?Y\x00?P\x00?E")


def _read(source: Source, options: ReadOptions) -> Instance:
    data, file = source.bytes, source.file
    _check_archive(data, file)
    return read_text(TableRows(_rows(data, file), file), options)


def _check_archive(data: bytes, file: str) -> None:
    """Accept an archive that unpacks to a bounded size, and whose XML defines no entities.

    Raises
    ------
    ParseError
        It is something else.
    """
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            members = archive.infolist()
            check_unpacked(len(data), sum(member.file_size for member in members), file)
            if not any(member.filename == "[Content_Types].xml" for member in members):
                raise ParseError("is no workbook of Excel: save the sheet as .xlsx or CSV", file=file)
            for member in members:
                name = member.filename.lower()
                if name.endswith((".xml", ".rels")) and _DOCTYPE.search(archive.read(member)):
                    raise ParseError(
                        f"{quoted(member.filename)} has a document type: nothing is read", file=file
                    )
    except WarpTSPError:
        raise
    except Exception as error:  # a damaged archive fails in a dozen ways
        raise ParseError(f"is damaged: {quoted(str(error))}", file=file) from None


def _rows(data: bytes, file: str) -> list[tuple[int, list[str]]]:
    """The rows of the first sheet that has any, as long as each other, with their numbers."""
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
            book = openpyxl.load_workbook(BytesIO(data), read_only=True, data_only=True)
            sheets = [sheet for sheet in book.worksheets if sheet.sheet_state == "visible"]
            for number, sheet in enumerate(sheets):
                sheet.reset_dimensions()  # what it says of its size may be wrong either way
                rows = _texts(sheet.iter_rows(values_only=True), file)
                if any(rows):
                    _tell(file, sheet.title, [other.title for other in sheets[number + 1 :]])
                    return _filled(rows)
    except WarpTSPError:
        raise
    except Exception as error:  # openpyxl checks little: a damaged workbook fails in a dozen ways
        raise ParseError(f"is damaged: {quoted(str(error))}", file=file) from None
    raise ParseError("has no sheet with anything in it: a list of cities is needed", file=file)


def _texts(rows: Iterable[Sequence[Any]], file: str) -> list[list[str]]:
    """The cells of each row up to the last that holds anything.

    Raises
    ------
    ParseError
        The table would have more cells than fit into the memory: a few bytes can say so.
    """
    found: list[list[str]] = []
    width = 0
    for row in rows:
        texts = [_text(value) for value in row]
        while texts and not texts[-1]:
            texts.pop()
        found.append(texts)
        width = max(width, len(texts))
        if len(found) * width > _MOST_CELLS:
            raise ParseError(
                f"has more than {len(found)} rows of {width} columns: save the columns that count as CSV",
                file=file,
            )
    while found and not found[-1]:
        found.pop()
    return found


def _text(value: Any) -> str:
    return "" if value is None else " ".join(str(value).split())


def _filled(rows: list[list[str]]) -> list[tuple[int, list[str]]]:
    """The rows, all as wide as the last column that holds anything."""
    width = max(map(len, rows), default=0)
    return [(line, row + [""] * (width - len(row))) for line, row in enumerate(rows, start=1)]


def _tell(file: str, title: str, others: list[str]) -> None:
    if others:
        shown = ", ".join(map(quoted, others[:4])) + (", ..." if len(others) > 4 else "")
        _log.info("%s: the sheet %s is read, the others are not: %s", file, quoted(title), shown)


FORMATS = (
    Format(name="xlsx", title="Excel", endings=(".xlsx", ".xlsm"), read=_read, binary=True, has_columns=True),
)
