"""One GPU: its limits, its memory, its kernels, in the order of one stream.

Every call returns at once unless it says that it waits; the GPU does what it was told in the order of the
calls. A `Device` and all that it made are for one thread at a time; a thread may have several devices.
"""

from __future__ import annotations

import logging
import math
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from warptsp.backends.cuda import driver as gpu_driver
from warptsp.backends.cuda.compiler import OLDEST_CUDA, compile_kernels, import_core, install, nvrtc_version
from warptsp.errors import BackendUnavailable, DeviceFailure, DeviceOutOfMemory, WarpTSPError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike, NDArray

logger = logging.getLogger(__name__)

DEFAULT_SHARED = 48 * 1024  # dynamic shared memory of a block up to which a kernel need not ask for it

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


def find_usable(ordinal: int) -> tuple[gpu_driver.Driver, gpu_driver.Gpu]:
    """Return the driver and one of its GPUs, if all is there that it takes to use it.

    Raises
    ------
    BackendUnavailable
        If there is no such GPU, or something that it needs is missing: what, and what to do.
    """
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


class Device:
    """One GPU with one stream of work; use `Device.open`, and `close` or ``with`` at the end.

    Attributes
    ----------
    ordinal : int
        The GPU is ``cuda:ordinal``.
    name : str
    compute_capability : (int, int)
    multiprocessors : int
    threads_per_multiprocessor, registers_per_multiprocessor : int
    shared_memory_per_multiprocessor : int
        Bytes, of which each block takes `shared_memory_reserved` beside its own.
    shared_memory_per_block : int
        Bytes that one block can have at most.
    shared_memory_reserved : int
    memory_total : int
        Bytes.
    """

    opened = False  # whether one was opened in this process: the first time takes some tenths of a second

    def __init__(self, ordinal: int, core: Any, api: Any) -> None:
        self.ordinal = ordinal
        self._api = api
        self._modules: dict[object, Module] = {}
        self._pool: Any = None
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
            self.shared_memory_per_block = int(limits.max_shared_memory_per_block_optin)
            self.shared_memory_reserved = int(limits.reserved_shared_memory_per_block)
            self._gpu = gpu
            self._context = api.CUcontext(int(gpu.context.handle))
            self._stream = gpu.create_stream()
            self._stream_handle = api.CUstream(int(self._stream.handle))
            self.memory_total = int(self._call(api.cuMemGetInfo)[1])
            self._pools = bool(limits.memory_pools_supported)
            if self._pools:
                self._pool = self._create_pool()

    @classmethod
    def open(cls, ordinal: int = 0) -> Device:
        """Take the GPU ``cuda:ordinal`` into use; waits for the driver, some tenths of a second.

        Raises
        ------
        BackendUnavailable
            If there is no such GPU, or something that it needs is missing: what, and what to do.
        DeviceOutOfMemory, DeviceFailure
            If the GPU has no memory left, or does not work.
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
        pool, self._pool = self._pool, None
        if pool is not None:
            api = self._api
            self._enter()
            api.cuStreamSynchronize(self._stream_handle)
            api.cuMemPoolDestroy(pool)  # once its last array is gone

    def __enter__(self) -> Device:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Device(cuda:{self.ordinal}, {self.name})"

    # Kernels

    def module(
        self,
        source: str | Path,
        names: Sequence[str],
        defines: Mapping[str, int | str] | None = None,
        *,
        fmad: bool = True,
    ) -> Module:
        """Return kernels, compiled for this GPU; waits if they are not in the cache.

        Parameters
        ----------
        source : str or Path
            The name of a file in native/cuda, or the path of any other.
        names : sequence of str
            The kernels' names, template arguments included: ``"two_opt<float>"``.
        defines : mapping, optional
            Macros.
        fmad : bool
            Whether a product and a sum may be rounded once instead of twice; the CPU rounds twice.
        """
        defines = dict(defines or {})
        key = (source, tuple(names), tuple(sorted(defines.items())), fmad)
        if key not in self._modules:
            code = compile_kernels(source, names, self.compute_capability, defines, fmad=fmad)
            self._modules[key] = Module(self, code.kind, code.binary, code.symbols)
        return self._modules[key]

    # Memory

    def empty(self, shape: int | tuple[int, ...], dtype: DTypeLike) -> DeviceArray:
        """Return an array with anything in it.

        Raises
        ------
        DeviceOutOfMemory
            If there is no room: how much is needed and how much is free.
        """
        kind = np.dtype(dtype)
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        size = math.prod(shape) * kind.itemsize
        memory = _Memory(self, self._allocate(size) if size > 0 else 0)
        return DeviceArray(self, shape, kind, memory.pointer, memory)

    def zeros(self, shape: int | tuple[int, ...], dtype: DTypeLike) -> DeviceArray:
        """Return an array of zeros."""
        array = self.empty(shape, dtype)
        array.zero()
        return array

    def upload(self, array: ArrayLike) -> DeviceArray:
        """Return a copy of an array on the GPU; waits for it."""
        values = np.asarray(array)
        copy = self.empty(values.shape, values.dtype)
        copy.upload(values)
        return copy

    def memory_free(self) -> int:
        """Return the bytes that `empty` can have at most, of what this and other processes left."""
        free = int(self._call(self._api.cuMemGetInfo)[0])
        if self._pool is not None:
            reserved, used, _ = self._pool_figures()
            free += reserved - used
        return free

    def memory_peak(self) -> int:
        """Return the largest number of bytes that arrays of this device have had at once; 0 where the driver
        does not count them."""
        return 0 if self._pool is None else self._pool_figures()[2]

    # Other GPUs

    def share_with(self, other: Device) -> None:
        """Let another GPU copy from here directly, if the two can; else the driver takes the way through the
        host's memory."""
        api = self._api
        if self._pool is None or other.ordinal == self.ordinal:
            return
        with self._named(f"share its memory with device cuda:{other.ordinal}"):
            if not int(self._call(api.cuDeviceCanAccessPeer, other.ordinal, self.ordinal)[0]):
                return
            access = api.CUmemAccessDesc()
            access.location.type = api.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
            access.location.id = other.ordinal
            access.flags = api.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
            self._call(api.cuMemPoolSetAccess, self._pool, [access], 1)

    def after(self, *others: Device) -> None:
        """Go on only when other GPUs have done what they were told so far."""
        for other in others:
            with other._named("mark its work"):
                done = other._stream.record()
            with self._named(f"wait for device cuda:{other.ordinal}"):
                self._stream.wait(done)

    # Time

    def synchronize(self) -> None:
        """Wait until the GPU has done all that it was told.

        Raises
        ------
        DeviceFailure
            If a kernel failed, or the GPU was lost.
        """
        with self._named("wait for its work"):
            self._stream.sync()

    @contextmanager
    def timer(self) -> Iterator[Timer]:
        """Measure the time that the GPU takes for what it is told inside; `Timer.seconds` waits for it."""
        timer = Timer(self)
        timer._begun = self._record()
        yield timer
        timer._ended = self._record()

    def _record(self) -> Any:
        with self._named("start a timer"):
            return self._stream.record(options={"timing_enabled": True})

    # The driver

    def _enter(self) -> None:
        """Make it the GPU of this thread, which others may have taken over since the last call."""
        if self._context is not None:
            self._api.cuCtxSetCurrent(self._context)

    def _call(self, function: Callable[..., Any], *arguments: Any) -> tuple[Any, ...]:
        self._enter()
        code, *results = function(*arguments)
        if int(code) != 0:
            raise _DriverError(code.name)
        return tuple(results)

    @contextmanager
    def _named(self, doing: str) -> Iterator[None]:
        """Turn whatever the driver reports into an error that says what to do."""
        self._enter()
        try:
            yield
        except WarpTSPError:
            raise
        except Exception as error:
            if not isinstance(error, _DriverError) and _ERROR_NAME.search(str(error)) is None:
                raise
            self._fail(doing, error)

    def _fail(self, doing: str, error: Exception) -> NoReturn:
        match = _ERROR_NAME.search(str(error))
        name = match[0] if match is not None else str(error)
        gpu = f"device cuda:{self.ordinal}"
        if name == "CUDA_ERROR_OUT_OF_MEMORY":
            raise DeviceOutOfMemory(
                f"{gpu} has no memory left to {doing}; see nvidia-smi for who has it, or use device cpu"
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

    def _create_pool(self) -> Any:
        """A pool of our own keeps what is released, so that the next array costs no time."""
        api = self._api
        properties = api.CUmemPoolProps()
        properties.allocType = api.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
        properties.location.type = api.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
        properties.location.id = self.ordinal
        (pool,) = self._call(api.cuMemPoolCreate, properties)
        threshold = api.CUmemPool_attribute.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD
        self._call(api.cuMemPoolSetAttribute, pool, threshold, api.cuuint64_t(2**64 - 1))
        return pool

    def _pool_figures(self) -> tuple[int, int, int]:
        attribute = self._api.CUmemPool_attribute
        kinds = (
            attribute.CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT,
            attribute.CU_MEMPOOL_ATTR_USED_MEM_CURRENT,
            attribute.CU_MEMPOOL_ATTR_USED_MEM_HIGH,
        )
        reserved, used, peak = (
            int(self._call(self._api.cuMemPoolGetAttribute, self._pool, kind)[0]) for kind in kinds
        )
        return reserved, used, peak

    def _allocate(self, size: int) -> int:
        if self._pools and self._pool is None:
            raise ValueError(f"{self!r} was closed")
        for _ in range(2):
            try:
                return self._take(size)
            except _DriverError as error:
                if str(error) != "CUDA_ERROR_OUT_OF_MEMORY":
                    self._fail(f"give {_gigabytes(size)}", error)
                refused = error
                # What the pool keeps may be in pieces that are too small, and a refused request leaves it
                # with all that other processes had left.
                self._trim()
        free = _gigabytes(self.memory_free())
        raise DeviceOutOfMemory(
            f"device cuda:{self.ordinal}: {_gigabytes(size)} more are needed, and {free} of "
            f"{_gigabytes(self.memory_total)} are free; end what else uses the GPU (see nvidia-smi), or "
            "use device cpu"
        ) from refused

    def _take(self, size: int) -> int:
        api = self._api
        if not self._pools:
            return int(self._call(api.cuMemAlloc, size)[0])
        return int(self._call(api.cuMemAllocFromPoolAsync, size, self._pool, self._stream_handle)[0])

    def _trim(self) -> None:
        """Let the pool keep only what arrays hold."""
        if self._pool is not None:
            with self._named("wait for its work"):
                self._stream.sync()
                self._call(self._api.cuMemPoolTrimTo, self._pool, 0)

    def _free(self, pointer: int) -> None:
        api = self._api
        self._enter()  # the garbage collector may run in another thread
        if not self._pools:
            api.cuMemFree(pointer)
        else:
            api.cuMemFreeAsync(pointer, self._stream_handle)

    def __del__(self) -> None:
        if not sys.is_finalizing():
            self.close()


class DeviceArray:
    """An array in the memory of a GPU, C-contiguous; released when nobody refers to it any more.

    ``array[start:stop]`` is a view of rows.

    Attributes
    ----------
    shape : tuple of int
    dtype : numpy.dtype
    pointer : int
        Its address on the GPU.
    """

    def __init__(
        self, device: Device, shape: tuple[int, ...], dtype: np.dtype[Any], pointer: int, memory: _Memory
    ) -> None:
        self._device = device
        self._memory = memory
        self.shape = shape
        self.dtype = dtype
        self.pointer = pointer

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Number of bytes."""
        return self.size * self.dtype.itemsize

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice) -> DeviceArray:
        start, stop, step = rows.indices(self.shape[0])
        if step != 1:
            raise ValueError(f"step {step}: a view is of consecutive rows")
        count = max(0, stop - start)
        row = math.prod(self.shape[1:]) * self.dtype.itemsize
        pointer = self.pointer + start * row if count else self.pointer
        return DeviceArray(self._device, (count, *self.shape[1:]), self.dtype, pointer, self._memory)

    def reshape(self, *shape: int) -> DeviceArray:
        """Return a view of another shape."""
        if math.prod(shape) != self.size:
            raise ValueError(f"an array of shape {self.shape} cannot have the shape {shape}")
        return DeviceArray(self._device, shape, self.dtype, self.pointer, self._memory)

    def __repr__(self) -> str:
        return f"DeviceArray(shape={self.shape}, dtype={self.dtype})"

    def download(self, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Return a copy in the host's memory, in `out` if that is given; waits for it."""
        host = np.empty(self.shape, self.dtype) if out is None else out
        self._check_alike(host)
        if not host.flags.c_contiguous or not host.flags.writeable:
            raise ValueError("out is not a writeable C-contiguous array")
        if self.nbytes:
            self._alive()
            device, api = self._device, self._device._api
            with device._named("copy an array to the host"):
                device._call(
                    api.cuMemcpyDtoHAsync, host.ctypes.data, self.pointer, self.nbytes, device._stream_handle
                )
                device._stream.sync()
        return host

    def upload(self, values: NDArray[Any]) -> None:
        """Overwrite it with an array of the host; waits, so that the host's may change afterwards."""
        self._check_alike(values)
        values = np.ascontiguousarray(values)
        if self.nbytes:
            self._alive()
            device, api = self._device, self._device._api
            with device._named("copy an array from the host"):
                device._call(
                    api.cuMemcpyHtoDAsync,
                    self.pointer,
                    values.ctypes.data,
                    self.nbytes,
                    device._stream_handle,
                )
                device._stream.sync()

    def upload_beside(self, values: NDArray[Any]) -> None:
        """Overwrite it while the GPU is at work: not in the order of its stream, but now; waits for it."""
        self._check_alike(values)
        self._alive()
        device, api = self._device, self._device._api
        with device._named("copy an array from the host"):
            if device._beside is None:
                device._beside = device._gpu.create_stream()
            stream = api.CUstream(int(device._beside.handle))
            device._call(api.cuMemcpyHtoDAsync, self.pointer, values.ctypes.data, self.nbytes, stream)
            device._beside.sync()

    def copy_from(self, other: DeviceArray) -> None:
        """Overwrite it with another array of the GPU, or of another one.

        In the order of this GPU's own stream; `Device.after` keeps the other one in order with it, before
        and behind.
        """
        self._check_alike(other)
        if not self.nbytes:
            return
        self._alive()
        other._alive()
        device, source, api = self._device, other._device, self._device._api
        with device._named("copy an array"):
            if device.ordinal == source.ordinal:
                device._call(
                    api.cuMemcpyDtoDAsync, self.pointer, other.pointer, self.nbytes, device._stream_handle
                )
            else:
                device._call(
                    api.cuMemcpyPeerAsync,
                    self.pointer,
                    device._context,
                    other.pointer,
                    source._context,
                    self.nbytes,
                    device._stream_handle,
                )

    def copy_to(self, device: Device) -> DeviceArray:
        """Return a copy on another GPU, in order with all that both were told."""
        copy = device.empty(self.shape, self.dtype)
        device.after(self._device)
        copy.copy_from(self)
        self._device.after(device)
        return copy

    def zero(self) -> None:
        """Set every byte to 0."""
        if self.nbytes:
            self._alive()
            device, api = self._device, self._device._api
            with device._named("clear an array"):
                device._call(api.cuMemsetD8Async, self.pointer, 0, self.nbytes, device._stream_handle)

    def release(self) -> None:
        """Give the memory back now; the array and its views cannot be used any more."""
        self._memory.release()

    def _alive(self) -> None:
        if self._memory.pointer == 0:
            raise ValueError(f"{self!r} was released")

    def _check_alike(self, other: NDArray[Any] | DeviceArray) -> None:
        if other.shape != self.shape or other.dtype != self.dtype:
            raise ValueError(
                f"an array of shape {other.shape} and type {other.dtype} is not one of shape {self.shape} "
                f"and type {self.dtype}"
            )


class Module:
    """Compiled kernels on a GPU; made by `Device.module`."""

    def __init__(self, device: Device, kind: str, binary: bytes, symbols: dict[str, str]) -> None:
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

    def __init__(self, device: Device, name: str, kernel: Any) -> None:
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
        self._room: dict[tuple[int, ...], _ArgumentRoom] = {}

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
        except _DriverError as error:
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
        """Bytes of each parameter; None where the driver (before CUDA 12.4) does not tell."""
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
        room = self._room.get(sizes)
        if room is None:
            room = self._room[sizes] = _ArgumentRoom(sizes)
        return room.fill(values)

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


class _ArgumentRoom:
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


class Timer:
    """What `Device.timer` measures."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._begun: Any = None
        self._ended: Any = None

    @property
    def is_done(self) -> bool:
        """Whether it has ended."""
        with self._device._named("tell how far it is"):
            return bool(self._ended.is_done)

    @property
    def seconds(self) -> float:
        """Of the GPU's own clock; waits for the end."""
        with self._device._named("wait for its work"):
            self._ended.sync()
            return float(self._ended - self._begun) / 1000.0


class _Memory:
    """A piece of device memory, held by an array and its views."""

    def __init__(self, device: Device, pointer: int) -> None:
        self._device = device
        self.pointer = pointer

    def release(self) -> None:
        pointer, self.pointer = self.pointer, 0
        if pointer and not sys.is_finalizing():
            self._device._free(pointer)

    def __del__(self) -> None:
        self.release()


class _DriverError(Exception):
    """The driver returned this error."""


def _three(extent: int | tuple[int, ...]) -> tuple[int, ...]:
    sizes = (extent,) if isinstance(extent, int) else tuple(extent)
    return (*(int(size) for size in sizes), 1, 1, 1)[:3]


def _gigabytes(size: int) -> str:
    return f"{size / 1e9:.2f} GB" if size >= 10_000_000 else f"{size} bytes"
