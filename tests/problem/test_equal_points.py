"""Cities at one point, or of equal rows: which of them are one place, and tours of places."""

import numpy as np
import pytest

from warptsp.problem import Metric, OpenPath, Problem
from warptsp.problem.places import places_of

TWICE = np.array([[0.0, 0], [5, 5], [0, 0], [9, 1], [5, 5], [-0.0, 0]])


def groups(problem):
    places = places_of(problem)
    if places is None:
        return None
    return [places.cities[a:b].tolist() for a, b in zip(places.first[:-1], places.first[1:], strict=True)]


def test_cities_at_one_point_are_one_place():
    assert groups(Problem.from_points(TWICE)) == [[0, 2, 5], [1, 4], [3]]
    assert groups(Problem.from_points(TWICE[[0, 1, 3]])) is None


def test_cities_with_constraints_have_places_of_their_own():
    fixed = Problem.from_points(TWICE, fixed_edges=[[0, 3]])
    assert groups(fixed) == [[0], [1, 4], [2, 5], [3]]
    assert places_of(fixed).problem.fixed_edges.tolist() == [[0, 3]]
    path = Problem.from_points(TWICE, open=OpenPath(4, 1))
    assert groups(path) == [[0, 2, 5], [1], [3], [4]]
    assert places_of(path).problem.open == OpenPath(3, 1)


@pytest.mark.parametrize("metric", [Metric.GEO, Metric.XRAY1, Metric.XRAY2])
def test_some_metrics_have_no_places(metric):
    points = np.tile([[10.0, 20, 30][: metric.dimensions]], (4, 1))
    assert places_of(Problem.from_points(points, metric)) is None


@pytest.mark.parametrize(
    ("metric", "points", "exact"),
    [
        ("EXACT_2D", TWICE / 3, True),
        ("GREAT_CIRCLE", TWICE / 3, True),
        ("CEIL_2D", TWICE, True),
        ("ATT", TWICE, True),
        ("MAN_2D", TWICE, True),
        ("MAX_2D", TWICE, True),
        ("MAX_2D", TWICE / 3, False),
        ("CEIL_2D", TWICE / 3, False),
        ("EUC_2D", TWICE, False),
        ("FLOOR_2D", TWICE, False),
    ],
)
def test_rounding_breaks_the_triangle_inequality(metric, points, exact):
    assert places_of(Problem.from_points(points, metric)).exact is exact


def matrix_of(points):
    return np.abs(points[:, None] - points[None]).sum(axis=-1).astype(int)


def test_equal_rows_of_a_matrix_are_one_place():
    matrix = matrix_of(TWICE)
    assert groups(Problem.from_matrix(matrix)) == [[0, 2, 5], [1, 4], [3]]
    assert places_of(Problem.from_matrix(matrix)).exact
    other = matrix.copy()
    other[2, 3] = other[3, 2] = other[2, 3] + 1  # so its row is another one, though 0 from city 0
    assert groups(Problem.from_matrix(other)) == [[0, 5], [1, 4], [2], [3]]


def test_of_a_directed_matrix_columns_count_too():
    matrix = matrix_of(TWICE)
    matrix[3, 2] += 1
    assert groups(Problem.from_matrix(matrix, asymmetric=True)) == [[0, 5], [1, 4], [2], [3]]


def test_where_a_detour_over_a_place_pays_it_is_none():
    """A hub in five rows is worth visiting five times."""
    matrix = np.full((12, 12), 100)
    matrix[:5], matrix[:, :5] = 1, 1
    matrix[:5, :5] = 0
    np.fill_diagonal(matrix, 0)
    assert places_of(Problem.from_matrix(matrix)) is None
    matrix[matrix == 100] = 3  # rounding may do as much
    assert not places_of(Problem.from_matrix(matrix)).exact
    assert places_of(Problem.from_matrix(np.array(matrix, float))) is None


def test_a_matrix_with_missing_arcs_has_no_places():
    matrix = matrix_of(TWICE).astype(float)
    matrix[1, 3] = matrix[3, 1] = matrix[4, 3] = matrix[3, 4] = np.inf
    assert places_of(Problem.from_matrix(matrix)) is None


def test_many_points_with_colliding_keys_are_told_apart(monkeypatch):
    from warptsp.problem import places

    points = np.random.default_rng(8).integers(0, 12, (300, 2)).astype(float)
    monkeypatch.setattr(places, "_keys_of_points", lambda problem: np.zeros(problem.n, dtype=np.uint64))
    found = places_of(Problem.from_points(points))
    for place in np.unique(found.place):
        assert len(np.unique(points[found.place == place], axis=0)) == 1


def test_tours_of_places_are_tours_of_cities():
    random = np.random.default_rng(3)
    points = random.integers(0, 6, (200, 2)).astype(float)
    problem = Problem.from_points(points)
    places = places_of(problem)
    visits = random.permutation(places.problem.n).astype(np.int32)
    tour = places.expand(visits)
    problem.check_tour(tour)
    assert problem.length(tour) == pytest.approx(places.problem.length(visits))
    assert np.array_equal(places.contract(tour), visits)
    for place in range(places.problem.n):  # beside each other, in their own order
        at = np.flatnonzero(places.place[tour] == place)
        assert (np.diff(at) == 1).all()
        assert (np.diff(tour[at]) > 0).all()
    given = random.permutation(problem.n).astype(np.int32)
    _, first = np.unique(places.place[given], return_index=True)
    assert np.array_equal(places.contract(given), places.place[given][np.sort(first)])


def test_a_place_may_be_visited_as_often_as_it_has_cities():
    problem = Problem.from_points(TWICE)
    places = places_of(problem)
    tour = places.expand(np.array([0, 2, 0, 1, 0, 1], dtype=np.int32))
    problem.check_tour(tour)
    assert places.place[tour].tolist() == [0, 2, 0, 1, 0, 1]
    problem.check_tour(places.expand(np.array([0, 2, 0, 1], dtype=np.int32)))
