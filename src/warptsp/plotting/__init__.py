"""Pictures of tours.

`draw` writes a tour into an SVG or PNG file with nothing but NumPy.
"""

from .picture import check_drawable, draw

__all__ = ["check_drawable", "draw"]
