"""``solve`` with the main method: every kind of instance, repeatable, never worse, stopped at any moment."""

import functools

import numpy as np
import pytest
from instances import whole_points

import warptsp
from warptsp.methods.lk import LkParams, cpu, tuning
from warptsp.problem import OpenPath, Problem
from warptsp.stop import DefaultStop, NoImprovement
from warptsp.stop.default import NEARLY_SETTLED, SETTLED

PATHS = [None, OpenPath(), OpenPath(start=3), OpenPath(end=5), OpenPath(start=3, end=5)]
FIXED = np.array([[0, 7], [7, 20], [4, 9]], dtype=np.int32)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("as_matrix", [False, True])
def test_crossover_keeps_ends_and_fixed_edges(path, as_matrix):
    cities = whole_points(100, seed=7)
    far = np.abs(cities[:, None] - cities[None]).sum(axis=2)
    given = Problem.from_matrix if as_matrix else functools.partial(Problem.from_points, metric="MAN_2D")
    problem = given(far.astype(np.int32) if as_matrix else cities, fixed_edges=FIXED, open=path)
    seen = set()
    result = warptsp.solve(problem, kicks=1500, threads=2, callback=lambda p: seen.add(p.phase))
    assert "crossover" in seen
    problem.check_tour(result.tour)
    assert result.length == problem.length(result.tour) == result.history[-1].length
    assert result.kicks == 1500
    plain = warptsp.solve(problem, kicks=1500, threads=2, params={"population": 0})
    assert result.length <= plain.length * 1.01


def test_a_raising_callback_in_the_middle_keeps_the_best_tour():
    def callback(progress):
        if progress.kicks > 500:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough") as caught:
        warptsp.solve(whole_points(400), callback=callback, stop=NoImprovement(60), threads=1)
    result = caught.value.result
    result.problem.check_tour(result.tour)
    assert result.kicks > 500


@pytest.mark.usefixtures("patient")
def test_without_a_limit_a_population_is_crossed_to_its_end() -> None:
    points = np.random.default_rng(23).random((60, 2))
    found = [warptsp.solve(points, seed=seed, threads=1, prove=False) for seed in (4, 4, 5)]
    assert all(result.stop_reason == SETTLED for result in found)
    assert np.array_equal(found[0].tour, found[1].tour)
    more = warptsp.solve(points, seed=4, threads=2, prove=False)  # members do not depend on threads
    assert np.array_equal(more.tour, found[0].tour)
    assert found[2].length == pytest.approx(found[0].length, rel=0.01)


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize(("cities", "agreeing"), [(60, 4), (300, 3)])
def test_without_a_limit_populations_agree(
    cities: int, agreeing: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    points = np.random.default_rng(23).random((cities, 2))
    once = tuning.settling(cities, of_matrix=False)
    assert once.agreeing == agreeing
    found = warptsp.solve(points, seed=4, threads=1, prove=False)
    assert found.stop_reason == SETTLED
    monkeypatch.setattr(tuning, "settling", lambda n, of_matrix: once.replace(agreeing=1, most=1))
    first = warptsp.solve(points, seed=4, threads=1, prove=False)
    assert found.length <= first.length
    assert found.counters["moves"] > 0.8 * agreeing * first.counters["moves"]


@pytest.mark.parametrize("open_path", [None, OpenPath(start=3)])
def test_without_a_limit_a_long_run_ends_when_a_population_comes_to_the_same(
    open_path: OpenPath | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tuning, "TELLING_MEMBERS", 10)
    members = []
    cross = cpu._Search.cross

    def counting(search, *args, **named):
        members.append(search.native.members)
        return cross(search, *args, **named)

    monkeypatch.setattr(cpu._Search, "cross", counting)

    def goes_on(state):
        return len(members) > 3

    points = np.random.default_rng(5).random((1001, 2))
    options = {"threads": 1, "seed": 1, "open": open_path, "params": {"population": 10}}
    # What ten tours come to differs by less than 5 %, and by more than nothing.
    for left, reason in ((5.0, NEARLY_SETTLED), (-1e-9, "goes_on said stop")):
        monkeypatch.setattr("warptsp.methods.lk.engine.LEFT", left)
        found = warptsp.solve(points, stop=DefaultStop(20_000) | goes_on, **options)
        assert found.stop_reason == reason
        # The tour of the local search joins at once, the best of all after a population has ended.
        assert members[:3] == [11, 10, 11]
        assert (len(members) == 3) == (left > 0)
        members.clear()
    given = warptsp.solve(points, time_limit=0.4, **options)
    assert given.stop_reason == "time limit of 0.4 s"


@pytest.mark.parametrize("population", [None, 6])
def test_with_a_time_limit_few_cities_have_populations_of_next_to_no_kicks(population):
    phases: list[tuple[str, int]] = []
    result = warptsp.solve(
        np.random.default_rng(6).random((150, 2)),
        time_limit=0.1,
        seed=1,
        threads=1,
        params={"population": population},
        callback=lambda p: phases.append((p.phase, p.kicks)),
    )
    crossed = [kicks for phase, kicks in phases if phase in ("population", "crossover")]
    assert bool(crossed) == (population is None)  # fewer than 7 mean none
    assert not crossed or crossed[0] <= tuning.MEMBERS_AT_ONCE  # one for each member
    assert result.stop_reason == "time limit of 0.1 s"


def test_members_of_later_populations_have_kicks(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[float] = []
    combine = cpu._Search._combine

    def told(search: cpu._Search, size: int) -> bool:
        seen.append(search.members.kicks)
        return combine(search, size)

    monkeypatch.setattr(cpu._Search, "_combine", told)
    points = np.random.default_rng(8).random((60, 2))
    warptsp.solve(points, time_limit=60, threads=1, bound=False, callback=lambda p: len(seen) == 3)
    assert seen == [0.0, tuning.QUICK_MEMBERS.later, tuning.QUICK_MEMBERS.later]


def test_members_are_the_same_however_many_grow_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    points = np.random.default_rng(7).random((260, 2))
    found = []
    for count, moment in ((1, 0.0), (3, 1e9)):
        monkeypatch.setattr(tuning, "MEMBERS_AT_ONCE", count)
        monkeypatch.setattr(tuning, "MOMENT", moment)
        found.append(warptsp.solve(points, kicks=10 * len(points), seed=2, threads=1))
    assert np.array_equal(found[0].tour, found[1].tour)
    assert found[0].counters == found[1].counters


def test_long_tours_have_one_population_of_light_members(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a limit on kicks, all of which are left for the tour that they come to."""
    n = 240
    random = np.random.default_rng(5)
    points = random.random((12, 2))[np.arange(n) % 12] + 0.02 * random.random((n, 2))
    monkeypatch.setattr(tuning, "MAX_QUICK", n - 1)
    monkeypatch.setattr(tuning, "MIN_UNEVEN", n)
    runs = []
    for threads in (1, 1, 2):
        phases: list[str] = []
        result = warptsp.solve(
            points, kicks=4 * n, seed=3, threads=threads, callback=lambda p, seen=phases: seen.append(p.phase)
        )
        assert phases.count("population") >= 4 / tuning.MEMBERS_IN_CLUSTERS.granted / threads
        after = phases[phases.index("crossover") :]
        assert "population" not in after
        assert "search" in after  # the kicks that are left
        assert result.kicks == 4 * n
        runs.append(result)
    assert np.array_equal(runs[0].tour, runs[1].tour)


@pytest.mark.parametrize(("gigabytes", "kicks", "size"), [(8, None, 300), (0.001, None, 5), (0.0001, None, 0),
                                                         (0.001, 200, 300)])  # fmt: skip
def test_populations_fit_into_memory(monkeypatch: pytest.MonkeyPatch, gigabytes, kicks, size) -> None:
    """With a limit on kicks they do not depend on the machine."""
    n, sizes = 1600, []
    monkeypatch.setattr(tuning, "MAX_QUICK", n - 1)
    monkeypatch.setattr("warptsp.methods.lk.threads.memory", lambda: gigabytes * 1e9)

    def look(search: cpu._Search) -> None:
        sizes.append(search.most())

    monkeypatch.setattr(cpu._Search, "improve", look)
    limit = {"time_limit": 600.0} if kicks is None else {"kicks": kicks * n}
    warptsp.solve(np.random.default_rng(3).random((n, 2)), threads=1, device="cpu", **limit)
    assert sizes == [size]


def test_a_population_on_a_gpu_is_as_large_as_its_parameter_says() -> None:
    assert LkParams(population=12).members_on_gpu == 12
    assert LkParams().members_on_gpu == 300


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize("kind", ["uniform", "clusters", "lattice", "matrix"])
def test_without_a_limit_small_tours_are_no_longer_than_those_of_many_kicks(
    kind, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed in range(3):
        random = np.random.default_rng(seed)
        points = random.random((60, 2))
        if kind == "clusters":
            points = points // 0.5 + 0.05 * random.random((60, 2))
        if kind == "lattice":
            points = np.rint(10 * points)
        if kind == "matrix":
            half = random.integers(1, 1000, (60, 60))
            points = half + half.T
        found = warptsp.solve(points, seed=seed, threads=1, prove=False)
        assert found.stop_reason == SETTLED
        more = 1e-3 if kind == "matrix" else 1e-9  # few random matrices end a little above
        assert found.length <= warptsp.solve(points, kicks=2000, seed=seed, threads=1).length * (1 + more)


def test_who_says_when_to_end_gets_it() -> None:
    points = np.random.default_rng(23).random((20, 2))
    result = warptsp.solve(points, stop=lambda state: state.kicks >= 5000, threads=1)
    assert result.kicks >= 5000
