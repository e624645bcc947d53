"""What symmetrical 2-opt and annealing share: the start, the device, the reports and the end of a run."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from warptsp.backends.instance import SearchInstance
from warptsp.errors import InvalidOption
from warptsp.methods.first_tour import start_tour
from warptsp.methods.kernels import search_on_device
from warptsp.methods.protocol import best_of
from warptsp.papers.symmetric.cpu import Circle, Order, search_on_threads

if TYPE_CHECKING:
    from numpy.typing import NDArray

    import warptsp._native as _native
    from warptsp.backends.cuda.compiler import Source
    from warptsp.backends.cuda.device import Device
    from warptsp.methods.protocol import Run
    from warptsp.papers.symmetric.cuda import CudaSymmetricSearch
    from warptsp.problem import Problem

# Chains of tours, all from the same start, on CPU threads or on a GPU.
SymmetricSearch: TypeAlias = "_native.SymmetricTours | CudaSymmetricSearch"

SLICE = 0.1  # seconds between two reports
SHARE = 0.2  # of the time, at most, for tours that are offered on the way
CLOCK_CYCLES = 35  # of an iteration of the document's hardware


class SymmetricRun:
    """A run on one device: its tours on the circle, and what is reported of them."""

    def __init__(
        self,
        run: Run,
        circle: Circle,
        chains: int | None,
        begin: Callable[[Circle, int | None], SymmetricSearch],
    ) -> None:
        self.run = run
        self.circle = circle
        self._begin = begin  # a search on the device, of so many chains
        self.search = begin(circle, chains)
        self._next = 0.0  # when a tour is offered again
        self._offered: int | float = 0  # moves of the search when the last one was
        self._before: dict[str, int | float] = {}  # counts of the search before
        self._tour: tuple[int | float, NDArray[np.int32]] | None = None  # after so many moves

    def anneal(self, temperature: float, cooling: float, iterations: int, spent: int, rotations: int) -> None:
        """Make so many rotations; see `_native.SymmetricTours.anneal`."""
        each = self.circle.steps_a_rotation
        self.search.anneal(
            temperature, cooling, iterations * each, spent * each, rotations * each, self.run.token
        )

    def tour(self) -> NDArray[np.int32]:
        """The best tour of all chains as they are now."""
        moves = self.search.counters()["moves"]
        if self._tour is None or self._tour[0] != moves:
            lengths = self.search.lengths()
            self._tour = moves, self.circle.tour(self.search.cities(int(np.argmin(lengths))))
        return self._tour[1]

    def report(self, phase: str, *, offer: bool | None = None) -> bool:
        """Report the best tour so far; True to stop.

        The chains' is included if it is to be offered: None asks the clock, since a long tour takes a
        while to be checked.
        """
        run = self.run
        if run.elapsed() >= self._next if offer is None else offer:
            self._offer()
        best, length = best_of(run)
        return run.update(length=length, kicks=0, tour=partial(np.copy, best), phase=phase, **self.counters())

    def counters(self) -> dict[str, int | float]:
        """What was done; in the document's terms too."""
        counts = self._counts()
        steps = int(counts.pop("steps"))
        quiet = int(counts.pop("quiet"))
        circle = self.circle
        size, each = len(circle.cities), circle.axes_an_iteration
        if circle.triples:
            del counts["evaluations"]
            return {"rows": steps, "passes": steps // circle.quiet_enough, **counts}
        if not circle.elements:
            rotations = steps // circle.steps_a_rotation
            return {"rotations": rotations, "passes": rotations // size, **counts}
        # The document stops one iteration earlier, without examining the segments of even length again in the
        # last iteration that made a move; ours is made and not counted.
        iterations = steps // each - (quiet >= each * size)
        # How many cycles the shifts past long segments take, it does not say.
        cycles = {"clock_cycles": CLOCK_CYCLES * iterations} if each == 2 else {}
        return {"iterations": iterations, **cycles, "passes": steps // (each * size), **counts}

    def finish(self) -> None:
        """Hand over what there is."""
        self._offer()

    def _offer(self) -> None:
        moves = self.search.counters()["moves"]
        if moves == self._offered:
            return
        begun, self._offered = self.run.elapsed(), moves
        self.run.offer(self.tour())
        ended = self.run.elapsed()
        self._next = ended + (ended - begun) / SHARE

    def descend(self) -> bool:
        """Go on to 2-optimal tours, or until the run says stop; True if they are."""
        complete = stop = False
        while not (complete or stop):
            complete = self.search.descend(SLICE, self.run.token)
            stop = self.report("descent", offer=complete or None)
        return complete

    def settle(self) -> None:
        """Descend from the tours of all chains, and from a better one that was found on the way: what the run
        returns is 2-optimal then, unless it is stopped before."""
        run = self.run
        if not self.descend():
            return
        best, _ = best_of(run)
        circle = self.circle
        if circle.random or not have_same_edges(best, self.tour(), closed=run.problem.open is None):
            counts = self._counts()
            rotations = int(counts["steps"]) // circle.steps_a_rotation
            self._before = {**counts, "steps": rotations, "quiet": 0}
            self.circle = Circle.of(
                circle.instance, best, order="threads", least_gain=circle.numbers.tolerance
            )
            self.search, self._offered, self._tour = self._begin(self.circle, 1), 0, None
            self.descend()

    def _counts(self) -> dict[str, int | float]:
        counts = self.search.counters()
        return {name: count + self._before.get(name, 0) for name, count in counts.items()}


def check_least_gain(least_gain: float) -> None:
    """Raise InvalidOption for what is no length that gains could be compared with."""
    if not (least_gain >= 0 and math.isfinite(least_gain)):
        raise InvalidOption(f"least_gain: {least_gain!r} is not a length, 0 or more")


def have_same_edges(one: NDArray[np.int32], other: NDArray[np.int32], *, closed: bool) -> bool:
    """Whether two tours have the same edges."""
    turned = np.roll(other, -int(np.flatnonzero(other == one[0])[0])) if closed else other
    backward = np.roll(turned[::-1], 1) if closed else turned[::-1]
    return np.array_equal(one, turned) or np.array_equal(one, backward)


def descend(search: SymmetricRun) -> None:
    """Go from the start tour to a local optimum: the work of methods that do nothing else."""
    if not search.report("start tour"):
        search.descend()


def run_symmetric(
    problem: Problem,
    run: Run,
    work: Callable[[SymmetricRun], None],
    *,
    order: Order,
    elements: int | None = None,
    least_gain: float = 0.0,
    chains: int | None = 1,
    block: int | None,
) -> None:
    """Make the start tour, put it on the circle of the run's device, and let `work` shorten it.

    Without a number of `chains` there are as many as a GPU runs at once, and one on the CPU.
    """
    start = start_tour(problem, run)
    if start is None:
        return
    run.offer(start)
    instance = SearchInstance.build(problem, run.token)
    if instance is None or run.token.stopped():
        return
    if instance.size < 4:
        return  # every tour is the same
    circle = Circle.of(instance, start, order=order, elements=elements, least_gain=least_gain)
    if run.token.stopped():
        return
    seed, threads = run.seed, run.threads

    def search(run: Run, device: Device | None) -> None:
        begin: Callable[[Circle, int | None], SymmetricSearch]
        if device is None:
            begin = partial(search_on_threads, seed=seed, threads=threads)
        else:
            from warptsp.papers.symmetric.cuda import CudaSymmetricSearch

            begin = partial(CudaSymmetricSearch, device, seed=seed, block=block)
        symmetric = SymmetricRun(run, circle, chains, begin)
        work(symmetric)
        symmetric.finish()

    same = work is descend  # the tour that it ends with is the same on every device
    meanwhile = search if same or run.time_limit is not None else None
    search_on_device(run, search, sources=lambda: kernels(problem), meanwhile=meanwhile, same=same)


def kernels(problem: Problem) -> list[Source]:
    """Return what runs on a GPU compile."""
    from warptsp.papers.symmetric.cuda import source_of

    return [source_of(problem)]
