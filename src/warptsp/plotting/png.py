"""PNG images of few colours, with nothing but NumPy and zlib."""

import struct
import zlib

import numpy as np
from numpy.typing import NDArray

from warptsp.plotting.colours import Colour

LEVELS = {1: 32, 2: 16, 3: 6}
"""Opacities of each layer, by the number of layers: the palette has room for 256 colours."""


def encode(layers: list[tuple[NDArray[np.uint8], Colour]], paper: Colour | None) -> bytes:
    """Return the PNG file of opacities, each in its colour, the last on top, on paper or on nothing.

    PNG specification (W3C, third edition): colour type 3 with a palette, filter 0.
    """
    levels = LEVELS[len(layers)]
    shape = layers[0][0].shape
    index = np.zeros(shape, dtype=np.uint8)
    for image, _ in layers:
        index *= np.uint8(levels)
        index += ((image.astype(np.uint16) * (levels - 1) + 127) // 255).astype(np.uint8)
    palette = _palette([colour for _, colour in layers], levels, paper)

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    height, width = shape
    rows = np.zeros((height, width + 1), dtype=np.uint8)
    rows[:, 1:] = index
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0))
        + chunk(b"PLTE", palette[:, :3].tobytes())
        + (chunk(b"tRNS", palette[:, 3].tobytes()) if paper is None else b"")
        + chunk(b"IDAT", zlib.compress(rows.tobytes(), 6))
        + chunk(b"IEND", b"")
    )


def _palette(colours: list[Colour], levels: int, paper: Colour | None) -> NDArray[np.uint8]:
    """Return red, green, blue and opacity of every combination of levels."""
    shares = np.indices((levels,) * len(colours)).reshape(len(colours), -1) / (levels - 1)
    light = np.tile(np.array((0, 0, 0) if paper is None else paper, dtype=float), (shares.shape[1], 1))
    cover = np.full(shares.shape[1], 0.0 if paper is None else 1.0)
    for share, colour in zip(shares, colours, strict=True):
        light = light * (1 - share)[:, None] + np.array(colour) * share[:, None]
        cover = cover * (1 - share) + share
    light /= np.maximum(cover, 1e-9)[:, None]
    palette: NDArray[np.uint8] = np.rint(np.column_stack((light, 255 * cover))).astype(np.uint8)
    return palette
