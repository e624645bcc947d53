"""How many problems a thread takes at once, from those that are left."""

import os
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any

from numpy.typing import NDArray

from warptsp.backends.cuda import tuning

CITIES_TOGETHER, LEAST_TOGETHER = 1600, 10  # cities searched at once; no problem counts as fewer
PIECES = 4  # that each thread gets at least
READING = 0.01  # seconds after which no more problems are waited for
READING_FOR_GPU = 0.2  # the same where thousands are searched as fast as a few
FILES_FOR_GPU = 1000  # instances in files that are read for one block


class Taking:
    """Problems that threads take, in order.

    Of a `total` that nobody knows it is None; `on_gpu` says where plain problems are searched together, and
    is None if they are not.
    """

    def __init__(
        self, problems: Iterable[Any], total: int | None, threads: int, *, on_gpu: bool | None
    ) -> None:
        self._items = enumerate(problems)
        self._total, self._threads, self._on_gpu = total, threads, on_gpu
        self._reading = READING_FOR_GPU if on_gpu else READING
        self._begun = 0  # problems of an array
        self._taking = threading.Lock()
        self._late: BaseException | None = None  # what the iterator raised

    def next(self, is_over: Callable[[], bool]) -> list[tuple[int, Any]]:
        """Return the next problems, as many as are searched in a moment; none when there are no more."""
        taken: list[tuple[int, Any]] = []
        with self._taking:
            if self._late is not None:
                raise self._late
            most, begun = 1, time.monotonic()
            while len(taken) < most and not is_over():
                try:
                    item = next(self._items, None)
                except BaseException as error:
                    if not taken:
                        raise
                    self._late = error  # what came before it is searched first
                    break
                if item is None:
                    break
                taken.append(item)
                if len(taken) == 1:
                    most = self._together(*item)
                if time.monotonic() > begun + self._reading:
                    break
        return taken

    def next_of_array(self, array: NDArray[Any]) -> tuple[int, NDArray[Any]]:
        """Return the next block of an array, and its first position; an empty one when there are no more."""
        with self._taking:
            first = self._begun
            self._begun += self._together(first, array[0])
            return first, array[first : self._begun]

    def _together(self, position: int, given: Any) -> int:
        """Return how many problems are taken at once, from this one on."""
        if self._on_gpu is None:
            return 1
        if isinstance(given, (str, os.PathLike)):
            return FILES_FOR_GPU if self._on_gpu else 1
        cities = getattr(given, "n", None) or (len(given) if hasattr(given, "__len__") else 0)
        together = tuning.BATCH_CITIES if self._on_gpu else CITIES_TOGETHER
        most = max(1, together // max(int(cities), LEAST_TOGETHER))
        if self._total is None:
            return most
        if self._on_gpu:
            return min(most, -(-self._total // tuning.BATCH_DEVICES))
        return max(1, min(most, (self._total - position) // (PIECES * self._threads)))
