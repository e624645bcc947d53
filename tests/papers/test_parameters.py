"""Parameters of the documents' methods that cannot be: each is refused by its name, with what it may be."""

import re

import numpy as np
import pytest
from instances import problem_of

import warptsp
from warptsp.errors import InvalidOption

EXHAUSTIVE = ["two-opt", "three-opt", "swap", "relocate"]
NEIGHBOR = ["neighbor-two-opt", "neighbor-three-opt"]
SYMMETRIC = ["symmetric-two-opt", "symmetric-three-opt", "symmetric-annealing"]
IMPOSSIBLE = [
    ([*EXHAUSTIVE, "vnd"], {"passes": 0}, "passes: 0"),
    ([*EXHAUSTIVE, *NEIGHBOR, "ils", "hill-climbing"], {"block": 100}, "block: 100 is not a multiple of 32"),
    (EXHAUSTIVE, {"block": 2048}, "block: 2048"),
    (EXHAUSTIVE, {"grid": 0}, "grid: 0"),
    (["swap"], {"before": (1, 2, 3)}, "3 cities are not pairs"),
    (["swap"], {"before": (4, 4)}, "before itself"),
    (["swap"], {"fixed": (9,)}, "fixed: city 9"),
    (["swap"], {"before": (2, 9)}, "before: city 9"),
    (["swap"], {"before": (7, 3)}, "city 7 at place 7, behind city 3 at place 3"),
    (["swap"], {"version": 0}, "version: 0 is not between 1 and 8"),
    (["swap"], {"version": 9}, "version: 9 is not between 1 and 8"),
    (["vnd"], {"order": ()}, "order: no neighbourhood"),
    (["vnd"], {"order": ("or-opt",)}, "order: 'or-opt' is none of two-opt, relocate, swap, three-opt"),
    (["vnd"], {"order": ("swap", "swap")}, "order: swap is there twice"),
    (["hill-climbing"], {"version": "fastest"}, "version"),
    (["hill-climbing"], {"climbers": 0}, "climbers"),
    (["hill-climbing"], {"restart": "other"}, "restart"),
    (
        [*NEIGHBOR, "ils"],
        {"edges": "next", "improvement": "first"},
        "edges: 'next' goes with improvement 'best'",
    ),
    (NEIGHBOR, {"edges": "last"}, "edges: 'last' is not 'both' or 'next'"),
    (NEIGHBOR, {"neighbors": 0}, "neighbors: 0 is not between 1 and 1000"),
    (NEIGHBOR, {"neighbors": 1001}, "neighbors: 1001"),
    ([*NEIGHBOR, "ils"], {"improvement": "worst"}, "improvement"),
    (NEIGHBOR, {"moves": "all"}, "moves"),
    (NEIGHBOR, {"passes": -1}, "passes: -1"),
    (["ils"], {"iterations": -1.0}, "iterations: -1.0"),
    (["ils"], {"iterations": float("nan")}, "iterations: nan"),
    (["ils"], {"acceptance": "never"}, "acceptance: 'never'"),
    (["ils"], {"temperature": -1.0}, "temperature: -1.0"),
    (["ils"], {"temperature": 1.0, "acceptance": "always"}, "temperature: only acceptance 'annealed'"),
    (["ils"], {"segment": -1}, "segment: -1"),
    (["ils"], {"chains": 0}, "chains: 0"),
    (["ils"], {"restart": "half"}, "restart"),
    (SYMMETRIC, {"block": 33}, "block: 33 is not a multiple of 32 between 32 and 512"),
    (SYMMETRIC, {"block": 1024}, "block: 1024 is not a multiple of 32 between 32 and 512"),
    (SYMMETRIC[:2], {"least_gain": -1.0}, "least_gain"),
    (SYMMETRIC[:1], {"order": "other"}, "order"),
    (SYMMETRIC[:1], {"order": "hardware", "elements": 0}, "elements: 0 is not 1 or more"),
    (SYMMETRIC[:1], {"elements": 5}, "only the order hardware has some, not threads"),
    (SYMMETRIC[2:], {"cooling": 1.0}, "never cools"),
    (SYMMETRIC[2:], {"cooling": 1.5}, "never cools"),
    (SYMMETRIC[2:], {"cooling": 0.0}, "between 0 and 1"),
    (SYMMETRIC[2:], {"temperature": 0.0}, "greater than 0"),
    (SYMMETRIC[2:], {"temperature": float("nan")}, "greater than 0"),
    (SYMMETRIC[2:], {"acceptance": 1.0}, "between 0 and 1"),
    (SYMMETRIC[2:], {"acceptance": 0.1, "temperature": 5.0}, "give one"),
    (SYMMETRIC[2:], {"iterations": 0}, "not 1 or more"),
    (SYMMETRIC[2:], {"chains": 0}, "not 1 or more"),
    (SYMMETRIC[2:], {"iterations": 100, "rotations": 100}, "never cools"),
]


@pytest.mark.parametrize(("methods", "params", "message"), IMPOSSIBLE)
def test_impossible_parameters_are_named(methods, params, message):
    for method in methods:
        with pytest.raises(InvalidOption, match=re.escape(message)):
            warptsp.solve(problem_of("EUC_2D", 9), method=method, start=np.arange(9), params=params)


def test_numbers_and_arrays_of_numpy_are_parameters_too():
    params = {"candidates": np.int32(5), "temperature": np.float32(0.5), "breadth": np.array([5, 3])}
    result = warptsp.solve(np.eye(30, 2), kicks=10, params=params)
    assert result.params == {"candidates": 5, "temperature": 0.5, "breadth": (5, 3)}
    with pytest.raises(InvalidOption, match=r"parameter candidates: 5\.5 is not of type int"):
        warptsp.solve(np.eye(30, 2), params={"candidates": np.float64(5.5)})
