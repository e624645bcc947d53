"""One HTML page with a tour in it: it needs no network, and no server.

The page holds cities and snapshots as compressed arrays, and the programs that draw them (``assets/``).
`docs/report.md` says what it shows.
"""

from warptsp.report.document import Report, check_reportable, render, snapshots_for, write
from warptsp.report.strokes import write_strokes
from warptsp.report.tiles import Tiles

__all__ = ["Report", "Tiles", "check_reportable", "render", "snapshots_for", "write", "write_strokes"]
