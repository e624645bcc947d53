"""``warptsp devices --compile``: the cache is filled before the first run."""

import json
import os
import re
import threading

import numpy as np
import pytest
from calls import invoke, raising
from instances import whole_points
from pretended_driver import H200
from processes import run_python

from warptsp import Problem
from warptsp.backends.cuda import cache, compiler, launch_plan
from warptsp.backends.cuda import device as cuda_device
from warptsp.backends.cuda.compiler import not_cached
from warptsp.cli import run as run_command
from warptsp.errors import BackendUnavailable, InvalidOption
from warptsp.methods import METHODS
from warptsp.methods.builds import methods_with_kernels, sources_of


@pytest.fixture
def compiled(tmp_path, monkeypatch):
    """A compiler that makes nothing; what it was asked for."""
    asked = []

    def compile_it(job):
        asked.append((job.name, job.arch))
        return cache.Code("cubin", b"", {})

    monkeypatch.setenv(cache.VARIABLE, str(tmp_path))
    monkeypatch.setattr(compiler, "_nvrtc", lambda: ((13, 0), [80, 90]))
    monkeypatch.setattr(cuda_device, "nvrtc_version", lambda: (13, 0))
    monkeypatch.setattr(compiler, "_compile", compile_it)
    return asked


def compile_all(*arguments):
    return invoke("devices", "--compile", *arguments)


def test_every_method_on_gpus_is_compiled_for():
    assert methods_with_kernels() == [name for name in METHODS if "cuda" in METHODS[name].devices]


def test_what_a_run_needs_is_there_afterwards(compiled, tmp_path):
    done = compile_all("--arch", "sm_90", "--method", "lk", "--metric", "EUC_2D")
    assert done.exit_code == 0, done.output
    points = np.random.default_rng(0).integers(0, 1000, (2000, 2))
    problem = Problem.from_points(points, "EUC_2D")
    assert not_cached(launch_plan.kernel_sources(problem), (9, 0)) == []
    assert not_cached(launch_plan.kernel_sources(problem), (8, 0)) != []
    assert re.search(rf"^6 compiled, 0 were there; .* s; {tmp_path}/kernels$", done.output, re.M)
    assert "sm_90   lk.cu " in done.output
    again = compile_all("--arch", "9.0", "--method", "lk", "--metric", "EUC_2D")
    assert "\n0 compiled, " in again.output
    assert "in the cache" in again.output


def test_all_of_it_fits_into_the_cache(compiled):
    done = compile_all("--arch", "sm_90", "--json")
    modules = json.loads(done.stdout)["modules"]
    assert {module["architecture"] for module in modules} == {"sm_90"}
    assert all(module["seconds"] >= 0 and module["error"] is None for module in modules)
    assert len(modules) == len(compiled) == len(list(cache.folder().iterdir())) < cache.MAX_ENTRIES / 2
    assert not_cached(sources_of(methods_with_kernels(), ["EUC_2D", "GREAT_CIRCLE"]), (9, 0)) == []


def test_the_gpus_that_are_here(compiled, pretend_gpus):
    pretend_gpus(H200, H200)
    assert compile_all("--method", "two-opt").exit_code == 0
    assert {arch for _, arch in compiled} == {"sm_90"}
    assert len(compiled) == len(list(cache.folder().iterdir()))  # once for both


def test_a_fault_is_told_and_the_others_go_on(compiled, monkeypatch):
    real = compiler._compile

    def faulty(job):
        if job.name == "geometry.cu":
            raise BackendUnavailable("NVRTC does not compile it")
        return real(job)

    monkeypatch.setattr(compiler, "_compile", faulty)
    done = compile_all("--arch", "sm_90", "--method", "lk", "--metric", "EUC_2D")
    assert done.exit_code == 0  # of click; the status is what the command returns
    assert "geometry.cu        NVRTC does not compile it" in done.output
    assert ", 1 failed;" in done.output
    assert run_command(["devices", "--compile", "--arch", "sm_90", "--method", "lk"]) == 2


def test_ctrl_c_keeps_what_is_compiled(compiled, monkeypatch):
    real, begun = compiler._compile, []

    def slow(*arguments):
        begun.append(threading.current_thread())
        return real(*arguments)

    monkeypatch.setattr(compiler, "_compile", slow)
    sources = [(source, (9, 0)) for source in sources_of(["lk"], ["EUC_2D"])]
    compiling = compiler.compile_all(sources, 1)
    next(compiling)
    compiling.close()  # as the command does when Ctrl-C is raised
    assert not any(thread.is_alive() for thread in begun)
    kept = len(sources) - len(not_cached([source for source, _ in sources], (9, 0)))
    assert 1 <= kept == len(begun)


def test_without_a_compiler(tmp_path, monkeypatch):
    missing = BackendUnavailable("NVRTC, CUDA's run-time compiler, is missing")
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path))
    monkeypatch.setattr(compiler, "_nvrtc", raising(missing))
    assert "is missing" in str(compile_all("--arch", "sm_90").exception)


def test_a_process_that_has_not_imported_the_compiler(nvrtc, tmp_path):
    """Several threads that import cuda.core at once see half a module."""
    arguments = ["devices", "--compile", "--arch", "sm_90", "--method", "two-opt", "--metric", "EUC_2D"]
    environment = {**os.environ, cache.VARIABLE: str(tmp_path)}
    done = run_python("-m", "warptsp", *arguments, "--json", env=environment, check=True)
    modules = json.loads(done.stdout)["modules"]
    assert len(modules) > 1
    assert all(module["seconds"] > 0 for module in modules)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("devices --arch sm_90", "--arch: it says what --compile compiles"),
        ("devices --method lk", "--method: it says what --compile compiles"),
        ("devices --compile --arch hopper", "--arch: 'hopper' is not an architecture such as sm_90"),
        ("devices --compile --arch sm_90 --method exact", "method: 'exact' has no kernels"),
        ("devices --compile --arch sm_90 --metric MILES", "unknown metric 'MILES'"),
    ],
)
def test_what_cannot_be(compiled, line, message):
    failed = invoke(*line.split())
    assert isinstance(failed.exception, InvalidOption)
    assert message in str(failed.exception)


def test_no_gpu_and_no_architecture(compiled, no_driver):
    failed = compile_all()
    assert isinstance(failed.exception, BackendUnavailable)
    assert "--arch sm_90 compiles for a GPU that is elsewhere" in str(failed.exception)


def test_no_cache(compiled, monkeypatch):
    monkeypatch.setenv(cache.VARIABLE, "")
    assert "so that nothing is kept" in str(compile_all("--arch", "sm_90").exception)


@pytest.mark.gpu
def test_a_run_after_it_compiles_nothing(gpu, tmp_path, monkeypatch):
    import warptsp

    monkeypatch.setenv(cache.VARIABLE, str(tmp_path))
    done = compile_all("--metric", "EUC_2D")
    assert done.exit_code == 0, done.output
    monkeypatch.setattr(compiler, "_compile", None)
    problem = Problem.from_points(whole_points(500), "EUC_2D")
    for method in methods_with_kernels():
        assert warptsp.solve(problem, device="cuda", method=method, time_limit=2).device == "cuda:0"
