"""Progress that `solve` shows itself, if it is asked to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from warptsp._checks import shown
from warptsp._offers import find
from warptsp.errors import InvalidOption

if TYPE_CHECKING:
    from warptsp.progress import Progress

    Callback = Callable[[Progress], object]


@contextmanager
def displayed(progress: object, callback: Callback | None) -> Iterator[Callback | None]:
    """Return the callback of a run, which draws its progress if that is wanted.

    Raises
    ------
    InvalidOption
        If `progress` is neither True nor False.
    """
    if not isinstance(progress, bool):
        raise InvalidOption(f"progress: {shown(progress)} is neither True nor False")
    if not progress:
        yield callback
        return
    display = find("progress display")("auto")

    def told(event: Progress) -> object:
        display(event)
        return None if callback is None else callback(event)

    with display:
        yield told
