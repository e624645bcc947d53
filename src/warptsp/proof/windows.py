"""Cuts of a large instance from windows, parts of it with linear programmes of their own.

What the best tour does between leaving a window and coming back is one edge there, which is kept. A window's
cuts hold for the whole instance once every other city is in one of their classes. So the linear programme of
all cities is solved a few times, with thousands of new cuts, and not in every round.
"""

import math
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

import warptsp._native as _native
from warptsp._native import Effort
from warptsp.proof.closed_instance import ClosedInstance, Stopped
from warptsp.proof.evidence import CutDescription
from warptsp.proof.node_solver import NodeSolver

FEWEST_CITIES = 2500
"""With fewer there are no windows. The bound of E3k.0 is 0.062 % below its best tour after 31 CPU seconds
with windows and after 42 without them, that of E10k.0 0.08 % after 130 and 0.12 % after 256."""
MOST_CITIES = 1250
"""Of a window; not tuned."""
SHARE = 0.5  # of the time that is left
POLL_SECONDS = 0.02


class Windows:
    """A division into windows of an instance with coordinates, along its best closed tour.

    Each thread works on a window, and cuts do not depend on their number; `report` is called after rounds.
    """

    def __init__(
        self,
        instance: ClosedInstance,
        tour: NDArray[np.int32],
        *,
        seed: int,
        token: _native.StopToken,
        threads: int,
        report: Callable[[], object],
    ) -> None:
        self._instance, self._tour, self._seed = instance, tour, seed
        self._token, self._report = token, report
        points = instance.seen.search_points()
        self._windows = _windows(points, np.arange(len(points), dtype=np.int32))
        self._threads = min(threads, len(self._windows))
        self._rounds = 0
        left = token.deadline() - time.monotonic()
        self._seconds = SHARE * max(0.0, left) * self._threads / len(self._windows)  # of a window

    def find(self, take: Callable[[CutDescription], object]) -> None:
        """Call ``take(cut)`` for every cut that is tight where the windows' linear programmes end."""
        if self._threads == 1:
            for window in self._windows:
                for cut in self._cuts_of(window, self._report):
                    take(cut)
            return

        from concurrent.futures import ThreadPoolExecutor, wait  # pools cannot be loaded while a process ends

        def count() -> None:
            self._rounds += 1

        reported = 0
        with ThreadPoolExecutor(self._threads) as pool:
            try:
                for future in [pool.submit(self._cuts_of, window, count) for window in self._windows]:
                    while not future.done():
                        wait([future], POLL_SECONDS)
                        if self._rounds > reported and not self._token.stopped():
                            reported = self._rounds
                            self._report()
                    for cut in future.result():
                        take(cut)
            except BaseException:
                self._token.request()
                raise

    def _cuts_of(self, cities: NDArray[np.int32], report: Callable[[], object]) -> list[CutDescription]:
        instance, token = self._instance, self._token
        if math.isfinite(self._seconds):
            token = _native.StopToken(token, self._seconds)
        inside = np.zeros(instance.size, dtype=bool)
        inside[cities] = True
        tour = np.roll(self._tour, -int(np.argmax(inside[self._tour])))  # begins in the window
        places = np.flatnonzero(inside[tour])
        window = tour[places]
        number = np.full(instance.size, -1, dtype=np.int32)
        number[window] = np.arange(len(window), dtype=np.int32)
        last = np.flatnonzero(np.diff(places, append=len(tour)) > 1)  # before the tour leaves
        joins = np.stack([last, (last + 1) % len(window)], axis=1).astype(np.int32)
        distances = instance.lengths[np.ix_(window, window)]
        distances[joins[:, 0], joins[:, 1]] = distances[joins[:, 1], joins[:, 0]] = 0
        kept = number[instance.fixed[inside[instance.fixed].all(axis=1)]]
        fixed = np.unique(np.sort(np.concatenate([joins, kept]), axis=1), axis=0)
        part = replace(instance, lengths=distances, fixed=fixed)
        along = np.arange(len(window), dtype=np.int32)
        try:
            solver = NodeSolver(part, along, seed=self._seed, token=token, report=report)
        except Stopped:
            return []
        for effort in Effort:
            if effort > Effort.LOCAL or solver.cut_at_root(effort) or token.stopped():
                break
        # A city outside is where the tour has come from.
        nearest = number[tour[np.maximum.accumulate(np.where(inside[tour], np.arange(len(tour)), 0))]]
        prices = solver.program.prices[len(window) :]
        cuts = []
        for row in range(solver.relaxation.rows):
            if row >= len(prices) or prices[row] > 0.0:  # of one that came later, nothing is known
                classes, lengths, bound, comb = solver.relaxation.cut(row)
                class_of = np.empty(instance.size, dtype=np.int32)
                class_of[tour] = classes[nearest]
                cuts.append((class_of, lengths, bound, comb))
        return cuts


def _windows(points: NDArray[np.float64], cities: NDArray[np.int32]) -> list[NDArray[np.int32]]:
    """Halve the cities across the longer side until they are few."""
    if len(cities) <= MOST_CITIES:
        return [cities]
    here = points[cities]
    axis = int(np.argmax(here.max(axis=0) - here.min(axis=0)))
    order = np.argsort(here[:, axis], kind="stable")
    half = len(cities) // 2
    return _windows(points, cities[order[:half]]) + _windows(points, cities[order[half:]])
