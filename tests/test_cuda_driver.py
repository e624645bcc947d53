"""What is said about drivers and GPUs, with a driver that pretends."""

from __future__ import annotations

import ctypes

import pytest

from warptsp.backends.cuda import driver
from warptsp.errors import BackendUnavailable


class PretendedDriver:
    """The functions of libcuda that `driver` calls."""

    def __init__(self, gpus=(), version=13000, init=0, failing=None):
        self.gpus, self.version, self.init, self.failing = gpus, version, init, failing

    def __getattribute__(self, name):
        if name.startswith("cu") and name == self.failing:
            return lambda *_: 3
        return super().__getattribute__(name)

    def cuInit(self, flags):  # noqa: N802
        return self.init

    def cuDriverGetVersion(self, number):  # noqa: N802
        number._obj.value = self.version
        return 0

    def cuDeviceGetCount(self, number):  # noqa: N802
        number._obj.value = len(self.gpus)
        return 0

    def cuDeviceGet(self, device, ordinal):  # noqa: N802
        device._obj.value = ordinal
        return 0

    def cuDeviceGetName(self, name, size, device):  # noqa: N802
        name.value = self.gpus[device.value][0].encode()
        return 0

    def cuDeviceGetAttribute(self, value, attribute, device):  # noqa: N802
        value._obj.value = self.gpus[device.value][1][{75: 0, 76: 1}[attribute]]
        return 0

    def cuDeviceTotalMem_v2(self, memory, device):  # noqa: N802
        memory._obj.value = self.gpus[device.value][2]
        return 0


@pytest.fixture
def pretend(monkeypatch):
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)

    def install(*gpus, **options):
        monkeypatch.setattr(ctypes, "CDLL", lambda name: PretendedDriver(gpus, **options))

    return install


H200 = ("NVIDIA H200", (9, 0), 150 << 30)
PASCAL = ("GeForce GTX 1080", (6, 1), 8 << 30)


def test_gpus_are_described(pretend):
    pretend(H200, PASCAL, version=13010)
    found = driver.find()
    assert found.cuda == (13, 1)
    assert [gpu.name for gpu in found.gpus] == ["NVIDIA H200", "GeForce GTX 1080"]
    assert found.gpus[1] == driver.Gpu(1, "GeForce GTX 1080", (6, 1), 8 << 30)


def test_no_driver(monkeypatch):
    def missing(name):
        raise OSError(f"{name}: cannot open shared object file: No such file or directory")

    monkeypatch.setattr(ctypes, "CDLL", missing)
    with pytest.raises(
        BackendUnavailable, match=r"^no NVIDIA driver: libcuda\.so\.1: cannot open.*; install one"
    ):
        driver.find()


@pytest.mark.parametrize("options", [{}, {"init": 100}])
def test_no_gpu(pretend, options):
    pretend(**options)
    with pytest.raises(BackendUnavailable, match=r"^no GPU: the NVIDIA driver is there and finds none"):
        driver.find()


@pytest.mark.parametrize("visible", ["", "-1", "7"])
def test_hidden_gpus(pretend, monkeypatch, visible):
    pretend(init=100)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    with pytest.raises(BackendUnavailable, match=f"^no GPU: CUDA_VISIBLE_DEVICES='{visible}' hides all"):
        driver.find()


@pytest.mark.parametrize(
    ("code", "remedy"), [(803, "reboot"), (34, "stub"), (999, "nvidia-smi"), (12345, "update the driver")]
)
def test_a_driver_that_does_not_start(pretend, code, remedy):
    pretend(H200, init=code)
    with pytest.raises(BackendUnavailable, match=rf"does not start \(CUDA error {code}\): .*{remedy}"):
        driver.find()


@pytest.mark.parametrize("function", ["cuDriverGetVersion", "cuDeviceGetCount", "cuDeviceGetName"])
def test_a_driver_that_fails(pretend, function):
    pretend(H200, failing=function)
    with pytest.raises(BackendUnavailable, match=r"cannot describe its GPUs \(CUDA error 3\)"):
        driver.find()


def test_a_gpu_that_is_not_there(pretend, monkeypatch):
    pretend(H200, H200)
    assert driver.find_gpu(1)[1].ordinal == 1
    with pytest.raises(BackendUnavailable, match=r"cuda:2: there is no such GPU; there are cuda:0, cuda:1$"):
        driver.find_gpu(2)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,3")
    with pytest.raises(BackendUnavailable, match=r"no such GPU with CUDA_VISIBLE_DEVICES='0,3'; there are"):
        driver.find_gpu(2)


def test_a_gpu_that_is_too_old(pretend):
    pretend(PASCAL)
    with pytest.raises(
        BackendUnavailable, match=r"GTX 1080 has compute capability 6\.1, and 7\.5 .* device cpu$"
    ):
        driver.find_gpu(0)


def test_packages_newer_than_the_driver(pretend, monkeypatch):
    from warptsp.backends.cuda import device

    pretend(H200, version=12080)
    monkeypatch.setattr(device, "import_core", lambda: None)
    monkeypatch.setattr(device, "nvrtc_version", lambda: (13, 0))
    expected = (
        r"supports CUDA 12\.8, and the packages installed are for CUDA 13: .*pip install 'warptsp\[cuda12\]'"
    )
    with pytest.raises(BackendUnavailable, match=expected):
        device.Device.open(0)
