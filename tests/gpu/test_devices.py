"""Which device a run uses, and what is said about those there are."""

import json
import logging
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from pretended_driver import H200, PASCAL
from processes import run_code

import warptsp
from warptsp import cli
from warptsp.backends.cuda import device as cuda_device
from warptsp.devices import choose, resolve_device
from warptsp.errors import BackendUnavailable, DeviceFailure, InvalidOption, UnsupportedProblem
from warptsp.machine import Devices, memory
from warptsp.methods import METHODS
from warptsp.methods.lk.tuning import MIN_CITIES_OF_GPUS
from warptsp.problem import OpenPath, Problem

GPU_METHOD = replace(METHODS["lk"], min_gpu_cities=10)
CPU_METHOD = METHODS["construct"]
EXAMPLE = Path(__file__).parents[2] / "examples" / "E1k.0.tsp"


@pytest.fixture(autouse=True)
def packages(monkeypatch):
    """As if NVRTC for CUDA 13 were installed."""
    monkeypatch.setattr(cuda_device, "nvrtc_version", lambda: (13, 0))


def problem(n=12, metric="EUC_2D", **options):
    return Problem.from_points(np.random.default_rng(1).integers(0, 100, (n, 2)), metric=metric, **options)


def test_a_gpu_that_was_asked_for(pretend_gpus):
    pretend_gpus(H200, H200)
    assert resolve_device("cuda", problem(3), GPU_METHOD) == "cuda:0"
    assert resolve_device("cuda:1", problem(3), GPU_METHOD) == "cuda:1"
    assert resolve_device("cpu", problem(), GPU_METHOD) == "cpu"
    with pytest.raises(BackendUnavailable, match="cuda:2: there is no such GPU"):
        resolve_device("cuda:2", problem(), GPU_METHOD)


def test_several_gpus_that_were_asked_for(pretend_gpus):
    pretend_gpus(H200, H200, ("NVIDIA H100", (9, 0), 80 << 30))
    assert resolve_device("cuda:0,1", problem(3), GPU_METHOD) == "cuda:0,1"
    assert resolve_device("cuda:1,0", problem(3), GPU_METHOD) == "cuda:1,0"
    with pytest.raises(
        BackendUnavailable, match="cuda:3: there is no such GPU; there are cuda:0, cuda:1, cuda:2"
    ):
        resolve_device("cuda:0,3", problem(), GPU_METHOD)
    with pytest.raises(
        UnsupportedProblem, match=r"^device cuda:1,2: cuda:2 is a NVIDIA H100, and cuda:1 a NVIDIA"
    ):
        resolve_device("cuda:1,2", problem(), GPU_METHOD)
    with pytest.raises(
        UnsupportedProblem, match=r"^device cuda:1,0: method two-opt uses one GPU; name one, as in cuda:1$"
    ):
        resolve_device("cuda:1,0", problem(), METHODS["two-opt"])
    with pytest.raises(InvalidOption, match="device: 'cuda:1,1' names GPU 1 twice; name each once"):
        resolve_device("cuda:1,1", problem(), GPU_METHOD)


@pytest.mark.parametrize("device", ["cuda", "auto"])
def test_all_gpus_of_a_model_where_they_are_faster(pretend_gpus, device):
    large = problem(MIN_CITIES_OF_GPUS)
    pretend_gpus(H200)
    assert resolve_device(device, large, GPU_METHOD) == "cuda:0"
    pretend_gpus(H200, H200, ("NVIDIA H100", (9, 0), 80 << 30), H200)
    assert resolve_device(device, large, GPU_METHOD) == "cuda:0,1,3"
    assert resolve_device(device, problem(100_000), GPU_METHOD) == "cuda:0"
    assert resolve_device(device, large, METHODS["two-opt"]) == "cuda:0"


def test_a_gpu_that_cannot_be_used(pretend_gpus):
    pretend_gpus(PASCAL)
    with pytest.raises(BackendUnavailable, match=r"GTX 1080 .* capability 6\.1, and 7\.5 .* device cpu$"):
        warptsp.solve(problem(), device="cuda")
    pretend_gpus(H200, version=12020)
    with pytest.raises(BackendUnavailable, match=r"supports CUDA 12\.2, .* pip install 'warptsp\[cuda12\]'$"):
        warptsp.solve(problem(), device="cuda")
    pretend_gpus(H200, version=11040)
    with pytest.raises(BackendUnavailable, match=r"supports CUDA 11\.4, .*: update the driver$"):
        warptsp.solve(problem(), device="cuda")


NO_DEVICES = ["gpu", "CUDA", "cuda:", "cuda:x", "cuda:1.0", "cuda:0,", "cuda:,1", "cuda:0-1"]


@pytest.mark.parametrize("device", [*NO_DEVICES, "", None, 1, "cuda:0, 1"])
def test_what_is_no_device(device):
    with pytest.raises(InvalidOption, match="is unknown; there are auto, cpu, cuda"):
        resolve_device(device, problem(), GPU_METHOD)


@pytest.mark.parametrize(
    ("name", "kind", "gpus", "written"),
    [
        ("cpu", "cpu", (), "cpu"),
        ("cuda", "cuda", (0,), "cuda:0"),
        ("cuda:3", "cuda", (3,), "cuda:3"),
        ("cuda:2,0", "cuda", (2, 0), "cuda:2,0"),
    ],
)
def test_names_of_devices_are_parsed_once(name, kind, gpus, written):
    devices = Devices.parse(name)
    assert (devices.kind, devices.gpus, str(devices)) == (kind, gpus, written)
    assert Devices.parse(written) == devices


@pytest.fixture
def choosy_method():
    """A method that does not do all problems on a GPU."""

    def limits(problem):
        return None if problem.metric.name == "EUC_2D" else "only EUC_2D is for GPUs"

    return replace(GPU_METHOD, name="choosy", gpu_limits=limits)


def test_what_a_gpu_cannot_do(pretend_gpus, caplog, choosy_method):
    pretend_gpus(H200)
    instance = problem(metric="ATT")
    with pytest.raises(UnsupportedProblem, match=r"^device cuda: only EUC_2D is for GPUs; use device cpu"):
        resolve_device("cuda", instance, choosy_method)
    with caplog.at_level(logging.DEBUG):
        assert choose(instance, choosy_method) == "cpu"
    assert "device auto: the CPU; only EUC_2D is for GPUs" in caplog.text
    assert choose(problem(), choosy_method) == "cuda:0"


def test_methods_that_know_no_gpu(pretend_gpus):
    pretend_gpus(H200)
    with pytest.raises(UnsupportedProblem, match="device cuda:0: method construct runs on the CPU only; use"):
        warptsp.solve(problem(), device="cuda:0", method="construct")
    assert resolve_device("auto", problem(), CPU_METHOD) == "cpu"


@pytest.mark.parametrize(
    "instance",
    [
        problem(10),
        problem(10, "GREAT_CIRCLE"),
        problem(10, fixed_edges=[(0, 1)]),
        problem(10, open=OpenPath()),
        Problem.from_matrix(np.ones((10, 10), int) - np.eye(10, dtype=int)),
    ],
    ids=["plane", "globe", "fixed edges", "open path", "matrix"],
)
def test_auto_takes_a_gpu_for_many_cities(pretend_gpus, caplog, instance):
    pretend_gpus(H200)
    with caplog.at_level(logging.DEBUG):
        assert resolve_device("auto", instance, GPU_METHOD) == "cuda:0"
    assert "device auto: cuda:0, NVIDIA H200" in caplog.text
    assert resolve_device("auto", problem(9), GPU_METHOD) == "cpu"


def test_auto_takes_the_cpu_for_a_short_run(pretend_gpus, caplog):
    pretend_gpus(H200)
    with caplog.at_level(logging.DEBUG):
        assert resolve_device("auto", problem(), GPU_METHOD, 0.5) == "cpu"
    assert "device auto: the CPU, for less than 1 s" in caplog.text
    assert resolve_device("auto", problem(), GPU_METHOD, 1.0) == "cuda:0"
    assert resolve_device("cuda", problem(), GPU_METHOD, 0.5) == "cuda:0"


def test_auto_takes_the_cpu_for_asymmetric_matrices(pretend_gpus, caplog):
    pretend_gpus(H200)
    matrix = np.random.default_rng(1).integers(1, 100, (12, 12))
    asymmetric = Problem.from_matrix(matrix, asymmetric=True)
    with caplog.at_level(logging.DEBUG):
        assert resolve_device("auto", asymmetric, GPU_METHOD) == "cpu"
    assert "device auto: the CPU; tours of asymmetric matrices" in caplog.text
    assert resolve_device("auto", Problem.from_matrix(matrix + matrix.T), GPU_METHOD) == "cuda:0"
    assert resolve_device("cuda", asymmetric, GPU_METHOD) == "cuda:0"


def test_auto_says_why_it_takes_the_cpu(no_driver, pretend_gpus, caplog):
    with caplog.at_level(logging.DEBUG):
        assert choose(problem(), GPU_METHOD) == "cpu"
    assert [record.levelname for record in caplog.records] == ["DEBUG"]  # most machines have no GPU
    assert "no NVIDIA driver" in caplog.text
    caplog.clear()
    pretend_gpus(H200, version=12020)
    with caplog.at_level(logging.DEBUG):
        assert choose(problem(), GPU_METHOD) == "cpu"
    assert [record.levelname for record in caplog.records] == ["WARNING"]  # this one could be used
    assert "update the driver" in caplog.text


@pytest.fixture
def failing_method(monkeypatch):
    """A method whose GPU is lost in the middle."""

    def run(problem, run, params):
        run.offer(np.arange(problem.n, dtype=np.int32))
        if run.device.gpus:
            assert run.device.gpus == (0,)
            run.use_cpu(DeviceFailure("device cuda:0 failed to search: it is lost"))
        run.update(length=1, kicks=1, tour=run.best.copy)

    monkeypatch.setitem(METHODS, "failing", replace(GPU_METHOD, name="failing", run=run))


def test_auto_goes_on_without_its_gpu(pretend_gpus, failing_method, caplog):
    pretend_gpus(H200)
    result = warptsp.solve(problem(), method="failing", kicks=1)
    assert result.device == "cpu"
    assert "device       cpu" in result.summary()
    assert "device auto: the CPU instead of cuda:0: device cuda:0 failed to search" in caplog.text


def test_a_gpu_that_was_asked_for_fails(pretend_gpus, failing_method):
    pretend_gpus(H200)
    with pytest.raises(DeviceFailure, match="it is lost") as caught:
        warptsp.solve(problem(), method="failing", kicks=1, device="cuda")
    assert caught.value.result.device == "cuda:0"
    assert caught.value.result.as_dict()["device"] == "cuda:0"


def test_few_cities_never_reach_a_gpu(pretend_gpus):
    pretend_gpus(H200)
    assert warptsp.solve(problem(3), kicks=1).device == "cpu"


# The command line


def test_devices_command(pretend_gpus, capsys, monkeypatch):
    pretend_gpus(H200, PASCAL)
    assert cli.run(["devices"]) == 0
    out = capsys.readouterr().out
    assert "gpu       cuda:0, NVIDIA H200, compute capability 9.0, 161.1 GB, linked with cuda:1\n" in out
    assert "gpu       cuda:1, GeForce" in out
    assert "several " not in out
    assert "not used: device cuda:1: GeForce GTX 1080 has compute capability 6.1" in out
    assert "for CUDA up to 13.0" in out
    monkeypatch.setenv("WARPTSP_CACHE_DIR", "/somewhere")
    assert cli.run(["devices", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["threads"] >= 1
    assert found["gpus"][0] == {
        "device": "cuda:0",
        "name": "NVIDIA H200",
        "compute_capability": "9.0",
        "memory": 150 << 30,
        "linked": ["cuda:1"],
        "why_not": None,
    }
    assert found["driver"]["cuda"] == "13.0"
    assert found["kernel_cache"] == "/somewhere/kernels"
    assert found["gpu_why"] is None


def test_devices_command_says_which_gpus_work_together(pretend_gpus, capsys):
    pretend_gpus(H200, PASCAL, H200)
    assert cli.run(["devices"]) == 0
    line = f"several   cuda:0,2 for {MIN_CITIES_OF_GPUS:,} cities or more and method lk"
    assert line in capsys.readouterr().out


def test_devices_command_without_anything(no_driver, no_packages_for_cuda, capsys):
    assert cli.run(["devices"]) == 0
    out = capsys.readouterr().out
    assert "gpu       none used: no NVIDIA driver: libcuda-of-nobody.so.1: cannot open" in out
    assert "nvrtc missing" in out


def test_explain_launch(pretend_gpus, capsys, monkeypatch):
    pretend_gpus(H200)
    search = ModuleType("warptsp.backends.cuda.launch_plan")
    search.explain_launch = lambda problem, device: f"{problem.n} cities on {device}"
    monkeypatch.setitem(sys.modules, "warptsp.backends.cuda.launch_plan", search)
    monkeypatch.setitem(METHODS, "lk", GPU_METHOD)
    assert cli.run(["solve", str(EXAMPLE), "--explain-launch"]) == 0
    assert capsys.readouterr().out == "1000 cities on cuda:0\n"


def test_nothing_of_cuda_is_imported_before_it_is_wanted():
    program = (
        "import sys, warptsp, warptsp.solver, warptsp.devices, warptsp.cli.solve\n"
        "warptsp.solve([[0, 0], [3, 0], [3, 4], [0, 4], [1, 1]], kicks=10)\n"
        "sys.exit(any(name.startswith(('cuda.', 'warptsp.backends.cuda')) for name in sys.modules))"
    )
    run_code(program, check=True)


@pytest.mark.parametrize(("limit", "most"), [("1000000\n", 1e6), ("max\n", None), (None, None)])
def test_memory_is_that_of_the_machine_or_of_its_container(monkeypatch, tmp_path, limit, most):
    file = tmp_path / "memory.max"
    if limit is not None:
        file.write_text(limit)
    monkeypatch.setattr("warptsp.machine.Path", lambda _: file)
    if most is None:
        assert memory() > 1e8
    else:
        assert memory() == most
