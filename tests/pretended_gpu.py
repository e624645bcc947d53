"""GPUs of NumPy arrays whose kernels do next to nothing: what the host tells each of several, and when."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np


class PretendedArray:
    """What `DeviceArray` does, at once."""

    def __init__(self, device, values):
        self._device, self.values = device, values
        self.pointer = values.__array_interface__["data"][0]
        self.shape, self.dtype, self.size = values.shape, values.dtype, values.size

    def __len__(self):
        return len(self.values)

    def __getitem__(self, rows):
        return PretendedArray(self._device, self.values[rows])

    def reshape(self, *shape):
        return PretendedArray(self._device, self.values.reshape(*shape))

    def download(self, out=None):
        if out is None:
            return self.values.copy()
        assert out.shape == self.shape
        assert out.dtype == self.dtype
        out[...] = self.values
        return out

    def upload(self, values):
        assert values.shape == self.shape
        assert values.dtype == self.dtype
        self.values[...] = values

    upload_beside = upload

    def zero(self):
        self.values[...] = 0

    def copy_from(self, other):
        assert other.shape == self.shape
        assert self._device is other._device or self._device in other._device.waited_for
        self.upload(other.values)

    def copy_to(self, device):
        return PretendedArray(device, self.values.copy())


class PretendedTimer:
    """Of a launch that has ended."""

    is_done, seconds = True, 0.01


class PretendedGpu:
    """A GPU that does what it is told at once, and notes the kernels."""

    multiprocessors, name = 4, "a pretended GPU"

    def __init__(self, ordinal):
        self.ordinal = ordinal
        self.launched = []
        self.waited_for = []  # by which others, since its last launch

    def empty(self, shape, dtype):
        return PretendedArray(self, np.full(shape, 77, dtype))

    def zeros(self, shape, dtype):
        return PretendedArray(self, np.zeros(shape, dtype))

    def upload(self, values):
        return PretendedArray(self, np.array(values))

    def after(self, *others):
        assert self not in others
        for other in others:
            other.waited_for.append(self)

    @contextmanager
    def timer(self) -> Iterator[PretendedTimer]:
        yield PretendedTimer()


class PretendedKernel:
    """A kernel that `work` may do something for."""

    def __init__(self, gpu, name, work):
        self.gpu, self.name, self.work = gpu, name, work

    def launch(self, grid, block, *arguments, shared=0):
        self.gpu.launched.append(self.name)
        self.gpu.waited_for.clear()
        self.work(self.gpu, self.name, grid, *arguments)
