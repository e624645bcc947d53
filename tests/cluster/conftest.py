"""What tests of clusters share."""

import pytest


@pytest.fixture(autouse=True)
def told(caplog):
    """What the log says."""
    caplog.set_level("INFO", "warptsp")
    return caplog
