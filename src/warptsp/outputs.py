"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from warptsp.errors import OutputError


def check_writable(path: str | os.PathLike[str]) -> Path:
    """Make sure, before any work is done, that a file can be written at `path`; leaves no trace.

    Raises
    ------
    OutputError
        Naming the path, what is wrong and what would be right.
    """
    target = _resolved(path)
    if os.fspath(path) == "-":
        return target
    parent = target.parent
    if target.is_dir():
        raise OutputError(f"{path}: is a directory; give the name of a file in it")
    if not parent.exists():
        raise OutputError(f"{path}: there is no directory {parent}; create it first")
    if not parent.is_dir():
        raise OutputError(f"{path}: {parent} is not a directory")
    if _is_special(path, target):
        if not os.access(target, os.W_OK):
            raise OutputError(f"{path}: no permission to write")
        return target
    if target.exists() and not os.access(target, os.W_OK):
        raise OutputError(
            f"{path}: the file exists and is read-only; choose another name or make it writable"
        )
    try:
        # Only the attempt tells: permissions, quotas and read-only file systems all end here.
        with tempfile.TemporaryFile(dir=parent, prefix=".warptsp-"):  # where it can be, a file without a name
            pass
    except OSError as error:
        raise OutputError(f"{path}: cannot write in {parent}: {error.strerror or error}") from error
    return target


@contextmanager
def atomic_write(path: str | os.PathLike[str], mode: str = "wb") -> Iterator[IO[bytes]]:
    """Open a file beside `path` that takes its place, complete and on the disk, when the block ends well.

    At any moment, also after ``kill -9``, `path` is either the old file or the new one. If the block raises,
    nothing changes. ``-`` is standard output; pipes and devices are written directly.

    Raises
    ------
    OutputError
        If the file cannot be written: no directory, no permission, disk full.
    """
    if os.fspath(path) == "-":
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    target = _resolved(path)
    if _is_special(path, target):
        try:
            # Appending changes nothing for pipes, and keeps what a file behind /dev/stdout holds already.
            with open(path, mode.replace("w", "a")) as stream:
                yield stream
        except OSError as error:
            raise OutputError(f"{path}: cannot write: {error.strerror or error}") from error
        return
    # One fixed name: what a killed process leaves behind is taken over by the next write.
    partial = target.with_name(f".{target.name}.partial")
    try:
        with open(partial, mode) as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        with suppress(FileNotFoundError):
            os.chmod(partial, stat.S_IMODE(target.stat().st_mode))
        os.replace(partial, target)
    except OSError as error:
        _discard(partial)
        raise OutputError(f"{path}: cannot write: {error.strerror or error}") from error
    except BaseException:
        _discard(partial)
        raise


def _resolved(path: str | os.PathLike[str]) -> Path:
    # A symbolic link goes on pointing to the file that is replaced.
    return Path(os.path.realpath(path))


def _is_special(path: str | os.PathLike[str], target: Path) -> bool:
    named = os.path.abspath(path).startswith(("/dev/", "/proc/"))  # /dev/stdout may stand for a plain file
    return named or (target.exists() and not target.is_file() and not target.is_dir())


def _discard(partial: Path) -> None:
    with suppress(OSError):
        partial.unlink()
