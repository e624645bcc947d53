"""Standard output and standard error of the command: what is told there, and what if they fail.

Results that cannot be written are an error; that nobody hears complaints and progress is none.
"""

from __future__ import annotations

import errno
import io
import json
import logging
import os
import select
import sys
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, TextIO

import click

from warptsp.errors import OutputError
from warptsp.outputs import ReaderGone
from warptsp.text import printable

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


def say(*lines: str) -> None:
    """Write lines of a result to standard output; text of others does nothing to the terminal."""
    click.echo("\n".join(map(printable, lines)))


def tell(*lines: str) -> None:
    """Write lines about the run to standard error."""
    click.echo("\n".join(map(printable, lines)), err=True)


def echo_json(values: Mapping[str, Any]) -> None:
    """Write one JSON object to stdout."""
    # The one control character that JSON leaves as it is.
    # A line for each key: a tour of a million cities is no million lines.
    lines = (f"  {json.dumps(key)}: {json.dumps(value, default=_plain)}" for key, value in values.items())
    click.echo(("{\n" + ",\n".join(lines) + "\n}").replace("\x7f", "\\u007f"))


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else str(value)


class Warnings(logging.Handler):
    """Tells the library's warnings on standard error, the same one once."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._told: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line."""
        message = f"warptsp: {record.levelname.lower()}: {record.getMessage()}"
        if message not in self._told:
            self._told.add(message)
            tell(message)


@contextmanager
def listening(handler: logging.Handler, name: str = "warptsp", *, alone: bool = False) -> Iterator[None]:
    """Let a handler have what a logger is told, from its own level on.

    If `alone`, handlers of the program above have none of what they would not have had without it.
    """
    logger = logging.getLogger(name)
    before, propagated = logger.level, logger.propagate
    logger.propagate = propagated and (not alone or logger.isEnabledFor(handler.level))
    logger.addHandler(handler)
    logger.setLevel(min(handler.level, logger.getEffectiveLevel()))
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)
        logger.propagate = propagated


def telling_warnings() -> AbstractContextManager[None]:
    """Tell the library's warnings on standard error; nothing changes where that is done already."""
    told = any(isinstance(handler, Warnings) for handler in logging.getLogger("warptsp").handlers)
    return nullcontext() if told else listening(Warnings())


def secure() -> None:
    """Take over both streams of the process, so that they fail as they should, and never on a character.

    A stream that is closed gets a place holder that cannot be used, or else the next file to be opened would
    get its number, and whatever is printed would go into that file.
    """
    if sys.platform == "win32":
        return
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_WRONLY if number == 0 else os.O_RDONLY)
    sys.stdout = _text(_Results(1, "wb", closefd=False), sys.stdout)
    sys.stderr = _text(_Stream(2, "wb", closefd=False), sys.stderr)


def _text(raw: io.FileIO, former: TextIO | None) -> io.TextIOWrapper:
    encoding = getattr(former, "encoding", None) or "utf-8"
    return io.TextIOWrapper(io.BufferedWriter(raw), encoding, "backslashreplace", write_through=True)


class _Stream(io.FileIO):
    """A stream that takes what it is given and drops it, once a write has failed."""

    _failed = False

    def write(self, data: ReadableBuffer, /) -> int:
        size = memoryview(data).nbytes
        if self._failed or size == 0:
            return size
        try:
            while (written := super().write(data)) is None:
                select.select([], [self], [])  # somebody has made it a stream that does not wait
        except BaseException as error:  # also a signal: the rest would wait for the reader again
            self._failed = True
            if not isinstance(error, OSError):
                raise
            self.refused(error)
            return size
        return written

    def refused(self, error: OSError) -> None:
        """Deal with the first failure."""


class _Results(_Stream):
    def refused(self, error: OSError) -> None:
        """Say that it is an error; that the reader has gone needs no words."""
        if error.errno == errno.EPIPE:
            raise ReaderGone("standard output: the reader has gone") from error
        raise OutputError(f"standard output: cannot write: {error.strerror or error}") from error
