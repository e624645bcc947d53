"""``warptsp devices``: what this machine and this build can do."""

from __future__ import annotations

import re
import time
from contextlib import closing
from typing import TYPE_CHECKING, Annotated, Any

from warptsp._facts import Fact
from warptsp.cli._command import as_command, option
from warptsp.cli._completion import methods as known_methods
from warptsp.cli._options import Printing
from warptsp.cli.streams import echo_json, say
from warptsp.errors import BackendUnavailable, InvalidOption

if TYPE_CHECKING:
    from warptsp.backends.cuda.compiler import Compiled


@as_command(
    "warptsp devices",
    "warptsp devices --compile                          # no run waits for the compiler afterwards",
    "warptsp devices --compile --arch sm_90 --method lk --metric EUC_2D   # needs no GPU",
)
def command(
    compile_: Annotated[bool, option("Compile kernels for the GPUs here into the cache.")],
    architectures: Annotated[
        tuple[str, ...],
        option(
            "With --compile: compile for this architecture instead; may be given several times.",
            "sm_90",
            "--arch",
        ),
    ],
    methods: Annotated[
        tuple[str, ...],
        option(
            "With --compile: only kernels of this method; default: all methods.",
            "NAME",
            "--method",
            shell_complete=known_methods,
        ),
    ],
    metrics: Annotated[
        tuple[str, ...],
        option(
            "With --compile: for this metric; default: EUC_2D, EXACT_2D, GREAT_CIRCLE and EXPLICIT.",
            "NAME",
            "--metric",
        ),
    ],
    printing: Printing,
) -> int:
    """Show what this machine and this build can do; paste the output into bug reports.

    With --compile, compile in advance the kernels that the first runs on a GPU would otherwise wait for.
    """
    if compile_:
        return _compile(architectures, methods, metrics, printing)
    for name, given in (("--arch", architectures), ("--method", methods), ("--metric", metrics)):
        if given:
            raise InvalidOption(f"{name}: it says what --compile compiles; add --compile")
    printing.show(_facts(), width=9)
    return 0


def _facts() -> list[Fact]:
    from warptsp.devices import describe
    from warptsp.methods.lk.tuning import MIN_CITIES_OF_GPUS

    found = describe()
    several, driver, why = found["several"], found["driver"], found["gpu_why"]
    spread = f"{several} for {MIN_CITIES_OF_GPUS:,} cities or more and method lk; --device names others"
    version = driver and (driver["version"] or "of unknown version")
    packages = (f"{name} {version or 'missing'}" for name, version in found["cuda"].items())
    lines = [
        ("warptsp", f"{found['warptsp']}, Python {found['python']}, NumPy {found['numpy']}"),
        ("system", found["system"]),
        ("cpu", found["cpu"]),
        ("threads", f"{found['threads']} used by default, {found['cores']} in the machine"),
        ("simd", ", ".join(found["simd"]) or "none known"),
        ("native", ", ".join(f"{name} {value}" for name, value in found["native"].items())),
        *(line for gpu in found["gpus"] for line in _words_of(gpu)),
        ("several", spread if several is not None and "," in several else None),
        ("gpu", None if why is None else f"none used: {why}"),
        ("driver", driver and f"{version}, for CUDA up to {driver['cuda']}"),
        ("cuda", ", ".join(packages)),
        ("kernels", found["kernel_cache"] or "not cached"),
    ]
    facts = [Fact(key, value) for key, value in found.items()]
    return facts + [Fact("", words=text, name=name) for name, text in lines]


def _words_of(gpu: dict[str, Any]) -> list[tuple[str, str]]:
    capability, memory = gpu["compute_capability"], gpu["memory"] / 1e9
    linked = [f"linked with {', '.join(gpu['linked'])}"] if gpu["linked"] else []
    parts = [gpu["device"], gpu["name"], f"compute capability {capability}", f"{memory:.1f} GB", *linked]
    unused = [("", f"not used: {gpu['why_not']}")] if gpu["why_not"] is not None else []
    return [("gpu", ", ".join(parts)), *unused]


def _compile(
    architectures: tuple[str, ...],
    methods: tuple[str, ...],
    metrics: tuple[str, ...],
    printing: Printing,
) -> int:
    """Compile kernels into the cache, and say what was compiled; the exit status."""
    from warptsp.backends.cuda import cache
    from warptsp.backends.cuda.compiler import compile_all
    from warptsp.machine import available_threads
    from warptsp.methods.builds import USUAL_METRICS, methods_with_kernels, sources_of

    place = cache.folder()
    if place is None:
        raise InvalidOption(f"--compile: {cache.VARIABLE} is empty, so that nothing is kept; name a folder")
    capabilities = [_capability(name) for name in architectures] or _capabilities_here()
    sources = sources_of(methods or methods_with_kernels(), metrics or USUAL_METRICS)
    wanted = [(source, capability) for capability in dict.fromkeys(capabilities) for source in sources]
    begun, done = time.monotonic(), []
    with closing(compile_all(wanted, available_threads())) as compiling:
        for compiled in compiling:
            done.append(compiled)
            if not printing.as_json and not printing.quiet:
                say(f"{len(done):4} of {len(wanted)}  {_line(compiled)}")
    failed = sum(compiled.error is not None for compiled in done)
    if printing.as_json:
        echo_json({"folder": str(place), "modules": [_module(compiled) for compiled in done]})
    elif not printing.quiet:
        new = sum(compiled.seconds is not None for compiled in done)
        seconds = time.monotonic() - begun
        faults = f", {failed} failed" if failed else ""
        say(f"{new} compiled, {len(done) - new - failed} were there{faults}; {seconds:.1f} s; {place}")
    return 2 if failed else 0


def _capability(name: str) -> tuple[int, int]:
    """The compute capability that a user names: ``sm_90`` or ``9.0``."""
    match = re.fullmatch(r"(?:sm_)?(\d{1,2})\.?(\d)", name.strip())
    if match is None:
        raise InvalidOption(
            f"--arch: {name!r} is not an architecture such as sm_90, or compute capability 9.0"
        )
    return int(match[1]), int(match[2])


def _capabilities_here() -> list[tuple[int, int]]:
    from warptsp.backends.cuda import driver
    from warptsp.backends.cuda.device import find_usable

    try:
        return [find_usable(gpu.ordinal)[1].compute_capability for gpu in driver.find().gpus]
    except BackendUnavailable as error:
        raise BackendUnavailable(f"{error}; --arch sm_90 compiles for a GPU that is elsewhere") from error


def _line(compiled: Compiled) -> str:
    macros = " ".join(f"{name}={value}" for name, value in compiled.source.defines.items())
    how = "in the cache" if compiled.seconds is None else f"{compiled.seconds:.2f} s"
    architecture = "sm_{}{}".format(*compiled.capability)
    return f"{architecture:7} {compiled.source.file:18} {compiled.error or how:12} {macros}".rstrip()


def _module(compiled: Compiled) -> dict[str, Any]:
    source = compiled.source
    return {
        "architecture": "sm_{}{}".format(*compiled.capability),
        "file": source.file,
        "kernels": list(source.names),
        "macros": dict(source.defines),
        "seconds": None if compiled.seconds is None else round(compiled.seconds, 3),
        "error": compiled.error,
    }
