"""2-opt and 3-opt along quadrant neighbour lists, to a local optimum (`search`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from warptsp.methods.method import Method
from warptsp.papers.neighbor_lists.search import DescentParams, descend, kernels_of

if TYPE_CHECKING:
    from warptsp.methods.protocol import Run
    from warptsp.problem import Problem


@dataclass(frozen=True, slots=True)
class NeighborThreeOptParams(DescentParams):
    """Parameters of `neighbor-three-opt`: see `warptsp.papers.neighbor_lists.search.DescentParams`."""


def run(problem: Problem, run: Run, params: NeighborThreeOptParams) -> None:
    """Make 2-opt moves and all four pure 3-opt moves along the lists until none shortens the tour."""
    descend(problem, run, params, three=True)


METHOD = Method(
    name="neighbor-three-opt",
    summary="3-opt along neighbour lists",
    run=run,
    params=NeighborThreeOptParams,
    ends=True,
    devices=("cpu", "cuda"),
    kernels=kernels_of(three=True),
    min_gpu_cities=100_000,
)
