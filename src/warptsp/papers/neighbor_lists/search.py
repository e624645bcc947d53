"""What the methods on neighbour lists share: the lists, the start tour, and the descent on CPU threads.

J. Fosin, D. Davidović and T. Carić, "A GPU implementation of local search operators for symmetric travelling
salesman problem", Promet - Traffic & Transportation 25 (2013). The moves are in
``native/papers/neighbor_lists/neighbor_moves.h``.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

import warptsp._native as _native
from warptsp.backends.cuda.tuning import CHAIN_THREADS
from warptsp.backends.instance import SearchInstance
from warptsp.errors import InvalidOption
from warptsp.methods.annealing import COLD
from warptsp.methods.first_tour import start_in_search
from warptsp.methods.kernels import search_on_device
from warptsp.methods.launch import check_block
from warptsp.run import limit_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warptsp.backends.cuda.compiler import Source
    from warptsp.backends.cuda.device import Device
    from warptsp.methods.protocol import Run
    from warptsp.papers.neighbor_lists.cuda import NeighborSearch as GpuSearch
    from warptsp.problem import Problem

logger = logging.getLogger(__name__)

NEIGHBORS = 40  # of a city, by default

MAX_NEIGHBORS = 1000
SLICE = 0.08  # seconds between two reports to the run


@dataclass(frozen=True, slots=True)
class DescentParams:
    """Parameters of the descents along neighbour lists.

    Attributes
    ----------
    neighbors : int
        Length m of a city's list: m // 4 from each quadrant around it, the others the nearest of the rest.
    improvement : {"best", "first"}
        "best" examines the whole neighbourhood in every pass; "first" only the cities whose don't-look bit is
        off, which are the ends of changed edges, and all of them in the last pass.
    moves : {"one", "many"}
        "one" makes one move at a time: the best of the pass, or with "first" the best of the first city in
        the queue that has one. "many" makes the best move of every city, the largest gain first, if it still
        fits the tour.
    edges : {"both", "next"}
        "both" takes out edges on either side of the cities. "next" is the document's neighbourhood, with
        improvement "best" only: city i, city j on its list and, with 3-opt, city k on that of j lose the
        edges to the cities that follow them, if j is nearer to i, and k to j, than the one that follows.
    block : int or None
        Threads per block on a GPU; None chooses.
    passes : int or None
        Passes over the neighbourhood after which to stop; None continues to the local optimum.
    """

    neighbors: int = NEIGHBORS
    improvement: Literal["best", "first"] = "best"
    moves: Literal["one", "many"] = "many"
    edges: Literal["both", "next"] = "both"
    block: int | None = None
    passes: int | None = None

    def __post_init__(self) -> None:
        check_neighbors(self.neighbors)
        check_block(self.block, CHAIN_THREADS)
        if self.improvement not in ("best", "first"):
            raise InvalidOption(f"improvement: {self.improvement!r} is neither 'best' nor 'first'")
        if self.moves not in ("one", "many"):
            raise InvalidOption(f"moves: {self.moves!r} is neither 'one' nor 'many'")
        check_edges(self.edges, self.improvement)
        if self.passes is not None and self.passes < 0:
            raise InvalidOption(f"passes: {self.passes} is less than 0")


def check_neighbors(neighbors: int) -> None:
    """Raise InvalidOption for an impossible length of a neighbour list."""
    if not 1 <= neighbors <= MAX_NEIGHBORS:
        raise InvalidOption(f"neighbors: {neighbors} is not between 1 and {MAX_NEIGHBORS}")


def check_edges(edges: str, improvement: str) -> None:
    """Raise InvalidOption for edges that moves cannot take out, or not with such an improvement."""
    if edges not in ("both", "next"):
        raise InvalidOption(f"edges: {edges!r} is neither 'both' nor 'next'")
    if edges == "next" and improvement != "best":
        raise InvalidOption("edges: 'next' goes with improvement 'best' only, not 'first'")


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """An instance in the numbering of the search, with its neighbour lists and a start tour."""

    instance: SearchInstance
    neighbors: NDArray[np.int32]
    tour: NDArray[np.int32]

    def starting_from(self, tour: NDArray[np.int32]) -> Prepared:
        """Return the same with another start tour, which has the numbers of the problem."""
        return replace(self, tour=np.ascontiguousarray(self.instance.close(tour)))


def prepare(problem: Problem, run: Run, neighbors: int) -> Prepared | None:
    """Number the cities, find the neighbour lists and make the start tour; None if the token stopped it.

    A list longer than all other cities is cut, and the nearest neighbours stand in for quadrants where there
    are no coordinates; both are logged, with a warning where somebody has asked for such a list.
    """
    n = problem.n
    if isinstance(run.start, np.ndarray):
        run.offer(run.start)
    if neighbors > n - 1:
        level = logging.INFO if neighbors == NEIGHBORS else logging.WARNING
        logger.log(level, "neighbors: %d, of %d other cities: the lists have %d", neighbors, n - 1, n - 1)
    count = min(neighbors, n - 1)
    if problem.matrix is not None:
        logger.info("a matrix of distances has no quadrants: the lists hold the nearest neighbours")
    run.enter("numbering")
    instance = SearchInstance.build(problem, run.token, run.threads)
    if instance is None:
        return None
    run.enter("neighbour lists")
    per_quadrant = 0 if problem.matrix is not None else count // 4
    lists = instance.candidates(count + (instance.dummy is not None), per_quadrant, run.threads, run.token)
    if lists is None:
        return None
    tour = start_in_search(instance, run)
    return None if tour is None else Prepared(instance, lists, np.ascontiguousarray(tour))


class NeighborSearch:
    """The search on a GPU, or on the CPU where there is none, and what it tells the run.

    Without a number of `chains` there are as many as the device has threads or multiprocessors. With
    `whole` all passes are over all cities and make the best move; a GPU then searches one chain.
    """

    def __init__(
        self,
        prepared: Prepared,
        run: Run,
        device: Device | None,
        *,
        three: bool,
        next_only: bool = False,
        chains: int | None = 1,
        block: int | None = None,
        whole: bool = False,
    ) -> None:
        instance = prepared.instance
        self.run = run
        self.instance = instance
        self.host = _native.NeighborSearch.create(
            distances=instance.distances(small=True),
            neighbors=prepared.neighbors,
            tour=prepared.tour,
            fixed_edges=instance.fixed_edges,
            tolerance=instance.tolerance,
            three=three,
            next_only=next_only,
            token=run.token,
        )
        self.gpu: GpuSearch | None = None
        if device is None:
            self.chains = run.threads if chains is None else chains
            return
        from warptsp.papers.neighbor_lists.cuda import NeighborSearch as GpuSearch
        from warptsp.papers.neighbor_lists.cuda_passes import PassSearch

        given = (device, instance, self.host.neighbors(), prepared.tour, self.host.best_length)
        if whole:
            self.chains = 1
            self.gpu = PassSearch(*given, three=three, next_only=next_only, block=block)
        else:
            self.chains = device.multiprocessors if chains is None else chains
            self.gpu = GpuSearch(*given, three=three, next_only=next_only, chains=self.chains, block=block)

    def descend(self, *, best: bool, many: bool, passes: int | None = None) -> bool:
        """Go down to a local optimum; False if the run said stop before."""
        stop = self.report("start tour")
        limit = -1 if passes is None else passes
        complete = False
        while not (stop or complete):
            complete = self._descend(best=best, many=many, passes=limit)
            stop = self.report("local search")
        if passes is not None and self.run.counters["passes"] >= passes:
            self.run.report_limit(limit_of(passes, "pass", "passes"))
        return not stop

    def _descend(self, *, best: bool, many: bool, passes: int) -> bool:
        """A slice of time of it; True when it is done."""
        if self.gpu is not None:
            return self.gpu.descend(best=best, many=many, passes=passes, seconds=SLICE)
        return self.host.descend(
            best=best,
            many=many,
            passes=passes,
            threads=self.run.threads,
            seconds=SLICE,
            token=self.run.token,
        )

    def iterate(
        self,
        *,
        count: int,
        always: bool,
        temperature: float,
        segment: int,
        best: bool = False,
        whole: bool = False,
    ) -> bool:
        """Make kicks in all chains, `count` in each, or as many as there is time for; False if the run said
        stop before.

        The temperature, in mean edge lengths of the tour to begin with, comes down to 0 before the last
        of them. After a kick the ends of changed edges are examined or, with `whole`, all cities, and the
        first move or, with `best`, the best one is made; on a GPU the first of both, or the second.
        """
        run = self.run
        tour = self.best()
        degrees = temperature * float(run.problem.length(tour)) / run.problem.n
        begun = run.elapsed()
        complete = stop = False
        while not (complete or stop):
            made = int((self.gpu or self.host).counters()["kicks"])
            remaining = run.remaining()
            horizon = count
            if remaining is not None and made > 0:
                horizon = min(count, made + int(made * remaining / max(run.elapsed() - begun, 1e-9)))
            cold = int((1 - COLD) * horizon)
            if self.gpu is not None:
                complete = self.gpu.iterate(
                    count=count,
                    always=always,
                    temperature=degrees,
                    cold=cold,
                    segment=segment,
                    seed=self.run.seed,
                    seconds=SLICE,
                )
            else:
                complete = self.host.iterate(
                    count=count,
                    always=always,
                    temperature=degrees,
                    cold=cold,
                    segment=segment,
                    chains=self.chains,
                    seed=self.run.seed,
                    threads=self.run.threads,
                    seconds=SLICE,
                    best=best,
                    whole=whole,
                    token=self.run.token,
                )
            stop = self.report("search")
        return complete

    def settle(self, *, best: bool = False) -> None:
        """Go from the best tour of all chains to a local optimum: after a kick only the ends of changed edges
        are examined, which may leave a move elsewhere. A limit on kicks has no say in it."""
        (self.gpu or self.host).return_to_best()
        complete = False
        while not (complete or self.run.token.stopped()):
            complete = self._descend(best=best, many=False, passes=-1)
            self.report("local search")

    @property
    def best_length(self) -> float:
        """Length of the best tour, as the search counts it."""
        return (self.gpu or self.host).best_length

    def report(self, phase: str) -> bool:
        """Tell the run how far the search is; True to stop."""
        counts = (self.gpu or self.host).counters()
        kicks = int(counts.pop("kicks"))
        length = self.best_length - self.instance.closing
        return self.run.update(length=length, kicks=kicks, tour=self.best, phase=phase, **counts)

    def best(self) -> NDArray[np.int32]:
        """The best tour, as the problem numbers its cities."""
        return self.instance.open((self.gpu or self.host).best())


def descend(problem: Problem, run: Run, params: DescentParams, *, three: bool) -> None:
    """Run a descent with 2-opt or, with `three`, 3-opt moves on the run's device."""
    prepared = prepare(problem, run, params.neighbors)
    if prepared is None:
        return
    next_only = params.edges == "next"
    best, many = params.improvement == "best", params.moves == "many"

    def work(run: Run, device: Device | None) -> None:
        search = NeighborSearch(
            prepared,
            run,
            device,
            three=three,
            next_only=next_only,
            block=params.block,
            whole=best and not many,
        )
        search.descend(best=best, many=many, passes=params.passes)
        run.offer(search.best())

    def on_cpu(run: Run) -> None:
        work(run, None)

    search_on_device(
        run,
        on_cpu=on_cpu,
        on_gpu=lambda device: work(run, device),
        sources=lambda: kernel_sources(
            problem, three=three, chains=not (best or many), whole=best and not many, next_only=next_only
        ),
        meanwhile=on_cpu,
        same=True,
    )


def kernel_sources(
    problem: Problem, *, three: bool, chains: bool, whole: bool = False, next_only: bool = False
) -> list[Source]:
    """Return the kernels of a search with these moves: by queue or in `chains` or not, or in `whole` passes
    of best improvement."""
    from warptsp.papers.neighbor_lists import cuda, cuda_passes

    if whole:
        return cuda_passes.kernel_sources(problem, three=three, next_only=next_only)
    return cuda.kernel_sources(problem, three=three, chains=chains, next_only=next_only)


def kernels_of(*, three: bool) -> Callable[[Problem], list[Source]]:
    """Return the `Method.kernels` of a descent."""
    return lambda problem: [
        source
        for whole in (False, True)
        for source in kernel_sources(problem, three=three, chains=False, whole=whole)
    ]
