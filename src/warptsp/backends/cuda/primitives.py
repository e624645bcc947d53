"""What the set-up on a GPU is made of: kernels with a thread for each item, exclusive scans, sorting.

The kernels are in ``native/cuda/geometry.cu``. Results do not depend on how threads are scheduled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np

from warptsp.backends.cuda import tuning
from warptsp.backends.cuda.compiler import Source

if TYPE_CHECKING:
    from collections.abc import Callable

    import warptsp._native as _native
    from warptsp.backends.cuda.device import Device, DeviceArray, Kernel

_T = TypeVar("_T")

KERNELS = (
    "sum_tiles<int>",
    "sum_tiles<long long>",
    "scan_tiles<int>",
    "scan_tiles<long long>",
    "sum_all<long long>",
    "sum_all<double>",
    "count_digits",
    "scatter_by_digit",
    "find_extremes",
    "make_frame",
    "curve_keys",
    "turned_keys",
    "gather_points",
    "take",
    "find_first",
    "write_problems",
    "make_leaves<2>",
    "make_leaves<3>",
    "make_level<2>",
    "make_level<3>",
    "make_levels<2>",
    "make_levels<3>",
    "greedy_cities",
    "greedy_begin",
    "greedy_name",
    "greedy_settle",
    "greedy_agree",
    "greedy_join",
    "greedy_rounds",
    "greedy_stays",
    "greedy_carry_over",
    "greedy_close",
    "mark_stops",
    "list_stops",
    "walk_ways",
    "jump_ways",
    "write_tour",
    "tour_lengths<long long>",
    "tour_lengths<double>",
)
SOURCE = Source("geometry.cu", KERNELS, fmad=False)


def kernel(device: Device, name: str) -> Kernel:
    return device.module(SOURCE).kernel(name)


def blocks_for(count: int) -> int:
    return -(-count // tuning.THREADS)


def launch(device: Device, name: str, count: int, *arguments: DeviceArray | np.generic | None) -> None:
    """Start a kernel with one thread for each of `count` items."""
    kernel(device, name).launch(blocks_for(count), tuning.THREADS, *arguments)


def stopped(token: _native.StopToken | None) -> bool:
    return token is not None and token.stopped()


def at_once(work: Callable[[int], _T], count: int) -> list[_T]:
    """What `work` returns for 0 to `count` - 1, each on a thread of its own."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(work, range(count)))


def take(device: Device, values: DeviceArray, places: DeviceArray) -> DeviceArray:
    """The values, of type int32, at these places."""
    taken = device.empty(len(places), np.int32)
    launch(device, "take", len(places), values, places, np.int32(len(places)), taken)
    return taken


def scan_exclusive(device: Device, values: DeviceArray, scanned: DeviceArray, n: int) -> DeviceArray:
    """Sums of all earlier values.

    Parameters
    ----------
    device : Device
    values, scanned : DeviceArray of int32 or int64
        At least n long; they may be the same.
    n : int
        At least 1.

    Returns
    -------
    DeviceArray of their type, shape (1,)
        The sum of all n values.
    """
    total = device.empty(1, values.dtype)
    _scan(device, values, scanned, n, total)
    return total


def sort_by_key(
    device: Device,
    keys: DeviceArray,
    values: DeviceArray,
    n: int,
    key_bits: int,
    token: _native.StopToken | None = None,
) -> DeviceArray | None:
    """The values in the order of their keys, equal keys in the order given; `keys` and `values` are lost.

    Parameters
    ----------
    device : Device
    keys : DeviceArray of uint64, shape (n,)
    values : DeviceArray of int32, shape (n,)
    n : int
    key_bits : int
        So many low bits of the keys count, the others are 0.
    token : _native.StopToken, optional

    Returns
    -------
    DeviceArray or None
        None if the token stopped it.
    """
    both = _sort(device, keys, values, n, key_bits, token)
    return None if both is None else both[1]


def sorted_keys(
    device: Device, keys: DeviceArray, n: int, key_bits: int, token: _native.StopToken | None = None
) -> DeviceArray | None:
    """The keys, of type uint64 and at least n of them, in ascending order; as `sort_by_key`."""
    both = _sort(device, keys, device.empty(n, np.int32), n, key_bits, token)
    return None if both is None else both[0]


def _sort(
    device: Device,
    keys: DeviceArray,
    values: DeviceArray,
    n: int,
    key_bits: int,
    token: _native.StopToken | None,
) -> tuple[DeviceArray, DeviceArray] | None:
    """Keys and values in the order of keys."""
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


def _scan(device: Device, values: DeviceArray, scanned: DeviceArray, n: int, total: DeviceArray) -> None:
    tiles = -(-n // tuning.SCAN_TILE)
    kind = "long long" if values.dtype == np.int64 else "int"
    scan = kernel(device, f"scan_tiles<{kind}>")
    if tiles <= 1:
        scan.launch(1, tuning.THREADS, values, np.int32(n), None, scanned, total)
        return
    sums = device.empty(tiles, values.dtype)
    kernel(device, f"sum_tiles<{kind}>").launch(tiles, tuning.THREADS, values, np.int32(n), sums)
    _scan(device, sums, sums, tiles, total)
    scan.launch(tiles, tuning.THREADS, values, np.int32(n), sums, scanned, None)
