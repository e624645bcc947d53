"""Parameters of launches on a GPU, where a CPU does the search."""

import logging
from types import SimpleNamespace

import numpy as np
import pytest
from instances import unit_points

import warptsp
from warptsp.errors import InvalidOption
from warptsp.methods import METHODS
from warptsp.methods.launch import LAUNCH
from warptsp.methods.parameters import describe_params
from warptsp.papers.hill_climbing.cuda_plan import MAX_CITIES

ASKED = {"block": 64, "grid": 3, "jobs": 7, "tour_order": False, "range_size": 9}
GIVEN = [
    (method.name, name)
    for method in METHODS.values()
    for name, _, _ in describe_params(method.params)
    if name in LAUNCH
]


@pytest.fixture
def points() -> np.ndarray:
    return unit_points(40, 5)


def test_there_are_such_parameters() -> None:
    assert len({method for method, _ in GIVEN}) == 11
    assert {name for _, name in GIVEN} == set(LAUNCH)


@pytest.mark.parametrize(("method", "name"), GIVEN)
def test_on_a_cpu_asked_for_they_are_refused(points, method, name) -> None:
    with pytest.raises(
        InvalidOption, match=f"^parameter {name}: .* has no effect on device cpu; leave it out$"
    ):
        warptsp.solve(points, method=method, device="cpu", params={name: ASKED[name]}, kicks=1)


@pytest.mark.parametrize(("method", "name"), GIVEN)
def test_on_a_cpu_that_was_chosen_they_are_left_out_and_told(
    points, method, name, caplog, monkeypatch
) -> None:
    monkeypatch.setattr("warptsp.solver.options.resolve_device", lambda *_: "cpu")
    with caplog.at_level(logging.WARNING):
        result = warptsp.solve(points, method=method, params={name: ASKED[name]}, kicks=1)
    assert result.params == {}
    assert [r.message for r in caplog.records if r.name == "warptsp.solver.stages"] == [
        f"the CPU did the search, where {name} had no effect"
    ]


def test_those_of_a_second_method_too(points) -> None:
    with pytest.raises(InvalidOption, match="parameter block: it concerns launches on a GPU"):
        warptsp.solve(points, kicks=1, device="cpu", then="two-opt", then_params={"block": 64})


def test_what_is_as_by_default_is_not_asked_for(points) -> None:
    params = {"block": None, "tour_order": True, "passes": 3}
    assert warptsp.solve(points, method="two-opt", device="cpu", params=params).params == params


def test_few_cities_need_no_launch(caplog) -> None:
    result = warptsp.solve(np.eye(3, 2), method="two-opt", params={"block": 64, "passes": 2})
    assert result.params == {"passes": 2}


def test_climbers_on_a_gpu_add_positions_in_32_bits() -> None:
    problem = SimpleNamespace(n=MAX_CITIES + 1, matrix=None, integral=True)
    assert f"{MAX_CITIES} cities at most" in METHODS["hill-climbing"].gpu_lacks(problem)
