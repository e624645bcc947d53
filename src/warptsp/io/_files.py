"""What all readers of files share: the bytes, packed or not, and errors that name the file."""

import os
import re
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO

from warptsp._checks import shown
from warptsp.errors import (
    InvalidOption,
    InvalidProblem,
    MissingFile,
    ParseError,
    UnreadableFile,
    WarpTSPError,
)

RATIO = 30
"""How many times its packed size a text may have without being asked about; text packs 2 to 20 times."""
ALWAYS = 32_000_000
"""Bytes that a text may unpack to in any case."""
VARIABLE = "WARPTSP_MAX_UNPACKED"
_PIECE = 1 << 20
_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):[/\\]{1,2}(?=[^/\\])")  # C:/ is a disk
_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}


def named(path: str | os.PathLike[str]) -> str:
    """The name of a file as text."""
    try:
        name = os.fsdecode(path)
        if b"\0" not in os.fsencode(name):
            return name
    except (TypeError, UnicodeEncodeError):
        pass
    raise ParseError(f"no file is called {shown(path)}: the name of one is needed")


@contextmanager
def reading(name: str) -> Iterator[None]:
    """Say what is wrong where the system refuses a file."""
    try:
        yield
    except ParseError:
        raise
    except FileNotFoundError as error:
        address = _ADDRESS.match(name)
        if address is None:
            raise MissingFile("no such file", file=name, errno=error.errno) from None
        rest = name[address.end() :].replace(os.sep, "/")
        whole = f"{address[1]}://{rest}"  # a path has lost one of the two
        raise ParseError(
            "is an address, and nothing is fetched: download it, and give the name of the file", file=whole
        ) from None
    except OSError as error:
        if os.path.isdir(name):
            what = "is a directory: the name of a file is needed"
        else:
            what = f"cannot be read: {error.strerror or error}"
        raise UnreadableFile(what, file=name, errno=error.errno) from None


@contextmanager
def of_file(name: str, more: str = "") -> Iterator[None]:
    """Name the file, and say more of it, in an `InvalidProblem` of what it holds."""
    try:
        yield
    except ParseError:
        raise
    except InvalidProblem as error:
        raise ParseError(f"{error}{more}", file=name) from None


@contextmanager
def undamaged(file: str) -> Iterator[None]:
    """Say that a file is damaged where what reads it fails, which it does in a dozen ways."""
    try:
        yield
    except (WarpTSPError, MemoryError):
        raise
    except Exception as error:
        raise ParseError(f"is damaged: {shown(str(error))}", file=file) from None


def contents(name: str) -> tuple[bytes, str]:
    """All bytes of a file, and its name for messages; ``-`` is standard input."""
    if name == "-":
        if sys.stdin is None:
            raise ParseError("is closed: redirect it from a file or a pipe, or name a file", file="<stdin>")
        data = _to_the_end(sys.stdin.buffer, "<stdin>")
        if not data:
            raise ParseError("is empty, as it is when it is read once more: name a file", file="<stdin>")
        return data, "<stdin>"
    with open(name, "rb") as stream:
        return _to_the_end(stream, name), name


def _to_the_end(stream: IO[bytes], file: str) -> bytes:
    """All bytes of a stream, if it can be trusted to have an end."""
    try:
        status = os.fstat(stream.fileno())
    except OSError:  # what stands in for standard input may be no file
        return stream.read()
    if stat.S_ISREG(status.st_mode):
        return stream.read()
    if stat.S_ISCHR(status.st_mode) and not stream.isatty() and not _is_empty_input(status, file):
        raise ParseError("is a device, which may have no end: the name of a file is needed", file=file)
    beginning = stream.read(_PIECE)
    if len(beginning) < _PIECE:
        return beginning  # a terminal that is asked again wants to be told of its end again
    if not beginning.strip(b"\0"):
        raise ParseError(f"begins with {_PIECE} zero bytes: a list of cities is needed", file=file)
    return beginning + stream.read()


def _is_empty_input(status: os.stat_result, file: str) -> bool:
    """Whether standard input is the null device, which is how programs are started without any."""
    return file == "<stdin>" and status.st_rdev == os.stat(os.devnull).st_rdev


def unpacked(data: bytes, file: str) -> bytes:
    """The text in the bytes of a gzip file, piece by piece up to a bound: a few bytes can pack gigabytes.

    The bound is `RATIO` times the packed size, or `ALWAYS` if that is more, or what the environment variable
    ``WARPTSP_MAX_UNPACKED`` says.
    """
    import gzip
    import io

    limit = _limit(len(data), ALWAYS)
    pieces, size = [], 0
    with undamaged(file), gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
        while piece := stream.read(_PIECE):
            size += len(piece)
            if size > limit:
                raise _trap(len(data), limit, file)
            pieces.append(piece)
    return b"".join(pieces)


def kml_in(data: bytes, file: str) -> bytes | None:
    """The KML in a KMZ file, as far as `unpacked` would go; None if this is another archive."""
    import io
    import zipfile

    with undamaged(file), suppress(zipfile.BadZipFile), zipfile.ZipFile(io.BytesIO(data)) as archive:
        found = [member for member in archive.infolist() if member.filename.lower().endswith(".kml")]
        if found:
            # The first one outside of folders is meant, says the specification; others belong to its links.
            root = min(found, key=lambda member: member.filename.count("/") > 0)
            check_unpacked(root.compress_size, root.file_size, file, ALWAYS)
            return archive.read(root)
    return None


def check_unpacked(packed: int, size: int, file: str, always: int) -> None:
    """Accept what an archive says that it unpacks to, as in `unpacked`; so many bytes `always`."""
    limit = _limit(packed, always)
    if size > limit:
        raise _trap(packed, limit, file)


def _trap(packed: int, limit: int, file: str) -> ParseError:
    return ParseError(
        f"has {packed} packed bytes and more than {limit} unpacked, which looks like a trap: if it is "
        f"none, unpack it yourself, or set {VARIABLE} to as many bytes as it may have, such as 20G",
        file=file,
    )


def _limit(packed: int, always: int) -> int:
    said = os.environ.get(VARIABLE, "").strip()
    if not said:
        return max(always, RATIO * packed)
    number = re.fullmatch(r"([0-9]{1,15})\s*([kMGT]?)B?", said, re.IGNORECASE)
    if number is None:
        raise InvalidOption(f"{VARIABLE}: {said[:40]!r} is not a number of bytes, such as 500M or 20G")
    return int(number[1]) * _UNITS[number[2].lower()]
