"""The method lk among places: short tours of all cities, with every promise kept, and no claim too many."""

from dataclasses import replace

import numpy as np
import pytest
from instances import crowded, shortest, whole_points

import warptsp
from warptsp import Problem
from warptsp.methods import get_method, places
from warptsp.problem import Metric, OpenPath
from warptsp.problem.places import places_of

FEW = {"threads": 1, "device": "cpu", "bound": False, "prove": False}
PATHS = [None, OpenPath(), OpenPath(start=0), OpenPath(start=3, end=1)]
SEVEN = [0, 0, 1, 1, 1, 2, 3, 4]  # eight cities at five places


@pytest.fixture
def small(monkeypatch):
    """Few cities are searched as places, too."""
    from warptsp.solver import options

    def seen_by(method, problem, *seconds):
        few = method if method.places_from is None else replace(method, places_from=2)
        return places.seen_by(few, problem, *seconds)

    monkeypatch.setattr(options, "seen_by", seen_by)


@pytest.mark.parametrize("path", PATHS, ids=str)
@pytest.mark.parametrize("metric", [metric for metric in Metric if metric is not Metric.EXPLICIT])
def test_few_cities_against_every_tour(small, metric, path):
    random = np.random.default_rng(metric.kind)
    for round_ in range(3):
        points = random.integers(0, 7, (5, metric.dimensions)).astype(float)[random.permutation(SEVEN)]
        problem = Problem.from_points(points, metric, open=path)
        found, best = warptsp.solve(problem, kicks=10, **FEW), shortest(problem)
        view = places_of(problem)
        if view is None or view.exact:
            assert found.length == pytest.approx(best, rel=1e-12), (round_, points)
        else:  # rounding may make it worth coming back to a place; then nothing is claimed
            assert found.length >= best
            assert not (found.proved_optimal and found.length > best)
            assert found.length <= best + problem.n


@pytest.mark.parametrize("fixed", [[[0, 1]], [[0, 2], [2, 4]], [[1, 5], [0, 7]]], ids=str)
@pytest.mark.parametrize("path", PATHS[:3], ids=str)
def test_fixed_edges_of_cities_at_one_place(small, fixed, path, device):
    points = np.array([[0, 0], [4, 0], [4, 3], [1, 5], [2, 2]], dtype=float)[[0, 1, 1, 0, 1, 2, 3, 4]]
    problem = Problem.from_points(points, "EXACT_2D", fixed_edges=fixed, open=path)
    found = warptsp.solve(problem, kicks=10, **{**FEW, "device": device})
    problem.check_tour(found.tour)
    assert found.length == pytest.approx(shortest(problem))


@pytest.mark.parametrize("path", PATHS, ids=str)
@pytest.mark.parametrize("asymmetric", [False, True])
def test_equal_rows_of_a_matrix(small, asymmetric, path):
    random = np.random.default_rng(7)
    for _ in range(3):
        few = random.integers(20, 40, (5, 5))  # no detour is shorter
        if not asymmetric:
            few = np.minimum(few, few.T)
        np.fill_diagonal(few, 0)
        order = random.permutation(SEVEN)
        problem = Problem.from_matrix(few[np.ix_(order, order)], asymmetric=asymmetric, open=path)
        assert places_of(problem).exact
        found = warptsp.solve(problem, kicks=10, **FEW)
        assert found.length == shortest(problem)


def test_a_detour_that_rounding_makes_shorter_is_taken(small, device):
    """0 to 2.8 is 3 by EUC_2D, and over 1.4 it is 2."""
    problem = Problem.from_points([[0, 0], [1.4, 0], [2.8, 0], [1.4, 0], [1.4, 0]], "EUC_2D")
    view = places_of(problem)
    tour = places.with_detours(view, np.array([0, 1, 2], dtype=np.int32), 1)
    assert tour.tolist() == [0, 1, 2, 1]
    found = warptsp.solve(problem, kicks=5, **{**FEW, "device": device})
    assert found.length == shortest(problem) == 4
    path = replace(problem, open=OpenPath())
    assert places.with_detours(places_of(path), np.array([0, 2, 1], dtype=np.int32), 1).tolist() == [
        0,
        1,
        2,
        1,
    ]


@pytest.mark.parametrize("metric", ["EUC_2D", "EXACT_2D"])
def test_crowded_places_are_as_good_as_places(metric, device):
    few = {**FEW, "device": device}
    problem = crowded(metric=metric)
    alone = Problem.from_points(np.unique(problem.coordinates, axis=0), metric)
    best = warptsp.solve(alone, kicks=2000, **few).length
    found = warptsp.solve(problem, kicks=2000, **few)
    assert found.counters["places"] == alone.n
    assert found.length == problem.length(found.tour)
    assert found.length <= 1.002 * best  # 1.9 % with cities in its lists only
    assert np.array_equal(found.tour, warptsp.solve(problem, kicks=2000, **few).tour)


def test_other_methods_and_few_cities_see_all_cities():
    assert get_method("two-opt").places_from is None
    problem = crowded(60, 5)
    for method in ("two-opt", "hill-climbing"):
        assert "places" not in warptsp.solve(problem, method=method, time_limit=0.1, **FEW).counters
    assert "places" not in warptsp.solve(crowded(40, 5), kicks=10, **FEW).counters
    both = warptsp.solve(problem, kicks=10, then="two-opt", **FEW)
    assert "places" in both.stages[0].counters
    assert "places" not in both.stages[1].counters


def test_cities_that_hide_little_are_searched_as_cities():
    points = whole_points(500, 3, side=10**6)
    points[7] = points[8]
    assert "places" not in warptsp.solve(Problem.from_points(points), kicks=10, **FEW).counters


def test_a_given_tour_is_never_left_for_a_longer_one():
    """Also where rounding makes it shorter than what it becomes among places."""
    problem = crowded(60, 5, metric="FLOOR_2D")
    start = warptsp.solve(problem, method="exact" if problem.n < 12 else "lk", kicks=300, **FEW).tour
    assert warptsp.solve(problem, start=start, kicks=0, **FEW).length <= problem.length(start)
    apart = np.random.default_rng(1).permutation(problem.n).astype(np.int32)
    found = warptsp.solve(problem, merge=[start, apart], kicks=0, **FEW)
    assert found.length <= problem.length(start)


@pytest.mark.parametrize("path", [OpenPath(), OpenPath(start=5), OpenPath(start=5, end=9)], ids=str)
def test_paths_among_places(path, device):
    problem = crowded(60, 5, open=path)
    found = warptsp.solve(problem, kicks=500, **{**FEW, "device": device})
    problem.check_tour(found.tour)
    assert found.counters["places"] < problem.n


def test_workers_and_many_problems(tmp_path):
    problem = crowded(1500, 3)
    found = warptsp.solve(
        problem,
        cluster="threads",
        cluster_params={"part": 1000, "rounds": 1},
        threads=2,
        prove=False,
        bound=False,
    )
    problem.check_tour(found.tour)
    assert found.counters["places"] < problem.n
    some = [crowded(60, 5, seed=seed) for seed in (1, 2)]
    rows = warptsp.solve_many(some, kicks=200, threads=1)
    for row, one in zip(rows, some, strict=True):
        one.check_tour(row.tour)
    assert np.array_equal(rows[0].tour, warptsp.solve(some[0], kicks=200, **FEW).tour)


@pytest.mark.parametrize("metric", ["EXACT_2D", "EUC_2D"])
def test_all_cities_at_one_point(metric):
    problem = Problem.from_points(np.ones((300, 2)), metric)
    found = warptsp.solve(problem, **FEW)
    problem.check_tour(found.tour)
    assert found.length == 0
    assert found.method == "lk"


def test_no_limit_ends_in_proportion_to_the_places():
    problem = crowded(4, 100, metric="EXACT_2D")
    assert warptsp.solve(problem, **FEW).proved_optimal
    assert not warptsp.solve(crowded(4, 100, metric="FLOOR_2D"), **FEW).proved_optimal


@pytest.mark.parametrize("cut", ["short limit", "callback"])
def test_the_last_search_is_left_out(monkeypatch, cut):
    """Where it would take most of a time limit, which the search needs, and after a callback or a signal."""
    asked = []
    monkeypatch.setattr(places, "with_detours", lambda seen, tour, threads: asked.append(tour) or tour)
    problem = crowded()
    assert warptsp.solve(problem, kicks=10, time_limit=1000, **FEW).kicks == 10
    assert len(asked) == 1
    if cut == "callback":
        warptsp.solve(problem, kicks=10**6, callback=lambda progress: True, **FEW)
    else:
        monkeypatch.setattr(places, "LAST_SEARCH", 20.0)
        assert warptsp.solve(problem, kicks=10, time_limit=1000, **FEW).kicks == 10
    assert len(asked) == 1


def test_rows_are_not_compared_where_that_takes_most_of_a_limit(monkeypatch):
    """Those of 8000 cities take a second; equal points are found in next to no time."""
    points = np.repeat(whole_points(250, 1), 2, axis=0)
    matrix = Problem.from_points(points, "EXACT_2D").all_distances
    monkeypatch.setattr("warptsp.problem.places._LOOK_AT_ENTRY", 1.0)
    limited = {**FEW, "time_limit": 1000, "bound": "auto"}
    assert "places" in warptsp.solve(points, kicks=1, **limited).counters
    assert "places" in warptsp.solve(matrix, kicks=1, **FEW).counters
    assert "places" not in warptsp.solve(matrix, kicks=1, **limited).counters
