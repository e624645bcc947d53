"""A method for tests of what surrounds methods: random 2-opt moves."""

from dataclasses import dataclass
from functools import partial

import numpy as np

from warptsp.errors import InvalidOption
from warptsp.methods import METHODS, Method


@dataclass(frozen=True)
class TwoOptParams:
    """Parameters of every kind that a method may have."""

    neighbors: int = 10
    temperature: float = 0.0
    verbose: bool = False
    first: str | None = None
    ratios: tuple[float, ...] = (1.0,)

    def __post_init__(self):
        if self.neighbors < 1:
            raise InvalidOption(f"neighbors: {self.neighbors} is not 1 or more")


def register():
    """Make the method known as two-opt."""
    METHODS["two-opt"] = METHOD


def run(problem, run, params):
    """Turn random pieces of the start tour, each a kick, where that makes it shorter."""
    random = np.random.default_rng(run.seed)
    order = np.arange(problem.n) if isinstance(run.start, str) else run.start.astype(np.int64)
    if isinstance(run.start, str) and run.start == "random":
        order = random.permutation(problem.n)
    best, best_length = order, problem.length(order)
    kicks = 0
    run.offer(best)
    while not run.update(length=best_length, kicks=kicks, tour=partial(np.copy, best), moves=kicks):
        if run.kick_limit is not None and kicks >= run.kick_limit:
            break
        tour = _turned(best, random)
        kicks += 1
        length = problem.length(tour)
        if length < best_length:
            best, best_length = tour, length
    run.offer(best)


def _turned(tour, random):
    first, last = sorted(random.integers(0, len(tour) + 1, 2))
    return np.concatenate((tour[:first], tour[first:last][::-1], tour[last:]))


METHOD = Method(name="two-opt", summary="2-opt, for tests", run=run, params=TwoOptParams)
