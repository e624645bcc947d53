"""What a run keeps of what a method reports: found by changes of `run.py` that no other test noticed."""

import numpy as np
import pytest
from instances import whole_points

from warptsp import Problem
from warptsp.run import Run, Settings
from warptsp.run.checkpoint import Checkpoint
from warptsp.stop import MaxKicks, MaxRuntime, NoImprovement, StopToken


@pytest.fixture
def problem():
    return Problem.from_points(whole_points(9, side=100), "EUC_2D")


def order():
    return np.arange(9, dtype=np.int32)


def report(run, length, kicks=0, phase="search"):
    return run.update(length=length, kicks=kicks, tour=order, phase=phase)


def test_a_closed_run_hears_no_token(problem):
    token = StopToken()
    run = Run(Settings(problem), token)
    run.close()
    token.request()
    assert not run.token.requested()


def test_kicks_without_an_improvement_count_from_the_last_one(problem):
    run = Run(Settings(problem), NoImprovement(kicks=5))
    said = [report(run, length, kicks) for length, kicks in ((50, 0), (49, 4), (49, 8), (49, 9))]
    assert said == [False, False, False, True]
    assert run.stop_reason == "no improvement for 5 kicks"


@pytest.mark.parametrize(
    ("phases", "start_length"),
    [
        (["start tour", "search", "search"], 50),
        (["set-up", "start tour", "search"], 49),
        (["search", "search", "start tour"], 50),  # a second method's, which began with this one's
    ],
)
def test_the_start_tour_is_the_last_of_the_set_up(problem, phases, start_length):
    run = Run(Settings(problem), MaxKicks(100))
    for length, phase in zip((50, 49, 48), phases, strict=True):
        report(run, length, phase=phase)
    assert run.course.start_length == start_length


def test_what_is_longer_than_the_best_tour_does_not_hide_it(problem):
    events = []
    run = Run(Settings(problem, callback=events.append), MaxKicks(100))
    run.offer(order()[::-1])
    report(run, run.best_length + 10)
    report(run, run.best_length - 10)
    assert [event.length - run.best_length for event in events] == [0, -10]
    np.testing.assert_array_equal(events[0].tour(), order()[::-1])
    np.testing.assert_array_equal(events[1].tour(), order())


def test_no_time_is_left_after_the_limit(problem):
    assert Run(Settings(problem), MaxRuntime(0)).remaining() == 0.0


def test_the_best_tour_is_saved_when_there_is_one(problem, tmp_path):
    file = tmp_path / "saved.npy"
    run = Run(Settings(problem, checkpoint=Checkpoint(file, problem, interval=1e9)), MaxKicks(100))
    run.save()
    assert not file.exists()
    run.offer(order())
    run.save()
    np.testing.assert_array_equal(np.load(file), order())


def test_a_running_sum_that_has_drifted_below_zero_is_told_by_no_one(caplog):
    problem = Problem.from_points(whole_points(9, side=100), "EXACT_2D")
    heard = []
    run = Run(Settings(problem, callback=heard.append), StopToken())
    run.report_bound(0.0)
    report(run, 5e90)
    report(run, -3.9e-85)
    assert [progress.lower_bound for progress in heard] == [0.0, 0.0]
    assert heard[-1].length == problem.length(order())
    assert "withdrawn" not in caplog.text
