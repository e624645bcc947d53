"""The search of directed tours: against dynamic programming, brute force and the doubling of the matrix."""

import csv
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from instances import directed, shortest

import warptsp
from warptsp import OpenPath, Problem, _native, stop
from warptsp.construct.patching import DirectedInstance, scale_of
from warptsp.io import load
from warptsp.methods.directed import run_doubled
from warptsp.methods.lk import cpu
from warptsp.methods.lk.directed import search
from warptsp.methods.lk.params import LkParams
from warptsp.run import Run, Settings


def searched(problem, kicks=300, seed=0, threads=1, **options):
    """The run of the search itself, whatever the number of cities."""
    run = Run(
        Settings(problem, seed=seed, threads=threads, start="patching", **options), stop.MaxKicks(kicks)
    )
    search(problem, run, LkParams())
    run.close()
    return run


def wind(n, seed):
    """Distances in the plane, longer against the wind: no bound comes near to their tours."""
    x, y = np.random.default_rng(seed).random((2, n)) * 10_000
    matrix = np.hypot(x[:, np.newaxis] - x, y[:, np.newaxis] - y)
    matrix += 0.3 * np.maximum(0.0, x[:, np.newaxis] - x)
    return Problem.from_matrix(np.rint(matrix).astype(np.int32), asymmetric=True)


@st.composite
def matrices(draw):
    """Of few cities: zeros, ties, huge entries, walls, real numbers."""
    n = draw(st.integers(4, 9))
    seed = draw(st.integers(0, 2**32 - 1))
    kind = draw(st.sampled_from(["few values", "zeros", "huge", "beyond 32 bits", "walls", "reals", "ring"]))
    random = np.random.default_rng(seed)
    if kind == "few values":
        matrix = random.integers(0, 4, (n, n))
    elif kind == "zeros":
        matrix = random.integers(1, 100, (n, n)) * (random.random((n, n)) < 0.3)
    elif kind == "huge":
        matrix = random.integers(0, 2**31, (n, n))
    elif kind == "beyond 32 bits":
        matrix = random.integers(0, 2**50, (n, n))
    elif kind == "walls":
        matrix = np.where(random.random((n, n)) < 0.4, 2**31 - 1, random.integers(0, 50, (n, n)))
    elif kind == "reals":
        matrix = random.random((n, n)) * 10.0 ** random.integers(-3, 9)
    else:
        matrix = np.full((n, n), 1000)
        order = random.permutation(n)
        matrix[order, np.roll(order, -1)] = 1
    matrix[0, 1] += 1 if matrix[0, 1] < 2**31 - 1 else -1
    if np.array_equal(matrix, matrix.T):
        matrix[1, 0] -= 1 if matrix[1, 0] else -1
    ends = draw(st.sampled_from([None, (None, None), (0, None), (None, 1), (n - 1, 2)]))
    path = None if ends is None else OpenPath(*ends)
    return Problem.from_matrix(matrix, asymmetric=True, open=path)


@settings(max_examples=60)
@given(matrices())
def test_the_optimum_of_few_cities_is_found_and_no_bound_is_above_it(problem):
    best = shortest(problem)
    run = searched(problem, kicks=400)
    assert run.best_length == pytest.approx(best, rel=1e-12)
    assert run.course.proved_bound is not None
    assert run.course.proved_bound <= best * (1 + 1e-12)


@pytest.mark.parametrize("make", [directed, wind])
def test_the_reversed_matrix_has_reversed_tours(make):
    problem = make(40, 1)
    back = Problem.from_matrix(problem.matrix.T, asymmetric=True)
    there, and_back = searched(problem, 3000), searched(back, 3000)
    assert there.best_length == and_back.best_length
    assert back.length(there.best[::-1]) == there.best_length


@pytest.mark.parametrize("make", [directed, wind])
@pytest.mark.parametrize(
    "fields",
    [
        {},
        *({"open": path} for path in (OpenPath(), OpenPath(3, None), OpenPath(None, 5), OpenPath(2, 7))),
        {"fixed_edges": [(0, 9), (9, 4), (13, 2)]},
    ],
    ids=str,
)
def test_the_doubling_agrees(make, fields):
    problem = Problem.from_matrix(make(25, 2).matrix, asymmetric=True, **fields)
    other = Run(Settings(problem, start="nearest-neighbor"), stop.MaxKicks(1500))
    run_doubled(problem, other, lambda doubled, run: cpu.search(doubled, run, LkParams(per_quadrant=0)))
    other.close()
    assert searched(problem, 1500).best_length == other.best_length


def test_a_matrix_is_not_copied_even_if_it_is_a_mapped_file(tmp_path):
    problem = directed(20, 1)
    assert np.shares_memory(DirectedInstance.of(problem).paths.matrix, problem.matrix)
    np.save(tmp_path / "a.npy", problem.matrix)
    matrix = DirectedInstance.of(load(tmp_path / "a.npy", asymmetric=True)).paths.matrix
    assert matrix.dtype == np.int32
    while not isinstance(matrix, np.memmap):
        matrix = matrix.base
        assert matrix is not None


def test_scales():
    whole = np.array([[0, 5], [7, 0]], dtype=np.int32)
    assert scale_of(whole, integral=True) == 1.0
    assert scale_of(np.zeros((3, 3)), integral=False) == 1.0
    for largest in (1e-250, 0.37, 1.0, 1e18, 1e290):
        matrix = np.full((100, 100), largest)
        scale = scale_of(matrix, integral=False)
        assert 2.0**57 <= largest * scale * 100 <= 2.0**59
        assert np.frexp(scale)[0] == 0.5
    # Exact integers whose sums leave 64 bits are rounded, too.
    assert scale_of(np.full((1000, 1000), 2.0**53), integral=True) < 1.0


def test_kicks_are_those_of_the_limit_and_tours_repeat():
    problem = wind(300, 4)
    runs = [searched(problem, kicks, seed=3) for kicks in (0, 1, 377, 377, 700, 700)]
    lengths = [run.best_length for run in runs]
    assert [run.counters["kicks"] for run in runs] == [0, 1, 377, 377, 700, 700]
    np.testing.assert_array_equal(runs[2].best, runs[3].best)
    np.testing.assert_array_equal(runs[4].best, runs[5].best)
    assert lengths == sorted(lengths, reverse=True)
    assert lengths[4] < lengths[0]
    other = searched(problem, 700, seed=4)
    assert not np.array_equal(other.best, runs[4].best)


@pytest.mark.parametrize("n", [150, 1200])  # a population; kicks in stretches of one tour
def test_two_threads_repeat_their_tour(n):
    problem = wind(n, 5)
    runs = [searched(problem, 1500, threads=2) for _ in range(2)]
    np.testing.assert_array_equal(runs[0].best, runs[1].best)
    assert runs[0].best_length == problem.length(runs[0].best)
    assert runs[0].counters["kicks"] == 1500


@pytest.mark.parametrize("limit", [0.0, 1e-4, 0.02])
def test_hardly_any_time(limit):
    problem = wind(400, 6)
    result = warptsp.solve(problem, time_limit=limit)
    assert sorted(result.tour) == list(range(400))
    assert result.length == problem.length(result.tour)
    path = Problem.from_matrix(problem.matrix, asymmetric=True, open=OpenPath(3, 9))
    result = warptsp.solve(path, time_limit=limit)
    assert (result.tour[0], result.tour[-1]) == (3, 9)


def test_another_thread_stops_it():
    problem = wind(500, 7)
    run = Run(Settings(problem, start="patching"), stop.MaxRuntime(600.0))
    timer = threading.Timer(0.3, run.token.request)
    timer.start()
    search(problem, run, LkParams())
    run.close()
    timer.join()
    problem.check_tour(run.best)
    assert run.reason() == "stop requested"


def test_a_given_tour_is_never_made_longer():
    problem = wind(60, 8)
    best = searched(problem, 5000).best
    for tour in (best, best[::-1].copy()):
        result = warptsp.solve(problem, start=tour, kicks=20)
        assert result.length <= problem.length(tour)


def test_the_bound_of_a_callback_and_of_the_result():
    problem = wind(100, 9)
    told = []
    result = warptsp.solve(problem, kicks=1500, callback=lambda p: told.append((p.phase, p.lower_bound)))
    assert {"start tour", "local search", "population"} <= {phase for phase, _ in told}
    assert all(bound is not None for phase, bound in told if phase != "set-up")
    assert not result.proved_optimal
    matrix = problem.matrix.astype(float)
    np.fill_diagonal(matrix, 1e9)
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(matrix)
    assert result.lower_bound == matrix[rows, columns].sum()
    assert result.bound_gap == pytest.approx(result.length / result.lower_bound - 1)


def test_a_random_matrix_is_solved_and_proved():
    problem = Problem.from_matrix(np.random.default_rng(1).integers(0, 10**6, (300, 300)), asymmetric=True)
    result = warptsp.solve(problem, kicks=10**6)
    assert result.proved_optimal
    assert result.stop_reason == "proved optimal"
    assert result.lower_bound == result.length
    reals = Problem.from_matrix(problem.matrix / 7.0, asymmetric=True)
    same = warptsp.solve(reals, kicks=10**6)
    assert same.proved_optimal
    assert same.length == pytest.approx(result.length / 7.0, rel=1e-12)


def test_parameters_of_the_symmetric_search_have_no_effect_and_that_is_said(caplog):
    warptsp.solve(wind(20, 1), kicks=5, params={"depth": 5, "population": 8})
    assert "asymmetric distances: depth had no effect" in caplog.text


def test_what_the_native_search_refuses():
    good = np.ones((5, 5), dtype=np.int32)
    create = _native.DirectedSearch.create
    for matrix, scale, message in (
        (good[:, :4].copy(), 1.0, "not square"),
        (good[:2, :2].copy(), 1.0, "3 cities"),
        (good, 0.0, "scale"),
        (good, float("nan"), "scale"),
        (-good, 1.0, "negative"),
        (np.full((5, 5), np.nan), 1.0, "no number"),
        (np.full((5, 5), 1e18), 1.0, "too long"),
    ):
        with pytest.raises(ValueError, match=message):
            create(matrix, scale=scale, seed=0, threads=1)
    with pytest.raises(ValueError, match="threads"):
        create(good, scale=1.0, seed=0, threads=0)
    made = create(good, scale=1.0, seed=0, threads=1)
    token = _native.StopToken()
    for call in (
        lambda: made.patch(token),
        lambda: made.set_tour(np.arange(5, dtype=np.int32)),
        lambda: made.kicks(1, token),
        lambda: made.best(),
        lambda: made.keep(),
        lambda: made.open_arcs(token),
        lambda: made.branch(nodes=1, leaves=1, seconds=1.0, token=token),
    ):
        with pytest.raises(ValueError, match="comes first"):
            call()
    assert made.assign(1.0, token)
    assert made.bound == 5
    assert made.prepare(token)
    with pytest.raises(ValueError, match="twice"):
        made.set_tour(np.zeros(5, dtype=np.int32))


def test_branch_and_bound_ends_with_its_assignment():
    matrix = np.random.default_rng(0).integers(1, 1000, (60, 60), dtype=np.int32)
    made = _native.DirectedSearch.create(matrix, scale=1.0, seed=0, threads=1)
    token = _native.StopToken()

    def branch():
        return made.branch(nodes=1, leaves=10**6, seconds=10.0, token=token)

    made.assign(10.0, token)
    made.prepare(token)
    made.set_tour(made.patch(token))
    made.begin_branching(0, token)
    assert not branch()
    nodes = made.counters()["nodes"]
    made.assign(10.0, token)
    made.prepare(token)
    with pytest.raises(ValueError, match="comes first"):
        branch()
    made.set_tour(made.patch(token))
    assert branch()
    assert made.counters()["nodes"] == nodes > 0


@pytest.mark.slow
def test_the_optima_of_tsplib(shared_data):
    folder = shared_data / "atsp"
    if not folder.is_dir():
        pytest.skip(f"{folder} is not there")
    with (folder / "known_lengths.csv").open() as file:
        known = {row["name"]: int(row["length"]) for row in csv.DictReader(file)}
    assert len(known) >= 19
    for name, optimum in known.items():
        problem = load(folder / f"{name}.atsp")
        result = warptsp.solve(problem, stop=stop.TargetLength(optimum) | stop.MaxRuntime(600.0))
        assert result.length == optimum, name
        assert result.lower_bound <= optimum, name
