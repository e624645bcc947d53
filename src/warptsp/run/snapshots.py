"""Tours that a run had on its way, a few of them, kept for pictures."""

import math
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from warptsp.problem import Problem
from warptsp.problem.tours import beginning_with
from warptsp.result import Snapshot

SHARE = 0.05  # of the run, at most, that taking them may cost
FINENESS = 2  # tours considered for each of the snapshots, were they spread evenly


class Recorder:
    """Keeps the first tour of a run and some of the shorter ones after it, evenly over the logarithm of time.

    When there is no room for another one, that one goes whose neighbours are closest together. So the end of
    the run need not be known, and memory holds `limit` tours at most.

    `limit` is the number of snapshots in the end, the best tour included; 1 or more.
    """

    def __init__(self, problem: Problem, limit: int) -> None:
        self._problem = problem
        self._limit = limit
        self._kept: list[Snapshot] = []
        self._next = 0.0
        self._cost = 1e-7 * problem.n  # seconds; corrected by the first one

    def due(self, length: int | float, elapsed: float, remaining: float | None) -> bool:
        """Tell whether a tour of this length should be taken now, with this much time left."""
        if self._limit < 2 or elapsed < self._next:
            return False
        is_news = not self._kept or length < self._kept[-1].length
        return is_news and (remaining is None or remaining > 3.0 * self._cost)

    def take(self, tour: Callable[[], NDArray[np.int32]], elapsed: float, threads: int) -> None:
        """Keep a copy of this tour if it is shorter than the last one, and goes through no missing arc."""
        begun = time.monotonic()
        cities = turned_to_first(self._problem, np.array(tour(), dtype=np.int32))
        cities.flags.writeable = False
        length = self._problem.length(cities, threads=threads)
        most = self._kept[-1].length if self._kept else self._problem.wall
        if most is None or length < most:
            self._kept.append(Snapshot(elapsed, length, cities))
            # One place is the best tour's.
            if len(self._kept) > self._limit - 1:
                self._drop_one()
        self._cost = time.monotonic() - begun
        self._next = max(elapsed * (1.0 + 1.0 / (FINENESS * self._limit)), elapsed + self._cost / SHARE)

    def finish(self, best: Snapshot) -> tuple[Snapshot, ...]:
        """Return the snapshots, with the tour of the result as the last one."""
        before = [kept for kept in self._kept if kept.length > best.length]
        if before:
            best = best._replace(seconds=max(best.seconds, before[-1].seconds))
        return (*before, best)

    def _drop_one(self) -> None:
        # The first one stays, and so does the last as long as there is another one.
        if len(self._kept) < 3:
            del self._kept[-1]
            return
        when = [math.log(max(kept.seconds, 1e-6)) for kept in self._kept]
        apart = [after - before for before, after in zip(when, when[2:], strict=False)]
        del self._kept[1 + apart.index(min(apart))]


def turned_to_first(problem: Problem, tour: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return a closed tour from city 0 on, a path as it is."""
    if problem.open is not None or not problem.n or tour[0] == 0:
        return tour
    return beginning_with(tour, 0)
