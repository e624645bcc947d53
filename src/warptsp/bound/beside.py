"""The bound beside a run: computed while the search goes on, in a thread of its own."""

import logging
import math
import threading
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

import warptsp._native as _native
from warptsp._checks import checked_number, shown
from warptsp.bound.held_karp import ITERATIONS, lower_bound, searched_places
from warptsp.errors import InvalidOption
from warptsp.problem import Problem

logger = logging.getLogger(__name__)

SHARE = 0.1
"""Of the time of all threads of a run, at most, if nobody asked for more."""
SECONDS_TO_BEGIN = 1e-3
SECONDS_PER_CITY = 3e-5  # one thread; measured from 10 000 to a million cities (docs/performance/bounds.md)
SECONDS_PER_ENTRY = 3e-8  # of a matrix
WORTH = 0.4  # of the time that the first step takes: with less the bound is some per cent lower
STEPS = (ITERATIONS, 3 * ITERATIONS, 10 * ITERATIONS)  # after the last one there is hardly more to gain
MAX_CITIES = 2_000_000  # beyond which its memory, 250 bytes a city, is not taken unasked
GRACE = 0.05  # seconds that a search waits for its bound in any case, which few cities need less of
TO_END = 0.005, 7e-7  # seconds, and for each city: from a request to its end (up to a million cities)
PATIENCE = 0.02  # seconds between two looks at what else happens, while a run waits for its bound


def checked_bound(bound: object) -> float | str | None:
    """Return what `solve` was told of a bound: ``"auto"``, ``"lp"``, seconds, or None for none."""
    if bound is None or bound is False:
        return None
    if isinstance(bound, str) and bound in ("auto", "lp"):
        return bound
    if isinstance(bound, (str, bool)):
        raise InvalidOption(f'bound: {shown(bound)} is not "auto", "lp", False or a number of seconds')
    return checked_number("bound", bound, minimum=0.0, what='"auto", "lp", False or a number of seconds')


class BoundBeside:
    """A lower bound that grows while a search runs.

    It is computed in steps of more and more iterations, each from the tour that the search has then, and each
    in a thread of its own. The search is not kept waiting, and its tours do not depend on it.

    Of a run with so many `threads` and a `limit` in seconds, it may take the seconds that are `wanted`; for
    "auto", and for "lp", which says what follows the search, at most `SHARE` of the time of all threads; and
    what it needs if it `is_target`, by which the run may end. The problem is a symmetric one.
    """

    def __init__(
        self,
        problem: Problem,
        wanted: str | float,
        *,
        threads: int,
        is_target: bool,
        limit: float | None = None,
    ) -> None:
        self.value: int | float | None = None  # which no tour is below
        self.error: BaseException | None = None  # what ended it; a mistake of this package
        self._problem = problem
        places = searched_places(problem, limit)
        self._searched = problem if places is None else places.problem
        self._seconds = None if isinstance(wanted, str) else wanted
        self._is_target = is_target
        self._threads = threads
        self._step = 0
        self._used = 0.0
        self._begun = 0.0
        self._token = _native.StopToken()
        self._thread: threading.Thread | None = None
        if self._seconds is None and not is_target and self._searched.n > MAX_CITIES:
            self._step = len(STEPS)

    def offer(
        self,
        tour: Callable[[], NDArray[np.int32]],
        *,
        elapsed: float,
        planned: float | None,
        remaining: float | None,
    ) -> None:
        """Call for a tour of the search, if it is time for a step.

        Of the run so many seconds have elapsed, it is planned to take so many, and must have ended when no
        more are remaining, where that is known.
        """
        if self._step == len(STEPS) or self._is_running():
            return
        most = self._most(remaining)
        share = min(1.0, SHARE * self._threads) * (elapsed if planned is None else planned)
        allowed = min(most, self._allowed(math.inf if self._is_target else share))
        # Of a time that is known the first step may be all; otherwise it is cheap by what has gone by.
        enough = WORTH if self._step == 0 and planned is not None else 1.0
        if allowed > 0.0 and (self._seconds is not None or allowed >= enough * self._seconds_needed()):
            # Limited by its work where nobody has said seconds: a busy machine does not spoil it.
            seconds = most if self._seconds is None else allowed
            self._begin(tour(), allowed, seconds, max(1, int(SHARE * self._threads)))

    def finish(
        self, tour: NDArray[np.int32], spent: float, remaining: float | None, end: Callable[[], bool]
    ) -> None:
        """Wait for a bound after a search of so many seconds, if there is none yet and it is worth it.

        `end` is asked now and then whether to wait no longer.
        """
        most = self._most(remaining)
        allowed = min(most, self._allowed(SHARE * spent))
        seconds = min(most, allowed + GRACE)
        if self._thread is None and self._step < len(STEPS):
            if allowed > 0.0 and (self._seconds is not None or allowed >= WORTH * self._seconds_needed()):
                self._begin(tour, allowed, seconds, self._threads)
        elif self.value is None:
            self._token.set_deadline(time.monotonic() + seconds)
        else:
            self._token.request()
        thread, until = self._thread, time.monotonic() + (math.inf if remaining is None else remaining)
        # Time limits are kept, also by what does not end at once: it ends by itself soon afterwards.
        while thread is not None and thread.is_alive() and time.monotonic() < until:
            if end():
                self._token.request()
            thread.join(PATIENCE)

    def close(self) -> None:
        """End what is being computed; its thread ends soon afterwards."""
        self._token.request()

    def proves(self, length: int | float | None) -> bool:
        """Whether no tour is shorter than this one.

        Of lengths that are integers: others are sums whose last digits depend on how they were made.
        """
        return (
            self._problem.integral and length is not None and self.value is not None and length <= self.value
        )

    def _is_running(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def _most(self, remaining: float | None) -> float:
        """Return the seconds in which it must have ended, where so many remain of the run."""
        to_end = TO_END[0] + TO_END[1] * self._problem.n
        return math.inf if remaining is None else max(0.0, remaining - to_end)

    def _allowed(self, seconds: float) -> float:
        """Return how much longer it may take, of so many seconds if nobody has said of how many."""
        used = self._used + (time.monotonic() - self._begun if self._is_running() else 0.0)
        return max(0.0, (seconds if self._seconds is None else self._seconds) - used)

    def _seconds_needed(self) -> float:
        problem = self._searched
        entries = 0 if problem.matrix is None else problem.n**2
        seconds = SECONDS_PER_CITY * problem.n + SECONDS_PER_ENTRY * entries
        return SECONDS_TO_BEGIN + seconds * STEPS[self._step] / ITERATIONS

    def _begin(self, tour: NDArray[np.int32], work: float, seconds: float, threads: int) -> None:
        """Begin a step of as many iterations as take `work` seconds of a thread; it ends after `seconds`."""
        tour = np.array(tour, dtype=np.int32)
        part = 1.0 if self._seconds is not None else min(1.0, work / self._seconds_needed())
        iterations = max(1, int(part * STEPS[self._step]))
        self._step += 1
        self._begun = time.monotonic()
        self._token.set_deadline(self._begun + seconds)
        thread = threading.Thread(
            target=self._compute, args=(tour, iterations, threads), name="warptsp lower bound", daemon=True
        )
        try:
            thread.start()
        except RuntimeError as error:
            self._step = len(STEPS)
            logger.warning("no lower bound: %s; bound=False does without", error)
        else:
            self._thread = thread

    def _compute(self, tour: NDArray[np.int32], iterations: int, threads: int) -> None:
        try:
            found = lower_bound(
                self._problem,
                tour,
                iterations=iterations,
                threads=threads,
                device="cpu",  # a GPU has the search
                token=self._token,
            )
        except MemoryError:
            self._step = len(STEPS)
            logger.warning("there is not enough memory for a lower bound; bound=False does without")
        except Exception as error:
            self._step, self.error = len(STEPS), error
        else:
            if found.certified and (self.value is None or found.value > self.value):
                self.value = found.value
            self._used += time.monotonic() - self._begun
