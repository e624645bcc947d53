"""One Ctrl-C, or another signal, in a Python program that calls warptsp in a loop, in processes."""

import signal
import sys

import numpy as np
import pytest
from processes import run_code

import warptsp
from warptsp import insertion
from warptsp.cli import run
from warptsp.strokes import arrange

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")

LOOP = """
import os, signal, sys, threading, time
import numpy as np
import warptsp
from warptsp import groups, strokes
from warptsp.interruption import FirstSignal
points = np.random.default_rng(1).random((600, 2))
many = np.random.default_rng(1).random((60, 300, 2))
def send():  # as soon as a call listens, whatever the machine does beside it
    while not isinstance(signal.getsignal({number}), FirstSignal):
        time.sleep(0.001)
    within.wait({moment})
    os.kill(os.getpid(), {number})
    sent.set()
within, sent = threading.Event(), threading.Event()
def hold():  # in a callback, until the signal has come
    within.set()
    sent.wait()
threading.Thread(target=send, daemon=True).start()
try:
    for call in range(3):
        {call}
except KeyboardInterrupt as error:
    found = getattr(error, "result", None)
    print(call, type(error).__name__, {found}, flush=True)
    os._exit(0)  # a thread that `choose` leaves behind may be in NumPy, which CPython then aborts
"""
CALLS = {
    "solve": ("warptsp.solve(points, time_limit=600)", "len(found.tour), found.signal, found.stop_reason"),
    "solve a proof": (
        "warptsp.solve(points, prove=True, checkpoint=sys.argv[1], checkpoint_interval=0, "
        "callback=lambda event: event.phase == 'proof' and hold())",
        "len(found.tour), found.signal, found.stop_reason[:11]",
    ),
    "solve_many": (
        "warptsp.solve_many(many, time_limit=1, threads=1)",
        "len(found) * 10, found.signal, 'Ctrl-C'",
    ),
    "prove": (
        "warptsp.prove(points, callback=lambda event: hold())",
        "len(found.tour), found.signal, 'Ctrl-C'",
    ),
    "lower_bound": (
        "warptsp.lower_bound(np.tile(points, (20, 1)) + 1e-3 * np.arange(12000)[:, None], iterations=10**6)",
        "len(found.potentials), 2, 'Ctrl-C'",
    ),
    "lower_bound in smaller integers": (
        "warptsp.lower_bound(warptsp.Problem.from_matrix(2**50 * (1 + np.abs(np.subtract.outer("
        "np.arange(600)**2 % 997, np.arange(600)**2 % 997)))), iterations=10**7)",
        "0 <= found.value and 600, 2, 'Ctrl-C'",
    ),
    "choose": (
        "groups.choose(points, [k % 100 for k in range(600)], time_limit=600)",
        "len(found.places) * 6, found.result.signal, found.result.stop_reason",
    ),
    "arrange": (
        "strokes.arrange(np.random.default_rng(3).random((600, 2, 2)), time_limit=600)",
        "len(found.order), found.signal, found.stop_reason",
    ),
}
SIZES = {"lower_bound": 12000}


def outcome(name, *arguments, number=signal.SIGINT, call=None, found=None, moment=0.1):
    code, seen = CALLS[name]
    loop = LOOP.format(number=int(number), call=call or code, found=found or seen, moment=moment)
    done = run_code(loop, *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("name", CALLS)
def test_one_ctrl_c_ends_a_loop_and_what_was_found_is_kept(name, tmp_path):
    proves = "prove" in name or "proof" in name
    if proves:
        pytest.importorskip("highspy", reason="an extra brings HiGHS: pip install 'warptsp[prove]'")
    told = outcome(name, tmp_path / "best.tour", moment=None if proves else 0.1)
    reason = "interrupted" if name == "solve a proof" else "Ctrl-C"
    assert told == f"0 KeyboardInterrupt {SIZES.get(name, 600)} 2 {reason}"
    if name == "solve a proof":
        assert (tmp_path / "best.tour").is_file()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_other_signals_end_it_too(number):
    assert outcome("solve", number=number) == f"0 Terminated 600 {int(number)} {number.name}"


def test_what_was_found_is_in_the_checkpoint_and_in_the_result(tmp_path):
    told = outcome(
        "solve",
        tmp_path / "best.tour",
        call="warptsp.solve(points, time_limit=600, checkpoint=sys.argv[1])",
        found="found.length == found.problem.length(warptsp.read_tour(sys.argv[1], found.problem))",
    )
    assert told == "0 KeyboardInterrupt True"


def test_a_plan_is_returned_where_that_is_wanted():
    call = "found = strokes.arrange(points[:, None], time_limit=600, on_interrupt='return')"
    ended = f"{call}; print(found.interrupted, found.signal, flush=True); os._exit(0)"
    assert outcome("arrange", call=ended) == "True 2"


def test_a_notebook_has_the_result_and_may_say_otherwise():
    notebook = (
        "sys.modules['IPython'] = type(sys)('IPython'); "
        "sys.modules['IPython'].get_ipython = lambda: type('Shell', (), {{'kernel': 1}}); "
    )
    ended = "found = warptsp.solve(points, time_limit=600{}); print(found.signal, flush=True); os._exit(0)"
    plain = notebook.replace("{{", "{").replace("}}", "}")
    assert outcome("solve", call=plain + ended.format("")) == "2"
    raising = plain + ended.format(", on_interrupt='raise'")
    assert outcome("solve", call=raising) == "0 KeyboardInterrupt 600 2 Ctrl-C"


def test_a_search_within_another_call_leaves_it_to_that():
    """The outer one has handlers of its own, and more to do than the inner one."""
    inner = "lambda p: inner.append(warptsp.solve(points, time_limit=600, callback=lambda p: within.set()))"
    told = outcome(
        "solve",
        call=f"inner = []; warptsp.solve(points, time_limit=600, callback={inner})",
        found="found.signal, [result.signal for result in inner]",
        moment=None,
    )
    assert told == "0 KeyboardInterrupt 2 [2]"


@pytest.mark.parametrize("call", [warptsp.solve, warptsp.prove, warptsp.solve_many, arrange])
def test_what_shall_follow_is_checked(call):
    with pytest.raises(warptsp.InvalidOption, match="on_interrupt: 'ask' is neither"):
        call([[[0, 0], [1, 1], [2, 0]]], on_interrupt="ask")


def test_an_insertion_ends_with_all_places_in_the_tour(monkeypatch, tmp_path):
    """Stretches that are left to improve stay as they are; the command writes that, and tells the signal."""
    search, calls = insertion.solve, []

    def signalled(*arguments, **options):
        calls.append(options)
        signal.raise_signal(signal.SIGINT)
        return search(*arguments, **options)

    monkeypatch.setattr(insertion, "solve", signalled)
    ring = np.array([[np.cos(x), np.sin(x)] for x in np.arange(0, 6.28, 0.1)])
    problem = warptsp.Problem.from_points(ring)
    with pytest.raises(KeyboardInterrupt) as caught:
        insertion.insert(problem, range(len(ring)), ring[[5, 25, 45]] * 1.1, improve=3)
    result = caught.value.result
    assert len(calls) == 1
    assert (len(result.tour), result.interrupted, result.signal) == (len(ring) + 3, True, signal.SIGINT)
    for name, points in (("a.csv", ring), ("b.csv", ring[[5, 25, 45]] * 1.1)):
        np.savetxt(tmp_path / name, points, delimiter=",", header="x,y", comments="")
    files = [str(tmp_path / name) for name in ("a.csv", "b.csv", "out.csv")]
    assert run(["insert", *files[:2], "--improve", "3", "-o", files[2]]) == 130
    assert len((tmp_path / "out.csv").read_text().splitlines()) == len(ring) + 4
