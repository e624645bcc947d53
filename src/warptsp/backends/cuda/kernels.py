"""Compiled kernels on a GPU, and their launches: arguments, and the shared memory that a block may have."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from warptsp.backends.cuda.cache import Code
from warptsp.backends.cuda.compiler import import_core
from warptsp.backends.cuda.context import DriverError
from warptsp.backends.cuda.memory import DeviceArray, DeviceMemory

logger = logging.getLogger(__name__)

DEFAULT_SHARED = 48 * 1024  # dynamic shared memory of a block up to which a kernel need not ask for it


class _Loaded:
    """Compiled kernels in the memory of a GPU, for the rest of the process.

    To load a file takes milliseconds, and many runs of one process search with the same kernels.
    """

    _all: ClassVar[dict[tuple[int, str], _Loaded]] = {}

    def __init__(self, code: Code) -> None:
        core = import_core()
        load = core.ObjectCode.from_cubin if code.kind == "cubin" else core.ObjectCode.from_ptx
        self._code = load(code.binary)
        self._symbols = code.symbols
        self._kernels: dict[str, LoadedKernel] = {}

    @classmethod
    def get(cls, ordinal: int, key: str, compiled: Callable[[], Code]) -> _Loaded:
        """Return what was compiled, for the GPU ``cuda:ordinal``."""
        if (ordinal, key) not in cls._all:
            cls._all[ordinal, key] = cls(compiled())
        return cls._all[ordinal, key]

    def kernel(self, name: str) -> LoadedKernel:
        """Return the kernel of this name; the GPU has to be that of the thread."""
        if name not in self._kernels:
            self._kernels[name] = LoadedKernel.of(name, self._code.get_kernel(self._symbols[name].encode()))
        return self._kernels[name]


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
    """Compiled kernels on a GPU; made by `Device.module`."""

    def __init__(self, device: DeviceMemory, key: str, compiled: Callable[[], Code]) -> None:
        self._device = device
        self._loaded = _Loaded.get(device.ordinal, key, compiled)
        self._kernels: dict[str, Kernel] = {}

    def kernel(self, name: str) -> Kernel:
        """Return the kernel of this name, as it was given to `Device.module`."""
        if name not in self._kernels:
            with self._device._named(f"load the kernel {name}"):
                self._kernels[name] = Kernel(self._device, name, self._loaded.kernel(name))
        return self._kernels[name]


class Kernel:
    """A kernel on a GPU; made by `Module.kernel`.

    Attributes
    ----------
    name : str
    registers : int
        Of one thread.
    local_bytes : int
        Of one thread: what does not fit into its registers.
    static_shared : int
        Bytes of shared memory that a block has beside what a launch asks for.
    threads_per_block : int
        The most that a block can have.
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

        Parameters
        ----------
        grid, block : int or tuple of int
            Blocks, and threads of a block, in up to three dimensions.
        *arguments : DeviceArray, NumPy scalar or None
            What the kernel takes: an array as the pointer to it, None as the null pointer, a scalar as it is,
            and a scalar of a structured type (made with ``align=True``) as the struct of these fields.
        shared : int
            Bytes of dynamic shared memory of a block.
        cooperative : bool
            For kernels whose blocks wait for each other (native/cuda/grid.h): all run at once, or none does.
            `blocks_per_multiprocessor` times the multiprocessors is the largest grid.
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
        attribute = device._api.CUfunction_attribute.CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT
        kernel = device._api.CUkernel(int(self._loaded.kernel.handle))
        with device._named(f"plan the kernel {self.name}"):
            device._call(device._api.cuKernelSetAttribute, attribute, percent, kernel, device.ordinal)

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
        attribute = device._api.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        kernel = device._api.CUkernel(int(self._loaded.kernel.handle))
        device._call(device._api.cuKernelSetAttribute, attribute, shared, kernel, device.ordinal)
        self._loaded.shared = shared

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
            if argument.size:
                argument._alive()
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
