"""Which GPUs there are, asked of the driver itself, so that the answer needs no package and few milliseconds.

Whatever is missing is a `BackendUnavailable` that says what it is and what to do about it.
"""

import ctypes
import os
import sys
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from warptsp.errors import BackendUnavailable

LIBRARY = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
MIN_CAPABILITY = (7, 5)
_NO_DEVICE = 100
_INIT_REMEDIES = {
    34: "libcuda.so.1 is the stub of the CUDA toolkit; take its folder out of LD_LIBRARY_PATH",
    802: "the NVLink fabric is not ready; start the service nvidia-fabricmanager",
    803: "the driver's library and kernel module are of different versions; reboot, or reload the module",
    804: "the compatibility package of the CUDA toolkit does not support this GPU; take it out of "
    "LD_LIBRARY_PATH, or update the driver",
    999: "the driver's kernel module does not work; see whether nvidia-smi does, and reboot",
}


@dataclass(frozen=True, slots=True)
class Gpu:
    """A GPU as the driver describes it, visible to this process as ``cuda:ordinal``; `linked` are the numbers
    of those that it copies from directly."""

    ordinal: int
    name: str
    compute_capability: tuple[int, int]
    memory_total: int
    linked: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Driver:
    """The driver, the newest CUDA version that it supports, and its GPUs; at least one."""

    version: str | None
    cuda: tuple[int, int]
    gpus: tuple[Gpu, ...]


def find() -> Driver:
    """Return the driver and the GPUs that this process may use; BackendUnavailable says what is missing, and
    what to do."""
    return _described(_load())


@lru_cache(maxsize=1)
def _described(library: Any) -> Driver:
    """Ask the driver, once in a process: what is visible is settled when it starts."""
    code = library.cuInit(0)
    if code == _NO_DEVICE:
        raise BackendUnavailable(_no_device())
    if code != 0:
        remedy = _INIT_REMEDIES.get(code, "see whether nvidia-smi works, and update the driver")
        raise BackendUnavailable(f"the NVIDIA driver does not start (CUDA error {code}): {remedy}")
    number = ctypes.c_int()
    _check(library.cuDriverGetVersion(ctypes.byref(number)))
    cuda = (number.value // 1000, number.value % 1000 // 10)
    _check(library.cuDeviceGetCount(ctypes.byref(number)))
    if number.value == 0:
        raise BackendUnavailable(_no_device())
    return Driver(
        _package_version(), cuda, tuple(_gpu(library, k, number.value) for k in range(number.value))
    )


def find_gpu(ordinal: int) -> tuple[Driver, Gpu]:
    """Return the driver and one of its GPUs; BackendUnavailable if there is none of this number, or if it is
    too old."""
    driver = find()
    if ordinal >= len(driver.gpus):
        there = ", ".join(f"cuda:{gpu.ordinal}" for gpu in driver.gpus)
        visible = os.environ.get("CUDA_VISIBLE_DEVICES")
        why = "" if visible is None else f" with CUDA_VISIBLE_DEVICES={visible!r}"
        raise BackendUnavailable(f"device cuda:{ordinal}: there is no such GPU{why}; there are {there}")
    gpu = driver.gpus[ordinal]
    if gpu.compute_capability < MIN_CAPABILITY:
        major, minor = gpu.compute_capability
        least = ".".join(map(str, MIN_CAPABILITY))
        raise BackendUnavailable(
            f"device cuda:{ordinal}: {gpu.name} has compute capability {major}.{minor}, and {least} "
            "(Turing, 2018) is the minimum; use device cpu"
        )
    return driver, gpu


def _load() -> Any:
    try:
        return _library(LIBRARY)
    except OSError as error:
        raise BackendUnavailable(
            f"no NVIDIA driver: {error}; install one (https://www.nvidia.com/drivers), and give containers "
            "access to it (docker run --gpus all)"
        ) from error


_library = lru_cache(maxsize=1)(ctypes.CDLL)


def _no_device() -> str:
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        return (
            f"no GPU: CUDA_VISIBLE_DEVICES={visible!r} hides all of them; unset it, or name one as in "
            "CUDA_VISIBLE_DEVICES=0"
        )
    return "no GPU: the NVIDIA driver is installed but finds none; see what nvidia-smi lists"


def _check(code: int) -> None:
    if code != 0:
        raise BackendUnavailable(
            f"the NVIDIA driver cannot describe its GPUs (CUDA error {code}); see whether nvidia-smi works"
        )


def _gpu(library: Any, ordinal: int, count: int) -> Gpu:
    device, major, minor = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
    name, memory = ctypes.create_string_buffer(256), ctypes.c_size_t()
    _check(library.cuDeviceGet(ctypes.byref(device), ordinal))
    _check(library.cuDeviceGetName(name, len(name), device))
    _check(library.cuDeviceGetAttribute(ctypes.byref(major), 75, device))
    _check(library.cuDeviceGetAttribute(ctypes.byref(minor), 76, device))
    _check(library.cuDeviceTotalMem_v2(ctypes.byref(memory), device))
    linked = []
    for k in range(count):
        can, other = ctypes.c_int(), ctypes.c_int()
        if k != ordinal:
            _check(library.cuDeviceGet(ctypes.byref(other), k))
            _check(library.cuDeviceCanAccessPeer(ctypes.byref(can), device, other))
        if can.value:
            linked.append(k)
    capability = (major.value, minor.value)
    return Gpu(ordinal, name.value.decode(errors="replace"), capability, memory.value, tuple(linked))


def _package_version() -> str | None:
    """Return the version that people know the driver by, such as 580.95; None where it is not told."""
    try:
        return Path("/sys/module/nvidia/version").read_text(encoding="ascii").strip()
    except OSError:
        return None
