"""Asymmetric distances, searched as symmetric ones between twice as many cities.

R. Jonker and T. Volgenant, "Transforming asymmetric into symmetric traveling salesman problems", Operations
Research Letters 2 (1983) 161-163. City i becomes a pair: city 2i, where it is entered, and city 2i + 1, where
it is left, joined by a fixed edge of length 0. From where i is left to where j is entered it is as far as
from i to j. All other edges are walls, longer than any distance. Without walls a tour enters and leaves the
cities in turn, so that it is a directed tour of the same length, read in the one direction or the other. And
a tour through walls is never shorter than a directed one: cut at its walls it falls into directed paths,
which as many edges join to a directed tour, each of them shorter than a wall.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from warptsp.construct.patching import NAME, patched
from warptsp.methods.first_tour import start_tour
from warptsp.methods.protocol import Run, View, ViewedRun
from warptsp.problem import OpenPath, Problem
from warptsp.problem.values import EXACT_INTEGERS


def run_doubled(problem: Problem, run: Run, search: Callable[[Problem, Run], None]) -> None:
    """Let a search that keeps fixed edges work on an asymmetric problem.

    It is given the symmetric problem, and a run of it; `run` is told of directed tours alone.
    """
    run.enter("symmetric instance")
    run.report_counters(symmetric_cities=2 * problem.n)
    doubled = Doubled(problem)
    start = doubled.start(run)
    if start is None:
        return  # stopped
    run.offer(start)
    search(doubled.problem, ViewedRun(run, doubled.view(run, start)))


class Doubled:
    """The symmetric instance of 2n cities that stands for an asymmetric one, with walls longer than any other
    edge."""

    def __init__(self, original: Problem) -> None:
        matrix = original.given_matrix()
        self.original = original
        n = original.n
        wall = 2 * original.distance_bound + 1 if original.integral else 2 * original.distance_bound or 1.0
        whole = original.integral and wall <= EXACT_INTEGERS
        small = whole and wall <= np.iinfo(np.int32).max
        both = np.empty((2 * n, 2 * n), dtype=np.int32 if small else np.int64 if whole else np.float64)
        both[1::2, ::2] = matrix
        both[::2, 1::2] = matrix.T
        np.fill_diagonal(both[1::2, ::2], 0)
        np.fill_diagonal(both[::2, 1::2], 0)
        for side in (both[::2, ::2], both[1::2, 1::2]):
            side[...] = wall
            np.fill_diagonal(side, 0)
        pairs = np.arange(2 * n, dtype=np.int32).reshape(n, 2)
        ends = None
        if original.open is not None:
            start, end = original.open.start, original.open.end
            ends = OpenPath(None if start is None else 2 * start, None if end is None else 2 * end + 1)
        arcs = original.fixed_edges
        fixed = np.concatenate([pairs, np.stack([2 * arcs[:, 0] + 1, 2 * arcs[:, 1]], axis=1)])
        self.problem = Problem.from_matrix(both, fixed_edges=fixed, open=ends)

    def start(self, run: Run) -> NDArray[np.int32] | None:
        """Return the directed tour that a run is to start with; None if it was stopped."""
        if isinstance(run.start, np.ndarray):
            return run.start
        if run.start == NAME:
            run.enter("start tour")
            return patched(self.original, run.token, run.threads)
        made = start_tour(self.problem, run)
        return None if made is None else self.directed(made)

    def view(self, run: Run, start: NDArray[np.int32]) -> View:
        """Return how a method on the symmetric instance sees a run that begins with this directed tour."""

        def expect(tour: NDArray[np.int32] | None, seconds: float = 0.0) -> None:
            run.expect(None if tour is None else run.best, seconds)

        return View(
            problem=self.problem,
            start=self.doubled(start),
            best=lambda: None if run.best is None else self.doubled(run.best),
            offer=self.directed,
            report=lambda report: report.with_tour(self.directed),
            expect=expect,
        )

    def doubled(self, tour: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the tour of the symmetric instance that is this directed one."""
        return np.repeat(2 * tour, 2) + np.tile(np.array([0, 1], dtype=np.int32), len(tour))

    def directed(self, tour: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the directed tour that a tour of the symmetric instance is; with walls, a shorter one."""
        if self.original.open is None and tour[0] // 2 != tour[1] // 2:
            tour = np.roll(tour, 1)
        backwards, cities = tour[::2] % 2, tour[::2] // 2
        turns = np.flatnonzero(backwards != np.roll(backwards, 1))
        if self.original.open is not None:
            turns = turns[turns > 0]
        elif len(turns):
            # The first path begins behind a wall.
            backwards, cities = np.roll(backwards, -turns[0]), np.roll(cities, -turns[0])
            turns = turns[1:] - turns[0]
        paths = np.split(cities, turns)
        forwards = [
            path[::-1] if backwards[at] else path for at, path in zip([0, *turns], paths, strict=True)
        ]
        return np.concatenate(forwards).astype(np.int32)
