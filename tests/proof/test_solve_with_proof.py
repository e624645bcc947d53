"""A search that goes on until its tour is proved optimal."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from processes import run_code

import warptsp
from warptsp import Problem, describe
from warptsp.cli import commands
from warptsp.construct import construct
from warptsp.errors import (
    BackendUnavailable,
    InvalidOption,
    OutputError,
    UnsupportedProblem,
    WarpTSPError,
)
from warptsp.io import read_tour, write_tour
from warptsp.proof import proof as proof_options
from warptsp.proof import proving
from warptsp.proof.node_solver import NodeSolver
from warptsp.solver import proof as after
from warptsp.stop import MaxKicks, MaxRuntime

pytest.importorskip("highspy", reason="an extra brings HiGHS: pip install 'warptsp[prove]'")


@pytest.fixture
def problem():
    return Problem.from_points(np.random.default_rng(4).integers(0, 1000, (60, 2)), "EUC_2D")


@pytest.fixture
def places(problem, tmp_path):
    file = tmp_path / "places.csv"
    file.write_text("x,y\n" + "\n".join(f"{x:.0f},{y:.0f}" for x, y in problem.coordinates))
    return str(file)


def test_a_result_is_proved(problem):
    result = warptsp.solve(problem, prove=True)
    assert result.proved_optimal
    assert result.length == result.lower_bound == result.known.length
    assert result.stop_reason == "proved optimal"
    assert "optimal, proved" in result.summary()


def test_a_better_tour_of_the_proof_is_the_result(problem, tmp_path):
    """The search has no time; the tour, its history, snapshots and checkpoint are those of the proof."""
    best = warptsp.prove(problem).length
    file = tmp_path / "best.npy"
    result = warptsp.solve(
        problem, prove=True, kicks=1, start="random", method="two-opt", checkpoint=file, snapshots=3
    )
    assert result.length == best == problem.length(result.tour)
    assert result.history[-1].length == best
    assert result.snapshots[-1].length == best
    assert np.array_equal(read_tour(file, problem), result.tour)


@pytest.mark.parametrize("asked", [{"prove": True}, {"bound": "lp"}])
def test_a_better_tour_of_the_proof_begins_where_it_shall(problem, asked, tmp_path):
    file = tmp_path / "best.npy"
    result = warptsp.solve(
        problem,
        method="construct",
        start="random",
        start_city=7,
        snapshots=3,
        checkpoint=file,
        checkpoint_interval=0,
        **asked,
    )
    assert len(result.history) > 1
    assert result.tour[0] == 7
    assert [kept.tour[0] for kept in result.snapshots] == [7] * len(result.snapshots)
    assert np.array_equal(result.snapshots[-1].tour, result.tour)
    assert np.array_equal(read_tour(file, problem), result.tour)


@pytest.mark.parametrize("limit", [None, 1000])
def test_a_proof_that_rounding_leaves_open(limit):
    """Nothing is said of a time limit that was not given, or not reached."""
    matrix = np.full((14, 14), 5e-324)  # in the finest units that there are, these are 0
    np.fill_diagonal(matrix, 0.0)
    result = warptsp.solve(matrix, prove=True, time_limit=limit, kicks=10)
    assert not result.proved_optimal
    assert result.stop_reason == "end of a proof that is left open"


@pytest.mark.parametrize("prove", [False, "auto"])
def test_the_bound_of_the_linear_programmes(undecided, prove):
    """It is that of a proof without branches, and above Held and Karp's."""
    result = warptsp.solve(undecided, bound="lp", prove=prove)
    root = warptsp.prove(undecided, result.tour, tree=False)
    assert not root.proved
    assert result.lower_bound == root.lower_bound > warptsp.lower_bound(undecided).value
    assert not result.proved_optimal
    assert result.stop_reason == "bound of the linear programmes"
    assert not result.interrupted


def test_the_bound_of_the_linear_programmes_and_its_limits(undecided, problem):
    assert warptsp.solve(undecided, bound="lp", prove=True).proved_optimal
    assert warptsp.solve(problem, bound="lp").proved_optimal
    assert warptsp.solve(undecided, bound="lp", kicks=100).kicks == 100
    for asked in {"bound": "lp"}, {"prove": True, "bound": False}:
        late = warptsp.solve(undecided, time_limit=0, **asked)
        assert late.stop_reason == "time limit during the proof"
        assert not late.proved_optimal
        assert late.lower_bound <= late.length
    ended = warptsp.solve(undecided, bound="lp", callback=lambda event: event.phase == "proof")
    assert ended.interrupted
    assert ended.lower_bound <= ended.length


def test_where_there_are_no_linear_programmes(monkeypatch, problem):
    """Asymmetric instances have the bound of their search; who lacks the solver is told before it."""
    monkeypatch.setitem(sys.modules, "highspy", None)
    matrix = np.random.default_rng(5).integers(1, 30, (40, 40))
    result = warptsp.solve(Problem.from_matrix(matrix, asymmetric=True), bound="lp", kicks=100)
    assert result.lower_bound <= result.length
    with pytest.raises(BackendUnavailable, match=r"pip install 'warptsp\[prove\]'"):
        warptsp.solve(problem, bound="lp")
    with pytest.raises(InvalidOption, match='"lp"'):
        warptsp.solve(problem, bound="often")


def test_few_cities_need_no_proof_and_real_lengths_have_one():
    result = warptsp.solve(np.random.default_rng(1).random((9, 2)), prove=True)
    assert result.proved_optimal
    assert "proof_nodes" not in result.counters
    result = warptsp.solve(np.random.default_rng(2).random((40, 2)), prove=True)
    assert result.proved_optimal
    assert result.length * (1 - 1e-7) <= result.lower_bound <= result.length


def test_what_is_refused(monkeypatch, problem):
    with pytest.raises(InvalidOption, match='neither True, False nor "auto"'):
        warptsp.solve(problem, prove="yes")
    one_way = np.arange(400).reshape(20, 20) % 17
    with pytest.raises(UnsupportedProblem, match="asymmetric"):
        warptsp.solve(one_way, asymmetric=True, prove=True)

    def missing():
        raise BackendUnavailable("no HiGHS")

    monkeypatch.setattr(proving, "require_solver", missing)
    with pytest.raises(BackendUnavailable):
        warptsp.solve(problem, prove=True)


# Unasked


@pytest.fixture
def plenty(monkeypatch):
    """However busy the machine is: the proof has the time that it needs."""
    monkeypatch.setattr(after, "UNASKED_SECONDS", 60.0)
    monkeypatch.setattr(after, "UNASKED_SHARE", 0.99)


@pytest.mark.parametrize("limit", [None, 60.0])
def test_a_proof_that_nobody_asked_for(problem, limit, plenty):
    result = warptsp.solve(problem, prove="auto", time_limit=limit, stop=None, bound=False)
    assert result.proved_optimal
    assert result.stop_reason == "proved optimal"
    assert result.length == result.lower_bound


def test_python_and_the_command_answer_alike(problem, places, plenty):
    """The same call without options: one place decides."""
    told = CliRunner().invoke(commands, ["solve", places, "--metric", "EUC_2D", "--json"])
    as_json, result = json.loads(told.stdout), warptsp.solve(problem)
    assert as_json["proved_optimal"] is result.proved_optimal is True
    assert as_json["stop_reason"] == result.stop_reason == "proved optimal"
    assert as_json["length"] == result.length == result.lower_bound
    told = CliRunner().invoke(commands, ["solve", places, "--metric", "EUC_2D", "--json", "--no-prove"])
    as_json, result = json.loads(told.stdout), warptsp.solve(problem, prove=False)
    assert as_json["proved_optimal"] is result.proved_optimal is False
    assert as_json["stop_reason"] == result.stop_reason == "no further improvement expected"
    assert not warptsp.solve_many([problem])[0].proved_optimal  # thousands of them shall be fast


def test_few_cities_wait_for_no_import():
    """Up to 12 cities the search is a proof, and mostly up to 30; nothing else is loaded for them."""
    code = (
        "import sys, warptsp\nsys.path.insert(0, sys.argv[1])\nfrom instances import unit_points\n"
        "print([warptsp.solve(unit_points(n)).proved_optimal for n in (5, 12, 13, 20)])\n"
        "print(sorted(name for name in sys.modules if name.startswith(('highspy', 'warptsp.proof'))))"
    )
    done = run_code(code, Path(__file__).parents[1])
    assert done.stdout.splitlines() == [
        "[True, True, True, True]",
        "['warptsp.proof', 'warptsp.proof.linear_program']",
    ]


@pytest.mark.parametrize(
    "options",
    [
        {"kicks": 50},
        {"method": "two-opt"},
        {"then": "two-opt", "kicks": 1},
        {"stop": MaxRuntime(0.1) | MaxKicks(50)},
    ],
)
def test_a_run_that_is_not_prolonged_unasked(problem, options, plenty):
    assert "proof_nodes" not in warptsp.solve(problem, prove="auto", **options).counters


def test_nothing_is_said_where_a_proof_is_not_to_be_had(monkeypatch, problem, plenty):
    tour = construct(problem)
    assert proving.prove_within(problem, tour, 0.0) is None
    assert proving.prove_within(problem, tour, 60.0).proved
    with monkeypatch.context() as patched:
        patched.setattr(after, "UNASKED_CITIES", 59)
        assert "proof_nodes" not in warptsp.solve(problem, prove="auto", time_limit=0.1).counters
    monkeypatch.setitem(sys.modules, "highspy", None)
    assert "proof_nodes" not in warptsp.solve(problem, prove="auto", time_limit=0.1).counters
    assert proving.prove_within(problem, tour, 1.0) is None


@pytest.mark.parametrize("broken", [False, True])
def test_a_short_time_limit_is_told_as_it_was_given(problem, broken, monkeypatch, tmp_path):
    """A solver that cannot be imported leaves the search as it is."""
    if broken:
        (tmp_path / "highspy.py").write_text("raise ImportError('broken')")
        for name in [name for name in sys.modules if name.partition(".")[0] == "highspy"]:
            monkeypatch.delitem(sys.modules, name)
        monkeypatch.syspath_prepend(tmp_path)
    result = warptsp.solve(problem, prove="auto", time_limit=0.04, bound=False)
    assert result.proved_optimal or result.stop_reason == "time limit of 0.04 s"


# Progress


def test_progress_of_the_proof(problem, monkeypatch):
    monkeypatch.setattr(after, "TOLD_EVERY", 0.0)
    seen = []
    result = warptsp.solve(
        problem,
        prove=True,
        start="random",
        method="two-opt",
        callback=lambda event: seen.append((event, problem.length(event.tour()))),
    )
    assert all(event.length == length for event, length in seen)
    proving_events = [event for event, _ in seen if event.phase == "proof"]
    assert proving_events
    assert all(event.lower_bound <= result.length <= event.length for event in proving_events)
    assert "nodes" in describe.work(proving_events[-1])
    bounds = [event.lower_bound for event in proving_events]
    assert bounds == sorted(bounds)


@pytest.mark.parametrize("answer", [True, np.bool_(True), "enough"])
def test_a_callback_ends_the_proof(problem, answer):
    result = warptsp.solve(problem, prove=True, callback=lambda event: event.phase == "proof" and answer)
    assert not result.proved_optimal
    assert result.interrupted
    assert result.stop_reason == (answer if answer == "enough" else "the callback returned True")


def test_no_proof_follows_a_callback_that_ended_the_search(problem):
    phases = []
    result = warptsp.solve(problem, prove=True, callback=lambda event: phases.append(event.phase) or True)
    assert "proof" not in phases
    assert result.stop_reason == "the callback returned True"


@pytest.mark.parametrize(
    ("phase", "reason"), [("proof", "stop requested during the proof"), ("local search", "stop requested")]
)
def test_a_token_ends_the_proof_or_leaves_it_out(undecided, phase, reason):
    token, phases = warptsp.StopToken(), []

    def request(event):
        phases.append(event.phase)
        if event.phase == phase:
            token.request()

    result = warptsp.solve(undecided, prove=True, stop=token | MaxKicks(800), callback=request)
    assert (result.stop_reason, result.proved_optimal, result.interrupted) == (reason, False, False)
    assert ("proof" in phases) is (phase == "proof")


def test_a_callback_that_fails_during_the_proof(problem):
    with pytest.raises(ZeroDivisionError) as caught:
        warptsp.solve(problem, prove=True, callback=lambda event: event.phase == "proof" and 1 / 0)
    assert caught.value.result.length == problem.length(caught.value.result.tour)


# Proofs that fail


@pytest.mark.parametrize("asked", [{"prove": True}, {"bound": "lp"}, {"prove": "auto", "bound": False}])
@pytest.mark.parametrize(
    ("error", "place", "name"),
    [
        (ValueError("lengths are\ntoo large"), NodeSolver, "__init__"),
        (WarpTSPError("HiGHS"), NodeSolver, "cut_at_root"),
        (MemoryError(), proof_options, "ProofOptions"),
    ],
)
def test_a_proof_that_fails_costs_only_itself(
    problem, monkeypatch, caplog, plenty, asked, error, place, name
):
    """Whatever it is, a line says it, and the search's result is there."""

    def fail(*arguments, **options):
        raise error

    monkeypatch.setattr(place, name, fail)
    if place is proof_options:
        monkeypatch.setattr(proving, "prove_within", fail)
    result = warptsp.solve(problem, **asked)
    assert result.length == problem.length(result.tour)
    assert not result.proved_optimal
    assert not result.interrupted
    line = f"{type(error).__name__}: {error}".replace("\n", " ").rstrip(": ")
    assert result.stop_reason.endswith(f"; no proof: {line}")
    assert f"the proof was skipped: {line}" in caplog.text


def test_a_better_tour_of_a_proof_that_fails_is_kept(problem, places, monkeypatch, tmp_path):
    best, file = warptsp.prove(problem).length, tmp_path / "best.tour"

    def fail(*arguments):
        raise ZeroDivisionError("planted")

    monkeypatch.setattr(NodeSolver, "cut_at_root", fail)
    result = warptsp.solve(problem, prove=True, method="construct", start="random", checkpoint=file)
    assert result.length == problem.length(result.tour)
    assert result.stop_reason.endswith("no proof: ZeroDivisionError: planted")
    proof = warptsp.prove(problem)
    assert proof.skipped == "ZeroDivisionError: planted"
    assert proof.length == best
    assert 0 < proof.lower_bound <= best
    assert not proof.proved
    told = CliRunner().invoke(commands, ["prove", places, "--metric", "EUC_2D", "-o", str(file)])
    assert told.exit_code == 0, told.output
    assert "given up     ZeroDivisionError: planted" in told.stdout
    assert problem.length(read_tour(file, problem)) == best


@pytest.mark.parametrize("error", [OutputError("no space left on device"), KeyboardInterrupt()])
def test_what_the_user_must_act_on_is_raised_with_the_result(problem, monkeypatch, error):
    def fail(*arguments, **options):
        raise error

    for place, name in ((proving, "prove_with"), (NodeSolver, "cut_at_root")):
        monkeypatch.setattr(place, name, fail)
        if isinstance(error, OutputError) and place is NodeSolver:
            continue  # whatever writes there, it is not what the user has named
        with pytest.raises(type(error)) as raised:
            warptsp.solve(problem, prove=True)
        result = raised.value.result
        assert isinstance(result, warptsp.Result)
        assert result.length == problem.length(result.tour)
        monkeypatch.undo()


def test_a_limit_that_nobody_gave_is_not_named():
    """Few cities are done by the search, whose limits the proof has set."""
    problem = Problem.from_points(np.random.default_rng(2).integers(0, 1000, (17, 2)), "EUC_2D")
    result = warptsp.solve(problem, prove=True)
    assert result.stop_reason == "proved optimal"
    assert "17" not in result.stages[0].stop_reason
    result = warptsp.solve(problem, prove=True, time_limit=50, bound=False)
    assert result.stop_reason == "proved optimal"
    assert "15" not in result.stages[0].stop_reason
    result = warptsp.solve(problem, prove="auto", time_limit=0.1, bound=False)
    assert result.stages[0].stop_reason in ("time limit of 0.1 s", "proved optimal")


# The command


def test_the_command(places):
    def found(*arguments):
        return json.loads(CliRunner().invoke(commands, [*arguments, "--json"]).stdout)

    assert found("solve", places, "--prove", "-q")["proved_optimal"]
    bounded = found("solve", places, "--bound", "lp", "-q")
    assert bounded["lower_bound"] == pytest.approx(bounded["length"], rel=1e-6)
    assert found("prove", places, "--no-tree", "--threads", "2")["nodes"] == 0


# Checkpoints


def few_rounds(rounds: int):
    """A callback that ends a proof after so many of its events."""
    left = iter(range(rounds))
    return lambda event: event.phase == "proof" and next(left, None) is None


def test_tour_and_proof_go_on_from_one_checkpoint(undecided, tmp_path, monkeypatch):
    monkeypatch.setattr(after, "TOLD_EVERY", 0.0)
    file = tmp_path / "best.tour"
    whole = warptsp.solve(undecided, prove=True, threads=1)
    options = {"prove": True, "threads": 1, "checkpoint": file}
    first = warptsp.solve(undecided, callback=few_rounds(25), **options)
    assert not first.proved_optimal
    kept = json.loads((tmp_path / "best.tour.proof").read_text())
    assert kept["format"] == "warptsp unfinished proof"
    bounds = []

    def note(event):
        if event.phase == "proof":
            bounds.append(event.lower_bound)

    result = warptsp.solve(undecided, start=file, callback=note, **options)
    assert result.proved_optimal
    assert result.length == whole.length
    assert bounds[0] >= first.lower_bound
    # Once it is finished there is nothing left to do.
    again = warptsp.solve(undecided, start=file, time_limit=60, **options)
    assert again.proved_optimal
    assert again.seconds < 20


def test_a_proof_beside_a_tour_that_is_none_of_this_instance(problem, undecided, tmp_path, caplog):
    file = tmp_path / "best.tour"
    warptsp.solve(undecided, prove=True, threads=1, checkpoint=file)
    write_tour(file, np.arange(60), problem)
    result = warptsp.solve(problem, prove=True, start=file, threads=1, checkpoint=file)
    assert result.proved_optimal
    assert "the proof begins anew" in caplog.text
    assert warptsp.prove(problem, resume=f"{file}.proof").proved


def test_where_there_is_no_file_for_a_proof(problem, undecided, tmp_path, monkeypatch):
    """Without one, and beside devices and streams; a folder of that name is refused."""
    monkeypatch.chdir(tmp_path)
    for prove in (False, "auto"):
        warptsp.solve(problem, prove=prove, time_limit=0.3, checkpoint="best.tour")
    for device in ("/dev/null", "-"):
        assert warptsp.solve(problem, prove=True, checkpoint=device).proved_optimal
    assert [file.name for file in tmp_path.iterdir()] == ["best.tour"]
    (tmp_path / "best.tour.proof").mkdir()
    with pytest.raises(OutputError, match=r"best\.tour\.proof: is a directory"):
        warptsp.solve(undecided, prove=True, checkpoint="best.tour")


def test_what_was_proved_is_not_lost_with_its_checkpoint(undecided, tmp_path, monkeypatch):
    def full(*arguments, **options):
        raise OutputError("no space left on device")

    for module, name in ((proving, "write_unfinished"), (warptsp.io, "write_tour")):
        monkeypatch.setattr(module, name, full)
        with pytest.raises(OutputError) as raised:
            warptsp.solve(undecided, prove=True, threads=1, checkpoint=tmp_path / "best.tour")
        assert raised.value.result.proved_optimal
        assert not raised.value.result.interrupted
    with pytest.raises(OutputError) as raised:
        warptsp.prove(undecided, threads=1, checkpoint=tmp_path / "proof.json")
    assert raised.value.result.proved


@pytest.mark.parametrize("limit", [1e-9, 1e-3, 0.01])
def test_a_proof_without_time_ends_by_the_limit(limit):
    result = warptsp.solve(np.random.default_rng(0).random((300, 2)), time_limit=limit, prove=True, threads=1)
    assert result.stop_reason == "time limit during the proof"
