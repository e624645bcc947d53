"""What the set-up on a GPU is made of: kernels with a thread for each item, exclusive scans, sorting.

The kernels are in ``native/cuda/geometry.cu``. Results do not depend on how threads are scheduled.
"""

import numpy as np

import warptsp._native as _native
from warptsp.backends.cuda import tuning
from warptsp.backends.cuda.compiler import Source
from warptsp.backends.cuda.device import Device, DeviceArray, Kernel

INSTANCES = (
    "sum_tiles<int>",
    "sum_tiles<long long>",
    "scan_tiles<int>",
    "scan_tiles<long long>",
    "sum_all<long long>",
    "sum_all<double>",
    "tour_lengths<long long>",
    "tour_lengths<double>",
    *(f"make_{what}<{dimensions}>" for what in ("leaves", "level", "levels") for dimensions in (2, 3)),
)
SOURCE = Source("geometry.cu", INSTANCES, fmad=False)


def kernel(device: Device, name: str) -> Kernel:
    return device.module(SOURCE).kernel(name)


def blocks_for(count: int) -> int:
    return -(-count // tuning.THREADS)


def launch(device: Device, name: str, count: int, *arguments: DeviceArray | np.generic | None) -> None:
    """Start a kernel with one thread for each of `count` items."""
    device.module(SOURCE).each(name, count, *arguments)


def stopped(token: _native.StopToken | None) -> bool:
    return token is not None and token.stopped()


def take(device: Device, values: DeviceArray, places: DeviceArray) -> DeviceArray:
    """The values, of type int32, at these places."""
    taken = device.empty(len(places), np.int32)
    launch(device, "take", len(places), values, places, np.int32(len(places)), taken)
    return taken


def scan_exclusive(device: Device, values: DeviceArray, scanned: DeviceArray, n: int) -> DeviceArray:
    """Write the sums of all earlier values, int32 or int64, and return the sum of all n >= 1, shape (1,); the
    two arrays may be the same."""
    tiles = -(-n // tuning.SCAN_TILE)
    kind = "long long" if values.dtype == np.int64 else "int"
    scan = kernel(device, f"scan_tiles<{kind}>")
    if tiles == 1:
        total = device.empty(1, values.dtype)
        scan.launch(1, tuning.THREADS, values, np.int32(n), None, scanned, total)
        return total
    sums = device.empty(tiles, values.dtype)
    kernel(device, f"sum_tiles<{kind}>").launch(tiles, tuning.THREADS, values, np.int32(n), sums)
    total = scan_exclusive(device, sums, sums, tiles)
    scan.launch(tiles, tuning.THREADS, values, np.int32(n), sums, scanned, None)
    return total


def sort_by_key(
    device: Device,
    keys: DeviceArray,
    values: DeviceArray,
    n: int,
    key_bits: int,
    token: _native.StopToken | None = None,
) -> tuple[DeviceArray, DeviceArray] | None:
    """The uint64 keys in ascending order, and the int32 values in theirs, equal keys in the order given; None
    if the token stopped it. Of the keys so many low bits count, and the others are 0; both arrays are
    lost."""
    tiles = -(-n // tuning.SORT_TILE)
    counts = device.empty((1 << tuning.DIGIT_BITS, tiles), np.int32)
    other_keys, other_values = device.empty(n, np.uint64), device.empty(n, np.int32)
    size = np.int32(n)
    for shift in range(0, key_bits, tuning.DIGIT_BITS):
        if n > tuning.SETUP_SLICE:
            device.synchronize()  # else the token would be asked long before the GPU gets there
        if stopped(token):
            return None
        digit = np.int32(shift)
        kernel(device, "count_digits").launch(tiles, tuning.THREADS, keys, size, digit, counts)
        scan_exclusive(device, counts, counts, counts.size)
        kernel(device, "scatter_by_digit").launch(
            tiles, tuning.THREADS, keys, values, size, digit, counts, other_keys, other_values
        )
        keys, other_keys = other_keys, keys
        values, other_values = other_values, values
    return keys, values
