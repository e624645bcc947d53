"""The registry of methods: every method is what it says, and is imported when it is asked for."""

import inspect
from dataclasses import fields, is_dataclass

import pytest
from instances import unit_points

import warptsp
from warptsp.errors import InvalidOption, UnsupportedProblem
from warptsp.methods import METHODS, get_method
from warptsp.methods.parameters import describe_params
from warptsp.problem import OpenPath, Problem


def points(n, **options):
    return Problem.from_points(unit_points(n, n), **options)


@pytest.mark.parametrize("name", METHODS)
def test_a_method_says_what_it_is(name):
    method = METHODS[name]
    assert method is get_method(name)
    assert method.name == name
    assert method.summary
    assert list(inspect.signature(method.run).parameters) == ["problem", "run", "params"]
    assert is_dataclass(method.params)
    assert method.params() == method.params(), "every parameter has a default"
    names = {field.name for field in fields(method.params)}
    assert set(method.ends_with) <= names
    if "cuda" not in method.devices:
        assert "runs on the CPU only" in method.gpu_lacks(points(5))
        assert (method.gpu_limits, method.gpus_wanted, method.explain_launch) == (None, None, None)


@pytest.mark.parametrize("as_dataclass", [False, True])
@pytest.mark.parametrize("name", METHODS)
def test_a_choice_that_is_none_of_those_there_are_is_refused(name, as_dataclass):
    kind = METHODS[name].params
    for option, type_, _ in describe_params(kind):
        if "Literal" in type_:
            given = kind(**{option: "other"}) if as_dataclass else {option: "other"}
            with pytest.raises(InvalidOption, match=f"parameter {option}: 'other' is not '"):
                warptsp.solve(points(9), method=name, params=given)


def test_an_unknown_method_lists_those_there_are():
    with pytest.raises(InvalidOption, match="'opt' is unknown; there are lk, two-opt, "):
        get_method("opt")


@pytest.mark.parametrize("fields", [{"open": OpenPath()}, {"fixed_edges": [(0, 1)]}], ids=["open", "fixed"])
@pytest.mark.parametrize("name", METHODS)
def test_what_a_method_cannot_do_is_said_before_anything_is_computed(name, fields):
    method, problem, events = METHODS[name], points(8, **fields), []
    able = method.open_paths if "open" in fields else method.fixed_edges
    if able:
        assert len(warptsp.solve(problem, method=name, kicks=5, device="cpu").tour) == 8
        return
    with pytest.raises(UnsupportedProblem, match=f"method {name} does not .*; use the method lk"):
        warptsp.solve(problem, method="two-opt", then=name, device="cpu", callback=events.append)
    assert events == []


@pytest.mark.parametrize(
    ("name", "n", "on_gpu", "where"),
    [
        ("exact", 17, False, "the CPU.* 16"),
        ("three-opt", 5001, False, "the CPU.* 5000"),
        ("three-opt", 10_001, True, "a GPU.* 10000"),
        ("symmetric-three-opt", 10_001, False, "the CPU.* 10000"),
    ],
)
def test_sizes_have_limits(name, n, on_gpu, where):
    METHODS[name].check(points(n - 1), on_gpu=on_gpu)
    with pytest.raises(UnsupportedProblem, match=f"method {name}: {n} cities .*{where}"):
        METHODS[name].check(points(n), on_gpu=on_gpu)
