"""What a call asks for: made once, checked, and kept by each of its runs."""

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


@dataclass(frozen=True, slots=True, eq=False)
class Settings:
    """What a call asks for beside its methods."""

    problem: Problem
    criterion: StoppingCriterion | None = None  # None: each method follows its own rule
    token: StopToken | None = None  # ends the runs beside their criterion, or their own rules
    seed: int = 0  # same seed, same threads and a limit on kicks: same tour
    threads: int = 1
    may_use_cpu: bool = False  # whether a GPU was chosen for the user, so that the CPU may do instead
    start: str = "greedy"  # a construction, or the name of the start tour
    start_tour: NDArray[np.int32] | None = None
    # Tours that are merged, the start tour among them: the first method begins with what they become.
    merge: tuple[NDArray[np.int32], ...] = ()
    first: int | None = None  # the city that a closed tour begins with; None for city 0
    callback: Callable[[Progress], object] | None = None
    checkpoint: Checkpoint | None = None
    recorder: Recorder | None = None
    bound: BoundBeside | None = None  # what computes a lower bound
    started: float = field(default_factory=time.monotonic)  # of the call
