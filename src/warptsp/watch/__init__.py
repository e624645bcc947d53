"""A page in the browser that shows a running search, with buttons to stop it and to save its tour.

It is the page of `warptsp.report`, served on this machine while the search runs; the tour gets better in it.
"""

from warptsp.watch.watch import Watch

__all__ = ["Watch"]
