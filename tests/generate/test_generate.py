"""Generated instances."""

import itertools
from pathlib import Path

import numpy as np
import pytest

from warptsp.errors import InvalidOption, InvalidProblem
from warptsp.generate import (
    clustered,
    dimacs,
    grid,
    grid_optimal_length,
    grid_optimal_tour,
    is_dimacs_name,
    uniform,
)
from warptsp.generate.dimacs import SIZES
from warptsp.io import load, write_problem
from warptsp.problem import Metric, Problem


def test_dimacs_instances_are_the_published_ones():
    """The table of known lengths holds the length in file order, so recognition is a check of every city."""
    for kind, (size, n), number in itertools.product("EC", SIZES.items(), range(2)):
        if n <= 100_000:
            problem = dimacs(f"{kind}{size}.{number}")
            assert problem.n == n
            if (kind, size, number) in {("E", "1k", 0), ("C", "1k", 0), ("E", "10k", 1), ("C", "100k", 0)}:
                assert problem.known_length is not None
                assert problem.metric is Metric.EUC_2D
    assert dimacs("E1k.0").known_length.length == 23360648
    assert dimacs("C1k.0").known_length.length == 11387430


def test_dimacs_names():
    assert dimacs("e1K.0").name == "E1k.0"
    assert is_dimacs_name("E10M.0")
    assert not is_dimacs_name("berlin52")
    for name in ("E2k.0", "D1k.0", "E1k", "E1k.0.0"):
        with pytest.raises(InvalidOption, match="there is no DIMACS instance"):
            dimacs(name)


def test_the_example_is_what_the_generator_makes(tmp_path):
    example = Path(__file__).parents[2] / "examples" / "E1k.0.tsp"
    write_problem(tmp_path / "E1k.0.tsp", dimacs("E1k.0"))
    assert (tmp_path / "E1k.0.tsp").read_bytes() == example.read_bytes()
    assert load(example).known_length.length == 23360648


def test_random_instances():
    assert np.array_equal(uniform(100, seed=1).coordinates, uniform(100, seed=1).coordinates)
    assert not np.array_equal(uniform(100, seed=1).coordinates, uniform(100, seed=2).coordinates)
    points = uniform(10_000, side=10).coordinates
    assert sorted(set(points.reshape(-1).tolist())) == list(range(10))
    assert len(uniform(10).coordinates) == 10
    few = clustered(1000, seed=3, clusters=2, spread=10)
    assert np.array_equal(few.coordinates, clustered(1000, seed=3, clusters=2, spread=10).coordinates)
    assert len(np.unique(few.coordinates // 100_000, axis=0)) <= 8
    assert clustered(1).n == 1
    assert np.array_equal(few.coordinates, np.rint(few.coordinates))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: uniform(0), "n: 0 is not possible, it must lie between 1"),
        (lambda: uniform(5, seed=-1), "seed: -1 is not possible"),
        (lambda: uniform(5, side=0), "side: 0 is not possible"),
        (lambda: clustered(5, clusters=0), "clusters: 0 is not possible"),
        (lambda: clustered(5, spread=-1), "spread: -1 is not possible"),
        (lambda: clustered(5, spread=float("nan")), "spread: nan is not possible"),
        (lambda: grid(1, 5), "rows: 1 is not possible"),
        (lambda: grid(5, 1), "columns: 1 is not possible"),
        (lambda: grid(2, 2, spacing=0), "spacing: 0 is not possible"),
    ],
)
def test_impossible_numbers(make, message):
    with pytest.raises(InvalidOption, match=message):
        make()


@pytest.mark.parametrize("rows", range(2, 8))
@pytest.mark.parametrize("columns", range(2, 8))
def test_the_tour_of_a_grid_has_the_optimal_length(rows, columns):
    problem = grid(rows, columns, spacing=7)
    tour = grid_optimal_tour(rows, columns)
    problem.check_tour(tour)
    assert problem.length(tour) == grid_optimal_length(rows, columns, spacing=7)


@pytest.mark.parametrize(("rows", "columns"), [(2, 2), (2, 3), (3, 2), (2, 4), (3, 3)])
def test_no_tour_of_a_small_grid_is_shorter(rows, columns):
    problem = grid(rows, columns)
    shortest = min(
        problem.length([0, *order])
        for order in itertools.permutations(range(1, rows * columns))
        if order[0] < order[-1]
    )
    assert shortest == grid_optimal_length(rows, columns)
    assert problem.known_length.length == shortest


def test_grids_are_recognised(tmp_path):
    problem = grid(5, 6, spacing=3)
    write_problem(tmp_path / "a.tsp", problem)
    found = load(tmp_path / "a.tsp")
    assert found.known_length.length == 90
    assert found.known_length.proven
    assert "the optimal tour is 90 long" in found.comment
    moved = problem.coordinates.copy()
    moved[7] += 1
    assert Problem(Metric.EUC_2D, coordinates=moved, name=problem.name).known_length is None
    assert Problem(Metric.MAN_2D, coordinates=problem.coordinates, name=problem.name).known_length is None
    with pytest.raises(InvalidProblem, match="which is exact only up to"):
        grid(2, 200_000, spacing=10**9)
    wide = problem.coordinates * 1e10  # wider than `grid` makes them
    assert Problem(Metric.EUC_2D, coordinates=wide, name=problem.name).known_length is None
