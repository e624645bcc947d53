"""``solve`` around a method: options, stopping, interruption, checkpoints, results."""

import itertools
import logging
import signal
import threading
import time
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import two_opt_method
from instances import unit_points, whole_points

import warptsp
from warptsp import _native
from warptsp.errors import (
    InvalidOption,
    InvalidProblem,
    InvalidTour,
    OutputError,
    WarpTSPError,
)
from warptsp.interruption import ECHO
from warptsp.methods import METHODS
from warptsp.problem import Metric, OpenPath, Problem
from warptsp.run import Run, Settings
from warptsp.run.reserve import Reserve
from warptsp.stop import MaxKicks, MaxRuntime, NoImprovement, StopToken, TargetGap, TargetLength
from warptsp.stop.criterion import as_criterion


@pytest.fixture(autouse=True)
def _two_opt(monkeypatch):
    monkeypatch.setitem(METHODS, "two-opt", two_opt_method.METHOD)


@pytest.fixture
def points():
    return unit_points(40, 1)


def solve(problem, **options):
    """Without a limit of its own a run goes on for as long as its test needs, on however busy a machine."""
    limit = {} if options.keys() & {"kicks", "stop", "time_limit"} else {"time_limit": 3600.0}
    return warptsp.solve(problem, **{"method": "two-opt", "threads": 1, **limit, **options})


def is_tour(tour, n):
    return tour.dtype == np.int32 and sorted(tour.tolist()) == list(range(n))


def use(monkeypatch, function):
    """Make a function the method of the next calls of `solve`."""
    monkeypatch.setitem(METHODS, "two-opt", replace(two_opt_method.METHOD, run=function))


# Results


def test_result_is_a_checked_tour_with_its_exact_length(points):
    result = solve(points, kicks=20)
    problem = Problem.from_points(points)
    assert is_tour(result.tour, 40)
    assert result.tour[0] == 0
    assert not result.tour.flags.writeable
    assert result.length == problem.length(result.tour)
    assert result.kicks == 20
    assert result.stop_reason == "limit of 20 kicks"
    assert not result.interrupted
    lengths = [point.length for point in result.history]
    assert lengths == sorted(lengths, reverse=True)
    assert lengths[-1] == pytest.approx(result.length)
    assert [p.seconds for p in result.history] == sorted(p.seconds for p in result.history)
    assert result.counters["moves"] == 20
    assert "length" in result.summary()
    assert "seed         0" in str(result)
    assert repr(result).startswith("Result(cities=40")
    assert result.gap is None
    assert result.as_dict()["cities"] == 40


def test_a_closed_tour_can_start_anywhere(points):
    result = solve(points, kicks=3)
    turned = result.tour_from(17)
    assert turned[0] == 17
    assert result.problem.length(turned) == pytest.approx(result.length)
    same = result.starting_at(17)
    assert same.tour.tolist() == turned.tolist()
    assert not same.tour.flags.writeable
    assert same.told() == result.told()
    for none in (40, -1, True, [17], [17, 3]):
        with pytest.raises(InvalidOption, match="must lie between 0 and 39"):
            result.starting_at(none)


def test_a_result_saves_and_draws_itself(points, tmp_path):
    result = solve(points, kicks=2)
    result.save(tmp_path / "out.csv")
    result.save(tmp_path / "out.png")
    result.save(tmp_path / "out.svg")
    result.save(tmp_path / "out.html")
    assert (tmp_path / "out.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert np.array_equal(warptsp.read_tour(tmp_path / "out.csv", result.problem), result.tour)
    assert "40 cities" in (tmp_path / "out.svg").read_text()
    assert (tmp_path / "out.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(InvalidOption, match=r"out\.foo"):
        result.save(tmp_path / "out.foo")


# Kinds of instances


def test_a_list_a_matrix_and_a_file_are_problems(tmp_path, points):
    assert solve(points.tolist(), kicks=1).problem.n == 40
    matrix = np.abs(np.arange(6)[:, None] - np.arange(6)[None])
    assert solve(matrix, kicks=1).length == 10
    with pytest.raises(InvalidProblem):
        solve(np.zeros((4, 5)))
    with pytest.raises(InvalidProblem, match="not in rows of one length"):
        solve([[1, 2], [3]])
    with pytest.raises(InvalidProblem, match="missing"):
        solve(tmp_path / "missing.tsp")


def test_open_paths(points):
    free = solve(points, open=True, kicks=2, method="construct", start="given")
    assert free.problem.open == OpenPath()
    tour = warptsp.solve(points[:8], open=OpenPath(start=3, end=5), method="exact").tour
    assert (tour[0], tour[-1]) == (3, 5)
    closed = warptsp.solve(Problem.from_points(points[:8], open=OpenPath()), open=False, method="exact")
    assert closed.problem.open is None
    with pytest.raises(InvalidOption, match="'yes'"):
        solve(points, open="yes")


# Stopping


def test_stop_criteria_reach_the_method(points):
    assert solve(points, stop=MaxKicks(4)).kicks == 4
    assert solve(points, stop=MaxKicks(4), kicks=3).kicks == 3
    assert solve(points, stop=lambda state: state.kicks >= 2).kicks == 2
    result = solve(points, stop=TargetLength(1e9) | MaxKicks(50))
    assert result.kicks == 0
    assert result.stop_reason == "target length of 1000000000.0 reached"
    result = solve(points, stop=NoImprovement(kicks=5))
    assert result.stop_reason == "no improvement for 5 kicks"


def test_no_time_still_gives_a_tour(points):
    assert is_tour(solve(points, time_limit=0).tour, 40)
    assert is_tour(warptsp.solve(points, time_limit=0, method="construct").tour, 40)
    result = warptsp.solve(np.random.default_rng(8).random((5000, 2)), time_limit=0)  # along a curve
    assert result.length < 0.05 * result.problem.length(np.arange(5000))


def test_target_gap_needs_something_to_compare_with(points):
    with pytest.raises(InvalidOption, match="no optimal or best known length"):
        solve(points, stop=TargetGap(1) | MaxRuntime(1))
    assert solve(points, stop=TargetGap(1, reference=1e9)).kicks == 0


def test_default_stop_ends_small_instances_by_itself():
    result = warptsp.solve(unit_points(5), method="two-opt", threads=1)
    assert result.kicks == 250
    assert result.stop_reason == "no further improvement expected"
    result = warptsp.solve(np.ones((30, 2)), method="two-opt", threads=1)
    assert result.length == 0
    assert result.stop_reason == "a tour of length 0 is optimal"


def test_a_token_stops_from_another_thread(points):
    token = StopToken()
    begun = threading.Event()
    thread = threading.Thread(target=lambda: (begun.wait(), token.request()))
    thread.start()
    result = solve(points, stop=token, callback=lambda progress: begun.set())
    thread.join()
    assert result.stop_reason == "stop requested"
    assert not result.interrupted
    assert is_tour(result.tour, 40)
    assert token.requested


def test_solving_in_another_thread_touches_no_signal_handler(points):
    handlers = []

    def callback(progress):
        handlers.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=lambda: solve(points, kicks=1, callback=callback))
    thread.start()
    thread.join()
    assert set(handlers) == {signal.SIG_DFL}


# Logging


def test_a_call_logs_one_line(caplog):
    """A service that solves a thousand problems has a thousand lines; the rest is for who looks for it."""
    with caplog.at_level(logging.DEBUG, "warptsp"):
        warptsp.solve(warptsp.Problem.from_points(unit_points(20), name="round 7"))
        warptsp.solve(unit_points(300), kicks=3)
    told = [record for record in caplog.records if record.levelno > logging.DEBUG]
    assert [(record.name, record.levelname) for record in told] == 2 * [("warptsp.solver", "INFO")]
    assert [record.getMessage().partition(": length ")[0] for record in told] == [
        "round 7, 20 cities", "300 cities",
    ]  # fmt: skip
    assert "candidate lists" in caplog.text
    assert told[1].getMessage().endswith(" s on cpu")
    assert ", limit of 3 kicks, after " in told[1].getMessage()


# Interruption


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_returns_the_best_tour_where_that_is_wanted(points, number):
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)

    def callback(progress):
        if progress.kicks == 3:
            signal.raise_signal(number)

    result = solve(points, callback=callback, on_interrupt="return")
    assert result.interrupted
    assert result.signal == number
    assert result.kicks == 3
    assert is_tour(result.tour, 40)
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before


def test_a_second_ctrl_c_is_a_keyboard_interrupt(points, monkeypatch):
    def stubborn(problem, run, params):
        run.offer(np.arange(problem.n))
        signal.raise_signal(signal.SIGINT)
        assert run.token.stopped()
        time.sleep(2 * ECHO)
        signal.raise_signal(signal.SIGINT)
        raise AssertionError("not reached")

    use(monkeypatch, stubborn)
    with pytest.raises(KeyboardInterrupt) as caught:
        solve(points)
    assert is_tour(caught.value.result.tour, 40)


def test_the_program_keeps_its_own_handlers(points):
    seen = []
    before = signal.signal(signal.SIGTERM, lambda *_: seen.append("mine"))
    try:
        result = solve(
            points, kicks=5, callback=lambda p: signal.raise_signal(signal.SIGTERM) if p.kicks == 2 else None
        )
    finally:
        signal.signal(signal.SIGTERM, before)
    assert seen == ["mine"]
    assert result.kicks == 5


def test_an_interruption_before_the_first_tour_still_gives_one(points, monkeypatch, caplog):
    def slow_setup(problem, run, params):
        signal.raise_signal(signal.SIGINT)

    use(monkeypatch, slow_setup)
    with caplog.at_level(logging.WARNING, "warptsp"):
        result = solve(points, on_interrupt="return")
    assert result.interrupted
    assert is_tour(result.tour, 40)
    assert "plain construction" in caplog.text


@pytest.mark.parametrize("error", [RuntimeError("mine"), KeyboardInterrupt(), SystemExit(3)])
@pytest.mark.parametrize("option", ["callback", "stop"])
def test_a_raising_callback_or_criterion_keeps_the_best_tour(points, option, error):
    def asked(progress):
        if progress.kicks == 2:
            raise error

    with pytest.raises(type(error)) as caught:
        solve(points, **{option: asked})
    assert caught.value is error
    assert is_tour(error.result.tour, 40)
    assert error.result.interrupted
    assert error.result.kicks == 2
    assert "result" in error.__notes__[0]


def test_a_failing_method_keeps_the_best_tour(points, monkeypatch):
    def broken(problem, run, params):
        run.offer(np.arange(problem.n))
        run.offer(np.zeros(problem.n, dtype=np.int32))

    use(monkeypatch, broken)
    with pytest.raises(WarpTSPError, match="bug") as caught:
        solve(points)
    assert is_tour(caught.value.result.tour, 40)


@pytest.mark.parametrize("answer", [bool, np.bool_])
def test_a_callback_can_stop_the_search(points, answer):
    events = []

    def callback(progress):
        events.append(progress)
        return answer(progress.kicks >= 4)

    result = solve(points, callback=callback)
    assert result.kicks == 4
    assert result.stop_reason == "the callback returned True"
    assert [event.kicks for event in events] == [0, 1, 2, 3, 4]
    assert events[0].improved
    assert events[-1].length == pytest.approx(result.length)
    assert is_tour(events[-1].tour(), 40)
    assert events[0].remaining is not None


def test_a_callback_can_say_why_it_stops_the_search(points):
    result = solve(points, then="two-opt", callback=lambda progress: "enough" if progress.kicks else None)
    assert result.stop_reason == "enough"
    assert len(result.stages) == 1
    assert not result.interrupted


def test_progress_knows_the_start_tour_through_both_methods(points):
    events = []
    solve(points, kicks=3, then="two-opt", callback=lambda progress: events.append(progress))
    start = events[0].length
    assert {event.start_length for event in events} == {start}
    assert events[-1].length < start
    assert events[-1].device == "cpu"
    assert not events[-1].known_length_is_optimal


# Start tours


def test_never_worse_than_the_start_tour(points, monkeypatch):
    good = solve(points, kicks=60)
    use(monkeypatch, lambda problem, run, params: run.offer(np.arange(problem.n)))
    again = solve(points, start=good.tour)
    assert again.length == good.length
    assert solve(points, start=good).length == good.length


@pytest.mark.parametrize(
    ("start", "words"),
    [
        ([0, 1, 2], "start tour: 3 cities, and the instance has 40"),
        ("gready", r"'gready' is neither a construction \(greedy.*nor a file"),
        ([0] * 40, "more than once"),
        (list(range(1, 41)), "40"),
        (np.arange(40) * 1.0, "integers"),
        (np.zeros((2, 20), dtype=int), "dimension"),
    ],
)
def test_bad_start_tours(points, start, words):
    with pytest.raises((InvalidTour, InvalidOption), match=words):
        solve(points, start=start)


def test_a_start_tour_must_have_the_fixed_edges_and_ends(points):
    fixed = Problem.from_points(points, fixed_edges=np.array([[0, 5]]))
    with pytest.raises(InvalidTour, match="lacks the fixed edge 1 - 6"):
        solve(fixed, start=np.arange(40))
    path = Problem.from_points(points, open=OpenPath(start=39))
    assert warptsp.solve(path, start=np.arange(40), method="construct").tour[0] == 39
    with pytest.raises(InvalidTour, match="must start at node 40"):
        solve(path, start=[0, 39, *range(1, 39)])


# Checkpoints


@pytest.mark.parametrize("ending", ["npy", "i32", "NPY"])
def test_checkpoint_as_numbers(points, tmp_path, ending):
    file = tmp_path / f"best.{ending}"
    result = warptsp.solve(points, kicks=100, checkpoint=file)
    assert np.array_equal(np.fromfile(file, "<i4")[-len(points) :], result.tour)
    assert warptsp.solve(points, kicks=0, start=file).length <= result.length


def test_checkpoint_is_a_start_tour(points, tmp_path):
    path = tmp_path / "best.tour"
    first = solve(points, kicks=20, checkpoint=path, checkpoint_interval=0)
    assert list(tmp_path.iterdir()) == [path]
    again = solve(points, start=path, kicks=0)
    assert again.length == first.length
    assert again.start == str(path)
    other = unit_points(41, 5)
    with pytest.raises(InvalidTour, match="41"):
        solve(other, start=path)


def test_checkpoint_is_written_while_searching_and_after_a_failure(points, tmp_path):
    path = tmp_path / "best.tour"
    seen = []

    def callback(progress):
        seen.append(path.exists())
        if progress.kicks == 5:
            path.unlink()
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        solve(points, callback=callback, checkpoint=path, checkpoint_interval=0, start="random")
    assert seen[:2] == [False, True]


def test_an_old_checkpoint_is_replaced_with_a_warning_unless_the_run_goes_on_from_it(
    points, tmp_path, caplog
):
    path = tmp_path / "best.tour"
    solve(points, kicks=2, checkpoint=path)
    solve(points, kicks=2, checkpoint=path, start=path)
    assert caplog.text == ""
    solve(points, kicks=2, checkpoint=path)
    assert "will be replaced; start continues from it" in caplog.text


@pytest.mark.parametrize("kept", ["places.csv.proof", "places.csv"])
def test_a_checkpoint_or_its_proof_never_replaces_the_instance(tmp_path, kept):
    source = tmp_path / "places.csv.proof"
    source.write_text("x,y\n0,0\n1,0\n1,1\n0,2\n")
    with pytest.raises(InvalidOption, match="is the instance itself already"):
        warptsp.solve(source, checkpoint=tmp_path / kept)


def test_a_failing_checkpoint_does_not_cost_the_search(points, tmp_path, caplog):
    path = tmp_path / "sub" / "best.tour"
    path.parent.mkdir()

    def callback(progress):
        if progress.kicks == 0:
            path.parent.rmdir()
        if progress.kicks == 3:
            path.parent.mkdir()

    result = solve(points, kicks=5, checkpoint=path, checkpoint_interval=0, callback=callback)
    assert result.kicks == 5
    assert "checkpoint not written" in caplog.text
    assert path.exists()


# Options


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"method": "lkh"}, InvalidOption, "'lkh' is unknown; there are lk"),
        ({"method": 3}, InvalidOption, "3 is unknown"),
        ({"device": "tpu"}, InvalidOption, "'tpu' is unknown; there are auto, cpu, cuda"),
        ({"device": "cuda:-1"}, InvalidOption, "'cuda:-1' is unknown"),
        ({"device": 0}, InvalidOption, "0 is unknown"),
        ({"threads": 0}, InvalidOption, "threads: 0"),
        ({"threads": 10**6}, InvalidOption, "the maximum is 1024"),
        ({"checkpoint": 5}, InvalidOption, "checkpoint: 5"),
        ({"checkpoint": "none/best.tour"}, OutputError, "no directory"),
        ({"start": [[1], [2, 3]]}, InvalidTour, "start tour: the cities are not in rows of one length"),
        ({"threads": 1.5}, InvalidOption, "threads: 1.5"),
        ({"seed": -1}, InvalidOption, "seed: -1"),
        ({"seed": 2**64}, InvalidOption, "seed"),
        ({"seed": "a"}, InvalidOption, "seed: 'a'"),
        ({"time_limit": -1}, InvalidOption, "time limit: -1"),
        ({"time_limit": "10"}, InvalidOption, "time limit: '10'"),
        ({"kicks": -1}, InvalidOption, "kicks: -1"),
        ({"stop": 5}, InvalidOption, "stop: 5"),
        ({"callback": 5}, InvalidOption, "callback: 5"),
        (
            {"params": {"neighbours": 5}},
            InvalidOption,
            "'neighbours': method two-opt has neighbors, temperature",
        ),
        ({"params": {"neighbors": 0}}, InvalidOption, "neighbors: 0"),
        ({"params": {"neighbors": 1.5}}, InvalidOption, "neighbors: 1.5 is not of type int"),
        ({"params": {"neighbors": "many"}}, InvalidOption, "neighbors: 'many' is not of type int"),
        (
            {"params": {"improvement": "worst"}, "method": "ils"},
            InvalidOption,
            "improvement: 'worst' is not 'first' or 'best'",
        ),
        ({"params": {"neighbors": True}}, InvalidOption, "neighbors: True"),
        ({"params": 5}, InvalidOption, "params: 5"),
        ({"params": {"a": 1}, "method": "construct"}, InvalidOption, "no parameters"),
        ({"checkpoint_interval": 5}, InvalidOption, "checkpoint_interval: there is no checkpoint"),
        ({"checkpoint_interval": -1, "checkpoint": "x.tour"}, InvalidOption, "checkpoint interval: -1"),
    ],
)
def test_impossible_options_are_named(points, options, error, words):
    with pytest.raises(error, match=words):
        solve(points, **options)


def test_params_are_converted(points):
    texts = {"neighbors": "5", "temperature": "0.5", "verbose": "yes", "first": "none", "ratios": "1, 0.5"}
    values = {"neighbors": 5, "temperature": 0.5, "verbose": True, "first": None, "ratios": (1.0, 0.5)}
    assert solve(points, kicks=0, params=texts).params == values
    assert solve(points, kicks=0, params=values).params == values
    assert solve(points, kicks=0, params=two_opt_method.TwoOptParams(neighbors=7)).params["neighbors"] == 7
    assert solve(points, kicks=0, params={"temperature": 1}).params == {"temperature": 1.0}


# The run


def test_update_is_told_about_drift_of_floats():
    problem = Problem.from_points(unit_points(5))
    run = Run(Settings(problem), MaxKicks(10))
    order = np.arange(5, dtype=np.int32)
    for length in (3.0, 3.0 - 1e-15, 2.0):
        run.update(length=length, kicks=1, tour=lambda: order)
    assert [point.length for point in run.course.history] == [3.0, 2.0]


def test_lengths_of_integer_metrics_are_integers():
    problem = Problem.from_points(whole_points(5, side=9), "EUC_2D")
    run = Run(Settings(problem), MaxKicks(10))
    for length in (np.float64(20.0), 18.999999999, np.int64(18)):
        run.update(length=length, kicks=1, tour=lambda: np.arange(5, dtype=np.int32))
    assert [point.length for point in run.course.history] == [20, 19, 18]
    assert all(type(point.length) is int for point in run.course.history)


def test_the_deadline_leaves_time_for_the_check():
    problem = Problem.from_points(unit_points(200_000))
    run = Run(Settings(problem), MaxRuntime(100))
    assert 0 < 100 - run.elapsed() - run.remaining() < 5
    run.offer(np.arange(200_000))  # from now on there is a tour, and no time is kept to make one
    before = run.remaining()
    run.offer(np.arange(200_000))
    assert run.remaining() <= before
    assert Run(Settings(problem), MaxKicks(1)).remaining() is None


def test_time_is_kept_for_what_comes_after_the_search():
    problem = Problem.from_points(np.zeros((50_000, 2)))
    order = np.arange(problem.n, dtype=np.int32)
    run = Run(Settings(problem), MaxRuntime(100))
    run.expect(order, seconds=30.0)
    assert run.remaining() < 70
    run.expect(order)
    assert 70 < run.remaining() < 100
    unlimited = Run(Settings(problem), MaxKicks(1))
    unlimited.expect(order, seconds=30.0)
    assert unlimited.remaining() is None


def test_a_report_is_repeated_while_native_code_works(points, monkeypatch):
    monkeypatch.setattr("warptsp.run.run.REPEAT", 0.0)
    order = np.arange(40, dtype=np.int32)
    events, states = [], []
    run = Run(Settings(Problem.from_points(points), callback=events.append), as_criterion(states.append))
    with run.repeating(7.0, lambda: order, "set-up"):
        for _ in range(2):
            run.token.poll()  # as native code does
    assert {(event.length, event.phase, event.kicks) for event in events} == {(7.0, "set-up", 0)}
    assert np.array_equal(events[-1].tour(), order)
    assert len(events) == len(states) == 3
    # A wait for improvement begins with the search.
    assert all(later.improved_at >= state.elapsed for state, later in itertools.pairwise(states))
    assert run.token.poll is None


@pytest.mark.parametrize("given", [False, True])
def test_callbacks_and_criteria_in_the_set_up_of_a_long_tour(given, monkeypatch):
    monkeypatch.setattr("warptsp.methods.first_tour.LONG", 1000)
    problem = Problem.from_points(unit_points(5000, 6))
    start = np.random.default_rng(7).permutation(5000) if given else None

    def solve(**options):
        return warptsp.solve(problem, start=start, threads=1, **options)

    events = []
    result = solve(callback=lambda event: not events.append(event))
    assert events[0].phase == "set-up"
    assert result.stop_reason == "the callback returned True"
    assert result.length == events[0].length == problem.length(events[0].tour())
    if given:
        assert np.array_equal(np.roll(start, -int(np.argmin(start))), result.tour)
    # No kicks, but the first local optimum.
    phases = []
    solve(kicks=0, bound=False, callback=lambda event: phases.append(event.phase))
    # What takes long is reported more than once.
    assert [phase for phase, _ in itertools.groupby(phases)] == ["set-up", "start tour", "local search"]


def test_a_stop_that_was_seen_is_not_taken_back():
    """Time is kept to make a first tour; once there is one, the rest of it is no reason to go on."""
    problem = Problem.from_points(np.zeros((200_000, 2)))
    run = Run(Settings(problem), MaxRuntime(100))
    run._reserve.seconds = 1000.0
    run._reserve.keep(0.0)
    assert run.token.stopped()
    run.offer(np.arange(200_000))
    assert run.token.stopped()
    assert run.reason() == "time limit of 100 s"


def test_a_billion_cities_leave_time_for_a_search():
    """What making a first tour would take is shared by threads, and is no reason to stop at once."""
    many = SimpleNamespace(n=10**9, metric=Metric.EXACT_2D, distance=lambda a, b: None)
    left = {}
    for threads in (1, 16):
        token = _native.StopToken()
        Reserve(Settings(many, threads=threads), 100.0, token)
        left[threads] = token.deadline() - time.monotonic()
    assert left[1] < 0
    assert left[16] > 70
