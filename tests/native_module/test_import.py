"""The import of the native module: a signal in its middle, and another one after one that was ended."""

from __future__ import annotations

import sys

import pytest
from processes import run_code

SIGNAL_WHILE_TYPES_ARE_MADE = """
import enum, signal, warptsp

class Interrupted:
    def __getattr__(self, name):
        if name.startswith("Int"):  # as nanobind asks for it
            signal.raise_signal(signal.SIGINT)
        return getattr(enum, name)

sys.modules["enum"] = Interrupted()
try:
    import warptsp._native
except KeyboardInterrupt:
    print("interrupted")
sys.modules["enum"] = enum
"""
IMPORTED_AGAIN = """
import warptsp._native
before = warptsp._native.StopToken
del sys.modules["warptsp._native"]
import warptsp._native
print("interrupted" if warptsp._native.StopToken is before else "other types")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals are others there")
@pytest.mark.parametrize("program", [SIGNAL_WHILE_TYPES_ARE_MADE, IMPORTED_AGAIN])
def test_an_interrupted_import_can_be_repeated(program):
    program = f"import sys\n{program}\nimport warptsp\nprint(warptsp.solve([[0, 0], [3, 4]]).length)"
    done = run_code(program)
    assert (done.stdout, done.stderr, done.returncode) == ("interrupted\n10.0\n", "", 0)
