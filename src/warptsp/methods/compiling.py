"""Kernels that are not in the cache yet are compiled with a tour at hand: time limits and Ctrl-C hold."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from warptsp.backends.cuda.compiler import Compilation, not_cached
from warptsp.backends.cuda.device import find_usable

if TYPE_CHECKING:
    from warptsp.backends.cuda.compiler import Source
    from warptsp.run import Run


def await_kernels(sources: Iterable[Source], run: Run) -> bool:
    """Compile what the GPU ``run.device`` lacks; a tour must have been offered.

    Returns
    -------
    bool
        False if time ran out, or the run says stop.

    Raises
    ------
    BackendUnavailable
        If the GPU or its kernels are not to be had.
    """
    gpu = find_usable(int(run.device.partition(":")[2] or 0))[1]
    lacking = not_cached(sources, gpu.compute_capability)
    if not lacking:
        return True
    run.enter(f"compiling kernels for {gpu.name}, once")
    compilation = Compilation(lacking, gpu.compute_capability)
    best, length = run.best, run.best_length
    assert best is not None
    assert length is not None
    with run.repeating(length, lambda: best, "compiling"):
        while not compilation.wait(0.02):
            if (tell := run.token.poll) is not None:
                tell()
            if run.token.stopped():
                return False
    return True
