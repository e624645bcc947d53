"""What goes wrong on a real GPU, on purpose; compute-sanitizer need not see it."""

import os
import re

import numpy as np
import pytest
from processes import run_code

import warptsp
from warptsp import Problem
from warptsp.backends.cuda.compiler import Source
from warptsp.backends.cuda.device import Device
from warptsp.errors import DeviceFailure, DeviceOutOfMemory

pytestmark = pytest.mark.gpu

KERNELS = """\
extern "C" __global__ void nothing() {}
extern "C" __global__ void write_far(int *pointer) { pointer[1ll << 40] = 1; }
"""


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    path = tmp_path_factory.mktemp("kernels") / "faulty.cu"
    path.write_text(KERNELS)
    return path


def test_too_little_memory_says_how_much(gpu):
    expected = (
        r"^device cuda:0: \d+\.\d\d GB more are needed, and \d+\.\d\d GB of \d+\.\d\d GB are free; .*cpu$"
    )
    with pytest.raises(DeviceOutOfMemory, match=expected):
        gpu.empty(gpu.memory_total + 1, np.uint8)
    assert gpu.zeros(10, np.int32).download().sum() == 0  # and nothing is broken


def test_a_matrix_that_does_not_fit(gpu, monkeypatch):
    # As if all memory but one GB were taken. To take it would fail the tests of other processes.
    monkeypatch.setattr(Device, "memory_free", lambda device: 1 << 30)
    matrix = np.ones((16_384, 16_384), np.int32)
    np.fill_diagonal(matrix, 0)
    with pytest.raises(DeviceOutOfMemory, match=r"16384 cities need 1\.14 GB, and 1\.07 GB are free"):
        warptsp.solve(Problem.from_matrix(matrix), device="cuda", kicks=1)


def test_a_launch_that_cannot_be_is_named(gpu, source):
    kernel = gpu.module(Source(source, ("nothing",))).kernel("nothing")
    expected = r"start the kernel nothing \(grid 1, block 4096, shared 0\): CUDA_ERROR_"
    with pytest.raises(DeviceFailure, match=expected):
        kernel.launch(1, 4096)
    kernel.launch(1, 32)
    gpu.synchronize()


def in_another_process(program, **environment):
    """What a program prints that may ruin its process's use of the GPU."""
    run = run_code(program, env={**os.environ, **environment})
    return run.stdout + run.stderr


def test_memory_that_others_took(gpu):
    printed = in_another_process(  # where no pool has memory left over from other tests
        "import numpy as np\n"
        "from warptsp.backends.cuda.device import Device\n"
        "from warptsp.errors import DeviceOutOfMemory\n"
        "with Device.open(0) as gpu, Device.open(0) as other:\n"
        "    taken = other.empty(other.memory_free() - (1 << 30), np.uint8)\n"
        "    try:\n"
        "        gpu.empty(1 << 31, np.uint8)\n"
        "    except DeviceOutOfMemory as error:\n"
        "        print(error)\n"
        "    del taken\n"
        "    other.close()\n"  # its pool keeps what was released
        "    print(gpu.empty(1 << 31, np.uint8).nbytes)\n"
    )
    assert re.search(r"2\.15 GB more are needed, and [01]\.\d\d GB of .* nvidia-smi", printed), printed
    assert "2147483648" in printed


def test_a_fault_in_a_kernel_is_named(gpu, source):
    printed = in_another_process(
        "from pathlib import Path\n"
        "from warptsp.backends.cuda.compiler import Source\n"
        "from warptsp.backends.cuda.device import Device\n"
        "from warptsp.errors import DeviceFailure\n"
        "gpu = Device.open(0)\n"
        "array = gpu.zeros(4, 'i4')\n"
        f"gpu.module(Source(Path({str(source)!r}), ('write_far',))).kernel('write_far').launch(1, 1, array)\n"
        "try:\n"
        "    gpu.synchronize()\n"
        "except DeviceFailure as error:\n"
        "    print(error)\n"
    )
    assert (
        "device cuda:0 failed to wait for its work: CUDA_ERROR_ILLEGAL_ADDRESS, a fault in a kernel"
        in printed
    )
    assert "Traceback" not in printed  # nor at the end of the process


def test_no_visible_gpu_is_named(gpu):
    program = "import warptsp.cli; raise SystemExit(warptsp.cli.run(['devices']))"
    assert "none used: no GPU: CUDA_VISIBLE_DEVICES='-1' hides" in in_another_process(
        program, CUDA_VISIBLE_DEVICES="-1"
    )
    assert "gpu       cuda:0, " in in_another_process(program)
