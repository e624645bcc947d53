"""The import of the native module: a signal in its middle, and another one after one that was ended."""

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
SIGNAL_WHILE_THE_SOLVER_IS_IMPORTED = """
import threading
from pathlib import Path
Path("highspy.py").write_text("import signal, twice; signal.raise_signal(signal.SIGINT); whole = True")
Path("twice.py").write_text("import warptsp._native; warptsp._native.import_whole('json.tool')")
sys.path.insert(0, "")
from warptsp.proof.linear_program import require_solver
for _ in range(2):
    try:
        assert require_solver().whole
    except KeyboardInterrupt:
        print("interrupted")
signal = sys.modules["signal"]
assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals are others there")
@pytest.mark.parametrize(
    "program", [SIGNAL_WHILE_TYPES_ARE_MADE, IMPORTED_AGAIN, SIGNAL_WHILE_THE_SOLVER_IS_IMPORTED]
)
def test_an_interrupted_import_can_be_repeated(program, tmp_path):
    program = f"import sys\n{program}\nimport warptsp\nprint(warptsp.solve([[0, 0], [3, 4]]).length)"
    done = run_code(program, cwd=tmp_path)
    assert (done.stdout, done.stderr, done.returncode) == ("interrupted\n10.0\n", "", 0)
