"""Fixtures that every test module may use."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder with TSPLIB and the table of lengths, which is not part of the project.

    ``<repository>/../shared/data``, or ``$WARPTSP_SHARED/data``; the test is skipped where neither exists.
    """
    beside = Path(__file__).resolve().parents[1].parent / "shared"
    folder = Path(os.environ.get("WARPTSP_SHARED", beside)) / "data"
    if not folder.is_dir():
        pytest.skip(f"needs the TSPLIB instances in {folder} (or WARPTSP_SHARED set to a folder with data/)")
    return folder
