"""Kernels that are compiled while a tour is at hand."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from warptsp.backends.cuda.compiler import Compilation, Source, not_cached
from warptsp.backends.cuda.device import find_usable
from warptsp.devices import ordinals
from warptsp.errors import BackendUnavailable

if TYPE_CHECKING:
    from warptsp.run import Run

COMPILING = 10.0  # seconds that compiling the kernels may take


def kernels_are_there(
    run: Run,
    sources: Iterable[Source],
    offer_tour: Callable[[], None] | None = None,
    search: Callable[[Compilation], None] | None = None,
) -> bool:
    """Have the kernels compiled if they are not in the cache, with a tour at hand meanwhile.

    Parameters
    ----------
    run : Run
    sources : iterable of Source
    offer_tour : callable, optional
        Offers a tour to the run; called if there is none yet, and not needed if there is.
    search : callable, optional
        Called instead; searches on the CPU until the compilation is complete, and offers what it finds.

    Returns
    -------
    bool
        False if time ran out; the tour has been offered.

    Raises
    ------
    BackendUnavailable
        If they cannot be compiled, or if that takes too long for a run that may use the CPU as well.
    """
    gpu = find_usable(ordinals(run.device)[0])[1]  # several are of one model
    wanted = not_cached(sources, gpu.compute_capability)
    if not wanted:
        return True
    run.enter(f"compiling kernels for {gpu.name}, once")
    compilation = Compilation(wanted, gpu.compute_capability)
    remaining = run.remaining()
    if run.may_use_cpu and remaining is not None and remaining < COMPILING:
        raise BackendUnavailable(
            f"its kernels are being compiled, for later runs; that takes up to {COMPILING:g} s, and the time "
            f"limit leaves {remaining:.1f} s"
        )
    if search is not None:
        search(compilation)
        if run.stop_reason is not None or run.token.stopped():
            return False
    elif run.best is None and offer_tour is not None:
        offer_tour()
    best, length = run.best, run.best_length
    assert best is not None
    assert length is not None
    run.expect(None)
    with run.repeating(length, lambda: best, "compiling"):
        while not compilation.wait(0.02):
            if (tell := run.token.poll) is not None:
                tell()
            if run.token.stopped():
                return False
    run.expect(best)
    return True
