"""The bound beside every tour: what a run may spend on it, and what its result says."""

from __future__ import annotations

import json

import numpy as np
import pytest

import warptsp
from warptsp import Problem
from warptsp.bound.beside import SHARE, bound_beside, reserved_seconds
from warptsp.cli import run
from warptsp.errors import InvalidOption

POINTS = np.random.default_rng(6).random((300, 2))
ASYMMETRIC = Problem.from_matrix(np.random.default_rng(1).random((20, 20)), asymmetric=True)


@pytest.fixture(scope="module")
def result():
    return warptsp.solve(POINTS, kicks=300, bound=60, threads=1)


def test_a_result_has_its_bound(result):
    assert 0.95 * result.length < result.lower_bound <= result.length
    assert result.bound_gap == result.length / result.lower_bound - 1.0
    gap = 100 * result.bound_gap
    assert f"bound        at most {gap:.3f} % above the shortest: none is below " in result.summary()
    assert result.as_dict()["lower_bound"] == result.lower_bound
    assert result.as_dict()["bound_gap_percent"] == gap


def test_the_tour_does_not_depend_on_it(result):
    without = warptsp.solve(POINTS, kicks=300, bound=False, threads=1)
    assert without.lower_bound is None
    assert without.bound_gap is None
    assert "bound" not in without.summary()
    assert without.as_dict()["lower_bound"] is None
    assert np.array_equal(without.tour, result.tour)


def test_within_the_time_limit():
    result = warptsp.solve(POINTS, time_limit=1.0, bound=0.5, threads=1)
    assert result.history[-1].seconds < 0.75
    assert result.lower_bound > 0.9 * result.length
    assert result.stop_reason == "time limit of 1 s"


def test_a_proved_optimum_is_its_own_bound():
    result = warptsp.solve(POINTS[:9])
    assert result.proved_optimal
    assert result.lower_bound == result.length
    assert result.bound_gap == 0.0
    assert "bound " not in result.summary()


def test_asymmetric_ones_have_none():
    for bound in "auto", 5.0:
        assert warptsp.solve(ASYMMETRIC, kicks=5, bound=bound).lower_bound is None


@pytest.mark.parametrize("bound", [True, "yes", -1, float("nan"), [1]])
def test_options(bound):
    with pytest.raises(InvalidOption, match="bound"):
        warptsp.solve(POINTS, kicks=1, bound=bound)


def test_a_bound_as_long_as_the_time_limit_is_refused():
    with pytest.raises(InvalidOption, match="leave no time for the search"):
        warptsp.solve(POINTS, time_limit=1.0, bound=1.0)


def test_what_it_may_spend():
    problem = Problem.from_points(POINTS)
    large = Problem.from_points(np.zeros((3_000_000, 2)))
    for seconds in 0.05, 1.0, 100.0, 1e6:
        assert 0.0 <= reserved_seconds(problem, "auto", seconds) < SHARE * seconds
        assert reserved_seconds(problem, None, seconds) == reserved_seconds(ASYMMETRIC, "auto", seconds) == 0
        assert reserved_seconds(large, "auto", seconds) == 0.0
    assert reserved_seconds(problem, "auto", 0.01) == 0.0  # too little to be worth it
    assert reserved_seconds(problem, 2.0, 10.0) == 2.0
    tour = np.arange(300, dtype=np.int32)
    assert bound_beside(problem, tour, "auto", spent=0.001, left=None, threads=1) is None
    assert bound_beside(problem, tour, "auto", spent=100.0, left=0.001, threads=1) is None
    assert bound_beside(problem, tour, "auto", spent=600.0, left=None, threads=1) > 0


def test_the_command(tmp_path, capsys):
    instance = tmp_path / "some.csv"
    np.savetxt(instance, POINTS, delimiter=",", header="x,y", comments="")
    assert run(["solve", str(instance), "--kicks", "50", "--bound", "1m", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert 0.95 * found["length"] < found["lower_bound"] <= found["length"]
    assert run(["solve", str(instance), "--kicks", "50", "--bound", "auto"]) == 0
    assert run(["solve", str(instance), "--kicks", "50", "--bound", "often"]) == 2
    said = capsys.readouterr().err
    assert "'often' is not a time" in said
    assert "nor auto" in said
