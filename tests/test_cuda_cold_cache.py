"""The first run on a machine: kernels are not compiled yet, and the time limit holds all the same."""

from __future__ import annotations

import logging
import threading
import time

import numpy as np
import pytest
from pretended_driver import H200

import warptsp
from warptsp.backends.cuda import cache, compiler
from warptsp.backends.cuda import device as cuda_device
from warptsp.backends.cuda.compiler import Compilation, not_cached
from warptsp.backends.cuda.search import kernel_sources
from warptsp.errors import BackendUnavailable
from warptsp.problem import OpenPath, Problem


@pytest.fixture
def slow_compiler(tmp_path, monkeypatch, pretend_gpus):
    """Compiling takes until the event that is returned is set."""
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path))
    monkeypatch.setattr(compiler, "_nvrtc", lambda: ((13, 0), [90]))
    monkeypatch.setattr(cuda_device, "nvrtc_version", lambda: (13, 0))
    go_on = threading.Event()

    def compiled(*arguments):
        assert go_on.wait(60)
        return cache.Code("cubin", b"", {})

    monkeypatch.setattr(compiler, "_compile", compiled)
    pretend_gpus(H200)
    yield go_on
    go_on.set()
    for thread in threading.enumerate():
        if thread.name == "warptsp-nvrtc":
            thread.join()


def problem(n=2000, **fields):
    return Problem.from_points(np.random.default_rng(n).integers(0, 1000, (n, 2)), "EUC_2D", **fields)


def files_of(given):
    return [source.file for source in kernel_sources(given)]


def test_what_a_run_compiles():
    assert files_of(problem()) == ["lk.cu", "geometry.cu", "candidates.cu", "candidates.cu"]
    assert files_of(problem(open=OpenPath())) == ["lk.cu", "geometry.cu"]
    assert files_of(Problem.from_matrix(np.ones((20, 20), int) - np.eye(20, dtype=int))) == ["lk.cu"]


def test_a_time_limit_that_ends_meanwhile(slow_compiler):
    begun = time.monotonic()
    result = warptsp.solve(problem(), device="cuda", time_limit=0.3)
    assert time.monotonic() - begun < 30  # it did not wait for the compiler
    assert result.device == "cuda:0"
    assert result.length < 1.3 * 0.7124 * np.sqrt(2000 * 1e6)  # a greedy tour at least
    problem().check_tour(result.tour)


@pytest.mark.parametrize(
    "method",
    ["two-opt", "swap", "neighbor-two-opt", "neighbor-three-opt", "ils", "symmetric-two-opt"],
)
def test_every_method_has_a_tour_meanwhile(slow_compiler, method):
    given = problem(300)
    result = warptsp.solve(given, device="cuda", method=method, time_limit=0.3)
    assert result.device == "cuda:0"
    given.check_tour(result.tour)


def test_the_cpu_searches_meanwhile(slow_compiler, caplog):
    result = warptsp.solve(problem(), device="cuda", callback=lambda event: event.kicks >= 4000)
    assert result.stop_reason == "the callback returned True"
    assert result.length < 1.06 * 0.7124 * np.sqrt(2000 * 1e6)  # greedy is at 1.2
    assert "the tour is the CPU's" in caplog.text


def test_the_cpu_s_search_ends_with_the_compiler(slow_compiler, monkeypatch):
    def opened(ordinal):
        raise BackendUnavailable("opened")

    monkeypatch.setattr(cuda_device.Device, "open", opened)

    def ready(event):
        if event.kicks > 0:
            slow_compiler.set()

    with pytest.raises(BackendUnavailable, match="opened") as caught:
        warptsp.solve(problem(), device="cuda", callback=ready)
    problem().check_tour(caught.value.result.tour)


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
    def faulty(*arguments):
        raise BackendUnavailable("NVRTC does not compile it")

    monkeypatch.setattr(compiler, "_compile", faulty)
    with pytest.raises(BackendUnavailable, match="does not compile it") as caught:
        warptsp.solve(problem(), device="cuda", time_limit=20)
    assert caught.value.result.tour is not None
