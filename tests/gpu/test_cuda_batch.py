"""Many small problems on a GPU: tours, lengths that are true, optima, the same tours in any company."""

import numpy as np
import pytest

import warptsp
from warptsp.errors import InvalidOption, UnsupportedProblem

pytestmark = pytest.mark.gpu


def points(count, n, seed=0):
    return np.random.default_rng(seed).random((count, n, 2))


def check(results, problems):
    assert not results.errors
    for position, problem in enumerate(problems):
        if not isinstance(problem, warptsp.Problem):
            square = problem.shape[0] == problem.shape[1]
            problem = (warptsp.Problem.from_matrix if square else warptsp.Problem.from_points)(problem)
        tour = results.tour(position)
        problem.check_tour(tour)
        assert results.length(position) == pytest.approx(problem.length(tour), rel=1e-12)


def places(kind, count, n):
    rng = np.random.default_rng(n)
    return {
        "uniform": lambda: rng.random((count, n, 2)),
        "small": lambda: 1e-9 * rng.random((count, n, 2)),
        "far away": lambda: 1e9 + rng.random((count, n, 2)),
        "lattice": lambda: rng.integers(0, 5, (count, n, 2)),
        "one place": lambda: np.full((count, n, 2), 3.25),
        "line": lambda: rng.random((count, n, 2)) * [1, 0],
        "space": lambda: rng.random((count, n, 3)),
        "single": lambda: rng.random((count, n, 2)).astype(np.float32),
    }[kind]()


@pytest.mark.parametrize(
    "kind", ["uniform", "small", "far away", "lattice", "one place", "line", "space", "single"]
)
@pytest.mark.parametrize("n", [13, 64, 333, 1024])
def test_any_places(kind, n):
    array = places(kind, 3, n)
    results = warptsp.solve_many(array, device="cuda", kicks=n)
    check(results, array)
    # What single precision does not hold is searched in a frame of its own.
    device = "cpu" if kind in ("far away", "one place") else "cuda:0"
    assert [results[i].device for i in range(3)] == [device] * 3


@pytest.mark.parametrize(
    "metric", ["EUC_2D", "CEIL_2D", "ATT", "MAN_2D", "MAX_2D", "EXACT_MAX_2D", "EUC_3D", "EXACT_MAN_3D"]
)
def test_metrics(metric):
    rng = np.random.default_rng(3)
    rows = rng.integers(0, 1000, (4, 40, 3 if metric.endswith("3D") else 2))
    problems = [warptsp.Problem.from_points(row, metric) for row in rows]
    check(warptsp.solve_many(problems, device="cuda"), problems)


@pytest.mark.parametrize("scale", [100, 0.37])
def test_matrices(scale):
    rng = np.random.default_rng(4)
    square = np.rint(scale * rng.random((4, 30, 30))) if scale > 1 else scale * rng.random((4, 30, 30))
    array = square + square.transpose(0, 2, 1)
    check(warptsp.solve_many(array, device="cuda"), list(array))


@pytest.mark.parametrize("n", [13, 20, 50])
def test_tours_are_optimal_where_the_cpus_are(n):
    array = points(60, n, seed=n)
    here = warptsp.solve_many(array, device="cuda").lengths
    there = warptsp.solve_many(array).lengths
    assert (here <= there * (1 + 1e-9)).mean() >= 0.95


def test_a_tour_does_not_depend_on_the_other_problems():
    array = points(40, 60, seed=1)
    whole = warptsp.solve_many(array, device="cuda", seed=5)
    again = warptsp.solve_many(array, device="cuda", seed=5, threads=1)
    some = warptsp.solve_many(list(array[30:]), device="cuda", seed=35)
    assert np.array_equal(whole.tours, again.tours)
    assert np.array_equal(whole.tours[30:], some.tours)
    assert np.array_equal(whole.kicks[30:], some.kicks)


def test_what_a_gpu_does_not_search_is_searched_by_threads():
    rng = np.random.default_rng(6)
    rows = rng.random((20, 2))
    problems = [
        rng.random((1, 2)),
        rng.random((5, 2)),
        rng.random((12, 2)),
        rows,
        warptsp.Problem.from_points(rows, open=warptsp.OpenPath()),
        warptsp.Problem.from_points(rows, fixed_edges=[(0, 7)]),
        warptsp.Problem.from_matrix(rng.random((15, 15)), asymmetric=True),
        rng.random((1100, 2)),
        "nonsense",
    ]
    results = warptsp.solve_many(problems, device="cuda", kicks=100)
    assert list(results.errors) == [8]
    assert [results[i].device for i in range(8)] == ["cpu"] * 3 + ["cuda:0"] + ["cpu"] * 4
    assert results[5].problem.length(results.tour(5)) == pytest.approx(results.length(5))


def test_a_generator_and_numbers_of_kicks():
    results = warptsp.solve_many((row for row in points(50, 30)), device="cuda", kicks=70)
    assert results.solved == 50
    assert set(results.kicks.tolist()) == {70}


def test_no_problems_at_all():
    results = warptsp.solve_many(np.empty((0, 20, 2)), device="cuda")
    assert len(results) == 0
    assert not results.errors


def test_it_can_be_ended():
    array = points(4000, 1000)
    results = warptsp.solve_many(array, device="cuda", kicks=10**7, callback=lambda progress: True)
    assert results.interrupted
    for position in range(len(array)):
        if results.length(position) is not None:
            assert np.array_equal(np.sort(results.tour(position)), np.arange(1000))
            assert results[position].stop_reason == "stop requested"


@pytest.mark.parametrize(
    "options", [{"time_limit": 1}, {"total_time": 1}, {"method": "two-opt"}, {"params": {"temperature": 0.1}}]
)
def test_other_runs_are_refused(options):
    with pytest.raises(InvalidOption, match="device cuda:0"):
        warptsp.solve_many(points(3, 20), device="cuda", **options)


def test_several_gpus_are_refused():
    with pytest.raises(UnsupportedProblem, match="one GPU"):
        warptsp.solve_many(points(3, 20), device="cuda:0,1")
