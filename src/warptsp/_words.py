"""Words of messages that depend on who reads them, or on a number."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_in_shell: ContextVar[bool] = ContextVar("warptsp_in_shell", default=False)


def as_called(python: str, shell: str) -> str:
    """Return how the caller writes something: in a Python program, or as an option of the command line.

    >>> as_called("asymmetric=True", "--asymmetric")
    'asymmetric=True'
    """
    return shell if _in_shell.get() else python


@contextmanager
def called_from_shell() -> Iterator[None]:
    """Have messages name options of the command line."""
    token = _in_shell.set(True)
    try:
        yield
    finally:
        _in_shell.reset(token)


def counted(number: int, one: str = "city", many: str = "cities") -> str:
    """Return a number with its noun.

    >>> counted(1), counted(2), counted(1, "thread", "threads")
    ('1 city', '2 cities', '1 thread')
    """
    return f"{number} {one if number == 1 else many}"
