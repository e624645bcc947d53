"""Arrays as text in a page: differences, byte planes, deflate (RFC 1950), base64.

Along a good tour, coordinates change little from city to city, and so do the numbers of the cities of another
tour if they are numbered along the best one. Small differences leave their upper bytes zero, and with all
upper bytes together deflate makes nothing of them. The page unpacks them.
"""

import base64
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

LEVEL = 6  # of zlib; 9 takes ten times as long for 3 % less


def packed_integers(values: NDArray[Any], *, differences: bool) -> str:
    """Return integers below 2**31, or their differences, as text."""
    numbers = np.asarray(values, dtype=np.int64)
    if differences:
        numbers = np.diff(numbers, prepend=0)
    # Zigzag: 0, -1, 1, -2, ... become 0, 1, 2, 3, ...
    unsigned = ((numbers << 1) ^ (numbers >> 63)).astype("<u4")
    planes = unsigned.view(np.uint8).reshape(-1, 4).T
    return _packed(np.ascontiguousarray(planes).tobytes())


def unpacked_integers(text: str, *, differences: bool) -> NDArray[np.int64]:
    """Return the integers that a text holds.

    >>> unpacked_integers(packed_integers(np.array([5, -3, 1 << 30]), differences=True), differences=True)
    array([         5,         -3, 1073741824])
    """
    planes = np.frombuffer(zlib.decompress(base64.b64decode(text)), dtype=np.uint8).reshape(4, -1)
    zigzag = np.ascontiguousarray(planes.T).view("<u4")[:, 0].astype(np.int64)
    values: NDArray[np.int64] = (zigzag >> 1) ^ -(zigzag & 1)
    return np.cumsum(values) if differences else values


def packed_reals(values: NDArray[np.float64]) -> str:
    """Return float64 numbers as text, as they are."""
    return _packed(np.ascontiguousarray(values, dtype="<f8").tobytes())


def packed_text(text: str) -> str:
    """Return a text as text that is safe in any page."""
    return _packed(text.encode("utf-8", "replace"))


def _packed(data: bytes) -> str:
    return base64.b64encode(zlib.compress(data, LEVEL)).decode("ascii")
