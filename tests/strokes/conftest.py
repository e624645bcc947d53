"""What tests of strokes share."""

import contextlib

import pytest


@pytest.fixture
def folder(tmp_path):
    """A folder of the test's own, which is the working directory."""
    with contextlib.chdir(tmp_path):
        yield tmp_path
