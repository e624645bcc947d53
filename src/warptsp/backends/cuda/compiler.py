"""From a kernel file to machine code, with NVRTC; needs neither a GPU nor a driver."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from warptsp.backends.cuda import cache
from warptsp.backends.cuda.cache import Code
from warptsp.backends.cuda.source import expand
from warptsp.errors import BackendUnavailable

logger = logging.getLogger(__name__)

OLDEST_CUDA = 12
INSTALL = "pip install 'warptsp[cuda13]' (or 'warptsp[cuda12]' for a driver older than 580)"


def install(cuda: int) -> str:
    """Return the command that installs what is needed for a version of CUDA."""
    return f"pip install 'warptsp[cuda{cuda}]'"


def import_core() -> Any:
    """Return the module ``cuda.core``.

    Raises
    ------
    BackendUnavailable
        If it is not installed, or cannot be imported.
    """
    try:
        import cuda.core
    except ImportError as error:
        raise BackendUnavailable(
            f"the Python packages for CUDA are missing or broken ({error}): {INSTALL}"
        ) from error
    return cuda.core


def nvrtc_version() -> tuple[int, int]:
    """Return the version of NVRTC, CUDA's run-time compiler.

    Raises
    ------
    BackendUnavailable
        If it is not installed.
    """
    return _nvrtc()[0]


def compile_kernels(
    file: str | Path,
    names: Sequence[str],
    capability: tuple[int, int],
    defines: Mapping[str, int | str] | None = None,
    *,
    fmad: bool = True,
) -> Code:
    """Return the machine code of kernels, from the cache if it is there.

    Parameters
    ----------
    file : str or Path
        The name of a file in native/cuda, or the path of any other.
    names : sequence of str
        The kernels' names, template arguments included: ``"two_opt<float>"``.
    capability : (int, int)
        The compute capability of the GPU.
    defines : mapping, optional
        Macros.
    fmad : bool
        Whether a product and a sum may be rounded once instead of twice. The C++ compiler's code for the CPU
        never does so.

    Raises
    ------
    BackendUnavailable
        If NVRTC is missing, too old or too new for the GPU, or refuses the source.
    """
    version, supported = _nvrtc()
    kind, arch = target(capability, supported, version)
    text = expand(file)
    macros = sorted((name, str(value)) for name, value in (defines or {}).items())
    wanted = sorted(set(names))
    key = cache.digest(text, wanted, macros, kind, arch, fmad, version)
    code = cache.load(key)
    if code is None:
        begun = time.monotonic()
        code = _compile(text, Path(file).name, wanted, kind, arch, macros, fmad)
        logger.info("compiled %s for %s in %.2f s", Path(file).name, arch, time.monotonic() - begun)
        cache.store(key, code)
    return code


def target(
    capability: tuple[int, int], supported: Sequence[int], version: tuple[int, int]
) -> tuple[str, str]:
    """Return (kind of code, architecture) for a GPU: machine code if the compiler can make it, or else, for
    a GPU newer than the compiler, PTX of the newest architecture, which the driver translates.

    Raises
    ------
    BackendUnavailable
        If the GPU is older than all that the compiler supports.
    """
    number = 10 * capability[0] + capability[1]
    same = [arch for arch in supported if arch // 10 == capability[0] and arch <= number]
    if same:
        return "cubin", f"sm_{max(same)}"
    if number > max(supported):
        logger.info("NVRTC %d.%d is older than this GPU; the driver translates its code", *version)
        return "ptx", f"compute_{max(supported)}"
    raise BackendUnavailable(
        f"NVRTC {version[0]}.{version[1]} does not compile for compute capability "
        f"{capability[0]}.{capability[1]}: install another, with {INSTALL}"
    )


def _nvrtc() -> tuple[tuple[int, int], list[int]]:
    """Return NVRTC's version and the architectures that it compiles for."""
    import_core()
    from cuda.bindings import nvrtc

    try:
        _, major, minor = nvrtc.nvrtcVersion()
        _, supported = nvrtc.nvrtcGetSupportedArchs()
    except RuntimeError as error:  # the library is loaded by the first call
        raise BackendUnavailable(f"NVRTC, CUDA's run-time compiler, is missing: {INSTALL}") from error
    return (major, minor), list(supported)


def _compile(
    text: str, name: str, names: list[str], kind: str, arch: str, macros: list[tuple[str, str]], fmad: bool
) -> Code:
    core = import_core()
    options = core.ProgramOptions(
        name=name, arch=arch, std="c++17", fma=fmad, lineinfo=True, define_macro=macros or None
    )
    try:
        compiled = core.Program(text, "c++", options).compile(kind, name_expressions=tuple(names))
    except Exception as error:
        logger.debug("NVRTC on %s for %s: %s", name, arch, error)
        lines = str(error).splitlines()
        first = next((line for line in lines if " error: " in line and "__nv_name_map" not in line), lines[0])
        raise BackendUnavailable(
            f"NVRTC does not compile {name} for {arch}: {first}; please report this fault of warptsp, and "
            "use device cpu"
        ) from error
    symbols = {key: _text(value) for key, value in compiled.symbol_mapping.items()}
    return Code(kind, bytes(compiled.code), symbols)


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value
