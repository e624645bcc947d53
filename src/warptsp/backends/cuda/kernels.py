"""Compiled kernels on a GPU, and their launches: arguments, and the shared memory that a block may have."""

from __future__ import annotations

import logging
import sys
from typing import Any

import numpy as np

from warptsp.backends.cuda.compiler import import_core
from warptsp.backends.cuda.context import DriverError
from warptsp.backends.cuda.memory import DeviceArray, DeviceMemory

logger = logging.getLogger(__name__)

DEFAULT_SHARED = 48 * 1024  # dynamic shared memory of a block up to which a kernel need not ask for it


class Module:
    """Compiled kernels on a GPU; made by `Device.module`."""

    def __init__(self, device: DeviceMemory, kind: str, binary: bytes, symbols: dict[str, str]) -> None:
        core = import_core()
        self._device = device
        self._kernels: dict[str, Kernel] = {}
        load = core.ObjectCode.from_cubin if kind == "cubin" else core.ObjectCode.from_ptx
        self._code = load(binary)
        self._symbols = symbols

    def kernel(self, name: str) -> Kernel:
        """Return the kernel of this name, as it was given to `Device.module`."""
        if name not in self._kernels:
            symbol = self._symbols[name].encode()
            with self._device._named(f"load the kernel {name}"):
                self._kernels[name] = Kernel(self._device, name, self._code.get_kernel(symbol))
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

    def __init__(self, device: DeviceMemory, name: str, kernel: Any) -> None:
        self.name = name
        self._device = device
        self._kernel = kernel
        self._handle = device._api.CUfunction(int(kernel.handle))
        attributes = kernel.attributes
        self.registers = int(attributes.num_regs)
        self.local_bytes = int(attributes.local_size_bytes)
        self.static_shared = int(attributes.shared_size_bytes)
        self.threads_per_block = int(attributes.max_threads_per_block)
        self._shared = DEFAULT_SHARED - self.static_shared
        self._sizes = self._argument_sizes()
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
            return int(self._kernel.occupancy.max_active_blocks_per_multiprocessor(block, shared))

    def _allow(self, shared: int) -> None:
        """Ask for the dynamic shared memory that a block may not have by default."""
        if shared <= self._shared:
            return
        device = self._device
        most = device.shared_memory_per_block - self.static_shared
        if shared > most:
            raise ValueError(
                f"kernel {self.name}: {shared} bytes of dynamic shared memory, and device "
                f"cuda:{device.ordinal} has {most} for a block beside the {self.static_shared} of the kernel"
            )
        attribute = device._api.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        kernel = device._api.CUkernel(int(self._kernel.handle))
        device._call(device._api.cuKernelSetAttribute, attribute, shared, kernel, device.ordinal)
        self._shared = shared

    def _argument_sizes(self) -> tuple[int, ...] | None:
        """Bytes of each parameter; None where the driver (before CUDA 12.4) does not say."""
        try:
            return tuple(int(info.size) for info in self._kernel.arguments_info)
        except Exception as error:
            logger.debug("the parameters of kernel %s are not known: %s", self.name, error)
            return None

    def _packed(self, arguments: tuple[DeviceArray | np.generic | None, ...]) -> int:
        """Return the address of the addresses of the arguments; the driver copies these at the launch."""
        values = [self._bytes(argument) for argument in arguments]
        sizes = tuple(map(len, values))
        if self._sizes is not None and sizes != self._sizes:
            raise TypeError(
                f"kernel {self.name} takes {len(self._sizes)} arguments of {list(self._sizes)} bytes and was "
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
