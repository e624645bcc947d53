"""A driver that answers as libcuda does, for machines without one; the fixture is `pretend_gpus`."""

# Name, compute capability, memory.
H200 = ("NVIDIA H200", (9, 0), 150 << 30)
PASCAL = ("GeForce GTX 1080", (6, 1), 8 << 30)


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

    def cuDeviceCanAccessPeer(self, can, device, other):  # noqa: N802
        can._obj.value = 1
        return 0

    def cuDeviceTotalMem_v2(self, memory, device):  # noqa: N802
        memory._obj.value = self.gpus[device.value][2]
        return 0
