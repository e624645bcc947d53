"""From a kernel file to machine code, with NVRTC; needs neither a GPU nor a driver."""

import logging
import time
from collections.abc import Generator, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from warptsp.backends.beside import Beside
from warptsp.backends.cuda import cache
from warptsp.backends.cuda.cache import Code
from warptsp.backends.cuda.records import layout_checks
from warptsp.backends.cuda.source import expand, kernel_names
from warptsp.errors import BackendUnavailable

logger = logging.getLogger(__name__)

OLDEST_CUDA = 12
COMPILING = 10.0  # seconds that compiling the kernels of a search may take
SPLIT_COMPILE = 0  # kernels of a file are optimised side by side, on as many threads as there are cores
INSTALL = "pip install 'warptsp[cuda13]' (or 'warptsp[cuda12]' for a driver older than 580)"


@dataclass(frozen=True, slots=True)
class Source:
    """What is compiled together: a kernel file of the package, by its name, or any other by its path.

    `names` are the instances of its templates, such as ``"two_opt<float>"``; its other kernels come in any
    case. `defines` are macros. `fmad`: whether a product and a sum may be rounded once instead of twice,
    which the C++ compiler's code for the CPU never does.
    """

    file: str | Path
    names: tuple[str, ...] = ()
    defines: Mapping[str, int | str] = field(default_factory=dict)
    fmad: bool = True

    @property
    def key(self) -> tuple[str | Path, tuple[str, ...], tuple[tuple[str, str], ...], bool]:
        """What it has in common with others of the same code."""
        macros = tuple(sorted((name, str(value)) for name, value in self.defines.items()))
        return self.file, tuple(sorted(set(self.names))), macros, self.fmad


def install(cuda: int) -> str:
    """Return the command that installs what is needed for a version of CUDA."""
    return f"pip install 'warptsp[cuda{cuda}]'"


def import_core() -> Any:
    """Return the module ``cuda.core``; BackendUnavailable if it cannot be imported."""
    try:
        import cuda.core
    except ImportError as error:
        raise BackendUnavailable(
            f"the Python packages for CUDA are missing or broken ({error}): {INSTALL}"
        ) from error
    return cuda.core


def nvrtc_version() -> tuple[int, int]:
    """Return the version of NVRTC, CUDA's run-time compiler; BackendUnavailable if it is not installed."""
    return _nvrtc()[0]


def compile_kernels(source: Source, capability: tuple[int, int]) -> Code:
    """Return the machine code of kernels for GPUs of a compute capability, from the cache if it is there;
    BackendUnavailable if NVRTC is missing, too old or too new for the GPU, or refuses the source."""
    job = _job(source, capability)
    code = cache.load(job.key)
    if code is None:
        begun = time.monotonic()
        code = _compile(job)
        logger.info("compiled %s for %s in %.2f s", job.name, job.arch, time.monotonic() - begun)
        cache.store(job.key, code)
    return code


def key_of(source: Source, capability: tuple[int, int]) -> str:
    """Return the name in the cache of what `compile_kernels` returns."""
    return _job(source, capability).key


@dataclass(frozen=True, slots=True)
class _Job:
    """What the compiler is given, for which kind of code and architecture, and its name in the cache."""

    name: str
    text: str
    names: tuple[str, ...]
    macros: tuple[tuple[str, str], ...]
    fmad: bool
    kind: str
    arch: str
    key: str


def _job(source: Source, capability: tuple[int, int]) -> _Job:
    # The files of the package do not change while it runs; others are read again.
    make = _job_of_package if isinstance(source.file, str) else _make_job
    return make(*source.key, capability)


def _make_job(
    file: str | Path,
    names: tuple[str, ...],
    macros: tuple[tuple[str, str], ...],
    fmad: bool,
    capability: tuple[int, int],
) -> _Job:
    version, supported = _nvrtc()
    kind, arch = target(capability, supported, version)
    text = expand(file)
    names = tuple(sorted({*names, *kernel_names(text)}))
    if isinstance(file, str):
        text += layout_checks(file)
    key = cache.digest(text, names, macros, kind, arch, fmad, version, SPLIT_COMPILE)
    return _Job(Path(file).name, text, names, macros, fmad, kind, arch, key)


_job_of_package = lru_cache(maxsize=None)(_make_job)


@dataclass(frozen=True, slots=True)
class Compiled:
    """What became of a source: compiled in so many seconds, in the cache before (None), or refused."""

    source: Source
    capability: tuple[int, int]
    seconds: float | None = None
    error: str | None = None


def compile_all(
    wanted: Sequence[tuple[Source, tuple[int, int]]], threads: int
) -> Generator[Compiled, None, None]:
    """Compile sources, each for a compute capability, into the cache; yields each as it is done.

    Closed early, as by Ctrl-C, it begins no other, and ends when those in work are done. BackendUnavailable
    if there is no compiler.
    """
    _nvrtc()  # imported by one thread, before several need it

    def compile_one(source: Source, capability: tuple[int, int]) -> Compiled:
        begun = time.monotonic()
        try:
            if not not_cached([source], capability):
                return Compiled(source, capability)
            compile_kernels(source, capability)
        except BackendUnavailable as error:
            return Compiled(source, capability, error=str(error))
        return Compiled(source, capability, time.monotonic() - begun)

    pool = ThreadPoolExecutor(threads, thread_name_prefix="warptsp-nvrtc")
    try:
        for done in as_completed([pool.submit(compile_one, *each) for each in wanted]):
            yield done.result()
    finally:
        pool.shutdown(cancel_futures=True)


def not_cached(sources: Iterable[Source], capability: tuple[int, int]) -> list[Source]:
    """Return those that a run would have to compile; none where nothing is kept, which nothing can help."""
    if cache.folder() is None:
        return []
    return [source for source in sources if not cache.has(key_of(source, capability))]


class Compilation:
    """Kernels that are compiled into the cache, on a thread for each file.

    It goes on if nobody waits for it any more; the process ends when it has.
    """

    def __init__(self, sources: Iterable[Source], capability: tuple[int, int]) -> None:
        self._files = [Beside(compile_kernels, source, capability) for source in sources]

    def wait(self, seconds: float) -> bool:
        """Wait for so long at most; tell whether it is complete, or raise what `compile_kernels` raised."""
        end, complete = time.monotonic() + seconds, True
        for file in self._files:
            if file.wait(max(0.0, end - time.monotonic())):
                file.result()
            else:
                complete = False
        return complete

    def has_ended(self) -> bool:
        """Return whether it is complete, or has failed."""
        return all(file.is_done() for file in self._files) or any(file.has_failed() for file in self._files)


def target(
    capability: tuple[int, int], supported: Sequence[int], version: tuple[int, int]
) -> tuple[str, str]:
    """Return (kind of code, architecture) for a GPU: machine code if the compiler can make it, or else, for
    a GPU newer than the compiler, PTX of the newest architecture, which the driver translates;
    BackendUnavailable if the GPU is older than all that the compiler supports."""
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


def _compile(job: _Job) -> Code:
    core = import_core()
    options = core.ProgramOptions(
        name=job.name,
        arch=job.arch,
        std="c++17",
        fma=job.fmad,
        lineinfo=True,
        define_macro=list(job.macros) or None,
        split_compile=SPLIT_COMPILE,
    )
    try:
        compiled = core.Program(job.text, "c++", options).compile(job.kind, name_expressions=job.names)
    except Exception as error:
        logger.debug("NVRTC on %s for %s: %s", job.name, job.arch, error)
        lines = str(error).splitlines()
        first = next((line for line in lines if " error: " in line and "__nv_name_map" not in line), lines[0])
        raise BackendUnavailable(
            f"NVRTC does not compile {job.name} for {job.arch}: {first}; please report this bug in warptsp, "
            "and use device cpu"
        ) from error
    symbols = {
        key: value.decode() if isinstance(value, bytes) else value
        for key, value in compiled.symbol_mapping.items()
    }
    return Code(job.kind, bytes(compiled.code), symbols)
