"""Endings of the names of files that are written for people to look at.

Those of tours and instances belong to their formats (`warptsp.io`).
"""

import os
from pathlib import Path

PICTURES = (".svg", ".png")  # of a tour
FIGURES = (*PICTURES, ".pdf")  # of a run, by matplotlib
PAGES = (".html", ".htm")  # for browsers


def ends_in(path: str | os.PathLike[str], endings: tuple[str, ...]) -> bool:
    """Whether the name of a file ends so, in capitals or not."""
    return Path(path).suffix.lower() in endings
