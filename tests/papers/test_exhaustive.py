"""Exhaustive descents: no move of the neighborhood shortens what they return, by a slow and obvious check."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator
from itertools import combinations, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from instances import AWKWARD, awkward, distances, problem_of, unit_points, whole_points
from test_symmetric import best_gain

import warptsp
from warptsp import OpenPath, Problem, _native, methods
from warptsp.backends.cuda.compiler import Source
from warptsp.backends.cuda.occupancy import Chip, Occupancy, Used
from warptsp.errors import InvalidOption, UnsupportedProblem
from warptsp.papers.exhaustive.cuda import CudaDescent, Stage
from warptsp.papers.exhaustive.cuda_studies import check_size
from warptsp.papers.exhaustive.neighborhood import NEIGHBORHOODS, TWO_OPT, Sought, Start
from warptsp.problem import Metric

if TYPE_CHECKING:
    from warptsp.backends.cuda.device import Device

LAUNCHED = ["two-opt", "three-opt", "swap", "relocate"]  # in one neighborhood
METHODS = [*LAUNCHED, "vnd"]
PLANE = ["EUC_2D", "CEIL_2D", "FLOOR_2D", "EXACT_2D", "ATT"]
COORDINATES = [metric.name for metric in Metric if metric.has_coordinates]


def instance(kind: str, n: int, seed: int = 0, **more: Any) -> Problem:
    """Cities of the metric `kind`, a matrix, or at awkward places."""
    return awkward(kind, n, seed) if kind in AWKWARD else problem_of(kind, n, seed, **more)


# The slow check: tours are made whole, and measured by the problem.


def neighbors(tour: list[int], method: str) -> Iterator[list[int]]:
    """All tours that one move makes of this one, in the order of their numbers: by the last link first."""
    n = len(tour)
    if method == "two-opt":
        for i, j in sorted(combinations(range(n), 2), key=lambda pair: pair[::-1]):
            yield tour[: i + 1] + tour[i + 1 : j + 1][::-1] + tour[j + 1 :]
    elif method == "three-opt":
        for i, j, k in sorted(combinations(range(n), 3), key=lambda triple: triple[::-1]):
            head, first, second, tail = tour[: i + 1], tour[i + 1 : j + 1], tour[j + 1 : k + 1], tour[k + 1 :]
            yield head + second + first + tail
            yield head + first[::-1] + second[::-1] + tail
            yield head + second + first[::-1] + tail
            yield head + second[::-1] + first + tail
    elif method == "relocate":
        for city, over in product(range(n), range(1, n - 2)):
            others = tour[city + 1 :] + tour[:city]
            moved = [*others[:over], tour[city], *others[over:]]
            first = moved.index(tour[0])
            yield moved[first:] + moved[:first]
    elif method == "vnd":
        for neighborhood in NEIGHBORHOODS:
            yield from neighbors(tour, neighborhood)
    else:
        for x, y in combinations(range(1, n), 2):
            swapped = tour.copy()
            swapped[x], swapped[y] = tour[y], tour[x]
            yield swapped


def shorter_neighbor(problem: Problem, tour: np.ndarray, method: str) -> list[int] | None:
    """A tour that one move makes shorter, None for a local optimum."""
    length = problem.length(tour)
    margin = 0 if problem.integral else 1e-11 * problem.distance_bound
    others = np.array(list(neighbors(tour.tolist(), method)))
    new = distances(problem)[others, np.roll(others, -1, axis=1)].sum(axis=1)
    best = int(new.argmin())
    is_shorter = new[best] < length - margin - (0 if problem.integral else 1e-12 * length)
    return others[best].tolist() if is_shorter else None


def is_optimal(problem: Problem, tour: np.ndarray, method: str) -> bool:
    """Whether no 2-opt move, swap or relocation shortens a tour: the same for many cities, from formulas."""
    least = 0.5 if problem.integral else 1e-9 * problem.distance_bound
    if method == "two-opt":
        return bool(best_gain(problem, tour) < least)
    tour = np.append(tour, tour[0])
    n = problem.n
    d = distances(problem)[np.ix_(tour, tour)].astype(float)
    link = np.append(d[np.arange(n), np.arange(1, n + 1)], d[0, 1])
    if method == "relocate":
        city = np.arange(n)[:, None]
        edge = (city + np.arange(1, n - 2)) % n
        delta = d[city, edge] + d[city, edge + 1] + d[city - 1 + n * (city == 0), city + 1]
        delta -= link[edge] + link[city] + link[city - 1 + n * (city == 0)]
    else:
        x, y = np.triu_indices(n, 2)
        x, y = x[x > 0], y[x > 0]
        delta = d[x - 1, y] + d[x + 1, y] + d[x, y - 1] + d[x, y + 1]
        delta -= link[x - 1] + link[x] + link[y - 1] + link[y]
        x = np.arange(1, n - 1)
        delta = np.append(delta, d[x - 1, x + 1] + d[x, x + 2] - link[x - 1] - link[x + 1])
    return bool(delta.min() > -least)


SIZES = {method: [4, 5, 6, 7, 8, 21 if method in ("three-opt", "vnd") else 41] for method in METHODS}


@pytest.mark.parametrize("kind", [*COORDINATES, "whole", "real", *AWKWARD])
@pytest.mark.parametrize("method", METHODS)
def test_no_move_shortens_the_tour(method: str, kind: str, device: str) -> None:
    for n in SIZES[method]:
        problem = instance(kind, n)
        options = {"start": "random", "seed": n, "device": device, "bound": False}
        result = warptsp.solve(problem, method=method, **options)
        assert shorter_neighbor(problem, result.tour, method) is None, n
        assert result.length == pytest.approx(problem.length(result.tour), rel=1e-12)
        assert result.stop_reason in ("the search is complete", "a tour of length 0 is optimal")


def reference_descent(problem: Problem, order: tuple[str, ...]) -> list[tuple[list[int], str]]:
    """The tours of a descent from the given order, pass by pass, each with the neighborhood that was passed
    over: the best move of the first that has one is applied, of equal ones the first."""
    tour, current, passes = list(range(problem.n)), 0, []
    while current < len(order):
        best = min(neighbors(tour, order[current]), key=problem.length)
        shorter = problem.length(best) < problem.length(tour)
        passes.append((best if shorter else tour, order[current]))
        tour, current = (best, 0) if shorter else (tour, current + 1)
    return passes


@pytest.mark.parametrize(
    ("method", "order", "seed"),
    [
        *((method, (method,), 5) for method in LAUNCHED),
        *(("vnd", (method,), 5) for method in LAUNCHED),
        ("vnd", ("swap", "relocate"), 9),
        ("vnd", ("swap", "three-opt"), 9),
        ("vnd", ("relocate", "two-opt", "swap", "three-opt"), 9),
    ],
)
def test_every_pass_applies_the_best_move(
    method: str, order: tuple[str, ...], seed: int, device: str
) -> None:
    problem = instance("EUC_2D", 14, seed)
    expected = reference_descent(problem, order)
    assert len(expected) > 4
    params = {"order": ",".join(order)} if method == "vnd" else {}  # as on the command line
    options = {"method": method, "start": "given", "device": device, "bound": False}
    before, moves, evaluations, moved = list(range(14)), 0, 0, set()
    for passes, (tour, neighborhood) in enumerate(expected, start=1):
        evaluations += len(list(neighbors(tour, neighborhood)))
        if tour != before:
            before, moves = tour, moves + 1
            moved.add(neighborhood)
        result = warptsp.solve(problem, params={**params, "passes": passes}, **options)
        assert result.tour.tolist() == tour, passes
        counters = {"passes": passes, "moves": moves, "evaluations": evaluations, "kicks": 0}
        assert {name: result.counters[name] for name in counters} == counters
    assert len(moved) > 1 or len(order) == 1
    whole = warptsp.solve(problem, params=params, **options)
    assert whole.tour.tolist() == tour
    assert {name: whole.counters[name] for name in counters} == counters


@pytest.mark.parametrize("kind", ["EUC_2D", "EXACT_2D", "MAN_2D", "whole"])
@pytest.mark.parametrize("method", ["two-opt", "swap", "relocate"])
def test_larger_tours_across_tiles(method: str, kind: str, device: str) -> None:
    """Tiles of 256 rows and 1024 columns, and their seams."""
    problem = instance(kind, 1100)
    result = warptsp.solve(problem, method=method, device=device, threads=2)
    assert is_optimal(problem, result.tour, method)
    assert result.counters["moves"] > 0


EDGES = [(0, 13), (13, 9), (20, 2)]
KEPT_PLACES, IN_ORDER = (5, 17, 30, 31, 39), ((3, 9), (9, 20), (4, 39), (11, 12), (12, 13))


@pytest.mark.gpu
@pytest.mark.parametrize(
    ("method", "params", "kind", "n", "start", "fields"),
    [
        # Beyond shared memory: passes in tiles, and in double precision on the CPU.
        *(
            ("two-opt", {"passes": 30}, kind, 20_000, start, {})
            for kind, start in product(("EUC_2D", "CEIL_2D"), ("greedy", "random"))
        ),
        *(
            (method, {}, kind, 150, "random", {"open": ends, "fixed_edges": EDGES})
            for method, kind, ends in product(
                METHODS,
                ("EUC_2D", "GEO", "EXACT_3D", "whole", "real"),
                (OpenPath(), OpenPath(start=3), OpenPath(3, 7), None),
            )
        ),
    ],
)
def test_descents_are_the_same_on_a_gpu(
    method: str, params: dict[str, object], kind: str, n: int, start: str, fields: dict[str, Any]
) -> None:
    problem = dataclasses.replace(instance(kind, n), **fields)
    on_gpu, on_cpu = (
        warptsp.solve(problem, method=method, params=params, start=start, device=device)
        for device in ("cuda", "cpu")
    )
    assert (on_gpu.tour == on_cpu.tour).all()
    assert on_gpu.length == on_cpu.length
    assert on_gpu.counters["passes"] == on_cpu.counters["passes"]
    problem.check_tour(on_gpu.tour)


@pytest.mark.parametrize(
    ("params", "is_allowed"),
    [
        ({"fixed": KEPT_PLACES}, lambda place: all(place[city] == city for city in KEPT_PLACES)),
        ({"before": sum(IN_ORDER, ())}, lambda place: all(place[a] < place[b] for a, b in IN_ORDER)),
    ],
)
def test_swaps_heed_what_they_must(
    params: dict[str, object], is_allowed: Callable[[np.ndarray], bool], device: str
) -> None:
    problem = instance("EUC_2D", 40)
    result, free = (
        warptsp.solve(problem, method="swap", start="given", params=asked, device=device)
        for asked in (params, {})
    )
    assert is_allowed(np.argsort(result.tour))
    assert not is_allowed(np.argsort(free.tour))
    assert result.length < problem.length(np.arange(40))
    for swapped in neighbors(result.tour.tolist(), "swap"):
        assert problem.length(swapped) >= result.length or not is_allowed(np.argsort(swapped))


# Options, limits, ends


def test_too_many_cities() -> None:
    points = unit_points(100_000)
    with pytest.raises(UnsupportedProblem, match=r"100000 cities are too many for the CPU, .* is 5000;"):
        warptsp.solve(points, method="three-opt", device="cpu")


# Variable neighbourhood descent


def test_three_opt_limits_the_cities_of_an_order() -> None:
    problem = instance("EUC_2D", 5001)
    with pytest.raises(
        UnsupportedProblem, match=r"5001 cities are too many for three-opt.*out of the parameter order"
    ):
        warptsp.solve(problem, method="vnd", device="cpu")
    params = {"order": ("two-opt", "relocate"), "passes": 1}
    assert warptsp.solve(problem, method="vnd", params=params, device="cpu").counters["passes"] == 1


@pytest.mark.parametrize("method", METHODS)
def test_the_start_tour_is_reported_before_the_first_pass(method: str, device: str) -> None:
    problem = instance("EUC_2D", 60)
    result = warptsp.solve(problem, method=method, start="given", device=device, callback=lambda event: True)
    assert result.counters["passes"] == 0
    assert result.length == problem.length(np.arange(60))


# What is asked of launches


LAUNCHES = [
    (300, {"block": 128}),
    (300, {"block": 1024, "grid": 2}),
    (300, {"block": 512, "grid": 300}),
    (300, {"jobs": 7}),
    (50, {"range_size": 1}),  # a launch for each pair of cities
    (300, {"range_size": 77}),
    (300, {"range_size": 100, "block": 64, "grid": 5}),
    (300, {"range_size": 299}),
    (300, {"range_size": 300}),
    (300, {"range_size": 1000, "jobs": 9}),
    (300, {"tour_order": False}),
    (300, {"tour_order": False, "block": 256, "jobs": 40}),
]


@pytest.mark.gpu
@pytest.mark.parametrize(
    ("method", "metric", "n", "params"),
    [
        *(("two-opt", metric, *launch) for metric in PLANE for launch in LAUNCHES),
        ("three-opt", "GEO", 60, {"block": 256, "grid": 3}),
        ("three-opt", "GEO", 60, {"jobs": 100}),
        ("swap", "GEO", 60, {"block": 1024, "grid": 9}),
        ("swap", "GEO", 60, {"jobs": 7}),
        ("relocate", "GEO", 60, {"block": 256, "grid": 3}),
        ("relocate", "GEO", 60, {"jobs": 100}),
    ],
)
def test_launches_change_nothing(method: str, metric: str, n: int, params: dict[str, object]) -> None:
    problem = instance(metric, n)
    ours, other = (
        warptsp.solve(problem, method=method, start="given", device="cuda", params=asked)
        for asked in ({}, params)
    )
    if problem.integral:
        assert (other.tour == ours.tour).all()
    assert method == "three-opt" or is_optimal(problem, other.tour, method)
    assert other.counters["evaluations"] == other.counters["passes"] * NEIGHBORHOODS[method].moves(n)


@pytest.mark.gpu
@pytest.mark.parametrize("passes", [1, 7, 100])
@pytest.mark.parametrize("metric", ["EUC_2D", "CEIL_2D", "FLOOR_2D", "ATT"])
def test_a_launch_goes_on_where_the_last_one_ended(gpu: Device, metric: str, passes: int) -> None:
    problem = instance(metric, 700)
    whole = warptsp.solve(problem, method="two-opt", start="given", device="cuda")
    assert whole.counters["passes"] > 200
    start = Start.of(problem, np.arange(700, dtype=np.int32), Sought((TWO_OPT,)), _native.StopToken())
    descent = CudaDescent(gpu, start)
    while not descent.proceed(0.1, passes, _native.StopToken()):
        pass
    assert (start.instance.open(descent.tour()) == whole.tour).all()
    assert descent.counters()["passes"] == whole.counters["passes"]
    if metric != "ATT":  # where single precision rounds some distances the other way
        on_cpu = warptsp.solve(problem, method="two-opt", start="given", device="cpu")
        assert (on_cpu.tour == whole.tour).all()


@pytest.mark.gpu
def test_tours_longer_than_shared_memory_in_ranges() -> None:
    problem = instance("EUC_2D", 60_000)
    tours = [
        warptsp.solve(
            problem,
            method="two-opt",
            start="greedy",
            device="cuda",
            params={**params, "passes": 3},
            bound=False,
        ).tour
        for params in ({}, {"block": 1024}, {"range_size": 3000})
    ]
    assert (tours[0] == tours[1]).all()
    assert (tours[0] == tours[2]).all()


KEPT = {"fixed": (20, 21), "before": (5, 30, 30, 31)}
FIXED = {"fixed_edges": [(3, 4), (10, 11)]}


@pytest.mark.gpu
@pytest.mark.parametrize("version", range(1, 9))
@pytest.mark.parametrize(
    ("problem", "params"),
    [
        *((instance(kind, n), {}) for kind in ("EXACT_2D", "GEO", "whole") for n in (4, 5, 33, 150)),
        (instance("EUC_2D", 60), KEPT),
        (instance("EUC_2D", 60, open=OpenPath(3, 7), **FIXED), {}),
    ],
)
def test_versions_of_swaps_make_the_same_moves(
    problem: Problem, params: dict[str, object], version: int
) -> None:
    start = "given" if problem.open is None else "greedy"
    ours, *others = (
        warptsp.solve(problem, method="swap", start=start, device="cuda", params={**params, **asked})
        for asked in ({}, {"version": version}, {"version": version, "block": 64, "grid": 3})
    )
    for other in others:
        assert (other.tour == ours.tour).all()
        for name in ("passes", "evaluations"):
            assert other.counters[name] == ours.counters[name]


def test_versions_of_swaps_have_limits() -> None:
    with pytest.raises(
        InvalidOption, match=r"^version 8 is a GPU kernel; use device cuda, or leave version out$"
    ):
        warptsp.solve(instance("EUC_2D", 20), method="swap", device="cpu", params={"version": 8})
    for version, most in ((1, 4098), (6, 4098), (7, 5794)):
        check_size(version, most)
        with pytest.raises(UnsupportedProblem, match=rf"wrong above {most} cities, and there are 10000;"):
            check_size(version, 10_000)
    check_size(8, 10_000)


@pytest.mark.parametrize("where", ["sm_90", pytest.param("cuda:0", marks=pytest.mark.gpu)])
@pytest.mark.parametrize(
    ("method", "n", "params", "words"),
    [
        ("two-opt", 2000, {}, "all passes in one launch"),
        ("two-opt", 50_000, {}, "single precision, decided in double"),
        (
            "two-opt",
            500,
            {"block": 128, "grid": 9},
            "a launch of 9 blocks with 128 threads, 109 moves a thread",
        ),
        ("three-opt", 300, {}, "a pass of 17820400 moves"),
        ("swap", 300, {}, "double precision"),
        ("swap", 300, {"version": 1}, "version 1: a pass of 44551 moves in 64 blocks with 128 threads"),
        ("relocate", 300, {}, "relocate, a pass of 89100 moves"),
        ("vnd", 300, {"order": ("swap", "two-opt")}, "  two-opt, all passes in one launch"),
    ],
)
def test_explained_launches(
    request: pytest.FixtureRequest, method: str, n: int, params: dict[str, object], words: str, where: str
) -> None:
    if where.startswith("sm"):
        request.getfixturevalue("nvrtc")
    chosen = methods.METHODS[method]
    text = chosen.explain_launch(instance("EUC_2D", n), where, chosen.params(**params))
    assert words in text
    assert re.search(r"\d+ registers a thread; a multiprocessor runs \d+ blocks? at once, \d+ % of", text)


# Threads, registers and bytes of a block, by tables 4.8 to 4.13 of document 000 for another chip.
@pytest.mark.parametrize(
    ("block", "registers", "shared", "expected"),
    [
        (1024, 20, 0, (2, "threads")),
        (128, 20, 0, (16, "threads")),
        (32, 20, 0, (32, "blocks")),
        (512, 128, 0, (1, "registers")),
        (256, 20, 60_000, (3, "shared memory")),
    ],
)
def test_what_limits_the_blocks(block: int, registers: int, shared: int, expected: tuple[int, str]) -> None:
    occupancy = Occupancy.of(Chip.of("sm_90"), Used(registers), block, shared)
    assert (occupancy.blocks, occupancy.limit) == expected
    assert occupancy.share == expected[0] * block / 2048


@pytest.mark.gpu
def test_the_driver_counts_the_same_blocks(gpu: Device) -> None:
    for neighborhood in NEIGHBORHOODS.values():
        stage = Stage.of(gpu, instance("EUC_2D", 300), 300, neighborhood, Sought((neighborhood,)))
        for plan in (stage.exact, stage.main):
            counted = plan.kernel.blocks_per_multiprocessor(plan.block, plan.shared)
            assert Occupancy.of(gpu, plan.kernel, plan.block, plan.shared).blocks == counted


@pytest.mark.gpu
def test_launches_that_cannot_be() -> None:
    with pytest.raises(UnsupportedProblem, match="belong to a kernel for the plane"):
        warptsp.solve(instance("GEO", 60), method="two-opt", device="cuda", params={"block": 128})
    points = unit_points(60_000)
    with pytest.raises(UnsupportedProblem, match="cities, not 60000; leave it out"):
        warptsp.solve(points, method="two-opt", device="cuda", params={"tour_order": False})
    with pytest.raises(UnsupportedProblem, match="cities, not of 50000; give a smaller one"):
        warptsp.solve(points, method="two-opt", device="cuda", params={"range_size": 50_000})
    with pytest.raises(UnsupportedProblem, match="too many for a GPU, whose maximum is 10000;"):
        warptsp.solve(points, method="three-opt", device="cuda")


@pytest.mark.gpu
@pytest.mark.parametrize("n", [20, 200, 1500, 3500, 9000])
@pytest.mark.parametrize("metric", ["EUC_2D", "CEIL_2D", "FLOOR_2D", "ATT", "EXACT_2D"])
def test_long_tours_on_a_gpu(metric: str, n: int) -> None:
    """Tours in shared memory and in tiles: what is left is 2-optimal in double precision."""
    problem = instance(metric, n)
    start = "greedy" if n > 2000 else "random"
    result = warptsp.solve(problem, method="two-opt", start=start, device="cuda", bound=False)
    assert result.stop_reason == "the search is complete"
    again = warptsp.solve(problem, method="two-opt", start=result.tour, device="cpu", params={"passes": 1})
    assert again.counters["moves"] == 0
    tour = result.tour
    assert result.length == pytest.approx(problem.length(tour), rel=1e-12)


@pytest.mark.gpu
def test_tiles_of_links_that_alternate() -> None:
    """Links long and short in turn cannot be folded into distances (two_opt_tiles.h)."""
    n = 18_000
    for seed in range(3):
        points = whole_points(n, seed, side=40_000)
        points[:, 0] += np.where((np.arange(n) + seed) // 2 % 2, 1_400_000, 0)  # two here, two there
        points[-1, 1] = 1_500_000
        problem = Problem.from_points(points, "EUC_2D")
        lengths = [
            warptsp.solve(
                problem,
                method="two-opt",
                start="given",
                device=device,
                params={"passes": 1},
            ).length
            for device in ("cuda", "cpu")
        ]
        # Single precision may take one distance of a million for the next whole number.
        assert lengths[1] <= lengths[0] <= lengths[1] + 4


# Numbers of moves: native/test_descent.cpp has all others


COUNT_WRONG_TRIPLES = """\
#include "papers/exhaustive/move_numbers.h"
using namespace warptsp;
using namespace warptsp::exhaustive;
// Every triple of positions below n from its number, against loops.
extern "C" __global__ void count_wrong(int n, unsigned long long *wrong) {
  for (int k = 2 + blockIdx.x; k < n; k += gridDim.x)
    for (int j = 1 + threadIdx.x; j < k; j += blockDim.x)
      for (int i = 0; i < j; ++i) {
        const MoveNumber number = triples_below(k) + pairs_below(j) + i;
        const Triple t = triple_of(number);
        if (t.i != i || t.j != j || t.k != k || number_of(t) != number) atomicAdd(wrong, 1ull);
        if (k == n - 1 && j == k - 1 && i == j - 1) atomicAdd(wrong + 1, number);
      }
}
"""


@pytest.mark.gpu
def test_every_triple_number_on_a_gpu(gpu: Device, tmp_path: Path) -> None:
    n = 2000
    (tmp_path / "triples.cu").write_text(COUNT_WRONG_TRIPLES)
    kernel = gpu.module(Source(tmp_path / "triples.cu", ("count_wrong",), fmad=False)).kernel("count_wrong")
    wrong = gpu.zeros(2, np.uint64)
    kernel.launch(n, 256, np.int32(n), wrong)
    assert wrong.download().tolist() == [0, n * (n - 1) * (n - 2) // 6 - 1]
