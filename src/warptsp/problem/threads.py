"""Loops of NumPy on several threads."""

from collections.abc import Callable, Sequence
from typing import TypeVar

_T = TypeVar("_T")


def in_threads(work: Callable[[int], _T], arguments: Sequence[int], threads: int) -> list[_T]:
    """What `work` returns for each argument, in order; NumPy lets go of the interpreter in its loops."""
    if threads == 1 or len(arguments) < 2:
        return [work(argument) for argument in arguments]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(min(threads, len(arguments))) as pool:
        return list(pool.map(work, arguments))
