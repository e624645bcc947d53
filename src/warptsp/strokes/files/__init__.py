"""Files with strokes: SVG, HPGL, G-code, Excellon and DXF, read and written in another order.

A module for each format makes the object `FORMAT`; `registry` says which one a file has, makes its contents
in a new order, and verifies them (`strokes.verify`) before anyone gets them.
"""

from warptsp.strokes.files.drawing import Drawing
from warptsp.strokes.files.registry import formats, read_drawing, rewritten
from warptsp.strokes.verify import NotVerified, Rules

__all__ = ["Drawing", "NotVerified", "Rules", "formats", "read_drawing", "rewritten"]
