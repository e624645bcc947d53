"""What is said about drivers and GPUs, with a driver that pretends."""

import pytest
from pretended_driver import H200, PASCAL

from warptsp.backends.cuda import driver
from warptsp.backends.cuda.device import Device
from warptsp.errors import BackendUnavailable, DeviceFailure, DeviceOutOfMemory


def test_gpus_are_described(pretend_gpus):
    pretend_gpus(H200, PASCAL, version=13010)
    found = driver.find()
    assert found.cuda == (13, 1)
    assert [gpu.name for gpu in found.gpus] == ["NVIDIA H200", "GeForce GTX 1080"]
    assert found.gpus[1] == driver.Gpu(1, "GeForce GTX 1080", (6, 1), 8 << 30, (0,))


def test_no_driver(no_driver):
    expected = r"^no NVIDIA driver: libcuda-of-nobody\.so\.1: cannot open shared object .*; install one"
    with pytest.raises(BackendUnavailable, match=expected):
        driver.find()


@pytest.mark.parametrize("options", [{}, {"init": 100}])
def test_no_gpu(pretend_gpus, options):
    pretend_gpus(**options)
    with pytest.raises(BackendUnavailable, match=r"^no GPU: the NVIDIA driver is installed but finds none"):
        driver.find()


@pytest.mark.parametrize("visible", ["", "-1", "7"])
def test_hidden_gpus(pretend_gpus, monkeypatch, visible):
    pretend_gpus(init=100)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    with pytest.raises(BackendUnavailable, match=f"^no GPU: CUDA_VISIBLE_DEVICES='{visible}' hides all"):
        driver.find()


@pytest.mark.parametrize(
    ("code", "remedy"), [(803, "reboot"), (34, "stub"), (999, "nvidia-smi"), (12345, "update the driver")]
)
def test_a_driver_that_does_not_start(pretend_gpus, code, remedy):
    pretend_gpus(H200, init=code)
    with pytest.raises(BackendUnavailable, match=rf"does not start \(CUDA error {code}\): .*{remedy}"):
        driver.find()


@pytest.mark.parametrize("function", ["cuDriverGetVersion", "cuDeviceGetCount", "cuDeviceGetName"])
def test_a_driver_that_fails(pretend_gpus, function):
    pretend_gpus(H200, failing=function)
    with pytest.raises(BackendUnavailable, match=r"cannot describe its GPUs \(CUDA error 3\)"):
        driver.find()


def test_a_gpu_that_is_not_there(pretend_gpus, monkeypatch):
    pretend_gpus(H200, H200)
    assert driver.find_gpu(1)[1].ordinal == 1
    with pytest.raises(BackendUnavailable, match=r"cuda:2: there is no such GPU; there are cuda:0, cuda:1$"):
        driver.find_gpu(2)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,3")
    with pytest.raises(BackendUnavailable, match=r"no such GPU with CUDA_VISIBLE_DEVICES='0,3'; there are"):
        driver.find_gpu(2)


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        ("CUDA_ERROR_ILLEGAL_ADDRESS", DeviceFailure, "a fault in a kernel; please report it"),
        ("CUDA_ERROR_LAUNCH_FAILED", DeviceFailure, "a fault in a kernel"),
        ("CUDA_ERROR_LAUNCH_TIMEOUT", DeviceFailure, "display's watchdog"),
        ("CUDA_ERROR_ECC_UNCORRECTABLE", DeviceFailure, "the GPU was lost, or another process holds it"),
        ("CUDA_ERROR_DEVICE_UNAVAILABLE", DeviceFailure, "another process holds it; see nvidia-smi"),
        ("CUDA_ERROR_INVALID_VALUE", DeviceFailure, "failed to count: CUDA_ERROR_INVALID_VALUE"),
        ("CUDA_ERROR_OUT_OF_MEMORY", DeviceOutOfMemory, "has no memory left to count"),
    ],
)
def test_what_goes_wrong_on_a_gpu(error, kind, words):
    device = object.__new__(Device)
    device.ordinal, device._pool, device._modules, device._context = 1, None, {}, None
    with pytest.raises(kind, match=f"^device cuda:1 .*{words}.*device cpu$"), device._named("count"):
        raise RuntimeError(f"{error}: as cuda.core puts it")
    with pytest.raises(RuntimeError, match=r"^a fault of our own$"), device._named("count"):
        raise RuntimeError("a fault of our own")
