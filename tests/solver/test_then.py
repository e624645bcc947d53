"""A second method that polishes the tour of the first."""

import json
import time
from dataclasses import replace

import numpy as np
import pytest
from calls import given_time, raising
from instances import unit_points, whole_points

import warptsp
from warptsp import Problem, stop
from warptsp.cli import run
from warptsp.errors import InvalidOption, UnsupportedProblem
from warptsp.methods import METHODS


@pytest.fixture
def problem() -> Problem:
    return Problem.from_points(whole_points(150, 3), "EUC_2D")


def test_the_second_method_begins_where_the_first_ended(problem: Problem) -> None:
    first = warptsp.solve(problem, method="construct", start="random", seed=4)
    alone = warptsp.solve(problem, method="two-opt", start=first.tour)
    assert (alone.then, alone.stages[0].length, len(alone.stages)) == (None, alone.length, 1)
    result = warptsp.solve(problem, method="construct", start="random", seed=4, then="two-opt")
    assert (result.tour == alone.tour).all()
    assert [stage.method for stage in result.stages] == ["construct", "two-opt"]
    assert [stage.length for stage in result.stages] == [first.length, alone.length]
    assert result.method == "construct"
    assert result.then == "two-opt"
    assert result.start == "random"
    assert result.counters["moves"] == alone.counters["moves"]
    assert result.stop_reason == "the search is complete"
    lengths = [point.length for point in result.history]
    assert lengths[0] == first.length
    assert lengths[-1] == result.length
    assert lengths == sorted(set(lengths), reverse=True)
    seconds = [point.seconds for point in result.history]
    assert seconds == sorted(seconds)
    assert "two-opt" in result.summary()


def test_parameters_go_to_their_methods(problem: Problem) -> None:
    result = warptsp.solve(
        problem,
        method="swap",
        params={"passes": 3},
        then="two-opt",
        then_params={"passes": 2},
        start="given",
    )
    assert [stage.counters["passes"] for stage in result.stages] == [3, 2]
    assert result.counters["passes"] == 5
    assert [stage.params for stage in result.stages] == [{"passes": 3}, {"passes": 2}]


def test_kicks_are_for_each(problem: Problem) -> None:
    result = warptsp.solve(problem, method="lk", kicks=50, then="two-opt", device="cpu")
    assert result.stages[0].counters["kicks"] == 50
    assert len(result.stages) == 2
    polished = warptsp.solve(problem, method="two-opt", kicks=0, then="lk", device="cpu")
    assert [stage.method for stage in polished.stages] == ["two-opt", "lk"]


@pytest.mark.parametrize("method", ["lk", "two-opt"])
def test_a_time_limit_is_for_both(problem: Problem, method: str) -> None:
    def solve(seconds: float) -> warptsp.Result:
        result = warptsp.solve(problem, method=method, then="lk", time_limit=seconds, device="cpu")
        assert result.stop_reason == f"time limit of {seconds:g} s"
        return result

    result = given_time(solve, lambda result: len(result.stages) == 2)
    assert [stage.method for stage in result.stages] == [method, "lk"]


def test_the_limit_that_is_told_is_the_one_that_was_given(problem: Problem) -> None:
    result = warptsp.solve(
        problem, method="two-opt", start="random", then="lk", time_limit=0.2, device="cpu",
        callback=lambda _: time.sleep(0.3),
    )  # fmt: skip
    assert len(result.stages) == 1
    assert result.stop_reason == "time limit of 0.2 s"


def test_without_limits_the_first_is_given_its_time(problem: Problem) -> None:
    result = warptsp.solve(problem, method="two-opt", then="lk", device="cpu", start="random")
    assert len(result.stages) == 2
    assert result.stages[1].length < result.stages[0].length


def test_a_target_that_the_first_reached_ends_it(problem: Problem) -> None:
    target = warptsp.solve(problem, method="two-opt", start="random").length
    result = warptsp.solve(
        problem, method="two-opt", start="random", then="lk", stop=stop.TargetLength(target), device="cpu"
    )
    assert len(result.stages) == 1
    assert result.length <= target


def test_a_callback_and_a_token_end_both(problem: Problem) -> None:
    token = stop.StopToken()
    token.request()
    for options, reason in (
        ({"callback": lambda event: True}, "the callback returned True"),
        ({"stop": token}, "stop requested"),
    ):
        result = warptsp.solve(problem, method="two-opt", then="lk", **options)
        assert (len(result.stages), result.stop_reason) == (1, reason)


def test_what_the_second_cannot_do_is_said_before_the_first(problem: Problem) -> None:
    with pytest.raises(UnsupportedProblem, match="150 cities are too many") as caught:
        warptsp.solve(problem, method="two-opt", then="exact")
    assert not hasattr(caught.value, "result")


def test_a_failure_in_the_second_keeps_the_tour_of_the_first(problem: Problem, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    fail = raising(RuntimeError("in the second"))
    monkeypatch.setitem(METHODS, "exact", replace(METHODS["construct"], run=fail))
    with pytest.raises(RuntimeError, match="in the second") as caught:
        warptsp.solve(problem, method="two-opt", then="exact")
    result = caught.value.result  # type: ignore[attr-defined]
    assert result.length == problem.length(result.tour)
    assert result.counters["moves"] > 0


def test_a_checkpoint_has_the_last_tour(problem: Problem, tmp_path) -> None:  # type: ignore[no-untyped-def]
    file = tmp_path / "best.tour"
    result = warptsp.solve(problem, method="construct", start="random", then="two-opt", checkpoint=file)
    assert problem.length(warptsp.read_tour(file, problem)) == result.length


@pytest.mark.parametrize("n", [9, 13])  # the first method proves its tour optimal, or does not
def test_an_order_that_the_second_is_asked_for_is_checked(n: int) -> None:
    problem = Problem.from_points(np.random.default_rng(n).random((n, 2)))
    options = {"method": "lk", "kicks": 50, "device": "cpu"}
    first = warptsp.solve(problem, **options)
    assert first.proved_optimal == (n == 9)
    early, late = int(first.tour[2]), int(first.tour[5])
    result = warptsp.solve(problem, then="swap", then_params={"before": (early, late)}, **options)
    assert [stage.method for stage in result.stages] == ["lk", "swap"]
    assert result.proved_optimal == (n == 9)
    assert result.length == first.length
    with pytest.raises(InvalidOption, match=f"before: the start tour has city {late} at place"):
        warptsp.solve(problem, then="swap", then_params={"before": (late, early)}, **options)
    plain = warptsp.solve(problem, then="swap", **options)
    assert len(plain.stages) == (1 if n == 9 else 2)


def test_what_cannot_be(problem: Problem) -> None:
    with pytest.raises(InvalidOption, match="there is no second method"):
        warptsp.solve(problem, then_params={"passes": 3})
    with pytest.raises(InvalidOption, match="'nothing' is unknown"):
        warptsp.solve(problem, then="nothing")
    with pytest.raises(InvalidOption, match="passes: 0"):
        warptsp.solve(problem, then="two-opt", then_params={"passes": 0})


@pytest.mark.parametrize("n", [1, 2, 3])
def test_nothing_to_do_for_a_few_cities(n: int) -> None:
    result = warptsp.solve(unit_points(n), then="two-opt")
    assert [stage.method for stage in result.stages] == ["exact"]


def test_the_command_line(problem: Problem, tmp_path, capsys) -> None:  # type: ignore[no-untyped-def]
    file = tmp_path / "cities.npy"
    np.save(file, problem.coordinates)
    arguments = ["solve", str(file), "--method", "construct", "--start", "random", "--then", "two-opt"]
    assert run([*arguments, "--then-param", "passes=5", "--json", "-q"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["then"] == "two-opt"
    assert [stage["method"] for stage in told["stages"]] == ["construct", "two-opt"]
    assert told["counters"]["passes"] == 5
