"""What tests of the repository share."""

import importlib.util
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def imported() -> Callable[[str | Path], ModuleType]:
    """Call it with a file of the repository that no package has, for its module."""

    def of_file(file: str | Path) -> ModuleType:
        specification = importlib.util.spec_from_file_location("imported", REPOSITORY / file)
        module = importlib.util.module_from_spec(specification)
        specification.loader.exec_module(module)
        return module

    return of_file


@pytest.fixture(scope="module")
def reproduce() -> Iterator[None]:
    """``benchmarks.reproduce`` can be imported."""
    sys.path.insert(0, str(REPOSITORY))
    try:
        yield
    finally:
        sys.path.remove(str(REPOSITORY))
