"""``solve`` with the main method: every kind of instance, repeatable, never worse, stopped at any moment."""

import functools
import random
import threading

import numpy as np
import pytest

import warptsp
from warptsp.problem import OpenPath, Problem
from warptsp.stop import MaxKicks, NoImprovement, StopToken, TargetLength

PATHS = [None, OpenPath(), OpenPath(start=3), OpenPath(end=5), OpenPath(start=3, end=5)]
FIXED = np.array([[0, 7], [7, 20], [4, 9]], dtype=np.int32)


def points(n, seed=0, side=1000):
    return np.random.default_rng(seed).integers(0, side, (n, 2)).astype(float)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("fixed", [False, True])
@pytest.mark.parametrize("as_matrix", [False, True])
def test_ends_and_fixed_edges_are_kept(path, fixed, as_matrix):
    fields = {"open": path} | ({"fixed_edges": FIXED} if fixed else {})
    cities = points(60)
    if as_matrix:
        far = np.abs(cities[:, None] - cities[None]).sum(axis=2)
        problem = Problem.from_matrix(far.astype(np.int32), **fields)
    else:
        problem = Problem.from_points(cities, "EUC_2D", **fields)
    result = warptsp.solve(problem, kicks=300, threads=1)
    problem.check_tour(result.tour)
    assert result.length == problem.length(result.tour)
    assert result.kicks == 300


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("as_matrix", [False, True])
def test_crossover_keeps_ends_and_fixed_edges(path, as_matrix):
    cities = points(150, seed=7)
    far = np.abs(cities[:, None] - cities[None]).sum(axis=2)
    given = Problem.from_matrix if as_matrix else functools.partial(Problem.from_points, metric="MAN_2D")
    problem = given(far.astype(np.int32) if as_matrix else cities, fixed_edges=FIXED, open=path)
    seen = set()
    result = warptsp.solve(problem, kicks=6000, threads=2, callback=lambda p: seen.add(p.phase))
    assert "crossover" in seen
    problem.check_tour(result.tour)
    assert result.length == problem.length(result.tour) == result.history[-1].length
    assert result.kicks == 6000
    plain = warptsp.solve(problem, kicks=6000, threads=2, params={"population": 0})
    assert result.length <= plain.length * 1.01


def test_crossover_goes_on_from_a_start_tour():
    cities = points(300)
    good = warptsp.solve(cities, kicks=6000, threads=1)
    again = warptsp.solve(cities, kicks=6000, start=good, threads=1, seed=9)
    assert again.length <= good.length


@pytest.mark.parametrize("n", [4, 6, 9, 10, 12, 13])
@pytest.mark.parametrize("path", PATHS[:3])
def test_few_cities_are_solved_to_the_optimum(n, path):
    problem = Problem.from_points(points(n, seed=n), "EUC_2D", open=path)
    best = warptsp.solve(problem, method="exact").length
    assert warptsp.solve(problem, threads=1).length == best


@pytest.mark.parametrize("threads", [1, 2])
# Annealing, crossover, and annealing that two threads do in parts.
@pytest.mark.parametrize(("n", "kicks"), [(700, 300), (1000, 9000), (9000, 9000)])
def test_same_seed_same_threads_same_tour(n, kicks, threads):
    problem = Problem.from_points(points(n, side=100_000), "EUC_2D")
    first, second, other = (
        warptsp.solve(problem, kicks=kicks, seed=seed, threads=threads, start="space-filling")
        for seed in (1, 1, 2)
    )
    assert np.array_equal(first.tour, second.tour)
    assert first.history[-1].length == second.history[-1].length
    assert not np.array_equal(first.tour, other.tour)


@pytest.mark.parametrize("start", ["greedy", "space-filling", "nearest-neighbor", "random", "given"])
def test_every_start_tour(start):
    result = warptsp.solve(points(100), kicks=200, start=start, threads=1)
    assert sorted(result.tour.tolist()) == list(range(100))
    assert result.start == start


def test_a_good_start_is_never_lost():
    cities = points(300)
    good = warptsp.solve(cities, kicks=3000, threads=1)
    for kicks in (0, 50):
        again = warptsp.solve(cities, kicks=kicks, start=good, threads=1, seed=9)
        assert again.length <= good.length


@pytest.mark.parametrize(
    "cities",
    [
        np.zeros((50, 2)),
        np.repeat(points(5), 40, axis=0),
        np.column_stack((np.arange(100.0), np.zeros(100))),
        points(50) * 1e12,
        points(50) * 1e-9,
        np.column_stack((points(50), points(50, seed=1)[:, 0])),
    ],
    ids=["one place", "duplicates", "collinear", "huge", "tiny", "3d"],
)
def test_odd_instances(cities):
    result = warptsp.solve(cities, stop=MaxKicks(500) | TargetLength(0), threads=1)
    problem = Problem.from_points(cities)
    problem.check_tour(result.tour)
    assert result.length == problem.length(result.tour)
    if len(np.unique(cities[:, 1])) == 1:
        assert result.length == pytest.approx(2 * (cities[:, 0].max() - cities[:, 0].min()))


@pytest.mark.parametrize("seed", range(6))
def test_a_token_stops_at_any_moment(seed):
    problem = Problem.from_points(points(30_000, side=10**6), "EUC_2D")
    token = StopToken()
    timer = threading.Timer(random.Random(seed).uniform(0.0, 0.5), token.request)
    timer.start()
    result = warptsp.solve(problem, stop=token, threads=2)
    timer.join()
    problem.check_tour(result.tour)
    assert result.stop_reason == "stop requested"


def test_a_raising_callback_in_the_middle_keeps_the_best_tour():
    def callback(progress):
        if progress.kicks > 500:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough") as caught:
        warptsp.solve(points(400), callback=callback, stop=NoImprovement(60), threads=1)
    result = caught.value.result
    result.problem.check_tour(result.tour)
    assert result.kicks > 500


def test_parameters_of_the_method():
    assert warptsp.solve(points(50), kicks=10, params={"depth": 6, "breadth": [3, 1]}).params["breadth"] == (
        3,
        1,
    )
    with pytest.raises(warptsp.InvalidOption, match="depth"):
        warptsp.solve(points(50), params={"depth": 0})
    with pytest.raises(warptsp.InvalidOption, match="breadth"):
        warptsp.solve(points(50), params={"breadth": "a,b"})
