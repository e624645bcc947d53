"""The same seed and number of threads give the same tour, where a number of kicks or the method itself ends
the search: whatever the clock says, and whatever else the machine does.
"""

import numpy as np
import pytest
from instances import unit_points

import warptsp
from warptsp import Problem
from warptsp.methods import METHODS
from warptsp.methods.lk import cpu
from warptsp.papers.exhaustive import descent
from warptsp.papers.hill_climbing import climbing
from warptsp.papers.neighbor_lists import search as neighbor_lists
from warptsp.papers.symmetric import annealing as symmetric_annealing
from warptsp.papers.symmetric import search as symmetric


def uniform(n):
    return Problem.from_points(unit_points(n, n))


# What each method is given to do: some hundredths of a second, hundreds of the slices below.
WORK = {
    "lk": (uniform(1200), {"kicks": 1500}),
    "two-opt": (uniform(700), {}),
    "three-opt": (uniform(100), {"start": "random"}),
    "swap": (uniform(150), {"start": "random"}),
    "relocate": (uniform(150), {"start": "random"}),
    "vnd": (uniform(60), {"start": "random"}),
    "neighbor-two-opt": (uniform(3000), {"start": "random"}),
    "neighbor-three-opt": (uniform(1200), {}),
    "ils": (uniform(700), {"kicks": 500}),
    "symmetric-two-opt": (uniform(1000), {}),
    "symmetric-three-opt": (uniform(200), {}),
    "symmetric-annealing": (uniform(120), {"params": {"chains": 2, "rotations": 6000}}),
    "hill-climbing": (uniform(80), {"kicks": 150}),
    "exact": (uniform(14), {}),
    "construct": (uniform(5000), {}),
}
MORE = {
    "lk in parts": (uniform(8500), {"method": "lk", "kicks": 500}),
    "lk with crossover": (uniform(100), {"method": "lk", "kicks": 2000}),
    "lk of an asymmetric matrix": (
        Problem.from_matrix(
            np.random.default_rng(1).integers(1, 1000, (60, 60)).astype(np.int32), asymmetric=True
        ),
        {"method": "lk", "kicks": 1500},
    ),
    "ils to its end": (uniform(80), {"method": "ils"}),
    "ils with more chains than threads": (
        uniform(300),
        {"method": "ils", "kicks": 100, "params": {"chains": 7}},
    ),
    "annealing that starts too hot": (
        uniform(100),
        {"method": "symmetric-annealing", "params": {"acceptance": 0.5, "rotations": 5000}},
    ),
    "two methods": (uniform(150), {"method": "lk", "kicks": 500, "then": "ils"}),
}
CASES = {
    **{name: (problem, {"method": name, **options}) for name, (problem, options) in WORK.items()},
    **MORE,
}


def test_all_methods_are_here():
    assert set(WORK) == set(METHODS)


def solve(name, threads):
    problem, options = CASES[name]
    return warptsp.solve(problem, seed=3, threads=threads, device="cpu", **options)


def assert_same(one, other):
    assert one.stop_reason == other.stop_reason
    assert np.array_equal(one.tour, other.tour), f"{one.length} and {other.length}"
    assert one.kicks == other.kicks


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("name", CASES)
def test_the_same_tour_in_slices_of_any_length(name, threads, monkeypatch):
    """Methods work in slices of time, between which they report. A run on a busy machine gets little done in
    each of them; here they are so short that most end at the first poll of the clock."""
    whole = solve(name, threads)
    for module in (descent, neighbor_lists, symmetric, symmetric_annealing, climbing):
        monkeypatch.setattr(module, "SLICE", 1e-4)
    monkeypatch.setattr(
        cpu._Search, "pause", property(lambda _: 1e-4, lambda _, seconds: None), raising=False
    )
    assert_same(solve(name, threads), whole)


def test_a_limit_on_kicks_is_for_every_chain(monkeypatch):
    """It used to end the search as soon as one of them had come to it, whatever the others had done."""
    monkeypatch.setattr(neighbor_lists, "SLICE", 1e-6)
    params = {"acceptance": "always", "chains": 5}
    result = warptsp.solve(uniform(200), method="ils", kicks=100, params=params, threads=1, device="cpu")
    assert result.kicks == 100
    assert result.counters["kicks_accepted"] == 5 * 100
