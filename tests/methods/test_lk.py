"""The main method against enumeration and dynamic programming, and what it promises of every run."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from instances import problem_of, shortest, unit_points, whole_points

import warptsp
from warptsp import _native
from warptsp.backends.instance import SearchInstance
from warptsp.methods import lk
from warptsp.methods.lk import LkParams, cpu, tuning
from warptsp.problem import Metric, OpenPath, Problem
from warptsp.stop import StopToken


@st.composite
def problems(draw, least, most):
    """Instances with ends and fixed edges that some tour has."""
    n = draw(st.integers(least, most))
    fields = {}
    some_tour = draw(st.permutations(range(n)))
    if draw(st.booleans()):
        fields["open"] = OpenPath(
            some_tour[0] if draw(st.booleans()) else None, some_tour[-1] if draw(st.booleans()) else None
        )
    if n > 1 and draw(st.booleans()):
        kept = draw(st.lists(st.integers(0, n - 2), unique=True, max_size=n // 2))
        if kept:
            fields["fixed_edges"] = np.array([some_tour[i : i + 2] for i in kept], dtype=np.int32)
    kind = draw(st.sampled_from(["EUC_2D", "EXACT_2D", "MAN_2D", "int matrix", "float matrix"]))
    if kind.endswith("matrix"):
        number = st.integers(0, 50) if kind == "int matrix" else st.integers(0, 5000).map(lambda x: x / 100)
        upper = draw(st.lists(number, min_size=n * (n - 1) // 2, max_size=n * (n - 1) // 2))
        matrix = np.zeros((n, n), dtype=np.int32 if kind == "int matrix" else np.float64)
        matrix[np.triu_indices(n, 1)] = upper
        return Problem.from_matrix(matrix + matrix.T, **fields)
    number = st.integers(0, 40)
    points = draw(st.lists(st.tuples(number, number), min_size=n, max_size=n))
    return Problem.from_points(np.array(points, dtype=float), kind, **fields)


def assert_optimal(problem, **options):
    result = warptsp.solve(problem, threads=1, **options)
    problem.check_tour(result.tour)
    assert result.length == problem.length(result.tour)
    assert result.length == pytest.approx(shortest(problem), rel=1e-12, abs=1e-12)


@settings(max_examples=10)
@given(problem=problems(8, 9), seed=st.integers(0, 2**64 - 1))
def test_the_search_itself_finds_the_optimum_of_few_cities(problem, seed):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lk, "INSTANT_CITIES", 4)
        assert_optimal(problem, kicks=2000, seed=seed)


METRICS = [*(metric.name for metric in Metric if metric.has_coordinates), "whole", "real"]


@pytest.mark.parametrize(
    ("n", "fields"),
    [
        (10, {}),
        (13, {}),
        (12, {"open": OpenPath()}),
        (12, {"open": OpenPath(start=2)}),
        (11, {"open": OpenPath(start=2, end=7)}),
        (12, {"fixed_edges": np.array([[0, 5], [5, 9], [3, 4]], dtype=np.int32)}),
    ],
    ids=["10", "13", "free ends", "one end", "both ends", "fixed edges"],
)
@pytest.mark.parametrize("metric", METRICS)
def test_the_optimum_of_dynamic_programming(metric, n, fields, monkeypatch):
    monkeypatch.setattr(lk, "INSTANT_CITIES", 4)
    problem = problem_of(metric, n, side=300, **fields)
    best = warptsp.solve(problem, method="exact")
    found = warptsp.solve(problem, method="lk", kicks=500, threads=1)
    problem.check_tour(found.tour)
    assert found.length == problem.length(found.tour)
    assert found.length == pytest.approx(best.length, rel=1e-12)


# With 1500 cities a part there are six parts, whether one thread works on them or two.
PARTED = {"part": 1500, "whole": 0}


@pytest.mark.parametrize("metric", ["EUC_2D", "EXACT_2D"])
def test_the_number_of_threads_does_not_change_a_tour_in_parts(metric):
    problem = Problem.from_points(whole_points(9000, seed=1, side=10_000), metric)
    options = {"kicks": 4000, "params": PARTED, "start": "space-filling"}
    runs = [
        warptsp.solve(problem, seed=seed, threads=threads, **options)
        for seed, threads in [(5, 1), (5, 2), (6, 2)]
    ]
    for result in runs:
        problem.check_tour(result.tour)
        assert result.length == problem.length(result.tour)
        assert result.kicks >= 4000
    assert np.array_equal(runs[0].tour, runs[1].tour)
    assert not np.array_equal(runs[0].tour, runs[2].tour)


@pytest.mark.parametrize("fields", [{}, {"open": OpenPath(start=17)}, {"open": OpenPath(3, 8000)}])
def test_parts_keep_ends_and_fixed_edges(fields):
    cities = whole_points(9000, seed=2)
    fixed = np.column_stack((np.arange(100, 1000, 3), np.arange(101, 1001, 3))).astype(np.int32)
    problem = Problem.from_points(cities, "EUC_2D", fixed_edges=fixed, **fields)
    result = warptsp.solve(problem, kicks=3000, threads=2, params=PARTED)
    problem.check_tour(result.tour)
    assert result.length == problem.length(result.tour) == result.history[-1].length


@pytest.mark.parametrize("start", ["greedy", "space-filling", "random"])
def test_the_first_local_search_of_a_long_tour(start, monkeypatch):
    # Greedy tiles and pieces of a curve are searched one by one, a random tour as a whole.
    monkeypatch.setattr(cpu, "LONG", 1000)
    problem = Problem.from_points(whole_points(9000, seed=6, side=10_000), "EUC_2D")
    seen = []

    def callback(event):
        if event.phase == "local search":
            seen.append((event.length, problem.length(event.tour()) if len(seen) % 10 == 0 else None))

    runs = []
    for pause in (1e-4, np.inf):
        monkeypatch.setattr(tuning, "PAUSE", pause)
        runs.append(
            warptsp.solve(problem, kicks=2000, start=start, threads=2, params=PARTED, callback=callback)
        )
    assert np.array_equal(runs[0].tour, runs[1].tour)
    assert len(seen) > 20
    assert all(length == true for length, true in seen if true is not None)
    # Sides of 10 000 and 9000 cities: 0.7124 of the root of area times number.
    assert runs[0].length < 1.1 * 0.7124 * np.sqrt(9000 * 1e8)


def test_pieces_of_a_compact_tour_are_searched_alone():
    n = 9000
    cities = unit_points(n, 7)
    instance = SearchInstance.build(Problem.from_points(cities), _native.StopToken())
    candidates = instance.candidates(10, 2, 1, _native.StopToken())
    compact = [
        instance.greedy(1, _native.StopToken(), 4),
        np.arange(n, dtype=np.int32),
        np.roll(np.arange(n, dtype=np.int32)[::-1], 17),
    ]
    assert [cpu._is_compact(tour, candidates, 4) for tour in compact] == [True] * 3
    loose = np.random.default_rng(8).permutation(n).astype(np.int32)
    assert not cpu._is_compact(loose, candidates, 4)


@pytest.mark.parametrize("n", [13, 60, 700])
@pytest.mark.parametrize("temperature", [0.0, None, 20.0])
def test_a_start_tour_is_never_made_worse(n, temperature):
    problem = Problem.from_points(whole_points(n, seed=n), "EUC_2D")
    tour = warptsp.solve(problem, kicks=5 * n, threads=1).tour
    for kicks in (0, 1, 100):
        for start in (tour, np.roll(tour[::-1], 3)):
            result = warptsp.solve(
                problem, start=start, kicks=kicks, seed=kicks, threads=1, params={"temperature": temperature}
            )
            assert result.length <= problem.length(start)
            lengths = [point.length for point in result.history]
            assert lengths == sorted(lengths, reverse=True)


@pytest.mark.parametrize(("n", "params"), [(2000, {}), (9000, PARTED)])
@pytest.mark.parametrize("phase", ["start tour", "local search", "search"])
def test_a_token_in_the_middle_of_a_phase(n, params, phase):
    problem = Problem.from_points(whole_points(n, seed=3, side=10**5), "EUC_2D", open=OpenPath())
    token = StopToken()
    seen = []

    def callback(progress):
        seen.append(progress.length)
        if progress.phase == phase and (phase != "search" or progress.kicks > 2000):
            token.request()

    result = warptsp.solve(problem, stop=token, callback=callback, threads=2, params=params)
    problem.check_tour(result.tour)
    assert result.stop_reason == "stop requested"
    assert result.length == problem.length(result.tour)
    assert result.length <= seen[-1] <= seen[0]


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"candidates": 0}, "candidates: 0 is not between 1 and 64"),
        ({"candidates": 65}, "candidates: 65"),
        ({"per_quadrant": -1}, "per_quadrant: -1"),
        ({"depth": 31}, "depth: 31 is not between 1 and 30"),
        ({"depth": 2.5}, "depth: 2.5"),
        ({"segment": 0}, "segment: 0"),
        ({"walk": 0}, "walk: 0"),
        ({"population": -1}, "population: -1"),
        ({"part": 99}, "part: 99"),
        ({"whole": -1}, "whole: -1"),
        ({"breadth": ()}, "breadth"),
        ({"breadth": "a,b"}, "breadth"),
        ({"breadth": (5, 9)}, "breadth"),
        ({"breadth": (1,) * 6}, "breadth"),
        ({"walks": 1.5}, "walks: 1.5 is not between 0 and 1"),
        ({"walks": float("nan")}, "walks: nan"),
        ({"long_links": -0.1}, "long_links: -0.1"),
        ({"temperature": -1.0}, "temperature: -1.0"),
        ({"temperature": float("inf")}, "temperature: inf"),
        ({"kick": 3}, "parameter 'kick'"),
    ],
)
def test_impossible_parameters_are_named(params, message):
    with pytest.raises(warptsp.InvalidOption) as caught:
        warptsp.solve(whole_points(20, seed=0), kicks=1, params=params)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "params",
    [
        {"candidates": 1, "per_quadrant": 0},
        {"candidates": 64, "per_quadrant": 16},
        {"depth": 1, "breadth": [1]},
        {"depth": 30, "breadth": (8, 8, 8, 8, 8)},
        {"segment": 10_000},
        {"walks": 1.0, "walk": 1},
        {"long_links": 1.0, "walks": 0.0},
        {"population": 8},
        LkParams(walks=0.0, long_links=0.0, segment=1),
    ],
)
@pytest.mark.parametrize("n", [13, 200])
def test_the_limits_of_every_parameter(params, n):
    problem = Problem.from_points(whole_points(n, seed=4), "EXACT_2D")
    result = warptsp.solve(problem, kicks=300, threads=1, params=params, start="random")
    problem.check_tour(result.tour)
    assert result.length == problem.length(result.tour) < result.history[0].length
