"""Random-restart hill climbing: random tours, each improved by best-improvement 2-opt to a local optimum.

M. A. O'Neil and M. Burtscher, "Rethinking the parallelization of random-restart hill climbing: a case study
in optimizing a 2-opt TSP solver for GPU execution", GPGPU-8 (2015). A climber is one random tour and its
descent; climber k of a seed is the same on every device, and of equally short tours that of the first climber
wins, so the result of N climbers depends on neither threads nor launch.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from warptsp import _native
from warptsp.errors import InvalidOption, UnsupportedProblem
from warptsp.problem import Metric
from warptsp.stop._check import checked_count

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warptsp.problem import Problem
    from warptsp.run import Run

Version = Literal["auto", "shared-matrix", "global-matrix", "one-thread", "intra", "tiled", "tuned"]

PLANE = (Metric.EUC_2D, Metric.CEIL_2D, Metric.FLOOR_2D, Metric.EXACT_2D, Metric.ATT)
MOST_MATRIX_CITIES = 4000  # up to which the distances of other metrics are computed once
SLICE = 0.08  # seconds of climbing between two reports
# Float distances below it are rounded to the right integer but for a few; longer ones are not rounded at all.
LARGEST_ROUNDED = 2.0**22
# Beyond it the vectorised rounding of double distances would no longer be exact.
LARGEST_PLANE = 2.0**51
_LARGEST_INT = 2.0**28  # sums of four fit into 32 bits


@dataclass(frozen=True)
class HillClimbingParams:
    """How random-restart hill climbing goes about it.

    Attributes
    ----------
    version : str
        The kernel on a GPU. "auto" is the fastest one; the others are the document's: "shared-matrix" and
        "global-matrix" (one climber a thread, distances from a matrix in shared or global memory),
        "one-thread" (one climber a thread, distances computed), "intra" (one climber a block), "tiled" (with
        tiles of the tour in shared memory) and "tuned" (with the block size tuned to cities and GPU).
    climbers : int, optional
        End after so many; a limit on kicks means the same. Without either the stop criterion decides.
    block : int, optional
        Threads of a block on a GPU; chosen by the version if not given.
    """

    version: Version = "auto"
    climbers: int | None = None
    block: int | None = None

    def __post_init__(self) -> None:
        if self.climbers is not None:
            checked_count("climbers", self.climbers, minimum=1, what="a number of climbers, 1 or more")
        if self.block is not None and (self.block % 32 or not 32 <= self.block <= 1024):
            raise InvalidOption(f"block: {self.block!r} is not a multiple of 32 from 32 to 1024")


@dataclass(slots=True)
class Optima:
    """The local optima so far: how many, and how long they are."""

    scale: float
    count: int = 0
    total: int = 0
    best: int | None = None
    worst: int = -1
    counters: dict[str, float] = field(default_factory=dict)

    def add(self, lengths: NDArray[np.int64]) -> bool:
        """Count the climbers that have ended, which have a length; tell whether one is the best so far."""
        ended = lengths[lengths >= 0]
        if len(ended) == 0:
            return False
        best = int(ended.min())
        better = self.best is None or best < self.best
        self.best = best if self.best is None else min(best, self.best)
        self.worst = max(self.worst, int(ended.max()))
        self.count += len(ended)
        self.total += sum(map(int, ended)) if self.scale != 1.0 else int(ended.sum())
        self.counters = {
            "best_optimum": self.best / self.scale,
            "mean_optimum": self.total / self.count / self.scale,
            "worst_optimum": self.worst / self.scale,
        }
        return better


@dataclass(frozen=True, slots=True, eq=False)
class ClimbInstance:
    """A problem as climbers want it.

    Attributes
    ----------
    problem : Problem
    points : ndarray of float64 or None
        As the exact arithmetic takes them; None if there is a matrix.
    near : ndarray of float32, shape (n, 2), or None
        The plane's coordinates, relative to the centre, for a fast look; None for other metrics.
    rounded : bool
        Whether the fast look rounds as the metric does; else `near` is in a unit of its own.
    int_matrix, real_matrix : ndarray of int32 or float64, or None
    tolerance : float
        What a gain must exceed to be more than rounding.
    scale : float
        Lengths are counted in 1 / scale, so that sums are exact in 64 bits.
    """

    problem: Problem
    points: NDArray[np.float64] | None
    near: NDArray[np.float32] | None
    rounded: bool
    int_matrix: NDArray[np.int32] | None
    real_matrix: NDArray[np.float64] | None
    tolerance: float
    scale: float

    @classmethod
    def build(cls, problem: Problem, *, matrix: bool = False) -> ClimbInstance:
        """Prepare a problem; `matrix` asks for a matrix whatever the metric."""
        bound = problem.distance_bound
        tolerance = 0.5 if problem.integral else 1e-12 * bound
        scale = 1.0 if problem.integral else 2.0 ** (61 - math.frexp(problem.n * (bound or 1.0))[1])
        plane = problem.metric in PLANE and bound < LARGEST_PLANE
        if problem.matrix is None and not (matrix or (not plane and problem.n <= MOST_MATRIX_CITIES)):
            points = np.ascontiguousarray(problem.search_points(), dtype=np.float64)
            near, rounded = near_coordinates(points, problem, bound) if plane else (None, False)
            return cls(problem, points, near, rounded, None, None, tolerance, scale)
        if problem.integral and bound <= _LARGEST_INT:
            return cls(problem, None, None, False, distance_matrix(problem, np.int32), None, tolerance, scale)
        return cls(problem, None, None, False, None, distance_matrix(problem, np.float64), tolerance, scale)


def near_coordinates(
    points: NDArray[np.float64], problem: Problem, bound: float
) -> tuple[NDArray[np.float32], bool]:
    """Return coordinates for float distances, and whether those are to be rounded as the metric does."""
    low, high = points.min(axis=0), points.max(axis=0)
    relative = points - (low + (high - low) / 2)
    rounded = problem.integral and bound < LARGEST_ROUNDED
    if not rounded:
        # A power of two, so that squares neither vanish nor overflow.
        relative *= 2.0 ** -math.frexp(float(np.abs(relative).max()) or 1.0)[1]
    return np.ascontiguousarray(relative, dtype=np.float32), rounded


def distance_matrix(problem: Problem, kind: type) -> NDArray[Any]:
    """All distances, shape (n, n)."""
    if problem.matrix is not None:
        return np.ascontiguousarray(problem.matrix, dtype=kind)
    cities = np.arange(problem.n)
    matrix: NDArray[Any] = np.empty((problem.n, problem.n), dtype=kind)
    rows = max(1, 1_000_000 // problem.n)
    for begin in range(0, problem.n, rows):
        matrix[begin : begin + rows] = problem.distance(cities[begin : begin + rows, None], cities[None, :])
    return matrix


def run(problem: Problem, run: Run) -> None:
    """Climb until the number of climbers, or the run, says stop.

    Raises
    ------
    UnsupportedProblem
        For open paths and fixed edges.
    """
    params = HillClimbingParams(**run.params)
    if problem.open is not None or len(problem.fixed_edges):
        what = "open paths" if problem.open is not None else "fixed edges"
        raise UnsupportedProblem(
            f"method hill-climbing: random starts are closed tours without {what}; use the method lk"
        )
    limits = [limit for limit in (params.climbers, run.kick_limit) if limit is not None]
    _climb_on_threads(problem, run, params, min(limits, default=None))


def _climb_on_threads(problem: Problem, run: Run, params: HillClimbingParams, limit: int | None) -> None:
    if params.version != "auto":
        raise UnsupportedProblem(
            f"version {params.version} is a kernel of GPUs; on the CPU there is auto, or use device cuda"
        )
    run.enter("random tour")
    first = _native.random_tour(problem.n, run.seed, run.token)
    if first is None:
        return
    run.offer(first)
    instance = ClimbInstance.build(problem)
    climbers = _native.HillClimbers(
        n=problem.n,
        kind=problem.metric.kind,
        rounded=instance.rounded,
        tolerance=instance.tolerance,
        scale=instance.scale,
        points=instance.points,
        near=instance.near,
        int_matrix=instance.int_matrix,
        real_matrix=instance.real_matrix,
    )
    optima = Optima(instance.scale)
    given = run.start if isinstance(run.start, np.ndarray) else None

    def report() -> bool:
        return _report(run, optima, climbers.climbers, climbers.passes, climbers.moves)

    def poll() -> None:
        if report():
            run.token.request()

    run.enter("climbing")
    done, count = 0, run.threads
    while not report() and (limit is None or done < limit):
        count = count if limit is None else min(count, limit - done)
        begun = run.elapsed()
        run.token.poll = poll
        try:
            lengths, best, tour = climbers.climb(
                seed=run.seed, first=done, count=count, threads=run.threads, given=given, token=run.token
            )
        finally:
            run.token.poll = None
        if optima.add(lengths) or (best < 0 and len(tour)):
            run.offer(tour)
        done += count
        # As many as take a slice; a multiple of the threads wastes least at its end.
        rounds = SLICE / max(run.elapsed() - begun, 1e-6) * count / run.threads
        count = run.threads * int(min(max(1.0, rounds), 2.0 * count / run.threads + 1.0))
    report()


def _report(run: Run, optima: Optima, climbers: int, passes: int, moves: int, **counters: float) -> bool:
    assert run.best is not None
    assert run.best_length is not None
    n = run.problem.n
    figures = optima.counters | counters
    return run.update(
        length=run.best_length,
        kicks=climbers,
        tour=lambda: np.asarray(run.best),
        phase="climbing",
        climbers=climbers,
        passes=passes,
        evaluations=passes * (n * (n - 3) // 2),
        moves=moves,
        **figures,
    )
