"""A method for tests of what surrounds methods: 2-opt with random restarts of segments, slow and obvious."""

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
    """Improve the start tour by 2-opt moves; a kick swaps two random pieces."""
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
        tour = _two_opt(problem, best if kicks == 0 else _kicked(best, random), run.token)
        kicks += 1
        length = problem.length(tour)
        if length < best_length:
            best, best_length = tour, length
    run.offer(best)


def _kicked(tour, random):
    cut = np.sort(random.integers(1, len(tour), 3)) if len(tour) > 1 else [0, 0, 0]
    return np.concatenate((tour[: cut[0]], tour[cut[1] : cut[2]], tour[cut[0] : cut[1]], tour[cut[2] :]))


def _two_opt(problem, tour, token):
    tour = tour.copy()
    n = len(tour)
    improved = True
    while improved and not token.stopped():
        improved = False
        for i in range(n - 2):
            j = np.arange(i + 2, n if i else n - 1)
            if len(j) == 0:
                continue
            a, b, c, d = tour[i], tour[i + 1], tour[j], tour[(j + 1) % n]
            gain = (
                problem.distance(a, b)
                + problem.distance(c, d)
                - problem.distance(a, c)
                - problem.distance(b, d)
            )
            k = int(np.argmax(gain))
            if gain[k] > 1e-9:
                tour[i + 1 : j[k] + 1] = tour[i + 1 : j[k] + 1][::-1]
                improved = True
    return tour


METHOD = Method(name="two-opt", summary="2-opt, for tests", run=run, params=TwoOptParams)
