"""The linear programme: its rows are those of the cuts, off which cities' sums are taken, and it ends."""

import numpy as np
import pytest

from warptsp import Problem
from warptsp._native import Effort, StopToken
from warptsp.proof import linear_program
from warptsp.proof.closed_instance import FRACTION_BITS, ClosedInstance
from warptsp.proof.node_solver import NodeSolver

pytest.importorskip("highspy", reason="an extra brings HiGHS: pip install 'warptsp[prove]'")


@pytest.fixture
def solver():
    """The linear programme of a root after cuts of several kinds, and edges that came after them."""
    random = np.random.default_rng(0)
    n = 120
    problem = Problem.from_points(random.integers(0, 1000, (n, 2)) * 1.0, "EUC_2D")
    tour = random.permutation(n).astype(np.int32)
    token = StopToken()
    instance = ClosedInstance.of(problem, problem.length(tour), None, token)
    root = NodeSolver(instance, tour, seed=0, token=token)
    for effort in (Effort.SUBTOURS, Effort.BLOSSOMS):
        root.cut_at_root(effort)
    root.add_edges(random.permutation(n)[: 2 * (n // 2)].reshape(-1, 2).astype(np.int32))
    return root


@pytest.mark.parametrize("is_fork", [False, True])
def test_values_and_prices_are_those_of_the_cuts(solver, is_fork):
    solver = solver.fork(1) if is_fork else solver
    program, relaxation = solver.program, solver.relaxation
    bound = solver.solve_and_price()
    ends, n = relaxation.ends, solver.instance.size
    reduced = np.ldexp(solver.instance.lengths[ends[:, 0], ends[:, 1]].astype(float), -FRACTION_BITS)
    reduced -= program.prices[ends].sum(axis=1)
    assert relaxation.rows > 20
    for row in range(relaxation.rows):
        class_of, lengths, right, _ = relaxation.cut(row)
        coefficients = lengths[class_of[ends[:, 0]], class_of[ends[:, 1]]]
        assert program.activity[row] == pytest.approx(coefficients @ program.values, abs=1e-5)
        assert program.activity[row] >= right - 1e-5
        reduced -= program.prices[n + row] * coefficients
    inside = (program.values > 1e-6) & (program.values < 1 - 1e-6)
    assert inside.any()
    assert np.abs(reduced[inside]).max() < 0.01
    assert np.ldexp(float(bound), -FRACTION_BITS) == pytest.approx(program.objective, abs=1.0)


def test_most_coefficients_are_taken_away(solver):
    program, relaxation = solver.program, solver.relaxation
    given = 0
    for row in range(relaxation.rows):
        class_of, lengths, _, _ = relaxation.cut(row)
        given += np.count_nonzero(lengths[class_of[relaxation.ends[:, 0]], class_of[relaxation.ends[:, 1]]])
    program.solve()
    assert program._solver.getNumNz() - 2 * relaxation.columns < 0.7 * given


def test_a_solution_that_goes_astray_goes_on_in_other_ways(solver, monkeypatch):
    program = solver.program
    assert program.solve() is linear_program.Outcome.OPTIMAL
    objective = program.objective
    monkeypatch.setattr(linear_program, "PATIENCE", 0)
    program.restore()
    assert program.solve() is linear_program.Outcome.OPTIMAL
    assert program.objective == pytest.approx(objective, abs=1e-3)
    program.most_steps = 3
    program.restore()
    assert program.solve() is linear_program.Outcome.LIMIT


@pytest.mark.parametrize(("below", "ends"), [(0.1, True), (10.0, False)])
def test_a_solution_is_taken_where_it_nearly_is_the_least(solver, below, ends):
    """A reduced cost that far below 0, in the most that is allowed, and no step to mend it."""
    program = solver.program
    program.solve()
    reduced = np.array(program._solver.getSolution().col_dual)
    column = int(np.flatnonzero((program.values < 1e-9) & (reduced > 1e-3))[0])
    cost = program._solver.getLp().col_cost_[column] - reduced[column]
    program._solver.changeColCost(column, cost - below * linear_program._NEARLY * program.objective)
    program.most_steps = 0
    assert (program.solve() is linear_program.Outcome.OPTIMAL) == ends
