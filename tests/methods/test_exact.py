"""Dynamic programming against brute force."""

import numpy as np
import pytest
from hypothesis import given, settings
from instances import shortest, unit_points
from test_lk import problems

import warptsp
from warptsp import _native
from warptsp.few import FewCities
from warptsp.methods.exact import INSTANT_CITIES, MAX_CITIES
from warptsp.problem import Problem
from warptsp.report import Report
from warptsp.report.document import _content
from warptsp.watch import Watch


@settings(max_examples=150)
@given(problems(1, 6))
def test_as_short_as_the_best_of_all_orders(problem):
    tour = FewCities.of(problem).optimal_tour()
    problem.check_tour(tour)
    assert problem.length(tour) == pytest.approx(shortest(problem), rel=1e-12)


def test_the_most_cities():
    angle = np.random.default_rng(0).permutation(MAX_CITIES) * 2 * np.pi / MAX_CITIES
    problem = Problem.from_points(np.column_stack((np.cos(angle), np.sin(angle))))
    length = problem.length(FewCities.of(problem).optimal_tour())
    assert length == pytest.approx(2 * MAX_CITIES * np.sin(np.pi / MAX_CITIES))


def few(n, **fields):
    return Problem.from_points(unit_points(n, n), **fields)


def proved():
    """Each way to an optimal tour: a method, and the most cities with which it comes to one."""
    for method in warptsp.methods.METHODS:
        yield method, 3, {}
    yield "lk", INSTANT_CITIES, {}
    yield "lk", INSTANT_CITIES, {"open": True}
    yield "lk", INSTANT_CITIES, {"then": "two-opt"}
    yield "exact", 14, {}
    yield "two-opt", INSTANT_CITIES, {"then": "exact"}


@pytest.mark.parametrize(("method", "n", "options"), list(proved()))
def test_a_proof_is_said_everywhere(method, n, options):
    problem = few(n)
    with Watch(problem) as page:
        result = warptsp.solve(problem, method=method, device="cpu", callback=page, **options)
        page.finish(result)
        message, _ = page._live.message(0)
    assert result.proved_optimal
    assert (result.stop_reason, result.stages[-1].stop_reason) == ("proved optimal", "proved optimal")
    assert result.gap == 0
    assert (result.known.length, result.known.proven) == (result.length, True)
    lines = result.summary().splitlines()
    assert f"gap          0 % to the optimum, {result.length:.10g}" in lines
    assert "stopped by   proved optimal" in lines
    told = result.as_dict()
    assert (told["gap_percent"], told["known_length"], told["known_length_is_optimal"]) == (
        0.0,
        result.length,
        True,
    )
    assert told["proved_optimal"] is True
    assert _content(Report.of(result))[0]["known"] == {"length": result.length, "proven": True}
    assert message["figures"]["over the optimum"] == "0 %"
    assert message["text"] == "Finished: proved optimal"


@pytest.mark.parametrize(
    ("method", "n"), [("lk", INSTANT_CITIES + 1), ("two-opt", INSTANT_CITIES), ("construct", INSTANT_CITIES)]
)
def test_without_a_proof_nothing_of_it_is_said(method, n):
    result = warptsp.solve(few(n), method=method, device="cpu", **({"kicks": 10} if method == "lk" else {}))
    assert not result.proved_optimal
    assert result.as_dict()["proved_optimal"] is False
    assert result.gap is None
    assert "optim" not in result.summary()


def test_a_stop_leaves_a_tour_without_a_proof():
    token = warptsp.stop.StopToken()
    token.request()
    result = warptsp.solve(few(MAX_CITIES), method="exact", stop=token)
    assert (result.stop_reason, result.proved_optimal, result.gap) == ("stop requested", False, None)
    native = _native.StopToken()
    native.request()
    assert FewCities.of(few(MAX_CITIES)).optimal_tour(native) is None


def test_no_limit_is_too_short_for_few_cities():
    result = warptsp.solve(few(INSTANT_CITIES), time_limit=0)
    assert (result.stop_reason, result.gap) == ("proved optimal", 0)
