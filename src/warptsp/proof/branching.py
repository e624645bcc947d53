"""Which two sides a node is divided into: strong branching on edges and sets of cities.

D. Applegate, R. Bixby, V. Chvatal and W. Cook, "Finding cuts in the TSP" (1995).
"""

import math

import numpy as np
from numpy.typing import NDArray

from warptsp.proof.evidence import Branch
from warptsp.proof.linear_program import Outcome
from warptsp.proof.node_program import NodeProgram, objective_of

CANDIDATES = 8
"""Edges that are tried as branches, and sets of more than two cities."""
LINES = 4
"""Sets on one side of a line, where cities lie in rows."""
PROBE_STEPS = 60
"""Steps of the simplex method in each of their two sides."""


def sides_of(node: NodeProgram) -> tuple[Branch, Branch] | None:
    """Return two sides of a node, the one to begin with last; None if no edge is used in part."""
    program = node.program
    if program.outcome is not Outcome.OPTIMAL and program.solve() is not Outcome.OPTIMAL:
        return None
    base, basis, values = program.objective, program.basis(), program.values.copy()
    gap = max(0.0, objective_of(node.target) - base)  # perturbed costs may pass it before the bound does

    def gain(branch: Branch) -> float:
        """Return by how much a branch raises the objective in a few steps; by no more than the gap."""
        if len(branch.cities) == 2:
            column, used = node.relaxation.column(*branch.cities), int(branch.most == 2)
            objective = program.probe_column(column, used, PROBE_STEPS, basis)
        else:
            upper = math.inf if branch.most is None else branch.most
            leaving = _leaving(node, branch.cities)
            objective = program.probe_row(leaving, branch.least, upper, PROBE_STEPS, basis)
        return max(0.0, min(gap, objective - base))

    best, chosen = -1.0, None
    for cities in _candidates(node, values):
        fewer = _even_below(node, cities, values)
        sides = Branch(cities, fewer + 2), Branch(cities, 2, fewer)
        one = gain(sides[0])
        if _score(one, gap) <= best:
            continue  # whatever the other side is worth
        score = _score(one, gain(sides[1]))
        if score > best:
            best, chosen = score, sides
    return chosen


def _even_below(node: NodeProgram, cities: tuple[int, ...], values: NDArray[np.float64]) -> int:
    """Return how many edges leave a set at most, where two more are too many for a solution."""
    if len(cities) == 2:
        return 2
    return max(2, 2 * int(0.5 * (_leaving(node, cities) @ values)))


def _candidates(node: NodeProgram, values: NDArray[np.float64]) -> list[tuple[int, ...]]:
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


def _score(one: float, other: float) -> float:
    """Return what a branch is worth whose sides raise the objective by so much."""
    return 10.0 * min(one, other) + max(one, other)
