"""The types of the native module that checkers see are those that it has."""

from pathlib import Path

import pytest
from processes import run_python

STUB = Path(__file__).parents[2] / "src/warptsp/_native.pyi"


def test_the_stub_is_that_of_the_module(tmp_path):
    nanobind = pytest.importorskip("nanobind", reason="an extra brings the generator of stubs")
    if nanobind.__version__.split(".")[:2] != ["3", "1"]:
        pytest.skip(f"nanobind {nanobind.__version__} may write other words than 3.1, which wrote the stub")
    made = tmp_path / "_native.pyi"
    done = run_python("-m", "nanobind.stubgen", "-q", "-D", "-m", "warptsp._native", "-o", made)
    assert done.returncode == 0, done.stderr
    assert made.read_text() == STUB.read_text(), "an editable install writes it again; commit what it wrote"
