"""Reading and verifying without the collector of cycles."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """Keep Python from looking for cycles of objects meanwhile; as a decorator, during a call.

    A program of 100 000 lines becomes millions of objects without a cycle, and looking through all of them
    again and again took 30 % of the time. Who has switched the collector off already keeps it off.
    """
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
