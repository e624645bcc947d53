"""Lower bounds: below every tour, equal to what all pairs prove, the same on any number of threads."""

import itertools
import math
import threading
from dataclasses import replace

import instances
import numpy as np
import pytest
from calls import given_time
from hypothesis import given, settings
from hypothesis import strategies as st
from instances import problem_of, shortest

import warptsp
from warptsp import Problem, _native
from warptsp.bound import lower_bound, proven_value
from warptsp.bound.held_karp import value_of
from warptsp.bound.reference_tour import reference_tour
from warptsp.claims import bound_of_optimal
from warptsp.construct import construct
from warptsp.errors import InvalidOption, InvalidTour, UnsupportedProblem
from warptsp.problem import Metric, OpenPath

PLACES = [metric for metric in Metric if metric is not Metric.EXPLICIT]
PATHS = [None, OpenPath(), OpenPath(start=0), OpenPath(end=1), OpenPath(start=0, end=2)]
FIXED = np.array([[3, 4], [5, 4], [6, 7]])


def assert_proved(problem, bound):
    proven = proven_value(problem, bound)
    if problem.metric.geographic:  # the ascent leaves a margin there
        assert bound.value <= proven <= bound.value * (1 + 1e-9) + 2 * problem.n * problem.integral
    else:
        assert proven == bound.value


@pytest.mark.parametrize(
    "metric", [*PLACES, "whole", "real"], ids=lambda metric: getattr(metric, "name", metric)
)
@pytest.mark.parametrize("path", PATHS, ids=str)
def test_all_pairs_prove_the_bound(metric, path):
    many = (100, FIXED if PATHS.index(path) % 2 else None)
    for n, fixed in (3, None), (4, None), (9, FIXED), many:
        problem = problem_of(metric, n, side=300, open=path)
        if fixed is not None:
            problem = replace(problem, fixed_edges=fixed)
        bound = lower_bound(problem, threads=1)
        assert bound.certified
        assert_proved(problem, bound)
        if n == 100:
            known = warptsp.solve(problem, stop=warptsp.MaxKicks(200), threads=1).length
            assert 0.95 * known < bound.value <= known


@pytest.mark.parametrize("metric", [Metric.EUC_2D, Metric.EXACT_2D, "whole"], ids=str)
@pytest.mark.parametrize("n", [4, 5, 13, 40])
def test_a_tour_whose_edges_are_all_fixed(metric, n):
    order = np.random.default_rng(n).permutation(n)
    edges = np.stack([order, np.roll(order, -1)], axis=1)
    for left_out in range(3):
        problem = replace(problem_of(metric, n, side=300), fixed_edges=edges[left_out:])
        length = problem.length(order)
        for tour in (None, order):
            bound = lower_bound(problem, tour, threads=1)
            assert_proved(problem, bound)
            assert bound.value == pytest.approx(length, rel=1e-6)
            assert bound.value <= length


def test_thousands_of_cities():
    draw = np.random.default_rng(5)
    uniform = draw.integers(0, 10**6, (2500, 2))
    centers = draw.integers(0, 10**6, (30, 2))
    clustered = centers[draw.integers(0, 30, 2000)] + draw.normal(0, 2000, (2000, 2))
    for points, largest_gap in (uniform, 0.015), (clustered, 0.05):
        problem = Problem.from_points(points, "EUC_2D")
        bound = lower_bound(problem, threads=1)
        assert_proved(problem, bound)
        tour = warptsp.solve(problem, stop=warptsp.MaxKicks(problem.n), threads=1)
        assert 0.0 < bound.gap(tour.length) < largest_gap


SCALES = st.sampled_from([1.0, 1e-3, 1e-30, 1e-130, 1e6, 1e30, 1e140])


@st.composite
def small_instances(draw):
    """Few cities, many of them on each other or in a line, of any size."""
    n = draw(st.integers(3, 7))
    metric = draw(st.sampled_from([m for m in PLACES if not m.geographic] + ["matrix"]))
    path = draw(st.sampled_from(PATHS))
    fixed = [[1, 2]] if n > 3 and draw(st.booleans()) else []
    fields = {"open": path, "fixed_edges": np.array(fixed, np.int32).reshape(-1, 2)}
    entry = st.one_of(st.integers(0, 4), st.integers(0, 1000), st.floats(0, 1))
    scale = draw(SCALES)
    if metric == "matrix":
        matrix = np.zeros((n, n))
        for i, j in itertools.combinations(range(n), 2):
            matrix[i, j] = matrix[j, i] = draw(entry)
        return Problem.from_matrix(matrix * scale, **fields)
    if metric.integral:
        scale = min(max(scale, 1e-3), 1e6)
    columns = draw(st.sampled_from([1, metric.dimensions]))  # 1: in a line
    numbers = draw(st.lists(entry, min_size=n * columns, max_size=n * columns))
    points = np.zeros((n, metric.dimensions))
    points[:, :columns] = np.reshape(numbers, (n, columns))
    extent = np.abs(points).max()
    if extent * scale < 1e-135:  # spans below 1e-140 are no instances
        scale = 1.0 if extent >= 1e-135 else 0.0
    return Problem.from_points(points * scale, metric, **fields)


@settings(max_examples=80)
@given(small_instances(), st.integers(1, 60))
def test_no_tour_is_shorter(problem, iterations):
    bound = lower_bound(problem, iterations=iterations, threads=1)
    assert bound.value <= shortest(problem)
    assert proven_value(problem, bound) >= bound.value


@settings(max_examples=40)
@given(st.data())
def test_any_potentials_bound_every_tour(data):
    """Also large ones, negative ones, and a root that is no leaf."""
    problem = data.draw(small_instances())
    bound = lower_bound(problem, iterations=2, threads=1)
    numbers = st.integers(-(2**31) + 1, 2**31 - 1) | st.integers(-50, 50)
    potentials = data.draw(st.lists(numbers, min_size=problem.n, max_size=problem.n))
    root = data.draw(st.integers(0, problem.n - 1))
    other = replace(bound, potentials=np.array(potentials, np.int32), root=root)
    assert proven_value(problem, other) <= shortest(problem)


@pytest.mark.parametrize("n", [1, 2])
def test_one_and_two_cities_have_one_tour(n):
    problem = Problem.from_points(np.arange(2.0 * n).reshape(n, 2))
    bound = lower_bound(problem)
    assert bound.value == bound_of_optimal(problem.length(np.arange(n))) <= proven_value(problem, bound)
    assert bound.certified


@pytest.mark.parametrize("n", [700, 70_000])
def test_the_same_on_any_number_of_threads(n):
    problem = Problem.from_points(np.random.default_rng(3).integers(0, 10**6, (n, 2)), "EUC_2D")
    tour = construct(problem)
    one, two, again = (lower_bound(problem, tour, iterations=8, threads=t) for t in (1, 2, 2))
    assert one.value == two.value == again.value
    assert np.array_equal(one.potentials, two.potentials)
    assert np.array_equal(two.potentials, again.potentials)


@pytest.mark.parametrize("longest", [5e12, 1e17, 10**13])
def test_an_entry_may_be_any_number_of_times_as_long_as_all_others(longest):
    for seed in range(4):
        random = np.random.default_rng(seed)
        matrix = (
            random.random((50, 50)) * 100 if isinstance(longest, float) else random.integers(1, 100, (50, 50))
        )
        usual = matrix.copy()
        walls = random.random((50, 50)) < 0.3
        matrix[walls], usual[walls] = longest, 1000
        matrix, usual = (np.triu(one, 1) + np.triu(one, 1).T for one in (matrix, usual))
        found = lower_bound(matrix, threads=1)
        assert proven_value(Problem.from_matrix(matrix), found) >= found.value
        assert found.value <= warptsp.solve(usual, kicks=1000, threads=1, bound=False).length, f"seed {seed}"


def test_tsplib(shared_data):
    for name, gap in (
        ("pr2392", 0.0123),
        ("fnl4461", 0.0058),
        ("att532", 0.02),
        ("gr666", 0.02),
        ("si535", 0.02),
    ):
        problem = warptsp.load(shared_data / "tsplib" / f"{name}.tsp")
        bound = lower_bound(problem, threads=1)
        assert 0.0 <= bound.gap(problem.known_length.length) < gap, name
        assert_proved(problem, bound)


# Stopping


def test_interrupted_at_any_moment_what_was_proved_is_kept():
    draw = np.random.default_rng(9)
    problem = Problem.from_points(draw.integers(0, 10**6, (1500, 2)), "EUC_2D")
    full = lower_bound(problem, threads=1).value
    seen = set()
    for number, delay in enumerate([0, *draw.uniform(0, 0.1, 8)]):
        token = warptsp.StopToken() if number == 5 else _native.StopToken()
        timer = threading.Timer(delay, token.request)
        if number == 0:
            token.request()
        timer.start()
        bound = lower_bound(problem, iterations=10**6, threads=1, token=token)
        timer.join()
        assert bound.value <= full * 1.01
        assert proven_value(problem, bound) >= bound.value
        assert bound.certified == (bound.iterations > 0)
        seen.add(bound.value)
    assert 0 in seen
    with pytest.raises(InvalidOption, match="token: 5 is not a StopToken"):
        lower_bound(problem, token=5)


def test_a_time_limit_holds():
    problem = Problem.from_points(np.random.default_rng(2).random((2000, 2)))
    enough = 0.95 * lower_bound(problem, threads=1).value
    bound = given_time(
        lambda seconds: lower_bound(problem, iterations=10**6, time_limit=seconds, threads=1),
        lambda bound: bound.value > enough,
    )
    assert bound.certified
    assert bound.iterations < 10**6
    assert bound.seconds < 60  # not the million iterations
    nothing = lower_bound(problem, time_limit=0)
    assert nothing.value == 0.0
    assert not nothing.certified
    assert proven_value(problem, nothing) >= 0.0


# What it refuses


def test_asymmetric():
    problem = Problem.from_matrix([[0, 1, 2], [3, 0, 4], [5, 6, 0]], asymmetric=True)
    with pytest.raises(UnsupportedProblem, match="asymmetric"):
        lower_bound(problem)


def test_a_tour_of_another_instance():
    points = np.random.default_rng(1).random((5, 2))
    fixed, begun = (
        Problem.from_points(points, **fields) for fields in ({"fixed_edges": [[0, 2]]}, {"open": OpenPath(2)})
    )
    for problem, tour in (points, range(4)), (points, [0, 1, 2, 3, 3]), (fixed, range(5)), (begun, range(5)):
        with pytest.raises(InvalidTour):
            lower_bound(problem, list(tour))
    turned = Problem.from_points(points, open=OpenPath(start=4))
    assert lower_bound(turned, [0, 1, 2, 3, 4]).certified


@pytest.mark.parametrize(
    "options", [{"iterations": 0}, {"iterations": 1.5}, {"time_limit": -1}, {"threads": 0}]
)
def test_options(options):
    with pytest.raises(InvalidOption):
        lower_bound([[0, 0], [1, 0], [0, 1]], **options)


# Numbers


def test_units():
    whole, real = Problem.from_points(np.eye(3, 2), "EUC_2D"), Problem.from_points(np.eye(3, 2))
    assert value_of(whole, 257, 8) == 2
    assert value_of(whole, 256, 8) == 1
    assert value_of(whole, 3, -4) == 48
    assert value_of(real, 257, 8) == 257 / 256
    many = (1 << 60) + 127  # between two floats; the nearer one is above it
    assert value_of(real, many, 0) == 2.0**60
    assert math.nextafter(2.0**60, math.inf) == 2.0**60 + 256


def test_gap():
    bound = lower_bound([[0, 0], [3, 0], [3, 4], [0, 4]])
    assert bound.value == 14.0
    assert bound.gap(14.0) == 0.0
    assert bound.gap(15.4) == pytest.approx(0.1)
    assert lower_bound(np.zeros((4, 2))).gap(0.0) == 0.0
    long = replace(bound, value=2**60)
    assert (long.gap(2**60), long.gap(2**60 + 1)) == (0.0, 2.0**-60)  # no float tells the two lengths apart


@pytest.mark.parametrize("seed", [1, 2])
def test_drilling_board(seed: int) -> None:
    """Blocks of holes far apart: the second edge of a leaf must be the one of all pairs, not of few edges.

    Otherwise potentials climb along an edge from block to block, and little of that is proved.
    """
    random = np.random.default_rng(seed)
    blocks = random.integers(0, 40_000, (15, 1, 2))
    holes = 20 * np.stack(np.meshgrid(np.arange(4), np.arange(4)), axis=-1).reshape(1, -1, 2)
    problem = warptsp.Problem.from_points((blocks + holes).reshape(-1, 2).astype(float), "EUC_2D")
    found = warptsp.solve(problem, kicks=1000, seed=1, threads=1)
    bound = warptsp.lower_bound(problem, found.tour, iterations=100)
    assert bound.gap(found.length) < 0.003


def test_edges_between_clusters_in_clusters_stay() -> None:
    """Without them potentials climb in vain between two looks at all pairs, and 0.4 % are lost."""
    draw = np.random.default_rng(0)
    outer = draw.uniform(0, 1e6, (12, 1, 1, 2)) + draw.normal(0, 2e4, (12, 12, 1, 2))
    points = np.rint(outer + draw.normal(0, 400, (12, 12, 30, 2))).reshape(-1, 2)
    problem = Problem.from_points(points)
    tour = reference_tour(problem, 1, _native.StopToken())
    soon, late = (lower_bound(problem, tour, iterations=rounds, device="cpu") for rounds in (100, 1000))
    assert soon.value > 0.9995 * late.value


def test_interrupted_during_the_reference_tour(monkeypatch: pytest.MonkeyPatch) -> None:
    """A long instance has a certified bound before the tour along which a better one is sought."""
    from warptsp.bound import held_karp

    points = np.random.default_rng(5).integers(0, 100_000, (400, 2)).astype(float)
    problem = Problem.from_points(points, "EUC_2D")

    def interrupted(problem: Problem, threads: int, token: _native.StopToken) -> None:
        token.request()

    monkeypatch.setattr(held_karp, "reference_tour", interrupted)
    assert not lower_bound(problem, threads=1).certified
    monkeypatch.setattr(held_karp, "EARLY_CITIES", 400)
    early = lower_bound(problem, threads=1)
    assert early.certified
    assert early.value == proven_value(problem, early)
    assert early.gap(warptsp.solve(problem, kicks=400, threads=1).length) < 0.12


def test_the_higher_bound_is_kept() -> None:
    from warptsp.bound.held_karp import _Ascents

    points = np.random.default_rng(6).integers(0, 100_000, (300, 2)).astype(float)
    problem = Problem.from_points(points, "EUC_2D")
    tour, values = construct(problem, "space-filling"), []
    ascents = _Ascents(problem, None, 1, _native.StopToken())
    for count in (1, 60, 1):
        ascents.climb_along(tour, count)
        values.append(ascents.best.value)
    assert values[0] < values[1] == values[2]


@pytest.mark.parametrize("path", [None, OpenPath(), OpenPath(start=0)], ids=str)
@pytest.mark.parametrize("metric", [*PLACES, "whole"])
def test_a_bound_among_places_holds_for_cities(metric, path, monkeypatch):
    """Also where rounding breaks the triangle inequality."""
    monkeypatch.setattr("warptsp.bound.held_karp.MIN_PLACES", 3)
    random = np.random.default_rng(11)
    for _ in range(2):
        order = random.permutation([0, 0, 1, 1, 1, 2, 3])
        few = problem_of(metric, 4, int(random.integers(1000)), side=300)
        if few.matrix is not None:
            problem = Problem.from_matrix(few.matrix[np.ix_(order, order)], open=path)
        else:
            points = random.integers(0, 6, few.coordinates.shape).astype(float)[order]
            problem = Problem.from_points(points, metric, open=path)
        bound = lower_bound(problem, threads=1)
        assert bound.potentials.shape == (problem.n,)
        best = instances.shortest(problem) * (1 + 1e-12)
        assert bound.value <= best
        assert bound.value <= proven_value(problem, bound) <= best


@pytest.mark.parametrize("times", [2, 5])
def test_the_bound_of_crowded_places_is_that_of_places(times):
    points = np.random.default_rng(6).integers(0, 100_000, (300, 2)).astype(float)
    alone = lower_bound(Problem.from_points(points, "EUC_2D"), threads=1)
    problem = Problem.from_points(np.tile(points, (times, 1)), "EUC_2D")
    bound = lower_bound(problem, threads=1)
    assert bound.value > 0.99 * alone.value
    assert proven_value(problem, bound) == bound.value
    # Along a tour, which is measured among cities: by the numbers of places it may be shorter than the bound.
    assert lower_bound(problem, construct(problem), threads=1).value > 0.99 * bound.value


@pytest.mark.parametrize("seed", range(3))
def test_early_potentials_may_draw_cities_away_from_their_place(seed, monkeypatch):
    """Of a place the way to another one may then be shorter than that from one of its cities to the next."""
    monkeypatch.setattr("warptsp.bound.held_karp.MIN_PLACES", 3)
    points = np.repeat(np.random.default_rng(seed).random((12, 2)) ** 4, 3, axis=0)
    problem = Problem.from_points(points)
    bound = lower_bound(problem, threads=1, iterations=3)
    potentials = np.ldexp(bound.potentials.astype(float), -bound.exponent)
    away = np.where(instances.distances(problem) > 0, instances.distances(problem) + potentials, np.inf).min(
        axis=1
    )
    assert (away < potentials).any()
    assert bound.value <= proven_value(problem, bound)
