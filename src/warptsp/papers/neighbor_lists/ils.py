"""Iterated local search: 3-opt along neighbour lists, double bridges (`iterated_search.h`).

Algorithm 1 of J. Fosin, D. Davidović and T. Carić, "A GPU implementation of local search operators for
symmetric travelling salesman problem" (2013): from a local optimum a double bridge at four random edges,
3-opt again, the best tour kept, and the search goes on from the new tour, shorter or not. Better: it takes a
kick back that lost more than a falling temperature allows. After a double bridge only its eight ends are
examined again, so a kick costs microseconds; the best tour is examined as a whole in the end. With
``improvement="best"`` and ``restart="pass"`` the 3-opt is the document's: passes over all cities, each of
which makes the best move. On a GPU all multiprocessors share each of these passes
(`native/papers/neighbor_lists/shared_passes.h`), and the tours are those of the CPU.

Otherwise a chain is one block of a GPU, which leaves the rest of it idle. So unless chains are asked for, a
GPU searches one tour with all of its multiprocessors from 2000 cities on: in the rounds of the main solver,
whose parts are kicked all at once, with moves of three edges at most.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Literal

from warptsp._checks import check_ranges
from warptsp._native import Kicks
from warptsp.errors import InvalidOption, UnsupportedProblem
from warptsp.methods.kernels import kernels_are_there, on_gpu_or_cpu, search_on_device
from warptsp.methods.lk.params import LkParams
from warptsp.methods.method import Method
from warptsp.methods.protocol import View, ViewedRun, best_of
from warptsp.papers.neighbor_lists.cuda_tuning import ILS_DEPTH
from warptsp.papers.neighbor_lists.moves import Moves
from warptsp.papers.neighbor_lists.search import (
    MAX_NEIGHBORS,
    NEIGHBORS,
    NeighborSearch,
    Prepared,
    check_lists,
    kernel_sources,
    prepare,
)

if TYPE_CHECKING:
    from warptsp.backends.cuda.compiler import Source
    from warptsp.backends.cuda.device import Device
    from warptsp.methods.protocol import Run
    from warptsp.problem import Problem

TEMPERATURE = 2.0  # mean edge lengths (EXP-071)
MAX_CHAINS = 100_000
MAX_SEGMENT = 1_000_000
MIN_IN_PARTS = 2000  # cities from which a GPU makes kicks in all parts of a tour at once
# Kicks that it makes for each of a chain, so that tours are no longer: moves are of three edges, and of up to
# eight copies of a part one counts. On 14 instances of 2103 to 18 512 cities and pla85900 (H200), 10 to 30,
# 20 to 60, 40 to 100: 1 n on average 1.26, 1.05, 0.93 %, one chain 1.45; 0.16, 0.19, 0.22 s for d18512.
MIN_KICKS_OF_PARTS, MAX_KICKS_OF_PARTS, KICKS_OF_SHORT_TOURS = 10, 30, 125_000
MAX_SEGMENT_OF_PARTS = 10_000
DESCENT = Moves(three=True, many=True)  # of the whole tour, before and after its parts


@dataclass(frozen=True, slots=True)
class IlsParams:
    """Parameters of iterated local search.

    Attributes
    ----------
    neighbors : int
        Length of a city's neighbour list; where a GPU searches parts, lists have 8.
    iterations : float
        Kicks of a chain, in multiples of the number of cities.
    acceptance : {"annealed", "better", "always"}
        "always" continues from every new tour, as the document does; "better" undoes a kick that made the
        tour longer; "annealed" undoes it with probability 1 - exp(-loss / T).
    temperature : float or None
        With "annealed": T at the first kick, in mean edge lengths of the tour that the kicks start from. It
        falls to 0 with the square of the remaining share of the kicks, or of the time limit. None is 2.
    segment : int
        Maximum number of cities in each segment that a double bridge exchanges; 0 takes four edges anywhere
        in the tour, as the document does.
    chains : int or None
        Independent searches from the same local optimum, with different random numbers; the best counts. They
        run at once, on the threads of the CPU or the multiprocessors of a GPU. None is one with "always",
        and otherwise one per thread of the CPU; a GPU then makes kicks in all parts of one tour at once, as
        the main solver does, from 2000 cities on, and has a chain per multiprocessor below. With whole
        passes (improvement "best", restart "pass") a GPU has one.
    improvement : {"first", "best"}
        Of the cities to examine, "first" makes the best move of the first city that has one; "best" examines
        all of them and makes the best move, as the document does. On a GPU "best" goes with restart "pass".
    restart : {"ends", "pass"}
        After a kick, and after every move, "ends" examines the ends of the changed edges; "pass" examines all
        cities, as the document does. On a GPU "pass" goes with improvement "best".
    edges : {"both", "next"}
        "both" takes out edges on either side of the cities; "next" is the neighbourhood of the document, see
        `warptsp.papers.neighbor_lists.search.DescentParams`. With improvement "best".
    block : int or None
        Threads per block on a GPU; None chooses.
    """

    neighbors: int = NEIGHBORS
    iterations: float = 10.0
    acceptance: Literal["annealed", "better", "always"] = "annealed"
    temperature: float | None = None
    segment: int = 0
    chains: int | None = None
    improvement: Literal["first", "best"] = "first"
    restart: Literal["ends", "pass"] = "ends"
    edges: Literal["both", "next"] = "both"
    block: int | None = None

    def __post_init__(self) -> None:
        check_ranges(self, neighbors=(1, MAX_NEIGHBORS), segment=(0, MAX_SEGMENT), chains=(1, MAX_CHAINS))
        check_lists(self.block, self.improvement, self.edges)
        if not 0 <= self.iterations < math.inf:
            raise InvalidOption(f"iterations: {self.iterations} is not a finite number from 0 on")
        if self.temperature is not None and self.acceptance != "annealed":
            raise InvalidOption(f"temperature: only acceptance 'annealed' has one, not {self.acceptance!r}")
        if self.temperature is not None and not 0 <= self.temperature < math.inf:
            raise InvalidOption(f"temperature: {self.temperature} is not a finite number from 0 on")

    def in_parts(self, n: int) -> bool:
        """Whether a GPU makes its kicks in all parts of a tour of `n` cities at once."""
        free = self.chains is None and self.block is None and self.acceptance != "always"
        return free and not self.whole_passes and n >= MIN_IN_PARTS and round(self.iterations * n) > 0

    @property
    def made(self) -> Moves:
        """What the local search makes."""
        return Moves(three=True, best=self.improvement == "best", next_only=self.edges == "next")

    @property
    def whole_passes(self) -> bool:
        """Whether the local search is the document's: passes over all cities, which make the best move."""
        return (self.improvement, self.restart) == ("best", "pass")

    @property
    def as_on_gpus(self) -> bool:
        """Whether GPUs have this local search after a kick, in so many chains."""
        if self.whole_passes:
            return self.chains in (None, 1)
        return (self.improvement, self.restart) == ("first", "ends")


def run(problem: Problem, run: Run, params: IlsParams) -> None:
    """Kick and search again until all iterations are made, or the run says stop."""
    if run.device.gpus and not params.as_on_gpus:
        run.use_cpu(
            UnsupportedProblem(
                f"method ils: improvement {params.improvement!r} with restart {params.restart!r} and chains "
                f"{params.chains} runs on the CPU only; leave them out, take 'best', 'pass' and 1, or search "
                "on the CPU"
            )
        )
    if run.device.gpus and params.in_parts(problem.n):
        on_gpu_or_cpu(
            run,
            on_gpu=lambda: _iterate_in_parts(problem, run, params),
            on_cpu=lambda run: _iterate_in_chains(problem, run, params),
        )
    else:
        _iterate_in_chains(problem, run, params)


def _iterate_in_parts(problem: Problem, run: Run, params: IlsParams) -> None:
    """Search one tour with the whole GPU: parts are kicked between two descents of the whole tour, which see
    what crosses the seams of parts, too."""
    from warptsp.methods.lk.cuda import run_cuda

    prepared = prepare(problem, run, params.neighbors)
    if prepared is None or not _descend(prepared, run):
        return
    start, _ = best_of(run)
    kicks = LkParams(
        depth=ILS_DEPTH,
        temperature=params.temperature if params.acceptance == "annealed" else 0.0,
        population=0,
        **Kicks(segment=min(params.segment, MAX_SEGMENT_OF_PARTS) or Kicks().segment).as_dict(),
    )
    for_each = min(max(KICKS_OF_SHORT_TOURS / problem.n, MIN_KICKS_OF_PARTS), MAX_KICKS_OF_PARTS)
    most = round(params.iterations * for_each * problem.n)
    view = View(start=start, kick_limit=lambda: most if run.kick_limit is None else min(run.kick_limit, most))
    run_cuda(problem, ViewedRun(run, view), kicks)
    best, _ = best_of(run)
    if run.device.gpus and not run.token.stopped():
        _descend(prepared.starting_from(best), run)


def _descend(prepared: Prepared, run: Run) -> bool:
    """Make the moves of all cities at once until there are none; False if the run said stop."""
    from warptsp.backends.cuda.device import Device

    run.offer(prepared.instance.open(prepared.tour))
    if not kernels_are_there(run, kernel_sources(run.problem, DESCENT)):
        return False
    run.enter("GPU")
    with Device.open(run.device.gpus[0]) as device:
        search = NeighborSearch(prepared, run, device, DESCENT)
        complete = search.descend()
        run.offer(search.best())
    return complete


def _iterate_in_chains(problem: Problem, run: Run, params: IlsParams) -> None:
    """Search as many tours as there are chains, each by itself."""
    prepared = prepare(problem, run, params.neighbors)
    if prepared is None:
        return
    # The clock decides on a tour anyway, or else what is not the first part of the GPU's search must not.
    timed = run.time_limit is not None and run.kick_limit is None

    def work(run: Run, device: Device | None) -> None:
        # What the CPU came to while kernels were compiled may have been cut short: the search goes on from
        # it, so that what it ends with is a local optimum.
        best = run.best if timed else None
        _iterate(prepared if best is None else prepared.starting_from(best), run, params, device)

    def meanwhile(run: Run, device: None) -> None:
        _iterate(prepared, run, params if timed else replace(params, iterations=0.0), device)

    sources = partial(kernel_sources, problem, params.made, chains=True)
    search_on_device(run, work, sources=sources, meanwhile=meanwhile, same=False)


def _iterate(prepared: Prepared, run: Run, params: IlsParams, device: Device | None) -> None:
    n = run.problem.n
    count = round(params.iterations * n)
    if run.kick_limit is not None:
        count = min(count, run.kick_limit)
    always = params.acceptance == "always"
    temperature = TEMPERATURE if params.temperature is None else params.temperature
    if params.acceptance != "annealed":
        temperature = 0.0  # no loss is ever accepted
    search = NeighborSearch(
        prepared,
        run,
        device,
        params.made,
        chains=1 if always and params.chains is None else params.chains,
        block=params.block,
    )
    kicked = (
        search.descend()
        and count > 0
        and search.iterate(
            count=count,
            always=always,
            temperature=temperature,
            segment=params.segment,
            everywhere=params.restart == "pass",
        )
    )
    if kicked:
        search.settle()
    run.offer(search.best())


def kernels(problem: Problem) -> list[Source]:
    """Return what runs on a GPU compile: of chains, of whole passes, and of the parts of a tour."""
    from warptsp.backends.cuda.launch_plan import kernel_sources as sources_of_parts

    return [
        *kernel_sources(problem, Moves(three=True), chains=True),
        *kernel_sources(problem, Moves(three=True, best=True, next_only=True), chains=True),
        *sources_of_parts(problem, ILS_DEPTH),
    ]


METHOD = Method(
    name="ils",
    summary="iterated local search with 3-opt along neighbour lists",
    run=run,
    params=IlsParams,
    ends=True,
    devices=("cpu", "cuda"),
    kernels=kernels,
    min_gpu_cities=5000,
)
