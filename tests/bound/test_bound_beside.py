"""The bound beside every tour: what a run may spend on it, when it ends a run, and what its result says."""

import json
import threading
import time

import numpy as np
import pytest
from calls import raising

import warptsp
from warptsp import Problem
from warptsp.bound import beside
from warptsp.bound.beside import STEPS, BoundBeside
from warptsp.claims import bound_of_optimal
from warptsp.cli import run
from warptsp.errors import InvalidOption
from warptsp.quantities import format_gap
from warptsp.run import Run, Settings
from warptsp.stop import MaxKicks, MaxRuntime, NoImprovement, StopToken, TargetGap

POINTS = np.random.default_rng(6).random((300, 2))
PROBLEM = Problem.from_points(POINTS)
ASYMMETRIC = Problem.from_matrix(np.random.default_rng(1).random((20, 20)), asymmetric=True)
# Every tour has 64 edges of length 1 at least, and there are such tours: the bound is tight.
GRID = Problem.from_points([(10 * x, 10 * y) for x in range(8) for y in range(8)], metric="EUC_2D")
IN_ORDER = np.arange(300, dtype=np.int32)


@pytest.fixture(scope="module")
def result():
    return warptsp.solve(POINTS, kicks=300, bound=60, threads=1)


def test_a_result_has_its_bound(result):
    assert 0.95 * result.length < result.lower_bound <= result.length
    assert result.bound_gap == (result.length - result.lower_bound) / result.lower_bound
    gap = format_gap(result.bound_gap, up=True)
    assert f"bound        at most {gap} above the shortest: none is below " in result.summary()
    assert result.as_dict()["lower_bound"] == result.lower_bound
    assert result.as_dict()["bound_gap_percent"] == 100 * result.bound_gap


def test_the_tour_does_not_depend_on_it(result):
    without = warptsp.solve(POINTS, kicks=300, bound=False, threads=1)
    assert without.lower_bound is without.bound_gap is without.as_dict()["lower_bound"] is None
    assert "bound" not in without.summary()
    assert np.array_equal(without.tour, result.tour)
    for kicks in 0, 30, 3000:  # a bound that proves the tour does not end such a search either
        plain, bound = (warptsp.solve(GRID, kicks=kicks, bound=b, threads=1) for b in (False, 60))
        assert np.array_equal(plain.tour, bound.tour)
        assert (plain.kicks, plain.stop_reason) == (bound.kicks, bound.stop_reason)


def test_it_is_the_default(monkeypatch):
    monkeypatch.setattr(beside, "WORTH", 0.0)  # however long the machine takes
    monkeypatch.setattr(beside, "GRACE", 600.0)
    monkeypatch.setattr(beside, "SECONDS_PER_CITY", 0.0)
    monkeypatch.setattr(beside, "SECONDS_TO_BEGIN", 1e-9)
    result = warptsp.solve(POINTS, kicks=50)
    assert 0.95 * result.length < result.lower_bound <= result.length


def test_every_symmetric_instance_has_one():
    matrix = Problem.from_matrix(np.round(PROBLEM.distance(IN_ORDER[:60, None], IN_ORDER[None, :60]), 3))
    path = Problem.from_points(POINTS[:60], open=warptsp.OpenPath(start=3, end=None))
    fixed = Problem.from_points(POINTS[:60], fixed_edges=[(0, 1), (5, 40)])
    for problem in matrix, path, fixed:
        result = warptsp.solve(problem, kicks=100, bound=10)
        assert 0.9 * result.length < result.lower_bound <= result.length


def test_a_proof_ends_the_run_at_once():
    result = warptsp.solve(GRID, time_limit=600)
    assert result.stop_reason == "proved optimal"
    assert result.proved_optimal
    assert result.length == result.lower_bound == 640
    assert result.known.proven
    assert result.gap == result.bound_gap == 0.0
    assert "bound        optimal, proved: no tour is shorter" in result.summary()
    # No second method follows; a limit on kicks, or a method that ends by itself, is kept.
    result = warptsp.solve(GRID, then="two-opt", time_limit=600)
    assert [stage.stop_reason for stage in result.stages] == ["proved optimal"]
    result = warptsp.solve(GRID, kicks=2000, bound=60)
    assert (result.proved_optimal, result.stop_reason) == (True, "limit of 2000 kicks")
    result = warptsp.solve(GRID, method="ils", params={"iterations": 50}, bound=60)
    assert result.stop_reason != "proved optimal"
    result = warptsp.solve(POINTS, method="two-opt", then="neighbor-two-opt", bound=10)
    assert 0.8 * result.length < result.lower_bound <= result.length


def test_real_lengths_are_proved_by_no_bound():
    result = warptsp.solve(GRID.coordinates, kicks=500, bound=60)
    assert result.length == pytest.approx(640)
    assert result.lower_bound <= result.length
    assert not result.proved_optimal

    bound = BoundBeside(PROBLEM, "auto", threads=1, is_target=False)
    bound.value = 5.0
    assert not bound.proves(5.0)


def test_a_search_proves_up_to_12_cities():
    result = warptsp.solve(POINTS[:9])
    assert result.proved_optimal
    assert result.lower_bound == bound_of_optimal(result.length)
    assert result.bound_gap == 0.0
    assert "optimal, proved: no tour is shorter" in result.summary()


def test_asymmetric_ones_have_that_of_the_search_and_end_at_a_gap():
    for bound in "auto", 5.0:
        result = warptsp.solve(ASYMMETRIC, kicks=5, bound=bound)
        assert result.lower_bound is not None
        assert result.lower_bound <= warptsp.solve(ASYMMETRIC, kicks=5000).length
    assert warptsp.solve(ASYMMETRIC, method="construct").lower_bound is None
    one_way = PROBLEM.all_distances * np.random.default_rng(3).uniform(1, 1.4, (300, 300))
    problem = Problem.from_matrix(one_way, asymmetric=True)
    result = warptsp.solve(problem, stop=TargetGap(40.0, "bound") | MaxRuntime(600))
    assert 0.0 < result.bound_gap <= 0.4
    assert result.stop_reason.startswith("target gap")


@pytest.mark.parametrize("bound", [True, "yes", "none", -1, float("nan"), [1]])
def test_options(bound):
    with pytest.raises(InvalidOption, match="bound"):
        warptsp.solve(POINTS, kicks=1, bound=bound)


def test_the_callback_sees_it():
    seen = []

    def callback(progress):
        seen.append(progress)
        return progress.lower_bound is not None

    result = warptsp.solve(POINTS, time_limit=600, bound=60, callback=callback)
    assert seen[0].lower_bound is seen[0].bound_gap is None
    assert seen[-1].lower_bound <= result.lower_bound
    assert seen[-1].bound_gap == (seen[-1].length - seen[-1].lower_bound) / seen[-1].lower_bound


# What it may spend


class Computed:
    """Stands for `lower_bound`: waits until it is told to go on, or to stop."""

    def __init__(self):
        self.asked = []
        self.go = threading.Event()

    def __call__(self, problem, tour, *, iterations, threads, device, token):
        self.asked.append((iterations, threads, token))
        while not token.stopped() and not self.go.is_set():
            time.sleep(0.001)
        return warptsp.LowerBound(
            value=float(iterations),
            iterations=iterations,
            seconds=0.0,
            potentials=np.zeros(problem.n, dtype=np.int32),
            exponent=0,
            root=0,
            certified=self.go.is_set(),
        )


@pytest.fixture
def computed(monkeypatch):
    stand_in = Computed()
    monkeypatch.setattr(beside, "lower_bound", stand_in)
    yield stand_in
    stand_in.go.set()


def offered(bound, *, elapsed, planned=None, remaining=None):
    bound.offer(lambda: IN_ORDER, elapsed=elapsed, planned=planned, remaining=remaining)


def wait(bound):
    while bound._is_running():
        time.sleep(0.001)


@pytest.mark.parametrize(("threads", "share", "used"), [(1, 0.1, 1), (4, 0.4, 1), (25, 1.0, 2)])
def test_a_step_begins_when_it_is_a_tenth_of_the_time_of_all_threads(computed, threads, share, used):
    bound = BoundBeside(PROBLEM, "auto", threads=threads, is_target=False)
    needed = bound._seconds_needed()
    offered(bound, elapsed=0.9 * needed / share)
    assert not computed.asked
    offered(bound, elapsed=1.1 * needed / share)
    offered(bound, elapsed=100.0)  # one is running
    assert [asked[:2] for asked in computed.asked] == [(STEPS[0], used)]
    computed.go.set()
    for _ in range(6):
        wait(bound)
        offered(bound, elapsed=100.0)
    assert [iterations for iterations, _, _ in computed.asked] == list(STEPS)
    assert bound.value == STEPS[-1]


def test_it_waits_for_the_first_local_optimum():
    offers = []

    class Waiting(BoundBeside):
        def offer(self, tour, **times):
            offers.append(times)

    bound = Waiting(PROBLEM, "auto", threads=1, is_target=False)
    state = Run(Settings(PROBLEM, bound=bound), MaxRuntime(100))
    for count, phase in enumerate(["set-up", "start tour", "local search", "long edges", "search"]):
        state.update(length=300.0 - count, kicks=0, tour=lambda: IN_ORDER, phase=phase)
        assert len(offers) == (phase == "search")
    assert offers[0]["planned"] == 100


def test_a_time_limit_is_divided_at_once(computed):
    bound = BoundBeside(PROBLEM, "auto", threads=1, is_target=False)
    needed = bound._seconds_needed()
    offered(bound, elapsed=0.0, planned=3.0 * needed, remaining=3.0 * needed)
    assert not computed.asked
    offered(bound, elapsed=0.0, planned=6.0 * needed, remaining=0.1 * needed)
    assert not computed.asked  # too late
    offered(bound, elapsed=0.0, planned=6.0 * needed, remaining=6.0 * needed)
    assert [iterations for iterations, _, _ in computed.asked] == [int(0.6 * STEPS[0])]


def test_many_cities_get_none_unasked(computed):
    large = Problem.from_points(np.zeros((3_000_000, 2)))
    for wanted, is_target, count in ("auto", False, 0), (1e6, False, 1), ("auto", True, 1):
        computed.asked.clear()
        bound = BoundBeside(large, wanted, threads=1, is_target=is_target)
        bound.offer(lambda: np.zeros(1, np.int32), elapsed=1e9, planned=None, remaining=None)
        assert len(computed.asked) == count


def test_the_end_of_the_search_waits_for_a_tenth_at_most(computed):
    bound = BoundBeside(PROBLEM, "auto", threads=1, is_target=False)
    begun = time.monotonic()
    offered(bound, elapsed=100.0)
    bound.finish(IN_ORDER, 1.0, None, lambda: False)
    assert time.monotonic() - begun >= 0.1
    assert bound.value is None
    assert computed.asked[0][2].stopped()


def test_neither_a_short_search_nor_who_wants_the_end_waits(computed):
    bound = BoundBeside(PROBLEM, "auto", threads=1, is_target=False)
    bound.finish(IN_ORDER, 0.001, None, lambda: False)
    assert not computed.asked
    bound = BoundBeside(PROBLEM, 1000.0, threads=1, is_target=False)
    bound.finish(IN_ORDER, 1.0, None, lambda: True)
    assert computed.asked[0][2].requested()


def test_a_time_limit_is_kept_by_a_bound_that_does_not_end(computed, monkeypatch):
    result = warptsp.solve(POINTS, method="construct", time_limit=0.5, bound=1000)
    assert computed.asked
    assert result.lower_bound is None
    never = threading.Event()

    def endless(*_args, **_options):
        never.wait(30)
        raise MemoryError

    monkeypatch.setattr(beside, "lower_bound", endless)
    bound = BoundBeside(PROBLEM, 1000.0, threads=1, is_target=False)
    bound.finish(IN_ORDER, 1.0, 0.1, lambda: False)
    assert bound._is_running()
    never.set()
    wait(bound)


def test_too_little_memory_or_no_thread_costs_the_bound_alone(monkeypatch, caplog):
    monkeypatch.setattr(beside, "lower_bound", raising(MemoryError()))
    assert warptsp.solve(POINTS, kicks=50, bound=5).lower_bound is None
    assert caplog.text.count("not enough memory for a lower bound") == 1
    monkeypatch.setattr(threading.Thread, "start", raising(RuntimeError("can't start new thread")))
    assert warptsp.solve(POINTS, kicks=50, bound=5).lower_bound is None
    assert caplog.text.count("no lower bound: can't start new thread") == 1


def test_who_has_ended_the_search_hears_no_more_of_it(computed):
    phases = []

    def callback(progress):
        phases.append(progress.phase)
        return progress.kicks >= 5

    warptsp.solve(POINTS, kicks=1000, bound=1000, callback=callback)
    assert phases[-1] != "lower bound"


def test_a_mistake_in_it_is_not_hidden_and_costs_no_tour(monkeypatch):
    monkeypatch.setattr(beside, "lower_bound", raising(ZeroDivisionError()))
    with pytest.raises(ZeroDivisionError) as failure:
        warptsp.solve(POINTS, kicks=50, bound=5)
    assert failure.value.result.kicks == 50


def test_a_token_ends_the_waiting(computed):
    token = StopToken()
    threading.Timer(0.3, token.request).start()
    result = warptsp.solve(POINTS, stop=MaxKicks(20) | token, bound=1000, threads=1)
    assert result.lower_bound is None


# A target


def test_the_run_stops_by_the_gap_to_the_bound():
    result = warptsp.solve(POINTS, stop=TargetGap(3.0, "bound") | MaxRuntime(600), then="two-opt")
    assert [stage.stop_reason for stage in result.stages] == ["target gap of 3 % to the lower bound reached"]
    assert result.bound_gap <= 0.03


def test_a_target_takes_more_than_a_share(monkeypatch):
    monkeypatch.setattr(beside, "SHARE", 0.0)
    assert warptsp.solve(POINTS, kicks=50).lower_bound is None
    result = warptsp.solve(POINTS, stop=TargetGap(50.0, "bound") | MaxRuntime(600))
    assert result.stop_reason == "target gap of 50 % to the lower bound reached"


def test_a_gap_that_the_bound_cannot_show_leaves_the_run_to_its_other_limits():
    missed = "target gap of 0 % to the lower bound not reached"
    result = warptsp.solve(POINTS, stop=TargetGap(0.0, "bound") | MaxKicks(2000), bound=60)
    assert result.stop_reason == f"limit of 2000 kicks; {missed}"
    assert f"stopped by   limit of 2000 kicks; {missed}" in result.summary()
    result = warptsp.solve(POINTS[:60], stop=TargetGap(0.0, "bound"))
    assert result.stop_reason == f"no further improvement expected; {missed}"


@pytest.mark.parametrize("percent", [0.0, 1.0])
def test_an_optimal_tour_misses_no_target(percent):
    result = warptsp.solve(POINTS[:9], stop=TargetGap(percent, "bound") | MaxKicks(20))
    assert result.bound_gap == 0
    assert result.stop_reason == "proved optimal"


def test_with_all_of_several_it_waits_for_the_others():
    stop = (TargetGap(50.0, "bound") & NoImprovement(kicks=200)) | MaxRuntime(600)
    result = warptsp.solve(POINTS, stop=stop)
    assert result.stop_reason == (
        "target gap of 50 % to the lower bound reached and no improvement for 200 kicks"
    )


def test_a_run_that_continues_from_a_checkpoint_has_its_own(tmp_path):
    saved = tmp_path / "saved.tour"
    warptsp.solve(POINTS, kicks=500, checkpoint=saved, bound=False)
    stop = TargetGap(5.0, "bound") | MaxRuntime(600)
    result = warptsp.solve(POINTS, start=saved, checkpoint=saved, stop=stop, snapshots=3)
    assert result.stop_reason == "target gap of 5 % to the lower bound reached"
    assert np.array_equal(warptsp.read_tour(saved, PROBLEM), result.tour)


@pytest.mark.parametrize("method", ["hill-climbing", "ils", "symmetric-annealing", "swap"])
def test_every_method_stops_by_it(method):
    stop = TargetGap(60.0, "bound") | MaxRuntime(600)
    result = warptsp.solve(POINTS, method=method, stop=stop, start="space-filling")
    assert result.bound_gap <= 0.6


def test_it_needs_a_bound():
    with pytest.raises(InvalidOption, match="the target gap is one to the lower bound"):
        warptsp.solve(POINTS, stop=MaxKicks(5) | TargetGap(1.0, "bound"), bound=False)


@pytest.fixture
def places(tmp_path):
    file = tmp_path / "some.csv"
    np.savetxt(file, POINTS, delimiter=",", header="x,y", comments="")
    return str(file)


def test_the_command(places, capsys):
    def solve(*options):
        status = run(["solve", places, *options])
        said = capsys.readouterr()
        return status, said.out, said.err

    found = json.loads(solve("--kicks", "50", "--bound", "1m", "--json")[1])
    assert 0.95 * found["length"] < found["lower_bound"] <= found["length"]
    assert solve("--kicks", "50", "--bound", "auto")[0] == 0
    assert json.loads(solve("--kicks", "50", "--bound", "none", "--json")[1])["lower_bound"] is None
    status, _, said = solve("--kicks", "50", "--bound", "often")
    assert status == 2
    assert "'often' is not auto, lp, none, nor a time" in said
    found = json.loads(solve("--target-gap", "3%bound", "--time-limit", "10m", "--json")[1])
    assert found["stop_reason"] == "target gap of 3 % to the lower bound reached"
    status, _, said = solve("--target-gap", "3%bound", "--bound", "none")
    assert status == 2
    assert "--bound none: the target gap is one to the lower bound; leave --bound none out" in said


NO_GAPS = ["0.8%", "%bound", "0.8%optimum", "0.8 % bound %", "bound", "0.8bound", "x"]


@pytest.mark.parametrize("gap", [*NO_GAPS, "-1%bound", "nan%bound"])
def test_what_is_no_gap(gap, places, capsys):
    assert run(["solve", places, "--target-gap", gap]) == 2
    said = "such as 0.8, nor one to the lower bound, 0.8%bound" if gap in NO_GAPS else "target gap"
    assert said in capsys.readouterr().err
