"""Compiled kernels on a GPU, and their launches: arguments, and the shared memory that a block may have."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from warptsp.backends.cuda import tuning
from warptsp.backends.cuda.cache import Code
from warptsp.backends.cuda.compiler import import_core
from warptsp.backends.cuda.context import DriverError
from warptsp.backends.cuda.memory import DeviceArray, DeviceMemory

logger = logging.getLogger(__name__)

DEFAULT_SHARED = 48 * 1024  # dynamic shared memory of a block up to which a kernel need not ask for it


@dataclass(slots=True)
class LoadedKernel:
    """A kernel as the driver has it, and what it says of it; `Kernel` describes the attributes.

    `shared` is the dynamic shared memory that a block may have so far, and `sizes` are the bytes of the
    parameters, None where the driver (before CUDA 12.4) does not say.
    """

    kernel: Any
    registers: int
    local_bytes: int
    static_shared: int
    threads_per_block: int
    shared: int
    sizes: tuple[int, ...] | None

    @classmethod
    def of(cls, name: str, kernel: Any) -> LoadedKernel:
        """Ask the driver."""
        attributes = kernel.attributes
        sizes = None
        try:
            sizes = tuple(int(info.size) for info in kernel.arguments_info)
        except Exception as error:
            logger.debug("the parameters of kernel %s are not known: %s", name, error)
        static_shared = int(attributes.shared_size_bytes)
        return cls(
            kernel=kernel,
            registers=int(attributes.num_regs),
            local_bytes=int(attributes.local_size_bytes),
            static_shared=static_shared,
            threads_per_block=int(attributes.max_threads_per_block),
            shared=DEFAULT_SHARED - static_shared,
            sizes=sizes,
        )


class Module:
    """Compiled kernels on a GPU; made by `Device.module`.

    They stay in its memory for the rest of the process: to load a file takes milliseconds, and many runs of
    one process search with the same kernels.
    """

    # By GPU and name in the cache: the object of `cuda.core`, names in the binary, what is known of kernels.
    _loaded: ClassVar[dict[tuple[int, str], tuple[Any, dict[str, str], dict[str, LoadedKernel]]]] = {}

    def __init__(self, device: DeviceMemory, key: str, compiled: Callable[[], Code]) -> None:
        self._device = device
        self._kernels: dict[str, Kernel] = {}
        if (device.ordinal, key) not in self._loaded:
            code, of_code = compiled(), import_core().ObjectCode
            load = of_code.from_cubin if code.kind == "cubin" else of_code.from_ptx
            self._loaded[device.ordinal, key] = load(code.binary), code.symbols, {}
        self._code, self._symbols, self._known = self._loaded[device.ordinal, key]

    def kernel(self, name: str) -> Kernel:
        """Return the kernel of this name, as `Source` describes them."""
        if name not in self._kernels:
            with self._device._named(f"load the kernel {name}"):
                if name not in self._known:
                    kernel = self._code.get_kernel(self._symbols[name].encode())
                    self._known[name] = LoadedKernel.of(name, kernel)
                self._kernels[name] = Kernel(self._device, name, self._known[name])
        return self._kernels[name]

    def each(self, name: str, count: int, *arguments: DeviceArray | np.generic | None) -> None:
        """Start a kernel with one thread for each of `count` items."""
        self.kernel(name).launch(-(-count // tuning.THREADS), tuning.THREADS, *arguments)


class Kernel:
    """A kernel on a GPU; made by `Module.kernel`.

    A thread has `registers`, and `local_bytes` of what does not fit into them; a block has `static_shared`
    bytes of shared memory beside what a launch asks for, and `threads_per_block` at most.
    """

    def __init__(self, device: DeviceMemory, name: str, loaded: LoadedKernel) -> None:
        self.name = name
        self._device = device
        self._loaded = loaded
        self._handle = device._api.CUfunction(int(loaded.kernel.handle))
        self.registers = loaded.registers
        self.local_bytes = loaded.local_bytes
        self.static_shared = loaded.static_shared
        self.threads_per_block = loaded.threads_per_block
        self._buffers: dict[tuple[int, ...], _ArgumentBuffer] = {}

    def launch(
        self,
        grid: int | tuple[int, ...],
        block: int | tuple[int, ...],
        *arguments: DeviceArray | np.generic | None,
        shared: int = 0,
        cooperative: bool = False,
    ) -> None:
        """Start the kernel; a grid without blocks does nothing.

        Grid and block have up to three dimensions. The kernel gets an array as the pointer to it, None as the
        null pointer, a NumPy scalar as it is, and one of a structured type (made with ``align=True``) as the
        struct of these fields. A block has `shared` bytes of dynamic shared memory. `cooperative` is for
        kernels whose blocks wait for each other (native/cuda/grid.h): all run at once, or none does; the
        largest grid is `blocks_per_multiprocessor` times the multiprocessors.
        """
        blocks, threads = _three(grid), _three(block)
        if 0 in blocks:
            return
        device = self._device
        try:
            self._allow(shared)
            pointers = self._packed(arguments)
            api = device._api
            shape = (self._handle, *blocks, *threads, shared, device._stream_handle, pointers)
            if cooperative:
                device._call(api.cuLaunchCooperativeKernel, *shape)
            else:
                device._call(api.cuLaunchKernel, *shape, 0)
        except DriverError as error:
            how = f"grid {grid}, block {block}, shared {shared}"
            device._fail(f"start the kernel {self.name} ({how})", error)

    def blocks_per_multiprocessor(self, block: int, shared: int = 0) -> int:
        """Return how many blocks of this many threads and bytes of dynamic shared memory run at once on a
        multiprocessor; 0 if none can."""
        device = self._device
        if shared + self.static_shared > device.shared_memory_per_block or block > self.threads_per_block:
            return 0
        with device._named(f"plan the kernel {self.name}"):
            self._allow(shared)
            return int(self._loaded.kernel.occupancy.max_active_blocks_per_multiprocessor(block, shared))

    def prefer_shared(self, percent: int) -> None:
        """Ask for so much of the memory that shared memory and the level 1 cache divide as shared memory."""
        device = self._device
        with device._named(f"plan the kernel {self.name}"):
            self._set("PREFERRED_SHARED_MEMORY_CARVEOUT", percent)

    def _allow(self, shared: int) -> None:
        """Ask for the dynamic shared memory that a block may not have by default."""
        if shared <= self._loaded.shared:
            return
        device = self._device
        most = device.shared_memory_per_block - self.static_shared
        if shared > most:
            raise ValueError(
                f"kernel {self.name}: {shared} bytes of dynamic shared memory, and device "
                f"cuda:{device.ordinal} has {most} for a block beside the {self.static_shared} of the kernel"
            )
        self._set("MAX_DYNAMIC_SHARED_SIZE_BYTES", shared)
        self._loaded.shared = shared

    def _set(self, name: str, value: int) -> None:
        api = self._device._api
        attribute = getattr(api.CUfunction_attribute, f"CU_FUNC_ATTRIBUTE_{name}")
        kernel = api.CUkernel(int(self._loaded.kernel.handle))
        self._device._call(api.cuKernelSetAttribute, attribute, value, kernel, self._device.ordinal)

    def _packed(self, arguments: tuple[DeviceArray | np.generic | None, ...]) -> int:
        """Return the address of the addresses of the arguments; the driver copies these at the launch."""
        values = [self._bytes(argument) for argument in arguments]
        sizes = tuple(map(len, values))
        expected = self._loaded.sizes
        if expected is not None and sizes != expected:
            raise TypeError(
                f"kernel {self.name} takes {len(expected)} arguments of {list(expected)} bytes and was "
                f"given {len(values)} of {list(sizes)}"
            )
        buffer = self._buffers.get(sizes)
        if buffer is None:
            buffer = self._buffers[sizes] = _ArgumentBuffer(sizes)
        return buffer.fill(values)

    def _bytes(self, argument: DeviceArray | np.generic | None) -> bytes:
        if isinstance(argument, DeviceArray):
            return argument.pointer.to_bytes(8, sys.byteorder)
        if isinstance(argument, np.generic):
            return argument.tobytes()
        if argument is None:
            return bytes(8)
        raise TypeError(
            f"kernel {self.name}: the argument {argument!r} is a {type(argument).__name__}; give a "
            "DeviceArray or a NumPy scalar, whose size is plain"
        )


class _ArgumentBuffer:
    """Memory for a kernel's arguments of these sizes, used again at every launch."""

    def __init__(self, sizes: tuple[int, ...]) -> None:
        steps = [-(-size // 16) * 16 for size in sizes]
        self._begin = [sum(steps[:k]) for k in range(len(sizes))]
        memory = np.zeros(sum(steps) + 16, np.uint8)
        address = memory.ctypes.data
        self._memory = memory.data
        self._pointers = np.array([address + begin for begin in self._begin], np.uint64)
        self._address = int(self._pointers.ctypes.data)

    def fill(self, values: list[bytes]) -> int:
        """Write the arguments down; returns the address of their addresses."""
        for begin, value in zip(self._begin, values, strict=True):
            self._memory[begin : begin + len(value)] = value
        return self._address


def _three(extent: int | tuple[int, ...]) -> tuple[int, ...]:
    sizes = (extent,) if isinstance(extent, int) else tuple(extent)
    return (*(int(size) for size in sizes), 1, 1, 1)[:3]
