"""The main solver on a GPU: true lengths, valid tours, limits that hold, the same tour from the same seed."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import numpy as np
import pytest

import warptsp
from warptsp import Problem, stop
from warptsp.generate import dimacs
from warptsp.problem import Metric

if TYPE_CHECKING:
    from warptsp.backends.cuda.device import Device

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("gpu")]


def places(kind: str, n: int) -> np.ndarray:
    random = np.random.default_rng(n)
    match kind:
        case "uniform":
            return random.integers(0, 10_000, (n, 2)).astype(float)
        case "small steps":
            return random.random((n, 2)) * 1e-9
        case "far away":
            return 1e12 + random.integers(0, 10**6, (n, 2)).astype(float)
        case "lattice":
            return np.stack(np.divmod(np.arange(n), 40), axis=1).astype(float)
        case "duplicates":
            return random.integers(0, 5, (n, 2)).astype(float)
        case "line":
            return np.stack([random.integers(0, 10 * n, n), np.zeros(n)], axis=1).astype(float)
        case "one place":
            return np.full((n, 2), 3.25)
        case "clusters":
            return 1e5 * random.random((12, 2))[random.integers(0, 12, n)] + random.normal(size=(n, 2))
    raise AssertionError(kind)


KINDS = ["uniform", "small steps", "far away", "lattice", "duplicates", "line", "one place", "clusters"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [10, 37, 1000, 1009, 3500])
def test_any_places(kind: str, n: int) -> None:
    problem = Problem.from_points(places(kind, n), "EUC_2D" if kind in ("uniform", "lattice") else "EXACT_2D")
    result = warptsp.solve(problem, device="cuda", kicks=2 * n, seed=3)
    problem.check_tour(result.tour)
    assert result.device == "cuda:0"
    assert result.length == pytest.approx(problem.length(result.tour), rel=1e-12)
    assert result.length <= result.history[0].length * (1 + 1e-12)


@pytest.mark.parametrize("metric", ["EUC_2D", "CEIL_2D", "FLOOR_2D", "EXACT_2D", "ATT"])
def test_as_good_as_the_cpu_in_every_metric(metric: str) -> None:
    problem = Problem.from_points(places("uniform", 2500), metric)
    cpu = warptsp.solve(problem, device="cpu", kicks=2500, threads=1)
    gpu = warptsp.solve(problem, device="cuda", kicks=50_000)
    assert gpu.length <= 1.02 * cpu.length


@pytest.mark.parametrize("n", [700, 4000])
def test_same_seed_same_tour(n: int) -> None:
    problem = Problem.from_points(places("uniform", n), "EUC_2D")
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


@pytest.mark.parametrize("limit", [0.02, 0.5, 2.0])
def test_a_time_limit_is_kept_and_the_tour_is_whole(limit: float) -> None:
    problem = dimacs("E100k.0")
    warptsp.solve(problem, device="cuda", time_limit=1.0)  # kernels are in the cache now
    result = warptsp.solve(problem, device="cuda", time_limit=limit)
    problem.check_tour(result.tour)
    assert result.length == problem.length(result.tour)


def test_another_thread_stops_it() -> None:
    token = stop.StopToken()
    timer = threading.Timer(0.6, token.request)
    timer.start()
    begun = time.monotonic()
    result = warptsp.solve(dimacs("E31k.0"), device="cuda", stop=token)
    assert time.monotonic() - begun < 20
    assert result.stop_reason == "stop requested"


@pytest.mark.parametrize("start", ["greedy", "space-filling", "random", "given"])
def test_starts(start: str) -> None:
    problem = Problem.from_points(places("uniform", 2000), "EUC_2D")
    result = warptsp.solve(problem, device="cuda", start=start, kicks=20_000)
    problem.check_tour(result.tour)
    better = warptsp.solve(problem, device="cuda", start=result.tour, kicks=2000)
    assert better.length <= result.length


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


def test_the_plan_fits_the_gpu(gpu: Device) -> None:
    from warptsp.backends.cuda.search import LARGEST_PART, explain_launch, plan_launch

    for n in (100, 1000, 5000, 100_000, 1_000_000, 50_000_000):
        plan = plan_launch(gpu, Metric.EUC_2D, n)
        assert plan.parts * plan.cities >= n
        assert plan.cities <= LARGEST_PART
        assert plan.local_bytes == 0
        assert plan.resident * plan.cities > 0
    assert "waves" in explain_launch(dimacs("E1k.0"), "cuda:0")
