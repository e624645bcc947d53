"""The neighborhoods of the exhaustive methods, and what a descent in them is asked for."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

import warptsp._native as _native
from warptsp.backends.instance import SearchInstance
from warptsp.errors import InvalidOption
from warptsp.problem import Problem

MAX_GRID = 1 << 20  # blocks
# Of three-opt: a pass of 2e10 triples takes a minute on a core, and its matrix of distances 200 MB.
MAX_CITIES_CPU, MAX_CITIES_GPU = 5_000, 10_000
MIN_CITIES = 4  # of the search's; with fewer no move changes the length


@dataclass(frozen=True, slots=True)
class Neighborhood:
    """What is passed over."""

    number: int  # that of native/papers/exhaustive/descent.h
    name: str
    walk: str  # in C++, as is `move`
    move: str
    moves: Callable[[int], int]  # of a tour of so many cities
    fast: str | None = None  # the kernel of a fast pass on a GPU

    @property
    def kernels(self) -> tuple[str, ...]:
        """The kernels in double precision: evaluate, choose, apply."""
        kernels = (f"evaluate_exactly<{self.walk}>", f"choose_move<{self.move}>", f"apply_move<{self.move}>")
        return (*kernels, "limit_swaps") if self is SWAP else kernels


TWO_OPT = Neighborhood(0, "two-opt", "PairWalk", "TwoOpt", lambda n: math.comb(n, 2), "evaluate_pairs")
THREE_OPT = Neighborhood(
    1, "three-opt", "TripleWalk", "ThreeOpt", lambda n: 4 * math.comb(n, 3), "evaluate_triples"
)
SWAP = Neighborhood(2, "swap", "SwapWalk", "Swap", lambda n: math.comb(n - 1, 2))
RELOCATE = Neighborhood(3, "relocate", "RelocateWalk", "Relocate", lambda n: n * (n - 3))
NEIGHBORHOODS = {each.name: each for each in (TWO_OPT, RELOCATE, SWAP, THREE_OPT)}


@dataclass(frozen=True, slots=True)
class Launch:
    """What is asked of the launches of an evaluation, as the parameters of methods have it; None where it is
    planned."""

    block: int | None = None
    grid: int | None = None
    jobs: int | None = None
    tour_order: bool = True
    range_size: int | None = None
    version: int | None = None

    def maps(self, neighborhood: Neighborhood) -> bool:
        """Whether 2-opt moves are found by their numbers, for studies of launches."""
        return neighborhood is TWO_OPT and self != Launch()

    def blocks_for(self, jobs: int, block: int) -> int | None:
        """Return the grid that was asked for, by itself or through the jobs of a thread; None if it was
        not."""
        grid = self.grid if self.jobs is None else math.ceil(jobs / (self.jobs * block))
        if grid is not None and grid > MAX_GRID:
            raise InvalidOption(
                f"grid: {grid} blocks of {block} threads; the maximum is {MAX_GRID}. Take a larger block or "
                "more jobs per thread"
            )
        return grid


@dataclass(frozen=True, slots=True)
class Sought:
    """What a descent is asked for."""

    # Where one has no move that shortens the tour, the next is passed over; after a move the first again.
    neighborhoods: tuple[Neighborhood, ...]
    passes: int | None = None  # after which it ends, over whichever neighborhood
    launch: Launch = Launch()
    kept: Sequence[int] = ()  # swaps: cities that keep their places
    before: Sequence[tuple[int, int]] = ()  # swaps: pairs (a, b) of which a stays before b


@dataclass(frozen=True, slots=True, eq=False)
class Start:
    """A tour or path as a closed tour of an instance, and what is sought from it, in the search's numbers."""

    instance: SearchInstance
    tour: NDArray[np.int32]  # shape (instance.size,)
    sought: Sought

    @classmethod
    def of(
        cls, problem: Problem, tour: NDArray[np.int32], sought: Sought, token: _native.StopToken
    ) -> "Start | None":
        """Return it; None if the token stopped it, or if there are too few cities for a move."""
        instance = SearchInstance.build(problem, token)
        if instance is None or instance.size < MIN_CITIES:
            return None
        closed = instance.close(tour)
        if instance.dummy is not None:
            closed = np.roll(closed, 1)  # the dummy city of an open path stays first
        number = np.argsort(instance.city)
        before = [(int(number[a]), int(number[b])) for a, b in sought.before]
        sought = replace(sought, kept=[int(number[city]) for city in sought.kept], before=before)
        return cls(instance, np.ascontiguousarray(closed), sought)


def is_plain(problem: Problem) -> bool:
    """Tell whether a tour is closed and all of its edges may go."""
    return problem.open is None and len(problem.fixed_edges) == 0
