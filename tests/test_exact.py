"""Dynamic programming against brute force."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warptsp.methods.exact import MAX_CITIES, optimal_tour
from warptsp.problem import OpenPath, Problem


def brute_force(problem):
    best = None
    for order in itertools.permutations(range(problem.n)):
        try:
            problem.check_tour(np.array(order))
        except ValueError:
            continue
        length = problem.length(np.array(order))
        best = length if best is None else min(best, length)
    return best


@st.composite
def problems(draw):
    n = draw(st.integers(1, 6))
    whole = draw(st.booleans())
    number = st.integers(0, 9) if whole else st.floats(0, 9, allow_subnormal=False).map(lambda x: round(x, 3))
    points = draw(st.lists(st.tuples(number, number), min_size=n, max_size=n))
    path = None
    fixed = np.empty((0, 2), dtype=np.int32)
    if draw(st.booleans()):
        start = draw(st.none() | st.integers(0, n - 1))
        end = draw(st.none() | st.integers(0, n - 1))
        if n == 1 or start is None or start != end:
            path = OpenPath(start, end)
    elif n >= 4 and draw(st.booleans()):
        fixed = np.array([[0, 2], [2, 3]], dtype=np.int32)
    return Problem.from_points(
        np.array(points, dtype=float), metric="EUC_2D" if whole else None, open=path, fixed_edges=fixed
    )


@settings(max_examples=150, deadline=None)
@given(problems())
def test_as_short_as_brute_force(problem):
    tour = optimal_tour(problem)
    problem.check_tour(tour)
    assert problem.length(tour) == pytest.approx(brute_force(problem), rel=1e-12)


def test_the_most_cities():
    angle = np.random.default_rng(0).permutation(MAX_CITIES) * 2 * np.pi / MAX_CITIES
    problem = Problem.from_points(np.column_stack((np.cos(angle), np.sin(angle))))
    length = problem.length(optimal_tour(problem))
    assert length == pytest.approx(2 * MAX_CITIES * np.sin(np.pi / MAX_CITIES))
