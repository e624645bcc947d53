"""Which two sides a node is divided into: strong branching on edges and sets of cities.

D. Applegate, R. Bixby, V. Chvatal and W. Cook, "Finding cuts in the TSP" (1995).
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

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


@dataclass(frozen=True)
class Candidate:
    """Two sides of a node, and by how much they raise the objective."""

    sides: tuple[Branch, Branch]
    gains: tuple[float, float]

    @property
    def score(self) -> float:
        """What they are worth: the product of their gains (Achterberg, 2007)."""
        one, other = self.gains
        return max(one, _LEAST) * max(other, _LEAST)


_LEAST = 1e-3  # of a unit of length: of two sides that raise nothing, the others tell


def candidates_of(node: NodeProgram, steps: int) -> list[Candidate]:
    """Return sides of a node, the best first; none if no edge is used in part.

    The best few are those after so many steps of the simplex method in each, if these are more than all have.
    """
    program = node.program
    if program.outcome is not Outcome.OPTIMAL and program.solve() is not Outcome.OPTIMAL:
        return []
    base, basis, values = program.objective, program.basis(), program.values.copy()
    gap = max(0.0, objective_of(node.target) - base)  # perturbed costs may pass it before the bound does

    def gain(branch: Branch, steps: int) -> float:
        """Return by how much a branch raises the objective in a few steps; by no more than the gap."""
        if len(branch.cities) == 2:
            column, used = node.relaxation.column(*branch.cities), int(branch.most == 2)
            objective = program.probe_column(column, used, steps, basis)
        else:
            upper = math.inf if branch.most is None else branch.most
            leaving = _leaving(node, branch.cities)
            objective = program.probe_row(leaving, branch.least, upper, steps, basis)
        return max(0.0, min(gap, objective - base))

    def best_of(pairs: Iterable[tuple[Branch, Branch]], steps: int) -> list[Candidate]:
        found = [Candidate(sides, (gain(sides[0], steps), gain(sides[1], steps))) for sides in pairs]
        return sorted(found, key=lambda candidate: -candidate.score)

    best = best_of((_sides(node, cities, values) for cities in _sets(node, values)), PROBE_STEPS)
    if steps > PROBE_STEPS:
        best = best_of((candidate.sides for candidate in best[:FEW]), steps)
    return best


def _sides(node: NodeProgram, cities: tuple[int, ...], values: NDArray[np.float64]) -> tuple[Branch, Branch]:
    fewer = _even_below(node, cities, values)
    return Branch(cities, fewer + 2), Branch(cities, 2, fewer)


def _even_below(node: NodeProgram, cities: tuple[int, ...], values: NDArray[np.float64]) -> int:
    """Return how many edges leave a set at most, where two more are too many for a solution."""
    if len(cities) == 2:
        return 2
    return max(2, 2 * int(0.5 * (_leaving(node, cities) @ values)))


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
