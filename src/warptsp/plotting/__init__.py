"""Pictures of tours.

`draw` writes a tour into an SVG or PNG file with nothing but NumPy; `plot` makes figures with matplotlib.
"""

from warptsp.plotting.figure import check_figure, plot
from warptsp.plotting.picture import check_drawable, draw

__all__ = ["check_drawable", "check_figure", "draw", "plot"]
