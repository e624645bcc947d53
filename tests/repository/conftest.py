"""What tests of the repository share."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def reproduce() -> Iterator[None]:
    """``benchmarks.reproduce`` can be imported."""
    sys.path.insert(0, str(REPOSITORY))
    try:
        yield
    finally:
        sys.path.remove(str(REPOSITORY))
