"""A search that goes on until its tour is proved optimal."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

import warptsp
from warptsp import Problem
from warptsp.cli import commands
from warptsp.errors import BackendUnavailable, InvalidOption, UnsupportedProblem
from warptsp.io import read_tour
from warptsp.proof import proving

pytest.importorskip("highspy", reason="an extra brings HiGHS: pip install 'warptsp[prove]'")


@pytest.fixture
def problem():
    return Problem.from_points(np.random.default_rng(4).integers(0, 1000, (60, 2)), "EUC_2D")


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


def test_out_of_time(problem):
    result = warptsp.solve(problem, prove=True, time_limit=0, bound=False)
    assert not result.proved_optimal
    assert result.lower_bound <= result.length
    assert result.stop_reason == "time limit during the proof"


def test_few_cities_need_no_proof():
    result = warptsp.solve(np.random.default_rng(1).random((9, 2)), prove=True)
    assert result.proved_optimal
    assert "proof_nodes" not in result.counters


def test_real_lengths():
    result = warptsp.solve(np.random.default_rng(2).random((40, 2)), prove=True)
    assert result.proved_optimal
    assert result.length * (1 - 2e-7) <= result.lower_bound <= result.length


def test_what_is_refused(monkeypatch, problem):
    with pytest.raises(InvalidOption, match="neither True nor False"):
        warptsp.solve(problem, prove="yes")
    one_way = np.arange(400).reshape(20, 20) % 17
    with pytest.raises(UnsupportedProblem, match="asymmetric"):
        warptsp.solve(one_way, asymmetric=True, prove=True)

    def missing():
        raise BackendUnavailable("no HiGHS")

    monkeypatch.setattr(proving, "require_solver", missing)
    with pytest.raises(BackendUnavailable):
        warptsp.solve(problem, prove=True)


def test_the_command(tmp_path, problem):
    file = tmp_path / "places.csv"
    file.write_text("x,y\n" + "\n".join(f"{x:.0f},{y:.0f}" for x, y in problem.coordinates))
    told = CliRunner().invoke(commands, ["solve", str(file), "--prove", "--json", "-q"])
    assert json.loads(told.stdout)["proved_optimal"]
