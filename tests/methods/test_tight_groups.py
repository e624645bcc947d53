"""Tight groups of cities, at any scale: found, searched as places first, and every promise kept."""

from types import SimpleNamespace

import numpy as np
import pytest
from instances import distances, problem_of, unit_points

import warptsp
import warptsp._native as _native
from warptsp import Problem
from warptsp.methods.lk import tight_groups as tight_groups_module
from warptsp.methods.lk import tuning
from warptsp.methods.lk.tight_groups import tight_groups, tour_of_groups
from warptsp.problem import OpenPath
from warptsp.problem.places import of_groups
from warptsp.stop import MaxKicks, NoImprovement, TargetLength

FEW = {"threads": 1, "device": "cpu", "bound": False, "prove": False}
GROUPS = 300


def scattered(groups=GROUPS, times=5, scatter=1e-5, seed=1):
    """Random places of the unit square with so many cities around each, in random order."""
    random = np.random.default_rng(seed)
    centres = np.repeat(unit_points(groups, seed), times, axis=0)
    return random.permutation(centres + random.normal(0, scatter, centres.shape))


def found_in(problem):
    return tight_groups(problem, 1, _native.StopToken())


@pytest.fixture
def ungrouped(monkeypatch):
    """Solve without a look for groups."""

    def solve(*args, **options):
        with monkeypatch.context() as patch:
            patch.setattr(tuning, "MOST_GROUPS", 0.0)
            return warptsp.solve(*args, **options)

    return solve


@pytest.mark.parametrize(("times", "threads"), [(5, 1), (10, 2)])
def test_groups_make_tours_shorter_with_the_same_kicks(ungrouped, times, threads):
    problem, few = Problem.from_points(scattered(times=times)), {**FEW, "threads": threads}
    found = warptsp.solve(problem, kicks=1000, **few)
    assert found.counters["tight_groups"] == pytest.approx(GROUPS, rel=0.02)
    assert found.counters["kicks"] == 1000
    assert found.length < 0.995 * ungrouped(problem, kicks=1000, **few).length
    assert np.array_equal(found.tour, warptsp.solve(problem, kicks=1000, **few).tour)


@pytest.mark.parametrize(
    "points",
    [
        unit_points(1500, 3),
        warptsp.Problem.from_points(scattered(15, 100, 0.03)).coordinates,
        np.stack(np.meshgrid(np.arange(40.0), np.arange(40.0)), axis=-1).reshape(-1, 2),
    ],
    ids=["uniform", "clusters", "grid"],
)
def test_where_there_are_none_nothing_changes(ungrouped, points):
    problem = Problem.from_points(points)
    found = warptsp.solve(problem, kicks=300, **FEW)
    assert "tight_groups" not in found.counters
    assert np.array_equal(found.tour, ungrouped(problem, kicks=300, **FEW).tour)


@pytest.mark.parametrize("scatter", [1e-12, 1e-8, 1e-5])
@pytest.mark.parametrize("times", [2, 7, 30])
def test_groups_of_every_scale_are_found(scatter, times):
    groups = found_in(Problem.from_points(scattered(times=times, scatter=scatter), "EXACT_2D"))
    assert groups.problem.n == pytest.approx(GROUPS, rel=0.05)
    assert sorted(groups.cities.tolist()) == list(range(times * GROUPS))
    inside = groups.problem.coordinates[groups.place] - groups.problem.coordinates[groups.place[0]]
    assert np.isfinite(inside).all()
    apart = np.abs(scattered(times=times, scatter=scatter) - groups.problem.coordinates[groups.place])
    assert np.median(apart) < 5 * scatter


def test_long_instances_are_looked_at_in_windows(monkeypatch):
    monkeypatch.setattr(tuning, "CITIES_OF_WINDOW", 90)
    looked_at = []
    found = tight_groups_module._found_in
    monkeypatch.setattr(
        tight_groups_module,
        "_found_in",
        lambda problem, *rest: looked_at.append(problem.n) or found(problem, *rest),
    )
    assert found_in(Problem.from_points(scattered())).problem.n == pytest.approx(GROUPS, rel=0.02)
    assert looked_at[-1] == 5 * GROUPS
    assert 30 < min(looked_at[:-1]) <= max(looked_at[:-1]) < 300
    looked_at.clear()
    assert found_in(Problem.from_points(unit_points(1500))) is None
    assert len(looked_at) == tuning.GROUP_WINDOWS  # and never at all cities


def test_few_groups_are_no_work_for_a_gpu_that_nobody_asked_for():
    groups = found_in(Problem.from_points(scattered()))
    token = _native.StopToken()
    for by_name in (True, False):
        run = SimpleNamespace(device="cuda", may_use_cpu=not by_name, token=token, elapsed=lambda: 0.0)
        of_groups = tight_groups_module.first_search(run, groups, None, None)
        assert str(of_groups.run.device) == ("cuda" if by_name else "cpu")


def test_houses_in_villages_are_groups_of_groups():
    random = np.random.default_rng(5)
    houses = scattered(250, 8, 1e-4)
    points = np.repeat(houses, 4, axis=0) + random.normal(0, 1e-7, (8000, 2))
    inner = found_in(Problem.from_points(points, "EXACT_2D"))
    assert inner.problem.n == pytest.approx(2000, rel=0.1)
    assert found_in(inner.problem).problem.n == pytest.approx(250, rel=0.1)


def test_cities_at_one_point_within_groups(device):
    """One place each, and those places in groups."""
    points = np.repeat(scattered(), 3, axis=0)
    problem = Problem.from_points(np.random.default_rng(4).permutation(points))
    found = warptsp.solve(problem, kicks=100, **{**FEW, "device": device})
    assert found.counters["places"] == 5 * GROUPS
    assert found.counters["tight_groups"] == pytest.approx(GROUPS, rel=0.02)
    problem.check_tour(found.tour)
    assert found.length == problem.length(found.tour)


def test_rounded_distances_within_groups():
    """Of 0 and 1, where rounding leaves no difference between them."""
    points = scattered(times=10, scatter=1.0 / 10**6) * 10**6
    assert found_in(Problem.from_points(points, "EUC_2D")).problem.n == pytest.approx(GROUPS, rel=0.02)


@pytest.mark.parametrize("kind", ["EUC_3D", "GEO", "MAN_2D", "matrix"])
def test_other_distances(kind):
    random = np.random.default_rng(2)
    if kind == "matrix":
        problem = Problem.from_matrix(distances(Problem.from_points(scattered(times=4), "EXACT_2D")))
    else:
        few = problem_of(kind, GROUPS, side=10**6).coordinates
        few = 0.9 * np.repeat(few, 4, axis=0)
        problem = Problem.from_points(few + random.uniform(0.001, 0.01, few.shape), kind)
    found = warptsp.solve(problem, kicks=100, **FEW)
    problem.check_tour(found.tour)
    assert found.counters["tight_groups"] < 0.4 * problem.n
    assert found.length == problem.length(found.tour)


@pytest.mark.parametrize("path", [None, OpenPath(), OpenPath(start=3), OpenPath(start=7, end=1)], ids=str)
def test_fixed_edges_and_ends(path, device):
    points = scattered(times=4)
    fixed = [[10, 11], [11, 500], [20, 900]]
    problem = Problem.from_points(points, fixed_edges=fixed, open=path)
    groups = found_in(problem)
    alone = {10, 11, 500, 20, 900} | ({3} if path and path.start == 3 else set())
    for city in alone:
        assert (groups.place == groups.place[city]).sum() == 1
    found = warptsp.solve(problem, kicks=200, **{**FEW, "device": device})
    assert "tight_groups" in found.counters
    problem.check_tour(found.tour)  # which looks at fixed edges and ends


def test_a_time_limit_is_for_both_searches():
    problem = Problem.from_points(scattered())
    found = warptsp.solve(problem, time_limit=0.4, **FEW)
    problem.check_tour(found.tour)
    assert "time limit" in found.stop_reason


@pytest.mark.parametrize("known", [True, False])
def test_without_a_limit_kicks_are_shared_out(known, monkeypatch):
    """Some for each group, and the rest for the cities."""
    monkeypatch.setattr(tuning, "KICKS_OF_GROUP", 4)
    problem = Problem.from_points(scattered())
    last = 4 * GROUPS + 300
    phases = []
    found = warptsp.solve(
        problem,
        stop=MaxKicks(2 * last) if known else lambda state: state.kicks > last,
        callback=lambda progress: phases.append((progress.phase, progress.kicks)),
        **FEW,
    )
    among_groups = max(kicks for phase, kicks in phases if phase == "tight groups")
    assert among_groups == pytest.approx(4 * GROUPS, rel=0.02)
    assert found.counters["kicks"] > among_groups


@pytest.mark.parametrize("stop", ["callback", "target", "kicks"])
def test_a_run_may_end_among_groups(stop):
    problem = Problem.from_points(scattered())
    if stop == "callback":
        found = warptsp.solve(problem, kicks=10**6, callback=lambda progress: True, **FEW)
    elif stop == "target":
        found = warptsp.solve(problem, stop=TargetLength(problem.n), **FEW)
    else:
        found = warptsp.solve(problem, kicks=1, **FEW)
        assert found.counters["kicks"] == 1
    problem.check_tour(found.tour)


def test_groups_that_no_longer_improve_do_not_end_the_search_of_cities():
    phases = []
    given = {
        "seed": 1,
        "stop": NoImprovement(kicks=300),
        "callback": lambda state: phases.append(state.phase),
    }
    result = warptsp.solve(scattered(times=10), **given, **FEW)
    assert phases[0] == "tight groups"
    assert {"local search", "search"} <= set(phases)
    assert result.stop_reason == "no improvement for 300 kicks"
    assert result.kicks >= 2 * 300


def test_a_given_tour_is_searched_as_it_is():
    problem = Problem.from_points(scattered())
    start = warptsp.solve(problem, kicks=0, **FEW)
    assert "tight_groups" not in start.counters  # a local optimum is all that is asked for
    assert "tight_groups" not in warptsp.solve(problem, start=start.tour, kicks=10, **FEW).counters


def test_members_are_turned_to_where_the_tour_comes_from():
    points = np.array([[0, 0], [10, 0], [10, 1], [10, 2], [10, 10.0]])
    problem = Problem.from_points(points, "EXACT_2D")
    groups = of_groups(problem, np.array([0, 3, 2, 1, 4], np.int32), np.array([0, 1, 4]))
    assert groups.problem.n == 3
    heads = groups.heads.tolist()
    visits = np.array([heads.index(city) for city in (0, 3, 4)], np.int32)
    assert tour_of_groups(groups, problem, visits).tolist() == [0, 1, 2, 3, 4]
