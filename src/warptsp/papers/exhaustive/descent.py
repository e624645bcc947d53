"""Best-improvement descent, which the exhaustive methods share: pass over a whole neighborhood, apply its
best move, until no move shortens the tour.

Of equally good moves the one with the lowest number is applied, so that runs repeat. All distances that
decide are those of the metric in double precision.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar, cast

import numpy as np

import warptsp._native as _native
from warptsp._checks import check_ranges
from warptsp.backends.instance import has_dummy
from warptsp.errors import InvalidOption
from warptsp.machine import ordinals
from warptsp.methods.first_tour import start_tour
from warptsp.methods.kernels import search_on_device
from warptsp.methods.launch import check_block
from warptsp.methods.method import Method
from warptsp.papers.exhaustive.cuda_plan import kernel_sources
from warptsp.papers.exhaustive.neighborhood import (
    MAX_CITIES_CPU,
    MAX_GRID,
    NEIGHBORHOODS,
    THREE_OPT,
    Launch,
    Sought,
    Start,
)
from warptsp.run import limit_of
from warptsp.run.snapshots import turned_to_first

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warptsp.backends.cuda.compiler import Source
    from warptsp.backends.cuda.device import Device
    from warptsp.methods.protocol import Run
    from warptsp.papers.exhaustive.cuda import CudaDescent
    from warptsp.problem import Problem

P = TypeVar("P", bound="DescentParams")
SLICE = 0.05  # seconds between two reports


@dataclass(frozen=True, slots=True)
class ExhaustiveParams:
    """Parameters of every descent in one neighbourhood.

    Attributes
    ----------
    block, grid : int or None
        Threads per block and blocks of the evaluation on a GPU; None plans them.
    jobs : int or None
        Moves (3-opt: triples) that a thread evaluates, which determines the grid.
    passes : int or None
        Passes after which it ends, local optimum or not; None for no limit.
    """

    neighborhood: ClassVar[str]  # by its name
    block: int | None = None
    grid: int | None = None
    jobs: int | None = None
    passes: int | None = None

    def __post_init__(self) -> None:
        check_block(self.block)
        check_ranges(self, grid=(1, MAX_GRID), jobs=(1, None), passes=(1, None))
        if self.grid is not None and self.jobs is not None:
            raise InvalidOption(
                f"grid {self.grid} and jobs {self.jobs}: one follows from the other; give one of them"
            )

    @property
    def sought(self) -> Sought:
        launch = Launch(self.block, self.grid, self.jobs)
        return Sought((NEIGHBORHOODS[self.neighborhood],), self.passes, launch)


class DescentParams(Protocol):
    """Parameters of any descent."""

    @property
    def sought(self) -> Sought:
        """What the descent is asked for."""


def descend(problem: Problem, run: Run, params: DescentParams) -> None:
    """Descend from the run's start tour until no move shortens it, or the run says stop."""
    sought = params.sought
    first = start_tour(problem, run)
    if first is None:
        return
    tour = turned_to_first(problem, first)
    _check_order(tour, sought.before)
    run.offer(tour)

    def search(run: Run, device: Device | None) -> None:
        start = Start.of(problem, tour, sought, run.token)
        if start is None:
            return
        if device is None:
            _proceed(run, descent_on_cpu(start, run.threads), start)
        else:
            from warptsp.papers.exhaustive.cuda import CudaDescent

            _proceed(run, CudaDescent(device, start), start)

    # With no kicks at all every report says stop, and is not heeded.
    too_many = THREE_OPT in sought.neighborhoods and problem.n > MAX_CITIES_CPU
    meanwhile = None if too_many or run.kick_limit == 0 else search
    search_on_device(run, search, sources=lambda: _sources(problem, sought), meanwhile=meanwhile, same=True)


def descent_on_cpu(start: Start, threads: int) -> _native.Descent:
    """Return a descent on so many threads of the CPU."""
    instance, sought = start.instance, start.sought
    return _native.Descent.create(
        neighborhoods=[neighborhood.number for neighborhood in sought.neighborhoods],
        distances=instance.distances(),
        tour=start.tour,
        fixed_edges=instance.fixed_edges,
        tolerance=instance.tolerance,
        threads=threads,
        kept=sought.kept,
        before=sought.before,
    )


def descent_method(
    name: str,
    summary: str,
    params: type[P],
    run: Callable[[Problem, Run, P], None] = descend,
    **more: Any,
) -> Method[P]:
    """Return the method of a descent; `more` are other fields."""
    return Method(
        name=name,
        summary=summary,
        run=run,
        params=params,
        ends=True,
        devices=("cpu", "cuda"),
        kernels=lambda problem: _sources(problem, params().sought),
        explain_launch=_explain_launch,
        **more,
    )


def _sources(problem: Problem, sought: Sought) -> Iterable[Source]:
    for neighborhood in sought.neighborhoods:
        yield from kernel_sources(problem, neighborhood, sought.launch)


def _explain_launch(problem: Problem, where: str, params: DescentParams) -> str:
    from warptsp.backends.cuda.device import Device
    from warptsp.backends.cuda.occupancy import Chip
    from warptsp.papers.exhaustive.cuda import Stage

    sought = params.sought
    n = problem.n + has_dummy(problem)

    def explained(gpu: Device) -> str:
        stages = (Stage.of(gpu, problem, n, each, sought) for each in sought.neighborhoods)
        return "\n".join([f"launch       {gpu.name}:", *(f"  {stage.describe(gpu, n)}" for stage in stages)])

    if where.startswith("sm_"):
        return explained(cast("Device", Chip.of(where)))  # it has all that plans ask of one
    with Device.open(ordinals(where)[0]) as device:
        return explained(device)


def _check_order(tour: NDArray[np.int32], before: Sequence[tuple[int, int]]) -> None:
    place = np.argsort(tour)
    for a, b in before:
        if place[a] > place[b]:
            raise InvalidOption(
                f"before: the start tour has city {a} at place {place[a]}, behind city {b} at place "
                f"{place[b]}; give a start tour in which all pairs are in order"
            )


def _proceed(run: Run, descent: _native.Descent | CudaDescent, start: Start) -> None:
    """Descend in slices, and report."""
    run.enter("descent")
    instance, passes = start.instance, start.sought.passes
    complete, done = False, 0

    def tour() -> NDArray[np.int32]:
        return instance.open(descent.tour())

    def report() -> bool:
        nonlocal done
        counters = descent.counters()
        done = int(counters["passes"])
        length = descent.length - instance.closing
        return run.update(length=length, kicks=0, tour=tour, phase="descent", **counters)

    # The first pass of many cities takes a minute. With no kicks at all every report says stop.
    stop = report() and run.kick_limit != 0
    while not (complete or stop or done == passes):
        complete = descent.proceed(SLICE, -1 if passes is None else passes - done, run.token)
        stop = report()
    if passes is not None and done >= passes and not complete:
        run.report_limit(limit_of(passes, "pass", "passes"))
    run.offer(tour())
