"""Commands and programs in processes of their own."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

LONG = 200.0  # seconds: what has not ended by then never will, on the busiest machine


def run_python(*words: object, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run Python with these arguments to its end."""
    command = [sys.executable, *map(str, words)]
    return subprocess.run(command, **{"capture_output": True, "text": True, "timeout": LONG, **options})


def run_code(code: str, *words: object, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a program to its end."""
    return run_python("-c", code, *words, **options)


def run_command(*words: object, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run the command `warptsp` to its end."""
    return run_python("-m", "warptsp", *words, **options)


def begin_python(*words: object, **options: Any) -> subprocess.Popen[str]:
    """Start Python with these arguments, its output in pipes."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([sys.executable, *map(str, words)], **{**pipes, **options})


def begin_command(*words: object, **options: Any) -> subprocess.Popen[str]:
    """Start the command `warptsp`, its output in pipes."""
    return begin_python("-m", "warptsp", *words, **options)
