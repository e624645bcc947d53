"""Every method on every kind of instance: a tour that keeps what must be kept, or one of our errors.

`.ci/sanitize` runs these under the address and undefined-behaviour sanitizers; they reach most of the native
code.
"""

import numpy as np
import pytest
from instances import drawing

import warptsp
from warptsp.errors import InvalidProblem, UnsupportedProblem
from warptsp.methods import METHODS
from warptsp.problem import Metric, OpenPath

ENDLESS = {"hill-climbing": {"params": {"climbers": 3}}}
SMALL = {
    "three-opt": 24,
    "swap": 60,
    "relocate": 60,
    "vnd": 24,
}  # cities that are no more work for them than `CITIES` for the others
CITIES = 90


def uniform(n, draw):
    return draw.random((n, 2))


def lattice(n, draw):
    return draw.integers(0, 5, (n, 2)).astype(float)


def line(n, draw):
    return np.outer(draw.permutation(n) / 7.0, [1.0, 3.0])


def upright(n, draw):
    return np.column_stack([np.full(n, 0.1), draw.random(n)])


def one_place(n, draw):
    return np.full((n, 2), 1e5 / 3.0)


def far_apart(n, draw):
    return np.exp(60.0 * (draw.random((n, 2)) - 0.5))


SHAPES = {shape.__name__: shape for shape in (uniform, lattice, line, upright, one_place, far_apart)}


def free_edges(n, draw):
    """Fixed edges that are paths: each city has two at most, and no cycle arises."""
    order = draw.permutation(n)
    kept = [k for k in range(n - 1) if draw.random() < 0.3 and k % 7]
    return [(int(order[k]), int(order[k + 1])) for k in kept]


def check(problem, method, seed, threads):
    options = ENDLESS.get(method, {"kicks": 200})
    try:
        result = warptsp.solve(problem, method=method, seed=seed, threads=threads, device="cpu", **options)
    except UnsupportedProblem:
        return
    problem.check_tour(result.tour)
    assert result.length == problem.length(result.tour)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("method", METHODS)
def test_any_method_on_any_shape(method, shape):
    most = 12 if method == "exact" else SMALL.get(method, CITIES)
    draw, seed = drawing(method, shape)
    for n in (1, 2, 3, 4, 5, 8, 13, most):
        points = SHAPES[shape](min(n, most), draw)
        whole = Metric.EUC_2D if draw.random() < 0.5 else Metric.EXACT_2D
        check(warptsp.Problem.from_points(points, metric=whole), method, seed, 1 + n % 2)


@pytest.mark.parametrize("method", METHODS)
def test_any_method_with_fixed_edges_and_open_paths(method):
    most = 12 if method == "exact" else SMALL.get(method, CITIES)
    draw, seed = drawing(method)
    for n in (2, 3, 4, 5, 7, 13, most):
        points = uniform(min(n, most), draw)
        edges = free_edges(len(points), draw)
        ends = [None, OpenPath(), OpenPath(0), OpenPath(0, 1)]
        for opened in ends:
            for fixed in ([], edges):
                try:
                    problem = warptsp.Problem.from_points(points, fixed_edges=fixed, open=opened)
                except InvalidProblem:
                    continue  # the edges and the ends exclude each other
                check(problem, method, seed, 2)


@pytest.mark.parametrize("method", METHODS)
def test_any_method_on_matrices(method):
    most = 12 if method == "exact" else min(SMALL.get(method, 40), 40)
    draw, seed = drawing(method)
    for n in (2, 3, 4, 5, 9, most):
        for matrix in (draw.integers(0, 100, (n, n)), draw.random((n, n)), np.zeros((n, n), dtype=np.int64)):
            both = matrix + matrix.T
            np.fill_diagonal(both, 0)
            check(warptsp.Problem.from_matrix(both), method, seed, 2)


@pytest.mark.parametrize("metric", [m for m in Metric if m is not Metric.EXPLICIT])
def test_any_metric(metric):
    draw, seed = drawing(metric.name)
    for method in ("lk", "two-opt", "ils", "symmetric-two-opt", "hill-climbing"):
        points = draw.random((50, metric.dimensions)) * 80.0
        check(
            warptsp.Problem.from_points(points[:, :2] if metric.geographic else points, metric=metric),
            method,
            seed,
            2,
        )
