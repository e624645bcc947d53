"""Time that a run keeps at its end, of a time limit: to hand over a tour, to check it and to write it."""

import time

import numpy as np
from numpy.typing import NDArray

import warptsp._native as _native
from warptsp.problem.tours import WORTH_THREADS
from warptsp.run.settings import Settings

SAMPLE = 8_000  # cities from which the cost of checking a tour is estimated
HAND_OVER = 3e-8  # seconds a city to write out a tour and to let go of memory, where a method does not say
# And to make one, in the plane and on a sphere, on one thread, if it is stopped before its first.
FIRST_AID = 1.5e-7, 4e-7
# What threads gain for that and for the check, at most, where NumPy makes it and where native code does.
THREADS_GAIN, NATIVE_GAIN = 3.0, 12.0

# And the rest of the call: seconds, more for each city, and at most. Of limits of 10 and 20 ms of CPU time,
# 200 cities took 9.0 and 19.3 ms (median) with 0.002 for all, and 9.7 and 19.8 with 0.001 (log).
ENDING, ENDING_OF_CITY, MAX_ENDING = 0.001, 5e-7, 0.002


class Reserve:
    """The seconds of a run with a `limit` that are kept, and the token's deadline, earlier by as much."""

    def __init__(
        self,
        settings: Settings,
        limit: float | None,
        token: _native.StopToken,
    ) -> None:
        problem = settings.problem
        self._problem, self._started, self._checkpoint = problem, settings.started, settings.checkpoint
        self._token = token
        self.limit = limit
        self.was_stopped = False  # whether the token had stopped before its deadline was moved
        self.seconds = 0.0  # kept now
        # Cautiously: threads count as half their number.
        most = THREADS_GAIN if problem.metric.geographic else NATIVE_GAIN
        self._gain = min(max(1.0, 0.5 * settings.threads), most) if problem.n >= WORTH_THREADS else 1.0
        self._first_aid = FIRST_AID[problem.metric.geographic] * problem.n / self._gain  # seconds
        self._handing_over = self._first_aid
        if limit is not None:
            self.keep(self._estimated_check())

    def remaining(self, elapsed: float) -> float | None:
        """Return the seconds until a method must have returned; None without a limit."""
        return None if self.limit is None else max(0.0, self.limit - self.seconds - elapsed)

    def expect(self, tour: NDArray[np.int32] | None, handing_over: float) -> None:
        """Begin anew with what there would be to hand over from now on; see `Run.expect`."""
        if self.limit is None:
            return
        self.was_stopped = self.was_stopped or self._token.stopped()  # also if the deadline moves now
        self.seconds, self._handing_over = 0.0, handing_over
        self.keep(0.0 if tour is None else self._estimated_check(tour))

    def drop_first_aid(self) -> None:
        """Keep no time to make a first tour any more: it is there."""
        # Whoever has seen the end must not see it taken back.
        if self._handing_over == self._first_aid and not self._token.stopped():
            self.seconds, self._handing_over = 0.0, HAND_OVER * self._problem.n

    def keep(self, check: float) -> None:
        """Keep what a check that takes so many seconds needs, and what else there is to do."""
        if self.limit is None:
            return
        # At the end: one check and length, and the copies of the result.
        n = self._problem.n
        ending = min(MAX_ENDING, ENDING + ENDING_OF_CITY * n) + 3e-9 * n
        writing = 0.0 if self._checkpoint is None else self._checkpoint.cost
        needed = 1.1 * check + self._handing_over + writing + ending
        self.seconds = max(self.seconds, needed)
        self._token.set_deadline(self._started + self.limit - self.seconds)

    def _estimated_check(self, tour: NDArray[np.int32] | None = None) -> float:
        """Estimate the seconds that the check of a tour takes from pieces of it, or from random cities."""
        n = self._problem.n
        if n <= SAMPLE:
            return 0.0
        pieces = (
            [tour[k * max(len(tour) - SAMPLE, 0) // 4 :][: SAMPLE + 1] for k in (1, 2, 3)]
            if tour is not None
            else list(np.random.default_rng(0).integers(0, n, (3, SAMPLE + 1)))
        )
        seconds = []
        for cities in pieces:
            begun = time.monotonic()
            self._problem.distance(cities[:-1], cities[1:])
            seconds.append(time.monotonic() - begun)
        # Whether each city occurs once is a fifth of the work.
        return 1.25 * sorted(seconds)[1] * n / SAMPLE / self._gain
