"""The build backend's choice of a compiler; .ci/no-compiler runs it for real."""

import json
import os
import shlex
import sys
from pathlib import Path
from types import ModuleType

import pytest

BACKEND = Path(__file__).parents[2] / "build_support" / "warptsp_build.py"


@pytest.fixture
def backend(imported, monkeypatch, tmp_path):
    """The backend with a scikit-build-core that builds nothing, and no compiler to be found."""
    build = ModuleType("scikit_build_core.build")
    for name in ("build_sdist", "prepare_metadata_for_build_editable", "prepare_metadata_for_build_wheel"):
        setattr(build, name, lambda *arguments: "")
    for name in ("wheel", "editable", "sdist"):
        setattr(build, f"get_requires_for_build_{name}", lambda settings=None: ["ninja"])
    build.build_wheel = build.build_editable = lambda *arguments: json.dumps(dict(os.environ))
    package = ModuleType("scikit_build_core")
    package.build = build
    monkeypatch.setitem(sys.modules, "scikit_build_core", package)
    monkeypatch.setitem(sys.modules, "scikit_build_core.build", build)
    module = imported(BACKEND)
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "Python.h").touch()
    monkeypatch.setattr(module.sysconfig, "get_path", lambda name: str(tmp_path / name))
    monkeypatch.setattr(module.sys, "platform", "linux")
    monkeypatch.setenv("PATH", str(tmp_path))
    for name in ("CXX", "CC", "CMAKE_ARGS", "WARPTSP_BUILD_COMPILER"):
        monkeypatch.delenv(name, raising=False)
    return module


def put_program(folder, name):
    path = folder / name
    path.write_text("#!/bin/sh\n", encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize("hook", ["get_requires_for_build_wheel", "get_requires_for_build_editable"])
def test_no_compiler_requires_zig(backend, hook):
    assert getattr(backend, hook)() == ["ninja", backend.ZIG_REQUIREMENT]


@pytest.mark.parametrize("name", ["c++", "g++", "clang++"])
def test_compiler_on_the_path_is_enough(backend, tmp_path, name):
    put_program(tmp_path, name)
    assert backend.get_requires_for_build_wheel() == ["ninja"]


def test_compiler_named_by_cxx_is_enough(backend, tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    compiler = shlex.quote(str(put_program(tmp_path / "elsewhere", "mine")))
    monkeypatch.setenv("CXX", f"{compiler} -stdlib=libc++")
    assert backend.get_requires_for_build_wheel() == ["ninja"]


def test_cxx_that_names_nothing_is_not_a_compiler(backend, monkeypatch):
    monkeypatch.setenv("CXX", "no-such-compiler")
    assert backend.get_requires_for_build_wheel() == ["ninja", backend.ZIG_REQUIREMENT]


def test_choice_by_the_environment(backend, tmp_path, monkeypatch):
    put_program(tmp_path, "c++")
    monkeypatch.setenv("WARPTSP_BUILD_COMPILER", "zig")
    assert backend.ZIG_REQUIREMENT in backend.get_requires_for_build_wheel()
    (tmp_path / "c++").unlink()
    monkeypatch.setenv("WARPTSP_BUILD_COMPILER", "system")
    assert backend.get_requires_for_build_wheel() == ["ninja"]


def test_unknown_choice_is_named(backend, monkeypatch):
    monkeypatch.setenv("WARPTSP_BUILD_COMPILER", "gcc")
    with pytest.raises(SystemExit, match="'gcc'; accepted: auto, system, zig"):
        backend.get_requires_for_build_wheel()


def test_missing_headers_are_named_before_anything_is_downloaded(backend, tmp_path):
    (tmp_path / "include" / "Python.h").unlink()
    with pytest.raises(SystemExit, match=r"Python\.h is missing.*apt install python3\.\d+-dev"):
        backend.get_requires_for_build_wheel()


def test_missing_zig_is_named(backend, monkeypatch):
    monkeypatch.setattr(backend.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SystemExit, match=r"No C\+\+ compiler was found.*pip install ziglang"):
        backend.build_wheel("wheels")


def test_build_with_zig_sets_the_compiler_and_leaves_nothing(backend, monkeypatch, tmp_path):
    monkeypatch.setattr(backend.importlib.util, "find_spec", lambda name: object())
    monkeypatch.setattr(backend.tempfile, "tempdir", str(tmp_path))
    before = dict(os.environ)
    seen = json.loads(backend.build_wheel("wheels"))
    assert dict(os.environ) == before
    assert seen["CXX"].startswith(str(tmp_path))
    assert "-DCMAKE_AR=" in seen["CMAKE_ARGS"]
    assert not Path(seen["CXX"]).exists()
    assert [path.name for path in tmp_path.iterdir()] == ["include"]
