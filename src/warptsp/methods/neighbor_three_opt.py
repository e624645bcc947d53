"""2-opt and 3-opt along quadrant neighbour lists, to a local optimum (`warptsp.methods.neighbor_lists`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from warptsp.methods.neighbor_lists import DescentParams, descend

if TYPE_CHECKING:
    from warptsp.methods.protocol import Run
    from warptsp.problem import Problem


@dataclass(frozen=True, slots=True)
class NeighborThreeOptParams(DescentParams):
    """Parameters of `neighbor-three-opt`: see `warptsp.methods.neighbor_lists.DescentParams`."""


def run(problem: Problem, run: Run) -> None:
    """Make 2-opt moves and all four pure 3-opt moves along the lists until none shortens the tour."""
    descend(problem, run, NeighborThreeOptParams(**run.params), three=True)
