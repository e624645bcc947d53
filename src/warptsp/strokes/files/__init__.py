"""Files with strokes: SVG, HPGL, G-code, Excellon and DXF, read and written in another order.

A module for each format makes the object `FORMAT`; `registry` says which one a file has.
"""

from __future__ import annotations

from .drawing import Drawing
from .registry import formats, read_drawing

__all__ = ["Drawing", "formats", "read_drawing"]
