"""Numbers that are very large, very small or far from 0: a right tour of the right length, or one line."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from instances import unit_points

import warptsp
from warptsp import Problem, neighbors
from warptsp.construct import CONSTRUCTIONS, construct
from warptsp.errors import InvalidProblem, WarpTSPError
from warptsp.methods import METHODS
from warptsp.methods.magnitude import Frame
from warptsp.plotting import draw
from warptsp.problem import Metric, OpenPath
from warptsp.stop import TargetGap, TargetLength

METRICS = [metric for metric in Metric if not metric.geographic]
# Where something ends: halves and doubles of single and double precision, and of what they are squared.
_SMALL = "1e-320 1e-308 1e-160 1e-141 1e-139 1e-45 1e-38 1e-23 1e-19"
_LARGE = "1e15 1e16 1e19 1e20 1e38 1e39 1e40 1e77 1e149 1e151 1e154 1e300 1.7e308"
EDGES = (*map(float, f"{_SMALL} {_LARGE}".split()), 2.0**31, 2.0**53, 2.0**63)
magnitudes = st.sampled_from(EDGES) | st.floats(-320, 308).map(lambda e: max(10.0**e, 5e-324))
quick = settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])


@st.composite
def problems(draw: Any, metric: Metric, most: int) -> Problem:
    """Instances of up to `most` cities of any magnitude and distance from 0; some are refused."""
    n, seed = draw(st.integers(1, most)), draw(st.integers(0, 99))
    size, far = draw(magnitudes), draw(st.sampled_from([0.0, 0.0, 1.0, 1e6, 1e15]))
    outlier = draw(st.booleans())
    random = np.random.default_rng(seed)
    with np.errstate(over="ignore", under="ignore"):
        if metric is Metric.EXPLICIT:
            matrix = random.random((n, n)) * size
            if outlier:
                matrix[0] = 1e12 * size
            matrix = np.minimum(matrix, matrix.T) if draw(st.booleans()) else matrix
            return Problem.from_matrix(matrix, asymmetric=True)
        points = (random.random((n, metric.dimensions)) + far) * size
        if outlier:
            points[0] = -1e12 * size
    return Problem.from_points(np.nan_to_num(points), metric)


def right(problem: Problem, result: warptsp.Result) -> None:
    problem.check_tour(result.tour)
    assert result.length == problem.length(result.tour)
    assert math.isfinite(result.length)
    assert all(math.isfinite(point.length) for point in result.history)
    assert result.length == result.history[-1].length
    assert all(one.length > two.length for one, two in itertools.pairwise(result.history))


def solved(problem: Problem, **options: Any) -> warptsp.Result | None:
    """The result, checked, or None if it was refused in one line."""
    complaint = ""
    try:
        right(problem, result := warptsp.solve(problem, **options))
    except WarpTSPError as error:
        complaint = str(error)
    else:
        return result
    assert "\n" not in complaint
    assert "bug" not in complaint
    return None


def search_any_magnitude(examples: int, most: int, **options: Any) -> None:
    @settings(quick, max_examples=examples)
    @given(st.sampled_from(METRICS), st.data())
    def search(metric: Metric, data: st.DataObject) -> None:
        try:
            problem = data.draw(problems(metric, most))
        except InvalidProblem:
            return
        solved(problem, kicks=5, **options)

    search()


@pytest.mark.parametrize("method", METHODS)
def test_any_magnitude_is_searched_or_refused(method: str) -> None:
    search_any_magnitude(144, 9 if method == "exact" else 18, method=method, threads=1, device="cpu")


@pytest.mark.parametrize("method", ["two-opt", "three-opt", "swap", "relocate"])
def test_sums_of_whole_lengths_beyond_what_doubles_hold_end_a_descent(method: str) -> None:
    # Distances up to 2^53, of which a move adds up to three: what they are rounded by is no gain.
    for seed in range(40):
        random = np.random.default_rng(seed)
        n = int(random.integers(5, 19))
        problem = Problem.from_points((random.random((n, 3)) + 1) * 9e13, "XRAY2")
        result = warptsp.solve(problem, method=method, params={"passes": 1000}, threads=1, device="cpu")
        right(problem, result)
        assert result.stop_reason == "the search is complete", seed


@pytest.mark.parametrize("power", [-459, -300, -100, -41, 51, 64, 127, 300, 490])
@pytest.mark.parametrize("method", METHODS)
def test_a_power_of_two_changes_nothing_but_lengths(method: str, power: int) -> None:
    cities = 14 if method == "exact" else 60
    points = unit_points(cities, 3)
    options: dict[str, Any] = {"method": method, "kicks": 20, "threads": 1, "device": "cpu", "seed": 4}
    # Whole numbers, so that shifts round nothing.
    points = np.floor(points * 2**20)
    factor = 2.0**power / 2**20
    usual = warptsp.solve(points, **options)
    scaled = warptsp.solve(points * factor, **options)
    assert (scaled.tour == usual.tour).all()
    assert scaled.length == pytest.approx(usual.length * factor, rel=1e-12)
    # What is reported on the way is in the instance's own unit.
    lengths = METHODS[method].lengths
    for name in lengths:
        if name in usual.counters:
            assert scaled.counters[name] == pytest.approx(usual.counters[name] * factor, rel=1e-9)
    matrix = np.hypot(*(points[:, None] - points[None, :]).transpose(2, 0, 1))
    usual = warptsp.solve(matrix, **options)
    scaled = warptsp.solve(matrix * factor, **options)
    assert (scaled.tour == usual.tour).all()


@pytest.mark.parametrize("metric", [metric for metric in METRICS if metric.dimensions])
def test_a_shift_far_from_0_changes_nothing(metric: Metric) -> None:
    points = np.floor(np.random.default_rng(3).random((40, metric.dimensions)) * 1000)
    far = points + np.array([2.0**52, -(2.0**51), 0])[: metric.dimensions]
    frame = Frame.of(Problem.from_points(far, metric))
    assert frame.unit == 1.0
    assert np.ptp(frame.problem.coordinates) <= 1000
    for method in METHODS.keys() - {"exact"}:
        options: dict[str, Any] = {
            "method": method,
            "kicks": 5,
            "threads": 1,
            "device": "cpu",
            "start": "given",
        }
        tours = [warptsp.solve(Problem.from_points(at, metric), **options).tour for at in (points, far)]
        assert (tours[0] == tours[1]).all(), method


def test_ordinary_numbers_are_searched_as_they_are() -> None:
    random = np.random.default_rng(3)
    for size in (1e-9, 1.0, 1e6, 1e15):
        problem = Problem.from_points(random.random((5, 2)) * size)
        assert Frame.of(problem).problem is problem
        matrix = Problem.from_matrix(np.ones((4, 4)) * size)
        assert Frame.of(matrix).problem is matrix
    whole = Problem.from_matrix(np.full((4, 4), 2**31 - 1))
    assert Frame.of(whole).problem is whole
    earth = Problem.from_points(random.random((5, 2)), "GREAT_CIRCLE")
    assert Frame.of(earth).problem is earth
    for nothing in (np.zeros((5, 2)), np.zeros((1, 2))):
        assert Frame.of(Problem.from_points(nothing)).unit == 1.0


def test_parameters_that_are_lengths_are_in_the_unit_of_the_instance() -> None:
    points = np.floor(unit_points(50, 3) * 1000)
    for method, name, value in (
        ("symmetric-annealing", "temperature", 30.0),
        ("symmetric-two-opt", "least_gain", 100.0),
        ("symmetric-three-opt", "least_gain", 100.0),
    ):
        options: dict[str, Any] = {"method": method, "threads": 1, "device": "cpu", "start": "given"}
        small = warptsp.solve(points, params={name: value}, **options)
        factor = 2.0**200
        large = warptsp.solve(points * factor, params={name: value * factor}, **options)
        assert (small.tour == large.tour).all()
        assert large.params == {name: value * factor}
        assert (warptsp.solve(points, **options).tour != small.tour).any()


@pytest.mark.parametrize("size", [1e-130, 1e-30, 1e20, 1e40, 1e149])
def test_callbacks_targets_checkpoints_and_second_methods_have_the_right_lengths(tmp_path, size) -> None:
    problem = Problem.from_points(unit_points(200, 6) * size)
    seen: list[float] = []
    result = warptsp.solve(
        problem,
        kicks=300,
        threads=1,
        device="cpu",
        then="two-opt",
        callback=lambda progress: seen.append(progress.length),
        checkpoint=tmp_path / "best.tour",
    )
    right(problem, result)
    assert all(size < length < 200 * size for length in seen)
    assert result.length == problem.length(warptsp.read_tour(tmp_path / "best.tour", problem))
    met = warptsp.solve(problem, stop=warptsp.stop.TargetLength(1.5 * result.length), threads=1, device="cpu")
    assert met.length <= 1.5 * result.length
    assert met.counters["kicks"] < 100


@pytest.mark.parametrize("size", [1e-320, 1e-100, 1e40, 1e290])
@pytest.mark.parametrize("opened", [None, OpenPath(), OpenPath(3), OpenPath(3, 1)])
def test_asymmetric_matrices_and_open_paths(size: float, opened: OpenPath | None) -> None:
    matrix = np.random.default_rng(8).random((20, 20)) * size
    result = warptsp.solve(
        Problem.from_matrix(matrix, asymmetric=True, open=opened), kicks=40, threads=1, device="cpu"
    )
    right(result.problem, result)
    usual = warptsp.solve(
        Problem.from_matrix(matrix / size, asymmetric=True, open=opened), kicks=40, threads=1
    )
    if size > 1e-300:
        assert result.length == pytest.approx(usual.length * size, rel=0.05)


@pytest.mark.parametrize("entry", [1.7e308, 1e308, 2e300 / 30])
def test_entries_whose_tours_overflow_are_refused_at_the_door(entry: float) -> None:
    matrix = np.ones((30, 30))
    matrix[4, 7] = matrix[7, 4] = entry
    with pytest.raises(
        InvalidProblem, match=r"^entry \(4, 7\) of the matrix is .*: the lengths of tours of 30"
    ):
        Problem.from_matrix(matrix)
    with pytest.raises(InvalidProblem, match=r"entry \(4, 7\) of the matrix is"):
        Problem.from_matrix(matrix, asymmetric=True)
    with pytest.raises(InvalidProblem, match=r"entry \(4, 7\) of the matrix is"):
        Problem.from_osrm({"code": "Ok", "durations": matrix.tolist()})


def test_the_largest_entries_that_are_taken() -> None:
    matrix = np.full((30, 30), 1e300 / 30)
    for asymmetric in (False, True):
        matrix[3, 5] = 0.5e300 / 30
        if not asymmetric:
            matrix[5, 3] = matrix[3, 5]
        problem = Problem.from_matrix(matrix, asymmetric=asymmetric)
        for method in METHODS:
            if (METHODS[method].asymmetric or not asymmetric) and method != "exact":
                result = warptsp.solve(problem, method=method, kicks=3, threads=1, device="cpu")
                right(problem, result)


def walled(cities: int, share: float, wall: float) -> np.ndarray:
    """Distances of points, with this share of them forbidden."""
    random = np.random.default_rng(11)
    points = random.random((cities, 2))
    matrix = np.hypot(*(points[:, None] - points[None, :]).transpose(2, 0, 1))
    forbidden = np.triu(random.random((cities, cities)) < share, 1)
    matrix[forbidden | forbidden.T] = wall
    np.fill_diagonal(matrix, 0)
    return matrix


@pytest.mark.parametrize("wall", [1e12, 1e15, 1e297])
@pytest.mark.parametrize("method", METHODS)
def test_a_forbidden_edge_may_be_as_long_as_it_likes(method: str, wall: float) -> None:
    cities = 12 if method == "exact" else 80
    options: dict[str, Any] = {"method": method, "kicks": 100, "threads": 1, "device": "cpu", "seed": 2}
    usual = warptsp.solve(walled(cities, 0.3, 1e4), **options)
    result = warptsp.solve(walled(cities, 0.3, wall), **options)
    right(result.problem, result)
    if method == "construct":
        return
    assert result.length < 1e4
    # The wall of the usual instance is no power of two, and a float's last digits are others.
    assert result.length <= 1.02 * usual.length


def with_several_walls(n: int, lowest: float, seed: int) -> np.ndarray:
    """A matrix a third of whose entries are forbidden, each by a number of its own."""
    random = np.random.default_rng(seed)
    matrix = random.random((n, n)) * 100
    walls = random.random((n, n)) < 0.3
    matrix[walls] = lowest * (1 + random.random(walls.sum())) * random.choice([1, 1e6], walls.sum())
    matrix = np.triu(matrix, 1)
    return matrix + matrix.T


@pytest.mark.parametrize(("n", "fixed"), [(8, []), (8, [[0, 3], [4, 5]]), (13, []), (26, [])])
def test_forbidden_edges_of_several_lengths(n: int, fixed: list[list[int]]) -> None:
    for seed, lowest in itertools.product(range(2), (1e8, 1e11, 1e18, 1e100)):
        matrix = with_several_walls(n, lowest, seed)
        matrix[0, 3] = matrix[3, 0] = matrix[4, 5] = matrix[5, 4] = 50
        low = Problem.from_matrix(np.minimum(matrix, 1e4), fixed_edges=fixed)
        expected = warptsp.solve(low, kicks=500, threads=1).length
        assert expected < 1e4
        problem = Problem.from_matrix(matrix, fixed_edges=fixed)
        for method in ("lk", "exact") if n <= 16 else ("lk",):
            result = warptsp.solve(
                problem, method=method, kicks=None if method == "exact" else 500, threads=1
            )
            # 10^8, 10^14 and 100 are near enough to each other to be searched as they are.
            if result.proved_optimal or method == "exact" or lowest > 1e8:
                assert result.length == pytest.approx(expected, rel=1e-11), f"seed {seed}, {method}"
            assert result.lower_bound is None or result.lower_bound <= result.length * (1 + 1e-12)


@pytest.mark.parametrize("lowest", [1e12, 1e15])
def test_tours_that_need_forbidden_edges_of_several_lengths(lowest: float) -> None:
    # Two halves that only forbidden edges join.
    for seed in range(3):
        random = np.random.default_rng(seed)
        matrix = random.random((14, 14)) * 100
        matrix[:7, 7:] = lowest * (1 + random.random((7, 7)))
        matrix = np.triu(matrix, 1)
        matrix += matrix.T
        lengths = []
        result = warptsp.solve(
            matrix,
            kicks=1000,
            threads=1,
            callback=lambda event: lengths.append(event.length),  # noqa: B023
        )
        assert result.length == Problem.from_matrix(matrix).length(result.tour)
        assert min(lengths) == pytest.approx(result.length, rel=1e-12)
        joining = np.sort(matrix[:7, 7:], axis=None)
        assert result.length < joining[:2].sum() * 1.2
        assert result.lower_bound is None or result.lower_bound <= result.length


@pytest.mark.parametrize("asymmetric", [False, True])
def test_tours_that_need_forbidden_edges_are_told_with_their_length(asymmetric: bool) -> None:
    wall = 1e13
    for seed in range(6):
        random = np.random.default_rng(seed)
        matrix = np.where(random.random((20, 20)) < 0.93, wall, random.random((20, 20)))
        matrix = matrix if asymmetric else np.minimum(matrix, matrix.T)
        problem = Problem.from_matrix(matrix, asymmetric=asymmetric)
        for method in METHODS:
            if method == "exact" or (asymmetric and not METHODS[method].asymmetric):
                continue
            seen: list[float] = []
            result = warptsp.solve(
                problem,
                method=method,
                kicks=30,
                threads=1,
                device="cpu",
                callback=lambda progress, seen=seen: seen.append(progress.length),
            )
            right(problem, result)
            assert result.length > wall
            for length in (*seen, *(point.length for point in result.history)):
                assert length % wall < 20 or wall - length % wall < 1e-2
                assert length >= result.length * (1 - 1e-12)


def test_walls_keep_the_order_of_all_tours() -> None:
    for wall in (1e16, 1e60):
        problem = Problem.from_matrix(walled(7, 0.6, wall))
        frame = Frame.of(problem)
        assert frame.problem.distance_bound < 2**21
        lengths = []
        for order in itertools.permutations(range(1, 7)):
            tour = np.array([0, *order])
            links = problem.matrix[tour, np.roll(tour, -1)]
            lengths.append(
                (int((links == wall).sum()), links[links < wall].sum(), frame.problem.length(tour))
            )
            assert frame.length(lengths[-1][-1]) == pytest.approx(problem.length(tour), rel=1e-12)
            here = frame.length_here(problem.length(tour))
            assert frame.length(here) == pytest.approx(problem.length(tour), rel=1e-12)
        ordered = sorted(lengths)
        assert all(a[2] <= b[2] * (1 + 1e-12) for a, b in itertools.pairwise(ordered))


@pytest.mark.parametrize(
    ("points", "metric", "text"),
    [
        ([[0, 0], [1, 1e151]], None, r"coordinates reach 1e\+151: squares of distances leave"),
        ([[-1.7e308, 0], [1.7e308, 1]], None, r"coordinates reach 1.7e\+308: squares"),
        ([[1.7e308, 0]] * 5, None, r"coordinates reach 1.7e\+308: squares"),
        ([[0, 0], [1e-141, 0]], None, r"spread over 1e-141: squares"),
        ([[0, 0], [1e14, 0]], "EUC_2D", r"EUC_2D rounds distances to integers"),
        (np.linspace(0, 9e13, 40_000)[:, None].repeat(2, 1), "MAN_2D", r"^40000 cities .* 64 bits"),
        (np.linspace(0, 9e13, 2000)[:, None].repeat(3, 1), "XRAY1", r"^2000 cities .* 64 bits"),
    ],
)
def test_coordinates_of_which_no_length_can_be_made_are_refused(points, metric, text) -> None:
    with pytest.raises(InvalidProblem, match=text):
        Problem.from_points(points, metric)


def test_display_coordinates_that_no_picture_can_hold_are_refused(tmp_path) -> None:
    with pytest.raises(InvalidProblem, match=r"display coordinates hold 1.7e\+308: numbers up to 1e\+150"):
        Problem.from_matrix(np.ones((2, 2)), display=[[-1.7e308, 0], [1.7e308, 0]])


@pytest.mark.parametrize("far", [0.0, 1e15])
@pytest.mark.parametrize("size", [1e-320, 1e-290, 1e-130, 1.0, 1e40, 1e134])
def test_pictures_of_any_magnitude(tmp_path, size: float, far: float) -> None:
    places = (unit_points(30, 2) + far) * size
    problem = Problem.from_matrix(np.ones((30, 30)), display=places)
    for name in ("a.svg", "a.png"):
        draw(tmp_path / name, problem, np.arange(30))
        assert (tmp_path / name).stat().st_size > 0
    warptsp.solve(problem, kicks=1, threads=1, device="cpu").report(tmp_path / "a.html")


@quick
@given(st.data())
def test_constructions_and_candidate_lists_of_any_magnitude(data: st.DataObject) -> None:
    metric = data.draw(st.sampled_from(METRICS))
    try:
        problem = data.draw(problems(metric, 40))
    except InvalidProblem:
        return
    for name in CONSTRUCTIONS:
        if name == ("space-filling" if metric is Metric.EXPLICIT else "patching"):
            continue
        tour = construct(problem, name, seed=1, threads=1)
        problem.check_tour(tour)
        assert math.isfinite(problem.length(tour))
    if problem.n > 1 and not problem.asymmetric:
        rows = neighbors.candidate_lists(problem, 10, 2)
        assert ((rows >= -1) & (rows < problem.n)).all()


GPU_METHODS = [method.name for method in METHODS.values() if "cuda" in method.devices]


@pytest.mark.gpu
@pytest.mark.parametrize("method", GPU_METHODS)
def test_a_gpu_takes_any_magnitude_and_goes_on(gpu, method: str) -> None:
    cities = 5000 if method in ("three-opt", "symmetric-three-opt", "vnd") else 20_000
    points = unit_points(cities, 1)
    options: dict[str, Any] = {"method": method, "device": "cuda"}
    # Kernels are compiled before there is a time limit.
    few = {"symmetric-annealing": {"rotations": 1000}}.get(method, {})
    warptsp.solve(points[:1500], kicks=10, params=few, **options)
    options["time_limit"] = 2.0
    for size in (1e-135, 1e-30, 1e20, 1e25, 1e40, 1e149):
        problem = Problem.from_points(points * size)
        result = warptsp.solve(problem, **options)
        right(problem, result)
        assert result.device.startswith("cuda")
    for ordinary in (Problem.from_points(points), Problem.from_points(np.floor(points * 1e6), "EUC_2D")):
        right(ordinary, warptsp.solve(ordinary, **options))


@pytest.mark.gpu
@pytest.mark.parametrize("method", GPU_METHODS)
def test_small_instances_of_any_magnitude_on_a_gpu(gpu, method: str) -> None:
    search_any_magnitude(12, 40, method=method, device="cuda", time_limit=3.0)


@pytest.mark.parametrize("seed", [19, 74, 165])
def test_gains_that_are_rounded_by_more_than_is_left_of_the_length_prove_nothing_else(seed: int) -> None:
    lengths = 10.0 ** np.random.default_rng(seed).uniform(-12, 12, (13, 13))
    lengths = np.triu(lengths, 1) + np.triu(lengths, 1).T
    result = warptsp.solve(lengths, threads=1, prove=False)
    exact = warptsp.solve(lengths, method="exact")
    assert result.length == pytest.approx(exact.length, rel=1e-12) or not result.proved_optimal
    assert min(point.length for point in result.history) > 0
    assert result.stop_reason != "a tour of length 0 is optimal"


@pytest.mark.parametrize("seed", [1300, 2158, 2330, 2572, 5814])
@pytest.mark.parametrize("power", [14, 20])
def test_a_target_is_reached_by_the_tour_itself(seed: int, power: int) -> None:
    draw = np.random.default_rng(seed)
    n = int(draw.integers(13, 40))
    lengths = np.triu(10.0 ** draw.uniform(-power, power, (n, n)), 1)
    lengths += lengths.T
    best = warptsp.solve(lengths, kicks=50, threads=1, prove=False, bound=False).length
    for stop in (TargetLength(best * 1.01), TargetGap(1.0, reference=best)):
        result = warptsp.solve(lengths, stop=stop, kicks=200, threads=1, prove=False, bound=False, seed=1)
        assert "reached" not in result.stop_reason or result.length <= best * 1.02
