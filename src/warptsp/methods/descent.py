"""Best-improvement descent, which the exhaustive methods share: pass over a whole neighborhood, apply its
best move, until no move shortens the tour.

Of equally good moves the one with the lowest number is applied, so that runs repeat. All distances that
decide are those of the metric in double precision.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np

from warptsp import _native
from warptsp.backends.instance import SearchInstance
from warptsp.errors import InvalidOption

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warptsp.problem import Problem
    from warptsp.run import Run

SLICE = 0.05  # seconds between two reports
LARGEST_BLOCK = 1024  # threads
LARGEST_GRID = 2**31 - 1  # blocks


class Neighborhood(IntEnum):
    """What is passed over; the numbers are those of native/descent.h."""

    TWO_OPT = 0
    THREE_OPT = 1
    SWAP = 2


def gpu_lacks(problem: Problem) -> str | None:
    """Return what the exhaustive methods cannot do about this problem on a GPU, None if they can do all."""
    if problem.open is not None:
        return "the exhaustive methods on GPUs find closed tours, no open paths"
    if len(problem.fixed_edges):
        return "the exhaustive methods on GPUs cannot keep fixed edges"
    return None


def check_launch(block: int | None, grid: int | None, jobs: int | None, passes: int | None) -> None:
    """Check the options of launches and the number of passes.

    Raises
    ------
    InvalidOption
        For what no GPU can do.
    """
    if block is not None and not (32 <= block <= LARGEST_BLOCK and block % 32 == 0):
        raise InvalidOption(f"block: {block} is not a multiple of 32 between 32 and {LARGEST_BLOCK}")
    for name, value in (("grid", grid), ("jobs", jobs)):
        if value is not None and not 1 <= value <= LARGEST_GRID:
            raise InvalidOption(f"{name}: {value} is not a number between 1 and {LARGEST_GRID}")
    if grid is not None and jobs is not None:
        raise InvalidOption(f"grid {grid} and jobs {jobs}: one follows from the other; give one of them")
    if passes is not None and passes < 1:
        raise InvalidOption(f"passes: {passes} is not a number of passes, 1 or more")


def start_tour(problem: Problem, run: Run) -> NDArray[np.int32] | None:
    """Return the start tour, with city 0 first where it is closed; None if the token stopped it."""
    from warptsp.construct import construct

    run.enter("start tour")
    tour = construct(problem, run.start, seed=run.seed, threads=run.threads, token=run.token)
    if tour is None or problem.open is not None:
        return tour
    return np.roll(tour, -int(np.flatnonzero(tour == 0)[0]))


def descend_on_cpu(
    problem: Problem,
    run: Run,
    neighborhood: Neighborhood,
    tour: NDArray[np.int32],
    *,
    passes: int | None = None,
    kept: Iterable[int] = (),
    before: Iterable[tuple[int, int]] = (),
) -> None:
    """Descend from a tour on CPU threads until no move shortens it, or the run says stop."""
    run.offer(tour)
    instance = SearchInstance.build(problem, run.token)
    if instance is None:
        return
    number = np.empty(problem.n, np.int32)
    number[instance.city] = np.arange(problem.n, dtype=np.int32)
    closed = instance.close(tour)
    if instance.dummy is not None:
        closed = np.roll(closed, 1)  # the dummy city of an open path stays first
    matrix = instance.matrix
    integral = matrix is not None and problem.integral
    descent = _native.Descent.create(
        neighborhood=int(neighborhood),
        kind=problem.metric.kind,
        dummy=instance.dummy is not None,
        points=instance.points,
        int_matrix=np.ascontiguousarray(matrix, np.int32) if matrix is not None and integral else None,
        real_matrix=np.ascontiguousarray(matrix, np.float64) if matrix is not None and not integral else None,
        tour=np.ascontiguousarray(closed),
        fixed_edges=instance.fixed_edges,
        tolerance=instance.tolerance,
        threads=run.threads,
        kept=[int(number[city]) for city in kept],
        before=[(int(number[a]), int(number[b])) for a, b in before],
    )

    def best() -> NDArray[np.int32]:
        return instance.open(descent.tour())

    run.enter("descent")
    complete = stop = False
    while not (complete or stop):
        counters = descent.counters()
        left = -1 if passes is None else passes - counters["passes"]
        complete = descent.proceed(SLICE, left, run.token)
        counters = descent.counters()
        length = descent.length - instance.closing
        stop = report(run, length, best, counters) or counters["passes"] == passes
    run.offer(best())


def report(run: Run, length: float, tour: object, counters: dict[str, int]) -> bool:
    """Tell the run how far the descent is; True to stop. A limit of 0 kicks is the local optimum."""
    stop = run.update(length=length, kicks=0, tour=tour, phase="descent", **counters)  # type: ignore[arg-type]
    return stop and (run.kick_limit != 0 or run.token.stopped())
