"""What a call asks for: made once, checked, and kept by each of its runs."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from warptsp.bound.beside import BoundBeside
from warptsp.problem import Problem
from warptsp.progress import Progress
from warptsp.run.checkpoint import Checkpoint
from warptsp.run.snapshots import Recorder
from warptsp.stop import StoppingCriterion, StopToken

__all__ = ["Settings"]


@dataclass(frozen=True, slots=True, eq=False)
class Settings:
    """What a call asks for beside its methods.

    Attributes
    ----------
    problem : Problem
    criterion : StoppingCriterion or None
        None: each method follows its own rule.
    token : StopToken or None
        Ends the runs beside their limits, or their own rules.
    seed, threads : int
        Same seed, same threads and a limit on kicks: same tour.
    may_use_cpu : bool
        Whether a GPU was chosen for the user, so that the CPU may do instead.
    start : str
        A construction, or the name of the start tour.
    start_tour : ndarray of int32 or None
    merge : tuple of ndarray of int32
        Tours that are merged, the start tour among them: the first method begins with what they become.
    first : int or None
        The city that a closed tour begins with; None for city 0.
    callback : callable or None
    checkpoint : Checkpoint or None
    recorder : Recorder or None
    bound : BoundBeside or None
        What computes a lower bound.
    started : float
        ``time.monotonic()`` at the call.
    """

    problem: Problem
    criterion: StoppingCriterion | None = None
    token: StopToken | None = None
    seed: int = 0
    threads: int = 1
    may_use_cpu: bool = False
    start: str = "greedy"
    start_tour: NDArray[np.int32] | None = None
    merge: tuple[NDArray[np.int32], ...] = ()
    first: int | None = None
    callback: Callable[[Progress], object] | None = None
    checkpoint: Checkpoint | None = None
    recorder: Recorder | None = None
    bound: BoundBeside | None = None
    started: float = field(default_factory=time.monotonic)
