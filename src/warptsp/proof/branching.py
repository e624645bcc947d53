"""Which two sides a node is divided into: strong branching on edges and sets of cities.

D. Applegate, R. Bixby, V. Chvatal and W. Cook, "Finding cuts in the TSP" (1995).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from warptsp.proof.evidence import Branch
from warptsp.proof.linear_program import Outcome
from warptsp.proof.node_program import objective_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warptsp.proof.node_program import NodeProgram

__all__ = ["sides_of"]

CANDIDATES = 8
"""Edges that are tried as branches, and sets of more than two cities."""
PROBE_STEPS = 60
"""Steps of the simplex method in each of their two sides."""


def sides_of(node: NodeProgram) -> tuple[Branch, Branch] | None:
    """Return two sides of a node, the one to begin with last; None if no edge is used in part."""
    program = node.program
    if program.outcome is not Outcome.OPTIMAL and program.solve() is not Outcome.OPTIMAL:
        return None
    base, basis, values = program.objective, program.basis(), program.values.copy()
    gap = max(0.0, objective_of(node.target) - base)  # perturbed costs may pass it before the bound does

    def gain(cities: tuple[int, ...], crossings: int) -> float:
        """Return by how much a branch raises the objective in a few steps; by no more than the gap."""
        used = int(crossings == 2)
        if len(cities) == 2:
            objective = program.probe_column(node.relaxation.column(*cities), used, PROBE_STEPS, basis)
        else:
            upper = 2 if used else math.inf
            objective = program.probe_row(_leaving(node, cities), crossings, upper, PROBE_STEPS, basis)
        return max(0.0, min(gap, objective - base))

    best, chosen = -1.0, None
    for cities in _candidates(node, values):
        one = gain(cities, 4)
        if _score(one, gap) <= best:
            continue  # whatever the other side is worth
        score = _score(one, gain(cities, 2))
        if score > best:
            best, chosen = score, cities
    return None if chosen is None else (Branch(chosen, 4), Branch(chosen, 2))


def _candidates(node: NodeProgram, values: NDArray[np.float64]) -> list[tuple[int, ...]]:
    """Return sets of cities that about three edges leave, first the ends of edges used by half."""
    fractional = np.flatnonzero((values > 0.05) & (values < 0.95))
    if len(fractional) == 0:
        fractional = np.flatnonzero((values > 1e-6) & (values < 1 - 1e-6))
    order = np.argsort(np.abs(values[fractional] - 0.5), kind="stable")
    edges = node.relaxation.ends[fractional[order[:CANDIDATES]]].tolist()
    sets = node.relaxation.undecided_sets(values, CANDIDATES)
    decided = {branch.cities for branch in node.branches}
    return [cities for cities in map(tuple, [*edges, *sets]) if cities not in decided]


def _leaving(node: NodeProgram, cities: tuple[int, ...]) -> NDArray[np.float64]:
    """Return 1 for each column that leaves the cities, 0 for the others."""
    inside = np.zeros(node.instance.size, dtype=bool)
    inside[list(cities)] = True
    leaves: NDArray[np.float64] = np.diff(inside[node.relaxation.ends], axis=1)[:, 0].astype(np.float64)
    return leaves


def _score(one: float, other: float) -> float:
    """Return what a branch is worth whose sides raise the objective by so much."""
    return 10.0 * min(one, other) + max(one, other)
