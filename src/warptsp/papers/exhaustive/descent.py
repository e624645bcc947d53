"""Best-improvement descent, which the exhaustive methods share: pass over a whole neighborhood, apply its
best move, until no move shortens the tour.

Of equally good moves the one with the lowest number is applied, so that runs repeat. All distances that
decide are those of the metric in double precision.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Any

import numpy as np

import warptsp._native as _native
from warptsp.backends.instance import SearchInstance, tolerance_of
from warptsp.errors import InvalidOption, UnsupportedProblem
from warptsp.machine import ordinals
from warptsp.methods.first_tour import start_tour
from warptsp.methods.kernels import search_on_device
from warptsp.methods.launch import check_block
from warptsp.papers.exhaustive.cuda_plan import MAX_GRID, PRUNED_LACKS, Launch, Scale, kernel_sources
from warptsp.run import limit_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warptsp.backends.cuda.compiler import Source
    from warptsp.backends.cuda.device import Device
    from warptsp.methods.protocol import Run
    from warptsp.papers.exhaustive.cuda import CudaDescent
    from warptsp.problem import Problem

SLICE = 0.05  # seconds between two reports
MIN_CITIES = 4  # of the search's; with fewer no move changes the length


class Neighborhood(IntEnum):
    """What is passed over; the numbers are those of native/papers/exhaustive/descent.h."""

    TWO_OPT = 0
    THREE_OPT = 1
    SWAP = 2
    RELOCATE = 3


def check_launch(block: int | None, grid: int | None, jobs: int | None, passes: int | None) -> None:
    """Check the options of launches and the number of passes.

    Raises
    ------
    InvalidOption
        For what no GPU can do.
    """
    check_block(block)
    if grid is not None and not 1 <= grid <= MAX_GRID:
        raise InvalidOption(f"grid: {grid} is not a number of blocks between 1 and {MAX_GRID}")
    if jobs is not None and jobs < 1:
        raise InvalidOption(f"jobs: {jobs} is not a number of jobs, 1 or more")
    if grid is not None and jobs is not None:
        raise InvalidOption(f"grid {grid} and jobs {jobs}: one follows from the other; give one of them")
    if passes is not None and passes < 1:
        raise InvalidOption(f"passes: {passes} is not a number of passes, 1 or more")


def start_from_first(problem: Problem, run: Run) -> NDArray[np.int32] | None:
    """Return the start tour, with city 0 first where it is closed; None if the token stopped it."""
    tour = start_tour(problem, run)
    if tour is None or problem.open is not None:
        return tour
    return np.roll(tour, -int(np.flatnonzero(tour == 0)[0]))


def descend(
    problem: Problem,
    run: Run,
    neighborhood: Neighborhood,
    tour: NDArray[np.int32],
    *,
    passes: int | None = None,
    kept: Collection[int] = (),
    before: Collection[tuple[int, int]] = (),
    launch: Launch | None = None,
    pruned: bool = False,
    max_on_cpu: float = math.inf,
) -> None:
    """Descend from a tour until no move shortens it, or the run says stop.

    Parameters
    ----------
    passes : int, optional
        Stop after so many.
    kept, before
        For swaps: cities that keep their places, and pairs (a, b) of which a stays before b.
    launch : Launch, optional
        What is asked of the launches on a GPU.
    pruned : bool
        2-opt: skip what cannot shorten the tour more than the best move does.
    max_on_cpu : float
        Cities with which the CPU descends while kernels are compiled, at most.

    Raises
    ------
    UnsupportedProblem
        If nothing can be skipped with such distances.
    """
    if pruned and not can_prune(problem):
        raise UnsupportedProblem(PRUNED_LACKS)
    run.offer(tour)
    constraints: dict[str, Any] = {"kept": kept, "before": before, "pruned": pruned}

    def on_cpu(run: Run) -> None:
        _descend_on_cpu(problem, run, (neighborhood,), tour, passes, constraints)

    def on_gpu(device: Device) -> None:
        from warptsp.papers.exhaustive.cuda import CudaDescent

        tolerance = tolerance_of(problem)
        if _is_plain(problem):
            options = {**constraints, "launch": launch}
            descent = CudaDescent(device, problem, int(neighborhood), tour, tolerance, **options)
            _proceed(run, descent, passes, descent.tour, 0.0, pruned=pruned)
            return
        closed = _Closed.of(problem, run, tour, kept, before)
        if closed is not None:
            instance = closed.instance
            descent = CudaDescent(
                device,
                problem,
                int(neighborhood),
                closed.tour,
                tolerance,
                closed.kept,
                closed.before,
                launch,
                instance=instance,
            )
            _proceed(
                run,
                descent,
                passes,
                lambda: instance.open(descent.tour()),
                instance.closing,
                pruned=False,
            )

    def sources() -> Iterable[Source]:
        plain = _is_plain(problem)
        return kernel_sources(problem, int(neighborhood), launch or Launch(), pruned=pruned, plain=plain)

    # With no kicks at all every report says stop, and is not heeded.
    meanwhile = on_cpu if problem.n <= max_on_cpu and run.kick_limit != 0 else None
    search_on_device(run, on_cpu=on_cpu, on_gpu=on_gpu, sources=sources, meanwhile=meanwhile, same=True)


def descend_in_turn(
    problem: Problem,
    run: Run,
    neighborhoods: Sequence[Neighborhood],
    tour: NDArray[np.int32],
    *,
    passes: int | None = None,
) -> None:
    """Descend on the CPU until no move of any neighborhood shortens the tour, or the run says stop.

    Parameters
    ----------
    neighborhoods : sequence of Neighborhood
        Where one has no move that shortens the tour, the next is passed over; after a move the first again.
    passes : int, optional
        Stop after so many, over whichever neighborhood.
    """
    run.offer(tour)
    constraints = {"kept": (), "before": (), "pruned": False}
    _descend_on_cpu(problem, run, neighborhoods, tour, passes, constraints)


def can_prune(problem: Problem) -> bool:
    """Return whether boxes in the plane bound the distances of a problem, and all of its edges may go."""
    return Scale.of(problem) is not None and _is_plain(problem)


def _is_plain(problem: Problem) -> bool:
    """Tell whether a tour is closed and all of its edges may go."""
    return problem.open is None and len(problem.fixed_edges) == 0


def kernels_of(neighborhood: Neighborhood) -> Callable[[Problem], Iterable[Source]]:
    """Return the `Method.kernels` of a descent."""
    return lambda problem: kernel_sources(problem, int(neighborhood), Launch())


def launch_explainer(neighborhood: Neighborhood) -> Callable[[Problem, str], str]:
    """Return the `Method.explain_launch` of a descent."""

    def explain(problem: Problem, device: str) -> str:
        from warptsp.backends.cuda.device import Device
        from warptsp.papers.exhaustive.cuda import CudaDescent

        tour = np.arange(problem.n, dtype=np.int32)
        with Device.open(ordinals(device)[0]) as gpu:
            return f"launch       {gpu.name}: {CudaDescent(gpu, problem, int(neighborhood), tour, 0.5)}"

    return explain


@dataclass(frozen=True, slots=True, eq=False)
class _Closed:
    """A tour or path as a closed tour of an instance in the search's numbers, and what swaps must respect."""

    instance: SearchInstance
    tour: NDArray[np.int32]
    kept: list[int]
    before: list[tuple[int, int]]

    @classmethod
    def of(
        cls,
        problem: Problem,
        run: Run,
        tour: NDArray[np.int32],
        kept: Collection[int],
        before: Collection[tuple[int, int]],
    ) -> _Closed | None:
        """Return it; None if the token stopped it, or if there are too few cities for a move."""
        instance = SearchInstance.build(problem, run.token)
        if instance is None or instance.size < MIN_CITIES:
            return None
        number = np.empty(problem.n, np.int32)
        number[instance.city] = np.arange(problem.n, dtype=np.int32)
        closed = instance.close(tour)
        if instance.dummy is not None:
            closed = np.roll(closed, 1)  # the dummy city of an open path stays first
        return cls(
            instance,
            np.ascontiguousarray(closed),
            [int(number[city]) for city in kept],
            [(int(number[a]), int(number[b])) for a, b in before],
        )


def _descend_on_cpu(
    problem: Problem,
    run: Run,
    neighborhoods: Sequence[Neighborhood],
    tour: NDArray[np.int32],
    passes: int | None,
    constraints: dict[str, Any],
) -> None:
    closed = _Closed.of(problem, run, tour, constraints["kept"], constraints["before"])
    if closed is None:
        return
    instance = closed.instance
    descent = _native.Descent.create(
        neighborhoods=[int(neighborhood) for neighborhood in neighborhoods],
        distances=instance.distances(),
        dummy=instance.dummy is not None,
        tour=closed.tour,
        fixed_edges=instance.fixed_edges,
        tolerance=instance.tolerance,
        threads=run.threads,
        kept=closed.kept,
        before=closed.before,
        pruned=constraints["pruned"],
    )
    pruned = constraints["pruned"]
    _proceed(run, descent, passes, lambda: instance.open(descent.tour()), instance.closing, pruned=pruned)


def _proceed(
    run: Run,
    descent: _native.Descent | CudaDescent,
    passes: int | None,
    tour: Callable[[], NDArray[np.int32]],
    closing: float,
    *,
    pruned: bool,
) -> None:
    """Descend in slices, and report."""
    run.enter("descent")
    complete = stop = False
    done = 0
    pairs = run.problem.n * (run.problem.n - 1) // 2
    while not (complete or stop or done == passes):
        left = -1 if passes is None else passes - done
        complete = descent.proceed(SLICE, left, run.token)
        counters = descent.counters()
        done = int(counters["passes"])
        if pruned:
            counters["effective_evaluations"] = done * pairs
        stop = run.update(length=descent.length - closing, kicks=0, tour=tour, phase="descent", **counters)
    if passes is not None and done >= passes and not complete:
        run.report_limit(limit_of(passes, "pass", "passes"))
    run.offer(tour())
