"""Sets of cities that tours leave an even number of times, and branches on them."""

import json

import numpy as np
import pytest
from few_cuts import leave_out_sweeps

import warptsp
from warptsp import Problem
from warptsp._native import Effort
from warptsp.proof import branching, node_solver
from warptsp.proof.certificate import read_proof
from warptsp.proof.check import proven_bound
from warptsp.proof.lines import Lines

GRID = np.array([(x, y) for x in range(6) for y in range(5)], dtype=float)


def test_cities_that_share_no_line_have_none():
    assert Lines.of(np.random.default_rng(0).random((40, 2))) is None
    assert Lines.of(GRID) is not None


def test_sets_are_those_that_edges_leave_an_odd_number_of_times():
    lines = Lines.of(GRID)
    # Each city to its right neighbour, weight 1/2, and one diagonal edge with weight 1.
    ends = [(5 * x + y, 5 * (x + 1) + y) for x in range(5) for y in range(5)] + [(0, 6)]
    ends, values = np.array(ends, dtype=np.int32), np.array([0.5] * 25 + [1.0])
    for inside in lines.undecided_sets(ends, values, 10):
        crossings = values[inside[ends[:, 0]] != inside[ends[:, 1]]].sum()
        assert abs(crossings % 2 - 1) < 0.75
        assert 0 < inside.sum() < len(GRID)
    values[:] = 2.0
    assert lines.undecided_sets(ends, values, 10) == []


def test_of_many_lines_those_that_few_edges_leave_come_and_they_are_apart():
    points = np.array([(x, y) for x in range(40) for y in range(3)], dtype=float)
    ends = np.array([(3 * x + y, 3 * (x + 1) + y) for x in range(39) for y in range(3)], dtype=np.int32)
    found = Lines.of(points).undecided_sets(ends, np.ones(len(ends)), 4)
    columns = [int(inside.sum()) // 3 for inside in found if np.all(np.diff(inside.astype(int)) <= 0)]
    assert len(columns) == 4
    assert min(np.diff(sorted(columns))) > 1


@pytest.mark.parametrize("seed", [1, 3])
def test_proofs_by_branches_on_lines_are_believed(seed, tmp_path, monkeypatch):
    """The bounds of a certificate come from both sides of sets that four and more edges may leave."""
    pytest.importorskip("highspy", reason="an extra brings HiGHS: pip install 'warptsp[prove]'")
    points = np.array([(4 * x, 15 * y) for x in range(20) for y in range(5)], dtype=float)
    points = points[np.random.default_rng(seed).permutation(100)[:70]]
    problem, file = Problem.from_points(points, "EUC_2D"), tmp_path / "proof.json"
    monkeypatch.setattr(branching, "_sets", only_lines)
    monkeypatch.setattr(node_solver, "_ROUNDS", dict.fromkeys(Effort, 3))
    leave_out_sweeps(monkeypatch)
    proof = warptsp.prove(problem, certificate=file)
    assert proof.proved
    document = json.loads(file.read_text())
    branches = [branch for leaf in document["leaves"] for branch in leaf["branches"]]
    assert any(most is not None and most > 2 for _, _, most in branches)
    assert proven_bound(problem, read_proof(file, problem)) == proof.length
    for branch in branches:
        if branch[2] is None:
            branch[1] += 2  # between the sides there is room now
    file.write_text(json.dumps(document))
    assert proven_bound(problem, read_proof(file, problem)) is None


_all_sets = branching._sets


def only_lines(node, values):
    """Sets of lines, or, without any, what is left."""
    sets = node.lines.undecided_sets(node.relaxation.ends, values, 4)
    decided = {branch.cities for branch in node.branches}
    found = [tuple(np.flatnonzero(inside).tolist()) for inside in sets]
    return [cities for cities in found if cities not in decided] or _all_sets(node, values)
