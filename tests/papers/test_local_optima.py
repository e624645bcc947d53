"""A search that says that it is complete has come to a local optimum: no move of its neighbourhood is left.

The moves are tried one by one, by looks that know nothing of how the methods find them.
"""

import itertools

import numpy as np
import pytest
from instances import AWKWARD, awkward, problem_of
from test_neighbor_search import assert_local_optimum
from test_symmetric import PATHS, RANDOM, VARIANTS, best_gain, tolerance
from test_symmetric_three_opt import best_gain_of_three

import warptsp
from warptsp import _native
from warptsp.run import COMPLETE

FIXED = np.array([[0, 7], [7, 20], [4, 9]], dtype=np.int32)
ANNEALING = "symmetric-annealing"
EXHAUSTIVE = ["two-opt", "three-opt", "swap", "relocate", "vnd"]
TWO_OPT = [
    ("two-opt", {}),
    ("three-opt", {}),
    ("vnd", {"order": ("relocate", "two-opt")}),
    ("symmetric-two-opt", {}),
    ("symmetric-two-opt", {"order": "hardware"}),
    ("symmetric-three-opt", {}),
    (ANNEALING, {}),
    (ANNEALING, {"acceptance": 0.1}),
    (ANNEALING, {"rotations": 30, "chains": 3}),
    ("hill-climbing", {"climbers": 1}),
    ("hill-climbing", {"climbers": 9}),
]
LISTS = [("neighbor-two-opt", {"neighbors": 8}), ("neighbor-three-opt", {"neighbors": 8})]
ILS = ("ils", {"neighbors": 8, "iterations": 3.0})


def solve(problem, method, params, **options):
    """A run that says it is complete, or as good as that: of a tour of length 0 nothing is asked."""
    result = warptsp.solve(problem, method=method, params=params, **{"threads": 2, "bound": False, **options})
    problem.check_tour(result.tour)
    assert result.stop_reason in (COMPLETE, "a tour of length 0 is optimal")
    return result


def assert_two_optimal(problem, result):
    gain = best_gain(problem, result.tour)
    assert gain <= tolerance(problem), f"an exchange of two edges gains {gain}"


def assert_optimal(problem, result, method, neighbors=40):
    """In the neighbourhood that the method searches, where all of it is searched for certain, and is known
    here: not of swaps, relocations and segments at random."""
    if method.startswith("neighbor") or method == "ils":
        assert_local_optimum(problem, result, neighbors, method != "neighbor-two-opt")
    elif method not in ("swap", "relocate") and (method, result.params.get("order")) != (
        "symmetric-two-opt",
        "random",
    ):
        assert_two_optimal(problem, result)
        if method.endswith("three-opt"):
            assert best_gain_of_three(problem, result.tour) <= tolerance(problem)


@pytest.mark.parametrize(("number", "kind"), [*enumerate(["EUC_2D", "EXACT_2D", "MAN_2D", "GEO", "real"])])
@pytest.mark.parametrize(("method", "params"), TWO_OPT)
def test_no_exchange_of_two_edges_is_left(method, params, number, kind, device):
    for turn, n in enumerate((9, 70, 71)):
        start = ("given", "random", "greedy")[(number + turn) % 3]
        problem = problem_of(kind, n, seed=3, side=200)
        assert_two_optimal(problem, solve(problem, method, params, start=start, seed=n, device=device))


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    ("method", "params"),
    [
        *((method, {}) for method in EXHAUSTIVE),
        *(("symmetric-two-opt", variant) for variant in VARIANTS),
        ("symmetric-three-opt", {}),
        *((ANNEALING, {"order": order, "rotations": 300, "chains": 2}) for order in ("threads", "random")),
        *LISTS,
        ILS,
    ],
)
def test_ends_and_fixed_edges_are_kept(method, params, path, device):
    runs = itertools.product((33, 34), ({}, {"fixed_edges": FIXED}))
    for kind, (n, edges) in zip(("EUC_2D", "MAN_2D", "whole", "EUC_2D"), runs, strict=True):
        problem = problem_of(kind, n, seed=4, side=300, open=path, **edges)
        result = solve(problem, method, params, start="random", device=device)
        assert result.length < warptsp.solve(problem, method="construct", start="random").length
        assert_optimal(problem, result, method, neighbors=8)


@pytest.mark.parametrize("kind", AWKWARD)
@pytest.mark.parametrize("method", ["symmetric-two-opt", ANNEALING, "symmetric-three-opt", "hill-climbing"])
def test_awkward_places(method, kind, device):
    for n in (40, 41) if method == "symmetric-three-opt" else (98, 99):
        problem = awkward(kind, n)
        given = {} if method == "hill-climbing" else {"start": "given"}
        params = {"climbers": 6} if method == "hill-climbing" else {}
        assert_optimal(problem, solve(problem, method, params, device=device, **given), method)


@pytest.mark.parametrize(("method", "params"), [*((method, {}) for method in EXHAUSTIVE), *LISTS, ILS])
def test_few_cities(method, params, device):
    for n, kind in itertools.product(range(1, 9), ("EUC_2D", "whole")):
        problem = problem_of(kind, n, side=300)
        result = warptsp.solve(problem, method=method, params=params, start="random", device=device)
        problem.check_tour(result.tour)
        if n > 3 and method != "ils":
            assert_optimal(problem, result, method, neighbors=8)


@pytest.mark.parametrize(
    ("method", "params", "n"),
    [
        *((method, {"passes": 20}, 2500) for method in ("two-opt", "swap", "relocate")),
        *((method, {"passes": 20}, 150) for method in ("three-opt", "vnd")),
        *(("symmetric-two-opt", order, 600 if order == RANDOM else 2100) for order in VARIANTS),
        ("symmetric-three-opt", {}, 400),
        ("hill-climbing", {"climbers": 100, "restart": "perturb"}, 60),
    ],
)
def test_threads_change_nothing(method, params, n):
    problem = problem_of("EUC_2D", n, side=1000)
    one, *others = (
        warptsp.solve(problem, method=method, params=params, threads=threads, device="cpu", bound=False)
        for threads in (1, 2, 5)
    )
    for other in others:
        assert (one.tour == other.tour).all()
        assert one.counters == other.counters


@pytest.fixture(scope="module")
def hard_to_beat():
    """A problem, and a tour that a descent shortens, and a search from elsewhere does not."""
    problem = problem_of("EUC_2D", 150, seed=5)
    good = warptsp.solve(problem, kicks=5000, threads=1, device="cpu").tour.copy()
    good[10:14] = good[10:14][::-1]
    assert best_gain(problem, good) > 0
    return problem, good


@pytest.mark.parametrize(("method", "params"), TWO_OPT)
def test_a_start_tour_that_is_hard_to_beat_is_searched_too(method, params, hard_to_beat, device):
    problem, good = hard_to_beat
    result = solve(problem, method, params, start=good, device=device)
    assert result.length < problem.length(good)
    assert_two_optimal(problem, result)


def test_nor_is_a_random_tour_that_no_climber_beats_returned_as_it_is(monkeypatch, hard_to_beat, device):
    problem, good = hard_to_beat
    monkeypatch.setattr(_native, "random_tour", lambda n, seed, token: good.copy())
    result = solve(problem, "hill-climbing", {"climbers": 3}, device=device)
    assert_two_optimal(problem, result)


def test_annealing_descends_from_the_best_tour_it_came_by(shared_data, device):
    problem = warptsp.load(shared_data / "tsplib" / "ts225.tsp")
    result = solve(problem, ANNEALING, {"acceptance": 0.1}, seed=1, device=device)
    assert_two_optimal(problem, result)
    polished = warptsp.solve(problem, method="two-opt", start=result, device="cpu")
    assert polished.length == result.length


@pytest.mark.parametrize("then", ["two-opt", "symmetric-two-opt", ANNEALING, "neighbor-two-opt", "ils"])
@pytest.mark.parametrize("first", ["swap", "construct", "lk"])
def test_a_second_method_ends_at_a_local_optimum(first, then):
    problem = problem_of("EUC_2D", 80, seed=6)
    limits = {"kicks": 50} if first == "lk" else {}
    result = warptsp.solve(problem, method=first, then=then, device="cpu", **limits)
    assert_optimal(problem, result, then)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("acceptance", ["always", "better", "annealed"])
def test_iterated_local_search_ends_at_a_local_optimum(acceptance, path, device):
    for seed, limits in itertools.product(range(4), ({}, {"kicks": 77})):
        problem = problem_of("EXACT_2D", 40, seed=seed, open=path, fixed_edges=FIXED)
        params = {"acceptance": acceptance, "iterations": 2.0, "neighbors": 6, "chains": 3}
        options = {"params": params, "seed": seed, "device": device, **limits}
        result = warptsp.solve(problem, method="ils", **options)
        assert result.stop_reason == ("limit of 77 kicks" if limits else COMPLETE)
        assert_local_optimum(problem, result, 6, True)


@pytest.mark.parametrize(
    ("acceptance", "seed"), [("always", 2), ("always", 18), ("annealed", 10), ("annealed", 16)]
)
def test_nor_do_don_t_look_bits_leave_a_move(acceptance, seed, device):
    # Found by a look at hundreds of runs: after the last kick, these had a move far from its ends.
    problem = problem_of("no triangles", 60, seed=seed)
    params = {"acceptance": acceptance, "iterations": 2.0, "neighbors": 5, "chains": 1}
    result = solve(problem, "ils", params, seed=seed, device=device)
    assert_local_optimum(problem, result, 5, True)


@pytest.mark.parametrize(
    "method", ["two-opt", "three-opt", "swap", "relocate", "vnd", "neighbor-two-opt", "neighbor-three-opt"]
)
def test_a_limit_on_passes_is_no_completion(method):
    problem = problem_of("EUC_2D", 60, seed=10)
    options = {"method": method, "start": "random", "device": "cpu"}
    one = warptsp.solve(problem, params={"passes": 1}, **options)
    assert one.stop_reason == "limit of 1 pass"
    assert warptsp.solve(problem, params={"passes": 2}, **options).stop_reason == "limit of 2 passes"
    assert warptsp.solve(problem, **options).stop_reason == COMPLETE


@pytest.mark.parametrize(
    "method",
    [
        "lk",
        "two-opt",
        "three-opt",
        "neighbor-two-opt",
        "neighbor-three-opt",
        "ils",
        "symmetric-two-opt",
        "symmetric-three-opt",
        ANNEALING,
        "hill-climbing",
    ],
)
def test_a_limit_of_no_kicks_means_the_first_local_optimum(method, device):
    problem = problem_of("EUC_2D", 50, seed=11)
    result = warptsp.solve(problem, method=method, start="random", kicks=0, device=device)
    assert result.stop_reason == "limit of 0 kicks"
    if method == "lk":
        assert result.length < 0.5 * warptsp.solve(problem, method="construct", start="random").length
    else:
        assert_optimal(problem, result, method)
