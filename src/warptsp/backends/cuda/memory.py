"""The memory of a GPU: arrays in it, and a pool that keeps what they release."""

from __future__ import annotations

import math
import sys
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from warptsp.backends.cuda.context import Context, DriverError
from warptsp.errors import DeviceOutOfMemory

ALIGNED = 256  # bytes: where arrays that are made together begin, as those that are made alone do
IDLE_BYTES = 32 << 20  # that a pool keeps for the next device when its own is closed; few cities need less


class DeviceMemory(Context):
    """A GPU whose memory is given out as arrays; the base of `Device`."""

    _idle_pools: ClassVar[dict[int, Any]] = {}  # by GPU, one at most: to make and destroy one takes 1 to 2 ms

    def __init__(self, ordinal: int, core: Any, api: Any) -> None:
        self._pool: Any = None
        super().__init__(ordinal, core, api)
        if self._pools:
            with self._named("set up"):
                self._pool = self._create_pool()

    def empty(self, shape: int | tuple[int, ...], dtype: DTypeLike) -> DeviceArray:
        """Return an array with anything in it; DeviceOutOfMemory, with figures, if there is no room."""
        kind = np.dtype(dtype)
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        size = math.prod(shape) * kind.itemsize
        memory = _Piece(self, self._allocate(size) if size > 0 else 0)
        return DeviceArray(self, shape, kind, memory.pointer, memory)

    def zeros(self, shape: int | tuple[int, ...], dtype: DTypeLike) -> DeviceArray:
        array = self.empty(shape, dtype)
        array.zero()
        return array

    def upload(self, array: ArrayLike) -> DeviceArray:
        """Return a copy of an array on the GPU."""
        values = np.asarray(array)
        copy = self.empty(values.shape, values.dtype)
        copy.upload(values)
        return copy

    def together(
        self, **wanted: NDArray[Any] | tuple[int | tuple[int, ...], DTypeLike]
    ) -> dict[str, DeviceArray]:
        """Return several arrays by one allocation and one copy; they live as long as the last of them.

        Given are arrays of the host, of which these are copies, and ``(shape, dtype)`` of arrays with
        anything in them.
        """
        given = {name: one for name, one in wanted.items() if isinstance(one, np.ndarray)}
        others = {name: one for name, one in wanted.items() if not isinstance(one, np.ndarray)}
        shapes = {name: (one.shape, one.dtype) for name, one in given.items()}
        for name, (shape, dtype) in others.items():
            shapes[name] = (shape,) if isinstance(shape, int) else tuple(shape), np.dtype(dtype)
        begins, end = {}, 0
        for name, (shape, kind) in shapes.items():
            begins[name] = end
            end += -(-math.prod(shape) * kind.itemsize // ALIGNED) * ALIGNED
        host = np.zeros(min((begins[name] for name in others), default=end), np.uint8)
        for name, values in given.items():
            begin = begins[name]
            host[begin : begin + values.nbytes] = np.ascontiguousarray(values).reshape(-1).view(np.uint8)
        piece = self.empty(end, np.uint8)
        piece[: len(host)].upload(host)
        return {
            name: DeviceArray(self, shape, kind, piece.pointer + begins[name], piece._memory)
            for name, (shape, kind) in shapes.items()
        }

    def memory_free(self) -> int:
        """Return the bytes that `empty` can have at most, of what this and other processes left."""
        free = int(self._call(self._api.cuMemGetInfo)[0])
        if self._pool is not None:
            free += self._pool_figure("RESERVED_MEM_CURRENT") - self._pool_figure("USED_MEM_CURRENT")
        return free

    def memory_peak(self) -> int:
        """Return the largest number of bytes that arrays of this device have had at once; 0 where the driver
        does not count them."""
        return 0 if self._pool is None else self._pool_figure("USED_MEM_HIGH")

    def share_with(self, other: Context) -> None:
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

    def _create_pool(self) -> Any:
        """A pool of our own keeps what is released, so that the next array costs no time."""
        api = self._api
        pool = self._idle_pools.pop(self.ordinal, None)
        peak = api.CUmemPool_attribute.CU_MEMPOOL_ATTR_USED_MEM_HIGH
        # It is gone if somebody has reset the GPU since.
        if pool is not None and int(api.cuMemPoolSetAttribute(pool, peak, api.cuuint64_t(0))[0]) == 0:
            return pool
        properties = api.CUmemPoolProps()
        properties.allocType = api.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
        properties.location.type = api.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
        properties.location.id = self.ordinal
        (pool,) = self._call(api.cuMemPoolCreate, properties)
        threshold = api.CUmemPool_attribute.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD
        self._call(api.cuMemPoolSetAttribute, pool, threshold, api.cuuint64_t(2**64 - 1))
        return pool

    def _leave_pool(self) -> None:
        """Wait for the GPU, and leave an empty pool to the next device; another goes with its last array."""
        pool = self._pool
        if pool is None:
            return
        api = self._api
        try:
            self._call(api.cuStreamSynchronize, self._stream_handle)
            empty = self._pool_figure("USED_MEM_CURRENT") == 0
            self._call(api.cuMemPoolTrimTo, pool, IDLE_BYTES)
        except DriverError:
            empty = False
        self._pool = None
        if not empty or self._idle_pools.setdefault(self.ordinal, pool) is not pool:
            api.cuMemPoolDestroy(pool)

    def _pool_figure(self, name: str) -> int:
        kind = getattr(self._api.CUmemPool_attribute, f"CU_MEMPOOL_ATTR_{name}")
        return int(self._call(self._api.cuMemPoolGetAttribute, self._pool, kind)[0])

    def _allocate(self, size: int) -> int:
        if self._pools and self._pool is None:
            raise ValueError(f"{self!r} was closed")
        for _ in range(2):
            try:
                return self._take(size)
            except DriverError as error:
                if str(error) != "CUDA_ERROR_OUT_OF_MEMORY":
                    self._fail(f"give {_gigabytes(size)}", error)
                refused = error
                # What the pool keeps may be in pieces that are too small, and a refused request leaves it
                # with all that other processes had left.
                self._trim()
        free = _gigabytes(self.memory_free())
        raise DeviceOutOfMemory(
            f"device cuda:{self.ordinal}: {_gigabytes(size)} more are needed, and {free} of "
            f"{_gigabytes(self.memory_total)} are free; stop other programs that use the GPU (see "
            "nvidia-smi), or use device cpu"
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


class DeviceArray:
    """An array in the memory of a GPU, C-contiguous; released when nobody refers to it any more.

    ``array[start:stop]`` is a view of rows, and `pointer` the address on the GPU.
    """

    def __init__(
        self, device: DeviceMemory, shape: tuple[int, ...], dtype: np.dtype[Any], pointer: int, memory: _Piece
    ) -> None:
        self._device = device
        self._memory = memory
        self.shape = shape
        self.dtype = dtype
        self.pointer = pointer

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
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
            device, doing = self._device, "copy an array to the host"
            device._tell(doing, device._api.cuMemcpyDtoHAsync, host.ctypes.data, self.pointer, self.nbytes)
            with device._named(doing):
                device._stream.sync()
        return host

    def upload(self, values: NDArray[Any]) -> None:
        """Overwrite it with an array of the host, which may change afterwards.

        The driver has copied pageable memory, which NumPy's is, when it returns ("API synchronization
        behavior" in its manual); the GPU need not have it yet.
        """
        self._check_alike(values)
        values = np.ascontiguousarray(values)
        if self.nbytes:
            device, doing = self._device, "copy an array from the host"
            device._tell(doing, device._api.cuMemcpyHtoDAsync, self.pointer, values.ctypes.data, self.nbytes)

    def upload_beside(self, values: NDArray[Any]) -> None:
        """Overwrite it while the GPU is at work: not in the order of its stream, but now; waits for it."""
        self._check_alike(values)
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
        device, source, api = self._device, other._device, self._device._api
        if device.ordinal == source.ordinal:
            device._tell("copy an array", api.cuMemcpyDtoDAsync, self.pointer, other.pointer, self.nbytes)
        else:
            ends = self.pointer, device._context, other.pointer, source._context
            device._tell("copy an array", api.cuMemcpyPeerAsync, *ends, self.nbytes)

    def copy_to(self, device: DeviceMemory) -> DeviceArray:
        """Return a copy on another GPU, in order with all that both were told."""
        copy = device.empty(self.shape, self.dtype)
        device.after(self._device)
        copy.copy_from(self)
        self._device.after(device)
        return copy

    def zero(self) -> None:
        """Set every byte to 0."""
        if self.nbytes:
            device = self._device
            device._tell("clear an array", device._api.cuMemsetD8Async, self.pointer, 0, self.nbytes)

    def _check_alike(self, other: NDArray[Any] | DeviceArray) -> None:
        if other.shape != self.shape or other.dtype != self.dtype:
            raise ValueError(
                f"an array of shape {other.shape} and type {other.dtype} is not one of shape {self.shape} "
                f"and type {self.dtype}"
            )


class _Piece:
    """A piece of device memory, held by an array and its views."""

    def __init__(self, device: DeviceMemory, pointer: int) -> None:
        self._device = device
        self.pointer = pointer

    def __del__(self) -> None:
        if self.pointer and not sys.is_finalizing():
            self._device._free(self.pointer)


def _gigabytes(size: int) -> str:
    return f"{size / 1e9:.2f} GB" if size >= 10_000_000 else f"{size} bytes"
