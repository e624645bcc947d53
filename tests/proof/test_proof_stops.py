"""Proofs that are stopped while they are being set up: what is there is returned, and nothing is lost."""

import signal
import time

import numpy as np
import pytest
from instances import whole_points
from processes import run_code

import warptsp
from warptsp import OpenPath, Problem, _native
from warptsp.construct import construct

pytest.importorskip("highspy", reason="an extra brings HiGHS: pip install 'warptsp[prove]'")
from warptsp.interruption import ECHO
from warptsp.proof.certificate import read_proof
from warptsp.proof.check import proven_bound
from warptsp.proof.linear_program import LinearProgram, Outcome
from warptsp.proof.node_solver import NodeSolver
from warptsp.solver.proving import prove


@pytest.fixture
def problem():
    return Problem.from_points(whole_points(80, 1, side=10_000), "EUC_2D")


def at_call(monkeypatch, place, name, number, act):
    """Do something when a method is called so often; returns the list of its calls."""
    method, calls = getattr(place, name), []

    def noted(*arguments, **options):
        calls.append(name)
        if len(calls) == number:
            act()
        return method(*arguments, **options)

    monkeypatch.setattr(place, name, noted)
    return calls


def no_linear_programme(monkeypatch):
    monkeypatch.setattr(
        LinearProgram, "solve", lambda programme: pytest.fail("a linear programme was solved")
    )


def test_while_lengths_are_computed(problem, monkeypatch):
    """The distances of a city are one step; none follows the request."""
    token, tour = _native.StopToken(), construct(problem)
    no_linear_programme(monkeypatch)
    calls = at_call(monkeypatch, Problem, "distance", 5, token.request)
    proof = prove(problem, tour, token=token)
    assert len(calls) == 5
    assert np.array_equal(proof.tour, tour)
    assert proof.length == problem.length(tour)
    assert (proof.proved, proof.lower_bound, proof.root_bound, proof.nodes) == (False, 0, 0, 0)


@pytest.mark.parametrize("path", [None, OpenPath(), OpenPath(0, 1)])
def test_while_the_first_linear_programme_is_made(problem, monkeypatch, path, tmp_path):
    problem = Problem.from_points(problem.coordinates, "EUC_2D", open=path)
    token, file = _native.StopToken(), tmp_path / "proof.json"
    no_linear_programme(monkeypatch)
    at_call(monkeypatch, NodeSolver, "_first_edges", 1, token.request)
    proof = prove(problem, token=token, checkpoint=file)
    assert not proof.proved
    assert 0.9 * proof.length < proof.lower_bound <= proof.length  # by the bound behind the search
    monkeypatch.undo()
    assert proven_bound(problem, read_proof(file, problem)) == proof.lower_bound
    told = [prove(problem, resume=file, checkpoint=file, callback=lambda now: True).lower_bound]
    prove(problem, resume=file, callback=lambda now: told.append(now.lower_bound))
    assert [proof.lower_bound, *told] == sorted([proof.lower_bound, *told])
    goes_on = prove(problem, resume=file)
    assert goes_on.proved
    assert goes_on.length == prove(problem).length


def test_while_lengths_are_looked_through(problem):
    """The native check of them ends with the token, too; with time it finds what is wrong."""
    tour = np.arange(80, dtype=np.int32)
    lengths = np.zeros((80, 80), dtype=np.int64)
    for wrong in (-1, 1 << 48):
        lengths[70, 3] = lengths[3, 70] = wrong
        with pytest.raises(ValueError, match="too large"):
            _native.Relaxation(lengths, tour, 0, _native.StopToken())
    lengths[3, 70] = 0
    lengths[70, 3] = 1
    with pytest.raises(ValueError, match="not symmetric"):
        _native.Relaxation(lengths, tour, 0, _native.StopToken())
    stopped = _native.StopToken()
    stopped.request()
    assert _native.Relaxation(lengths, tour, 0, stopped).columns == 0


def test_lengths_live_as_long_as_what_uses_them():
    lengths = np.full((50, 50), 7 << 16, dtype=np.int64)
    np.fill_diagonal(lengths, 0)
    relaxation = _native.Relaxation(lengths, np.arange(50, dtype=np.int32), 0, _native.StopToken())
    fork = relaxation.fork(1)
    del lengths, relaxation
    assert [np.full((50, 50), 9, dtype=np.int64) for _ in range(50)]  # in the memory that would be free
    assert fork.add_columns(np.array([[0, 1]], dtype=np.int32))[0][0] == 7.0


def test_by_a_signal(problem, monkeypatch):
    at_call(monkeypatch, Problem, "distance", 5, lambda: signal.raise_signal(signal.SIGINT))
    tour = construct(problem)
    proof = prove(problem, tour, on_interrupt="return")
    assert (proof.interrupted, proof.signal) == (True, signal.SIGINT)
    assert np.array_equal(proof.tour, tour)
    result = warptsp.solve(
        problem,
        prove=True,
        on_interrupt="return",
        callback=lambda event: event.phase == "proof" and signal.raise_signal(signal.SIGINT),
    )
    assert result.interrupted
    assert result.signal == signal.SIGINT
    assert result.stop_reason == "interrupted during the proof"


def test_by_two_signals(problem, monkeypatch):
    """The second one ends it at once; what is there is in the exception."""

    def twice():
        signal.raise_signal(signal.SIGINT)
        time.sleep(2 * ECHO)
        signal.raise_signal(signal.SIGINT)

    tour = construct(problem)
    at_call(monkeypatch, LinearProgram, "solve", 2, twice)
    with pytest.raises(KeyboardInterrupt) as raised:
        prove(problem, tour)
    assert np.array_equal(raised.value.result.tour, tour)
    assert not raised.value.result.proved


class Countdown:
    """A token that stops when it has been asked so often."""

    def __init__(self, count: int) -> None:
        self.left = count

    def stopped(self) -> bool:
        self.left -= 1
        return self.left < 0


@pytest.mark.parametrize("count", [0, 1, 40])
def test_within_the_simplex_method(count):
    """It asks at each step; a later solution goes on from there."""
    n, token = 60, Countdown(10**9)
    ends = np.array([(a, b) for a in range(n) for b in range(a + 1, n)], dtype=np.int32)
    costs = np.random.default_rng(1).integers(1, 1000, len(ends)).astype(float)
    lines = costs, np.arange(len(ends), dtype=np.int32) * 2, ends.ravel(), np.ones(2 * len(ends))
    whole, broken = LinearProgram(n, token), LinearProgram(n, Countdown(count))
    for programme in (whole, broken):
        programme.add_columns(lines)
    assert whole.solve() is Outcome.OPTIMAL
    assert whole.iterations > 50
    assert broken.solve() is Outcome.LIMIT
    assert broken.iterations <= count
    assert broken.objective < whole.objective


def test_what_the_handler_of_a_signal_raises_ends_a_solution_of_the_linear_programme():
    """In its callback it would pass through code of HiGHS, which ends the process; again and again."""
    done = run_code(
        "import signal, time, numpy as np, warptsp\n"
        "class Late(BaseException): pass\n"
        "def late(*_): raise Late\n"
        "signal.signal(signal.SIGALRM, late)\n"
        "points = np.random.default_rng(0).random((100, 2))\n"
        "warptsp.prove(points)\n"
        "begun = time.perf_counter()\n"
        "warptsp.prove(points, list(range(100)))\n"
        "whole = time.perf_counter() - begun\n"
        "ended = tried = 0\n"
        "while ended < 30:\n"
        "    tried += 1\n"
        "    try:\n"
        "        signal.setitimer(signal.ITIMER_REAL, whole * (1 + tried % 30) / 30)\n"
        "        warptsp.prove(points, list(range(100)))\n"
        "        signal.setitimer(signal.ITIMER_REAL, 0)\n"
        "    except Late:\n"
        "        ended += 1\n"
        "print(ended)\n"
    )
    assert (done.stdout, done.returncode) == ("30\n", 0), done.stderr
