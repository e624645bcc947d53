"""What the methods on neighbour lists share: the lists, the start tour, the search, and the descents.

J. Fosin, D. Davidović and T. Carić, "A GPU implementation of local search operators for symmetric travelling
salesman problem", Promet - Traffic & Transportation 25 (2013). The moves are in
``native/papers/neighbor_lists/neighbor_moves.h``.
"""

from __future__ import annotations

import logging
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

import warptsp._native as _native
from warptsp._checks import check_ranges
from warptsp.backends.instance import SearchInstance
from warptsp.errors import InvalidOption
from warptsp.methods.annealing import COLD
from warptsp.methods.first_tour import start_in_search
from warptsp.methods.kernels import search_on_device
from warptsp.methods.launch import check_block
from warptsp.methods.method import Method
from warptsp.papers.neighbor_lists.cuda_tuning import CHAIN_THREADS
from warptsp.papers.neighbor_lists.moves import Moves
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
    """Parameters of `neighbor-two-opt` and `neighbor-three-opt`.

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
        check_ranges(self, neighbors=(1, MAX_NEIGHBORS), passes=(0, None))
        check_lists(self.block, self.improvement, self.edges)


def check_lists(block: int | None, improvement: str, edges: str) -> None:
    """Raise InvalidOption for impossible values of what all methods on neighbour lists have."""
    check_block(block, CHAIN_THREADS)
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

    Without a number of `chains` there are as many as the device has threads or multiprocessors.
    """

    def __init__(
        self,
        prepared: Prepared,
        run: Run,
        device: Device | None,
        moves: Moves,
        *,
        chains: int | None = 1,
        block: int | None = None,
    ) -> None:
        instance = prepared.instance
        self.run = run
        self.instance = instance
        host = _native.NeighborSearch.create(
            distances=instance.distances(small=True),
            neighbors=prepared.neighbors,
            tour=prepared.tour,
            fixed_edges=instance.fixed_edges,
            tolerance=instance.tolerance,
            token=run.token,
            **asdict(moves),
        )
        self.search: _native.NeighborSearch | GpuSearch = host
        self._on_cpu: dict[str, Any] = {}
        if device is None:
            self._on_cpu = {"threads": run.threads, "token": run.token}
            self._chains = run.threads if chains is None else chains
            return
        from warptsp.papers.neighbor_lists.cuda import NeighborSearch as GpuSearch

        if moves.whole:
            chains = 1  # which all multiprocessors share
        self.search = GpuSearch(
            device,
            instance,
            host.neighbors(),
            prepared.tour,
            host.best_length,
            moves,
            chains=device.multiprocessors if chains is None else chains,
            block=block,
        )

    def descend(self, passes: int | None = None) -> bool:
        """Go down to a local optimum; False if the run said stop before."""
        stop = self.report("start tour")
        complete = False
        while not (stop or complete):
            complete = self._descend(-1 if passes is None else passes)
            stop = self.report("local search")
        if passes is not None and self.run.counters["passes"] >= passes:
            self.run.report_limit(limit_of(passes, "pass", "passes"))
        return not stop

    def _descend(self, passes: int = -1) -> bool:
        """A slice of time of it; True when it is done."""
        return self.search.descend(passes=passes, seconds=SLICE, **self._on_cpu)

    def iterate(
        self, *, count: int, always: bool, temperature: float, segment: int, everywhere: bool
    ) -> bool:
        """Make kicks in all chains, `count` in each, or as many as there is time for; False if the run said
        stop before.

        The temperature, in mean edge lengths of the tour to begin with, comes down to 0 before the last
        of them. After a kick the ends of changed edges are examined or, if `everywhere`, all cities.
        """
        run = self.run
        degrees = temperature * float(run.problem.length(self.best())) / run.problem.n
        begun = run.elapsed()
        on_cpu = self._on_cpu and {**self._on_cpu, "chains": self._chains, "everywhere": everywhere}
        complete = stop = False
        while not (complete or stop):
            made = int(self.search.counters()["kicks"])
            remaining = run.remaining()
            planned = count
            if remaining is not None and made > 0:
                planned = min(count, made + int(made * remaining / max(run.elapsed() - begun, 1e-9)))
            complete = self.search.iterate(
                count=count,
                always=always,
                temperature=degrees,
                cold=int((1 - COLD) * planned),
                segment=segment,
                seed=run.seed,
                seconds=SLICE,
                **on_cpu,
            )
            stop = self.report("search")
        return complete

    def settle(self) -> None:
        """Go from the best tour of all chains to a local optimum: after a kick only the ends of changed edges
        are examined, which may leave a move elsewhere. A limit on kicks has no say in it."""
        self.search.return_to_best()
        complete = False
        while not (complete or self.run.token.stopped()):
            complete = self._descend()
            self.report("local search")

    def report(self, phase: str) -> bool:
        """Tell the run how far the search is; True to stop."""
        counts = self.search.counters()
        kicks = int(counts.pop("kicks"))
        length = self.search.best_length - self.instance.closing
        return self.run.update(length=length, kicks=kicks, tour=self.best, phase=phase, **counts)

    def best(self) -> NDArray[np.int32]:
        """The best tour, as the problem numbers its cities."""
        return self.instance.open(self.search.best())


def kernel_sources(problem: Problem, moves: Moves, *, chains: bool = False) -> list[Source]:
    """Return `warptsp.papers.neighbor_lists.cuda.kernel_sources`, which is imported where a GPU is used."""
    from warptsp.papers.neighbor_lists import cuda

    return cuda.kernel_sources(problem, moves, chains=chains)


def descent(name: str, summary: str, *, three: bool, min_gpu_cities: int) -> Method[DescentParams]:
    """Return the method that makes 2-opt or, with `three`, 2-opt and all four pure 3-opt moves."""

    def run(problem: Problem, run: Run, params: DescentParams) -> None:
        prepared = prepare(problem, run, params.neighbors)
        if prepared is None:
            return
        moves = Moves(three, params.improvement == "best", params.moves == "many", params.edges == "next")

        def work(run: Run, device: Device | None) -> None:
            search = NeighborSearch(prepared, run, device, moves, block=params.block)
            search.descend(params.passes)
            run.offer(search.best())

        sources = partial(kernel_sources, problem, moves, chains=not moves.many)
        search_on_device(run, work, sources=sources, meanwhile=work, same=True)

    def kernels(problem: Problem) -> list[Source]:
        return [
            source
            for moves in (Moves(three), Moves(three, best=True))
            for source in kernel_sources(problem, moves)
        ]

    return Method(
        name=name,
        summary=summary,
        run=run,
        params=DescentParams,
        ends=True,
        devices=("cpu", "cuda"),
        kernels=kernels,
        min_gpu_cities=min_gpu_cities,
    )
