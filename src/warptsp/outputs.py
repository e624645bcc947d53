"""Files that are written whole or not at all."""

import errno
import os
import re
import stat
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from warptsp.errors import InvalidOption, OutputError, WarpTSPError
from warptsp.interruption import is_ending, unfinished

if sys.platform != "win32":
    import fcntl

_STREAM = re.compile(r"/dev/(stdin|stdout|stderr|fd/\d+)|/proc/(self|thread-self|\d+)/fd/\d+")
_LONG = 100  # bytes of a name from which the partial file's holds its digest: names have 255 at most, or 143
_NO_SUCH_ENTRY = (errno.ENOENT, errno.ENOTDIR)
_TOLD = 5  # failures that one message names


class ReaderGone(OutputError):  # noqa: N818
    """Whoever read standard output has gone, as in ``warptsp ... | head``."""


class Pace:
    """When a file is due that is written now and then: at most once in `interval` seconds.

    Writing takes at most about 2 % of the time: where one write takes long, the next ones come less often.
    """

    def __init__(self, interval: float) -> None:
        self._interval = interval
        self._next = time.monotonic() + interval

    def is_due(self) -> bool:
        return time.monotonic() >= self._next

    def wrote(self, seconds: float) -> None:
        """Say that it was written just now, and how long that took."""
        self._next = time.monotonic() + max(self._interval, 50.0 * seconds)


class Attempts:
    """Several things to write, of which each is tried, whatever becomes of the others."""

    def __init__(self) -> None:
        self.failures: list[Exception] = []

    def make(self, write: Callable[..., object], *arguments: object, **options: object) -> bool:
        """Call a function, and tell whether it has done its work; keep what it raises for `finish`."""
        try:
            write(*arguments, **options)
        except Exception as error:
            self.failures.append(error)
            return False
        return True

    def finish(self) -> None:
        """Raise what went wrong: faults first, then all that could not be written, at last a gone reader."""
        faults = [error for error in self.failures if not isinstance(error, WarpTSPError)]
        errors = [error for error in self.failures if not isinstance(error, ReaderGone)]
        if len(errors) > 1 and not faults:
            more = f"; {len(errors) - _TOLD} more could not be written" if len(errors) > _TOLD else ""
            raise OutputError("; ".join(map(str, errors[:_TOLD])) + more) from errors[0]
        for error in [*faults, *errors, *self.failures][:1]:
            raise error


def check_outputs(
    outputs: Iterable[tuple[str, str | os.PathLike[str] | None]],
    inputs: Iterable[tuple[str, str | os.PathLike[str]]],
) -> None:
    """Make sure of `check_writable` for each file, that no two are the same, and that none is read.

    Each of the outputs stands behind the option that names it; None is no file, and ``-`` standard output.
    Each of the inputs stands behind what it is, such as "the instance itself". Raises `InvalidOption` or
    `OutputError`, naming the option, or the path.
    """
    seen = {_place(path): what for what, path in inputs}
    for option, path in outputs:
        if path is None:
            continue
        place = _place(path) if os.fspath(path) != "-" else "-"
        if place in seen and not is_stream(path) and place != os.devnull:
            raise InvalidOption(
                f"{option} {os.fspath(path)!r}: this file is {seen[place]} already; choose another name"
            )
        seen[place] = f"taken by {option}"
        check_writable(path)


def _place(path: str | os.PathLike[str]) -> str:
    try:
        return os.path.realpath(path)
    except OSError:  # the working directory is gone, as whoever opens the file will say
        return os.fspath(path)


def make_folder(path: str | os.PathLike[str]) -> None:
    """Make sure, before any work is done, that there is a folder in which files can be written.

    Raises `OutputError`, naming the path, and what is wrong.
    """
    target = _resolved(path)
    try:
        os.makedirs(target, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{path}: cannot make this directory: {error.strerror or error}") from error
    check_writable(os.path.join(path, "any.tour"))


def check_writable(path: str | os.PathLike[str]) -> Path:
    """Make sure, before any work is done, that a file can be written at `path`; leaves no trace.

    What a killed process left behind of the same file is removed. Raises `OutputError`, naming the path, what
    is wrong and what would be right.
    """
    target = _resolved(path)
    if os.fspath(path) == "-":
        return target
    if is_stream(path) or _is_special(target):
        if not os.access(target, os.W_OK):
            raise OutputError(f"{path}: no permission to write")
        return target
    parent = target.parent
    if target.is_dir():
        raise OutputError(f"{path}: is a directory; give the name of a file in it")
    if not parent.exists():
        raise OutputError(f"{path}: there is no directory {parent}; create it first")
    if not parent.is_dir():
        raise OutputError(f"{path}: {parent} is not a directory")
    import tempfile  # which brings the modules of five kinds of archives

    try:
        # Only the attempt tells: permissions, quotas and read-only file systems all end here.
        with tempfile.TemporaryFile(dir=parent, prefix=".warptsp-"):  # where it can be, a file without a name
            pass
    except OSError as error:
        raise OutputError(f"{path}: cannot write in {parent}: {error.strerror or error}") from error
    if target.exists() and not os.access(target, os.W_OK):
        raise OutputError(
            f"{path}: the file exists and is read-only; choose another name or make it writable"
        )
    _sweep(target)
    return target


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file beside `path` that takes its place, complete and on the disk, when the block ends well.

    At any moment, also after ``kill -9``, `path` is either the old file or the new one. If the block raises,
    nothing changes. Of several that are written to one path at once, the last to end stays. ``-`` is standard
    output; pipes and devices are written directly.

    The new file has the permissions of the old one, and its owner where that is possible; without an old one,
    those that the umask leaves. A symbolic link goes on pointing to the file; other hard links keep the old
    one. Raises `OutputError` if the file cannot be written: no directory, no permission, disk full.
    """
    if os.fspath(path) == "-":
        with _standard_output() as stream:
            yield stream
        return
    target = _resolved(path)
    try:
        if is_stream(path) or _is_special(target):
            # Appending changes nothing for pipes, and keeps what a file behind /dev/stdout holds already.
            with open(path, "ab", opener=_open_when_read) as stream:
                yield stream
        else:
            with _replacing(target) as stream:
                yield stream
    except WarpTSPError:
        raise
    except OSError as error:
        raise OutputError(f"{path}: cannot write: {error.strerror or error}") from error


def write_whole(path: str | os.PathLike[str], contents: str | bytes) -> None:
    """Write a file, or nothing, as `atomic_write` does."""
    write_pieces(path, [contents.encode() if isinstance(contents, str) else contents])


def write_pieces(path: str | os.PathLike[str], pieces: Iterable[bytes | memoryview]) -> None:
    """The same of what comes piece by piece."""
    with atomic_write(path) as stream:
        for piece in pieces:
            stream.write(piece)


def _open_when_read(name: str, flags: int) -> int:
    """Open what is no plain file: a pipe once it has a reader, for whom nobody waits after a signal."""
    if sys.platform == "win32" or not stat.S_ISFIFO(os.stat(name).st_mode):
        return os.open(name, flags)
    while True:
        try:
            descriptor = os.open(name, flags | os.O_NONBLOCK)
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            if is_ending() or is_stream(name):
                raise OutputError(f"{name}: cannot write: nobody reads this pipe") from None
            time.sleep(0.02)
        else:
            os.set_blocking(descriptor, True)
            return descriptor


@contextmanager
def _standard_output() -> Iterator[IO[bytes]]:
    if sys.stdout is None:
        raise OutputError("standard output is closed; give the name of a file")
    try:
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    except (WarpTSPError, BrokenPipeError):
        raise
    except OSError as error:
        raise OutputError(f"standard output: cannot write: {error.strerror or error}") from error


@contextmanager
def _replacing(target: Path) -> Iterator[IO[bytes]]:
    import secrets

    partial = str(target.with_name(f"{_prefix(target)}{secrets.token_hex(8)}.partial"))
    unfinished.add(partial)  # before it is there: a signal may come at any moment
    try:
        try:
            old = target.stat()
        except FileNotFoundError:
            old = None
        with _locked(partial, private=old is not None) as stream:
            if old is not None:
                _take_over(stream.fileno(), old)
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
            if sys.platform != "win32":
                os.replace(partial, target)  # before the lock is gone
        if sys.platform == "win32":  # which moves no open file, and where nobody sweeps
            os.replace(partial, target)
        _sync_folder(target.parent)
    except BaseException:
        with suppress(OSError):
            os.unlink(partial)
        raise
    finally:
        unfinished.discard(partial)


def _locked(partial: str, *, private: bool) -> IO[bytes]:
    """Open a new file, which no other name leads to, and lock it against `_sweep`."""
    mode = 0o600 if private else 0o666

    def opener(name: str, flags: int) -> int:
        return os.open(name, flags | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), mode)

    while True:
        stream = open(partial, "xb", opener=opener)  # noqa: SIM115 - the caller closes it
        if sys.platform != "win32":
            with suppress(OSError):  # some file systems have no locks: then nobody sweeps there
                fcntl.flock(stream, fcntl.LOCK_EX)
        if os.fstat(stream.fileno()).st_nlink:
            return stream
        stream.close()  # swept before it was locked


def _take_over(descriptor: int, old: os.stat_result) -> None:
    """Give the new file the owner and the permissions of the old one."""
    if sys.platform != "win32":
        with suppress(OSError):  # only root may give files away
            os.fchown(descriptor, old.st_uid, old.st_gid)
        with suppress(OSError):  # where there are no permissions
            os.fchmod(descriptor, stat.S_IMODE(old.st_mode) & 0o777)


def _sync_folder(folder: Path) -> None:
    """Put the new entry of a folder on the disk."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:  # one that may be written and not read, or Windows
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # file systems without folders on a disk
            raise
    finally:
        os.close(descriptor)


def _prefix(target: Path) -> str:
    """Return how the names of partial files begin, which go on with what nobody can guess."""
    name = target.name
    if len(os.fsencode(name)) > _LONG:
        import hashlib

        name = hashlib.sha256(os.fsencode(name)).hexdigest()[:32]
    return f".{name}."


def _sweep(target: Path) -> None:
    """Remove what killed processes left of this file: their locks are gone with them."""
    if sys.platform == "win32":
        return
    pattern = re.compile(re.escape(_prefix(target)) + r"[0-9a-f]{16}\.partial")
    with suppress(OSError):
        for name in os.listdir(target.parent):
            if pattern.fullmatch(name):
                _remove_unlocked(target.with_name(name))


def _remove_unlocked(partial: Path) -> None:
    with suppress(OSError):
        descriptor = os.open(partial, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            found = os.fstat(descriptor)
            if stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid():
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.unlink(partial)
        finally:
            os.close(descriptor)


def _resolved(path: str | os.PathLike[str]) -> Path:
    """Return the file that a path leads to; a symbolic link goes on pointing to the file that is replaced.

    Raises `OutputError`: there can be no such file, or somebody else has put a link there.
    """
    try:
        os.stat(path)  # which fails for links that the system would not follow, and for too long names
    except OSError as error:
        if error.errno not in _NO_SUCH_ENTRY:
            raise OutputError(f"{path}: cannot write: {error.strerror or error}") from error
    except ValueError as error:  # a zero, or half of a surrogate pair
        raise OutputError(f"{os.fspath(path)!r} cannot be the name of a file: {error}") from error
    for place in _way(path):
        _check_link(place, path)
    try:
        return Path(os.path.realpath(path))
    except OSError:
        raise OutputError(
            f"{path}: cannot write: the working directory is gone; go to another one, or give a whole path"
        ) from None


def _way(path: str | os.PathLike[str]) -> Iterator[str]:
    """Each place on the way to a file, as the system goes it through symbolic links."""
    try:
        ahead = os.path.join(os.getcwd(), path)
    except OSError:  # the working directory is gone
        return
    place, links = os.sep, 40  # as many as the system follows
    while ahead := ahead.lstrip(os.sep):
        name, _, ahead = ahead.partition(os.sep)
        here = os.path.normpath(os.path.join(place, name))
        yield here
        if links and name not in (os.curdir, os.pardir) and os.path.islink(here):
            links -= 1
            ahead = os.path.join(os.readlink(here), ahead)
            here = os.sep if ahead.startswith(os.sep) else place
        place = here


def _check_link(place: str, path: str | os.PathLike[str]) -> None:
    """Refuse a link that somebody else has put into a folder in which others may write.

    So does Linux in folders such as /tmp, where its setting ``fs.protected_symlinks`` is on.
    """
    if sys.platform == "win32" or not os.path.islink(place):
        return
    folder = os.stat(os.path.dirname(place))
    shared = folder.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    if shared and os.lstat(place).st_uid not in (os.geteuid(), folder.st_uid):
        raise OutputError(
            f"{path}: cannot write: {place} is a link that another user has put into a shared folder; "
            "choose another name"
        )


def is_stream(path: str | os.PathLike[str]) -> bool:
    """Tell whether a path is a name, or a link to a name, of an open file, such as ``/dev/stdout``.

    What is behind it may be a plain file, which somebody else has redirected the stream to.
    """
    return any(map(_STREAM.fullmatch, _way(path)))


def _is_special(target: Path) -> bool:
    return target.exists() and not target.is_file() and not target.is_dir()
