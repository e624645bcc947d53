"""Every method on a few cities: what must be kept is kept, and a proof is one of the constrained optimum."""

import numpy as np
import pytest
from instances import drawing, shortest

import warptsp
from warptsp.errors import InvalidProblem, UnsupportedProblem
from warptsp.methods import METHODS
from warptsp.problem import OpenPath, Problem

ENDLESS = {"hill-climbing": {"climbers": 3}}
ENDS = [None, OpenPath(), OpenPath(0), OpenPath(None, 1), OpenPath(0, 1)]
FIXED = [[], [(0, 2)], [(0, 2), (2, 1)]]


def instances(draw, n):
    """Instances of n cities with each kind of ends and fixed edges that go together, in several units."""
    points = draw.random((n, 2))
    matrix = draw.integers(1, 100, (n, n))
    np.fill_diagonal(matrix, 0)
    for opened in ENDS[: 5 if n > 1 else 2]:
        for fixed in FIXED:
            if max(np.ravel(fixed), default=0) >= n:
                continue
            for size in (1.0, 1e-11):
                try:
                    yield Problem.from_points(points * size, fixed_edges=fixed, open=opened)
                except InvalidProblem:
                    break  # the edges and the ends exclude each other
        yield Problem.from_matrix(matrix + matrix.T, open=opened)
        yield Problem.from_matrix(matrix, open=opened, asymmetric=True)


@pytest.mark.parametrize("n", range(1, 8))
def test_a_proof_is_of_the_constrained_optimum(n):
    proofs = 0
    for problem in instances(drawing(n)[0], n):
        optimum = shortest(problem)
        for method in METHODS:
            params = ENDLESS.get(method)
            try:
                result = warptsp.solve(problem, method=method, params=params, kicks=20, device="cpu")
            except UnsupportedProblem:
                continue
            problem.check_tour(result.tour)
            assert result.length >= optimum * (1 - 1e-12)
            if result.proved_optimal:
                proofs += 1
                assert result.length == pytest.approx(optimum, rel=1e-12, abs=0), (problem, method)
        assert warptsp.solve(problem).proved_optimal
    assert proofs > 0


@pytest.mark.parametrize("opened", [None, OpenPath()])
def test_a_start_tour_is_constructed_as_it_is(opened):
    start = np.array([0, 2, 1])
    problem = Problem.from_points([[0, 0], [10, 0], [3, 0.5]], open=opened)
    result = warptsp.solve(problem, method="construct", start=start[::-1] if opened else start)
    np.testing.assert_array_equal(result.tour, start[::-1] if opened else start)
    assert result.proved_optimal == (opened is None)


def test_fixed_edges_hide_no_small_differences():
    """Of numbers far below 1, which a bonus of 1 for each fixed edge would round away."""
    draw = drawing("small differences")[0]
    for _ in range(20):
        matrix = 1e-11 * (1 + 1e-6 * draw.random((6, 6)))
        matrix = np.triu(matrix, 1) + np.triu(matrix, 1).T
        problem = Problem.from_matrix(matrix, fixed_edges=[(2, 3)])
        result = warptsp.solve(problem, method="exact")
        assert result.proved_optimal
        assert result.length == pytest.approx(shortest(problem), rel=1e-12, abs=0)
