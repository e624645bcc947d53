"""What the readers of text files share."""

import logging
import os
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warptsp._words import as_called
from warptsp.errors import ParseError
from warptsp.io._files import contents, kml_in, named, reading, unpacked
from warptsp.problem.values import EXACT_INTEGERS

_log = logging.getLogger(__name__)

_MARKS_OF_UTF32 = (b"\xff\xfe\0\0", b"\0\0\xfe\xff")
_SOMETHING = re.compile(rb"[^\x00\t\n\x0b\x0c\r \x1a]")
_WORD = re.compile(rb"\S+")
_BREAK = re.compile(rb"\r\n?|\n")
_ENCODING = re.compile(r"""(\s*<\?xml\b[^>]*?)\s+encoding\s*=\s*("[^"]*"|'[^']*')""")

_LETTER = r"[A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u00ff\u0152\u0153\u0160\u0161\u0178\u017d\u017e]"
_SIGN = (
    r"[\u00a3-\u00aa\u00ac\u00ae-\u00b1\u00b3\u00b6\u00b8-\u00ba\u00bc-\u00bf\u00d7\u00f7\u0192\u02c6\u02dc"
    r"\u201a\u201c\u201e\u2020-\u2022\u2030\u2039\u2122]"
)
_FOREIGN = re.compile(
    rf"[^\x00-\x7f\u2010-\u203a]{{3}}|(?![\u2010-\u203a]{{4}})[^\x00-\x7f]{{4}}"
    rf"|(?<!\w)[\u00a3\u00a5\u00af\u00b3\u00b9\u00bc\u00be](?={_LETTER})|(?<={_LETTER}){_SIGN}(?={_LETTER})"
)
"""What no text in a Western language has: three letters with accents in a row, or signs within words."""

# Some call it .xls or .csv.
_PAGE = re.compile(rb"(?:\xef\xbb\xbf)?\s*<(?:!doctype\s+html|html)\b", re.IGNORECASE)
_NO_CITIES = {b"%PDF": "a PDF", b"\x89PNG": "a picture", b"\xff\xd8\xff": "a picture", b"GIF8": "a picture"}
_INTEGER = re.compile(r"\s*[+-]?[0-9]+\s*")


def check_not_old(data: bytes, file: str) -> None:
    """Refuse a workbook of Excel before 2007; a newer one with a password begins in the same way."""
    if data[:4] == b"\xd0\xcf\x11\xe0":
        raise ParseError("is a workbook of the old kind, or protected by a password: save it as .xlsx "
                         "without one, or the sheet as CSV", file=file)  # fmt: skip


def read_bytes(path: str | os.PathLike[str]) -> tuple[bytes, str, str | None]:
    """The contents of a file, its name for messages, and the encoding that a byte order mark said.

    ``-`` is standard input, gzip is unpacked.
    """
    name = named(path)
    with reading(name):
        data, name = contents(name)
        if data[:2] == b"\x1f\x8b":
            data = unpacked(data, name)
    wide = data.startswith((b"\xff\xfe", b"\xfe\xff", *_MARKS_OF_UTF32))
    marked = "utf-8-sig" if data.startswith(b"\xef\xbb\xbf") else None
    if wide:
        marked = "utf-32" if data[:4] in _MARKS_OF_UTF32 else "utf-16"
        data = _from_utf16(data, name)
    if data[:4] == b"PK\x03\x04":
        if (kml := kml_in(data, name)) is not None:
            return kml, name, marked
        raise ParseError(
            "is a ZIP archive or a workbook: a workbook of Excel has a name that ends in .xlsx; otherwise "
            "unpack it, or save the sheet as CSV in the program that made it",
            file=name,
        )
    check_not_old(data, name)
    if _PAGE.match(data):
        raise ParseError("is a web page (HTML): open it in a spreadsheet and save it as CSV", file=name)
    for mark, kind in _NO_CITIES.items():
        if data.startswith(mark):
            raise ParseError(f"is {kind}, which holds no cities: a table or a map is needed", file=name)
    data = data.removeprefix(b"\xef\xbb\xbf")
    if not _SOMETHING.search(data):
        raise ParseError("is empty: a file with contents is needed", file=name)
    return data, name, marked


def _from_utf16(data: bytes, name: str) -> bytes:
    """UTF-16 text, as Excel's "Unicode text" and PowerShell have it, as UTF-8; XML no longer declares it.

    UTF-32 has another byte order mark, which begins as that of UTF-16.
    """
    kind = "UTF-32" if data[:4] in _MARKS_OF_UTF32 else "UTF-16"
    try:
        text = data.decode(kind)
    except UnicodeDecodeError as error:
        raise ParseError(f"is damaged: its {kind} text breaks off at byte {error.start}", file=name) from None
    declared = _ENCODING.match(text)
    return (text if declared is None else declared[1] + text[declared.end() :]).encode()


def in_utf8(data: bytes, file: str, encoding: str | None, likely: str | None = None) -> tuple[bytes, str]:
    """A text in UTF-8, and what it is in: UTF-8, UTF-16, the encoding that is given, or Windows-1252.

    What is no UTF-8 is first tried in the `likely` one.

    No detector is asked: charset-normalizer takes a dozen names of Russian places for Korean, and of Polish
    ones for Western, in silence. What may be something else than Windows-1252 is refused.
    """
    if b"\0" in data and (wide := _wide(data)) is not None and encoding is None:
        _log.info("%s: the text is read as UTF-16 without a byte order mark", file)
        encoding = wide
    if b"\x1b$" in data and encoding is None:
        way = as_called('encoding="iso2022_jp"', "--encoding iso2022_jp")
        raise ParseError(f"is text in ISO-2022-JP: {way} says so", file=file)
    if encoding is not None:
        try:
            return data.decode(encoding).encode(), encoding
        except (UnicodeError, ValueError) as error:
            at = f", from byte {error.start} on" if isinstance(error, UnicodeDecodeError) else ""
            raise ParseError(f"is not text in {encoding}{at}", file=file) from None
    try:
        data.decode("utf-8")
        return data, "utf-8"
    except UnicodeDecodeError as error:
        line = line_number(data, error.start)
    if likely is not None:
        with suppress(UnicodeError):
            return data.decode(likely).encode(), likely
    way = as_called('encoding="cp1250"', "--encoding cp1250")
    try:
        text = data.decode("cp1252")
        odd = _FOREIGN.search(text)
    except UnicodeDecodeError:
        odd = None
        text = ""
    if not text or odd is not None:
        example = "" if odd is None else f" ({quoted(text[max(0, odd.start() - 8) : odd.end() + 8])})"
        raise ParseError(
            f"is neither UTF-8 nor Windows-1252{example}: {way} (Polish, Czech), cp1251 (Russian), shift_jis "
            "or gbk says what it is; or save it as UTF-8",
            file=file,
            line=line,
        )
    shown = next((word for word in text.split() if not word.isascii()), "")
    _log.warning(
        "%s: the text is not UTF-8 and read as Windows-1252 (%s); %s if it is not", file, quoted(shown), way
    )
    return text.encode(), "cp1252"


def _wide(data: bytes) -> str | None:
    """The name of UTF-16 if every other byte of many is zero, as of digits and separators; None otherwise."""
    even, odd = (data[begin:4096:2].count(0) for begin in (0, 1))
    if len(data) % 2 or min(even, odd) * 20 > max(even, odd) or max(even, odd) * 20 < min(len(data), 4096):
        return None
    return "utf-16-le" if odd > even else "utf-16-be"


def line_number(data: bytes, offset: int) -> int:
    """The line, counted from 1, that byte `offset` lies in; lines end as on Unix, Windows or old Macs."""
    return 1 + len(_BREAK.findall(data[:offset]))


def token_offset(data: bytes, index: int, begin: int = 0) -> int:
    """Where the word `index`, counted from 0, begins of those from an offset on."""
    return next(islice(_WORD.finditer(data, begin), index, None)).start()


def decode(text: bytes) -> str:
    """UTF-8 if it is that, otherwise Latin-1, which every text is; of a whole file `in_utf8` decides."""
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError:
        return text.decode("latin-1")


def as_integers(numbers: NDArray[np.float64], texts: Callable[[], Iterable[str]]) -> NDArray[Any]:
    """Numbers of a text as integers if they are that, of any size; `texts` are their own, if they are needed.

    Beside integers that a float may not hold, reals are Python's floats.
    """
    largest = float(np.abs(numbers).max(initial=0.0, where=np.isfinite(numbers)))
    if largest < EXACT_INTEGERS:
        whole = np.array_equal(numbers, np.floor(numbers)) and np.isfinite(numbers).all()
        return numbers.astype(np.int32 if largest < 2**31 else np.int64) if whole else numbers
    pairs = zip(numbers.reshape(-1).tolist(), texts(), strict=True)
    found = np.empty(numbers.size, dtype=np.object_)
    found[:] = [int(text) if _INTEGER.fullmatch(text) else number for number, text in pairs]
    return found.reshape(numbers.shape)


def whole_if_possible(numbers: NDArray[Any]) -> NDArray[Any]:
    """Whole numbers as integers, if floats hold them all; others as they are: both read back the same."""
    if numbers.dtype.kind == "i":
        return numbers
    whole = np.array_equal(numbers, np.floor(numbers)) and np.abs(numbers).max(initial=0.0) <= EXACT_INTEGERS
    # An integer has no negative zero.
    return numbers.astype(np.int64) if whole and not np.signbit(numbers[numbers == 0]).any() else numbers


def quoted(text: bytes | str, limit: int = 40) -> str:
    """A piece of the user's text for a message, on one line and not too long."""
    shown = decode(text[: 4 * limit]) if isinstance(text, bytes) else text
    whole = repr(shown)
    if len(whole) <= limit + 2:
        return whole
    # What cannot be printed takes up to ten characters each.
    return repr(shown[: limit - 3] + "...") if shown.isprintable() else repr(shown[: limit // 4] + "...")
