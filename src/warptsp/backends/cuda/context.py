"""One GPU as the driver has it: its context, one stream of work, and the errors of the driver in words."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar, NoReturn

from warptsp.errors import DeviceFailure, DeviceOutOfMemory, WarpTSPError

_ERROR_NAME = re.compile(r"CUDA_ERROR_\w+")
_KERNEL_FAULTS = {
    "CUDA_ERROR_ASSERT",
    "CUDA_ERROR_HARDWARE_STACK_ERROR",
    "CUDA_ERROR_ILLEGAL_ADDRESS",
    "CUDA_ERROR_ILLEGAL_INSTRUCTION",
    "CUDA_ERROR_INVALID_ADDRESS_SPACE",
    "CUDA_ERROR_INVALID_PC",
    "CUDA_ERROR_LAUNCH_FAILED",
    "CUDA_ERROR_MISALIGNED_ADDRESS",
}
_LOST = {
    "CUDA_ERROR_CONTEXT_IS_DESTROYED",
    "CUDA_ERROR_DEVICE_UNAVAILABLE",
    "CUDA_ERROR_ECC_UNCORRECTABLE",
    "CUDA_ERROR_INVALID_DEVICE",
    "CUDA_ERROR_NO_DEVICE",
    "CUDA_ERROR_NVLINK_UNCORRECTABLE",
    "CUDA_ERROR_SYSTEM_NOT_READY",
    "CUDA_ERROR_UNKNOWN",
}


class DriverError(Exception):
    """The driver returned this error."""


class Context:
    """One GPU with one stream of work; the base of `Device`. Memory is in bytes."""

    _memory_totals: ClassVar[dict[int, int]] = {}  # by GPU: to ask takes 30 of the 100 µs of an opening

    def __init__(self, ordinal: int, core: Any, api: Any) -> None:
        self.ordinal = ordinal
        self._api = api
        self._context: Any = None
        self._beside: Any = None  # a second stream, for what must not wait
        with self._named("set up"):
            gpu = core.Device(ordinal)
            gpu.set_current()
            limits = gpu.properties
            self.name = str(gpu.name)
            self.compute_capability: tuple[int, int] = tuple(gpu.compute_capability)
            self.multiprocessors = int(limits.multiprocessor_count)
            self.threads_per_multiprocessor = int(limits.max_threads_per_multiprocessor)
            self.registers_per_multiprocessor = int(limits.max_registers_per_multiprocessor)
            self.shared_memory_per_multiprocessor = int(limits.max_shared_memory_per_multiprocessor)
            # That one block can have at most, and that each takes beside its own.
            self.shared_memory_per_block = int(limits.max_shared_memory_per_block_optin)
            self.shared_memory_reserved = int(limits.reserved_shared_memory_per_block)
            self._gpu = gpu
            self._context = api.CUcontext(int(gpu.context.handle))
            self._stream = gpu.create_stream()
            self._stream_handle = api.CUstream(int(self._stream.handle))
            if ordinal not in self._memory_totals:
                self._memory_totals[ordinal] = int(self._call(api.cuMemGetInfo)[1])
            self.memory_total = self._memory_totals[ordinal]
            self._pools = bool(limits.memory_pools_supported)

    def after(self, *others: "Context") -> None:
        """Go on only when other GPUs have done what they were told so far."""
        for other in others:
            with other._named("mark its work"):
                done = other._stream.record()
            with self._named(f"wait for device cuda:{other.ordinal}"):
                self._stream.wait(done)

    def synchronize(self) -> None:
        """Wait until the GPU has done all that it was told; DeviceFailure if a kernel failed, or it was
        lost."""
        with self._named("wait for its work"):
            self._stream.sync()

    @contextmanager
    def timer(self) -> "Iterator[Timer]":
        """Measure the time that the GPU takes for what it is told inside; `Timer.seconds` waits for it."""
        timer = Timer(self)
        timer._begun = self._record()
        yield timer
        timer._ended = self._record()

    def _record(self) -> Any:
        with self._named("start a timer"):
            return self._stream.record(options={"timing_enabled": True})

    def _enter(self) -> None:
        """Make it the GPU of this thread, which others may have taken over since the last call."""
        if self._context is not None:
            self._api.cuCtxSetCurrent(self._context)

    def _call(self, function: Callable[..., Any], *arguments: Any) -> tuple[Any, ...]:
        self._enter()
        code, *results = function(*arguments)
        if int(code) != 0:
            raise DriverError(code.name)
        return tuple(results)

    def _tell(self, doing: str, function: Callable[..., Any], *arguments: Any) -> None:
        """Give the stream something to do, by a function of the driver whose last argument it is."""
        with self._named(doing):
            self._call(function, *arguments, self._stream_handle)

    @contextmanager
    def _named(self, doing: str) -> Iterator[None]:
        """Turn whatever the driver reports into an error that says what to do."""
        self._enter()
        try:
            yield
        except WarpTSPError:
            raise
        except Exception as error:
            if not isinstance(error, DriverError) and _ERROR_NAME.search(str(error)) is None:
                raise
            self._fail(doing, error)

    def _fail(self, doing: str, error: Exception) -> NoReturn:
        match = _ERROR_NAME.search(str(error))
        name = match[0] if match is not None else str(error)
        gpu = f"device cuda:{self.ordinal}"
        if name == "CUDA_ERROR_OUT_OF_MEMORY":
            raise DeviceOutOfMemory(
                f"{gpu} has no memory left to {doing}; see nvidia-smi for what uses it, or use device cpu"
            ) from error
        if name in _KERNEL_FAULTS:
            raise DeviceFailure(
                f"{gpu} failed to {doing}: {name}, a fault in a kernel; please report it with the output of "
                "'warptsp devices'. This process cannot use the GPU again; use device cpu"
            ) from error
        if name == "CUDA_ERROR_LAUNCH_TIMEOUT":
            raise DeviceFailure(
                f"{gpu} failed to {doing}: {name}: the display's watchdog ended a kernel; use a GPU without "
                "a display, or device cpu"
            ) from error
        if name in _LOST:
            raise DeviceFailure(
                f"{gpu} failed to {doing}: {name}: the GPU was lost, or another process holds it; see "
                "nvidia-smi and the kernel log (dmesg, Xid), or use device cpu"
            ) from error
        raise DeviceFailure(f"{gpu} failed to {doing}: {name}; use device cpu") from error


def meet(devices: Sequence[Context]) -> None:
    """Let no GPU go on before all have come here."""
    for device in devices if len(devices) > 1 else ():
        device.after(*(other for other in devices if other is not device))


class Timer:
    """What `Device.timer` measures."""

    def __init__(self, device: Context) -> None:
        self._device = device
        self._begun: Any = None
        self._ended: Any = None

    @property
    def is_done(self) -> bool:
        with self._device._named("tell how far it is"):
            return bool(self._ended.is_done)

    @property
    def seconds(self) -> float:
        """Of the GPU's own clock; waits for the end."""
        with self._device._named("wait for its work"):
            self._ended.sync()
            return float(self._ended - self._begun) / 1000.0
