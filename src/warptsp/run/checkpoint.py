"""The best tour so far, on disk, now and then."""

import logging
import os
import time

import numpy as np
from numpy.typing import NDArray

from warptsp._checks import checked_number
from warptsp.errors import WarpTSPError
from warptsp.outputs import Pace, check_writable, is_stream
from warptsp.problem import Problem
from warptsp.stop.limits import SECONDS

logger = logging.getLogger(__name__)


def proof_beside(tour: str | os.PathLike[str]) -> str | None:
    """Return the file that keeps a proof where this one keeps the tour; None beside devices and streams."""
    name = os.fspath(tour)
    is_special = name == "-" or is_stream(name) or (os.path.exists(name) and not os.path.isfile(name))
    return None if is_special else f"{name}.proof"


def warn_of_earlier(path: str | os.PathLike[str], start: str | os.PathLike[str] | None, option: str) -> None:
    """Say that a checkpoint is there already, and is replaced, where a run does not start from it."""
    if os.path.isfile(path) and (start is None or os.path.realpath(path) != os.path.realpath(start)):
        logger.warning("the checkpoint %s already exists and will be replaced; %s continues from it",
                       os.fspath(path), option)  # fmt: skip


class Checkpoint:
    """Writes improved tours to one file, atomically, at the pace of `outputs.Pace`.

    It is a TSPLIB tour, or what the ending ``.npy`` or ``.i32`` means: written faster, for very long tours.

    The file is complete at any moment, whatever happens to the process, and ``start=`` goes on from it.

    Raises `OutputError` when made, if the file cannot be written.
    """

    def __init__(self, path: str | os.PathLike[str], problem: Problem, interval: float) -> None:
        interval = checked_number("checkpoint interval", interval, minimum=0.0, what=SECONDS)
        check_writable(path)
        self.path, self.interval = path, interval
        ending = os.path.splitext(os.fspath(path))[1].lower()
        self._format = ending[1:] if ending in (".npy", ".i32") else "tsplib"
        self.problem = problem
        self._pace = Pace(interval)
        self._written: int | float | None = None
        # Seconds of a write: text of ten million cities takes about one; corrected by the first write.
        self.cost = 1.5e-7 * problem.n

    def due(self, length: int | float, remaining: float | None) -> bool:
        """Tell whether a tour of this length should be written now, with this much time left."""
        return self._pace.is_due() and self.fits(length, remaining)

    def fits(self, length: int | float, remaining: float | None) -> bool:
        """Tell whether a tour of this length is news, and whether there is time to write it."""
        return self._is_news(length) and (remaining is None or remaining > 3.0 * self.cost)

    def write(self, tour: NDArray[np.int32], length: int | float) -> None:
        """Write a checked tour of this exact length, unless a shorter or equal one is there from this run."""
        from warptsp.io import write_tour

        if not self._is_news(length):
            return
        begun = time.monotonic()
        write_tour(self.path, tour, self.problem, format=self._format)
        self.cost = time.monotonic() - begun
        self._written = length
        self._pace.wrote(self.cost)
        logger.debug("checkpoint of length %s written to %s", length, os.fspath(self.path))

    def keep(self, tour: NDArray[np.int32], length: int | float) -> None:
        """Write, as `write` does, in the course of a search, which a full disk must not cost."""
        try:
            self.write(tour, length)
        except WarpTSPError as error:
            logger.warning("checkpoint not written: %s", error)

    def _is_news(self, length: int | float) -> bool:
        return self._written is None or length < self._written
