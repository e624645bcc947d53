"""Iterated local search: 3-opt along neighbour lists, and double bridges (`native/iterated_search.h`).

Algorithm 1 of J. Fosin, D. Davidović and T. Carić, "A GPU implementation of local search operators for
symmetric travelling salesman problem" (2013): from a local optimum a double bridge at four random links,
3-opt again, the best tour kept, and the search goes on from the new tour, shorter or not. After a double
bridge only its eight ends are looked at again, so a kick costs microseconds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from warptsp.errors import InvalidOption
from warptsp.methods.annealing import start_temperature
from warptsp.methods.neighbor_lists import SLICE, HostSearch, check_block, check_neighbors, prepare

if TYPE_CHECKING:
    from warptsp.problem import Problem
    from warptsp.run import Run

MOST_CHAINS = 100_000
MOST_SEGMENT = 1_000_000
SEGMENT = 50


@dataclass(frozen=True, slots=True)
class IlsParams:
    """Parameters of iterated local search.

    Attributes
    ----------
    neighbors : int
        Length of a city's neighbour list.
    iterations : float
        Kicks of a chain, in multiples of the number of cities.
    acceptance : {"always", "better", "annealed"}
        "always" goes on from every new tour, as the document does; "better" takes a kick back that made the
        tour longer; "annealed" takes it back with the probability 1 - exp(-loss / T), and T falls linearly
        to 0 over the iterations.
    temperature : float or None
        With "annealed", T at the start in mean links of the tour; None chooses it by the iterations.
    segment : int or None
        Cities in each of the pieces that a double bridge exchanges, at most; 0 takes four links anywhere in
        the tour, as the document does. None is 0 with "always", and 50 otherwise.
    chains : int
        Independent searches from the same local optimum, with other random numbers; the best counts. They
        run at once on the threads of the CPU, or on the multiprocessors of a GPU.
    block : int or None
        Threads of a block on a GPU; None chooses.
    """

    neighbors: int = 40
    iterations: float = 10.0
    acceptance: Literal["always", "better", "annealed"] = "annealed"
    temperature: float | None = None
    segment: int | None = None
    chains: int = 1
    block: int | None = None

    def __post_init__(self) -> None:
        check_neighbors(self.neighbors)
        check_block(self.block)
        if not 0 <= self.iterations < math.inf:
            raise InvalidOption(f"iterations: {self.iterations} is not a finite number from 0 on")
        if self.acceptance not in ("always", "better", "annealed"):
            raise InvalidOption(f"acceptance: {self.acceptance!r} is not one of always, better, annealed")
        if self.temperature is not None and not 0 <= self.temperature < math.inf:
            raise InvalidOption(f"temperature: {self.temperature} is not a finite number from 0 on")
        if self.segment is not None and not 0 <= self.segment <= MOST_SEGMENT:
            raise InvalidOption(f"segment: {self.segment} is neither none nor between 0 and {MOST_SEGMENT}")
        if not 1 <= self.chains <= MOST_CHAINS:
            raise InvalidOption(f"chains: {self.chains} is not between 1 and {MOST_CHAINS}")


def run(problem: Problem, run: Run) -> None:
    """Kick and search again until all iterations are made, or the run says stop."""
    params = IlsParams(**run.params)
    prepared = prepare(problem, run, params.neighbors)
    if prepared is None:
        return
    count = round(params.iterations * problem.n)
    if run.kick_limit is not None:
        count = min(count, run.kick_limit)
    always = params.acceptance == "always"
    segment = params.segment
    if segment is None:
        segment = 0 if always else SEGMENT
    search = HostSearch(prepared, run, three=True)
    complete = not search.descend(best=False, many=False)
    temperature = 0.0
    if params.acceptance == "annealed":
        factor = params.temperature
        if factor is None:
            factor = start_temperature(count / problem.n)
        temperature = factor * search.native.best_length / problem.n
    while not complete:
        complete = search.native.iterate(
            chains=params.chains,
            count=count,
            always=always,
            temperature=temperature,
            segment=segment,
            seed=run.seed,
            threads=run.threads,
            seconds=SLICE,
            token=run.token,
        )
        complete = search.report("search") or complete
    run.offer(search.best())
