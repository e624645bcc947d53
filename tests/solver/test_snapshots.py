"""The tours of a run that are kept on the way: which, how many, and what they cost."""

import math

import numpy as np
import pytest
from calls import raising
from instances import unit_points

import warptsp
from warptsp.errors import InvalidOption
from warptsp.methods import METHODS
from warptsp.problem import OpenPath, Problem
from warptsp.result import Snapshot
from warptsp.run.snapshots import Recorder

POINTS = unit_points(300, 1)


def assert_are_sound(result, limit):
    problem, snapshots = result.problem, result.snapshots
    assert 1 <= len(snapshots) <= limit
    for snapshot in snapshots:
        problem.check_tour(snapshot.tour)
        assert snapshot.length == problem.length(snapshot.tour)
        assert not snapshot.tour.flags.writeable
        assert problem.open is not None or snapshot.tour[0] == 0
    lengths = [snapshot.length for snapshot in snapshots]
    assert lengths == sorted(set(lengths), reverse=True)
    seconds = [snapshot.seconds for snapshot in snapshots]
    assert seconds == sorted(seconds)
    assert seconds[-1] <= result.seconds
    assert snapshots[-1].tour is result.tour
    assert snapshots[-1].length == result.length


@pytest.mark.parametrize("method", sorted(METHODS))
def test_every_method_has_a_first_and_a_best(method):
    points = POINTS[:9] if method == "exact" else POINTS[:120]
    result = warptsp.solve(
        points, method=method, start="random", kicks=300, threads=1, device="cpu", snapshots=5
    )
    assert_are_sound(result, 5)
    if method not in ("exact", "construct"):
        assert len(result.snapshots) >= 2
        assert result.snapshots[0].length > 1.05 * result.length


def test_all_of_them_begin_where_the_result_does(tmp_path):
    file = tmp_path / "best.npy"
    result = warptsp.solve(
        POINTS[:50], kicks=300, start="random", start_city=7, snapshots=5, threads=1, checkpoint=file
    )
    assert len(result.snapshots) > 1
    assert {int(snapshot.tour[0]) for snapshot in result.snapshots} == {7}
    assert result.snapshots[-1].tour is result.tour
    assert np.array_equal(np.load(file), result.tour)


def test_tours_through_missing_arcs_have_no_length():
    n, i = 20, math.inf
    rows = np.full((n, n), i)
    cities = np.arange(n)
    rows[cities, (cities + 1) % n] = 1.0
    rows[cities, (cities + 7) % n] = 3.0
    problem = Problem.from_matrix(rows, asymmetric=True, unit="m")
    start = np.random.default_rng(1).permutation(n)
    result = warptsp.solve(problem, method="construct", start=start, then="lk", kicks=20, snapshots=5)
    assert_are_sound(result, 5)
    assert result.length == n == result.stages[1].length
    assert all(snapshot.length < problem.wall for snapshot in result.snapshots)
    assert result.stages[0].length == i
    assert "construct    infinite after" in result.summary()


@pytest.mark.gpu
def test_the_gpu_is_asked_for_its_tours(gpu):
    points = unit_points(20_000, 5)
    result = warptsp.solve(points, time_limit=3, device="cuda", snapshots=6)
    assert_are_sound(result, 6)
    assert len(result.snapshots) >= 3


def test_the_first_is_the_start_tour():
    given = np.random.default_rng(2).permutation(300)
    result = warptsp.solve(POINTS, start=given, kicks=2000, threads=1, snapshots=6)
    assert_are_sound(result, 6)
    assert np.array_equal(result.snapshots[0].tour, np.roll(given, -np.argmin(given)))


def test_there_are_none_unless_asked_for(monkeypatch):
    monkeypatch.setattr("warptsp.solver.options.Recorder", None)
    assert warptsp.solve(POINTS, kicks=10).snapshots == ()


def test_one_is_the_best():
    result = warptsp.solve(POINTS, kicks=500, snapshots=1)
    assert [snapshot.length for snapshot in result.snapshots] == [result.length]


def test_a_tour_that_cannot_be_improved_is_there_once():
    best = warptsp.solve(POINTS[:10])
    again = warptsp.solve(POINTS[:10], start=best, snapshots=4)
    assert len(again.snapshots) == 1
    assert_are_sound(again, 4)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_cities(n):
    assert_are_sound(warptsp.solve(POINTS[:n], snapshots=3), 3)


def test_two_methods_share_them():
    result = warptsp.solve(POINTS, method="construct", start="random", then="lk", kicks=500, snapshots=4)
    assert_are_sound(result, 4)
    assert result.snapshots[0].length == result.stages[0].length


def test_paths_keep_their_ends():
    problem = Problem.from_points(POINTS[:50], open=OpenPath(7, 3))
    result = warptsp.solve(problem, start="random", kicks=200, snapshots=4)
    assert_are_sound(result, 4)
    assert all((s.tour[0], s.tour[-1]) == (7, 3) for s in result.snapshots)


def test_an_interrupted_run_has_them_too():
    with pytest.raises(KeyError) as raised:
        warptsp.solve(POINTS, start="random", callback=raising(KeyError("enough")), snapshots=3)
    assert_are_sound(raised.value.result, 3)


@pytest.mark.parametrize("value", [-1, 1.5, "many", True])
def test_wrong_numbers_are_refused(value):
    with pytest.raises(InvalidOption, match="snapshots: "):
        warptsp.solve(POINTS, snapshots=value)


def path(length):
    """Two cities so far apart."""
    return Problem.from_points([[0.0, 0.0], [length, 0.0]], open=OpenPath())


def recorded(limit, seconds):
    """Which of the times, each with a shorter tour than the one before, are kept."""
    problem = _Lengths()
    recorder = Recorder(problem, limit)
    for now, problem.now in zip(seconds, np.linspace(100.0, 2.0, len(seconds)).tolist(), strict=True):
        if recorder.due(problem.now, now, None):
            recorder.take(lambda: np.arange(2), now, 1)
    return [s.seconds for s in recorder.finish(Snapshot(seconds[-1], 1.0, np.arange(2, dtype=np.int32)))]


class _Lengths:
    """A problem whose tours are as long as a test says."""

    n, open, wall, now = 2, OpenPath(), None, 0.0

    def length(self, tour, threads):
        return self.now


@pytest.mark.parametrize("limit", [2, 3, 8, 30])
@pytest.mark.parametrize("end", [3.0, 1000.0])
def test_they_are_spread_over_the_logarithm_of_time(limit, end, monkeypatch):
    monkeypatch.setattr("warptsp.run.snapshots.time.monotonic", lambda: 0.0)  # taking them costs nothing
    seconds = np.geomspace(0.01, end, 5000).tolist()
    kept = recorded(limit, seconds)
    assert len(kept) == limit
    assert (kept[0], kept[-1]) == (seconds[0], seconds[-1])
    apart = np.diff(np.log(kept))
    assert apart.max() <= 3.0 * math.log(end / 0.01) / (limit - 1)


def test_little_time_is_spent_on_them(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr("warptsp.run.snapshots.time.monotonic", lambda: clock[0])
    recorder = Recorder(path(1.0), 1000)

    def slow():
        clock[0] += 0.1
        return np.arange(2)

    recorder.take(slow, 1.0, 1)
    taken = [now for now in np.linspace(1.1, 9.9, 89) if recorder.due(0.5, now, None)]
    assert min(taken) == pytest.approx(3.0, abs=0.11)
    assert not recorder.due(0.5, 5.0, 0.2)  # not enough time left
    assert recorder.due(0.5, 5.0, 0.4)
