"""The problem: validation, distances, lengths, tours."""

import dataclasses
import itertools
import math
import re
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from warptsp import solve
from warptsp.errors import InvalidOption, InvalidProblem, InvalidTour
from warptsp.problem import Metric, OpenPath, Problem, checks, constraints
from warptsp.problem.given_tour import checked_tour
from warptsp.problem.lengths import FEW, _exact_parts, exact_sums
from warptsp.problem.metric import NORMS
from warptsp.problem.names import city_of_file

COORDINATE_METRICS = [metric for metric in Metric if metric.has_coordinates]


@st.composite
def instances(draw, metric=None):
    metric = metric or draw(st.sampled_from(COORDINATE_METRICS))
    n = draw(st.integers(1, 12))
    if metric is Metric.GREAT_CIRCLE:
        columns = [st.floats(-90, 90), st.floats(-180, 180)]
    elif metric is Metric.GEO:
        columns = [st.floats(-89, 89), st.floats(-180, 180)]
    else:
        columns = [st.one_of(st.integers(-1000, 1000).map(float), st.floats(-1e6, 1e6))] * metric.dimensions
    rows = draw(st.lists(st.tuples(*columns), min_size=n, max_size=n))
    # Subnormal spreads are refused, and tested elsewhere.
    return Problem(metric, coordinates=np.round(np.array(rows, dtype=float), 6))


# Distances of each metric, worked out by hand; native code is compared with the same functions elsewhere.
BY_HAND = {
    Metric.EUC_2D: ([0, 0], [2, 2], 3),  # 2.83
    Metric.CEIL_2D: ([0, 0], [1, 2], 3),  # 2.24
    Metric.FLOOR_2D: ([0, 0], [2, 2], 2),
    Metric.EXACT_2D: ([0, 0], [3, 4], 5.0),
    Metric.ATT: ([0, 0], [10, 0], 4),  # the root of 10 is 3.16
    Metric.MAN_2D: ([0, 0], [1.2, 1.4], 3),  # 2.6
    Metric.MAX_2D: ([0, 0], [1.2, 1.4], 1),
    Metric.EUC_3D: ([0, 0, 0], [1, 2, 2], 3),
    Metric.EXACT_3D: ([0, 0, 0], [2, 3, 6], 7.0),
    Metric.MAN_3D: ([0, 0, 0], [1, 2, 2], 5),
    Metric.MAX_3D: ([0, 0, 0], [1, 2, 2], 2),
    Metric.GEO: ([0, 0], [0, 90], 10020),  # a quarter of the equator: 10019.1 km, and one kilometre more
    Metric.GREAT_CIRCLE: ([0, 0], [0, 90], 6371008.8 * math.pi / 2),
    Metric.XRAY1: ([350, 0, 0], [0, 3, 0], 1000),  # ten degrees around the circle
    Metric.EXACT_MAN_2D: ([0, 0], [1.25, 1.5], 2.75),
    Metric.EXACT_MAX_2D: ([0, 0], [1.25, 1.5], 1.5),
    Metric.EXACT_MAN_3D: ([0, 0, 0], [1, 2.25, 2.5], 5.75),
    Metric.EXACT_MAX_3D: ([0, 0, 0], [1, 2.25, 2.5], 2.5),
    Metric.XRAY2: ([350, 0, 0], [0, 3, 0], 800),  # of which a second turns 1.25
}
ALSO_BY_HAND = [
    (Metric.EUC_2D, [0, 0], [2.5, 0], 3),  # half is rounded up
    (Metric.CEIL_2D, [-1, 0], [1, 0], 2),
    (Metric.ATT, [0, 0], [-3, 9], 3),  # the root of 9
    (Metric.MAX_2D, [-1.5, 0], [0, 1], 2),
    (Metric.GEO, [0.3, 0], [-0.3, 0], 112),  # thirty minutes of a degree twice: 111.3 km
    (Metric.GREAT_CIRCLE, [60, 0], [60, 180], 6371008.8 * math.pi / 3),  # over the pole
    (Metric.XRAY1, [0, 1, 0], [0, 3, -4.126], 413),
    (Metric.XRAY2, [0, 1, 0], [0, 1, -4.6], 400),
]


@pytest.mark.parametrize(
    ("metric", "first", "second", "expected"),
    [*((metric, *BY_HAND[metric]) for metric in COORDINATE_METRICS), *ALSO_BY_HAND],
)
def test_distances_worked_out_by_hand(metric, first, second, expected):
    problem = Problem(metric, coordinates=np.array([first, second], dtype=float))
    assert problem.distance(0, 1) == pytest.approx(expected, rel=1e-12)


@given(instances(), st.data())
def test_distances_are_symmetric_and_bounded(problem, data):
    a, b = (data.draw(st.integers(0, problem.n - 1)) for _ in range(2))
    found = problem.distance(a, b)
    assert type(found) is (int if problem.metric.integral else float)
    assert (found == 0) or (a != b)
    assert found <= problem.distance_bound
    assert problem.distance(b, a) == found


@given(instances(), st.randoms(use_true_random=False))
def test_length_sums_the_edges_and_ignores_start_and_direction(problem, random):
    tour = list(range(problem.n))
    random.shuffle(tour)
    edges = [problem.distance(a, b) for a, b in itertools.pairwise([*tour, tour[0]])]
    add = sum if problem.metric.integral else math.fsum
    for same in (tour, tour[2:] + tour[:2], tour[::-1]):
        assert problem.length(same) == add(edges)
    assert dataclasses.replace(problem, open=OpenPath()).length(tour) == add(edges[:-1])


@pytest.mark.parametrize("n", [FEW - 1, FEW, FEW + 1, 2 * FEW])
def test_real_lengths_are_rounded_once_however_they_are_added_up(n):
    problem = Problem.from_points(np.random.default_rng(n).random((n, 2)))
    tour = np.arange(n)
    assert problem.length(tour) == math.fsum(problem.distance(tour, np.roll(tour, -1)))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8])
def test_more_cities_than_32_bits_number(dtype):
    """Refused in one line, before anything of their size is made."""
    many = np.broadcast_to(np.zeros((1, 2), dtype), (2**31, 2))
    for door in (Problem.from_points, partial(Problem, Metric.EUC_2D)):
        with pytest.raises(InvalidProblem, match=r"^2147483648 cities: at most 2147483647 are possible$"):
            door(many)


def test_a_path_through_as_many_cities_as_32_bits_number(monkeypatch):
    monkeypatch.setattr(constraints, "MAX_CITIES", 5)
    assert Problem.from_points(np.eye(4, 2), open=OpenPath()).n == 4
    with pytest.raises(InvalidProblem, match=r"^5 cities: at most 4 are possible$"):
        Problem.from_points(np.eye(5, 2), open=OpenPath())


@pytest.mark.parametrize("threads_from", [1, 10**9])
@pytest.mark.parametrize("n", [5001, 2**16 - 1, 2**16, 2**16 + 1, 200_000])
def test_bounds_of_many_cities(monkeypatch, n, threads_from):
    monkeypatch.setattr(checks, "_MANY_ROWS", threads_from)
    points = np.random.default_rng(n).normal(size=(n, 3))
    np.testing.assert_array_equal(
        Problem.from_points(points).bounds, (points.min(axis=0), points.max(axis=0))
    )
    points[n // 2, 1] = np.nan
    with pytest.raises(InvalidProblem, match=rf"^coordinate 1 of city {n // 2} \(counted from 0\) is nan"):
        Problem.from_points(points)


def test_a_changed_problem_has_bounds_of_its_own():
    problem = Problem.from_points([[0, 0], [3, 4]])
    assert problem.distance_bound == pytest.approx(5.0)
    larger = dataclasses.replace(problem, coordinates=[[0, 0], [6, 8]], fixed_edges=[[0, 1]])
    assert larger.bounds[1].tolist() == [6, 8]
    assert larger.distance_bound == pytest.approx(10.0)
    for array in (larger.bounds[1], larger.coordinates, larger.fixed_edges, problem.fixed_edges):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 1


@given(st.lists(st.floats(0, 1e9), min_size=1, max_size=300))
def test_exact_parts_lose_almost_nothing(values):
    exact = sum(map(Fraction, values))
    parts = _exact_parts(np.array(values))
    assert abs(sum(map(Fraction, parts)) - exact) <= exact * Fraction(1, 2**100)


@given(arrays(np.float64, array_shapes(min_dims=2, max_dims=2, max_side=40), elements=st.floats(0, 1e9)))
def test_sums_of_many_rows_are_those_of_each(rows):
    assert exact_sums(rows) == [math.fsum(row) for row in rows]


def test_arrays_of_cities_are_broadcast():
    problem = Problem.from_points([[0, 0], [3, 4], [6, 8]], "EUC_2D")
    found = problem.distance([[0], [1]], [0, 1, 2])
    assert found.dtype == np.int64
    assert found.tolist() == [[0, 5, 10], [5, 0, 5]]


@pytest.mark.parametrize("scale", [1e12, 1.0, 1e-9, 1e-100, 1e100])
def test_a_square_of_any_size(scale):
    square = np.array([[0, 0], [0, 1], [1, 1], [1, 0]]) * scale
    assert Problem.from_points(square).length([0, 1, 2, 3]) == 4 * scale
    assert Problem.from_points(square).length([0, 2, 1, 3]) == pytest.approx((2 + 2 * 2**0.5) * scale)


@pytest.mark.parametrize("metric", [Metric.EXACT_2D, Metric.EUC_2D])
@pytest.mark.parametrize("path", [None, OpenPath()])
def test_threads_change_nothing(monkeypatch, metric, path):
    rng = np.random.default_rng(11)
    problem = Problem(metric, coordinates=rng.random((5000, 2)) * 1e6, open=path)
    tour = rng.permutation(5000).astype(np.int32)
    expected = problem.length(tour)
    monkeypatch.setattr("warptsp.problem.tours.WORTH_THREADS", 700)
    monkeypatch.setattr("warptsp.problem.lengths.WORTH_THREADS", 700)
    monkeypatch.setattr("warptsp.problem.lengths.CHUNK", 300)
    assert problem.length(tour, threads=3) == expected
    problem.check_tour(tour, threads=3)
    for place in (0, 1234, 4999):
        wrong = tour.copy()
        wrong[place] = tour[(place + 2500) % 5000]
        with pytest.raises(InvalidTour, match=f"node {wrong[place] + 1} is there more than once"):
            problem.check_tour(wrong, threads=3)


@pytest.mark.parametrize("metric", [m for m in Metric if m.has_coordinates])
@pytest.mark.parametrize("threads", [1, 3])
def test_long_tours_are_as_long_as_short_ones(monkeypatch, metric, threads):
    """Native code measures tours from some size on, and NumPy from the definitions, up to there."""
    rng = np.random.default_rng(13)
    spread = 180.0 if metric.geographic else 1e4
    n = 70_000
    problem = Problem(metric, coordinates=(rng.random((n, metric.dimensions)) - 0.5) * spread)
    tour = rng.permutation(n).astype(np.int32)
    expected = problem.length(tour)
    monkeypatch.setattr("warptsp.problem.tours.WORTH_THREADS", 700)
    assert problem.length(tour, threads=threads) == expected
    problem.check_tour(tour, threads=threads)
    for wrong in (-1, n):
        tour[12_345] = wrong
        for judge in (problem.length, problem.check_tour):
            with pytest.raises(InvalidTour, match=f"there is no city {wrong}"):
                judge(tour, threads=threads)


def test_integer_lengths_beyond_int32_and_int64():
    n = 100
    points = np.zeros((n, 2))
    points[::2] = 6e13
    problem = Problem.from_points(points, "EUC_2D")
    edge = int(math.sqrt(2 * 6e13**2) + 0.5)
    assert problem.length(np.arange(n)) == n * edge
    assert problem.distance(0, 1) == edge
    copies = np.full(2_000_000, 0)
    copies[1::2] = 1
    assert problem.length(copies) == 2_000_000 * edge  # above 2**63


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("metric", COORDINATE_METRICS)
def test_tiny_instances(n, metric):
    problem = Problem(metric, coordinates=np.eye(n, metric.dimensions))
    length = problem.length(range(n))
    assert length == 0 if n == 1 else length > 0
    problem.check_tour(range(n))
    assert problem.length([0]) == 0


def test_all_cities_at_one_place():
    for metric, length in (("EXACT_2D", 0.0), ("GEO", 5)):  # whose formula rounds up: 1 km
        assert Problem.from_points(np.full((5, 2), 7.25), metric).length(range(5)) == length


def test_great_circle_distances():
    places = [[52.52, 13.405], [48.8566, 2.3522], [0, 0], [0, 180], [90, 0], [-90, 77], [0, 1e-9], [45, -180]]
    problem = Problem.from_points([*places, [45, 180]], "GREAT_CIRCLE")
    assert problem.distance(0, 1) == pytest.approx(877_464, abs=1)
    half = math.pi * 6371008.8
    assert problem.distance(2, 3) == pytest.approx(half, rel=1e-15)
    assert problem.distance(4, 5) == pytest.approx(half, rel=1e-15)
    assert problem.distance(2, 6) == pytest.approx(math.radians(1e-9) * 6371008.8, rel=1e-12)
    assert problem.distance(7, 8) == pytest.approx(0, abs=1e-8)


@given(instances(metric=Metric.GREAT_CIRCLE))
def test_search_points_are_unit_vectors(problem):
    points = problem.search_points()
    assert points.shape == (problem.n, 3)
    assert np.linalg.norm(points, axis=1) == pytest.approx(1.0)
    chord = np.linalg.norm(points[0] - points[-1])
    angle = 2 * math.asin(min(1.0, chord / 2))
    assert angle * 6371008.8 == pytest.approx(problem.distance(0, problem.n - 1), rel=1e-6, abs=1e-2)


def test_what_an_instance_does_not_have_is_an_error():
    places, matrix = Problem.from_points([[1, 2], [3, 4]]), Problem.from_matrix([[0, 1], [1, 0]])
    for lacking in (lambda: matrix.bounds, matrix.given_coordinates, matrix.search_points):
        with pytest.raises(InvalidProblem, match="a distance matrix has no coordinates"):
            lacking()
    with pytest.raises(InvalidProblem, match="an instance of coordinates has no distance matrix"):
        places.given_matrix()
    assert places.search_rows() is places.given_coordinates()
    assert matrix.search_rows() is matrix.given_matrix()


def test_the_table_of_metrics_is_that_of_the_native_header():
    header = Path(__file__).parents[2] / "src" / "warptsp" / "native" / "common" / "metric.h"
    native = re.findall(r"^  X\((\w+), (\w+), (\w+), (\w+)\)", header.read_text(), re.MULTILINE)
    table = [(m.name.lower(), m.space, NORMS[m.norm], m.rounding) for m in Metric]
    assert [("explicit" if row[0] == "matrix" else row[0], *row[1:]) for row in native] == table
    assert [metric.kind for metric in Metric] == list(range(len(Metric)))
    assert all(metric.description for metric in Metric)
    assert [metric.unit for metric in (Metric.GEO, Metric.GREAT_CIRCLE, Metric.EUC_2D)] == ["km", "m", ""]
    assert Metric.parse(" euc_2d ") is Metric.EUC_2D
    with pytest.raises(InvalidOption, match=r"unknown metric 'euclid': use one of EUC_2D"):
        Metric.parse("euclid")
    with pytest.raises(InvalidProblem, match=r"metric is array\(.*: Problem.from_array takes points"):
        Problem(np.zeros((3, 2)))


@pytest.mark.parametrize("door", [Problem.from_points, lambda of, metric: solve(of, metric=metric).problem])
def test_a_metric_may_be_a_function_of_few_points(door, caplog):
    points = np.random.default_rng(1).random((9, 2))
    problem = door(points, lambda p, q: float(abs(p - q).sum()))
    assert problem.metric is Metric.EXPLICIT
    assert problem.plot_points.tolist() == points.tolist()
    tour = np.arange(9)
    assert problem.length(tour) == pytest.approx(Problem.from_points(points, "manhattan").length(tour))
    assert caplog.messages == ["the metric is called for 72 pairs, and the instance is the matrix of these"]
    for wrong, function, message in (
        (np.zeros((1001, 2)), math.dist, "1001 points: as metric, a function is called for pairs of up"),
        (points, lambda p, q: p[0] + 2 * q[0], "not symmetric"),
        (np.empty((0, 2)), math.dist, "no cities"),
        ([[0, 0, 0], [1, 1, math.nan], [2, 2, 2]], lambda p, q: 1.0, r"coordinate 2 of city 1 .* finite"),
        (points, lambda p, q: p - p, r"returned array\(\[0.*for points 0 and 1: a number is needed"),
        (points, lambda p, q: p.sort(), "read-only"),
        (points, Metric, "is a class: a function of two points is needed"),
    ):
        with pytest.raises(ValueError, match=message):
            door(wrong, function)


def test_a_function_as_metric_is_for_points_in_python():
    places = {"a": (0, 0), "b": (1, 0), "c": (1, 1), "d": (3, 3)}
    directed = solve(places, metric=lambda p, q: p[0] + 2 * q[1] + 1, asymmetric=True)
    assert directed.problem.asymmetric
    with pytest.raises(InvalidOption, match="a function is taken with an array of points, or with"):
        solve([{"x": 0, "y": 0}, {"x": 1, "y": 0}], metric=math.dist)


# Validation


@pytest.mark.parametrize(
    ("points", "metric", "message"),
    [
        ([], None, "shape"),
        (np.empty((0, 2)), None, "no cities"),
        ([[1, 2], [3]], None, r"entry 1 .* is a row of 1, and the first is a row of 2"),
        ([["a", "b"]], None, "not numbers"),
        ([[1j, 2]], None, "complex"),
        ([[2**60 + 1, 2]], None, "cannot be kept exactly"),
        ([1, 2, 3], None, "shape"),
        ([[1, 2, 3, 4]], None, "shape"),
        ([[1, 2], [3, math.nan]], None, r"coordinate 1 of city 1 .* is nan"),
        ([[1, 2], [-math.inf, 1]], None, r"coordinate 0 of city 1 .* is -inf"),
        ([[1, 2]], "EUC_3D", r"needs \(n, 3\)"),
        ([[1, 2, 3]], "GEO", r"needs \(n, 2\)"),
        ([[91, 2]], "GREAT_CIRCLE", "latitude 91 of city 0"),
        ([[1, 2], [1, 361]], "GREAT_CIRCLE", "longitude 361 of city 1"),
        ([[0, 0], [1e200, 0]], None, "scale the coordinates"),
        ([[0, 0], [1e-200, 0]], None, "scale the coordinates"),
        ([[-1e308, 0], [1e308, 0]], None, "scale the coordinates"),
        ([[0, 0], [1e15, 0]], "EUC_2D", "use EXACT_2D"),
    ],
)
def test_bad_points(points, metric, message):
    with pytest.raises(InvalidProblem, match=message):
        Problem.from_points(points, metric)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.empty((0, 0)), "no cities"),
        ([1, 2], "condensed"),
        ([[0, 1, 2], [1, 0, 3]], "square"),
        ([[0, 1], [2, 0]], r"not symmetric: entry \(0, 1\) is 1 and entry \(1, 0\) is 2"),
        ([[0.0, 1.0], [1.001, 0.0]], "not symmetric"),
        ([[0, -1], [-1, 0]], r"entry \(0, 1\) of the matrix is -1"),
        ([[0, math.nan], [math.nan, 0]], r"entry \(0, 1\) of the matrix is nan"),
        ([[0, 2**60 + 1], [2**60, 0]], r"is 1152921504606846977 and entry \(1, 0\) is 1152921504606846976"),
        ([["a"]], "not numbers"),
    ],
)
def test_bad_matrices(matrix, message):
    with pytest.raises(InvalidProblem, match=message):
        Problem.from_matrix(matrix)


def test_matrices():
    given = np.array([[9, 2, 3], [2, 9, 4], [3, 4, 9]], dtype=np.int32)
    integers = Problem.from_matrix(given)
    assert given[0, 0] == 9
    assert Problem.from_matrix(given.astype(np.int64)).matrix.dtype == np.int32
    assert integers.length([0, 1, 2]) == 9
    assert type(integers.length([0, 1, 2])) is int
    real = Problem.from_matrix([[math.inf, 0.5], [0.5, math.nan]])
    assert real.length([0, 1]) == 1.0
    assert type(real.length([0, 1])) is float
    large = Problem.from_matrix([[0, 2**40], [2**40, 0]])
    assert large.matrix.dtype == np.int64
    nearly = Problem.from_matrix([[0, 0.1 + 0.2], [0.3, 0]])
    assert nearly.distance(0, 1) == nearly.distance(1, 0)


@pytest.mark.parametrize(
    ("array", "metric"),
    [
        (np.zeros((5, 2)), "EXACT_2D"),
        (np.zeros((5, 3)), "EXACT_3D"),
        (np.ones((5, 5)), "EXPLICIT"),
        ([[0]], "EXPLICIT"),
        ([[0, 1], [1, 0]], "EXPLICIT"),
        ([[0, 1], [2, 0]], "EXACT_2D"),
        ([[1, 2], [2, 1]], "EXACT_2D"),
        ([[0, 1, 2], [1, 0, 3], [2, 3, 0]], "EXPLICIT"),
        ([[0, 1, 2], [1, 5, 3], [2, 3, 0]], "EXACT_3D"),
        ([[0, 0, 0], [1, 0, 0], [0, 1, 0]], "EXACT_3D"),
        ([[math.inf, 1], [1, math.inf]], "EXPLICIT"),
        ([[math.nan, 1, 2], [1, math.nan, 3], [2, 3, math.nan]], "EXPLICIT"),
        ([[0, 1, math.inf], [1, 0, 3], [math.inf, 3, 0]], "EXPLICIT"),
        ([[1, 2], [3, 1]], "EXACT_2D"),
    ],
)
def test_arrays_are_points_or_distances(array, metric, caplog):
    assert Problem.from_array(array).metric.name == metric
    small = len(array) in (2, 3)
    word = "distances" if metric == "EXPLICIT" else "points"
    assert [f"are taken for {word}" in message for message in caplog.messages] == [True] * small


def test_a_small_matrix_may_be_asymmetric_too():
    with pytest.raises(InvalidProblem, match="not symmetric"):
        Problem.from_array([[0, 1, 2], [1, 0, 3], [2, 4, 0]])
    for array in (5.0, [], [1, 2], np.zeros((2, 2, 2))):
        with pytest.raises(InvalidProblem, match="shape"):
            Problem.from_array(array)


@pytest.mark.parametrize("n", [300, 2100])
def test_a_large_matrix_is_checked_everywhere(n):
    matrix = np.zeros((n, n))
    Problem.from_matrix(matrix)
    matrix[n - 1, n - 2] = 1.0
    with pytest.raises(InvalidProblem, match="not symmetric"):
        Problem.from_matrix(matrix)


SQUARE = [[0, 0], [0, 1], [1, 1], [1, 0]]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"fixed_edges": [[0, 1, 2]]}, "pairs"),
        ({"fixed_edges": [[0.5, 1]]}, "pairs"),
        ({"fixed_edges": [[0, 4]]}, "city 4: cities are 0 to 3"),
        ({"fixed_edges": [[2, 2]]}, "joins node 3 to itself"),
        ({"fixed_edges": [[0, 1], [0, 2], [3, 0]]}, "node 1 has 3 fixed edges"),
        ({"fixed_edges": [[0, 1], [1, 2], [2, 0]]}, "close a cycle"),
        ({"fixed_edges": [[0, 1], [1, 2], [2, 3], [0, 3]], "open": OpenPath()}, "close a cycle"),
        ({"open": OpenPath(start=4)}, "start is city 4"),
        ({"open": OpenPath(end="Rome")}, "end is 'Rome': the cities have no names; give a number"),
        ({"open": OpenPath(start=1.0)}, r"start is 1\.0: a city counted from 0"),
        ({"open": OpenPath(end=-1)}, "end is city -1"),
        ({"open": OpenPath(1, 1)}, "starts and ends at node 2"),
        ({"open": OpenPath(start=1), "fixed_edges": [[0, 1], [1, 2]]}, "cannot start at node 2"),
        ({"open": OpenPath(0, 2), "fixed_edges": [[0, 1], [1, 2]]}, "leave 1 city out"),
        ({"node_ids": [1, 2, 3]}, "4 integers are needed"),
        ({"node_ids": [1, 2, 3, -4]}, "-4 is negative"),
        ({"node_ids": [1, 2, 3, 3]}, "3 is used for more than one"),
        ({"labels": ["a"]}, "1 label for 4 cities"),
        ({"display": [[0, 1]]}, "display"),
        ({"display": np.full((4, 2), math.nan)}, "display"),
    ],
)
def test_bad_constraints(fields, message):
    with pytest.raises(InvalidProblem, match=message):
        Problem.from_points(SQUARE, **fields)


@pytest.mark.parametrize(
    "edges", [[[0, 1], [1, 2], [2, 3], [3, 0]], [[1, 0], [0, 1]], [[0, 1], [2, 3]], np.empty((0, 2))]
)
def test_good_fixed_edges(edges):
    problem = Problem.from_points(SQUARE, fixed_edges=edges)
    problem.check_tour([0, 1, 2, 3])
    assert problem.fixed_edges.dtype == np.int32


def test_two_fixed_triangles_are_no_tour_and_coordinates_and_a_matrix_no_instance():
    triangles = [[0, 1], [1, 2], [0, 2], [3, 4], [4, 5], [3, 5]]
    for metric, fields, message in (
        ("EUC_2D", {"coordinates": np.eye(6, 2), "fixed_edges": triangles}, "close a cycle"),
        ("EUC_2D", {"matrix": np.zeros((2, 2))}, "takes coordinates and no matrix"),
        ("EXPLICIT", {"coordinates": np.zeros((2, 2))}, "takes a matrix and no coordinates"),
    ):
        with pytest.raises(InvalidProblem, match=message):
            Problem(Metric[metric], **fields)


# Tours


@pytest.mark.parametrize(
    ("tour", "message"),
    [
        ([0, 1, 2], "a tour of 3 cities for an instance of 4: node 13 is missing"),
        ([0, 1, 2, 2], "node 12 is there more than once; node 13 is missing"),
        ([0, 0, 0, 0], "nodes 11, 12, 13 are missing"),
        ([0, 1, 2, 4], "there is no city 4: cities are counted from 0 to 3"),
        ([0, 1, 2, -1], "there is no city -1"),
        ([0.0, 1.0, 2.0, 3.0], "integers, not float64"),
        ([], "a tour of 0 cities"),
        ([[0, 1], [2, 3]], "one dimension"),
        ([[0], [1, 2]], "not in rows of one length"),
        ("abcd", "one dimension"),
    ],
)
def test_bad_tours(tour, message):
    problem = Problem.from_points(SQUARE, node_ids=[10, 11, 12, 13])
    with pytest.raises(InvalidTour, match=message):
        problem.check_tour(tour)


def test_tours_must_keep_constraints():
    problem = Problem.from_points(SQUARE, fixed_edges=[[0, 2]])
    problem.check_tour([0, 2, 1, 3])
    problem.check_tour([2, 1, 3, 0])
    with pytest.raises(InvalidTour, match="lacks the fixed edge 1 - 3"):
        problem.check_tour([0, 1, 2, 3])
    problem.check_tour([0, 1, 2, 3], constraints=False)
    path = dataclasses.replace(problem, open=OpenPath(start=1, end=3))
    path.check_tour([1, 0, 2, 3])
    for tour, message in (([3, 2, 0, 1], "start at node 2, not at 4"), ([1, 0, 3, 2], "end at node 4")):
        with pytest.raises(InvalidTour, match=f"must {message}"):
            path.check_tour(tour)
    free = dataclasses.replace(problem, open=OpenPath())
    with pytest.raises(InvalidTour, match="lacks the fixed edge"):
        free.check_tour([2, 1, 3, 0])


def test_cities_and_ids():
    plain = Problem.from_points(SQUARE, name="square")
    assert plain.node_id(2) == 3
    assert plain.ids_of([2, 0]).tolist() == [3, 1]
    assert plain.cities_of([3, 1]).tolist() == [2, 0]
    with pytest.raises(InvalidTour, match="square has no node 5: its nodes are 1 to 4"):
        plain.cities_of([1, 5])
    numbered = Problem.from_points(SQUARE, node_ids=[7, 3, 0, 9], labels=["a", "b", "c", "d"])
    assert numbered.cities_of(numbered.ids_of([3, 2, 1, 0])).tolist() == [3, 2, 1, 0]
    assert numbered.label(1) == "b"
    for wrong in (8, 10):
        with pytest.raises(InvalidTour, match=f"no node {wrong}: its 4 nodes lie between 0 and 9"):
            numbered.cities_of([wrong])


def test_a_city_by_its_name_or_number(caplog):
    twice = Problem.from_points(SQUARE, labels=["São Paulo", "BERLIN", "berlin", "Rome"])
    assert [twice.city(name) for name in ("são paulo", "berlin", "BERLIN", " rome ")] == [0, 2, 1, 3]
    with pytest.raises(InvalidOption, match="'Berlin': 2 cities have this name"):
        twice.city("Berlin")
    places = Problem.from_points(SQUARE, labels=["Paris", "Rome", "7", "Bonn"], node_ids=[4, 7, 9, 2])
    assert [city_of_file(places, name) for name in ("Bonn", "9", "4")] == [3, 2, 0]
    assert not caplog.text
    assert city_of_file(places, "7") == 2
    assert "7: taken for the name of node 9, not for the node of this number, 'Rome'" in caplog.text
    assert city_of_file(Problem.from_points(SQUARE), "4") == 3


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Pariss", "'Pariss': no such city; did you mean 'Paris'?"),
        ("Vienna", "'Vienna': no such city; give a number, counted from 0 to 3"),
        ("4", "'4': no such city; give a number, counted from 0 to 3; 4 in a file is 3"),
        (0, "0 is not the name of a city: a string is needed"),
        ("9" * 30, f"'{'9' * 30}': no such city; "),
    ],
)
def test_a_city_that_is_not_there(name, message):
    places = Problem.from_points(SQUARE, labels=["Paris", "Rom", "Rom", "Bonn"])
    with pytest.raises(InvalidOption, match=re.escape(message)):
        places.city(name)


def test_plot_points():
    assert Problem.from_points([[1, 2], [3, 4]]).plot_points.tolist() == [[1, 2], [3, 4]]
    assert Problem.from_points([[1, 2], [3, 4]], "GREAT_CIRCLE").plot_points.tolist() == [[2, 1], [4, 3]]
    assert Problem.from_points([[1, 2, 3]]).plot_points.tolist() == [[1, 2]]
    assert Problem.from_matrix([[0]]).plot_points is None
    assert Problem.from_matrix([[0]], display=[[5, 6]]).plot_points.tolist() == [[5, 6]]


def test_repr_is_short():
    assert repr(Problem.from_points(SQUARE, name="s")) == "<Problem 's': 4 cities, EXACT_2D>"
    text = repr(Problem.from_points(SQUARE, fixed_edges=[[0, 1]], open=OpenPath(2)))
    assert text == "<Problem '': 4 cities, EXACT_2D, 1 fixed edges, open=OpenPath(start=2, end=None)>"


def test_a_path_is_turned_to_the_ends_that_are_asked_for():
    points = np.arange(8.0).reshape(4, 2)
    there, back = [0, 1, 2, 3], [3, 2, 1, 0]
    for ends, expected in (((), there), ((0,), there), ((3,), back), ((None, 0), back), ((3, 0), back)):
        found = checked_tour(Problem.from_points(points, open=OpenPath(*ends)), there)
        assert found.tolist() == expected
        assert found.dtype == np.int32
    for ends, message in (((2,), "start at node 3, not at 1"), ((0, 1), "end at node 2, not at 4")):
        with pytest.raises(InvalidTour, match=f"must {message}"):
            checked_tour(Problem.from_points(points, open=OpenPath(*ends)), there)
