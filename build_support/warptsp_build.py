"""Build backend: scikit-build-core, plus a C++ compiler from PyPI where the machine has none.

pip runs the hooks below (PEP 517 and PEP 660). They hand everything to ``scikit_build_core.build``.
On Linux and macOS, if no C++ compiler is found, the package ``ziglang`` becomes a build requirement and
``zig c++`` compiles the native core. Set ``WARPTSP_BUILD_COMPILER`` to ``zig`` to use it
in any case, or to ``system`` to let CMake complain instead.

Everything that is written for this (wrapper scripts, Zig's cache) lives in a temporary folder and is
removed with it.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shlex
import shutil
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from scikit_build_core import build as _skbuild
from scikit_build_core.build import (
    build_sdist,
    get_requires_for_build_sdist,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]

ZIG_REQUIREMENT = "ziglang>=0.13"
COMPILER_VARIABLE = "WARPTSP_BUILD_COMPILER"
COMPILER_NAMES = ("c++", "g++", "clang++", "cl")

ConfigSettings = dict[str, list[str] | str] | None


def _has_compiler() -> bool:
    """Whether CMake would find a C++ compiler: the one that CXX names, or one of the usual names."""
    named = shlex.split(os.environ.get("CXX", ""))
    return any(shutil.which(name) for name in (*named[:1], *COMPILER_NAMES))


def _needs_zig() -> bool:
    choice = os.environ.get(COMPILER_VARIABLE, "auto")
    if choice not in ("auto", "system", "zig"):
        raise SystemExit(f"{COMPILER_VARIABLE} is {choice!r}; accepted: auto, system, zig")
    if choice == "auto":
        # Python for Windows follows another C++ ABI than the one that Zig offers by default.
        return sys.platform != "win32" and not _has_compiler()
    return choice == "zig"


def _check_python_headers() -> None:
    header = Path(sysconfig.get_path("include"), "Python.h")
    if sys.platform != "win32" and not header.is_file():
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        raise SystemExit(
            f"warptsp is compiled when it is installed, and {header} is missing: this Python came without "
            f"its C headers. Install them (Debian, Ubuntu: apt install python{version}-dev; Fedora: "
            f"dnf install python{version}-devel) or use a Python from python.org, pyenv, conda or uv."
        )


def _write_tool(folder: Path, name: str, *command: str) -> Path:
    tool = folder / name
    tool.write_text(f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n', encoding="utf-8")
    tool.chmod(0o755)
    return tool


@contextlib.contextmanager
def _compiler() -> Iterator[None]:
    """Set the environment so that CMake finds a C++ compiler, and restore it afterwards."""
    _check_python_headers()
    if not _needs_zig():
        yield
        return
    if importlib.util.find_spec("ziglang") is None:
        raise SystemExit(
            "No C++ compiler was found (CXX, c++, g++, clang++), and the package ziglang, which brings one, "
            "is not installed. Run 'pip install ziglang' first, or leave --no-build-isolation out."
        )
    saved = dict(os.environ)
    with tempfile.TemporaryDirectory(prefix="warptsp-build-") as folder:
        tools = Path(folder)
        zig = (sys.executable, "-m", "ziglang")
        # Zig compiles for the CPU it runs on unless told otherwise; a wheel must run on any. It compiles
        # its C++ library once for each choice of debug information, most of the build time: so always none.
        options = ("-mcpu=baseline", "-s")
        os.environ["CC"] = str(_write_tool(tools, "cc", *zig, "cc", *options))
        os.environ["CXX"] = str(_write_tool(tools, "c++", *zig, "c++", *options))
        archiver = _write_tool(tools, "ar", *zig, "ar")
        indexer = _write_tool(tools, "ranlib", *zig, "ranlib")
        settings = (os.environ.get("CMAKE_ARGS", ""), f"-DCMAKE_AR={archiver}", f"-DCMAKE_RANLIB={indexer}")
        os.environ["CMAKE_ARGS"] = " ".join(filter(None, settings))
        os.environ["ZIG_GLOBAL_CACHE_DIR"] = str(tools / "cache")
        os.environ["ZIG_LOCAL_CACHE_DIR"] = str(tools / "cache")
        os.environ["SKBUILD_BUILD_DIR"] = str(tools / "build")
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(saved)


def _build(hook: Callable[..., str], *arguments: object) -> str:
    with _compiler():
        return hook(*arguments)


def _requires(hook: Callable[[ConfigSettings], list[str]], config_settings: ConfigSettings) -> list[str]:
    _check_python_headers()
    return [*hook(config_settings), *([ZIG_REQUIREMENT] if _needs_zig() else [])]


def get_requires_for_build_wheel(config_settings: ConfigSettings = None) -> list[str]:
    """Return what pip has to install before `build_wheel`."""
    return _requires(_skbuild.get_requires_for_build_wheel, config_settings)


def get_requires_for_build_editable(config_settings: ConfigSettings = None) -> list[str]:
    """Return what pip has to install before `build_editable`."""
    return _requires(_skbuild.get_requires_for_build_editable, config_settings)


def build_wheel(
    wheel_directory: str,
    config_settings: ConfigSettings = None,
    metadata_directory: str | None = None,
) -> str:
    """Build a wheel in `wheel_directory` and return its file name."""
    return _build(_skbuild.build_wheel, wheel_directory, config_settings, metadata_directory)


def build_editable(
    wheel_directory: str,
    config_settings: ConfigSettings = None,
    metadata_directory: str | None = None,
) -> str:
    """Build an editable wheel in `wheel_directory` and return its file name."""
    return _build(_skbuild.build_editable, wheel_directory, config_settings, metadata_directory)
