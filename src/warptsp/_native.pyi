"""The native core; each binding's file adds its own signatures here."""

import numpy as np
from numpy.typing import NDArray

class StopToken:
    """A request to stop that native loops poll; safe to use from any thread."""

    def __init__(self) -> None: ...
    def request(self) -> None: ...
    def requested(self) -> bool: ...
    def set_deadline(self, monotonic_seconds: float) -> None: ...
    def stopped(self) -> bool: ...

def build_info() -> dict[str, str]:
    """How this module was built: compiler, instruction set that it was compiled for, sanitizers."""

# geometry.cpp: None where the token stopped it.

def candidate_lists(
    points: NDArray[np.float64],
    count: int,
    per_quadrant: int,
    norm: int,
    sphere: bool,
    threads: int,
    token: StopToken,
) -> NDArray[np.int32] | None: ...
def candidate_lists_matrix(
    matrix: NDArray[np.int32] | NDArray[np.float64], count: int, threads: int, token: StopToken
) -> NDArray[np.int32] | None: ...
def space_filling_curve(
    points: NDArray[np.float64], kind: str, token: StopToken
) -> NDArray[np.int32] | None: ...
def greedy_edge(
    points: NDArray[np.float64],
    candidates: NDArray[np.int32],
    metric: int,
    norm: int,
    fixed_edges: NDArray[np.int32],
    threads: int,
    token: StopToken,
) -> NDArray[np.int32] | None: ...
def greedy_edge_matrix(
    matrix: NDArray[np.int32] | NDArray[np.float64],
    candidates: NDArray[np.int32],
    fixed_edges: NDArray[np.int32],
    threads: int,
    token: StopToken,
) -> NDArray[np.int32] | None: ...
