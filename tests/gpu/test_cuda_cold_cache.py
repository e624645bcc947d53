"""The first run on a machine: kernels are not compiled yet, and the time limit holds all the same."""

import contextlib
import logging
import threading
import time

import numpy as np
import pytest
from calls import raising
from instances import whole_points
from pretended_driver import H200

import warptsp
from warptsp.backends.cuda import cache, compiler
from warptsp.backends.cuda import device as cuda_device
from warptsp.backends.cuda.compiler import Compilation, not_cached
from warptsp.backends.cuda.launch_plan import kernel_sources
from warptsp.errors import BackendUnavailable, DeviceFailure
from warptsp.methods import kernels
from warptsp.methods.lk import cuda as lk_cuda
from warptsp.methods.lk import tuning
from warptsp.papers.hill_climbing import cuda as climbers
from warptsp.papers.hill_climbing import cuda_plan
from warptsp.papers.neighbor_lists.search import NeighborSearch
from warptsp.problem import OpenPath, Problem


@pytest.fixture
def slow_compiler(tmp_path, monkeypatch, pretend_gpus):
    """Compiling takes until the event that is returned is set."""
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path))
    monkeypatch.setattr(compiler, "_nvrtc", lambda: ((13, 0), [90]))
    monkeypatch.setattr(cuda_device, "nvrtc_version", lambda: (13, 0))
    go_on = threading.Event()

    def compiled(*arguments):
        assert go_on.wait(600)
        return cache.Code("cubin", b"", {})

    monkeypatch.setattr(compiler, "_compile", compiled)
    monkeypatch.setattr(kernels, "_TOLD", set())
    pretend_gpus(H200)
    # Hill climbing asks the GPU which kernel to take.
    monkeypatch.setattr(cuda_device.Device, "open", lambda ordinal: contextlib.nullcontext())
    monkeypatch.setattr(cuda_plan, "best_version", lambda problem, device: "tuned")
    monkeypatch.setattr(cuda_plan, "check_version", lambda *arguments: None)
    monkeypatch.setattr(cuda_plan, "source_of", lambda *arguments: compiler.Source("climb.cu", ("f",)))
    yield go_on
    go_on.set()
    await_compiler()


def await_compiler():
    for thread in threading.enumerate():
        if thread.name == "warptsp beside a GPU":
            thread.join()


def opened(*arguments, **options):
    """In place of what opens the GPU, or begins on it."""
    raise DeviceFailure("the GPU was opened")


def problem(n=2000, **fields):
    return Problem.from_points(whole_points(n, n, side=max(1000, n // 10)), "EUC_2D", **fields)


def files_of(given):
    return [source.file for source in kernel_sources(given)]


def test_what_a_run_compiles():
    assert files_of(problem()) == ["lk.cu", "geometry.cu", "candidates.cu", "candidates.cu"]
    assert files_of(problem(open=OpenPath())) == ["lk.cu", "geometry.cu"]
    assert files_of(Problem.from_matrix(np.ones((20, 20), int) - np.eye(20, dtype=int))) == ["lk.cu"]


def test_a_time_limit_that_ends_meanwhile(slow_compiler):
    greedy = 1.3 * 0.7124 * np.sqrt(2000 * 1e6)
    for limit in (0.3, 3.0, 30.0):  # a busy machine takes longer for a first tour
        kernels._TOLD.clear()
        result = warptsp.solve(problem(), device="cuda", time_limit=limit)
        if result.length < greedy:
            break
    # The compiler is still at it.
    assert "warptsp beside a GPU" in [thread.name for thread in threading.enumerate()]
    assert result.device == "cpu"  # what searched
    assert result.length < greedy
    problem().check_tour(result.tour)


ENDING = ["two-opt", "three-opt", "swap", "neighbor-two-opt", "neighbor-three-opt", "symmetric-two-opt"]


def start_of(given, method):
    """The length of what a run begins with."""
    start = "random" if method == "hill-climbing" else "greedy"
    return warptsp.solve(given, method="construct", start=start).length


@pytest.mark.parametrize("method", ENDING)
def test_a_descent_of_the_cpu_is_the_gpu_s(slow_compiler, method, caplog):
    """It comes to the same local optimum, so nobody waits for kernels that are not needed any more."""
    given = problem(120)
    result = warptsp.solve(given, device="cuda", method=method)
    assert (result.device, result.stages[0].device) == ("cpu", "cpu")
    assert result.stop_reason == "the search is complete"
    np.testing.assert_array_equal(result.tour, warptsp.solve(given, device="cpu", method=method).tour)
    assert result.length < start_of(given, method)
    assert "its kernels were still being compiled" in caplog.text
    assert "seconds_on_cpu" not in result.counters  # which is for how long before the GPU


def test_the_warning_comes_once(slow_compiler, caplog):
    for _ in range(3):
        warptsp.solve(problem(120), device="cuda", method="two-opt")
    assert caplog.text.count("its kernels were still being compiled") == 1


@pytest.mark.parametrize("method", [*ENDING, "ils", "hill-climbing", "symmetric-annealing"])
def test_every_method_returns_what_the_cpu_found_meanwhile(slow_compiler, method):
    given = problem(300)
    begun = start_of(given, method)

    def enough(event):
        annealed = event.phase == "annealing"  # which is hot for most of the time
        return event.device == "cpu" and (annealed or event.length < begun)

    result = warptsp.solve(given, device="cuda", method=method, time_limit=60, callback=enough)
    assert result.device == "cpu"
    assert result.stop_reason == "the callback returned True"
    assert result.length < begun or method == "symmetric-annealing"
    given.check_tour(result.tour)


@pytest.mark.parametrize("method", [*ENDING, "ils", "hill-climbing", "symmetric-annealing", "lk"])
def test_the_gpu_takes_over_when_the_kernels_are_there(slow_compiler, monkeypatch, method):
    """With the tour of the CPU at hand, and with nothing of its counters."""
    given, told = problem(300), []
    if method == "hill-climbing":
        monkeypatch.setattr(climbers, "climbers_of", opened)
    else:
        monkeypatch.setattr(cuda_device.Device, "open", opened)

    def ready(event):
        told.append((event.device, event.phase))
        time.sleep(0.002)  # the counter has milliseconds
        slow_compiler.set()
        await_compiler()

    with pytest.raises(DeviceFailure, match="the GPU was opened") as caught:
        warptsp.solve(given, device="cuda", method=method, time_limit=60, callback=ready)
    result = caught.value.result
    assert all(device == "cpu" and phase != "compiling" for device, phase in told)
    assert result.device == "cuda:0"
    assert result.counters["seconds_on_cpu"] > 0
    assert set(result.counters) == {"kicks", "seconds_on_cpu"}
    assert "; the CPU for" in result.summary()
    given.check_tour(result.tour)


def test_iterated_search_goes_on_from_what_was_cut_short(slow_compiler, monkeypatch):
    """What the CPU came to between two kicks is no local optimum yet, and must not be said to be complete."""
    given, begun, at_hand = problem(300), [], []
    made = NeighborSearch.__init__

    def on_cpu(search, prepared, run, device, moves, **options):
        made(search, prepared, run, None, moves, **options)  # the host's search does the GPU's work
        if run.device.gpus:
            begun.append(given.length(search.instance.open(prepared.tour)))

    def callback(event):
        if event.device == "cpu" and event.kicks > 0:
            slow_compiler.set()
            await_compiler()
            at_hand[:] = [event.length]
        return len(begun) == 1 and event.phase == "search"

    monkeypatch.setattr(NeighborSearch, "__init__", on_cpu)
    result = warptsp.solve(given, device="cuda", method="ils", time_limit=60, callback=callback)
    assert result.device == "cuda:0"
    assert begun == at_hand
    assert result.length <= begun[0]


@pytest.mark.parametrize("method", ["symmetric-annealing", "ils", "lk"])
def test_a_tour_does_not_depend_on_the_compiler(slow_compiler, monkeypatch, method):
    """Where the clock does not decide, what the CPU finds meanwhile must not be in the result."""
    given, phases = problem(300), []
    steps = 1 if method == "ils" else 2  # a descent is what the GPU's search begins with

    def callback(event):
        phases.append(event.phase)
        return phases.count("compiling") == steps

    limit = {"params": {"rotations": 10**9}} if method == "symmetric-annealing" else {"kicks": 10**9}
    result = warptsp.solve(given, device="cuda", method=method, callback=callback, **limit)
    assert "annealing" not in phases
    assert "search" not in phases
    assert result.kicks == 0
    assert result.device == "cpu"


def test_the_cpu_searches_meanwhile(slow_compiler, caplog):
    result = warptsp.solve(problem(), device="cuda", callback=lambda event: event.kicks >= 4000)
    assert result.stop_reason == "the callback returned True"
    assert result.length < 1.06 * 0.7124 * np.sqrt(2000 * 1e6)  # greedy is at 1.2
    assert "the tour is the CPU's" in caplog.text


@pytest.mark.parametrize("stop", ["kicks", "cities"])
def test_a_tour_waits_where_the_cpu_does_not_search(slow_compiler, stop):
    phases = []

    def callback(event):
        phases.append(event.phase)
        return len(phases) == 2

    given = problem(2000 if stop == "kicks" else 100_000)
    result = warptsp.solve(given, device="cuda", kicks=10**9 if stop == "kicks" else None, callback=callback)
    assert phases == ["compiling", "compiling"]
    assert result.stop_reason == "the callback returned True"


def the_gpu_is_opened(monkeypatch, slow_compiler, given, **options):
    """Solve until the kernels are there, and return what there was then."""
    monkeypatch.setattr(cuda_device.Device, "open", opened)
    with pytest.raises(DeviceFailure, match="the GPU was opened") as caught:
        warptsp.solve(given, device="cuda", time_limit=600, **options)
    return caught.value


def test_a_start_tour_meanwhile_ends_with_the_compiler(slow_compiler, monkeypatch):
    """That of a billion cities takes minutes, for which the GPU must not wait."""

    def endless(problem, run, start, token):
        slow_compiler.set()
        while not token.stopped():
            token.poll()  # as native code does
            time.sleep(0.01)
        assert not run.token.stopped()

    monkeypatch.setattr(lk_cuda, "start_tour", endless)
    the_gpu_is_opened(monkeypatch, slow_compiler, problem(100_000))


def test_of_many_cities_there_is_none(slow_compiler, monkeypatch):
    monkeypatch.setattr(tuning, "GPU_MAX_START", 99_999)
    monkeypatch.setattr(lk_cuda, "start_tour", None)
    wait = kernels._wait
    monkeypatch.setattr(kernels, "_wait", lambda *arguments: slow_compiler.set() or wait(*arguments))
    the_gpu_is_opened(monkeypatch, slow_compiler, problem(100_000))


def test_of_many_cities_there_is_one_in_the_end(slow_compiler, monkeypatch):
    monkeypatch.setattr(tuning, "GPU_MAX_START", 99_999)
    result = warptsp.solve(problem(100_000), device="cuda", time_limit=1)
    assert result.device == "cpu"
    problem(100_000).check_tour(result.tour)


def test_auto_takes_the_cpu_for_a_short_run(slow_compiler, monkeypatch, caplog):
    monkeypatch.setattr(warptsp.devices, "choose", lambda problem, method, seconds: "cuda:0")
    with caplog.at_level(logging.WARNING):
        result = warptsp.solve(problem(), time_limit=0.3)
    assert result.device == "cpu"
    assert "its kernels are being compiled, for later runs" in caplog.text
    slow_compiler.set()


@pytest.mark.parametrize(
    "fields", [{}, {"fixed_edges": [(0, 1)]}, {"open": OpenPath(start=3)}], ids=["plain", "fixed", "open"]
)
def test_the_tour_meanwhile_is_one_of_the_problem(slow_compiler, fields):
    given = problem(300, **fields)
    given.check_tour(warptsp.solve(given, device="cuda", time_limit=0.1).tour)


def test_what_is_compiled_is_kept(slow_compiler):
    missing = not_cached(kernel_sources(problem()), (9, 0))
    assert len(missing) == 4
    slow_compiler.set()
    assert Compilation(missing, (9, 0)).wait(30)
    assert not_cached(kernel_sources(problem()), (9, 0)) == []


def test_nothing_helps_without_a_cache(slow_compiler, monkeypatch):
    monkeypatch.setenv(cache.VARIABLE, "")
    assert not_cached(kernel_sources(problem()), (9, 0)) == []


def test_what_cannot_be_compiled(slow_compiler, monkeypatch):
    monkeypatch.setattr(compiler, "_compile", raising(BackendUnavailable("NVRTC does not compile it")))
    with pytest.raises(BackendUnavailable, match="does not compile it") as caught:
        warptsp.solve(problem(), device="cuda", time_limit=20)
    assert caught.value.result.tour is not None


@pytest.mark.gpu
@pytest.mark.first_use
@pytest.mark.parametrize("method", [*ENDING, "ils", "hill-climbing", "symmetric-annealing", "lk"])
def test_a_first_use_of_a_gpu(gpu, tmp_path, monkeypatch, method):
    """An empty cache, and less time than the compiler takes, or enough of it."""
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path))
    given = problem(1500)
    short = warptsp.solve(given, device="cuda", method=method, time_limit=1.0)
    assert short.device in ("cpu", "cuda:0")
    assert short.length < start_of(given, method)
    await_compiler()
    assert list((tmp_path / "kernels").iterdir())
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "again"))
    long = warptsp.solve(problem(3000), device="cuda", method=method, time_limit=40.0)
    if long.device == "cuda:0":
        assert long.counters["seconds_on_cpu"] > 0
    else:  # the CPU was at the local optimum before
        assert method in ENDING
        assert long.stop_reason == "the search is complete"
    monkeypatch.undo()
    await_compiler()
