"""Branch and bound on 1-trees against dynamic programming."""

import math
import random

import numpy as np
import pytest

import warptsp
from warptsp import _native
from warptsp.claims import bound_of_optimal
from warptsp.methods.lk import tuning
from warptsp.problem import OpenPath, Problem
from warptsp.stop.default import SETTLED


def lengths(distances, tours):
    rows = np.arange(len(tours))[:, None]
    return distances[rows, tours, np.roll(tours, -1, axis=1)].sum(axis=1)


def clouds(random, count, n, kind):
    if kind == "matrix":
        half = random.integers(0, 50, (count, n, n))
        return np.ascontiguousarray(half + half.transpose(0, 2, 1))
    points = random.random((count, n, 2))
    if kind == "clustered":
        points = points // 0.5 + 0.05 * random.random((count, n, 2))
    if kind == "lattice":
        points = np.rint(3 * points)
    return np.hypot(*(points[:, :, None] - points[:, None]).transpose(3, 0, 1, 2))


@pytest.mark.parametrize("kind", ["uniform", "clustered", "lattice", "matrix"])
@pytest.mark.parametrize("n", [4, 5, 8, 11, 13])
def test_trees_and_sets_agree(n, kind):
    seed = int(np.random.SeedSequence().generate_state(1)[0])
    print("seed", seed)
    distances = clouds(np.random.default_rng(seed), 8, n, kind)
    token = _native.StopToken()
    by_trees = _native.optimal_tours(distances, token)
    # Tours stay as long if all ways get longer, and those out of a city more, and those into it less: no work
    # for 1-trees.
    by_city = np.arange(n) % 5
    directed = np.ascontiguousarray(distances + 5 + by_city[:, None] - by_city[None, :])
    by_sets = _native.optimal_tours(directed, token)
    assert (np.sort(by_trees, axis=1) == np.arange(n)).all()
    assert (by_trees[:, 0] == 0).all()
    assert lengths(distances, by_trees) == pytest.approx(lengths(distances, by_sets), rel=1e-12)


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"fixed_edges": [[0, 9], [9, 4], [2, 13]]},
        {"open": OpenPath()},
        {"open": OpenPath(3, None)},
        {"open": OpenPath(3, 7), "fixed_edges": [[3, 11]]},
        {"metric": "EUC_2D"},
    ],
    ids=str,
)
def test_a_run_without_a_limit_proves_few_cities_optimal(fields):
    for seed in range(6):
        points = 100 * np.random.default_rng(seed).random((15, 2))
        problem = Problem.from_points(points, **fields)
        found = warptsp.solve(problem, threads=1, bound=False, prove=False)
        assert found.proved_optimal
        assert found.stop_reason == "proved optimal"
        best = warptsp.solve(problem, method="exact").length
        assert found.length == pytest.approx(best, rel=1e-12)
        assert found.lower_bound == bound_of_optimal(found.length)


def beside_an_antipode(seed):
    """Cities some centimetres apart, and one at the other end of the Earth."""
    chance = random.Random(seed)
    n, size = chance.choice([13, 14, 15]), 10 ** chance.uniform(-7, -5)
    lat, lon = chance.uniform(-60, 60), chance.uniform(-170, 170)
    near = [(lat + chance.uniform(-size, size), lon + chance.uniform(-size, size)) for _ in range(n - 1)]
    return Problem.from_points([*near, (-lat, lon - math.copysign(180, lon))], "GREAT_CIRCLE")


def test_a_proof_on_the_sphere_counts_in_the_distances_of_the_instance():
    """The search has a formula of its own, which loses eight digits at the antipodes and rounds otherwise."""
    # Kilometres from city to city are whole here, to the last digit.
    whole = [
        [10.214444527337557, 20.289045650567235], [10.1388, 20.34159227765423], [10.196, 20.35743655797422],
        [10.181, 20.33200692767554], [10.2481, 20.386199093560904], [10.2058, 20.405111859731797],
        [10.1371, 20.423725280486885], [10.2908, 20.39764002015363], [10.1749, 20.317600188681492],
        [10.2823, 20.347252583728633], [10.2316, 20.43309562260358], [10.1647, 20.479234465418823],
        [10.1959, 20.372461995196726],
    ]  # fmt: skip
    problems = [*map(beside_an_antipode, (5, 8, 10, 17, 28)), Problem.from_points(whole, "GEO")]
    for problem in problems:
        found = warptsp.solve(problem, threads=1, bound=False, prove=False)
        best = warptsp.solve(problem, method="exact").length
        assert found.proved_optimal
        assert found.length == pytest.approx(best, rel=1e-12)
        assert found.lower_bound <= best


def test_a_proof_that_takes_too_long_is_given_up():
    few, many = 13, tuning.PROVABLE_CITIES
    halves = np.array([[0.0, 0.0], [0.0, 1.0], [0.5, 5.0]])  # far from what 1-trees bound well
    for n in (few, many):
        points = halves[np.arange(n) % 3] + 1e-3 * np.random.default_rng(n).random((n, 2))
        found = warptsp.solve(points, threads=1, bound=False, prove=False)
        assert found.proved_optimal or found.stop_reason == SETTLED


def searched(points, token):
    distances = _native.Distances.of_points(warptsp.Metric.EXACT_2D.kind, points)
    return _native.TourSearch.create(
        distances=distances,
        small_integers=False,
        dummy=False,
        candidates=_native.candidate_lists(distances, 10, 2, 1, token),
        tour=np.arange(len(points), dtype=np.int32),
        fixed_edges=None,
        tolerance=1e-12,
        params=_native.LkParams(depth=6),
    )


def test_more_cities_than_a_proof_takes_are_refused():
    n = 40
    points = np.random.default_rng(0).random((n, 2))
    token = _native.StopToken()
    search = searched(points, token)
    with pytest.raises(ValueError, match="40 cities; at most 32 are possible"):
        search.prove(100, token)
    plan = {"members": 5, "at_once": 3, "selection": 10, "idle": 1, "agreeing": 2, "most": 7}
    run = _native.PopulationRun.create(search, _native.PopulationPlan(**plan))
    assert [run.proceed(0.0, 0, round, 1, token) for round in (1, 2)] == [(False, 1), (False, 1)]
    assert search.members == 6  # and the best tour
    for name in ("at_once", "agreeing", "most"):
        with pytest.raises(ValueError, match="out of range"):
            _native.PopulationPlan(**{**plan, name: 0})
    with pytest.raises(ValueError, match="out of range"):  # there is one population
        _native.PopulationPlan(**{**plan, "members": 0})


@pytest.mark.parametrize(("agreeing", "most"), [(1, 9), (2, 9), (3, 9), (99, 4)])
def test_populations_begin_until_some_agree(agreeing, most):
    n = 13  # so few that every population ends with the optimum
    points = np.random.default_rng(n).random((n, 2))
    token = _native.StopToken()
    search = searched(points, token)
    plan = _native.PopulationPlan(members=30, at_once=30, idle=3, agreeing=agreeing, most=most)
    run = _native.PopulationRun.create(search, plan)
    members = []
    for round in range(1, 1000):
        ended, rounds = run.proceed(0.0, 0, round, 1, token)
        assert rounds == 1
        members.append(search.members)
        if ended:
            break
    # The first has the tour from before; each later one begins with none.
    assert members[0] == 31
    begun = 1 + sum(before == 0 for before in members)
    assert ended
    assert begun == min(agreeing, most)
    assert search.best_length == pytest.approx(warptsp.solve(points, method="exact").length, rel=1e-9)
