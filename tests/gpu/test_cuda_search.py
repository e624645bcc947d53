"""The main solver on a GPU: true lengths, valid tours, limits that hold, the same tour from the same seed."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np
import pytest
from test_cuda_geometry import KINDS, cloud

import warptsp
from warptsp import Problem, stop
from warptsp.backends.beside import Beside
from warptsp.backends.cuda import tuning as cuda_tuning
from warptsp.backends.cuda.device import Device
from warptsp.backends.cuda.launch_plan import explain_launch, needed_bytes, plan_launch
from warptsp.backends.cuda.tuning import MAX_PART
from warptsp.generate import dimacs
from warptsp.methods.lk import population_cuda, tuning
from warptsp.problem import Metric, OpenPath

if TYPE_CHECKING:
    from warptsp import Result

pytestmark = pytest.mark.gpu


def uniform(n: int) -> Problem:
    return Problem.from_points(np.rint(1e4 * cloud("uniform", n)), "EUC_2D")


@pytest.mark.parametrize("kind", KINDS[:-1])
@pytest.mark.parametrize("n", [10, 37, 1009, 3500])
def test_any_places(kind: str, n: int) -> None:
    points = np.rint(1e4 * cloud(kind, n)) if kind == "uniform" else cloud(kind, n)
    problem = Problem.from_points(points, "EUC_2D" if kind in ("uniform", "lattice") else "EXACT_2D")
    result = warptsp.solve(problem, device="cuda", kicks=2 * n, seed=3)
    problem.check_tour(result.tour)
    assert result.device == "cuda:0"
    assert result.length == pytest.approx(problem.length(result.tour), rel=1e-12)
    assert result.length <= result.history[0].length * (1 + 1e-12)


def instance(metric: str, n: int, **fields: object) -> Problem:
    """Random cities, of which each kind of distance makes something sensible."""
    random = np.random.default_rng(n)
    points = random.integers(0, 10_000, (n, Metric[metric].dimensions or 2)).astype(float)
    match metric:
        case "GEO" | "GREAT_CIRCLE":
            points = random.uniform((-60, -170), (60, 170), (n, 2)).round(2)
        case "XRAY1" | "XRAY2":
            points = points * 0.036 - (180.0, 0.0, 0.0)
        case "EXPLICIT":
            away = points[:, None] - points[None, :]
            matrix = np.hypot(away[..., 0], away[..., 1])
            kind = fields.pop("kind", "int")
            return Problem.from_matrix(matrix.round().astype(int) if kind == "int" else matrix, **fields)
    return Problem.from_points(points, metric, **fields)


@pytest.mark.parametrize("metric", [metric.name for metric in Metric])
@pytest.mark.parametrize("n", [13, 2500])
def test_as_good_as_the_cpu_in_every_metric(metric: str, n: int) -> None:
    problem = instance(metric, n)
    cpu = warptsp.solve(problem, device="cpu", kicks=2500, threads=1)
    gpu = warptsp.solve(problem, device="cuda", kicks=20 * n)
    problem.check_tour(gpu.tour)
    assert gpu.device == "cuda:0"
    assert gpu.length == pytest.approx(problem.length(gpu.tour), rel=1e-12)
    assert gpu.history[-1].length == pytest.approx(gpu.length, rel=1e-9)
    assert gpu.length <= 1.02 * cpu.length


def test_a_matrix_of_real_numbers() -> None:
    problem = instance("EXPLICIT", 2000, kind="real")
    plane = instance("EXACT_2D", 2000)
    found = warptsp.solve(problem, device="cuda", kicks=40_000)
    other = warptsp.solve(plane, device="cuda", kicks=40_000)
    assert found.length <= 1.02 * other.length


CONSTRAINTS = {
    "free ends": {"open": OpenPath()},
    "one end": {"open": OpenPath(start=5)},
    "two ends": {"open": OpenPath(start=5, end=11)},
    "fixed edges": {"fixed_edges": [(0, 1), (1, 2), (7, 300), (4, 5), (900, 12)]},
    "many fixed edges": {"fixed_edges": [(k, k + 1) for k in range(0, 950, 3)]},
    "both": {"fixed_edges": [(0, 1), (1, 2), (7, 300)], "open": OpenPath(start=5)},
}


@pytest.mark.parametrize("constraint", CONSTRAINTS)
@pytest.mark.parametrize("metric", ["EUC_2D", "GREAT_CIRCLE", "EXPLICIT"])
@pytest.mark.parametrize("n", [960, 3000])
def test_open_paths_and_fixed_edges(constraint: str, metric: str, n: int) -> None:
    problem = instance(metric, n, **CONSTRAINTS[constraint])
    cpu = warptsp.solve(problem, device="cpu", kicks=n, threads=1)
    gpu = warptsp.solve(problem, device="cuda", kicks=20 * n)
    problem.check_tour(gpu.tour)  # has the ends and the edges
    assert gpu.history[-1].length == pytest.approx(gpu.length, rel=1e-9)
    assert gpu.length <= 1.02 * cpu.length


@pytest.mark.parametrize("n", [700, 4000])
def test_same_seed_same_tour(n: int) -> None:
    problem = uniform(n)
    tours = [warptsp.solve(problem, device="cuda", kicks=10 * n, seed=seed).tour for seed in (5, 5, 6)]
    assert (tours[0] == tours[1]).all()
    assert (tours[0] != tours[2]).any()


def test_populations_do_better_than_one_tour() -> None:
    problem = dimacs("E3k.0")
    runs = [warptsp.solve(problem, device="cuda", kicks=60 * problem.n, seed=4) for _ in range(2)]
    assert (runs[0].tour == runs[1].tour).all()
    alone = warptsp.solve(problem, device="cuda", kicks=60 * problem.n, seed=4, params={"population": 0})
    assert runs[0].length < alone.length
    problem.check_tour(runs[0].tour)


def solved_in_six_seconds(problem: Problem) -> tuple[Result, list[str]]:
    """The result, whose tour is checked, and the phases in which there were reports."""
    phases: list[str] = []
    result = warptsp.solve(
        problem, device="cuda", time_limit=6.0, callback=lambda progress: phases.append(progress.phase)
    )
    problem.check_tour(result.tour)
    assert result.length == problem.length(result.tour)
    return result, phases


def test_long_tours_have_populations(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = uniform(20_000)
    warptsp.solve(problem, device="cuda", time_limit=12.0)  # kernels are in the cache now
    monkeypatch.setattr(tuning, "GPU_MAX_MEMBER_CITIES", 30 * problem.n)
    monkeypatch.setattr(tuning, "GPU_CROSSING", 1e-7)  # however few threads there are
    result, phases = solved_in_six_seconds(problem)
    assert phases.index("search") < phases.index("population") < phases.index("crossover")
    monkeypatch.undo()
    alone = warptsp.solve(problem, device="cuda", time_limit=6.0, params={"population": 0})
    assert result.length < alone.length


def test_the_gpu_searches_while_members_are_crossed(monkeypatch: pytest.MonkeyPatch) -> None:
    polished: list[int] = []
    begin = population_cuda.Polish.begin

    def noted(self: population_cuda.Polish, tour: np.ndarray) -> None:
        polished.append(len(tour))
        begin(self, tour)

    monkeypatch.setattr(population_cuda.Polish, "begin", noted)
    monkeypatch.setattr(cuda_tuning, "MIN_ORDERED", 1)  # as if it were long
    monkeypatch.setattr(tuning, "GPU_CROSSING", 1e-7)  # however few threads there are
    monkeypatch.setattr(tuning, "GPU_POLISH", 1)
    problem = uniform(20_000)
    warptsp.solve(problem, device="cuda", time_limit=12.0)  # kernels are in the cache now
    polished.clear()
    solved_in_six_seconds(problem)
    assert len(polished) > 1  # what became of the first one was taken back
    assert set(polished) == {problem.n}
    polished.clear()
    warptsp.solve(problem, device="cuda", kicks=60 * problem.n, time_limit=60.0)
    assert not polished  # a limit on kicks means the same tour, however long anything takes


def test_an_exception_while_members_are_crossed(monkeypatch: pytest.MonkeyPatch) -> None:
    crossing: list[Beside] = []
    until = population_cuda.Polish.until

    def fail(self: population_cuda.Polish, generations: Beside) -> tuple[bool, int]:
        crossing.append(generations)
        if len(crossing) == 3:
            raise KeyboardInterrupt
        return until(self, generations)

    problem = uniform(20_000)
    warptsp.solve(problem, device="cuda", time_limit=12.0)  # kernels are in the cache now
    monkeypatch.setattr(population_cuda.Polish, "until", fail)
    monkeypatch.setattr(cuda_tuning, "MIN_ORDERED", 1)  # as if it were long
    monkeypatch.setattr(tuning, "GPU_CROSSING", 1e-7)  # however few threads there are
    tours: list[np.ndarray] = []
    with pytest.raises(KeyboardInterrupt):
        warptsp.solve(
            problem, device="cuda", time_limit=6.0, callback=lambda progress: tours.append(progress.tour())
        )
    assert crossing[-1].is_done()  # only then the best tour was asked for
    problem.check_tour(tours[-1])


def test_long_edges_are_searched_while_members_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "GPU_CROSSING", 1e-7)  # however few threads there are
    problem = dimacs("C31k.0")
    warptsp.solve(problem, device="cuda", time_limit=12.0)  # kernels are in the cache now
    crossed: list[bool] = []
    cross = population_cuda.GpuPopulation.cross

    def noted(self: population_cuda.GpuPopulation, *arguments: object, **options: bool) -> bool:
        crossed.append(options["long_links"])
        return cross(self, *arguments, **options)

    monkeypatch.setattr(population_cuda.GpuPopulation, "cross", noted)
    solved_in_six_seconds(uniform(20_000))
    assert crossed
    assert not any(crossed)
    crossed.clear()
    _, phases = solved_in_six_seconds(problem)
    assert crossed
    assert all(crossed)  # and then among those of members
    assert phases.index("population") < phases.index("search") < phases.index("crossover")
    kicked = [warptsp.solve(problem, device="cuda", kicks=20 * problem.n, seed=3) for _ in range(2)]
    assert (kicked[0].tour == kicked[1].tour).all()


@pytest.mark.parametrize("limit", [0.02, 0.5, 2.0])
def test_the_tour_of_a_time_limit_is_whole(limit: float) -> None:
    problem = dimacs("E100k.0")
    warptsp.solve(problem, device="cuda", time_limit=1.0)  # kernels are in the cache now
    result = warptsp.solve(problem, device="cuda", time_limit=limit)
    problem.check_tour(result.tour)
    assert result.length == problem.length(result.tour)
    assert result.stop_reason == f"time limit of {limit:g} s"


def test_another_thread_stops_it() -> None:
    token = stop.StopToken()
    timer = threading.Timer(0.6, token.request)
    timer.start()
    result = warptsp.solve(dimacs("E31k.0"), device="cuda", stop=token)
    assert result.stop_reason == "stop requested"


@pytest.mark.parametrize("start", ["greedy", "space-filling", "random", "given"])
def test_starts(start: str) -> None:
    problem = uniform(2000)
    result = warptsp.solve(problem, device="cuda", start=start, kicks=20_000)
    problem.check_tour(result.tour)
    better = warptsp.solve(problem, device="cuda", start=result.tour, kicks=2000)
    assert better.length <= result.length


@pytest.mark.parametrize("metric", [metric.name for metric in Metric if metric.spatial])
@pytest.mark.parametrize("kind", ["uniform", "clusters"])
def test_space_is_set_up_on_the_gpu(metric: str, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from warptsp.methods.lk.cuda_setup import SetUp

    random = np.random.default_rng(1)
    points = 1e4 * random.random((20_000, 3))
    if kind == "clusters":
        points = points[random.integers(0, 100, len(points))] + random.normal(size=points.shape) * 30
    problem = Problem.from_points(np.round(points), metric)
    options = {"kicks": 10 * problem.n, "params": {"population": 0}}
    monkeypatch.setattr(SetUp, "_on_cpu", None)
    result = warptsp.solve(problem, device="cuda:0", **options)
    assert result.device == "cuda:0"
    assert result.length == problem.length(result.tour)
    assert result.length < 1.04 * warptsp.solve(problem, device="cpu", **options).length


def test_progress_and_checkpoint(tmp_path) -> None:  # type: ignore[no-untyped-def]
    events = []
    problem = dimacs("E10k.0")
    file = tmp_path / "checkpoint.tour"
    result = warptsp.solve(
        problem,
        device="cuda",
        time_limit=1.0,
        callback=lambda event: events.append((event.length, len(event.tour()))) and None,
        checkpoint=file,
        checkpoint_interval=0.1,
    )
    assert len(events) > 5
    assert all(size == problem.n for _, size in events)
    lengths = [length for length, _ in events]
    assert lengths == sorted(lengths, reverse=True)
    assert warptsp.solve(problem, device="cuda", start=file, kicks=1000).length <= result.length


@pytest.mark.parametrize("n", [2000, 20_000, 300_000])
@pytest.mark.parametrize("metric", ["EUC_2D", "EXACT_3D"])
def test_memory(metric: str, n: int) -> None:
    problem = instance(metric, n)
    result = warptsp.solve(problem, device="cuda", kicks=n, params={"population": 0})
    assert 0 < result.counters["device_bytes"] <= needed_bytes(problem)
    if n > 100_000:
        assert result.counters["device_bytes"] > 0.75 * (needed_bytes(problem) - (64 << 20))


def test_the_plan_fits_the_gpu(gpu: Device) -> None:
    for n in (100, 1000, 5000, 100_000, 1_000_000, 50_000_000):
        plan = plan_launch(gpu, Metric.EUC_2D, n)
        assert plan.parts * plan.cities >= n
        assert plan.cities <= MAX_PART
        assert plan.local_bytes <= 64  # a few registers may spill (CUDA 13.0 does so), no array may
        assert plan.resident * plan.cities > 0
    assert "waves" in explain_launch(dimacs("E1k.0"), "cuda:0")
