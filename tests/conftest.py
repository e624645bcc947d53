"""Fixtures that every test module may use."""

from __future__ import annotations

import builtins
import contextlib
import locale
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings
from pretended_driver import PretendedDriver
from processes import begin_with_plain_signals, end_those_of_the_test

from warptsp.errors import BackendUnavailable

if TYPE_CHECKING:
    from warptsp.backends.cuda.device import Device

# No test depends on how fast the machine is, or what else it does; one that fails says how to repeat it.
settings.register_profile("warptsp", deadline=None, print_blob=True, database=None)
settings.load_profile("warptsp")


@pytest.fixture(scope="session", autouse=True)
def surroundings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Signals as from a terminal, UTF-8, and a folder for temporary files that goes with the others."""
    begin_with_plain_signals()
    with contextlib.suppress(locale.Error):  # not every system has this one; its own is UTF-8, then
        locale.setlocale(locale.LC_CTYPE, "C.UTF-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(tmp_path_factory.mktemp("temporary")))
        patch.setattr(tempfile, "tempdir", None)
        yield


@pytest.fixture(autouse=True)
def processes_end() -> Iterator[None]:
    """No process that a test has begun outlives it."""
    yield
    end_those_of_the_test()


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder with TSPLIB and the table of lengths, which is not part of the project.

    ``<repository>/../shared/data``, or ``$WARPTSP_SHARED/data``; the test is skipped where neither exists.
    """
    beside = Path(__file__).resolve().parents[1].parent / "shared"
    folder = Path(os.environ.get("WARPTSP_SHARED", beside)) / "data"
    if not folder.is_dir():
        pytest.skip(f"needs the TSPLIB instances in {folder} (or WARPTSP_SHARED set to a folder with data/)")
    return folder


@pytest.fixture(scope="session")
def gpu() -> Iterator[Device]:
    """The GPU cuda:0; the test is skipped, with the reason, where it cannot be used."""
    from warptsp.backends.cuda.device import Device

    try:
        device = Device.open(0)
    except BackendUnavailable as error:
        pytest.skip(f"needs a GPU: {error}")
    with device:
        yield device


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def device(request: pytest.FixtureRequest) -> str:
    """Each device in turn: the CPU, and a GPU where there is one."""
    return str(request.param)


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Searches without a limit end by what they have done, not by the clock."""
    monkeypatch.setattr("warptsp.stop.default.SECONDS", 3600.0)
    monkeypatch.setattr("warptsp.stop.default.DefaultStop._idle", lambda *_: False)


@pytest.fixture(autouse=True)
def gpus_search(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests marked ``gpu`` need one, and no search of the CPU takes its place while kernels are compiled."""
    if request.node.get_closest_marker("gpu"):
        request.getfixturevalue("gpu")
        if not request.node.get_closest_marker("first_use"):
            from warptsp.methods import kernels

            monkeypatch.setattr(kernels, "missing_kernels", lambda sources, capability: [])


@pytest.fixture
def pretend_gpus(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Call it with the GPUs that the driver shall have, and with what shall be wrong with it."""
    from warptsp.backends.cuda import driver

    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)

    def install(*gpus: tuple[str, tuple[int, int], int], **options: object) -> None:
        monkeypatch.setattr(driver, "_load", lambda: PretendedDriver(gpus, **options))

    return install


@pytest.fixture
def nvrtc() -> None:
    """CUDA's run-time compiler; the test is skipped, with the reason, where there is none."""
    from warptsp.backends.cuda import compiler

    try:
        compiler.nvrtc_version()
    except BackendUnavailable as error:
        pytest.skip(str(error))


@pytest.fixture
def no_packages_for_cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Python without `cuda.core` and `cuda.bindings`."""
    real = builtins.__import__

    def without_cuda(name: str, *arguments: Any) -> Any:
        if name == "cuda" or name.startswith("cuda."):
            raise ImportError("No module named 'cuda'")
        return real(name, *arguments)

    monkeypatch.setattr(builtins, "__import__", without_cuda)


@pytest.fixture
def no_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without an NVIDIA driver."""
    from warptsp.backends.cuda import driver

    monkeypatch.setattr(driver, "LIBRARY", "libcuda-of-nobody.so.1")
