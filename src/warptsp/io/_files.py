"""What all readers of files share: the bytes, and errors that name the file."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from warptsp.errors import ParseError

__all__ = ["contents", "reading"]


@contextmanager
def reading(name: str) -> Iterator[None]:
    """Say what is wrong where the system refuses a file.

    Raises
    ------
    ParseError
        In place of any `OSError` of the block.
    """
    try:
        yield
    except FileNotFoundError:
        raise ParseError("no such file", file=name) from None
    except IsADirectoryError:
        raise ParseError("is a directory: the name of a file is needed", file=name) from None
    except OSError as error:
        raise ParseError(f"cannot be read: {error.strerror or error}", file=name) from None


def contents(name: str) -> tuple[bytes, str]:
    """All bytes of a file, and its name for messages; ``-`` is standard input."""
    if name == "-":
        return sys.stdin.buffer.read(), "<stdin>"
    return Path(name).read_bytes(), name
