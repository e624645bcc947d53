"""What a proof takes, says on its way, and comes to."""

import math
import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

import warptsp._native as _native
from warptsp.bound.held_karp import LowerBound
from warptsp.claims import bound_gap
from warptsp.problem import Problem
from warptsp.stop import StopToken


@dataclass(frozen=True, slots=True)
class ProofProgress:
    """Where a proof is.

    Attributes
    ----------
    seconds : float
    length, lower_bound : int or float
        Of the best tour, infinite as long as it has missing arcs; and what is proved.
    nodes, open_nodes : int
        Of the tree, examined and still to be examined; none before the first branch.
    edges, cuts : int
        In the linear programme.
    tour : callable
        ``tour()`` returns the best tour so far, as an int32 array of its own.
    """

    seconds: float
    length: int | float
    lower_bound: int | float
    nodes: int
    open_nodes: int
    edges: int
    cuts: int
    tour: Callable[[], NDArray[np.int32]]


@dataclass(frozen=True, slots=True, eq=False)
class Proof:
    """The best tour, how short no tour can be, and whether that is the same.

    Attributes
    ----------
    tour : ndarray of int32, shape (n,)
        Read-only. A better one than the given, if one was found.
    length : int or float
    lower_bound : int or float
        No tour, or no path where the instance is open, is shorter.
    proved : bool
        Whether the tour is optimal: where lengths are real, whether no tour is shorter by more than a
        fraction of 1e-7.
    nodes : int
        Of the tree of branches; 0 if there was no need for one.
    root_bound : int or float
        What was proved without branches.
    seconds : float
        Wall time, with that of the search.
    search_seconds : float
        Wall time of the searches for a tour, also of those in the course of the proof.
    cuts : dict of str to int
        Violated cuts that were found, by kind.
    edges_left : int or None
        Edges that a shorter tour may have had after the root; None if there was no tree.
    interrupted : bool
        Whether a signal (Ctrl-C) ended it.
    signal : int or None
        The number of that signal.
    skipped : str or None
        What went wrong, in a line, where the proof was given up for that.
    certified : bool
        Whether a certificate of the bound was wanted and there is one.
    """

    tour: NDArray[np.int32]
    length: int | float
    lower_bound: int | float
    proved: bool
    nodes: int = 0
    root_bound: int | float = 0
    seconds: float = 0.0
    search_seconds: float = 0.0
    cuts: dict[str, int] = field(default_factory=dict)
    edges_left: int | None = None
    interrupted: bool = False
    signal: int | None = None
    skipped: str | None = None
    certified: bool = False

    def without_claims(self) -> "Proof":
        """Return the same proof without what is said of lengths: its tour has missing arcs."""
        return replace(
            self, length=math.inf, lower_bound=0, proved=False, root_bound=0, nodes=0, edges_left=None
        )

    @property
    def bound_gap(self) -> float | None:
        """Length over the lower bound, minus 1: the tour is at most this much longer than the shortest.

        None if the bound is 0 and the length is not.
        """
        return bound_gap(self.length, self.lower_bound)

    def __repr__(self) -> str:
        return (
            f"Proof(length={self.length!r}, lower_bound={self.lower_bound!r}, proved={self.proved}, "
            f"nodes={self.nodes}, seconds={self.seconds:.2f})"
        )


FirstTour: TypeAlias = Callable[[Problem, _native.StopToken], tuple[NDArray[np.int32], LowerBound | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProofOptions:
    """What a proof takes beside an instance and a tour, checked; mostly as `warptsp.prove` does."""

    # Returns a tour where none is given, for an instance and a token, and a lower bound or None.
    first_tour: FirstTour | None = None
    search: bool = False  # whether a population looks for a shorter tour than that first
    time_limit: float | None = None
    seed: int = 0
    threads: int = 1
    tree: bool = True
    token: StopToken | _native.StopToken | None = None
    callback: Callable[[ProofProgress], object] | None = None
    certificate: str | os.PathLike[str] | None = None
    checkpoint: str | os.PathLike[str] | None = None
    checkpoint_interval: float = 5.0  # seconds between two, at least
    resume: str | os.PathLike[str] | None = None

    @property
    def keeps_evidence(self) -> bool:
        """Whether a file shall say what proves each bound."""
        return self.certificate is not None or self.checkpoint is not None
