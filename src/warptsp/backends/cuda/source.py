"""One self-contained source for each kernel file, so that the compiler looks for no file.

``#include "name.h"`` is replaced by the header, once each; headers in angle brackets stay, and must hide from
NVRTC behind ``#if``.
"""

import functools
import re
from pathlib import Path

from warptsp.errors import BackendUnavailable

NATIVE = Path(__file__).resolve().parents[2] / "native"

_KERNEL = re.compile(
    r'(template <[^;{}]*>\s*)?(?:extern "C" )?__global__ void(?:\s+__launch_bounds__\([^()]*\))?\s+(\w+)\('
)
_DIRECTIVE = re.compile(r'^\s*#\s*(\w+)(?:\s*"([^"]+)")?')


def expand(file: str | Path) -> str:
    """Return the source of a kernel file with all its headers: by its name in native/, or by its path.

    BackendUnavailable if a file is missing; ValueError if a header is included under a condition, where "once
    each" could lose it.
    """
    return _of_package(file) if isinstance(file, str) else "".join(_expanded(file, set()))


def kernel_names(text: str) -> list[str]:
    """Return the names of the kernels in a source that are no templates."""
    return [name for template, name in _KERNEL.findall(text) if not template]


@functools.cache  # 3 ms, of a call that may take 10
def _of_package(name: str) -> str:
    path = next(NATIVE.rglob(name), NATIVE / "cuda" / name)
    return "".join(_expanded(path, set()))


def _expanded(path: Path, seen: set[Path]) -> list[str]:
    name = _name(path)
    try:
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    except OSError as error:
        raise BackendUnavailable(
            f"the kernel source {path} cannot be read ({error.strerror}); install warptsp again"
        ) from error
    seen.add(path.resolve())
    text = [f'#line 1 "{name}"\n']
    depth = 0
    for number, line in enumerate(lines, start=1):
        match = _DIRECTIVE.match(line)
        directive, header = match.groups() if match is not None else (None, None)
        if directive in ("if", "ifdef", "ifndef"):
            depth += 1
        elif directive == "endif":
            depth -= 1
        if directive == "include" and header is not None:
            if depth > 0:
                raise ValueError(f'{name}:{number}: #include "{header}" inside #if; include it in any case')
            found = _find(path, header)
            if found.resolve() not in seen:
                text += _expanded(found, seen)
            text.append(f'#line {number + 1} "{name}"\n')
        elif directive == "pragma" and "once" in line.split():
            text.append("\n")
        else:
            text.append(line if line.endswith("\n") else line + "\n")
    return text


def _find(including: Path, header: str) -> Path:
    beside = including.parent / header
    return beside if beside.is_file() else NATIVE / header


def _name(path: Path) -> str:
    return path.relative_to(NATIVE).as_posix() if path.is_relative_to(NATIVE) else path.name
