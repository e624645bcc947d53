"""2-opt along quadrant neighbour lists, to a local optimum (`search`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from warptsp.methods.method import Method
from warptsp.papers.neighbor_lists.search import DescentParams, descend, kernels_of

if TYPE_CHECKING:
    from warptsp.methods.protocol import Run
    from warptsp.problem import Problem


@dataclass(frozen=True, slots=True)
class NeighborTwoOptParams(DescentParams):
    """Parameters of `neighbor-two-opt`: see `warptsp.papers.neighbor_lists.search.DescentParams`."""


def run(problem: Problem, run: Run, params: NeighborTwoOptParams) -> None:
    """Make 2-opt moves that add an edge from a city to one on its list, until none shortens the tour."""
    descend(problem, run, params, three=False)


METHOD = Method(
    name="neighbor-two-opt",
    summary="2-opt along neighbour lists",
    run=run,
    params=NeighborTwoOptParams,
    ends=True,
    devices=("cpu", "cuda"),
    kernels=kernels_of(three=False),
    min_gpu_cities=300_000,
)
