"""Which two sides a node is divided into: strong branching on edges and sets of cities.

D. Applegate, R. Bixby, V. Chvatal and W. Cook, "Finding cuts in the TSP" (1995).
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from warptsp.proof.evidence import Branch
from warptsp.proof.linear_program import Outcome
from warptsp.proof.node_program import NodeProgram, objective_of

CANDIDATES = 8
"""Edges that are tried as branches, and sets of more than two cities."""
LINES = 8
"""Sets on one side of a line, where cities lie in rows."""
PROBE_STEPS = 60
"""Steps of the simplex method in each of their two sides."""
FEW = 8
"""Of these, the best, that are probed again with more steps, where a node is worth them."""
LEAST_GAIN = 1e-3
"""Of a side that raises nothing, so that the other one still tells."""


@dataclass(frozen=True)
class Candidate:
    """Two sides of a node, and by how much they raise the objective."""

    sides: tuple[Branch, Branch]
    gains: tuple[float, float]

    @classmethod
    def reaching(
        cls, sides: tuple[Branch, Branch], objectives: tuple[float, float], base: float, gap: float
    ) -> Self:
        """Return one whose sides raise the base to these objectives; no gain exceeds the gap."""
        one, other = (max(0.0, min(gap, objective - base)) for objective in objectives)
        return cls(sides, (one, other))

    @property
    def score(self) -> float:
        """What they are worth: the product of their gains (Achterberg, 2007)."""
        one, other = self.gains
        return max(one, LEAST_GAIN) * max(other, LEAST_GAIN)


def candidates_of(node: NodeProgram, steps: int) -> list[Candidate]:
    """Return sides of a node, the best first; none if no edge is used in part.

    All are probed by a few steps of the simplex method; with more `steps` than that the best few are probed
    again, and they alone are returned.
    """
    program = node.program
    if program.outcome is not Outcome.OPTIMAL and program.solve() is not Outcome.OPTIMAL:
        return []
    base, basis, values = program.objective, program.basis(), program.values.copy()
    gap = max(0.0, objective_of(node.target) - base)  # perturbed costs may pass it before the bound does

    def probed(branch: Branch, steps: int) -> float:
        """Return the objective of a branch after so many steps."""
        if len(branch.cities) == 2:
            column, used = node.relaxation.column(*branch.cities), int(branch.most == 2)
            return program.probe_column(column, used, steps, basis)
        upper = math.inf if branch.most is None else branch.most
        return program.probe_row(_leaving(node, branch.cities), branch.least, upper, steps, basis)

    def best_of(pairs: Iterable[tuple[Branch, Branch]], steps: int) -> list[Candidate]:
        found = [
            Candidate.reaching((one, other), (probed(one, steps), probed(other, steps)), base, gap)
            for one, other in pairs
        ]
        return sorted(found, key=lambda candidate: -candidate.score)

    best = best_of((_sides(node, cities, values) for cities in _sets(node, values)), PROBE_STEPS)
    if steps > PROBE_STEPS:
        best = best_of((candidate.sides for candidate in best[:FEW]), steps)
    return best


def _sides(node: NodeProgram, cities: tuple[int, ...], values: NDArray[np.float64]) -> tuple[Branch, Branch]:
    """Return what divides a node at an even number of edges that leave a set: the solution has more, and less
    than two more."""
    fewer = 2 if len(cities) == 2 else max(2, 2 * int(0.5 * (_leaving(node, cities) @ values)))
    return Branch(cities, fewer + 2), Branch(cities, 2, fewer)


def _sets(node: NodeProgram, values: NDArray[np.float64]) -> list[tuple[int, ...]]:
    """Return sets of cities that about an odd number of edges leave, first the ends of edges used by half."""
    fractional = np.flatnonzero((values > 0.05) & (values < 0.95))
    if len(fractional) == 0:
        fractional = np.flatnonzero((values > 1e-6) & (values < 1 - 1e-6))
    order = np.argsort(np.abs(values[fractional] - 0.5), kind="stable")
    edges = node.relaxation.ends[fractional[order[:CANDIDATES]]].tolist()
    sets = node.relaxation.undecided_sets(values, CANDIDATES)
    if node.lines is not None:
        for inside in node.lines.undecided_sets(node.relaxation.ends, values, LINES):
            smaller = inside if 2 * inside.sum() <= len(inside) else ~inside
            sets.append(np.flatnonzero(smaller).tolist())
    decided = {branch.cities for branch in node.branches}
    return [cities for cities in map(tuple, [*edges, *sets]) if cities not in decided]


def _leaving(node: NodeProgram, cities: tuple[int, ...]) -> NDArray[np.float64]:
    """Return 1 for each column that leaves the cities, 0 for the others."""
    inside = np.zeros(node.instance.size, dtype=bool)
    inside[list(cities)] = True
    leaves: NDArray[np.float64] = np.diff(inside[node.relaxation.ends], axis=1)[:, 0].astype(np.float64)
    return leaves
