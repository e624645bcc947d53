"""One GPU: its limits, its memory, its kernels, in the order of one stream.

Every call returns at once unless it says that it waits; the GPU does what it was told in the order of the
calls. A `Device` and all that it made are for one thread at a time; a thread may have several devices.
"""

import sys
from functools import partial
from logging import Logger
from typing import Any

from warptsp.backends.cuda import driver as gpu_driver
from warptsp.backends.cuda.compiler import (
    OLDEST_CUDA,
    Source,
    compile_kernels,
    import_core,
    install,
    key_of,
    nvrtc_version,
)
from warptsp.backends.cuda.context import Timer
from warptsp.backends.cuda.kernels import Kernel, Module
from warptsp.backends.cuda.memory import DeviceArray, DeviceMemory
from warptsp.errors import BackendUnavailable

__all__ = ["Device", "DeviceArray", "Kernel", "Module", "Timer", "find_usable", "first_usable"]


def find_usable(ordinal: int) -> tuple[gpu_driver.Driver, gpu_driver.Gpu]:
    """Return the driver and one of its GPUs, if all is there that it takes to use it; else BackendUnavailable
    says what is missing, and what to do."""
    driver, gpu = gpu_driver.find_gpu(ordinal)
    needed = nvrtc_version()
    if driver.cuda[0] < needed[0]:
        name = "the NVIDIA driver" if driver.version is None else f"the NVIDIA driver {driver.version}"
        remedy = f", or {install(driver.cuda[0])}" if driver.cuda[0] >= OLDEST_CUDA else ""
        raise BackendUnavailable(
            f"{name} supports CUDA {driver.cuda[0]}.{driver.cuda[1]}, and the packages installed are for "
            f"CUDA {needed[0]}: update the driver{remedy}"
        )
    return driver, gpu


def first_usable(what: str, log: Logger) -> gpu_driver.Gpu | None:
    """Return the first GPU; None if it cannot be used, with the reason in the log: a warning if there is one,
    and what is amiss can be mended."""
    try:
        gpu_driver.find()
    except BackendUnavailable as error:
        log.debug("%s: the CPU; %s", what, error)
        return None
    try:
        return find_usable(0)[1]
    except BackendUnavailable as error:
        log.warning("%s: the CPU; %s", what, error)
        return None


class Device(DeviceMemory):
    """The GPU ``cuda:ordinal`` with one stream of work; use `Device.open`, and `close` or ``with`` at the
    end.

    `Context` says what is known of it.
    """

    opened = False  # whether one was opened in this process: the first time takes some tenths of a second

    def __init__(self, ordinal: int, core: Any, api: Any) -> None:
        self._modules: dict[object, Module] = {}
        super().__init__(ordinal, core, api)

    @classmethod
    def open(cls, ordinal: int = 0) -> "Device":
        """Take the GPU ``cuda:ordinal`` into use; waits for the driver, some tenths of a second.

        BackendUnavailable as from `find_usable`; DeviceOutOfMemory or DeviceFailure if the GPU has no memory
        left, or does not work.
        """
        find_usable(ordinal)
        from cuda.bindings import driver as api

        device = cls(ordinal, import_core(), api)
        cls.opened = True
        return device

    def close(self) -> None:
        """Give back what the device holds; the memory of arrays, when nobody refers to them any more.

        Waits for the GPU. Closing twice does nothing.
        """
        self._modules.clear()
        self._leave_pool()

    def __enter__(self) -> "Device":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Device(cuda:{self.ordinal}, {self.name})"

    def module(self, source: Source) -> Module:
        """Return kernels, compiled for this GPU; waits if they are not in the cache."""
        if source.key not in self._modules:
            name = key_of(source, self.compute_capability)
            load = partial(compile_kernels, source, self.compute_capability)
            self._modules[source.key] = Module(self, name, load)
        return self._modules[source.key]

    def __del__(self) -> None:
        if not sys.is_finalizing():
            self.close()
