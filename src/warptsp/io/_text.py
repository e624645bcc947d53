"""What the readers of text files share."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from warptsp.errors import ParseError
from warptsp.io._files import contents, named, reading, unpacked
from warptsp.problem.values import EXACT_INTEGERS

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["as_integers", "decode", "line_number", "quoted", "read_bytes"]

_SOMETHING = re.compile(rb"[^\x00\t\n\x0b\x0c\r \x1a]")
_BREAK = re.compile(rb"\r\n?|\n")
_ENCODING = re.compile(r"""(\s*<\?xml\b[^>]*?)\s+encoding\s*=\s*("[^"]*"|'[^']*')""")

_INTEGER = re.compile(r"\s*[+-]?[0-9]+\s*")


def read_bytes(path: str | os.PathLike[str]) -> tuple[bytes, str]:
    """The contents of a file, and its name for messages; ``-`` is standard input, gzip is unpacked.

    Raises
    ------
    ParseError
        The file is missing, empty or no text.
    """
    name = named(path)
    with reading(name):
        data, name = contents(name)
        if data[:2] == b"\x1f\x8b":
            data = unpacked(data, name)
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        data = _from_utf16(data, name)
    if data[:4] == b"PK\x03\x04":
        raise ParseError(
            "is a ZIP archive or a workbook: a workbook of Excel has a name that ends in .xlsx; otherwise "
            "unpack it, or save the sheet as CSV in the program that made it",
            file=name,
        )
    if data[:4] == b"\xd0\xcf\x11\xe0":
        raise ParseError("is a workbook of the old kind: save it as .xlsx, or the sheet as CSV", file=name)
    data = data.removeprefix(b"\xef\xbb\xbf")
    if not _SOMETHING.search(data):
        raise ParseError("is empty: a list of cities is needed", file=name)
    return data, name


def _from_utf16(data: bytes, name: str) -> bytes:
    """UTF-16 text, as Excel's "Unicode text" and PowerShell have it, as UTF-8; XML no longer declares it."""
    try:
        text = data.decode("utf-16")
    except UnicodeDecodeError as error:
        raise ParseError(f"is damaged: its UTF-16 text breaks off at byte {error.start}", file=name) from None
    declared = _ENCODING.match(text)
    return (text if declared is None else declared[1] + text[declared.end() :]).encode()


def line_number(data: bytes, offset: int) -> int:
    """The line, counted from 1, that byte `offset` lies in; lines end as on Unix, Windows or old Macs."""
    return 1 + len(_BREAK.findall(data[:offset]))


def decode(text: bytes) -> str:
    """UTF-8 if it is that, otherwise Latin-1, which every text is."""
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


def quoted(text: bytes | str, limit: int = 40) -> str:
    """A piece of the user's text for a message, on one line and not too long."""
    shown = decode(text[: 4 * limit]) if isinstance(text, bytes) else text
    whole = repr(shown)
    if len(whole) <= limit + 2:
        return whole
    # What cannot be printed takes up to ten characters each.
    return repr(shown[: limit - 3] + "...") if shown.isprintable() else repr(shown[: limit // 4] + "...")
