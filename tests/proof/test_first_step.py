"""What a new row is worth in one step, against the whole solution."""

from __future__ import annotations

import math

import numpy as np
import pytest

from warptsp import Problem, _native
from warptsp.construct import construct
from warptsp.proof.closed_instance import ClosedInstance
from warptsp.proof.first_step import FirstStep, Solution
from warptsp.proof.node_solver import Effort, NodeSolver

# Minimize x + 2 y + 4 z with x + y + z = 2, all from 0 to 1: y is basic, x at its upper limit.
PRICE = 2.0


def first_step(movable=(True, True, True)) -> FirstStep:
    solution = Solution(
        values=np.array([1.0, 1.0, 0.0]),
        reduced_costs=np.array([1.0, 2.0, 4.0]) - PRICE,
        movable=np.array(movable),
        prices=np.array([PRICE]),
        inequalities=np.array([False]),
        basic=np.array([1], dtype=np.int32),
        begin=np.arange(3, dtype=np.int32),
        rows=np.zeros(3, dtype=np.int32),
        entries=np.ones(3),
    )
    return FirstStep(solution, lambda right: right)


@pytest.mark.parametrize(
    ("row", "least", "most", "gains"),
    [
        ([0, 0, 1], 1, 0, (2, 0)),  # z instead of y
        ([0, 1, 0], 1, 0, (0, 2)),
        ([0, 1, 0], 1, 0.5, (0, 1)),
        ([1, 0, 0], 1, 0, (0, 1)),  # one step does not see that y cannot be 2
        ([1, 1, 0], 2, 1, (0, 2)),  # x + y = 2 - z
        ([1, 1, 0], 2, 0, (0, math.inf)),
        ([1, 1, 1], 3, 2, (math.inf, 0)),
    ],
)
def test_three_variables(row, least, most, gains):
    assert first_step().gains(np.array(row, dtype=float), least, most) == gains


def test_a_fixed_variable_does_not_move():
    assert first_step((True, True, False)).gains(np.array([0.0, 1.0, 0.0]), 1, 0) == (0, math.inf)


@pytest.mark.parametrize("seed", range(5))
def test_no_more_than_the_whole_rise(seed):
    pytest.importorskip("highspy", reason="an extra brings HiGHS: pip install 'warptsp[prove]'")
    problem = Problem.from_points(np.random.default_rng(seed).integers(0, 1000, (150, 2)), "EUC_2D")
    tour = construct(problem, "random", seed=seed)
    state = NodeSolver(
        ClosedInstance.of(problem, problem.length(tour)),
        tour,
        np.full((0, 1), -1, dtype=np.int32),
        seed=seed,
        token=_native.StopToken(),
        threads=1,
        keep_evidence=False,
    )
    state._cut(Effort.SUBTOURS, 1.0, 3)  # alone, so that there are both cuts and fractions
    program = state.program
    program.solve()
    values, basis, base = program.values, program.basis(), program.objective
    fractional = np.flatnonzero((values > 0.01) & (values < 0.99))
    step = program.first_step()
    assert step is not None
    rows = np.eye(len(values))[fractional]
    rows = np.concatenate([rows, rows[:-1] + rows[1:]])
    rows = rows[np.abs(rows @ values - np.rint(rows @ values)) > 0.01]
    gains = [step.gains(row, math.ceil(row @ values), math.floor(row @ values)) for row in rows]
    assert len(gains) > 10, seed
    for row, sides in zip(rows, gains, strict=True):
        value = float(row @ values)
        for gain, limits in zip(
            sides, [(math.ceil(value), math.inf), (-9.0, math.floor(value))], strict=True
        ):
            program.add_row(row, *limits)
            outcome, objective = program.probe(10**6)
            rise = math.inf if outcome.name == "INFEASIBLE" else objective - base
            program.drop_rows(np.array([state.relaxation.rows], dtype=np.int32))
            program.restore(basis)
            assert -1e-9 <= gain <= rise + 1e-6, (seed, value, gain, rise)
    assert np.mean(np.array(gains) > 1e-3) > 0.5, seed
