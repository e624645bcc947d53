"""The neighborhoods of the exhaustive methods, and from where one or several are descended."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from warptsp.backends.instance import SearchInstance

if TYPE_CHECKING:
    from numpy.typing import NDArray

    import warptsp._native as _native
    from warptsp.problem import Problem

MIN_CITIES = 4  # of the search's; with fewer no move changes the length


@dataclass(frozen=True, slots=True)
class Neighborhood:
    """What is passed over.

    Attributes
    ----------
    number : int
        That of native/papers/exhaustive/descent.h.
    name : str
    walk, move : str
        In C++.
    fast : str or None
        The kernel of a fast pass on a GPU.
    candidates : int
        Moves that one result of the fast pass stands for; 2-opt: see `tuning.Tiles`.
    """

    number: int
    name: str
    walk: str
    move: str
    fast: str | None = None
    candidates: int = 1

    @property
    def kernels(self) -> tuple[str, ...]:
        """The kernels in double precision: evaluate, choose, apply."""
        kernels = (f"evaluate_exactly<{self.walk}>", f"choose_move<{self.move}>", f"apply_move<{self.move}>")
        return (*kernels, "limit_swaps") if self is SWAP else kernels

    def moves(self, n: int) -> int:
        """Return the moves of a tour of n cities."""
        match self.name:
            case "two-opt":
                return n * (n - 1) // 2
            case "three-opt":
                return 4 * math.comb(n, 3)
            case "swap":
                return (n - 1) * (n - 2) // 2
            case _:
                return n * (n - 3)


TWO_OPT = Neighborhood(0, "two-opt", "PairWalk", "TwoOpt", "evaluate_pairs")
THREE_OPT = Neighborhood(1, "three-opt", "TripleWalk", "ThreeOpt", "evaluate_triples", 4)
SWAP = Neighborhood(2, "swap", "SwapWalk", "Swap")
RELOCATE = Neighborhood(3, "relocate", "RelocateWalk", "Relocate")
NEIGHBORHOODS = {each.name: each for each in (TWO_OPT, RELOCATE, SWAP, THREE_OPT)}


@dataclass(frozen=True, slots=True, eq=False)
class Start:
    """A tour or path as a closed tour of an instance, in the search's numbers, and what is done with it.

    Attributes
    ----------
    instance : SearchInstance
    tour : ndarray of int32, shape (instance.size,)
    neighborhoods : tuple of Neighborhood
        Where one has no move that shortens the tour, the next is passed over; after a move the first again.
    kept, before
        For swaps: cities that keep their places, and pairs (a, b) of which a stays before b.
    pruned : bool
        2-opt: what cannot shorten the tour more than the best move does is skipped.
    """

    instance: SearchInstance
    tour: NDArray[np.int32]
    neighborhoods: tuple[Neighborhood, ...]
    kept: Sequence[int] = ()
    before: Sequence[tuple[int, int]] = ()
    pruned: bool = False

    @classmethod
    def of(
        cls,
        problem: Problem,
        tour: NDArray[np.int32],
        neighborhoods: tuple[Neighborhood, ...],
        token: _native.StopToken,
    ) -> Start | None:
        """Return it; None if the token stopped it, or if there are too few cities for a move."""
        instance = SearchInstance.build(problem, token)
        if instance is None or instance.size < MIN_CITIES:
            return None
        closed = instance.close(tour)
        if instance.dummy is not None:
            closed = np.roll(closed, 1)  # the dummy city of an open path stays first
        return cls(instance, np.ascontiguousarray(closed), neighborhoods)

    def constrained(self, kept: Sequence[int], before: Sequence[tuple[int, int]]) -> Start:
        """Return it with what swaps must respect, in the problem's numbers."""
        city = self.instance.city
        number = np.empty(len(city), np.int32)
        number[city] = np.arange(len(city), dtype=np.int32)
        pairs = [(int(number[a]), int(number[b])) for a, b in before]
        return replace(self, kept=[int(number[one]) for one in kept], before=pairs)

    @property
    def is_plain(self) -> bool:
        """Whether a closed tour is searched, all of whose edges may go."""
        return is_plain(self.instance.problem)


def is_plain(problem: Problem) -> bool:
    """Tell whether a tour is closed and all of its edges may go."""
    return problem.open is None and len(problem.fixed_edges) == 0
